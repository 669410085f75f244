"""Known noise as the command line takes it: ``--noise-sd 0.3``, ``--noise-sd sd``, ``y=sd_y``."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pengp.cli.printing import note, number
from pengp.exceptions import InputError

if TYPE_CHECKING:
    from pengp._core.arrays import BoolArray, FloatArray
    from pengp.cli.runs import Runs
    from pengp.cli.tables import Table

#: Standard deviations by response: a number, or the name of a column.
Noise = dict[str, float | str]

_KNOWN = "Known standard deviation of the noise of each response: a number, or the column that has "
NoiseOption = Annotated[
    list[str] | None,
    typer.Option(
        "--noise-sd",
        metavar="NUMBER|COLUMN",
        help=f"{_KNOWN}it for every run and is then no input. For one of several responses "
        "NAME=NUMBER or NAME=COLUMN, repeated.",
        show_default="none",
    ),
]
LikeFitOption = Annotated[
    list[str] | None,
    typer.Option(
        "--noise-sd",
        metavar="NUMBER|COLUMN",
        help=f"{_KNOWN}it for every run.",
        show_default="as in the fit",
    ),
]


def read_noise(options: Sequence[str], responses: Sequence[str], names: Sequence[str]) -> Noise:
    """Return the noise of the responses that the options describe, for a table with these names."""
    found: Noise = {}
    for option in options:
        name, equals, rest = option.partition("=")
        if option not in names and equals and name in responses:
            chosen, text = [name], rest
        else:
            chosen, text = list(responses), option
        if twice := [name for name in chosen if name in found]:
            raise InputError(
                f"--noise-sd is given twice for {twice[0]!r}; name each response once, as in "
                f"--noise-sd {responses[0]}=0.3."
            )
        found |= dict.fromkeys(chosen, _value(text, names))
    return found


def _value(text: str, names: Sequence[str]) -> float | str:
    """Return a number, or the name of a column if there is one of that name or it is no number."""
    try:
        value = None if text in names else float(text)
    except ValueError:
        value = None
    if value is not None and not 0.0 <= value < float("inf"):
        raise InputError(
            f"--noise-sd {text} is no standard deviation; write a number from 0 up, or the name of "
            "a column."
        )
    return text if value is None else value


def columns_of(noise: Mapping[str, float | str]) -> list[str]:
    """Return the columns that hold standard deviations."""
    return list(dict.fromkeys(value for value in noise.values() if isinstance(value, str)))


def noise_in(
    table: "Table",
    noise: Mapping[str, float | str],
    responses: Sequence[str],
    done: "BoolArray | None" = None,
) -> "FloatArray | None":
    """Return the standard deviations [n, q] of the responses in a table; None if all are 0.

    Where only some runs are ``done`` [n], the cells of the others are not looked at.
    """
    import numpy as np

    found = np.zeros((len(table), len(responses)))
    for k, response in enumerate(responses):
        value = noise.get(response, 0.0)
        if value in responses:
            raise InputError(f"{value!r} is a response and cannot be the noise too.")
        found[:, k] = _column(table, value, done) if isinstance(value, str) else value
    return found if found.any() else None


def _column(table: "Table", name: str, done: "BoolArray | None") -> "FloatArray":
    """Return a column of standard deviations [n], 0 for runs that are not done."""
    import numpy as np

    counts = np.ones(len(table), dtype=bool) if done is None else done
    if not counts.all():
        cells = [cell if yes else "0" for yes, cell in zip(counts, table.column(name), strict=True)]
        table = table.with_column(name, cells)
    values = table.numbers([name])[name]
    wrong = values.index[values < 0.0]
    if len(wrong):
        raise InputError(
            f"{table.source}: row {wrong[0]}, column {name!r} holds {number(values[wrong[0]])}, "
            "which is no standard deviation (rows are counted from 1 below the header); write a "
            "number from 0 up."
        )
    return values.to_numpy()


def noise_of_model(info: Mapping[str, Any], responses: Sequence[str]) -> Noise:
    """Return the noise that a model file says it was fitted with; empty for none."""
    kept = info.get("noise_sd", {})
    known = kept if isinstance(kept, Mapping) else {}
    return {
        name: value
        for name, value in known.items()
        if name in responses and isinstance(value, str | float | int)
    }


def check_nugget(runs: "Runs", nugget: float | str | None) -> None:
    """Raise an InputError if noise is known and the nugget is to be estimated."""
    if runs.noise_sd is not None and isinstance(nugget, str):
        raise InputError(
            "--noise-sd and --nugget estimate are two descriptions of one scatter, which the runs "
            "cannot tell apart; give one of them."
        )


def test_noise(
    table: "Table", options: Sequence[str] | None, info: Mapping[str, Any], responses: Sequence[str]
) -> "FloatArray | None":
    """Return the standard deviations [m, q] of test runs, as given or as in the fit of the model.

    Test runs without the column that the fit had are runs without noise.
    """
    if options:
        return noise_in(table, read_noise(options, responses, table.names), responses)
    noise = noise_of_model(info, responses)
    missing = [name for name in columns_of(noise) if name not in table.names]
    if missing:
        note(
            f"{table.source} has no column {missing[0]!r}, which has the noise in the fit; its "
            "responses are taken for runs without noise."
        )
    return noise_in(table, {k: v for k, v in noise.items() if v not in missing}, responses)
