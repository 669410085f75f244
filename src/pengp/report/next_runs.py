"""Which runs next: proposed runs among the others, and what more runs are expected to buy."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from pengp.decisions.proposals import NextRuns, next_runs
from pengp.model.levels import levels_among
from pengp.plots import NextRunsDisplay
from pengp.report.known import known
from pengp.report.payload import Payload
from pengp.report.plot import Plot
from pengp.report.style import CURRENT, RUNS, figure, points
from pengp.report.subject import Subject
from pengp.report.tables import Cell, Column, Table
from pengp.report.text import counted, inert, number, percent

#: Runs that are proposed, and inputs in whose pairs they are shown.
_PROPOSED, _INPUTS = 2, 3


def next_part(subject: Subject, payload: Payload) -> dict[str, Any] | None:
    """Return sentence, figures and tables of further runs; None where none can be proposed."""
    found = known(subject, lambda view: next_runs(view, _PROPOSED))
    if found is None:
        return None
    shown = NextRunsDisplay.from_next_runs(found, most=_INPUTS)
    pairs = [pair for pair in shown.pairs if pair[0] != pair[1]]
    return {
        "sentence": _sentence(found),
        "plots": [_plot(subject, payload, found, pair) for pair in pairs],
        "tables": [_runs(subject, found), _steps(subject, found)],
    }


def _sentence(found: NextRuns) -> str:
    """Say what further runs are expected to buy."""
    now, last = found.steps[0], found.steps[-1]
    each = ", ".join(percent(round(step.width / now.width, 2)) for step in found.steps[1:])
    counts = ", ".join(str(step.runs) for step in found.steps[1:])
    return (
        f"{counted(len(found.X), 'run')} from which the surrogate would learn most, everywhere in "
        f"the design region. Its 95 % intervals are {number(now.width, 3)} wide on average; after "
        f"{counts} more runs that is expected to be {each} of it, as far as the "
        f"{len(found.runs)} runs tell. For another goal, or more than {last.runs} runs: pengp next."
    )


def _plot(subject: Subject, payload: Payload, found: NextRuns, pair: tuple[int, int]) -> Plot:
    """Return the runs that there are and the proposed ones in two inputs."""
    p, q = pair
    id = f"{subject.key}-next-{p}-{q}"
    made = figure(
        *(found.names[k] for k in pair),
        xaxis=_axis(subject, found, p),
        yaxis=_axis(subject, found, q),
    )
    look = {"color": RUNS, "size": 7}
    made.add_trace(
        points(found.runs[:, p], found.runs[:, q], "%{x}, %{y}", marker=look, name="runs")
    )
    made.add_trace(
        go.Scatter(
            x=found.X[:, p],
            y=found.X[:, q],
            mode="markers+text",
            text=[str(k + 1) for k in range(len(found.X))],
            textposition="top right",
            name="proposed",
            marker={"color": CURRENT, "size": 10, "symbol": "diamond"},
            hovertemplate="proposed %{text}<br>%{x}, %{y}<extra></extra>",
        )
    )
    payload.figures[id] = made
    names = " and ".join(found.names[k] for k in pair)
    told = [[x if isinstance(x, str) else number(x, 5) for x in inputs] for inputs in found.inputs]
    at = "; ".join(f"{inputs[p]}, {inputs[q]}" for inputs in told)
    return Plot(
        id=id,
        title=names,
        caption="",
        alt=f"{counted(len(found.runs), 'run')} in {names}, and {len(found.X)} proposed, at {at}.",
        legend=2,
    )


def _axis(subject: Subject, found: NextRuns, p: int) -> dict[str, Any]:
    """Return ticks and type of an axis of input p."""
    levels = levels_among(found.transforms).get(p)
    if levels is not None:
        labels = [inert(label, 24) for label in levels.labels]
        return {"tickvals": list(levels.values), "ticktext": labels}
    return {"type": "log"} if subject.view.on_log_axis(p) else {}


def _runs(subject: Subject, found: NextRuns) -> Table:
    """Return the proposed runs with their predictions."""
    columns = (
        Column("Run", "name"),
        *(Column(name, "number") for name in found.names),
        Column(f"predicted {found.response}", "number"),
        Column("standard deviation", "number"),
    )
    rows = []
    for k, inputs in enumerate(found.inputs):
        cells = [Cell(x, x) if isinstance(x, str) else Cell(number(x, 5), float(x)) for x in inputs]
        told = [Cell(number(float(v)), float(v)) for v in (found.mean[k], found.std[k])]
        rows.append((Cell(f"proposed {k + 1}", float(k)), *cells, *told))
    return Table(f"{subject.key}-next", "Proposed runs", columns, tuple(rows))


def _steps(subject: Subject, found: NextRuns) -> Table:
    """Return what more runs are expected to buy."""
    columns = (
        Column("more runs", "name"),
        Column("mean width of the 95 % intervals", "number"),
        Column("of now", "number"),
    )
    now = found.steps[0].width
    rows = tuple(
        (
            Cell(str(step.runs), float(step.runs)),
            Cell(number(step.width), step.width),
            Cell(percent(float(np.round(step.width / now, 2))), step.width / now),
        )
        for step in found.steps
    )
    return Table(f"{subject.key}-steps", "What more runs are expected to buy", columns, rows)
