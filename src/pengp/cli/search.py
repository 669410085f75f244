"""Options of `pengp fit` on lambda and on the search for theta, and what they mean."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from pengp.exceptions import InputError


class Grid(StrEnum):
    """Grids of lambda."""

    PAPER = "paper"
    KKT = "kkt"


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
    "lam": "--lambda",
    "lambda_grid": "--lambda-grid",
    "theta_bounds": "--theta-bounds",
    "starts": "--starts",
}
#: Names of parameters that choose lambda, and have no effect where it is given.
_OF_CHOICE = {
    "metric": "--metric",
    "rule": "--rule",
    "folds": "--folds",
    "repeats": "--repeats",
    "lambda_grid": "--lambda-grid",
}


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


def check_given_lambda(ctx: typer.Context, lam: float | None) -> None:
    """Raise where an option on the choice of lambda comes with a given lambda."""
    sources = {name: ctx.get_parameter_source(name) for name in _OF_CHOICE}
    given = [_OF_CHOICE[name] for name, s in sources.items() if s and s.name == "COMMANDLINE"]
    if lam is not None and given:
        raise InputError(
            f"--lambda {lam:g} leaves nothing to choose, so {', '.join(given)} would have no "
            "effect; leave out one or the other."
        )
