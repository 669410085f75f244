"""Figures of the choice of lambda: the curve of cross-validation, and its stability."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from pengp._core.arrays import BoolArray, FloatArray
from pengp.choosing.metrics import FOLD_METRICS
from pengp.plots import CVCurveDisplay, StabilityDisplay, lambda_positions
from pengp.report.along import apart, current_line, mark_current
from pengp.report.payload import Payload
from pengp.report.plot import Plot, place
from pengp.report.style import (
    CHANCE,
    CURRENT,
    REFERENCE,
    RUNS,
    band,
    figure,
    lambda_axis,
    vertical,
)
from pengp.report.subject import Subject
from pengp.report.text import number

#: Ratio of largest to smallest mean from which the curve is drawn on a logarithmic axis.
_SPAN = 30.0


def cv_curve(subject: Subject, payload: Payload) -> Plot | None:
    """Cross-validated metric against lambda; None where nothing was cross-validated."""
    if subject.view.table is None:
        return None
    curve = CVCurveDisplay.from_estimator(subject.view)
    word = metric_words(curve.metric, curve.greater_is_better)
    made = figure(
        "λ",
        f"cross-validated {FOLD_METRICS.label(curve.metric)}",
        shapes=[current_line(subject)],
        xaxis=lambda_axis(lambda_positions(curve.lams)),
        yaxis=_heights_axis(curve),
    )
    _add_curve(made, curve)
    _add_choices(made, curve)
    wanted = [int(np.flatnonzero(curve.lams == lam)[0]) for lam in subject.lams]
    mark_current(subject, payload, made, f"{subject.key}-cv", curve.mean[wanted][:, None])
    plot = {
        "title": "Cross-validation",
        "caption": f"The {word}, mean and standard error over the folds. The one-standard-error "
        "rule takes the largest λ whose mean is within one standard error of the best.",
        "size": "full",
        "legend": 5,
    }
    return place(subject, payload, "cv", made, plot, _cv_alts(subject, curve, word))


def metric_words(name: str, greater_is_better: bool) -> str:
    """Return what sentences call a metric, its name if only a model file knows it."""
    words = FOLD_METRICS[name].meaning if name in FOLD_METRICS else name
    return f"{words} (higher is better)" if greater_is_better else words


def _heights_axis(curve: CVCurveDisplay) -> dict[str, Any]:
    """Return a logarithmic axis for a metric that is positive and spans decades."""
    usable = curve.mean[np.isfinite(curve.mean)]
    if not len(usable) or usable.min() <= 0.0 or usable.max() < _SPAN * usable.min():
        return {}
    high = (curve.mean + curve.se)[np.isfinite(curve.mean)].max()
    ends = np.log10([0.5 * usable.min(), 1.5 * high])
    return {"type": "log", "range": ends, "dtick": 1}


def _add_curve(made: go.Figure, curve: CVCurveDisplay) -> None:
    """Draw mean and standard error."""
    x = apart(curve.lams, lambda_positions(curve.lams).positions)
    mean, se = apart(curve.lams, curve.mean), apart(curve.lams, curve.se)
    lower, positive = mean - se, slice(int((curve.lams == 0.0).sum()) + 1, None)
    if made.layout.yaxis.type == "log":
        lower = np.maximum(lower, 1e-3 * np.nanmin(mean))  # below the axis, where 0 has no place
    ends = (values[positive] for values in (x, lower, mean + se))
    made.add_traces(band(*ends, fillcolor=CHANCE, name="± 1 standard error"))
    made.add_scatter(
        x=x,
        y=mean,
        error_y=_bar_at_zero(curve.lams, se),
        customdata=np.stack([apart(curve.lams, curve.lams), se], axis=1),
        mode="lines+markers",
        line={"color": RUNS, "width": 2},
        marker={"size": 4},
        name="mean over the folds",
        hovertemplate="λ = %{customdata[0]:.3~g}<br>%{y:.4~g} ± %{customdata[1]:.2~g}"
        "<extra></extra>",
    )


def _bar_at_zero(lams: FloatArray, se: FloatArray) -> dict[str, Any]:
    """Return error bars that only the point at lambda 0 has; the others have the band."""
    at_zero: BoolArray = np.zeros(len(se), dtype=bool)
    at_zero[: int((lams == 0.0).sum())] = True
    bars = np.where(at_zero, se, np.nan)
    return {"type": "data", "array": bars, "color": REFERENCE, "thickness": 1.5, "width": 3}


def _add_choices(made: go.Figure, curve: CVCurveDisplay) -> None:
    """Mark the best lambda and the one within a standard error of it."""
    outline = {"color": RUNS, "width": 2}
    positions = lambda_positions(curve.lams).positions
    for lam, word, symbol in (
        (curve.best, "best", "star"),
        (curve.one_se, "one standard error", "square-open"),
    ):
        at = int(np.flatnonzero(curve.lams == lam)[0])
        made.add_trace(
            go.Scatter(
                x=[positions[at]],
                y=[curve.mean[at]],
                mode="markers",
                marker={"symbol": symbol, "size": 14, "color": RUNS, "line": outline},
                name=f"{word}: λ = {number(lam, 3)}",
                hoverinfo="skip",
            )
        )


def _cv_alts(subject: Subject, curve: CVCurveDisplay, word: str) -> list[str]:
    """Return the alternative texts of the curve."""
    best = float(curve.mean[curve.lams == curve.best][0])
    start = (
        f"Cross-validated {word} against lambda: best {number(best, 3)} at lambda "
        f"{number(curve.best, 3)}, one-standard-error choice lambda {number(curve.one_se, 3)}, "
        f"chosen lambda {number(curve.chosen, 3)}. "
    )
    texts = []
    for lam in subject.lams:
        at = int(np.flatnonzero(curve.lams == lam)[0])
        texts.append(
            f"{start}At lambda {number(lam, 3)}: {number(curve.mean[at], 3)}, standard error "
            f"{number(curve.se[at], 3)}."
        )
    return texts


def stability(subject: Subject, payload: Payload) -> Plot | None:
    """How often each lambda is chosen; None without repeats of the folds."""
    if subject.diagnosis.stability is None:
        return None
    counts = StabilityDisplay.from_estimator(subject.view)
    axis = lambda_positions(counts.lams)
    chosen = float(axis.positions[counts.lams == counts.chosen][0])
    made = figure(
        "λ",
        "repeats that choose it",
        showlegend=False,
        shapes=[vertical(chosen, color=CURRENT)],
        xaxis=lambda_axis(axis),
        yaxis={"dtick": max(1, int(counts.counts.max()) // 5)},
    )
    gaps, some = np.diff(axis.positions), counts.counts > 0
    made.add_bar(
        x=axis.positions[some],
        y=counts.counts[some],
        width=0.8 * float(gaps.min()) if len(gaps) else 0.5,
        customdata=counts.lams[some],
        marker={"color": REFERENCE},
        hovertemplate="λ = %{customdata:.3~g}<br>%{y} repeats<extra></extra>",
    )
    return place(subject, payload, "stability", made, *_about_stability(subject, counts))


def _about_stability(
    subject: Subject, counts: StabilityDisplay
) -> tuple[dict[str, Any], list[str]]:
    """Return title and caption, and the alternative texts."""
    low, high = counts.choices.min(), counts.choices.max()
    alt = (
        f"How often each of {len(counts.choices)} repeats of the folds, alone, chooses a lambda: "
        f"from {number(low, 3)} to {number(high, 3)}, median "
        f"{number(float(np.median(counts.choices)), 3)}; all together chose "
        f"{number(counts.chosen, 3)}."
    )
    plot = {
        "title": "Does the choice depend on the folds?",
        "caption": f"The λ that each of {len(counts.choices)} repeats of the folds would choose "
        "alone. The vertical line is the choice from all together.",
        "size": "full",
    }
    return plot, [alt] * len(subject.lams)
