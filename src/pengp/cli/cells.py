"""Cells of a table as numbers, with messages that name the row and the column."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.exceptions import InputError

#: What people write, in any case, where there is no value.
_MISSING = {"", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "missing", "-", "--", "?", "."}
_COUNTED = "rows are counted from 1 below the header"


def as_numbers(
    cells: Sequence[Any], *, source: str, column: str, first_row: int, decimal_comma: bool
) -> FloatArray:
    """Return cells [n] as finite floats, or raise an InputError about the first that is none.

    Parameters
    ----------
    cells : sequence of n cells
        Text, numbers or None; or a numpy array of numbers, nan where there is no value.
    source, column : str
        Names of file and column, for the message.
    first_row : int
        Number of the first row.
    decimal_comma : bool
        Whether 1,5 is a number.
    """
    try:
        values = _plain_floats(cells, decimal_comma)
    except ValueError:
        values = np.array([_number_or_nan(cell, decimal_comma) for cell in cells])
    bad = ~np.isfinite(values)
    if bad.any():
        k = int(bad.argmax())
        where = f"{source}: row {first_row + k}, column {column!r}"
        raise InputError(f"{where} {_complaint(cells[k])} ({_COUNTED}).")
    return values


def _plain_floats(cells: Sequence[Any], decimal_comma: bool) -> FloatArray:
    """Return cells [n] as floats by the fast way, or raise a ValueError."""
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "iuf":
        return cells.astype(np.float64)
    kinds = set(map(type, cells))
    text = "".join(cells) if kinds == {str} else ""
    if not kinds <= {str, int, float} or (text == "" and str in kinds) or "_" in text:
        raise ValueError  # 1_000 is a number for Python only
    if decimal_comma and "," in text:
        cells = [cell if "." in cell else cell.replace(",", ".", 1) for cell in cells]
    return np.array(list(map(float, cells)))


def _number_or_nan(cell: Any, decimal_comma: bool) -> float:
    """Return the number in a cell, nan if there is none."""
    if isinstance(cell, str):
        text = cell.strip()
        if decimal_comma and "." not in text:
            text = text.replace(",", ".", 1)
        cell = "" if "_" in text else text
    try:
        return float("nan") if isinstance(cell, bool) else float(cell)
    except (TypeError, ValueError):
        return float("nan")


def _complaint(cell: Any) -> str:
    """Say what is wrong with a cell that holds no finite number, and what to do."""
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return "is empty; fill the value in or delete the row"
    if str(cell).strip().lower() in _MISSING:
        return f"has no value, only {str(cell)!r}; fill the value in or delete the row"
    try:
        if np.isinf(float(cell)):
            return f"holds {str(cell)!r}; only finite numbers can be used"
    except (TypeError, ValueError):
        pass
    text = str(cell)
    shown = text if len(text) <= 40 else text[:37] + "..."
    return f"holds {shown!r}, which is not a number; correct it or leave the column out"
