"""The command `pengp validate`: predictions judged by runs that the model has not seen."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from pengp.cli.files import check_destination
from pengp.cli.levels import levels_in, read_inputs
from pengp.cli.models import Extrapolation, as_fitted, check_inputs, check_level, open_model
from pengp.cli.noise import LikeFitOption, test_noise
from pengp.cli.options import JsonOfOneOption, LevelOption, ModelFile
from pengp.cli.printing import note, number, paragraph, percent, rendered, show, show_json, table
from pengp.cli.reading import Reading
from pengp.cli.tables import read_table
from pengp.cli.waiting import working
from pengp.exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd

    from pengp._core.arrays import FloatArray
    from pengp.choosing.validation import ValidationScore
    from pengp.diagnostics import Validation
    from pengp.estimators.view import FittedView

_FIGURES = (".png", ".svg", ".pdf")


class _Judged(NamedTuple):
    """One response of the test runs, and what became of its predictions."""

    view: "FittedView"
    observed: "FloatArray"  # [m]
    found: "Validation"
    noise_sd: "FloatArray | None"  # [m]


TestTable = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="Table with inputs and response of runs that were not fitted; - for CSV on stdin.",
    ),
]
PlotOption = Annotated[
    Path | None, typer.Option(help="Figure to write, .png, .svg or .pdf.", metavar="FILE")
]


def validate(
    model: ModelFile,
    test: TestTable,
    *,
    level: LevelOption = 0.95,
    plot: PlotOption = None,
    noise_sd: LikeFitOption = None,
    reading: Reading,
    as_json: JsonOfOneOption = False,
) -> None:
    """Compare predictions with runs that the model has not seen.

    The scores of these runs stand beside those that the fit promised, of runs that it held out. The
    errors are also judged together, without the correlation between them. The figure shows
    predicted against observed responses, how often intervals of every level hold the response, and
    the uncorrelated errors.
    """
    from pengp.persistence import read_info

    check_level(level)
    if plot is not None and plot.suffix.lower() not in _FIGURES:
        raise InputError(f"--plot {plot} must end in {', '.join(_FIGURES[:-1])} or {_FIGURES[-1]}.")
    if plot is not None:
        check_destination(plot, model, test)
    views = open_model(model, test)
    with working(f"Reading {test} ...", quiet=as_json):
        runs = read_table(test, reading)
    X = read_inputs(runs, views[0].names, levels_in(views[0]))
    y = runs.numbers([view.response for view in views])
    check_inputs(views[0], X, runs.source)
    outside = Extrapolation(views[0])
    outside.count(X)
    responses = [view.response for view in views]
    noise = test_noise(runs, noise_sd, read_info(model)["info"], responses)
    judged = _judge(views, X, y, level, noise)
    text = "" if as_json else _text(judged, runs.source, level)
    if plot is not None:
        _draw(judged, X, level, plot)
        text += f"\nFigure: {plot}\n"
    for sentence in (_known_runs(views[0], X), outside.sentence()):
        if sentence:
            note(sentence)
    if as_json:
        show_json(_record(judged, level, outside))
    else:
        show(text)


def _judge(
    views: "list[FittedView]",
    X: "pd.DataFrame",
    y: "pd.DataFrame",
    level: float,
    noise: "FloatArray | None",
) -> list[_Judged]:
    """Judge the predictions of every response, whose noise [m, q] may be known."""
    from pengp.diagnostics.validation import validate_view

    found = []
    for k, view in enumerate(views):
        observed, sd = y[view.response].to_numpy(), None if noise is None else noise[:, k]
        judged = validate_view(view, as_fitted(view, X), observed, level, sd)
        found.append(_Judged(view, observed, judged, sd))
    return found


def _text(judged: list[_Judged], source: str, level: float) -> str:
    """Return tables and verdicts for people."""
    from pengp.choosing.validation import VALIDATION_SCORES
    from pengp.estimators.noise import noise_words

    parts: list[Any] = []
    for view, observed, found, noise_sd in judged:
        m, held = len(observed), found.held_out
        promised = {} if held is None else held.scores()
        rows = [
            (
                score.label,
                _shown(score, found.scores),
                _shown(score, promised),
                score.explain(level),
            )
            for score in VALIDATION_SCORES.values()
        ]
        grid = table(
            ("score", "seen", "promised", "meaning"),
            rows,
            title=f"{view.response}: {m} test run{'s' * (m > 1)} of {source}",
            right=(1, 2),
        )
        *most, last = (score.label for score in VALIDATION_SCORES.values() if score.has_unit)
        how = "" if held is None else f" Promised: runs of the fit, held out ({held.how})."
        units = f"{', '.join(most)} and {last} are in the unit of {view.response}.{how}"
        if noise_sd is not None:
            units += f" The test runs have noise: {noise_words(noise_sd)}."
        parts += [grid, "", paragraph(units), "", *map(paragraph, _verdicts(found, level)), ""]
    return rendered(*parts[:-1])


def _shown(score: "ValidationScore", scores: dict[str, float]) -> str:
    """Return a score as text, "-" where there is none; a share in percent."""
    value = scores.get(score.name, float("nan"))
    return percent(value) if score.greater_is_better is None else number(value)


def _verdicts(found: "Validation", level: float) -> list[str]:
    """Return sentences on what the scores mean for the use of the model."""
    check, joint, sentences = found.check, found.joint, [f.message for f in found.findings]
    codes = {finding.code for finding in found.findings}
    if "intervals" not in codes:
        sentences.append(
            f"{check.inside} of {check.n} responses lie in their {100 * level:g} % interval, where "
            f"{check.n * level:.3g} are expected: these runs do not contradict the intervals."
        )
    if found.differences and "promise" not in codes:
        sentences.append("Chance may explain how these runs differ from what the fit promised.")
    if joint is not None and "distance" not in codes:
        sentences.append(
            f"Taken together the errors are as the model says: their Mahalanobis distance is "
            f"{number(joint.distance)}, where {number(joint.expected)} is expected (p = "
            f"{joint.p_value:.2g}; {joint.law})."
        )
    return sentences


def _known_runs(view: "FittedView", X: "pd.DataFrame") -> str:
    """Say how many of the test runs the model was fitted to; nothing if it was to none."""
    known = {tuple(run) for run in view.X.tolist()}
    count = sum(tuple(run) in known for run in X.to_numpy().tolist())
    if not count:
        return ""
    return (
        f"{count:,} of {len(X):,} rows are runs that the model was fitted to; they flatter it, so "
        "validate it on others."
    )


def _record(judged: list[_Judged], level: float, outside: Extrapolation) -> dict[str, Any]:
    """Return the result for JSON."""
    responses = {one.view.response: _result(one.found) for one in judged}
    return {
        "runs": outside.rows,
        "level": level,
        "responses": responses,
        "outside": outside.record(),
    }


def _result(found: "Validation") -> dict[str, Any]:
    """Return what became of one response, for JSON."""
    held, joint = found.held_out, found.joint
    return {
        "test": found.scores,
        "promised": None if held is None else {**held.scores(), "how": held.how},
        "differences": {d.name: {"p_value": d.p_value} for d in found.differences},
        "inside": found.check.inside,
        "p_value": found.check.p_value,
        "intervals_contradicted": found.check.contradicted,
        "together": None if joint is None else {**vars(joint), "p_value": joint.p_value},
        "findings": [finding._asdict() for finding in found.findings],
    }


def _of_test_runs(one: _Judged, X: Any, display: Any, **settings: Any) -> Any:
    """Return a display of the test runs."""
    return display.from_test_runs(one.view, X, one.observed, noise_sd=one.noise_sd, **settings)


def _draw(judged: list[_Judged], X: "pd.DataFrame", level: float, path: Path) -> None:
    """Write the figure: a row of panels for every response."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from pengp._core.files import replacing
    from pengp.plots import CoverageDisplay, LeaveOneOutDisplay, PivotedErrorsDisplay

    kind = path.suffix.lower()[1:]
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with (
        replacing(path) as place,
        mpl.rc_context(
            {
                "axes.spines.top": False,
                "axes.spines.right": False,
                "svg.hashsalt": "pengp",  # the same runs give the same bytes
                "text.parse_math": False,  # a name with dollars is no formula
            }
        ),
    ):
        figure = Figure(figsize=(13.5, 4.4 * len(judged)), layout="constrained")
        for one, axes in zip(judged, figure.subplots(len(judged), 3, squeeze=False), strict=True):
            given = partial(_of_test_runs, one, as_fitted(one.view, X))
            given(LeaveOneOutDisplay, level=level).plot(ax=axes[0])
            given(CoverageDisplay).plot(ax=axes[1])
            if one.view.is_constant:
                axes[2].set_axis_off()
            else:
                given(PivotedErrorsDisplay, level=level).plot(ax=axes[2])
            for panel in axes:
                panel.set_box_aspect(1)
        figure.savefig(place, format=kind, dpi=150, metadata=undated)
