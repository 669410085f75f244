"""What two inputs do together beyond each alone: one figure for each pair that matters."""

import numpy as np
import plotly.graph_objects as go

from pengp.decisions.estimates import Axis
from pengp.decisions.indices import Effects
from pengp.decisions.surfaces import Surface
from pengp.report.payload import Payload
from pengp.report.plot import Plot
from pengp.report.style import figure
from pengp.report.subject import Subject
from pengp.report.text import inert, number


def interaction_plots(subject: Subject, payload: Payload, found: Effects) -> list[Plot]:
    """Return the interactions of the pairs of inputs that have one."""
    return [_plot(subject, payload, found, k) for k in range(len(found.surfaces))]


def _plot(subject: Subject, payload: Payload, found: Effects, k: int) -> Plot:
    """Return the figure of one pair."""
    surface = found.surfaces[k]
    id, names = f"{subject.key}-interaction-{k}", " and ".join(surface.names)
    payload.figures[id] = _heat(surface)
    share = 100.0 * found.level
    return Plot(
        id=id,
        title=f"{names} together",
        caption=f"What {names} do to the mean {subject.view.response} beyond each alone; point at "
        f"it for the {share:g} % interval.",
        alt=_alt(subject, surface),
    )


def _heat(surface: Surface) -> go.Figure:
    """Return the interaction in colours, white where there is none."""
    x, y = (_values(axis) for axis in surface.axes)
    made = figure(*surface.names, showlegend=False)
    mean, lower, upper = (part.T for part in surface.interaction)
    largest = float(np.abs(mean).max()) or 1.0
    made.add_heatmap(
        x=x,
        y=y,
        z=np.round(mean, 12),
        customdata=np.stack([lower, upper], axis=-1),
        zmin=-largest,
        zmax=largest,
        colorscale="RdBu",
        reversescale=True,
        zsmooth=False if any(axis.is_finite for axis in surface.axes) else "best",
        colorbar={"thickness": 12, "outlinewidth": 0},
        hovertemplate="%{x}, %{y}<br>%{z:.4~g} (%{customdata[0]:.4~g} to %{customdata[1]:.4~g})"
        "<extra></extra>",
    )
    return made


def _values(axis: Axis) -> list[str] | list[float]:
    """Return the values of an axis, names of levels without markup."""
    return axis.x.tolist() if axis.labels is None else [inert(label, 24) for label in axis.labels]


def _alt(subject: Subject, surface: Surface) -> str:
    """Return the alternative text."""
    mean, words = surface.interaction.mean, []
    for word, place in (("lowest", mean.argmin()), ("highest", mean.argmax())):
        at = np.unravel_index(int(place), mean.shape)
        where = [_name(axis, int(i)) for axis, i in zip(surface.axes, at, strict=True)]
        words.append(f"{word} {number(float(mean[at]))} at {', '.join(where)}")
    pair = " and ".join(surface.names)
    return f"Interaction of {pair} in {subject.view.response}: {', '.join(words)}."


def _name(axis: Axis, i: int) -> str:
    """Return one value of an axis in words."""
    return number(float(axis.x[i]), 3) if axis.labels is None else axis.labels[i]
