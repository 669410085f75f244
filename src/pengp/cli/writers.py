"""Writers of the file formats, each fed frame by frame and through a temporary file."""

import contextlib
import csv
import io
import itertools
import re
import shutil
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from pengp._core.files import replacing, writing_to
from pengp.cli.printing import note, visible
from pengp.cli.rows import Dialect
from pengp.exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd


_EXCEL_ROWS = 1_048_576
#: Text that spreadsheets compute: it begins with =, @, + or -, and is no number.
_FORMULA = re.compile(r"\s*(?:[=@]|[+-](?![\d.,' ]*(?:[eE][+-]?\d+)?\s*$|-*\s*$|inf|nan))")


class TableWriter:
    """A table that is written frame by frame; use it in a ``with`` block.

    The file appears, whole, when the block ends without an exception; before that, nothing is left
    at its place. Numbers in CSV, TSV and Parquet read back to the same bits.

    Parameters
    ----------
    path : str or Path
        Where to write: .csv, .tsv, .parquet or .xlsx (anything else is CSV); "-" is standard
        output, as CSV.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = str(path)

    def __enter__(self) -> Self:
        self._opened = _open(self._path)
        self._rows = self._opened.__enter__()
        return self

    def write(self, frame: "pd.DataFrame", dialect: Dialect | None = None) -> None:
        """Append the frame's rows, without its index; every frame has the same columns.

        Separated values are written in the dialect that goes with the first frame.
        """
        self._rows.write(frame, dialect or Dialect())

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self._opened.__exit__(kind, error, where)


class _Rows(Protocol):
    """What writes the frames of one format."""

    def write(self, frame: "pd.DataFrame", dialect: Dialect) -> None:
        """Append the frame's rows."""

    def close(self) -> None:
        """Finish the file."""


@contextlib.contextmanager
def _open(path: str) -> Iterator[_Rows]:
    """Yield the writer for a path."""
    if path == "-":
        with writing_to("standard output"), contextlib.closing(_standard_output()) as rows:
            yield rows
    else:
        with replacing(path) as place, contextlib.closing(_file(path, place)) as rows:
            yield rows


def _standard_output() -> _Rows:
    """Return a writer to standard output, whatever the terminal's encoding."""
    sys.stdout.flush()
    opened = _Screen if sys.stdout.isatty() else io.TextIOWrapper
    return _Separated(
        "standard output",
        lambda encoding: opened(sys.stdout.buffer, encoding, newline=""),
        finish=lambda stream: stream.detach(),
    )


def _file(path: str, place: Path) -> _Rows:
    """Return a writer to a place, in the format of a path's extension."""
    extension = Path(path).suffix.lower()
    if extension in (".parquet", ".pq"):
        return _Parquet(path, place)
    if extension == ".xlsx":
        return _Excel(path, place)
    if extension in (".xls", ".xlsm", ".ods"):
        raise InputError(f"{path}: this format cannot be written; choose .xlsx or .csv.")
    return _Separated(
        path,
        lambda encoding: place.open("w", encoding=encoding, newline=""),
        finish=lambda stream: stream.close(),
    )


class _Screen(io.TextIOWrapper):
    """A terminal, which is not to obey what stands in a table."""

    def write(self, text: str) -> int:
        """Write text with its control characters escaped."""
        return super().write(visible(text))


class _Separated:
    """Rows of separated values; floats in the shortest form that reads back to the same bits."""

    def __init__(
        self,
        path: str,
        opened: "Callable[[str], io.TextIOWrapper]",
        *,
        finish: "Callable[[io.TextIOWrapper], Any]",
    ) -> None:
        self._path, self._open, self._finish = path, opened, finish
        self._stream: io.TextIOWrapper | None = None
        self._formulas = 0

    def write(self, frame: "pd.DataFrame", dialect: Dialect) -> None:
        """Append the frame's rows, below the names if they are the first."""
        try:
            if self._stream is None:
                self._begin(frame.columns, dialect)
            columns = [self._cells(frame.iloc[:, k]) for k in range(frame.shape[1])]
            self._rows.writerows(zip(*columns, strict=True))
        except UnicodeEncodeError as error:
            raise InputError(
                f"{self._path}: {error.object[error.start : error.end]!r} cannot be written in "
                f"{self._dialect.encoding}, the encoding of the table; save that as UTF-8."
            ) from error

    def _begin(self, names: "Iterable[Any]", dialect: Dialect) -> None:
        """Write the names; files called .tsv have tabs."""
        self._dialect, self._stream = dialect, self._open(dialect.encoding)
        tabs = Path(self._path).suffix.lower() in (".tsv", ".tab")
        delimiter = "\t" if tabs else dialect.delimiter
        self._rows = csv.writer(self._stream, delimiter=delimiter, lineterminator="\n")
        self._rows.writerow(self._inert(list(names)))

    def _cells(self, column: "pd.Series[Any]") -> list[Any]:
        """Return a column's cells, floats with the decimal mark."""
        cells = column.tolist()
        if self._dialect.decimal == "," and column.dtype.kind in "fO":
            cells = [repr(c).replace(".", ",") if isinstance(c, float) else c for c in cells]
        return cells if column.dtype.kind in "biuf" else self._inert(cells)

    def _inert(self, cells: list[Any]) -> list[Any]:
        """Return cells, with a mark before text that a spreadsheet would compute."""
        for k, cell in enumerate(cells):
            if isinstance(cell, str) and _FORMULA.match(cell):
                cells[k] = f"'{cell}"
                self._formulas += 1
        return cells

    def close(self) -> None:
        """Write what is buffered."""
        if self._stream is not None:
            self._finish(self._stream)
        if self._formulas:
            several = "s begin" if self._formulas > 1 else " begins"
            note(
                f"{self._formulas:,} cell{several} like a formula and got a ' in front, so that no "
                "spreadsheet computes it."
            )


class _Parquet:
    """Rows of a Parquet file, whose types are those of the first frame."""

    def __init__(self, path: str, place: Path) -> None:
        try:
            import pyarrow.parquet
        except ImportError as error:
            raise _needs(path, "pyarrow", "formats") from error
        self._arrow, self._path, self._place = pyarrow, path, place
        self._file: Any = None

    def write(self, frame: "pd.DataFrame", dialect: Dialect) -> None:
        """Append the frame's rows."""
        try:
            rows = self._arrow.Table.from_pandas(frame, preserve_index=False)
            if self._file is not None:
                rows = rows.cast(self._file.schema)  # from_pandas(schema=) would make 2 of 2.5
        except (self._arrow.ArrowException, OverflowError) as error:
            raise InputError(
                f"{self._path}: a column holds values of several kinds, which a Parquet file "
                "cannot; write a .csv file instead."
            ) from error
        if self._file is None:
            self._file = self._arrow.parquet.ParquetWriter(self._place, rows.schema)
        self._file.write_table(rows)

    def close(self) -> None:
        """Write the file's footer."""
        if self._file is not None:
            self._file.close()


class _Excel:
    """Rows of a workbook with one sheet, which is saved at the end."""

    def __init__(self, path: str, place: Path) -> None:
        try:
            import openpyxl
        except ImportError as error:
            raise _needs(path, "openpyxl", "cli") from error
        self._place, self._book = place, openpyxl.Workbook(write_only=True)
        self._sheet = self._book.create_sheet("pengp")
        self._path, self._openpyxl, self._rows = path, openpyxl, 0

    def write(self, frame: "pd.DataFrame", dialect: Dialect) -> None:
        """Append the frame's rows, below the names if they are the first."""
        rows = frame.itertuples(index=False, name=None)
        if not self._rows:
            rows = itertools.chain([tuple(frame.columns)], rows)
        for row in rows:
            self._rows += 1
            if self._rows > _EXCEL_ROWS:
                raise InputError(
                    f"{self._path}: an Excel sheet holds {_EXCEL_ROWS - 1:,} rows below the names; "
                    "write a .csv file instead."
                )
            self._sheet.append([self._cell(value) for value in row])

    def _cell(self, value: Any) -> Any:
        """Return a value as it is to stand in the sheet: text that begins with = is no formula."""
        if isinstance(value, int) and abs(value) > sys.float_info.max:
            value = str(value)  # hundreds of digits, which no cell holds as a number
        if not isinstance(value, str):
            return value
        if self._openpyxl.cell.cell.ILLEGAL_CHARACTERS_RE.search(value):
            raise InputError(
                f"{self._path}: {value!r} has a control character, which an Excel file cannot "
                "hold; write a .csv file instead."
            )
        cell = self._openpyxl.cell.WriteOnlyCell(self._sheet, value)
        cell.data_type = "s"
        return cell

    def close(self) -> None:
        """Save the workbook, in memory first: an archive on a full disk would complain twice."""
        from openpyxl.writer.excel import ExcelWriter

        with io.BytesIO() as content:
            with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
                ExcelWriter(self._book, archive).save()
            content.seek(0)
            with self._place.open("wb") as file:
                shutil.copyfileobj(content, file)  # a view of the buffer would outlive an error


def _needs(path: str, package: str, extra: str) -> InputError:
    """Return the error for a format whose package is not installed."""
    return InputError(
        f'writing {path} needs {package}; install it with: pip install "pengp[{extra}]"'
    )
