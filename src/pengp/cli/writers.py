"""Writers of the file formats, each fed frame by frame and through a temporary file."""

import contextlib
import csv
import io
import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Protocol, Self

from pengp._core.files import replacing, writing_to
from pengp.exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd


_EXCEL_ROWS = 1_048_576


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

    def write(self, frame: "pd.DataFrame") -> None:
        """Append the frame's rows, without its index; every frame has the same columns."""
        self._rows.write(frame)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self._opened.__exit__(kind, error, where)


class _Rows(Protocol):
    """What writes the frames of one format."""

    def write(self, frame: "pd.DataFrame") -> None:
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
    """Return a writer to standard output in UTF-8, whatever the terminal's encoding."""
    sys.stdout.flush()
    stream = io.TextIOWrapper(sys.stdout.buffer, "utf-8", newline="")
    return _Separated(stream, ",", finish=stream.detach)


def _file(path: str, place: Path) -> _Rows:
    """Return a writer to a place, in the format of a path's extension."""
    extension = Path(path).suffix.lower()
    if extension in (".parquet", ".pq"):
        return _Parquet(path, place)
    if extension == ".xlsx":
        return _Excel(path, place)
    if extension in (".xls", ".xlsm", ".ods"):
        raise InputError(f"{path}: this format cannot be written; choose .xlsx or .csv.")
    stream = place.open("w", encoding="utf-8", newline="")
    return _Separated(stream, "\t" if extension in (".tsv", ".tab") else ",", finish=stream.close)


class _Separated:
    """Rows of separated values; floats in the shortest form that reads back to the same bits."""

    def __init__(self, stream: IO[str], delimiter: str, *, finish: Callable[[], Any]) -> None:
        self._finish = finish
        self._rows = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
        self._started = False

    def write(self, frame: "pd.DataFrame") -> None:
        """Append the frame's rows, below the names if they are the first."""
        if not self._started:
            self._rows.writerow(frame.columns)
            self._started = True
        columns = [frame.iloc[:, k].tolist() for k in range(frame.shape[1])]
        self._rows.writerows(zip(*columns, strict=True))

    def close(self) -> None:
        """Write what is buffered."""
        self._finish()


class _Parquet:
    """Rows of a Parquet file, whose types are those of the first frame."""

    def __init__(self, path: str, place: Path) -> None:
        try:
            import pyarrow.parquet
        except ImportError as error:
            raise _needs(path, "pyarrow") from error
        self._arrow, self._path, self._place = pyarrow, path, place
        self._file: Any = None

    def write(self, frame: "pd.DataFrame") -> None:
        """Append the frame's rows."""
        try:
            rows = self._arrow.Table.from_pandas(frame, preserve_index=False)
            if self._file is not None:
                rows = rows.cast(self._file.schema)  # from_pandas(schema=) would make 2 of 2.5
        except self._arrow.ArrowException as error:
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
            raise _needs(path, "openpyxl") from error
        self._place, self._book = place, openpyxl.Workbook(write_only=True)
        self._sheet = self._book.create_sheet("pengp")
        self._path, self._openpyxl, self._rows = path, openpyxl, 0

    def write(self, frame: "pd.DataFrame") -> None:
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
        """Save the workbook."""
        content = io.BytesIO()  # an archive on a full disk would complain a second time, later
        self._book.save(content)
        self._place.write_bytes(content.getbuffer())


def _needs(path: str, package: str) -> InputError:
    """Return the error for a format whose package is not installed."""
    return InputError(
        f'writing {path} needs {package}; install it with: pip install "pengp[formats]"'
    )
