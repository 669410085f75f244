"""The command `pengp optimize`: where the surrogate has its optimum, and how sure that is."""

from typing import TYPE_CHECKING, Annotated

import typer

from pengp.cli.next_runs import WhereOption
from pengp.cli.options import JsonOption, ModelFile
from pengp.cli.printing import facts, number, percent, rendered, show, show_json, table
from pengp.cli.proposed import cell
from pengp.cli.waiting import working
from pengp.exceptions import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pengp.decisions import Optimum, Place

_MOST_PLACES, _TOLD = 3, 0.005
"""Places that are shown, and the least probability of others that is told."""


def optimize(
    model: ModelFile,
    maximize: Annotated[
        bool | None,
        typer.Option("--maximize/--minimize", help="Which optimum.", show_default=False),
    ] = None,
    response: Annotated[
        str | None,
        typer.Option(
            "--response", "-y", metavar="NAME", help="Which response.", show_default="the only one"
        ),
    ] = None,
    where: WhereOption = None,
    level: Annotated[float, typer.Option(help="Probability of the interval.")] = 0.95,
    seed: Annotated[int, typer.Option(min=0, help="Seed of search and draws.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Find the smallest or largest response that the surrogate promises.

    Prints the prediction there with its interval, the probability that it beats the best run, and
    where else the optimum may lie.
    """
    from pengp.cli.models import check_level, one_view

    if maximize is None:
        raise InputError("say which optimum: --minimize or --maximize.")
    check_level(level)
    view = one_view(model, response)
    with working("Searching ...", quiet=as_json):
        from pengp.decisions import optimum

        found = optimum(view, maximize=maximize, where=where or (), level=level, random_state=seed)
    if as_json:
        show_json({**found.record(), "seed": seed})
    else:
        show(rendered(*_parts(found)))


def _parts(found: "Optimum") -> "list[RenderableType]":
    """Return what is printed."""
    word = "Largest" if found.maximize else "Smallest"
    interval = f"{percent(found.level)} interval {number(found.lower)} to {number(found.upper)}"
    told = [(word, f"{found.response} {number(found.mean)}, {interval}")]
    if found.best_run is None or found.best is None or found.probability is None:
        told.append(("Best run", "none satisfies the conditions, so that there is none to beat"))
    else:
        told += [
            ("Best run", f"run {found.best_run + 1} with {number(found.best)}"),
            ("Better", f"than the best run with probability {percent(found.probability)}"),
        ]
    shown = found.places[:_MOST_PLACES]
    heading = ["input", "optimum", *(percent(place.probability) for place in shown)]
    rows = [
        [
            name,
            cell(found.inputs(found.x)[name]),
            *(_range(place, p, name) for place in shown),
        ]
        for p, name in enumerate(found.names)
    ]
    elsewhere = 1.0 - sum(place.probability for place in shown)
    rest = f"; elsewhere {percent(elsewhere)}" if elsewhere >= _TOLD else ""
    return [
        facts(told),
        "",
        f"Where the optimum may lie, and how probably, from joint draws of the function{rest}:",
        table(heading, rows),
    ]


def _range(place: "Place", p: int, name: str) -> str:
    """Return the range of an input in a place, the number if it is one, or its levels."""
    if name in place.levels:
        return ", ".join(place.levels[name])
    low, high = number(place.lower[p], 3), number(place.upper[p], 3)
    return low if low == high else f"{low} to {high}"
