"""Which inputs matter: shares of the response's variance with intervals, and main effects."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from pengp.decisions.estimates import Estimate
from pengp.decisions.indices import Effects, effects
from pengp.report.interactions import interaction_plots
from pengp.report.known import known
from pengp.report.main_effects import main_effect_plots
from pengp.report.payload import Payload
from pengp.report.plot import Plot
from pengp.report.style import INPUTS, figure
from pengp.report.subject import Subject
from pengp.report.tables import Cell, Column, Table
from pengp.report.text import inert, listed

#: Inputs and pairs that a sentence names, and the share from which it does.
_MOST_NAMED, _LEAST = 4, 0.01
#: Inputs that are drawn.
_MOST_INPUTS = 20
_KINDS = {"first": "alone", "total": "with others"}


def effects_part(subject: Subject, payload: Payload) -> dict[str, Any] | None:
    """Return sentence, figure and table of the effects; None where they are not known."""
    found = known(subject, effects)
    if found is None:
        return None
    return {
        "sentence": _sentence(found),
        "plots": [
            _bars(subject, payload, found),
            *main_effect_plots(subject, payload, found),
            *interaction_plots(subject, payload, found),
        ],
        "table": _table(subject, found),
    }


def _sentence(found: Effects) -> str:
    """Say what the most important inputs explain, and which two act together."""
    words = [
        f"{found.names[p]} {_share(found.total, p)}"
        for p in found.order()[:_MOST_NAMED]
        if found.total.mean[p] >= _LEAST
    ]
    second = np.triu(found.second.mean, 1)
    p, q = np.unravel_index(int(second.argmax()), second.shape)
    said = f"{uniform_inputs(found.laws)}, the shares are {listed(words)}."
    if second[p, q] >= _LEAST:
        pair = _share(found.second, (p, q))
        said += f" {found.names[p]} and {found.names[q]} together add {pair} beyond each alone."
    return said


def uniform_inputs(laws: Sequence[str]) -> str:
    """Begin a sentence on what holds under the default laws of the inputs."""
    logs = any(law.startswith("loguniform") for law in laws)
    also = " (those with a logarithmic scale on that scale)" if logs else ""
    return f"With the inputs uniform over the design region{also}"


def _share(values: Estimate, at: Any) -> str:
    """Return a share with its interval in percent."""
    mean, lower, upper = (100.0 * float(part[at]) for part in values)
    return f"{mean:.0f} % ({lower:.0f} to {upper:.0f} %)"


def _bars(subject: Subject, payload: Payload, found: Effects) -> Plot:
    """Return bars of first-order and total indices with their intervals."""
    shown = found.order()[:_MOST_INPUTS]
    made = figure(
        "share of the variance",
        "",
        barmode="group",
        xaxis={"range": [0, 1], "tickformat": ".0%"},
        yaxis={"autorange": "reversed", "showgrid": False},
    )
    for k, (kind, label) in enumerate(_KINDS.items()):
        mean, lower, upper = (part[shown] for part in getattr(found, kind))
        made.add_trace(
            go.Bar(
                x=mean,
                y=[inert(found.names[p], 24) for p in shown],
                orientation="h",
                name=label,
                marker={"color": INPUTS[k]},
                error_x={"array": upper - mean, "arrayminus": mean - lower, "thickness": 1.2},
                hovertemplate="%{y}: %{x:.1%}<extra></extra>",
            )
        )
    id = f"{subject.key}-effects"
    payload.figures[id] = made
    words = [f"{found.names[p]} {_share(found.total, p)}" for p in shown[:8]]
    return Plot(
        id=id,
        title="Shares of the variance",
        caption="What each input explains alone (first-order Sobol index) and together with others "
        f"(total index); lines are {100 * found.level:g} % intervals of what the runs tell.",
        alt=f"Total shares of the variance with intervals: {'; '.join(words)}.",
        size="full",
        legend=2,
    )


def _table(subject: Subject, found: Effects) -> Table:
    """Return the indices with their intervals."""
    columns = (
        Column("Input", "name"),
        Column("alone", "number"),
        Column("with others", "number"),
        Column("fair share (Shapley)", "number"),
    )
    kinds = [found.first, found.total, found.shapley]
    rows = tuple(
        (
            Cell(found.names[p], found.names[p]),
            *(
                Cell("-") if values is None else Cell(_share(values, p), float(values.mean[p]))
                for values in kinds
            ),
        )
        for p in found.order()
    )
    caption = f"Shares of the variance of {subject.view.response}"
    return Table(f"{subject.key}-shares", caption, columns, rows)
