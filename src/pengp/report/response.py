"""Figures of the response along one input, and what its axes say."""

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go

from pengp._core.arrays import FloatArray
from pengp.estimators.view import FittedView
from pengp.model.levels import Integer, Levels
from pengp.plots import SliceDisplay
from pengp.report.payload import Payload
from pengp.report.plot import Plot, Select
from pengp.report.style import BAND, PREDICTED, RUNS, band, figure, points, reference_line
from pengp.report.subject import Subject
from pengp.report.text import inert, number, percent

#: Panels of slices beside each other; with more inputs each panel has a selector.
_PANELS = 6
#: Points of a slice that the page holds.
_GRID, _MOST_POINTS = 41, 81
#: Whole numbers up to which each gets a tick, and characters of a level's name beside one.
_MOST_TICKS, _LONGEST_TICK = 12, 14
#: Runs far from the slice are drawn no fainter than this.
_FAINT = 0.15
LEVEL = 0.95


def drawable(subject: Subject) -> list[int]:
    """Return the inputs along which the response can be drawn, those that matter most first."""
    low, high = subject.view.X.min(axis=0), subject.view.X.max(axis=0)
    return [p for p in subject.ranked if low[p] < high[p] and not subject.view.constant[p]]


def slice_plots(subject: Subject, payload: Payload, beside: FittedView | None = None) -> list[Plot]:
    """Return the panels of predictions along one input, the others held at their means.

    Another model of the same runs may be drawn ``beside``, as a dashed line.
    """
    inputs = drawable(subject)
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
        look = {"dash": "dash", "width": 1.6, "shape": _shape(subject, inputs[k])}
        made.add_trace(reference_line(others[k].grid, others[k].mean, **look))
        for array, path in ((x, "x"), (y, "y"), (f"{id}.shape", "line.shape")):
            payload.bind_figure(f"{id}{k}", array, [f"{id}{k}.input"], f"data.4.{path}")


def _slices(subject: Subject, inputs: list[int]) -> list[list[SliceDisplay]]:
    """Return the slices for each lambda and input, all with the same number of points."""
    found = [
        [SliceDisplay.from_estimator(view, input=p, level=LEVEL, grid_size=_GRID) for p in inputs]
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
    payload.words(f"{id}.type", [axis_type(s.log[0]) for s in first])
    payload.words(f"{id}.ticks", [ticks_of(subject, s.input)[0] for s in first])
    payload.words(f"{id}.names", [ticks_of(subject, s.input)[1] for s in first])
    payload.words(f"{id}.ends", [_end_to_end(subject, s.input) for s in first])
    payload.words(f"{id}.shape", [_shape(subject, s.input) for s in first])
    for name in ("mean", "lower", "upper"):
        rows = [[getattr(s, name) for s in row] for row in slices]
        payload.numbers(f"{id}.{name}", rows)
    opacity = [[opacity_of(s.runs_distance) for s in row] for row in slices]
    payload.numbers(f"{id}.opacity", opacity)
    alts = [
        [_slice_alt(subject, s, subject.where(at)) for s in row] for at, row in enumerate(slices)
    ]
    payload.words(f"{id}.alt", alts)


def opacity_of(distance: FloatArray) -> FloatArray:
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
    ticks, names = ticks_of(subject, own.input)
    along = {"type": axis_type(own.log[0]), "tickvals": ticks, "ticktext": names}
    along["range"] = _end_to_end(subject, own.input)
    axes: dict[str, Any] = {"xaxis": along}
    axes["yaxis"] = {"range": ends, "type": axis_type(own.log[1])}
    made = figure(own.input_name, subject.view.response, showlegend=False, **axes)
    made.add_traces(band(own.grid, own.lower, own.upper, fillcolor=BAND))
    made.add_trace(_mean_line(own))
    made.update_traces(line_shape=_shape(subject, own.input))
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
    look = {"color": RUNS, "size": 6, "opacity": opacity_of(own.runs_distance)}
    return points(own.runs_x, own.runs_y, "%{x:.5~g}<br>observed %{y:.5~g}", marker=look)


def _bind(subject: Subject, payload: Payload, id: str) -> None:
    """Let a panel follow the slider and its own selector."""
    base, mine = f"{subject.key}-slice", f"{id}.input"
    both = [subject.lam_key, mine]
    payload.bind_figure(id, f"{base}.x", [mine], "data.0.x", "data.1.x", "data.2.x")
    payload.bind_figure(id, f"{base}.runs", [mine], "data.3.x")
    payload.bind_figure(id, f"{base}.label", [mine], "layout.xaxis.title.text")
    payload.bind_figure(id, f"{base}.type", [mine], "layout.xaxis.type")
    payload.bind_figure(id, f"{base}.ticks", [mine], "layout.xaxis.tickvals")
    payload.bind_figure(id, f"{base}.names", [mine], "layout.xaxis.ticktext")
    payload.bind_figure(id, f"{base}.ends", [mine], "layout.xaxis.range")
    shapes = [f"data.{k}.line.shape" for k in range(3)]
    payload.bind_figure(id, f"{base}.shape", [mine], *shapes)
    for k, name in enumerate(("lower", "upper", "mean")):
        payload.bind_figure(id, f"{base}.{name}", both, f"data.{k}.y")
    payload.bind_figure(id, f"{base}.opacity", both, "data.3.marker.opacity")
    payload.bind_element(id, "label", f"{base}.alt", both)


def _slice_alt(subject: Subject, s: SliceDisplay, where: str) -> str:
    """Return the alternative text of a slice."""
    low, high = int(s.mean.argmin()), int(s.mean.argmax())
    return (
        f"Predicted {subject.view.response} along {s.input_name}{where}: "
        f"lowest {number(s.mean[low])} at {subject.value(s.input, s.grid[low])}, highest "
        f"{number(s.mean[high])} at {subject.value(s.input, s.grid[high])}; {percent(s.level)} "
        f"intervals up to {number(float((s.upper - s.lower).max()), 3)} wide."
    )


def ticks_of(subject: Subject, p: int) -> tuple[list[float] | None, list[str] | None]:
    """Return values and names of the ticks of input p, where plotly's own would mislead."""
    transform, (low, high) = subject.view.input_transforms[p], (e[p] for e in subject.view.ranges)
    if isinstance(transform, Levels):
        return list(transform.values), [inert(name, _LONGEST_TICK) for name in transform.labels]
    if isinstance(transform, Integer) and high - low < _MOST_TICKS:
        whole = np.arange(np.ceil(low), high + 0.5).tolist()
        return whole, [number(v) for v in whole]
    return None, None


def _end_to_end(subject: Subject, p: int) -> list[float] | None:
    """Return the range of an axis for levels, with room for the first and the last name."""
    transform = subject.view.input_transforms[p]
    if not isinstance(transform, Levels):
        return None
    values = np.array(transform.values)
    room = 0.5 * float(np.diff(values).min(initial=np.ptp(values))) or 0.5
    return [float(values[0]) - room, float(values[-1]) + room]


def _shape(subject: Subject, p: int) -> str:
    """Return how lines along input p go from point to point: levels have nothing in between."""
    return "hvh" if isinstance(subject.view.input_transforms[p], Levels) else "linear"


def axis_type(log: bool) -> str:
    """Return what plotly calls an axis."""
    return "log" if log else "linear"
