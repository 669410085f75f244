"""The command `pengp next`: the runs that a table of runs should be continued with."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pengp.cli.bounds import BOUNDS_HELP
from pengp.cli.printing import facts, number, percent, rendered, show, show_json, table, working
from pengp.cli.reading import DecimalOption, IgnoreOption, Reading, SheetOption, ThousandsOption
from pengp.exceptions import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pengp._core.arrays import FloatArray
    from pengp.cli.state import State
    from pengp.decisions import NextRuns
    from pengp.estimators.view import FittedView

_FEWEST = 3
"""Runs that an average needs."""

WhereOption = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="CONDITION",
        help='Condition on the inputs, such as "x1 + x2 <= 3"; may be repeated.',
    ),
]


class GoalOption(StrEnum):
    """What further runs are for."""

    ACCURACY = "accuracy"
    MODES = "modes"
    OPTIMUM = "optimum"
    THRESHOLD = "threshold"


class CriterionOption(StrEnum):
    """Criteria of the goal accuracy."""

    VARIANCE = "variance"
    VIGF = "vigf"


_CRITERIA = {"variance": "integrated variance", "vigf": "VIGF"}


def next_runs(
    data: Annotated[
        str,
        typer.Argument(
            metavar="TABLE",
            help="Table of runs. A row without a response is planned and counts as known; a column "
            "status may say failed or abandoned.",
        ),
    ],
    response: Annotated[
        str | None,
        typer.Option(
            "--response",
            "-y",
            metavar="NAME",
            help="Column that is predicted.",
            show_default="that of --model",
        ),
    ] = None,
    n: Annotated[int, typer.Option("-n", min=1, help="Number of runs.")] = 1,
    goal: Annotated[
        GoalOption,
        typer.Option(
            help="accuracy everywhere; modes: tell competing explanations apart; optimum; "
            "threshold: find where the response crosses --value."
        ),
    ] = GoalOption.ACCURACY,
    criterion: Annotated[
        CriterionOption | None,
        typer.Option(
            help="Of the goal accuracy: integrated variance, or the variance of the squared "
            "difference to the nearest run.",
            show_default="variance",
        ),
    ] = None,
    maximize: Annotated[
        bool, typer.Option("--maximize/--minimize", help="Of the goal optimum.")
    ] = False,
    target: Annotated[
        float | None, typer.Option(help="Of the goal optimum: response to come close to.")
    ] = None,
    value: Annotated[
        float | None, typer.Option(help="Of the goal threshold: value of the response.")
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            "--model",
            metavar="FILE",
            help="Model file that judges.",
            show_default="an average, fitted to the table",
        ),
    ] = None,
    inputs: Annotated[
        str | None,
        typer.Option(
            "--inputs",
            "-x",
            metavar="A,B,...",
            help="Columns that are the inputs.",
            show_default="all others",
        ),
    ] = None,
    bounds: Annotated[
        list[str] | None, typer.Option("--bounds", "-b", metavar="RANGE|FILE", help=BOUNDS_HELP)
    ] = None,
    candidates: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Table of the only runs that can be done."),
    ] = None,
    where: WhereOption = None,
    radius: Annotated[
        float,
        typer.Option(
            min=0.0,
            help="Distance kept from failed and abandoned runs, in parts of the inputs' ranges.",
        ),
    ] = 0.1,
    retry: Annotated[
        bool,
        typer.Option("--retry", help="Failed runs may be proposed again; abandoned ones never."),
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of fit and search.")] = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Table to write: inputs, an empty response, and the status planned.",
        ),
    ] = None,
    decimal: DecimalOption = None,
    thousands: ThousandsOption = None,
    sheet: SheetOption = None,
    ignore: IgnoreOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Propose the next runs of the simulator, and say what more runs are expected to buy.

    The table is the state: add the proposed rows to it, fill in their responses as they come, and
    ask again.
    """
    from pengp.cli.files import check_destination
    from pengp.cli.headers import names_in_option
    from pengp.cli.models import one_view
    from pengp.cli.state import read_state

    reading = Reading(decimal, thousands, sheet, ignore or ())
    if output is not None:
        check_destination(output, data, *([candidates] if candidates else []))
    if model is not None and (bounds or inputs):
        raise InputError("--bounds and --inputs go with a fit; --model has its own.")
    view = None if model is None else one_view(model, response)
    known, names = _names_of(view, response, names_in_option(inputs))
    state = read_state(data, known, names, reading)
    with working(f"Judging {len(state.done.y)} runs ..."):
        view = _fitted(state, known, bounds or [], reading, seed) if view is None else view
        _check_known(view, state, data, model)
        found = _proposed(
            view,
            state,
            retry=retry,
            candidates=_rows(candidates, state.names, reading),
            n=n,
            goal=goal.value,
            criterion=None if criterion is None else _CRITERIA[criterion],
            maximize=maximize,
            target=target,
            threshold=value,
            where=where or (),
            radius=radius,
            random_state=seed,
        )
    if output is not None:
        _write(found, output)
    if as_json:
        place = None if output is None else str(output)
        show_json({**found.record(), "seed": seed, "output": place})
    else:
        show(rendered(*_parts(found, state, data, output)))


def _names_of(
    view: "FittedView | None", response: str | None, inputs: list[str] | None
) -> tuple[str, list[str] | None]:
    """Return the name of the response, and of the inputs if they are known."""
    if view is not None:
        return view.response, list(view.names)
    if response is None:
        raise InputError("name the column to be predicted: --response NAME.")
    return response, inputs


def _fitted(
    state: "State", response: str, bounds: list[str], reading: Reading, seed: int
) -> "FittedView":
    """Return the average of the runs that are done."""
    from pengp.cli.bounds import input_bounds
    from pengp.cli.runs import check_runs
    from pengp.estimators import BayesianGPRegressor
    from pengp.estimators.view import view_of

    runs = state.done
    if len(runs.y) < _FEWEST:
        raise InputError(
            f"{runs.source} has {len(runs.y)} runs with a response, and {_FEWEST} are needed; plan "
            "the first ones with: pengp design"
        )
    check_runs(runs, None)
    region = input_bounds(runs, bounds, reading)
    model = BayesianGPRegressor(input_bounds=region, random_state=seed).fit(runs.X, runs.y)
    return view_of(model, response_name=response)


def _check_known(view: "FittedView", state: "State", data: str, model: Path | None) -> None:
    """Raise an InputError if the table has a run that the model has not learned."""
    known = {tuple(run) for run in view.X.tolist()}
    for row, run in zip(state.done.X.index, state.done.X.to_numpy().tolist(), strict=True):
        if tuple(run) not in known:
            raise InputError(
                f"{state.done.source}: {model} does not know the run in row {row}; learn the new "
                f"runs first: pengp update {model} {data}, or leave --model out."
            )


def _rows(path: str | None, names: list[str], reading: Reading) -> "FloatArray | None":
    """Return the candidates [m, d] in a table."""
    from pengp.cli.tables import read_table

    if path is None:
        return None
    return read_table(path, reading.marks).numbers(names).to_numpy()


def _proposed(view: "FittedView", state: "State", *, retry: bool, **options: Any) -> "NextRuns":
    """Return the next runs."""
    import pandas as pd

    from pengp.decisions import next_runs as propose

    avoid = state.abandoned if retry else pd.concat([state.failed, state.abandoned])
    planned, away = (frame.to_numpy() for frame in (state.planned, avoid))
    return propose(view, planned=planned, avoid=away, **options)


def _write(found: "NextRuns", place: Path) -> None:
    """Write the runs as rows that can be added to the table."""
    import pandas as pd

    from pengp.cli.state import STATUS
    from pengp.cli.tables import TableWriter

    frame: pd.DataFrame = pd.DataFrame(found.X, columns=pd.Index(found.names))
    frame[found.response] = ""
    frame[STATUS] = "planned"
    with TableWriter(place) as writer:
        writer.write(frame)


def _parts(
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
        [str(k + 1), *(number(x, 5) for x in inputs), *(number(v) for v in values)]
        for k, (inputs, *values) in enumerate(
            zip(found.X, found.mean, found.std, found.value, strict=True)
        )
    ]
    if len(found.names) < len(rows) or len(heading) <= 6:
        return table(heading, rows, right=range(len(heading)))
    columns = [list(cells) for cells in zip(heading, *rows, strict=True)]
    return table(columns[0], columns[1:], left=1)
