"""Figures of the response over two inputs."""

from itertools import combinations
from typing import Any

import numpy as np
import plotly.graph_objects as go

from pengp.model.levels import Levels
from pengp.plots import ContourDisplay
from pengp.report.payload import Payload
from pengp.report.plot import Plot, Select
from pengp.report.response import LEVEL, axis_type, drawable, opacity_of, ticks_of
from pengp.report.style import figure, points
from pengp.report.subject import Subject
from pengp.report.text import inert, listed, number, percent

#: Points of each side of a contour plot, and inputs of which every pair can be selected.
_SIDE, _PAIRED = 31, 6
#: What follows the selected pair, in both figures.
_PAIR_PLACES = {
    "x": "data.0.x",
    "y": "data.0.y",
    "runs_x": "data.1.x",
    "runs_y": "data.1.y",
    "opacity": "data.1.marker.opacity",
    "x_type": "layout.xaxis.type",
    "y_type": "layout.yaxis.type",
    "x_ends": "layout.xaxis.range",
    "y_ends": "layout.yaxis.range",
    "x_label": "layout.xaxis.title.text",
    "y_label": "layout.yaxis.title.text",
    "x_ticks": "layout.xaxis.tickvals",
    "y_ticks": "layout.yaxis.tickvals",
}


def _pairs(subject: Subject) -> list[tuple[int, int]]:
    """Return the pairs of inputs over which contours are drawn: levels have no order."""
    transforms = subject.view.input_transforms
    ordered = [p for p in drawable(subject) if not isinstance(transforms[p], Levels)]
    return list(combinations(ordered[:_PAIRED], 2))


def contours_of(subject: Subject) -> dict[str, Any] | None:
    """Return the pairs of `contour_plots` and the names of their figures, None without any."""
    key, pairs = subject.key, _pairs(subject)
    figures = {what: f"{key}-contour-{what}" for what in ("mean", "width")}
    return {"key": f"{key}-pair", "pairs": pairs, "figures": figures} if pairs else None


def contour_plots(subject: Subject, payload: Payload) -> list[Plot]:
    """Return mean and interval width over two inputs at the model's own lambda."""
    pairs = [
        ContourDisplay.from_estimator(subject.view, inputs=pair, level=LEVEL, grid_size=_SIDE)
        for pair in _pairs(subject)
    ]
    if not pairs:
        return []
    _keep_pairs(subject, payload, pairs)
    titles = {"mean": "Predicted response", "width": f"Width of the {percent(LEVEL)} interval"}
    return [_contour(subject, payload, pairs, what, title) for what, title in titles.items()]


def _keep_pairs(subject: Subject, payload: Payload, pairs: list[ContourDisplay]) -> None:
    """Hand the numbers of all pairs to the page."""
    id = f"{subject.key}-pair"
    payload.state[id] = 0
    for name in ("x", "y", "mean", "width", "runs_x", "runs_y"):
        payload.numbers(f"{id}.{name}", [getattr(c, name) for c in pairs])
    payload.numbers(f"{id}.opacity", [opacity_of(c.runs_distance) for c in pairs])
    for k, name in enumerate(("x", "y")):
        payload.numbers(f"{id}.{name}_ends", [_axis(c, k)["range"] for c in pairs])
        payload.words(f"{id}.{name}_type", [axis_type(c.log[k]) for c in pairs])
        payload.words(f"{id}.{name}_label", [inert(c.input_names[k]) for c in pairs])
        payload.words(f"{id}.{name}_ticks", [ticks_of(subject, c.inputs[k])[0] for c in pairs])


def _contour(
    subject: Subject, payload: Payload, pairs: list[ContourDisplay], what: str, title: str
) -> Plot:
    """Return one of the two figures of a pair."""
    own, id, key = pairs[0], f"{subject.key}-contour-{what}", f"{subject.key}-pair"
    payload.figures[id] = _contour_figure(subject, own, what)
    for name, path in {**_PAIR_PLACES, what: "data.0.z"}.items():
        payload.bind_figure(id, f"{key}.{name}", [key], path)
    alts = [_contour_alt(subject, c, what) for c in pairs]
    payload.bind_element(id, "label", payload.words(f"{id}.alt", alts), [key])
    options = tuple(listed(c.input_names) for c in pairs)
    select = Select(f"{id}-pair", key, "Pair of inputs", options, 0)
    chosen = (select,) if what == "mean" and len(pairs) > 1 else ()
    return Plot(id=id, title=title, caption="", alt=alts[0], selects=chosen)


def _contour_figure(subject: Subject, own: ContourDisplay, what: str) -> go.Figure:
    """Return filled contours and the runs."""
    x, y = (_axis(own, k) | {"tickvals": ticks_of(subject, own.inputs[k])[0]} for k in range(2))
    made = figure(*own.input_names, showlegend=False, xaxis=x, yaxis=y)
    made.add_contour(
        x=own.x,
        y=own.y,
        z=getattr(own, what),
        colorscale="Viridis" if what == "mean" else "Cividis",
        ncontours=14,
        line={"width": 0.6, "color": "rgba(255,255,255,0.5)"},
        colorbar={"thickness": 12, "outlinewidth": 0},
        hovertemplate="%{x:.4~g}, %{y:.4~g}<br>%{z:.5~g}<extra></extra>",
    )
    made.add_trace(_pair_runs(own))
    return made


def _axis(own: ContourDisplay, k: int) -> dict[str, Any]:
    """Return type and range of an axis, of a logarithmic one that of the logarithms."""
    ends = (own.x, own.y)[k][[0, -1]]
    return {"range": np.log10(ends) if own.log[k] else ends, "type": axis_type(own.log[k])}


def _pair_runs(own: ContourDisplay) -> go.Scatter:
    """Return the runs on a contour plot."""
    look = {"color": "white", "size": 8, "line": {"color": "black", "width": 1}}
    look["opacity"] = opacity_of(own.runs_distance)
    template = "%{x:.5~g}, %{y:.5~g}"
    return points(own.runs_x, own.runs_y, template, marker=look, cliponaxis=False)


def _contour_alt(subject: Subject, c: ContourDisplay, what: str) -> str:
    """Return the alternative text of a contour plot."""
    z = getattr(c, what)
    words = []
    for word, place in (("lowest", z.argmin()), ("highest", z.argmax())):
        row, column = np.unravel_index(int(place), z.shape)
        words.append(
            f"{word} {number(z[row, column])} at {number(c.x[column], 3)}, {number(c.y[row], 3)}"
        )
    quantity = (
        subject.view.response if what == "mean" else f"width of the {percent(c.level)} interval"
    )
    start = "Predicted " if what == "mean" else "Contours of the "
    return f"{start}{quantity} over {listed(c.input_names)}: {listed(words)}."
