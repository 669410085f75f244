"""Names of a table's columns: found below title rows, and checked."""

import csv
import difflib
import itertools
import re
from collections.abc import Sequence
from typing import Any

from pengp.cli.printing import note
from pengp.exceptions import InputError

__all__ = [
    "HEAD_ROWS",
    "filled",
    "header_row",
    "is_filled",
    "kept_columns",
    "names_in",
    "note_titles",
    "unknown_column",
]

#: Rows among which the header is looked for.
HEAD_ROWS = 20

_NUMBER = re.compile(r"[+-]?[\d.,' ]*\d[\d.,' ]*([eE][+-]?\d+)?")


def is_filled(cell: Any) -> bool:
    """Return whether a cell holds anything but blanks."""
    return bool(cell.strip()) if isinstance(cell, str) else cell is not None


def filled(record: Sequence[Any]) -> int:
    """Count the cells of a row that hold anything."""
    return sum(map(is_filled, record))


def header_row(records: Sequence[Sequence[Any]]) -> int:
    """Return the place of the row that names the columns: the first, or one below a title.

    A row below others is the header if it has more cells than each of them, at least two, none of
    them a number, and the next row holds a number and no more cells.
    """
    rows = [(k, record) for k, record in enumerate(records) if filled(record)]
    most = 0
    for (k, record), (_, below) in itertools.pairwise(rows):
        names = filled(record)
        if (
            names > max(most, 1)
            and not any(map(_is_number, record))
            and any(map(_is_number, below))
            and filled(below) <= names
        ):
            return k
        most = max(most, names)
    return rows[0][0] if rows else 0


def _is_number(cell: Any) -> bool:
    """Return whether a cell looks like a number."""
    if isinstance(cell, str):
        return _NUMBER.fullmatch(cell.strip()) is not None
    return isinstance(cell, int | float)


def names_in(header: Sequence[Any]) -> list[str]:
    """Return a header's names, without empty cells that Excel keeps to the right of a table."""
    width = len(header)
    while width and header[width - 1] is None:
        width -= 1
    return ["" if name is None else str(name).strip() for name in header[:width]]


def note_titles(titles: Sequence[Sequence[Any]], names: Sequence[str], source: str) -> None:
    """Say that rows above the header were skipped, if there are any."""
    shown = ["; ".join(str(cell) for cell in row if is_filled(cell)) for row in titles]
    shown = [text for text in shown if text]
    if shown:
        few = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
        what = f"the row {shown[0]!r} stands" if len(shown) == 1 else f"{len(shown)} rows stand"
        read = "is" if len(shown) == 1 else "are"
        note(f"{source}: {what} above the names of the columns ({few}) and {read} not read.")


def kept_columns(names: Sequence[str], source: str, ignore: Sequence[str]) -> list[int]:
    """Return the places of the columns that are not ignored.

    An InputError is raised about one that cannot be used, or is to be ignored and not there.
    """
    if not names:
        raise InputError(f"{source} is empty; its first row must name the columns.")
    for name in ignore:
        if name not in names:
            raise unknown_column(name, names, source)
    place: dict[str, int] = {}
    for position, name in enumerate(names):
        if name in ignore:
            continue
        if not name:
            raise InputError(
                f"{source}: column {position + 1} has no name; name it in the first row, remove "
                'it, or leave it out with --ignore "".'
            )
        if name in place:
            raise InputError(
                f"{source}: columns {place[name] + 1} and {position + 1} are both named "
                f"{name!r}; rename one."
            )
        place[name] = position
    if not place:
        raise InputError(f"{source}: all columns are to be ignored; leave one.")
    return list(place.values())


def unknown_column(
    name: str, names: Sequence[str], source: str, *, taken: Sequence[str] = ()
) -> InputError:
    """Return the error about a name that no column has; it suggests the closest.

    Names that are ``taken``, since they are asked for as well, are not suggested.
    """
    lower = {other.lower(): other for other in names if other not in taken}
    close = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.5)
    hint = f"did you mean {lower[close[0]]!r}? Its" if close else "its"
    known = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    marks = "" if len(names) > 1 else " Columns are separated by commas, semicolons or tabs."
    return InputError(f"{source} has no column {name!r}; {hint} columns are: {known}.{marks}")


def names_in_option(inputs: str | None) -> list[str] | None:
    """Return the names in A,B,..."""
    if inputs is None:
        return None
    try:
        fields = next(csv.reader([inputs], skipinitialspace=True, strict=True))
    except csv.Error:  # a quote that is not closed, a line break outside quotes
        fields = []
    names = [name.strip() for name in fields]
    if not names or "" in names or len(set(names)) < len(names):
        raise InputError(f"--inputs {inputs}: write every name once, with commas between them.")
    return names
