"""The command `pengp next`: the runs that a table of runs should be continued with."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from pengp.cli.bounds import BoundsOption
from pengp.cli.files import check_destination
from pengp.cli.headers import names_in_option
from pengp.cli.levels import FactorOption, levels_in, read_inputs
from pengp.cli.noise import NoiseOption
from pengp.cli.options import InputsOption, JsonOption
from pengp.cli.printing import facts, rendered, show, show_json
from pengp.cli.proposed import lines_of, parts_of, write_runs
from pengp.cli.reading import Reading
from pengp.cli.scales import Scales
from pengp.cli.waiting import working
from pengp.exceptions import InputError

if TYPE_CHECKING:
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
        help='Condition on the inputs, such as "x1 + x2 <= 3" or "material != wood"; may be '
        "repeated.",
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


StateTable = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="Table of runs. A row without a response is planned and counts as known; a column "
        "status may say failed or abandoned.",
    ),
]
ResponseOption = Annotated[
    str | None,
    typer.Option(
        "--response",
        "-y",
        metavar="NAME",
        help="Column that is predicted.",
        show_default="that of --model",
    ),
]
CountOption = Annotated[int, typer.Option("-n", min=1, help="Number of runs.")]
GoalChoice = Annotated[
    GoalOption,
    typer.Option(
        help="accuracy everywhere; modes: tell competing explanations apart; optimum; "
        "threshold: find where the response crosses --value."
    ),
]
CriterionChoice = Annotated[
    CriterionOption | None,
    typer.Option(
        help="Of the goal accuracy: integrated variance, or the variance of the squared "
        "difference to the nearest run.",
        show_default="variance",
    ),
]
MaximizeOption = Annotated[
    bool | None,
    typer.Option("--maximize/--minimize", help="Of the goal optimum.", show_default="minimize"),
]
TargetOption = Annotated[
    float | None, typer.Option(help="Of the goal optimum: response to come close to.")
]
ValueOption = Annotated[
    float | None, typer.Option(help="Of the goal threshold: value of the response.")
]
ModelOption = Annotated[
    Path | None,
    typer.Option(
        "--model",
        metavar="FILE",
        help="Model file that judges.",
        show_default="an average, fitted to the table",
    ),
]
CandidatesOption = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Table of the only runs that can be done."),
]
RadiusOption = Annotated[
    float,
    typer.Option(
        min=0.0,
        help="Distance kept from failed and abandoned runs, in parts of the inputs' ranges.",
    ),
]
RetryOption = Annotated[
    bool,
    typer.Option("--retry", help="Failed runs may be proposed again; abandoned ones never."),
]
SeedOption = Annotated[int, typer.Option(min=0, help="Seed of fit and search.")]
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Table to write: inputs, an empty response, and the status planned.",
    ),
]
BriefOption = Annotated[bool, typer.Option("--brief", help="Print the runs alone, a line each.")]


@dataclass(frozen=True)
class Purpose:
    """What the runs are for; each field is an option."""

    goal: GoalChoice = GoalOption.ACCURACY
    criterion: CriterionChoice = None
    maximize: MaximizeOption = None
    target: TargetOption = None
    value: ValueOption = None

    def __post_init__(self) -> None:
        optimum = self.goal is GoalOption.OPTIMUM
        if not optimum and (self.maximize is not None or self.target is not None):
            raise InputError("--minimize, --maximize and --target go with --goal optimum alone.")
        if self.maximize is not None and self.target is not None:
            raise InputError("give --minimize, --maximize or --target, one of the three.")
        if (self.value is not None) != (self.goal is GoalOption.THRESHOLD):
            raise InputError("--goal threshold and --value NUMBER go together.")

    def settings(self) -> dict[str, Any]:
        """Return the parameters of `pengp.decisions.next_runs` that say it."""
        return {
            "goal": self.goal.value,
            "criterion": None if self.criterion is None else _CRITERIA[self.criterion],
            "maximize": bool(self.maximize),
            "target": self.target,
            "threshold": self.value,
        }


def next_runs(
    data: StateTable,
    *,
    response: ResponseOption = None,
    n: CountOption = 1,
    purpose: Purpose,
    model: ModelOption = None,
    inputs: InputsOption = None,
    bounds: BoundsOption = None,
    scales: Scales,
    factor: FactorOption = None,
    candidates: CandidatesOption = None,
    where: WhereOption = None,
    radius: RadiusOption = 0.1,
    retry: RetryOption = False,
    seed: SeedOption = 0,
    output: OutputOption = None,
    noise_sd: NoiseOption = None,
    reading: Reading,
    brief: BriefOption = False,
    as_json: JsonOption = False,
) -> None:
    """Propose the next runs of the simulator, and say what more runs are expected to buy.

    The table is the state: add the proposed rows to it, fill in their responses as they come, and
    ask again.
    """
    how = _Fit(bounds or [], names_in_option(inputs), factor or [], noise_sd or [], scales, seed)
    asked: dict[str, Any] = {"n": n, "where": where or (), "radius": radius, "random_state": seed}
    if output is not None:
        check_destination(output, data, *([candidates] if candidates else []))
    view, known, state = _known(data, response, model, how, reading)
    with working(f"Judging {len(state.done.y)} runs ...", quiet=as_json):
        view = view or _fitted(state, known, how, reading)
        _check_known(view, state, data, model)
        asked["candidates"] = _rows(candidates, state, reading)
        found = _proposed(view, state, retry=retry, **asked, **purpose.settings())
    if output is not None:
        write_runs(found, output)
    if as_json:
        place = None if output is None else str(output)
        show_json({**found.record(), "seed": seed, "output": place})
    elif brief:
        show(rendered(facts(lines_of(found))))
    else:
        show(rendered(*parts_of(found, state, data, output)))


class _Fit(NamedTuple):
    """How the runs are fitted, where no model is given."""

    bounds: list[str]
    inputs: list[str] | None
    factors: list[str]
    noise_sd: list[str]
    scales: Scales
    seed: int


def _known(
    data: str, response: str | None, model: Path | None, how: _Fit, reading: Reading
) -> tuple["FittedView | None", str, "State"]:
    """Return the model that is given, the name of the response, and the runs."""
    from pengp.cli.models import one_view
    from pengp.cli.state import read_state

    if model is not None and (any(how[:4]) or how.scales.any):
        raise InputError(
            "--bounds, --inputs, --factor, --integer, --noise-sd and scales go with a fit; --model "
            "has its own."
        )
    view = None if model is None else one_view(model, response)
    name, inputs = _names_of(view, response, how.inputs)
    levels = how.factors if view is None else levels_in(view)
    return view, name, read_state(data, name, inputs, reading, levels, how.noise_sd)


def _names_of(
    view: "FittedView | None", response: str | None, inputs: list[str] | None
) -> tuple[str, list[str] | None]:
    """Return the name of the response, and of the inputs if they are known."""
    if view is not None:
        return view.response, list(view.names)
    if response is None:
        raise InputError("name the column to be predicted: --response NAME.")
    return response, inputs


def _fitted(state: "State", response: str, how: _Fit, reading: Reading) -> "FittedView":
    """Return the average of the runs that are done."""
    from pengp.cli.bounds import input_bounds
    from pengp.cli.runs import check_runs, merge_runs
    from pengp.estimators import BayesianGPRegressor
    from pengp.estimators.view import view_of

    runs = state.done
    if len(runs.y) < _FEWEST:
        raise InputError(
            f"{runs.source} has {len(runs.y)} runs with a response, and {_FEWEST} are needed; plan "
            "the first ones with: pengp design"
        )
    check_runs(runs, None)
    settings = how.scales.settings(runs, [response])
    region = input_bounds(runs, how.bounds, reading)
    runs = runs if runs.noise_sd is None else merge_runs(runs, None)
    model = BayesianGPRegressor(input_bounds=region, random_state=how.seed, **settings)
    return view_of(model.fit(runs.X, runs.y, runs.noise_sd), response_name=response)


def _check_known(view: "FittedView", state: "State", data: str, model: Path | None) -> None:
    """Raise an InputError if the table has a run that the model has not learned."""
    known = {tuple(run) for run in view.X.tolist()}
    for row, run in zip(state.done.X.index, state.done.X.to_numpy().tolist(), strict=True):
        if tuple(run) not in known:
            raise InputError(
                f"{state.done.source}: {model} does not know the run in row {row}; learn the new "
                f"runs first: pengp update {model} {data}, or leave --model out."
            )


def _rows(path: str | None, state: "State", reading: Reading) -> "FloatArray | None":
    """Return the candidates [m, d] in a table."""
    from pengp.cli.tables import read_table

    if path is None:
        return None
    table = read_table(path, reading.marks)
    return read_inputs(table, state.names, state.done.levels).to_numpy()


def _proposed(view: "FittedView", state: "State", *, retry: bool, **options: Any) -> "NextRuns":
    """Return the next runs."""
    import pandas as pd

    from pengp.decisions import next_runs as propose

    avoid = state.abandoned if retry else pd.concat([state.failed, state.abandoned])
    planned, away = (frame.to_numpy() for frame in (state.planned, avoid))
    return propose(view, planned=planned, avoid=away, **options)
