"""The command `pengp effects`: which inputs matter, and how sure that is."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pengp.cli.headers import names_in_option
from pengp.cli.laws import Laws, Level, Seed, laws_by_name
from pengp.cli.options import JsonOption, ModelFile
from pengp.cli.printing import facts, paragraph, rendered, show, show_json, table
from pengp.cli.waiting import working
from pengp.exceptions import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pengp.decisions import Effects, Estimate, Surface

#: Pairs of inputs that are shown, and the share of the variance from which one is.
_PAIRS, _LEAST = 6, 0.005


def effects(
    model: ModelFile,
    law: Laws = None,
    level: Level = 0.9,
    pair: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B",
            help="Two inputs whose surfaces go into --json; may be repeated.",
            show_default="up to three that act together",
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(min=1, help="Only so many inputs, those that matter most, a line each."),
    ] = None,
    seed: Seed = 0,
    as_json: JsonOption = False,
) -> None:
    """Show which inputs matter: shares of the response's variance, with intervals."""
    from pengp.cli.models import check_level, open_model

    check_level(level)
    laws, views = laws_by_name(law), open_model(model)
    from pengp.decisions import effects as find  # once the model is known to be there

    pairs = None if pair is None else [_two(text) for text in pair]
    with working("Drawing functions ...", quiet=as_json):
        found = [find(view, laws, level=level, pairs=pairs, random_state=seed) for view in views]
    if as_json:
        show_json({"file": str(model), "effects": [_record(one) for one in found]})
    elif top is not None:
        show(rendered(facts([line for one in found for line in _lines(one, top)])))
    else:
        show(rendered(*(part for one in found for part in _parts(one))))


def _two(text: str) -> tuple[str, str]:
    """Return the two names in ``A,B``."""
    names = names_in_option(text) or []
    if len(names) != 2:
        raise InputError(f"--pair {text!r} names {len(names)} inputs; write two, as A,B.")
    return names[0], names[1]


def _record(found: "Effects") -> dict[str, Any]:
    """Return all that is known, as numbers and names."""
    return {
        "response": found.response,
        "laws": dict(zip(found.names, found.laws, strict=True)),
        "level": found.level,
        "transformed": found.transformed,
        "mean": found.mean._asdict(),
        "std": found.std._asdict(),
        "indices": found.records(),
        "main_effects": [
            {"input": name, "x": axis.values, "mean": mean, "lower": lower, "upper": upper}
            for name, (axis, mean, lower, upper) in zip(found.names, found.curves, strict=True)
        ],
        "surfaces": [_surface(surface) for surface in found.surfaces],
    }


def _surface(found: "Surface") -> dict[str, Any]:
    """Return what two inputs do together, rows for the first of them."""
    return {
        "inputs": list(found.names),
        "x": [axis.values for axis in found.axes],
        "joint": found.joint._asdict(),
        "interaction": found.interaction._asdict(),
    }


def _lines(found: "Effects", top: int) -> list[tuple[str, str]]:
    """Return a line for each of the inputs that matter most, with its total index."""
    what = f"of the variance of {found.response}, {100 * found.level:g} % interval"
    lines = []
    for p in found.order()[:top]:
        mean, lower, upper = (_percent(float(part[p])) for part in found.total)
        lines.append((found.names[p], f"{mean} % {what} {lower} to {upper} %"))
    return lines


def _parts(found: "Effects") -> "list[RenderableType]":
    """Return the tables of one response."""
    heading = ["input", "alone", "with others", "Shapley"]
    rows = [
        [
            found.names[p],
            _share(found.first, p),
            _share(found.total, p),
            "-" if found.shapley is None else _share(found.shapley, p),
        ]
        for p in found.order()
    ]
    said = (
        f"Shares of the variance of {found.response}, in percent, with {100 * found.level:g} % "
        "intervals: what an input explains alone (first-order Sobol index), together with others "
        "(total index), and its fair share (Shapley effect)."
    )
    if found.transformed:
        said += " They are about the transformed response that the model knows."
    laws = ", ".join(f"{name}={law}" for name, law in zip(found.names, found.laws, strict=True))
    grid = table(heading, rows)
    return [paragraph(said), "", grid, *_pairs(found), "", paragraph(f"Laws: {laws}"), ""]


def _pairs(found: "Effects") -> "list[RenderableType]":
    """Return the pairs of inputs that explain most together beyond each alone."""
    records = [row for row in found.records() if row["kind"] == "second" and row["mean"] > _LEAST]
    if not records:
        return ["", "No two inputs explain together what each alone does not."]
    rows = [
        [f"{row['input']}, {row['other']}", _text(row["mean"], row["lower"], row["upper"])]
        for row in sorted(records, key=lambda row: -row["mean"])[:_PAIRS]
    ]
    return ["", table(["two inputs", "beyond each alone"], rows)]


def _share(values: "Estimate", p: int) -> str:
    """Return a share in percent with its interval."""
    return _text(*(float(part[p]) for part in values))


def _text(mean: float, lower: float, upper: float) -> str:
    """Return a share in percent with its interval."""
    return f"{_percent(mean)} ({_percent(lower)} to {_percent(upper)})"


def _percent(share: float) -> str:
    """Return a share in percent with two digits."""
    return f"{100 * share:.0f}" if share >= 0.0995 else f"{100 * share:.1f}"
