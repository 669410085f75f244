"""Figures of how well left-out runs are predicted; all follow the slider, if there is one."""

import numpy as np
import plotly.graph_objects as go

from pengp._core.arrays import FloatArray
from pengp.choosing.scores import half_width
from pengp.plots import CoverageDisplay, LeaveOneOutDisplay, ResidualsDisplay
from pengp.report.payload import Payload
from pengp.report.plot import Plot, place
from pengp.report.style import (
    CHANCE,
    PAPER,
    PREDICTED,
    REFERENCE,
    band,
    figure,
    points,
    reference_line,
)
from pengp.report.subject import Subject
from pengp.report.text import counted, inert, number, percent

#: Errors within which a standard normal one lies with probability 0.95.
_LIMIT = half_width(0.95)
_DOT = {"color": PREDICTED, "size": 8, "line": {"color": PAPER, "width": 1}}


def prediction_plots(subject: Subject, payload: Payload) -> list[Plot]:
    """Return the figures of leave-one-out predictions, coverage and residuals."""
    parts = (_predicted, _coverage, _residuals, _quantiles)
    return [part(subject, payload) for part in parts]


def score_line(subject: Subject, k: int) -> str:
    """Return RMSE, Q2 and coverage at a place of the slider in one line."""
    scores, inside = subject.scores[k], subject.loo[k].inside
    return (
        f"RMSE {number(scores['rmse'], 3)}, Q² {number(scores['q2'], 3)}, "
        f"{inside.sum()} of {len(inside)} runs inside their {percent(subject.loo[k].level)} "
        "interval"
    )


def _predicted(subject: Subject, payload: Payload) -> Plot:
    """Predicted against observed, those outside their interval with another symbol."""
    own, key, by = subject.loo[subject.place], f"{subject.key}-loo", [subject.lam_key]
    made = figure(f"observed {subject.view.response}", "predicted", yaxis={"range": _ends(subject)})
    diagonal = [own.observed.min(), own.observed.max()]
    made.add_trace(reference_line(diagonal, diagonal))
    above = payload.numbers(f"{key}.above", [at.upper - at.mean for at in subject.loo])
    below = payload.numbers(f"{key}.below", [at.mean - at.lower for at in subject.loo])
    for k, (inside, word) in enumerate(((True, "in"), (False, "outside")), start=1):
        shown = [np.where(at.inside == inside, at.mean, np.nan) for at in subject.loo]
        made.add_trace(with_bars(own, shown[subject.place], word))
        payload.bind_figure(key, payload.numbers(f"{key}.{word}", shown), by, f"data.{k}.y")
        payload.bind_figure(key, above, by, f"data.{k}.error_y.array")
        payload.bind_figure(key, below, by, f"data.{k}.error_y.arrayminus")
    theta = "θ is the one estimated from all runs, which has seen the run: this flatters."
    if not subject.view.is_penalized:
        theta = "θ was learned anew without the run."
    plot = {
        "title": "Every run, predicted from all others",
        "caption": "A good surrogate puts the points on the line, and nearly all of the vertical "
        f"bars across it. {theta}",
    }
    alts = [
        f"Leave-one-out predictions of {subject.view.response} against the observed values for "
        f"{counted(len(at.mean), 'run')}{subject.where(k)}. Observed from "
        f"{number(at.observed.min())} to {number(at.observed.max())}, predicted from "
        f"{number(at.mean.min())} to {number(at.mean.max())}; {score_line(subject, k)}."
        for k, at in enumerate(subject.loo)
    ]
    return place(subject, payload, "loo", made, plot, alts)


def with_bars(own: LeaveOneOutDisplay, mean: FloatArray, word: str) -> go.Scatter:
    """Return the runs inside or outside their intervals; those that are not have mean nan."""
    bars = {"type": "data", "symmetric": False, "thickness": 1.2, "width": 0}
    bars |= {"array": own.upper - own.mean, "arrayminus": own.mean - own.lower}
    look = {"symbol": "circle", "size": 8} if word == "in" else {"symbol": "x-thin", "size": 9}
    return points(
        own.observed,
        mean,
        "observed %{x:.5~g}<br>predicted %{y:.5~g} +%{error_y.array:.3~g} / "
        "-%{error_y.arrayminus:.3~g}",
        error_y={**bars, "color": PREDICTED},
        marker={**look, "color": PREDICTED, "line": {"color": PREDICTED, "width": 2.5}},
        name=inert(f"{word} its {percent(own.level)} interval"),
    )


def _ends(subject: Subject) -> list[float]:
    """Return an ordinate range that holds the predictions for every lambda."""
    own = subject.loo[subject.place]
    values = [own.observed, own.lower, own.upper, *(at.mean for at in subject.loo)]
    low, high = min(v.min() for v in values), max(v.max() for v in values)
    pad = 0.05 * (high - low) or 1.0
    return [float(low - pad), float(high + pad)]


def _coverage(subject: Subject, payload: Payload) -> Plot:
    """Empirical against nominal coverage."""
    displays = [CoverageDisplay.from_estimator(view) for view in subject.along]
    own, key = displays[subject.place], f"{subject.key}-coverage"
    share: FloatArray = 100.0 * np.array([at.coverage for at in displays])
    payload.bind_figure(key, payload.numbers(f"{key}.y", share), [subject.lam_key], "data.3.y")
    plot = {
        "title": "Do the intervals keep their promise?",
        "caption": "Share of the runs inside their interval. Above the line the "
        "intervals are wider than needed, below it too narrow; inside the grey area the "
        f"difference may be chance with {counted(own.n, 'run')}.",
    }
    alts = [coverage_alt(at, subject.where(k)) for k, at in enumerate(displays)]
    return place(subject, payload, "coverage", coverage_figure(own), plot, alts)


def coverage_figure(own: CoverageDisplay) -> go.Figure:
    """Return the curve of coverage with its band."""
    ends = {"xaxis": {"range": [0, 100]}, "yaxis": {"range": [-2, 103]}}
    made = figure("probability asked of the interval (%)", "runs inside (%)", **ends)
    levels, chance = 100.0 * own.levels, inert(f"{percent(own.level)} of chance")
    lower, upper = 100.0 * own.band_lower, 100.0 * own.band_upper
    made.add_traces(band(levels, lower, upper, fillcolor=CHANCE, name=chance))
    made.add_trace(reference_line([0, 100], [0, 100]))
    return made.add_scatter(
        x=levels,
        y=100.0 * own.coverage,
        mode="lines",
        line={"color": PREDICTED, "width": 2.2, "shape": "hvh"},
        name="intervals of the surrogate",
        hovertemplate="asked %{x:.0f} %<br>inside %{y:.3~g} %<extra></extra>",
    )


def coverage_alt(at: CoverageDisplay, where: str) -> str:
    """Return the alternative text of the coverage."""
    half, most = (float(at.coverage[np.isclose(at.levels, v)][0]) for v in (0.5, 0.95))
    beyond = (at.coverage < at.band_lower) | (at.coverage > at.band_upper)
    return (
        f"Coverage of {at.source} intervals{where}: the 50 % intervals hold "
        f"{percent(half)} of the runs, the 95 % intervals {percent(most)}; outside the band of "
        f"chance at {int(beyond.sum())} of {len(beyond)} levels."
    )


def _residuals(subject: Subject, payload: Payload) -> Plot:
    """Standardised residuals against predictions."""
    own, key = subject.residuals[subject.place], f"{subject.key}-residuals"
    lines = [_level(0.0, "solid"), _level(_LIMIT, "dot"), _level(-_LIMIT, "dot")]
    ends = {"autorangeoptions": {"include": [-2.4, 2.4]}}
    made = figure("predicted", "standardised error", shapes=lines, showlegend=False, yaxis=ends)
    template = "predicted %{x:.5~g}<br>%{y:.3~g} standard deviations off"
    made.add_trace(points(own.fitted, own.standardized, template, marker=_DOT))
    for path, name in (("data.0.x", "fitted"), ("data.0.y", "standardized")):
        array = payload.numbers(f"{key}.{name}", [getattr(at, name) for at in subject.residuals])
        payload.bind_figure(key, array, [subject.lam_key], path)
    plot = {
        "title": "Errors of these predictions",
        "caption": "Observed less predicted, divided by the predicted standard deviation. About 1 "
        "run in 20 should lie beyond a dotted line, and no pattern should show.",
    }
    alts = [_residual_alt(at, subject.where(k)) for k, at in enumerate(subject.residuals)]
    return place(subject, payload, "residuals", made, plot, alts)


def _residual_alt(at: ResidualsDisplay, where: str) -> str:
    """Return the alternative text of the residuals."""
    z = at.standardized
    return (
        f"Standardised {at.source} errors against predictions{where}: from "
        f"{number(z.min(), 3)} to {number(z.max(), 3)} standard deviations, "
        f"{(np.abs(z) > _LIMIT).sum()} of {len(z)} beyond {number(_LIMIT, 3)}; the largest is run "
        f"{int(np.abs(z).argmax()) + 1}."
    )


def _level(height: float, dash: str) -> dict[str, object]:
    """Return a horizontal line across the figure."""
    ends = {"x0": 0, "x1": 1, "y0": height, "y1": height, "xref": "paper", "type": "line"}
    return {**ends, "layer": "below", "line": {"color": REFERENCE, "width": 1, "dash": dash}}


def _quantiles(subject: Subject, payload: Payload) -> Plot:
    """Ordered residuals against normal quantiles."""
    own, key = subject.residuals[subject.place], f"{subject.key}-quantiles"
    made = figure("expected of a normal distribution", "standardised error")
    chance = {"fillcolor": CHANCE, "name": inert(f"{percent(own.level)} of chance")}
    made.add_traces(band(own.quantiles, own.envelope_lower, own.envelope_upper, **chance))
    ends = own.quantiles[[0, -1]]
    made.add_trace(reference_line(ends, ends))
    template = "expected %{x:.3~g}<br>found %{y:.3~g}"
    dots = points(own.quantiles, own.standardized[own.order], template, marker=_DOT)
    made.add_trace(dots.update(customdata=own.order + 1, showlegend=False))
    ordered = payload.numbers(f"{key}.y", [at.standardized[at.order] for at in subject.residuals])
    runs = payload.numbers(f"{key}.runs", [at.order + 1 for at in subject.residuals])
    payload.bind_figure(key, ordered, [subject.lam_key], "data.3.y")
    payload.bind_figure(key, runs, [subject.lam_key], "data.3.customdata")
    plot = {
        "title": "Are the errors normal?",
        "caption": "The same errors in order of size. Points outside the grey area say that the "
        "predicted standard deviations do not fit: steeper than the line means too small.",
    }
    alts = [_quantile_alt(at, subject.where(k)) for k, at in enumerate(subject.residuals)]
    return place(subject, payload, "quantiles", made, plot, alts)


def _quantile_alt(at: ResidualsDisplay, where: str) -> str:
    """Return the alternative text of the quantiles."""
    z = at.standardized[at.order]
    outside = int(((z < at.envelope_lower) | (z > at.envelope_upper)).sum())
    return (
        f"Normal quantile plot of the standardised {at.source} errors{where}: {outside} of "
        f"{counted(len(z), 'run')} outside the {percent(at.level)} envelope; standard deviation "
        f"{number(float(z.std()), 3)} where 1 is expected."
    )
