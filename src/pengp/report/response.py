"""Figures of the response itself: along one input, and over two."""

from dataclasses import replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go

from pengp._core.arrays import FloatArray
from pengp.estimators.view import FittedView
from pengp.plots import ContourDisplay, SliceDisplay
from pengp.report.payload import Payload
from pengp.report.plot import Plot, Select
from pengp.report.style import BAND, PREDICTED, RUNS, band, figure, points, reference_line
from pengp.report.subject import Subject
from pengp.report.text import inert, listed, number, percent

#: Panels of slices beside each other; with more inputs each panel has a selector.
_PANELS = 6
#: Points of a slice that the page holds, and of each side of a contour plot.
_GRID, _MOST_POINTS, _SIDE = 41, 81, 31
#: Inputs of which every pair can be selected.
_PAIRED = 6
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
}
#: Runs far from the slice are drawn no fainter than this.
_FAINT = 0.15
_LEVEL = 0.95


def _drawable(subject: Subject) -> list[int]:
    """Return the inputs along which the response can be drawn, those that matter most first."""
    low, high = subject.view.X.min(axis=0), subject.view.X.max(axis=0)
    return [p for p in subject.ranked if low[p] < high[p] and not subject.view.constant[p]]


def slice_plots(subject: Subject, payload: Payload, beside: FittedView | None = None) -> list[Plot]:
    """Return the panels of predictions along one input, the others held at their means.

    Another model of the same runs may be drawn ``beside``, as a dashed line.
    """
    inputs = _drawable(subject)
    if not inputs:
        return []
    slices = _slices(subject, inputs)
    _keep(subject, payload, slices)
    ends = _ends(slices, subject.place)
    shown = range(min(len(inputs), _PANELS))
    plots = [_panel(subject, payload, slices, inputs, k, ends) for k in shown]
    if beside is not None:
        _add_beside(subject, payload, beside, inputs, len(plots))
    return plots


def _add_beside(
    subject: Subject, payload: Payload, beside: FittedView, inputs: list[int], panels: int
) -> None:
    """Draw another model's means into the panels; they follow the selectors."""
    id = f"{subject.key}-slice"
    found = [SliceDisplay.from_estimator(beside, input=p, grid_size=_GRID) for p in inputs]
    size = min(max(len(s.grid) for s in found), _MOST_POINTS)
    others = [_resized(s, size) for s in found]
    x = payload.numbers(f"{id}.beside-x", [s.grid for s in others])
    y = payload.numbers(f"{id}.beside", [s.mean for s in others])
    for k in range(panels):
        made = payload.figures[f"{id}{k}"]
        line = reference_line(others[k].grid, others[k].mean, dash="dash", width=1.6)
        made.add_trace(line)
        for array, path in ((x, "x"), (y, "y")):
            payload.bind_figure(f"{id}{k}", array, [f"{id}{k}.input"], f"data.4.{path}")


def _slices(subject: Subject, inputs: list[int]) -> list[list[SliceDisplay]]:
    """Return the slices for each lambda and input, all with the same number of points."""
    found = [
        [SliceDisplay.from_estimator(view, input=p, level=_LEVEL, grid_size=_GRID) for p in inputs]
        for view in subject.along
    ]
    size = min(max(len(s.grid) for s in found[0]), _MOST_POINTS)
    return [[_resized(s, size) for s in row] for row in found]


def _resized(found: SliceDisplay, size: int) -> SliceDisplay:
    """Return a slice with another number of points."""
    return replace(
        found,
        grid=_thinned(found.grid, size),
        mean=_thinned(found.mean, size),
        lower=_thinned(found.lower, size),
        upper=_thinned(found.upper, size),
    )


def _thinned(values: FloatArray, size: int) -> FloatArray:
    """Return ``size`` of the values [G], ends included; a shorter list repeats its last."""
    if len(values) <= size:
        return np.pad(values, (0, size - len(values)), mode="edge")
    return values[np.linspace(0, len(values) - 1, size).round().astype(int)]


def _keep(subject: Subject, payload: Payload, slices: list[list[SliceDisplay]]) -> None:
    """Hand the numbers of all slices to the page."""
    id, first = f"{subject.key}-slice", slices[0]
    payload.numbers(f"{id}.x", [s.grid for s in first])
    payload.numbers(f"{id}.runs", [s.runs_x for s in first])
    payload.words(f"{id}.label", [inert(s.input_name) for s in first])
    payload.words(f"{id}.type", [_axis_type(s.log[0]) for s in first])
    for name in ("mean", "lower", "upper"):
        rows = [[getattr(s, name) for s in row] for row in slices]
        payload.numbers(f"{id}.{name}", rows)
    opacity = [[_opacity(s.runs_distance) for s in row] for row in slices]
    payload.numbers(f"{id}.opacity", opacity)
    alts = [
        [_slice_alt(subject, s, subject.where(at)) for s in row] for at, row in enumerate(slices)
    ]
    payload.words(f"{id}.alt", alts)


def _opacity(distance: FloatArray) -> FloatArray:
    """Return the opacity of runs [n] at a distance from the slice."""
    return np.maximum(1.0 - distance, _FAINT)


def _ends(slices: list[list[SliceDisplay]], place: int) -> list[float]:
    """Return a range of the response that holds the means for every lambda."""
    own = [a for s in slices[place] for a in (s.lower, s.upper, s.runs_y)]
    values = [*own, *(s.mean for row in slices for s in row)]
    low, high = min(v.min() for v in values), max(v.max() for v in values)
    if slices[place][0].log[1]:  # a range of logarithms
        low, high = np.log10(low), np.log10(high)
    pad = 0.04 * (high - low) or 1.0
    return [float(low - pad), float(high + pad)]


def _panel(
    subject: Subject,
    payload: Payload,
    slices: list[list[SliceDisplay]],
    inputs: list[int],
    k: int,
    ends: list[float],
) -> Plot:
    """Return the k-th panel, which starts with the k-th input."""
    own, id = slices[subject.place][k], f"{subject.key}-slice{k}"
    axes: dict[str, Any] = {"xaxis": {"type": _axis_type(own.log[0])}}
    axes["yaxis"] = {"range": ends, "type": _axis_type(own.log[1])}
    made = figure(own.input_name, subject.view.response, showlegend=False, **axes)
    made.add_traces(band(own.grid, own.lower, own.upper, fillcolor=BAND))
    made.add_trace(_mean_line(own))
    made.add_trace(_runs(own))
    payload.figures[id] = made
    _bind(subject, payload, id)
    payload.state[f"{id}.input"] = k
    selects: tuple[Select, ...] = ()
    if len(inputs) > _PANELS:
        options = tuple(subject.view.names[p] for p in inputs)
        label = f"Input of panel {k + 1}"
        selects = (Select(f"{id}-input", f"{id}.input", label, options, k),)
    alt = _slice_alt(subject, own, subject.where(subject.place))
    size: Literal["full", "half", "third"] = "third"
    if len(inputs) in (1, 2, 4):
        size = "full" if len(inputs) == 1 else "half"
    return Plot(id=id, title="", caption="", alt=alt, size=size, selects=selects)


def _mean_line(own: SliceDisplay) -> go.Scatter:
    """Return the line of predictions."""
    return go.Scatter(
        x=own.grid,
        y=own.mean,
        mode="lines",
        line={"color": PREDICTED, "width": 2.2},
        hovertemplate="%{x:.5~g}<br>predicted %{y:.5~g}<extra></extra>",
    )


def _runs(own: SliceDisplay) -> go.Scatter:
    """Return the runs, the fainter the farther they are from the slice."""
    look = {"color": RUNS, "size": 6, "opacity": _opacity(own.runs_distance)}
    return points(own.runs_x, own.runs_y, "%{x:.5~g}<br>observed %{y:.5~g}", marker=look)


def _bind(subject: Subject, payload: Payload, id: str) -> None:
    """Let a panel follow the slider and its own selector."""
    base, mine = f"{subject.key}-slice", f"{id}.input"
    both = [subject.lam_key, mine]
    payload.bind_figure(id, f"{base}.x", [mine], "data.0.x", "data.1.x", "data.2.x")
    payload.bind_figure(id, f"{base}.runs", [mine], "data.3.x")
    payload.bind_figure(id, f"{base}.label", [mine], "layout.xaxis.title.text")
    payload.bind_figure(id, f"{base}.type", [mine], "layout.xaxis.type")
    for k, name in enumerate(("lower", "upper", "mean")):
        payload.bind_figure(id, f"{base}.{name}", both, f"data.{k}.y")
    payload.bind_figure(id, f"{base}.opacity", both, "data.3.marker.opacity")
    payload.bind_element(id, "label", f"{base}.alt", both)


def _slice_alt(subject: Subject, s: SliceDisplay, where: str) -> str:
    """Return the alternative text of a slice."""
    low, high = int(s.mean.argmin()), int(s.mean.argmax())
    return (
        f"Predicted {subject.view.response} along {s.input_name}{where}: "
        f"lowest {number(s.mean[low])} at {number(s.grid[low])}, highest {number(s.mean[high])} at "
        f"{number(s.grid[high])}; {percent(s.level)} intervals up to "
        f"{number(float((s.upper - s.lower).max()), 3)} wide."
    )


def contour_plots(subject: Subject, payload: Payload) -> list[Plot]:
    """Return mean and interval width over two inputs at the model's own lambda."""
    inputs = _drawable(subject)[:_PAIRED]
    if len(inputs) < 2:
        return []
    pairs = [
        ContourDisplay.from_estimator(subject.view, inputs=pair, level=_LEVEL, grid_size=_SIDE)
        for pair in combinations(inputs, 2)
    ]
    _keep_pairs(subject, payload, pairs)
    titles = {"mean": "Predicted response", "width": f"Width of the {percent(_LEVEL)} interval"}
    return [_contour(subject, payload, pairs, what, title) for what, title in titles.items()]


def _keep_pairs(subject: Subject, payload: Payload, pairs: list[ContourDisplay]) -> None:
    """Hand the numbers of all pairs to the page."""
    id = f"{subject.key}-pair"
    payload.state[id] = 0
    for name in ("x", "y", "mean", "width", "runs_x", "runs_y"):
        payload.numbers(f"{id}.{name}", [getattr(c, name) for c in pairs])
    payload.numbers(f"{id}.opacity", [_opacity(c.runs_distance) for c in pairs])
    for k, name in enumerate(("x", "y")):
        payload.numbers(f"{id}.{name}_ends", [_axis(c, k)["range"] for c in pairs])
        payload.words(f"{id}.{name}_type", [_axis_type(c.log[k]) for c in pairs])
        payload.words(f"{id}.{name}_label", [inert(c.input_names[k]) for c in pairs])


def _contour(
    subject: Subject, payload: Payload, pairs: list[ContourDisplay], what: str, title: str
) -> Plot:
    """Return one of the two figures of a pair."""
    own, id, key = pairs[0], f"{subject.key}-contour-{what}", f"{subject.key}-pair"
    payload.figures[id] = _contour_figure(own, what)
    for name, path in {**_PAIR_PLACES, what: "data.0.z"}.items():
        payload.bind_figure(id, f"{key}.{name}", [key], path)
    alts = [_contour_alt(subject, c, what) for c in pairs]
    payload.bind_element(id, "label", payload.words(f"{id}.alt", alts), [key])
    options = tuple(listed(c.input_names) for c in pairs)
    select = Select(f"{id}-pair", key, "Pair of inputs", options, 0)
    chosen = (select,) if what == "mean" and len(pairs) > 1 else ()
    return Plot(id=id, title=title, caption="", alt=alts[0], selects=chosen)


def _contour_figure(own: ContourDisplay, what: str) -> go.Figure:
    """Return filled contours and the runs."""
    x, y = (_axis(own, k) for k in range(2))
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
    return {"range": np.log10(ends) if own.log[k] else ends, "type": _axis_type(own.log[k])}


def _axis_type(log: bool) -> str:
    """Return what plotly calls an axis."""
    return "log" if log else "linear"


def _pair_runs(own: ContourDisplay) -> go.Scatter:
    """Return the runs on a contour plot."""
    look = {"color": "white", "size": 8, "line": {"color": "black", "width": 1}}
    look["opacity"] = _opacity(own.runs_distance)
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
