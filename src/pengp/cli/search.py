"""Options of `pengp fit` for --method penalized, and what they mean."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Any

import typer

from pengp.cli.choices import choice
from pengp.exceptions import InputError


class Grid(StrEnum):
    """Grids of lambda."""

    PAPER = "paper"
    KKT = "kkt"


PenaltyOption = Annotated[str, choice("penalty", "Penalty on theta")]
MetricOption = Annotated[
    str | None,
    choice("metric", "What folds are judged by", "dpe; with --nugget estimate: pe"),
]
RuleOption = Annotated[
    str | None, choice("rule", "What chooses lambda", "1se; with --nugget estimate: min")
]
FoldsOption = Annotated[
    str,
    typer.Option(
        "--folds",
        metavar="K|loo",
        help="Number of folds, or loo to leave out each run in turn; also stratified or "
        "space-filling folds, as in space-filling:4.",
    ),
]
RepeatsOption = Annotated[
    int | None,
    typer.Option(
        "--repeats",
        min=1,
        help="How often the runs are dealt into folds.",
        show_default="10 for up to 30 runs, else 3",
    ),
]
IsotropicOption = Annotated[bool, typer.Option("--isotropic", help="One theta for all inputs.")]
LambdaOption = Annotated[
    float | None,
    typer.Option(
        "--lambda",
        min=0.0,
        metavar="VALUE",
        help="Fit at this lambda, without cross-validation.",
        show_default=False,
    ),
]
GridOption = Annotated[
    Grid,
    typer.Option(
        "--lambda-grid",
        help="Values of lambda to choose from: the paper's, or up to the KKT bound of the runs.",
    ),
]
ThetaBoundsOption = Annotated[
    str,
    typer.Option("--theta-bounds", metavar="LOW,HIGH", help="Where theta is searched for."),
]
StartsOption = Annotated[
    int, typer.Option("--starts", min=1, help="Random starts of the search for theta.")
]

#: These options by their parameters' names.
OPTIONS = {
    **{n: f"--{n}" for n in ("penalty", "metric", "rule", "folds", "repeats", "isotropic")},
    "lam": "--lambda",
    "lambda_grid": "--lambda-grid",
    "theta_bounds": "--theta-bounds",
    "starts": "--starts",
}
#: Names of parameters that choose lambda, and have no effect where it is given.
_OF_CHOICE = ("metric", "rule", "folds", "repeats", "lambda_grid")


def search_settings(theta_bounds: str, starts: int) -> dict[str, Any]:
    """Return the estimators' parameters for bounds LOW,HIGH and a number of starts."""
    try:
        low, high = (float(end) for end in theta_bounds.split(","))
    except ValueError:
        raise InputError(
            f"--theta-bounds {theta_bounds}: write two numbers, as in 0.001,1000."
        ) from None
    if not 0.0 < low < high:
        raise InputError(
            f"--theta-bounds {theta_bounds}: the first number has to be above 0 and below the "
            "second."
        )
    return {"theta_bounds": (low, high), "n_starts": starts}


def given_options(ctx: typer.Context, names: Iterable[str]) -> list[str]:
    """Return the options of these parameters that were written, and not left to their defaults."""
    sources = {name: ctx.get_parameter_source(name) for name in names}
    return [OPTIONS[name] for name, s in sources.items() if s and s.name == "COMMANDLINE"]


def check_given_lambda(ctx: typer.Context, lam: float | None) -> None:
    """Raise where an option on the choice of lambda comes with a given lambda."""
    given = given_options(ctx, _OF_CHOICE)
    if lam is not None and given:
        raise InputError(
            f"--lambda {lam:g} leaves nothing to choose, so {', '.join(given)} would have no "
            "effect; leave out one or the other."
        )
