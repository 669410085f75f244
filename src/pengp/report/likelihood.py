"""Figures of the likelihood: along the ray through the estimate, and input by input."""

from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go

from pengp._core.arrays import FloatArray
from pengp.plots import ProfileLikelihoodDisplay
from pengp.report.payload import Payload
from pengp.report.plot import Plot, Select
from pengp.report.style import CURRENT, FLAT, PAPER, REFERENCE, RUNS, figure
from pengp.report.subject import Subject
from pengp.report.text import inert, number

_GRID = 81
#: Units of log likelihood below the estimate that are shown.
_DEPTH = 12.0


def likelihood_plots(subject: Subject, payload: Payload) -> list[Plot]:
    """Return the figures at the model's own lambda; none for a constant response."""
    if subject.view.is_constant:
        return []
    ray = _profile(subject, None)
    plots = [_ray(subject, payload, ray)]
    inputs = [p for p in subject.ranked if not subject.view.constant[p]]
    if len(subject.view.names) > 1 and not subject.view.estimator.isotropic and inputs:
        plots.append(_by_input(subject, payload, _alike([_profile(subject, p) for p in inputs])))
    return plots


def _profile(subject: Subject, p: int | None) -> ProfileLikelihoodDisplay:
    """Return the likelihood along one line."""
    return ProfileLikelihoodDisplay.from_estimator(subject.view, input=p, grid_size=_GRID)


def _alike(profiles: list[ProfileLikelihoodDisplay]) -> list[ProfileLikelihoodDisplay]:
    """Return profiles with the same number of points; shorter ones repeat their last."""
    size = max(len(p.grid) for p in profiles)

    def padded(values: FloatArray) -> FloatArray:
        return np.pad(values, (0, size - len(values)), mode="edge")

    return [
        replace(p, grid=padded(p.grid), loglik=padded(p.loglik), objective=padded(p.objective))
        for p in profiles
    ]


def _ray(subject: Subject, payload: Payload, ray: ProfileLikelihoodDisplay) -> Plot:
    """Return the figure of the ray, or of the one theta that there is."""
    id, label, along = f"{subject.key}-ray", "c, every θ multiplied by it", "along c times theta"
    if subject.view.estimator.isotropic:
        label, along = "θ, shared by all inputs", "against the shared theta"
    elif len(subject.view.names) == 1:
        label, along = f"θ of {subject.view.names[0]}", f"against theta of {subject.view.names[0]}"
    payload.figures[id] = _drawn(subject, ray, label)
    return Plot(
        id=id,
        title="All inputs together" if len(subject.view.names) > 1 else "The likelihood",
        caption="How well the runs support slower (left) or faster (right) variation than "
        "estimated. Solid: the likelihood of the runs; dashed: less the penalty, which is what "
        "the estimate makes as large as possible. Shaded: so flat that the runs do not tell.",
        alt=_alt(subject, ray, along),
        legend=4,
    )


def _drawn(subject: Subject, profile: ProfileLikelihoodDisplay, label: str) -> go.Figure:
    """Return a figure of log L and Q relative to the estimate."""
    made = figure(
        label,
        "relative support",
        shapes=[_flat_shape(profile)],
        xaxis={"type": "log"},
        yaxis={"range": _ends(profile)},
    )
    lines = (("likelihood", RUNS, "solid"), ("with penalty", REFERENCE, "dash"))
    for (name, color, dash), y in zip(lines, _heights(profile), strict=True):
        made.add_scatter(
            x=profile.grid,
            y=y,
            mode="lines",
            name=name,
            line={"color": color, "dash": dash, "width": 2},
            hovertemplate="%{x:.3~g}<br>%{y:.4~g}<extra></extra>",
        )
    made.add_trace(_point([profile.estimate], [0.0], "estimate", CURRENT, "circle"))
    others = _others(profile)
    if len(others):
        x, y = others.T
        made.add_trace(_point(x, y, "other maxima", RUNS, "diamond-open"))
    return made


def _heights(profile: ProfileLikelihoodDisplay) -> tuple[FloatArray, FloatArray]:
    """Return log L and Q [G], each relative to its value at the estimate; nan where singular."""
    loglik = np.where(np.isfinite(profile.loglik), profile.loglik, np.nan)
    objective = np.where(np.isfinite(profile.objective), profile.objective, np.nan)
    return (loglik - profile.loglik_hat).round(9), (objective - profile.objective_hat).round(9)


def _others(profile: ProfileLikelihoodDisplay) -> FloatArray:
    """Return place and height of the other maxima of Q, [M - 1, 2]."""
    heights = profile.mode_objective - profile.objective_hat
    both = np.stack([profile.mode_positions, heights], axis=1)
    return np.asarray(both[1:])


def _ends(profile: ProfileLikelihoodDisplay) -> list[float]:
    """Return the range of heights to show."""
    loglik, objective = _heights(profile)
    high = max(0.0, float(np.nanmax(loglik)), float(np.nanmax(objective)))
    low = min(float(np.nanmin(loglik)), float(np.nanmin(objective)))
    low = max(low, -_DEPTH)
    return [low - 0.06 * (high - low) - 0.05, high + 0.08 * (high - low) + 0.05]


def _flat_shape(profile: ProfileLikelihoodDisplay) -> dict[str, Any]:
    """Return the shaded stretch over which the likelihood is flat."""
    ends = {"x0": profile.flat[0], "x1": profile.flat[1], "y0": 0, "y1": 1}
    return {
        **ends,
        "yref": "paper",
        "type": "rect",
        "fillcolor": FLAT,
        "line": {"width": 0},
        "layer": "below",
    }


def _point(x: Any, y: Any, name: str, color: str, symbol: str) -> go.Scatter:
    """Return marked points."""
    line = {"color": PAPER if symbol == "circle" else color, "width": 1.5}
    return go.Scatter(
        x=x,
        y=y,
        name=name,
        mode="markers",
        marker={"color": color, "symbol": symbol, "size": 10, "line": line},
        hovertemplate="%{fullData.name}<br>%{x:.3~g}<br>%{y:.3~g}<extra></extra>",
    )


def _by_input(subject: Subject, payload: Payload, profiles: list[ProfileLikelihoodDisplay]) -> Plot:
    """Return the figure of one input's theta, with a selector."""
    id, key = f"{subject.key}-input", f"{subject.key}-input.profile"
    names = [subject.view.names[profile.input or 0] for profile in profiles]
    payload.figures[id] = _drawn(subject, profiles[0], f"θ of {names[0]}")
    payload.state[key] = 0
    _keep(subject, payload, profiles)
    labels = [inert(f"θ of {name}") for name in names]
    payload.bind_figure(id, payload.words(f"{id}.label", labels), [key], "layout.xaxis.title.text")
    pairs = zip(profiles, names, strict=True)
    alts = [_alt(subject, p, f"against theta of {name}") for p, name in pairs]
    payload.bind_element(id, "label", payload.words(f"{id}.alt", alts), [key])
    select = Select(f"{id}-select", key, "Input", tuple(names), 0)
    return Plot(
        id=id,
        title="One input at a time",
        caption="The same, while the θ of one input changes and the others keep their estimates. "
        "Diamonds: where other maxima have this input; elsewhere they differ in other inputs, too.",
        alt=alts[0],
        selects=(select,) if len(profiles) > 1 else (),
        legend=4,
    )


def _keep(subject: Subject, payload: Payload, profiles: list[ProfileLikelihoodDisplay]) -> None:
    """Hand the numbers of all inputs to the page."""
    id, key = f"{subject.key}-input", f"{subject.key}-input.profile"
    arrays: dict[str, tuple[Any, tuple[str, ...]]] = {
        "grid": ([p.grid for p in profiles], ("data.0.x", "data.1.x")),
        "loglik": ([_heights(p)[0] for p in profiles], ("data.0.y",)),
        "objective": ([_heights(p)[1] for p in profiles], ("data.1.y",)),
        "estimate": ([[p.estimate] for p in profiles], ("data.2.x",)),
        "flat0": ([p.flat[0] for p in profiles], ("layout.shapes.0.x0",)),
        "flat1": ([p.flat[1] for p in profiles], ("layout.shapes.0.x1",)),
        "ends": ([_ends(p) for p in profiles], ("layout.yaxis.range",)),
    }
    if len(subject.view.modes) > 1:
        others = np.array([_others(p) for p in profiles])
        arrays["others"] = (others[..., 0], ("data.3.x",))
    for name, (values, paths) in arrays.items():
        payload.bind_figure(id, payload.numbers(f"{id}.{name}", values), [key], *paths)


def _alt(subject: Subject, profile: ProfileLikelihoodDisplay, along: str) -> str:
    """Return the alternative text of a figure."""
    loglik, _ = _heights(profile)
    low, high = profile.flat
    return (
        f"Profile log likelihood {along}, relative to the estimate at {number(profile.estimate, 3)}"
        f": highest {number(float(np.nanmax(loglik)), 3)} at "
        f"{number(float(profile.grid[np.nanargmax(loglik)]), 3)}, flat from {number(low, 3)} to "
        f"{number(high, 3)}, {number(float(loglik[0]), 3)} at the left end and "
        f"{number(float(loglik[-1]), 3)} at the right; {len(subject.view.modes) - 1} other "
        "maxima were found."
    )
