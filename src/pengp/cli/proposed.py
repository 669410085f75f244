"""Proposed runs as they are printed and written: a table of them, and what more runs buy."""

from pathlib import Path
from typing import TYPE_CHECKING

from pengp.cli.printing import facts, number, percent, table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pengp.cli.state import State
    from pengp.decisions import NextRuns


def write_runs(found: "NextRuns", place: Path) -> None:
    """Write the runs as rows that can be added to the table."""
    import pandas as pd

    from pengp.cli.state import STATUS
    from pengp.cli.tables import TableWriter

    frame: pd.DataFrame = pd.DataFrame(found.inputs, columns=pd.Index(found.names))
    frame[found.response] = ""
    frame[STATUS] = "planned"
    with TableWriter(place) as writer:
        writer.write(frame)


def cell(value: float | str) -> str:
    """Return an input as it is shown: a number, or the name of a level."""
    return value if isinstance(value, str) else number(value, 5)


def lines_of(found: "NextRuns") -> list[tuple[str, str]]:
    """Return a line for each run."""
    return [
        (
            f"run {k + 1}",
            ", ".join(f"{n} {cell(x)}" for n, x in zip(found.names, inputs, strict=True)),
        )
        for k, inputs in enumerate(found.inputs)
    ]


def parts_of(
    found: "NextRuns", state: "State", data: str, output: Path | None
) -> "list[RenderableType]":
    """Return what is printed."""
    from pengp.decisions.goals import CRITERIA

    told = [
        ("Goal", found.goal),
        ("Criterion", f"{found.criterion}: {CRITERIA[found.criterion]}"),
        ("Runs", _counts(state)),
    ]
    place = f"the rows of {output}" if output else "these rows"
    steps = [
        [str(step.runs), number(step.width), percent(step.width / found.steps[0].width)]
        for step in found.steps
    ]
    return [
        facts(told),
        "",
        _run_table(found),
        "",
        "What more runs are expected to buy, these first:",
        table(["more runs", "mean width of the 95 % intervals", "of now"], steps, right=(0, 1, 2)),
        "",
        facts([("Next", f"add {place} to {data}, run the simulator, fill in {found.response}")]),
    ]


def _counts(state: "State") -> str:
    """Return how many runs there are of each status."""
    others = {"planned": state.planned, "failed": state.failed, "abandoned": state.abandoned}
    more = [f", {len(frame)} {word}" for word, frame in others.items() if len(frame)]
    return f"{len(state.done.y)} done{''.join(more)}"


def _run_table(found: "NextRuns") -> "RenderableType":
    """Return the runs, a row each; a column each where there are fewer runs than inputs."""
    heading = ["run", *found.names, found.response, "std", "value"]
    rows = [
        [str(k + 1), *(cell(x) for x in inputs), *(number(v) for v in values)]
        for k, (inputs, *values) in enumerate(
            zip(found.inputs, found.mean, found.std, found.value, strict=True)
        )
    ]
    if len(found.names) < len(rows) or len(heading) <= 6:
        return table(heading, rows, right=range(len(heading)))
    columns = [list(cells) for cells in zip(heading, *rows, strict=True)]
    return table(columns[0], columns[1:], left=1)
