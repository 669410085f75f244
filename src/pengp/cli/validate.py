"""The command `pengp validate`: predictions judged by runs that the model has not seen."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pengp.cli.files import check_destination
from pengp.cli.models import (
    Extrapolation,
    as_fitted,
    check_inputs,
    check_level,
    open_model,
    predict_all,
)
from pengp.cli.printing import (
    note,
    number,
    paragraph,
    percent,
    rendered,
    show,
    show_json,
    table,
    working,
)
from pengp.cli.reading import DecimalOption, IgnoreOption, Reading, SheetOption, ThousandsOption
from pengp.cli.tables import read_table
from pengp.exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd

    from pengp._core.arrays import FloatArray
    from pengp.choosing.scores import ValidationScore
    from pengp.diagnostics import IntervalCheck
    from pengp.estimators.view import FittedView

_FIGURES = (".png", ".svg", ".pdf")


@dataclass(frozen=True, eq=False)
class _Judged:
    """One response of the test runs, and what became of its predictions."""

    name: str
    observed: "FloatArray"  # [m]
    mean: "FloatArray"  # [m]
    std: "FloatArray"  # [m]
    scores: dict[str, float]
    leave_one_out: dict[str, float]
    check: "IntervalCheck"


def validate(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model file from pengp fit.")],
    test: Annotated[
        str,
        typer.Argument(
            metavar="TABLE",
            help="Table with inputs and response of runs that were not fitted; - for CSV on stdin.",
        ),
    ],
    level: Annotated[
        float, typer.Option(help="Probability that an interval is to hold the response.")
    ] = 0.95,
    plot: Annotated[
        Path | None, typer.Option(help="Figure to write, .png, .svg or .pdf.", metavar="FILE")
    ] = None,
    decimal: DecimalOption = None,
    thousands: ThousandsOption = None,
    sheet: SheetOption = None,
    ignore: IgnoreOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Compare predictions with runs that the model has not seen.

    The scores of these runs stand beside those that the model gives itself by leaving out each of
    its own runs in turn. The figure shows predicted against observed responses, and how often
    intervals of every level hold the response.
    """
    check_level(level)
    if plot is not None and plot.suffix.lower() not in _FIGURES:
        raise InputError(f"--plot {plot} must end in {', '.join(_FIGURES[:-1])} or {_FIGURES[-1]}.")
    if plot is not None:
        check_destination(plot, model, test)
    views = open_model(model)
    with working(f"Reading {test} ..."):
        runs = read_table(test, Reading(decimal, thousands, sheet, ignore or ()))
    X, y = runs.numbers(views[0].names), runs.numbers([view.response for view in views])
    check_inputs(views[0], X, runs.source)
    outside = Extrapolation(views[0])
    outside.count(X)
    judged = _judge(views, X, y, level)
    text = "" if as_json else _text(judged, runs.source, level)
    if plot is not None:
        _draw(judged, level, plot)
        text += f"\nFigure: {plot}\n"
    for sentence in (_known_runs(views[0], X), outside.sentence()):
        if sentence:
            note(sentence)
    if as_json:
        show_json(_record(judged, level, outside))
    else:
        show(text)


def _judge(
    views: "list[FittedView]", X: "pd.DataFrame", y: "pd.DataFrame", level: float
) -> list[_Judged]:
    """Score the predictions of every response."""
    from pengp.diagnostics import IntervalCheck, diagnose_view, score_predictions

    judged = []
    for view, mean, std in zip(views, *(a.T for a in predict_all(views, X)), strict=True):
        observed = y[view.response].to_numpy()
        law = view.law(as_fitted(view, X))
        scores = score_predictions(observed, mean, std, level=level, law=law)
        own = diagnose_view(view, level).scores
        check = IntervalCheck(round(scores["coverage"] * len(X)), len(X), level)
        judged.append(_Judged(view.response, observed, mean, std, scores, own, check))
    return judged


def _text(judged: list[_Judged], source: str, level: float) -> str:
    """Return tables and verdicts for people."""
    from pengp.choosing.scores import VALIDATION_SCORES

    parts: list[Any] = []
    for one in judged:
        m = len(one.observed)
        rows = [
            (
                score.label,
                _shown(score, one.scores),
                _shown(score, one.leave_one_out),
                score.explain(level),
            )
            for score in VALIDATION_SCORES.values()
        ]
        grid = table(
            ("score", "test", "leave-\none-out", "meaning"),
            rows,
            title=f"{one.name}: {m} test run{'s' * (m > 1)} of {source}",
            right=(1, 2),
        )
        *most, last = (score.label for score in VALIDATION_SCORES.values() if score.has_unit)
        units = (
            f"{', '.join(most)} and {last} are in the unit of {one.name}. Leave-one-out: each run "
            "of the fit, predicted from the others."
        )
        parts += [grid, "", paragraph(units), "", *map(paragraph, _verdicts(one, level)), ""]
    return rendered(*parts[:-1])


def _shown(score: "ValidationScore", scores: dict[str, float]) -> str:
    """Return a score as text; a share in percent."""
    value = scores[score.name]
    return percent(value) if score.greater_is_better is None else number(value)


def _verdicts(one: _Judged, level: float) -> list[str]:
    """Return sentences on what the scores mean for the use of the model."""
    m, sure = len(one.observed), f"{100 * level:g} %"
    counts = (
        f"{one.check.inside} of {m} responses lie in their {sure} interval, where "
        f"{m * level:.3g} are expected"
    )
    sentences = [
        f"{counts}: the intervals are too {one.check.too}, chance does not explain this (p = "
        f"{one.check.p_value:.1g})."
        if one.check.contradicted
        else f"{counts}: these runs do not contradict the intervals."
    ]
    if one.scores["q2"] <= 0.0 and m > 1:
        sentences.append(
            "The predictions are no better than the mean of these runs; do not rely on this model."
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
    responses = {
        one.name: {
            "test": one.scores,
            "leave_one_out": one.leave_one_out,
            "inside": one.check.inside,
            "p_value": one.check.p_value,
            "intervals_contradicted": one.check.contradicted,
        }
        for one in judged
    }
    return {
        "runs": outside.rows,
        "level": level,
        "responses": responses,
        "outside": outside.record(),
    }


def _draw(judged: list[_Judged], level: float, path: Path) -> None:
    """Write the figure: a row of two panels for every response."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from pengp._core.files import replacing
    from pengp.plots import CoverageDisplay, LeaveOneOutDisplay

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
        figure = Figure(figsize=(9.0, 4.4 * len(judged)), layout="constrained")
        for one, axes in zip(judged, figure.subplots(len(judged), 2, squeeze=False), strict=True):
            given = one.observed, one.mean, one.std
            left = LeaveOneOutDisplay.from_predictions(*given, level=level, response_name=one.name)
            left.plot(ax=axes[0])
            CoverageDisplay.from_predictions(*given, response_name=one.name).plot(ax=axes[1])
            axes[1].set_box_aspect(1)
        figure.savefig(place, format=kind, dpi=150, metadata=undated)
