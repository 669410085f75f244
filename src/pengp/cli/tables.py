"""Tables on disk: read CSV, TSV, Parquet and Excel with messages that name the cell; write them.

`read_table` reads a whole table, `iter_tables` a long one piece by piece; both give `Table`, whose
`numbers` returns a checked frame. `TableWriter` takes frames piece by piece. The format goes by the
extension; "-" is standard input or output, as CSV.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pengp.cli.headers import unknown_column
from pengp.cli.readers import blocks_of
from pengp.cli.reading import Reading
from pengp.cli.rows import Dialect
from pengp.cli.writers import TableWriter
from pengp.exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd

    from pengp.cli.cells import Marks

__all__ = ["Table", "TableWriter", "iter_tables", "read_table"]

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
    marks : Marks
        How numbers are written, and what was met in all pieces of the file so far.
    dialect : Dialect
        How the file is written.
    ignored : sequence of str
        Names of the columns that were left out.
    """

    source: str
    names: list[str]
    cells: list[Sequence[Any]]
    first_row: int
    marks: "Marks"
    dialect: Dialect
    ignored: Sequence[str] = ()

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

        cells = {name: self.cells[self._place(name, taken=columns)] for name in columns}
        values = {
            name: as_numbers(
                column,
                source=self.source,
                column=name,
                first_row=self.first_row,
                marks=self.marks,
            )
            for name, column in cells.items()
        }
        if self.marks.decimal == ".,":
            self._check_marks(cells)
        return pd.DataFrame(values, index=self.rows)

    def _check_marks(self, columns: Mapping[str, Sequence[str]]) -> None:
        """Raise an InputError if numbers have both marks, or one that may mean two things."""
        from pengp.cli.cells import COUNTED

        self.marks.see(columns.values())
        if len(self.marks.met) > 1:
            comma, point = (self.marks.met[mark] for mark in ",.")
            raise InputError(
                f"{self.source}: {comma!r} has a comma and {point!r} a point; write all decimals "
                "with the same mark, and no mark between thousands."
            )
        for name, cells in columns.items():
            k = self.marks.ambiguous(cells, self.cells)
            if k is not None:
                text, mark = cells[k].strip(), next(iter(self.marks.met))
                raise InputError(
                    f"{self.source}: row {self.first_row + k}, column {name!r} holds {text!r}, "
                    f"which is {text.replace(mark, '')} or {text.replace(mark, '.')} ({COUNTED}); "
                    f"say with --thousands {mark} or --decimal {mark} which it is."
                )

    def _place(self, name: str, taken: Sequence[str] = ()) -> int:
        """Return the place of a column, or raise an InputError that suggests the closest name."""
        if name in self.ignored:
            raise InputError(f"the column {name!r} is needed; do not give --ignore {name}.")
        if name not in self._places:
            raise unknown_column(name, self.names, self.source, taken=taken)
        return self._places[name]

    @cached_property
    def _places(self) -> dict[str, int]:
        """Places of the columns by name."""
        return {name: k for k, name in enumerate(self.names)}

    def is_text(self, name: str) -> bool:
        """Return whether most cells of a column that hold anything are text and no number."""
        from pengp.cli.cells import share_of_text

        return share_of_text(self.cells[self._place(name)], self.marks) > 0.5

    def column(self, name: str) -> Sequence[Any]:
        """Return the cells of a column as they were read."""
        return self.cells[self._place(name)]

    def with_column(self, name: str, cells: Sequence[Any]) -> "Table":
        """Return the table with other cells in a column."""
        place = self._place(name)
        return replace(self, cells=[*self.cells[:place], cells, *self.cells[place + 1 :]])

    def raw(self, columns: Sequence[str]) -> "pd.DataFrame":
        """Return some columns as a frame of cells as they were read, to be carried along."""
        import pandas as pd

        cells = {name: self.cells[self._place(name)] for name in columns}
        series = {name: pd.Series(list(c), self.rows, dtype=object) for name, c in cells.items()}
        return pd.DataFrame(series, index=self.rows)

    def written(self) -> Dialect:
        """Return how numbers are written beside those that were read so far.

        Semicolons are for those who write decimals with a comma, unless a point was met.
        """
        decimal = self.marks.decimal
        if decimal == ".,":
            unmet = "," if self.dialect.delimiter == ";" else "."
            decimal = next(iter(self.marks.met), unmet)
        return self.dialect._replace(decimal=decimal)

    @property
    def rows(self) -> range:
        """Numbers of the rows."""
        return range(self.first_row, self.first_row + len(self))


def read_table(path: str | Path, reading: Reading | None = None) -> Table:
    """Return a whole table that has at least one row."""
    return next(iter_tables(path, reading, chunk_rows=1 << 62))


def iter_tables(
    path: str | Path, reading: Reading | None = None, *, chunk_rows: int = CHUNK_ROWS
) -> Generator[Table, None, None]:
    """Yield a table piece by piece; an InputError if it has no rows.

    Excel files are held in memory as a whole, all others piece by piece.
    """
    from pengp.cli.cells import Marks

    source = "standard input" if str(path) == "-" else Path(path).name
    reading = reading or Reading()
    first_row, marks = 1, None
    for names, columns, dialect in blocks_of(str(path), source, chunk_rows, reading):
        marks = marks or Marks.of(dialect.delimiter, reading)
        piece = Table(source, names, columns, first_row, marks, dialect, reading.ignored)
        if not len(piece):
            raise InputError(f"{source} has a header but no rows below it; add the runs.")
        yield piece
        first_row += len(piece)
