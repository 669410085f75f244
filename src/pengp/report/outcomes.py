"""What comes out: the response's law when the inputs follow theirs, and how well it is known."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from pengp.decisions.estimates import Estimate
from pengp.decisions.propagation import LEVELS, Propagation, propagate
from pengp.report.effects import uniform_inputs
from pengp.report.known import known
from pengp.report.payload import Payload
from pengp.report.plot import Plot
from pengp.report.style import BAND, PREDICTED, figure
from pengp.report.subject import Subject
from pengp.report.tables import Cell, Column, Table, number_cell
from pengp.report.text import inert, number, percent

#: Quantiles that are drawn; those of the table are among them.
_DRAWN = np.arange(1, 100) / 100.0


def outcomes_part(subject: Subject, payload: Payload) -> dict[str, Any] | None:
    """Return sentence, figure and table of the response's law; None where it is not known."""
    found = known(subject, lambda view: propagate(view, quantiles=_DRAWN))
    if found is None:
        return None
    return {
        "sentence": _sentence(found),
        "plots": [_distribution(subject, payload, found)],
        "table": _table(subject, found),
    }


def _sentence(found: Propagation) -> str:
    """Say what the response is on average, how far it spreads, and how well that is known."""
    low, high = (float(found.quantiles.mean[_at(found, q)]) for q in (0.05, 0.95))
    return (
        f"{uniform_inputs(found.laws)}, {found.response} has the mean {_told(found.mean)} and the "
        f"standard deviation {_told(found.std)}; nine tenths of it lie between {number(low)} and "
        f"{number(high)}. Brackets and band are {percent(found.level)} intervals of what the "
        "surrogate knows; more runs narrow them. For other laws, or a limit that is to be kept: "
        "pengp propagate."
    )


def _told(values: Estimate) -> str:
    """Return a number with its interval."""
    return f"{number(float(values.mean))} ({_interval(values).text})"


def _interval(values: Estimate) -> Cell:
    """Return an interval, sorted by its lower end."""
    lower, upper = float(values.lower), float(values.upper)
    return Cell(f"{number(lower)} to {number(upper)}", lower)


def _at(found: Propagation, level: float) -> int:
    """Return which of the quantiles has this level."""
    return int(np.abs(found.levels - level).argmin())


def _distribution(subject: Subject, payload: Payload, found: Propagation) -> Plot:
    """Return the distribution function with its band."""
    id, levels = f"{subject.key}-outcomes", found.levels
    mean, lower, upper = found.quantiles
    made = figure(found.response, "probability of less", yaxis={"range": [0, 1]})
    bare: dict[str, Any] = {"y": levels, "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    made.add_trace(go.Scatter(x=lower, showlegend=False, **bare))
    share = inert(f"{percent(found.level)} interval")
    made.add_trace(go.Scatter(x=upper, fill="tonextx", fillcolor=BAND, name=share, **bare))
    made.add_trace(
        go.Scatter(
            x=mean,
            y=levels,
            mode="lines",
            name="distribution",
            line={"color": PREDICTED, "width": 2.2},
            customdata=np.stack([lower, upper], axis=-1),
            hovertemplate="less with probability %{y:.2f}<br>%{x:.5~g} (%{customdata[0]:.5~g} to "
            "%{customdata[1]:.5~g})<extra></extra>",
        )
    )
    payload.figures[id] = made
    words = [f"{q:g} {number(float(mean[_at(found, q)]))}" for q in LEVELS]
    return Plot(
        id=id,
        title="Distribution",
        caption=f"The probability that {found.response} is less than a value, and how well the "
        "surrogate knows it.",
        alt=f"Distribution of {found.response}, quantiles: {', '.join(words)}.",
        size="full",
        legend=2,
    )


def _table(subject: Subject, found: Propagation) -> Table:
    """Return mean, standard deviation and quantiles with their intervals."""
    columns = (
        Column("Number", "name"),
        Column("estimate"),
        Column(f"{percent(found.level)} interval"),
    )
    told = [("mean", found.mean), ("standard deviation", found.std)]
    for q in LEVELS:
        at = _at(found, q)
        told.append((f"quantile {q:g}", Estimate(*(part[at] for part in found.quantiles))))
    rows = tuple(
        (Cell(word, float(k)), number_cell(float(values.mean)), _interval(values))
        for k, (word, values) in enumerate(told)
    )
    return Table(f"{subject.key}-law", f"The law of {found.response}", columns, rows)
