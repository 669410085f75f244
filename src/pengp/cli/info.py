"""The command `pengp info`: what a model file holds."""

from collections.abc import Iterator, Mapping
from typing import Any

from pengp.cli.options import JsonOption, ModelFile
from pengp.cli.printing import facts, rendered, show, show_json

_PARTS = {"source": "Runs from", "command": "Command", "created": "Created"}


def info(
    model: ModelFile,
    as_json: JsonOption = False,
) -> None:
    """Show what a model file holds, and how far to trust it."""
    import numpy as np

    from pengp.cli.models import open_model
    from pengp.cli.summary import Summary, all_parts, all_records
    from pengp.persistence import read_info

    about, views = read_info(model), open_model(model)
    summaries, condition = [Summary.of(view) for view in views], views[0].estimator.condition_
    if as_json:
        show_json({"file": str(model), **about, "condition": condition, **all_records(summaries)})
    else:
        worst = f"condition number of the correlation matrix about {np.max(condition):.0e}"
        origin = facts([("File", str(model)), *_origin(about), ("Numerics", worst)])
        show(rendered(origin, "", *all_parts(summaries)))


def _origin(about: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield where the model comes from."""
    known = about["info"]
    for key, word in _PARTS.items():
        if key in known:
            yield word, str(known[key])
    for step in known.get("history", []):
        how = "estimated anew" if step["re_estimated"] else "conditioned on them"
        yield "Updated", f"{step['created']}, {step['runs']} runs of {step['source']}, {how}"
    if "seed" in known:
        yield "Seed", str(known["seed"])
    yield "Version", f"pengp {about['pengp_version']}, file format {about['format_version']}"
