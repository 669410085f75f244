"""Main effects: the mean response given one input, a figure for each input that matters."""

import numpy as np
import plotly.graph_objects as go

from pengp.decisions.estimates import Curve
from pengp.decisions.indices import Effects
from pengp.report.payload import Payload
from pengp.report.plot import Plot
from pengp.report.style import BAND as SHADE
from pengp.report.style import PREDICTED, band, figure
from pengp.report.subject import Subject
from pengp.report.text import inert, number

#: Inputs that are drawn, and the total share of the variance from which one is.
_MOST, _LEAST = 6, 0.01


def main_effect_plots(subject: Subject, payload: Payload, found: Effects) -> list[Plot]:
    """Return the curves of the inputs that matter most, on one scale of the response."""
    shown = [int(p) for p in found.order()[:_MOST] if found.total.mean[p] >= _LEAST]
    ends = [
        min((float(found.curves[p].lower.min()) for p in shown), default=0.0),
        max((float(found.curves[p].upper.max()) for p in shown), default=0.0),
    ]
    return [_plot(subject, payload, found, p, ends) for p in shown]


def _plot(subject: Subject, payload: Payload, found: Effects, p: int, ends: list[float]) -> Plot:
    """Return the figure of input p."""
    id, name, curve = f"{subject.key}-main-{p}", found.names[p], found.curves[p]
    pad = 0.05 * (ends[1] - ends[0])
    payload.figures[id] = _curve(
        curve, name, f"mean {found.response}", [ends[0] - pad, ends[1] + pad]
    )
    words = []
    for word, place in (("lowest", curve.mean.argmin()), ("highest", curve.mean.argmax())):
        at = curve.axis.values[int(place)]
        where = at if isinstance(at, str) else number(at, 3)
        words.append(f"{word} {number(float(curve.mean[place]))} at {where}")
    return Plot(
        id=id,
        title=f"{name} alone",
        caption=f"The mean {found.response} given {name}, with its {100 * found.level:g} % "
        "interval.",
        alt=f"Main effect of {name} on {found.response}: {', '.join(words)}.",
        size="third",
    )


def _curve(curve: Curve, name: str, response: str, ends: list[float]) -> go.Figure:
    """Return a curve with its band; whole numbers and levels have points with intervals."""
    made = figure(name, response, showlegend=False, yaxis={"range": ends})
    axis, mean, lower, upper = curve
    told = np.stack([lower, upper], axis=-1)
    look = {
        "customdata": told,
        "hovertemplate": "%{x}<br>%{y:.4~g} (%{customdata[0]:.4~g} to %{customdata[1]:.4~g})"
        "<extra></extra>",
    }
    if axis.is_finite:
        x = axis.x if axis.labels is None else [inert(label, 24) for label in axis.labels]
        reach = {"array": upper - mean, "arrayminus": mean - lower, "thickness": 1.2}
        made.add_scatter(
            x=x, y=mean, mode="markers", error_y=reach, marker={"color": PREDICTED}, **look
        )
        return made
    made.add_traces(band(axis.x, lower, upper, fillcolor=SHADE))
    made.add_scatter(x=axis.x, y=mean, mode="lines", line={"color": PREDICTED}, **look)
    return made
