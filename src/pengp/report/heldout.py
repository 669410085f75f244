"""How accurate a model is on runs that it did not know: scores, figures and a sentence."""

import numpy as np

from pengp.choosing.validation import VALIDATION_SCORES
from pengp.plots import CoverageDisplay, LeaveOneOutDisplay
from pengp.report.payload import Payload
from pengp.report.plot import Plot
from pengp.report.prediction import coverage_alt, coverage_figure, with_bars
from pengp.report.style import figure, reference_line
from pengp.report.subject import Subject
from pengp.report.tables import Cell, Column, Table
from pengp.report.text import counted, number, percent


def held_out_table(subject: Subject) -> Table:
    """Return the scores of held-out runs; of a penalized fit, those with theta kept beside them."""
    found, kept = subject.diagnosis.held_out, subject.diagnosis.scores
    shown = {"Held out": {} if found is None else found.scores()}
    if subject.view.is_penalized:
        shown["θ kept: flatters"] = kept
    rows = []
    for name, score in VALIDATION_SCORES.items():
        values = [scores.get(name, np.nan) for scores in shown.values()]
        show = percent if score.greater_is_better is None else number
        if np.isnan(values).all():
            continue
        cells = [Cell("" if np.isnan(v) else show(v)) for v in values]
        unit = ", in the response's unit" if score.has_unit else ""
        text = f"{score.explain(subject.diagnosis.level)}{unit}."
        rows.append((Cell(score.label), *cells, Cell(text[:1].upper() + text[1:])))
    columns = (Column("Score", "name"), *map(Column, shown), Column("What it says", "text"))
    return Table(f"{subject.key}-held", "Scores on runs that were held out", columns, tuple(rows))


def held_out_sentence(subject: Subject) -> str:
    """Say how the runs were held out, and what came of it."""
    found = subject.diagnosis.held_out
    if found is None:
        return "The response is constant or has too few runs, so that none could be held out."
    anew = "estimated" if subject.view.is_penalized else "learned"
    scores, n = found.scores(), len(np.unique(found.run))
    times = f", {len(found.run)} predictions in all" if len(found.run) > n else ""
    return (
        f"{counted(n, 'run')} of the fit were predicted by fits that did not know them "
        f"({found.how}{times}), θ {anew} anew: RMSE {number(scores['rmse'], 3)}, "
        f"Q² {number(scores['q2'], 3)}, {found.inside} of {len(found.run)} inside their "
        f"{percent(found.level)} interval. Expect this of new runs."
    )


def held_out_plots(subject: Subject, payload: Payload) -> list[Plot]:
    """Return predicted against observed, and coverage, of held-out runs where there are any."""
    if subject.diagnosis.held_out is None:
        return []
    return [_predicted(subject, payload), _coverage(subject, payload)]


def _predicted(subject: Subject, payload: Payload) -> Plot:
    """Return predicted against observed."""
    own, id = LeaveOneOutDisplay.from_held_out(subject.view), f"{subject.key}-held-predicted"
    made = figure(f"observed {subject.view.response}", "predicted")
    diagonal = [own.observed.min(), own.observed.max()]
    made.add_trace(reference_line(diagonal, diagonal))
    assert subject.diagnosis.held_out is not None
    runs = subject.diagnosis.held_out.run + 1
    for inside, word in ((True, "in"), (False, "outside")):
        trace = with_bars(own, np.where(own.inside == inside, own.mean, np.nan), word)
        made.add_trace(trace.update(customdata=runs))
    payload.figures[id] = made
    return Plot(
        id=id,
        title="Runs that were held out",
        caption="Each run predicted by fits that did not know it, θ estimated anew; with folds "
        "dealt several times it appears as often. A good surrogate puts the points on the line, "
        "and nearly all of the vertical bars across it.",
        alt=f"Predictions of held-out runs against the {len(np.unique(runs))} observed values: "
        f"{int(own.inside.sum())} of {len(own.inside)} inside their {percent(own.level)} "
        f"interval; predicted from {number(own.mean.min())} to {number(own.mean.max())}.",
    )


def _coverage(subject: Subject, payload: Payload) -> Plot:
    """Return the coverage."""
    own, id = CoverageDisplay.from_held_out(subject.view), f"{subject.key}-held-coverage"
    payload.figures[id] = coverage_figure(own)
    return Plot(
        id=id,
        title="Do the intervals hold them?",
        caption="Share of these predictions inside their interval. Above the line the intervals "
        "are wider than needed, below it too narrow; inside the grey area the difference may be "
        f"chance with {counted(own.n, 'prediction')}, were they independent.",
        alt=coverage_alt(own, ""),
    )
