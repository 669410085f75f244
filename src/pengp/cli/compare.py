"""The command `pengp compare`: several models judged by the same runs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pengp.cli.noise import LikeFitOption
from pengp.cli.options import JsonOfOneOption
from pengp.cli.printing import number, paragraph, percent, rendered, show, show_json, table
from pengp.cli.reading import Reading
from pengp.cli.waiting import working
from pengp.exceptions import InputError

if TYPE_CHECKING:
    from pengp.diagnostics import Comparison
    from pengp.estimators.view import FittedView


#: Means that go without saying, of a penalized fit and of an average.
_USUAL_MEANS = {True: ("zero",), False: ("integrated", None)}


def compare(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="MODEL MODEL ... [TABLE]",
            help="Model files (.pengp) from pengp fit, and perhaps a table of test runs.",
        ),
    ],
    *,
    noise_sd: LikeFitOption = None,
    reading: Reading,
    as_json: JsonOfOneOption = False,
) -> None:
    """Compare models of one response: kernels, means, methods.

    They are judged by a table of test runs or, without one, by their own runs, each left out in
    turn and predicted by an estimate from the others. Differences are taken run by run.
    """
    from pengp.cli.models import open_model
    from pengp.persistence import read_info

    models = [path for path in files if path.suffix.lower() == ".pengp"]
    tables = [path for path in files if path not in models]
    if len(models) < 2 or len(tables) > 1 or len(set(models)) < len(models):
        raise InputError("give two or more different models (.pengp) and at most one table.")
    views = {str(path): open_model(path, *map(str, files)) for path in models}
    names = {view.response for of_file in views.values() for view in of_file}
    if len(names) > 1 or any(len(of_file) > 1 for of_file in views.values()):
        raise InputError("models that are compared have one response, and the same one.")
    single = {name: view for name, (view,) in views.items()}
    with working(f"Comparing {len(models)} models ...", quiet=as_json):
        info = read_info(models[0])["info"]
        found = _judged(single, str(tables[0]) if tables else None, reading, noise_sd, info)
    if as_json:
        show_json(_record(found))
    else:
        show(_text(found, single))


def _judged(
    views: "dict[str, FittedView]",
    test: str | None,
    reading: Reading,
    noise_sd: list[str] | None,
    info: dict[str, Any],
) -> "Comparison":
    """Compare the models, by the runs of a table if there is one.

    Their noise is as given, or as in the fit of the first model, of which ``info`` tells.
    """
    from pengp.cli.levels import levels_in, read_inputs
    from pengp.cli.models import as_fitted
    from pengp.cli.noise import test_noise
    from pengp.cli.tables import read_table
    from pengp.diagnostics import compare

    if test is None:
        return compare(views)
    runs, first = read_table(test, reading), next(iter(views.values()))
    if any(view.names != first.names for view in views.values()):
        raise InputError(
            "models that are compared by a table have the same inputs, in the same order."
        )
    y = runs.numbers([first.response])[first.response].to_numpy()
    X = read_inputs(runs, first.names, levels_in(first))
    noise = test_noise(runs, noise_sd, info, [first.response])
    sd = None if noise is None else noise[:, 0]
    return compare(views, as_fitted(first, X), y, noise_sd=sd)


def _record(found: "Comparison") -> dict[str, Any]:
    """Return the comparison for JSON."""
    return {
        "how": found.how,
        "models": [
            {
                "model": one.name,
                **one.scores,
                "difference": one.difference,
                "standard_error": one.error,
                "told_apart": one.told_apart,
            }
            for one in found.judged
        ],
        "verdict": found.sentence(),
    }


def _text(found: "Comparison", views: "dict[str, FittedView]") -> str:
    """Return the table and the verdict for people."""
    kinds = _kinds(views)
    rows = [
        [
            one.name,
            kinds[one.name],
            *(number(one.scores[name]) for name in ("rmse", "q2", "crps")),
            percent(one.scores["coverage"]),
            ""
            if one is found.judged[0]
            else f"{number(one.difference, 2)} +- {number(one.error, 2)}",
        ]
        for one in found.judged
    ]
    response = next(iter(views.values())).response
    heading = ["model", "what", "RMSE", "Q2", "CRPS", "coverage", "CRPS above the best"]
    title = f"{response}: {found.how}"
    units = f"RMSE and CRPS are in the unit of {response}; +- is one standard error."
    return rendered(
        table(heading, rows, title=title, left=2), "", paragraph(f"{found.sentence()} {units}")
    )


def _kinds(views: "dict[str, FittedView]") -> dict[str, str]:
    """Return what each model is, with the transforms in which they differ."""
    scales = {name: _scales(view) for name, view in views.items()}
    shared = set.intersection(*map(set, scales.values()))
    own = {name: [one for one in found if one not in shared] for name, found in scales.items()}
    return {name: ", ".join([_kind(view), *own[name]]) for name, view in views.items()}


def _scales(view: "FittedView") -> list[str]:
    """Return the transforms of inputs and response, as in 'log10(x)'."""
    from pengp.model.levels import Integer, Levels
    from pengp.model.transforms import IDENTITY

    pairs = [*zip(view.names, view.input_transforms, strict=True)]
    pairs.append((view.response, view.response_transform))
    return [
        f"{transform.of(name)}{' rounded' if isinstance(transform, Integer) else ''}"
        for name, transform in pairs
        if transform != IDENTITY and not isinstance(transform, Levels)
    ]


def _kind(view: "FittedView") -> str:
    """Return method, kernel and mean of a model in a few words."""
    from pengp.model.kernels import KERNELS
    from pengp.model.means import MEANS

    model = view.estimator
    mean = (
        "" if model.mean in _USUAL_MEANS[view.is_penalized] else f", mean {MEANS.label(model.mean)}"
    )
    if view.is_penalized:
        return f"penalized, {KERNELS.label(model.kernel)}{mean}"
    kernel = f", {KERNELS.label(model.kernels)}" if isinstance(model.kernels, str) else ""
    return f"average{kernel}{mean}"
