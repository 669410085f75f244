"""A table of runs as the state of a study: which are done, planned, failed or abandoned."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pengp.cli.cells import COUNTED, as_numbers, is_missing
from pengp.cli.reading import Reading
from pengp.cli.runs import Runs, check_texts
from pengp.cli.tables import Table, read_table
from pengp.exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd

    from pengp._core.arrays import BoolArray

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
    path: str | Path, response: str, inputs: Sequence[str] | None, reading: Reading | None = None
) -> State:
    """Read a table; by default all columns but response and status are inputs.

    A row without a response is planned, unless its status says that it failed or was abandoned.
    """
    table = read_table(path, reading)
    if inputs is not None and response in inputs:
        raise InputError(f"{response!r} is the response and cannot be an input too.")
    names = inputs or [name for name in table.names if name not in (response, STATUS)]
    if not names:
        raise InputError(f"{table.source} has no inputs besides {response!r}.")
    if inputs is None:
        check_texts(table, names)
    X = table.numbers(names)
    cells = list(table.raw([response])[response])
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
    return State(
        Runs(table.source, X[done], y[done]),
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
