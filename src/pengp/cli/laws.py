"""Options that the commands about inputs with laws share."""

from typing import Annotated

import typer

from pengp.exceptions import InputError

Laws = Annotated[
    list[str] | None,
    typer.Option(
        "--law",
        metavar="NAME=LAW",
        help="Law of an input, once for each: uniform:LOWER,UPPER; loguniform:LOWER,UPPER; "
        "normal:MEAN,SD; lognormal:MEAN,SD of the logarithm; triangular:LOWER,MODE,UPPER; "
        "beta:A,B,LOWER,UPPER; of a factor LEVEL:WEIGHT,LEVEL:WEIGHT.",
        show_default="uniform over the design region, loguniform for an input by its logarithm",
    ),
]

Level = Annotated[float, typer.Option("--level", help="Probability of the intervals.")]

Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the draws.")]


def laws_by_name(given: list[str] | None) -> dict[str, str]:
    """Return the laws by the names of their inputs."""
    found: dict[str, str] = {}
    for text in given or []:
        name, equals, law = text.partition("=")
        if not equals or not name:
            raise InputError(f"--law {text!r} names no input; write NAME=LAW, as x1=normal:50,10.")
        if name in found:
            raise InputError(f"--law gives {name} two laws; give it one.")
        found[name] = law
    return found
