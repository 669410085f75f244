"""Tables on disk: read CSV, TSV, Parquet and Excel with messages that name the cell; write them.

`read_table` reads a whole table, `iter_tables` a long one piece by piece; both give `Table`, whose
`numbers` returns a checked frame. `TableWriter` takes frames piece by piece. The format goes by the
extension; "-" is standard input or output, as CSV.
"""

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pengp.cli.readers import blocks_of
from pengp.cli.writers import TableWriter
from pengp.exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Table", "TableWriter", "check_column", "iter_tables", "read_table"]

#: Rows read at a time by default.
CHUNK_ROWS = 50_000


@dataclass(frozen=True, eq=False)
class Table:
    """A table, or some consecutive rows of one, as read.

    Attributes
    ----------
    source : str
        Name of the file, for messages.
    names : list of str
        Names of the columns, as they stand in the file.
    cells : list of sequences
        The cells of each column: text, numbers or None.
    first_row : int
        Number of the first row, counted from 1 below the header.
    decimal_comma : bool
        Whether 1,5 is a number here.
    marks : dict
        A cell for each decimal mark that was met, in all pieces of the file so far.
    """

    source: str
    names: list[str]
    cells: list[Sequence[Any]]
    first_row: int = 1
    decimal_comma: bool = False
    marks: dict[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.cells[0])

    def numbers(self, columns: Sequence[str]) -> "pd.DataFrame":
        """Return some columns as a frame of finite floats, in this order.

        The index is the rows' numbers. An InputError names the column that does not exist and the
        closest one that does, or the first cell that holds no finite number.
        """
        import pandas as pd

        from pengp.cli.cells import as_numbers

        values = {
            name: as_numbers(
                self.cells[check_column(name, self.names, self.source, taken=columns)],
                source=self.source,
                column=name,
                first_row=self.first_row,
                decimal_comma=self.decimal_comma,
            )
            for name in columns
        }
        if self.decimal_comma:
            self._check_marks(columns)
        return pd.DataFrame(values, index=self.rows)

    def _check_marks(self, columns: Sequence[str]) -> None:
        """Raise an InputError if numbers have a comma here and a point there."""
        cells = (cell for name in columns for cell in self.cells[self.names.index(name)])
        self.marks.update({mark: cell for cell in cells for mark in ",." if mark in cell})
        if len(self.marks) > 1:
            raise InputError(
                f"{self.source}: {self.marks[',']!r} has a comma and {self.marks['.']!r} a point; "
                "write all decimals with the same mark, and no mark between thousands."
            )

    def raw(self, columns: Sequence[str]) -> "pd.DataFrame":
        """Return some columns as a frame of cells as they were read, to be carried along."""
        import pandas as pd

        cells = {n: self.cells[check_column(n, self.names, self.source)] for n in columns}
        series = {name: pd.Series(list(c), self.rows, dtype=object) for name, c in cells.items()}
        return pd.DataFrame(series, index=self.rows)

    @property
    def rows(self) -> range:
        """Numbers of the rows."""
        return range(self.first_row, self.first_row + len(self))


def read_table(path: str | Path) -> Table:
    """Return a whole table that has at least one row."""
    return next(iter_tables(path, chunk_rows=1 << 62))


def iter_tables(path: str | Path, *, chunk_rows: int = CHUNK_ROWS) -> Iterator[Table]:
    """Yield a table piece by piece; an InputError if it has no rows.

    Excel files are held in memory as a whole, all others piece by piece.
    """
    source = "standard input" if str(path) == "-" else Path(path).name
    first_row, marks = 1, dict[str, str]()
    for names, columns, decimal_comma in blocks_of(str(path), source, chunk_rows):
        piece = Table(source, names, columns, first_row, decimal_comma, marks)
        if not len(piece):
            raise InputError(f"{source} has a header but no rows below it; add the runs.")
        yield piece
        first_row += len(piece)


def check_column(name: str, names: Sequence[str], source: str, *, taken: Sequence[str] = ()) -> int:
    """Return the place of a column, or raise an InputError that suggests the closest name.

    Names that are ``taken``, since they are asked for as well, are not suggested.
    """
    if name in names:
        return list(names).index(name)
    lower = {other.lower(): other for other in names if other not in taken}
    close = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.5)
    hint = f"did you mean {lower[close[0]]!r}? Its" if close else "its"
    known = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    marks = "" if len(names) > 1 else " Columns are separated by commas, semicolons or tabs."
    raise InputError(f"{source} has no column {name!r}; {hint} columns are: {known}.{marks}")
