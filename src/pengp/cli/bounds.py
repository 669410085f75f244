"""Ranges of the inputs as the command line takes them: ``x1=0:100``, or a table of them."""

import difflib
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from pengp.cli.reading import Reading
from pengp.cli.tables import read_table
from pengp.exceptions import FileError, InputError

if TYPE_CHECKING:
    from pengp._core.arrays import FloatArray
    from pengp.cli.runs import Runs

__all__ = ["BoundsOption", "RangesOption", "input_bounds", "read_bounds"]

_BOUNDS = typer.Option(
    "--bounds",
    "-b",
    metavar="RANGE|FILE",
    help="Range of an input, NAME=LOWER:UPPER, or a table with the columns input, lower and upper; "
    "may be repeated.",
)
BoundsOption = Annotated[list[str] | None, _BOUNDS]
RangesOption = Annotated[list[str], _BOUNDS]


class _Entry(NamedTuple):
    """The range of one input, and where it stands."""

    name: str
    lower: float
    upper: float
    where: str


def read_bounds(
    options: Sequence[str],
    names: Sequence[str] | None = None,
    reading: Reading | None = None,
) -> dict[str, tuple[float, float]]:
    """Return lower and upper end by input, in the order in which they are given.

    Parameters
    ----------
    options : sequence of str
        Each ``NAME=LOWER:UPPER``, or a file with the columns input, lower and upper.
    names : sequence of str, optional
        The inputs that there are; by default any name will do. Not all need bounds.
    reading : Reading, optional
        How tables of bounds are to be read.
    """
    bounds: dict[str, tuple[float, float]] = {}
    for option in options:
        for entry in _entries(option, reading):
            _check(entry, names)
            if entry.name in bounds:
                raise InputError(
                    f"{entry.where}: {entry.name!r} already has bounds; give them once."
                )
            bounds[entry.name] = (entry.lower, entry.upper)
    return bounds


def input_bounds(runs: "Runs", options: list[str], reading: Reading) -> "FloatArray | None":
    """Return lower and upper end of every input [d, 2], from the runs where no bounds are given."""
    import numpy as np

    from pengp.cli.runs import check_bounds

    if not options:
        return None
    given = read_bounds(options, runs.names, reading.marks)
    for name in given:
        if name in runs.levels:
            raise InputError(f"{name!r} is a factor, and levels have no bounds; leave them out.")
    X = runs.X.to_numpy()
    extent = zip(runs.names, X.min(axis=0), X.max(axis=0), strict=True)
    bounds = np.array([given.get(name, (low, high)) for name, low, high in extent])
    check_bounds(runs, bounds)
    return bounds


def _entries(option: str, reading: Reading | None) -> Iterator[_Entry]:
    """Yield what an option says."""
    try:
        exists = Path(option).exists()
    except OSError:  # too long for the name of a file
        exists = False
    if "=" in option and not exists:
        yield _pair(option)
    elif not exists and not Path(option).suffix:
        raise FileError(
            f"cannot read {option}: there is no such file; a range is written NAME=LOWER:UPPER, "
            "such as x1=0:100."
        )
    else:
        yield from _rows(option, reading)


def _pair(option: str) -> _Entry:
    """Return what ``NAME=LOWER:UPPER`` says."""
    where = f"--bounds {option}"
    name, _, ends = option.rpartition("=")
    try:
        lower, upper = (float(end) for end in ends.split(":"))
    except ValueError:
        raise InputError(
            f"{where}: write NAME=LOWER:UPPER with two numbers, such as x1=0:100 or x2=-0.5:1e3."
        ) from None
    return _Entry(name.strip(), lower, upper, where)


def _rows(path: str, reading: Reading | None) -> Iterator[_Entry]:
    """Yield the rows of a table of bounds."""
    table = read_table(path, reading)
    inputs, ends = table.raw(["input"])["input"], table.numbers(["lower", "upper"])
    for row, cell, lower, upper in zip(
        table.rows, inputs, ends["lower"], ends["upper"], strict=True
    ):
        name = "" if cell is None else str(cell).strip()
        yield _Entry(name, lower, upper, f"{table.source}: row {row}")


def _check(entry: _Entry, names: Sequence[str] | None) -> None:
    """Raise an InputError unless this is the range of an input."""
    name, lower, upper, where = entry
    if not name:
        raise InputError(f"{where}: the name of the input is missing; write it before the range.")
    if not math.isfinite(upper - lower):
        raise InputError(f"{where}: the range of {name!r} must have two finite ends.")
    if lower >= upper:
        raise InputError(
            f"{where}: the lower end {lower!r} of {name!r} is not below its upper end {upper!r}; "
            "swap or correct them."
        )
    if names is not None and name not in names:
        lower_case = {other.lower(): other for other in names}
        close = difflib.get_close_matches(name.lower(), lower_case, n=1, cutoff=0.0)
        raise InputError(
            f"{where}: there is no input {name!r}; did you mean {lower_case[close[0]]!r}? The "
            "inputs are: "
            f"{', '.join(names)}."
        )
