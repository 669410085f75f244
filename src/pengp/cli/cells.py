"""Cells of a table as numbers, with messages that name the row and the column."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.cli.reading import Reading
from pengp.exceptions import InputError

#: What people write, in any case, where there is no value.
_MISSING = {"", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "missing", "-", "--", "?", "."}
COUNTED = "rows are counted from 1 below the header"

#: Numbers with marks that may stand between thousands, or before decimals; and without marks.
_GROUPED = {mark: re.compile(rf"[+-]?[1-9]\d{{0,2}}([{mark}]\d{{3}})+") for mark in ",."}
_DECIMAL = {mark: re.compile(rf"[+-]?(\d+[{mark}]\d*|[{mark}]\d+)([eE][+-]?\d+)?") for mark in ",."}
_HUNDREDS = re.compile(r"[+-]?[1-9]\d\d")
_BLANKS = dict.fromkeys(map(ord, "\u00a0\u2009\u202f"), " ")  # that stand between thousands


@dataclass(eq=False)
class Marks:
    """The marks in the numbers of a file.

    Attributes
    ----------
    decimal : str
        The decimal mark, or ".," where either may be met, but not both.
    thousands : str
        The mark between thousands, empty if there is none.
    met : dict
        A cell for each decimal mark that was met so far, where either may be.
    settled : bool
        Whether the mark that was met is known to stand before decimals.
    """

    decimal: str = "."
    thousands: str = ""
    met: dict[str, str] = field(default_factory=dict)
    settled: bool = False

    @classmethod
    def of(cls, delimiter: str, reading: Reading) -> "Marks":
        """Return the marks of a file with this mark between its columns."""
        thousands = reading.thousands or ""
        other = {",": ".", ".": ","}.get(thousands)
        found = "." if delimiter == "," else ".,"
        return cls(reading.decimal or other or found, thousands, settled=bool(thousands))

    def plain(self, text: str) -> str:
        """Return a number as Python writes it; what is none, though Python takes it, is empty."""
        text = text.strip()
        if "_" in text:  # 1_000 is a number for Python only
            return ""
        if self.thousands:
            text = self._ungrouped(text.translate(_BLANKS))
        if self.decimal == ",":
            return "" if "." in text else text.replace(",", ".", 1)
        return text.replace(",", ".", 1) if "," in self.decimal and "." not in text else text

    def _ungrouped(self, text: str) -> str:
        """Return a number without the marks between thousands; what has them elsewhere is empty."""
        grouped = rf"[+-]?\d{{1,3}}(?:{re.escape(self.thousands)}\d{{3}})+"
        match = re.fullmatch(rf"({grouped})((?:[{self.decimal}]\d*)?(?:[eE][+-]?\d+)?)", text)
        if match:
            return match[1].replace(self.thousands, "") + match[2]
        return "" if self.thousands in text else text

    def see(self, columns: Iterable[Sequence[str]]) -> None:
        """Remember a cell for each decimal mark, where either may be met."""
        self.met.update(
            {mark: cell for cells in columns for cell in cells for mark in ",." if mark in cell}
        )

    def ambiguous(self, cells: Sequence[str], table: Iterable[Sequence[Any]]) -> int | None:
        """Return the place of the first cell whose mark may stand between thousands, or None.

        There is none if a cell anywhere in the table has the mark before decimals. A point raises
        no doubt unless it would be the only way to write what is more than the other cells.
        """
        mark = next(iter(self.met), "")
        places = [k for k, cell in enumerate(cells) if mark and mark in cell]
        if self.settled or not places or (mark == "." and not _seems_grouped(cells)):
            return None
        texts = (cell.strip() for column in table for cell in column if isinstance(cell, str))
        self.settled = any(
            _DECIMAL[mark].fullmatch(text) and not _GROUPED[mark].fullmatch(text) for text in texts
        )
        return None if self.settled else places[0]


def _seems_grouped(cells: Sequence[str]) -> bool:
    """Tell whether cells are whole numbers of hundreds, and smaller ones with three decimals."""
    texts = [cell.strip() for cell in cells]
    whole, pointed = ([t for t in texts if ("." in t) == point] for point in (False, True))
    if not whole or not all(map(_HUNDREDS.fullmatch, whole)):
        return False
    size = max(abs(float(text)) for text in pointed)
    grouped = all(map(_GROUPED["."].fullmatch, pointed))
    return grouped and size < min(abs(float(text)) for text in whole)


def as_numbers(
    cells: Sequence[Any], *, source: str, column: str, first_row: int, marks: Marks
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
    marks : Marks
        How numbers are written.
    """
    try:
        values = _plain_floats(cells, marks)
    except (ValueError, OverflowError):
        values = np.array([_number_or_nan(cell, marks) for cell in cells])
    bad = ~np.isfinite(values)
    if bad.any():
        k = int(bad.argmax())
        where = f"{source}: row {first_row + k}, column {column!r}"
        raise InputError(f"{where} {_complaint(cells[k])} ({COUNTED}).")
    return values


def is_missing(cell: Any) -> bool:
    """Tell whether a cell holds no value, or one of the words that people write for none."""
    return cell is None or str(cell).strip().lower() in _MISSING


def share_of_text(cells: Sequence[Any], marks: Marks) -> float:
    """Return the share of text that is no number among the cells that hold a value."""
    if isinstance(cells, np.ndarray):
        return 0.0
    given = [cell for cell in cells if not is_missing(cell)]
    texts = [c for c in given if isinstance(c, str) and np.isnan(_number_or_nan(c, marks))]
    grouped = sum(map(bool, map(_GROUPED[","].fullmatch, texts)))
    return (len(texts) - grouped) / max(len(given), 1)


def _plain_floats(cells: Sequence[Any], marks: Marks) -> FloatArray:
    """Return cells [n] as floats by the fast way, or raise a ValueError."""
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "iuf":
        return cells.astype(np.float64)
    kinds = set(map(type, cells))
    text = "".join(cells) if kinds == {str} else ""
    unusual = "_" in text or (marks.decimal == "," and "." in text) or marks.thousands
    if not kinds <= {str, int, float} or (text == "" and str in kinds) or unusual:
        raise ValueError
    if "," in marks.decimal and "," in text:
        cells = [cell if "." in cell else cell.replace(",", ".", 1) for cell in cells]
    return np.array(list(map(float, cells)))


def _number_or_nan(cell: Any, marks: Marks) -> float:
    """Return the number in a cell, nan if there is none."""
    if isinstance(cell, str):
        cell = marks.plain(cell)
    try:
        return float("nan") if isinstance(cell, bool) else float(cell)
    except (TypeError, ValueError):
        return float("nan")
    except OverflowError:  # a whole number of hundreds of digits
        return float("inf")


def _complaint(cell: Any) -> str:
    """Say what is wrong with a cell that holds no finite number, and what to do."""
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return "is empty; fill the value in or delete the row"
    if str(cell).strip().lower() in _MISSING:
        return f"has no value, only {str(cell)!r}; fill the value in or delete the row"
    try:
        infinite = np.isinf(float(cell))
    except (TypeError, ValueError):
        infinite = False
    except OverflowError:
        infinite = True
    text = str(cell)
    shown = text if len(text) <= 40 else text[:37] + "..."
    if infinite:
        return f"holds {shown!r}; only finite numbers can be used"
    if _GROUPED[","].fullmatch(text.strip()):
        return (
            f"holds {shown!r}; write it without a comma, or say with --thousands , or --decimal , "
            "what the comma means"
        )
    return f"holds {shown!r}, which is not a number; correct it, or leave out the row or the column"
