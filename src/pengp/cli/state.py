"""A table of runs as the state of a study: which are done, planned, failed or abandoned."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pengp.cli.cells import COUNTED, as_numbers, is_missing
from pengp.cli.levels import find_levels, read_inputs
from pengp.cli.noise import columns_of, noise_in, read_noise
from pengp.cli.reading import Reading
from pengp.cli.runs import Runs, check_texts
from pengp.cli.tables import Table, read_table
from pengp.exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd

    from pengp._core.arrays import BoolArray
    from pengp.model.levels import Levels

STATUS = "status"
"""Name of the column that says what became of a run."""

_WORDS = ("", "done", "planned", "failed", "abandoned")


@dataclass(frozen=True, eq=False)
class State:
    """Runs by what became of them.

    Attributes
    ----------
    done : Runs
        Runs with a response.
    planned, failed, abandoned : frame [k, d]
        Inputs of the others; the index is the rows' numbers in the file, from 1.
    """

    done: Runs
    planned: "pd.DataFrame"
    failed: "pd.DataFrame"
    abandoned: "pd.DataFrame"

    @property
    def names(self) -> list[str]:
        """Names of the inputs."""
        return self.done.names


def read_state(
    path: str | Path,
    response: str,
    inputs: Sequence[str] | None,
    reading: Reading | None = None,
    factors: "Sequence[str] | Mapping[str, Levels]" = (),
    noise: Sequence[str] = (),
) -> State:
    """Read a table; by default all columns but response, its noise and status are inputs.

    A row without a response is planned, unless its status says that it failed or was abandoned.
    Factors are named, or their levels are known; the noise is as ``--noise-sd`` gives it.
    """
    table = read_table(path, reading)
    known = read_noise(noise, [response], table.names)
    others = (response, STATUS, *columns_of(known))
    if inputs is not None and response in inputs:
        raise InputError(f"{response!r} is the response and cannot be an input too.")
    cells = list(table.raw([response])[response])
    names = inputs or [name for name in table.names if name not in others]
    if not names:
        raise InputError(f"{table.source} has no inputs besides {response!r}.")
    if inputs is None:
        check_texts(table, [name for name in names if name not in factors])
    levels = factors if isinstance(factors, Mapping) else find_levels(table, factors, names)
    X = read_inputs(table, names, levels)
    empty = np.array([is_missing(cell) for cell in cells])
    status = _statuses(table, () if inputs is None else inputs)
    lost = np.isin(status, ("failed", "abandoned"))
    y = as_numbers(
        ["0" if gone else cell for gone, cell in zip(empty | lost, cells, strict=True)],
        source=table.source,
        column=response,
        first_row=table.first_row,
        marks=table.marks,
    )
    done: BoolArray = ~empty & ~lost
    sd = noise_in(table, known, [response], done)
    noise_sd = None if sd is None else sd[done, 0]
    return State(
        Runs(table.source, X[done], y[done], levels, noise_sd=noise_sd),
        X[empty & ~lost],
        X[status == "failed"],
        X[status == "abandoned"],
    )


def _statuses(table: Table, inputs: Sequence[str]) -> "np.ndarray":
    """Return the word [n] that stands in the column status of each row, empty without one."""
    if STATUS not in table.names or STATUS in inputs:
        return np.full(len(table), "", dtype="<U9")
    words = []
    for row, cell in zip(table.rows, table.raw([STATUS])[STATUS], strict=True):
        word = "" if is_missing(cell) else str(cell).strip().lower()
        if word not in _WORDS:
            raise InputError(
                f"{table.source}: row {row}, column {STATUS!r} holds {str(cell)[:40]!r} "
                f"({COUNTED}); write {', '.join(_WORDS[1:])} or nothing."
            )
        words.append(word)
    return np.array(words)
