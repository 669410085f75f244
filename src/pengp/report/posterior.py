"""Figures of what an average says: lengthscales of the inputs, kernels, explanations."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from pengp._core.arrays import FloatArray
from pengp.plots import ActivityDisplay, ExplanationsDisplay
from pengp.plots.posterior import label_of
from pengp.report.payload import Payload
from pengp.report.plot import Plot
from pengp.report.style import BAND, DASHES, INPUTS, PREDICTED, REFERENCE, SYMBOLS, figure
from pengp.report.subject import Subject
from pengp.report.text import inert, listed, number, percent

#: Inputs that are drawn, those that matter most.
_MOST_INPUTS = 20
#: Explanations that are drawn, the weightiest.
_MOST_EXPLANATIONS = 6


def lengthscale_plot(subject: Subject, payload: Payload) -> Plot:
    """Return the posterior distributions of the lengthscales."""
    found = ActivityDisplay.from_estimator(subject.view)
    shown = [p for p in found.order if found.share[p].any()][:_MOST_INPUTS]
    labels = [inert(found.names[p], 24) for p in shown]
    made = figure(
        "lengthscale / range of the input",
        "",
        showlegend=False,
        shapes=[_one_range()],
        xaxis={"type": "log", "range": np.log10(found.edges[[0, -1]]), "dtick": 1},
        yaxis={
            "tickvals": np.arange(len(shown)),
            "ticktext": labels,
            "range": [len(shown) - 0.4, -0.6],
            "showgrid": False,
        },
    )
    for row, p in enumerate(shown):
        made.add_traces(_distribution(found, row, p))
    id = f"{subject.key}-lengthscales"
    payload.figures[id] = made
    return Plot(
        id=id,
        title="How fast does the response vary?",
        caption="Posterior distribution of each lengthscale; the dot is the median, the line holds "
        "90 %. At 1, the dotted line, the response changes over the whole range of the input; far "
        "to the right it hardly depends on it, or nearly linearly. What lies beyond 100 is drawn "
        "at the right end.",
        alt=_lengthscale_alt(found),
        size="full",
    )


def _one_range() -> dict[str, object]:
    """Return a line where the lengthscale is the range."""
    line = {"color": REFERENCE, "width": 1, "dash": "dot"}
    return {"type": "line", "x0": 1, "x1": 1, "y0": 0, "y1": 1, "yref": "paper", "line": line}


def _distribution(found: ActivityDisplay, row: int, p: int) -> list[go.Scatter]:
    """Return outline, central interval and median of one input."""
    middles = np.sqrt(found.edges[1:] * found.edges[:-1])
    height = 0.44 * found.share[p] / found.share[p].max()
    low, median, high = np.clip(found.lengthscale[p] / found.width[p], *found.edges[[0, -1]])
    words = [number(value, 3) for value in found.lengthscale[p]]
    told = (
        f"{inert(found.names[p])}<br>lengthscale {words[1]}<br>90 % from {words[0]} to {words[2]}"
    )
    return [
        go.Scatter(
            x=np.concatenate([middles, middles[::-1]]),
            y=np.concatenate([row - height, (row + height)[::-1]]),
            fill="toself",
            fillcolor=BAND,
            mode="lines",
            line={"width": 0, "color": PREDICTED},
            hoverinfo="skip",
        ),
        go.Scatter(
            x=[low, high],
            y=[row, row],
            mode="lines",
            line={"color": PREDICTED, "width": 1.6},
            hoverinfo="skip",
        ),
        go.Scatter(
            x=[median],
            y=[row],
            mode="markers",
            marker={"color": PREDICTED, "size": 9},
            hovertemplate=f"{told}<extra></extra>",
        ),
    ]


def _lengthscale_alt(found: ActivityDisplay) -> str:
    """Return the alternative text of the lengthscales."""
    words = [
        f"{found.names[p]} {number(median, 3)} ({number(low, 3)} to {number(high, 3)}), matters "
        f"with probability {percent(found.probability[p])}"
        for p, (low, median, high) in ((p, found.lengthscale[p]) for p in found.order[:8])
    ]
    return f"Posterior medians and central 90 % of the lengthscales: {'; '.join(words)}."


def explanation_plots(subject: Subject, payload: Payload) -> list[Plot]:
    """Return the figures of kernels and explanations; none of these for a single one."""
    found = ExplanationsDisplay.from_estimator(subject.view)
    kernels = [_kernels(subject, payload, found)] if len(found.kernels) > 1 else []
    return [*kernels, _explanations(subject, payload, found)]


def _kernels(subject: Subject, payload: Payload, found: ExplanationsDisplay) -> Plot:
    """Return prior and posterior probabilities of the kernels."""
    labels = [label_of(name) for name in found.kernels]
    ends = {"range": [0, 100]}
    rows = {"autorange": "reversed", "showgrid": False}
    made = figure("probability (%)", "", xaxis=ends, yaxis=rows)
    made.add_bar(
        x=100.0 * found.kernel_weight,
        y=[inert(label) for label in labels],
        orientation="h",
        width=0.5,
        marker={"color": PREDICTED},
        name="after the runs",
        hovertemplate="%{y}<br>%{x:.3~g} %<extra></extra>",
    )
    made.add_scatter(
        x=100.0 * found.kernel_prior,
        y=[inert(label) for label in labels],
        mode="markers",
        marker={"symbol": "line-ns-open", "size": 18, "color": REFERENCE, "line": {"width": 3}},
        name="before",
        hovertemplate="%{y}<br>%{x:.3~g} % before<extra></extra>",
    )
    id = f"{subject.key}-kernels"
    payload.figures[id] = made
    pairs = zip(labels, found.kernel_weight, found.kernel_prior, strict=True)
    words = [f"{label} {percent(w)}, before the runs {percent(prior)}" for label, w, prior in pairs]
    return Plot(
        id=id,
        title="Which kernel?",
        caption="How smooth the response is between the runs. Where the bars stay near the marks, "
        "the runs do not tell the kernels apart, and the average keeps all of them.",
        alt=f"Posterior probabilities of the kernels: {listed(words)}.",
        legend=2,
    )


def _explanations(subject: Subject, payload: Payload, found: ExplanationsDisplay) -> Plot:
    """Return theta of every explanation."""
    inputs = subject.ranked[:_MOST_INPUTS]
    made = figure(
        "",
        "θ",
        xaxis={"tickvals": np.arange(len(inputs)), "range": [-0.3, len(inputs) - 0.7]},
        yaxis={"type": "log", **_ticks(found.theta[:_MOST_EXPLANATIONS, inputs])},
    )
    labels = [inert(subject.view.names[p], 18) for p in inputs]
    made.update_xaxes(ticktext=labels, tickangle=-30 if len("".join(labels)) > 30 else 0)
    for k in range(min(len(found.weight), _MOST_EXPLANATIONS)):
        name = f"{percent(round(float(found.weight[k]), 3))} {label_of(found.kernel[k])}"
        made.add_scatter(
            x=np.arange(len(inputs)),
            y=found.theta[k, inputs],
            mode="lines+markers",
            name=inert(name),
            line={"color": _colour(k), "dash": DASHES[k % len(DASHES)], "width": 2},
            marker={"symbol": SYMBOLS[k % len(SYMBOLS)], "size": 8},
            hovertemplate="%{fullData.name}<br>θ = %{y:.3~g}<extra></extra>",
        )
    id = f"{subject.key}-explanations"
    payload.figures[id] = made
    words = [
        f"{percent(w)} {label_of(kernel)}, theta up to {number(float(theta.max()), 3)}"
        for w, kernel, theta in zip(found.weight, found.kernel, found.theta, strict=True)
    ]
    return Plot(
        id=id,
        title="Which explanations?",
        caption="θ of every input at each peak of the posterior, with the share of the posterior "
        "that belongs to it. Lines that run alike tell the same story.",
        alt=f"Explanations with their posterior weights: {listed(words[:_MOST_EXPLANATIONS])}.",
        size="half" if len(found.kernels) > 1 else "full",
        legend=min(len(found.weight), _MOST_EXPLANATIONS),
    )


def _ticks(values: FloatArray) -> dict[str, Any]:
    """Return ticks at 1, 2 and 5 of every decade, or at the decades if there are many."""
    low, high = np.log10([values.min(), values.max()])
    decades = 10.0 ** np.arange(np.floor(low), np.ceil(high) + 1.0)
    ticks = np.outer(decades, [1.0, 2.0, 5.0] if high - low < 3.0 else [1.0]).ravel()
    return {"tickvals": ticks, "ticktext": [number(tick, 3) for tick in ticks]}


def _colour(k: int) -> str:
    """Return the colour of the k-th explanation."""
    colours = (PREDICTED, *INPUTS)
    return colours[k] if k < len(colours) else REFERENCE
