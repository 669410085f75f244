"""Readers of the file formats: each yields blocks of rows as columns of unconverted cells."""

import itertools
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pengp.cli.headers import HEAD_ROWS, header_row, kept_columns, names_in, note_titles
from pengp.cli.printing import note
from pengp.cli.reading import Reading
from pengp.cli.rows import Block, Dialect, blocks_of_rows
from pengp.cli.separated import text_blocks
from pengp.exceptions import FileError, InputError

_EXCEL = (".xlsx", ".xlsm")


def blocks_of(path: str, source: str, rows: int, reading: Reading) -> Iterator[Block]:
    """Yield the table in blocks of so many rows, by the file's extension; - is standard input.

    There is at least one block, empty if there are no rows.
    """
    ignore, extension = reading.ignored, Path(path).suffix.lower()
    if reading.sheet is not None and extension not in _EXCEL:
        raise InputError(f"--sheet goes with Excel files (.xlsx, .xlsm), and {source} is none.")
    if path == "-":
        if sys.stdin is None:
            raise FileError("cannot read standard input: it is closed; name a file instead of -.")
        yield from text_blocks(sys.stdin.buffer, source, rows, ignore)
        return
    file = Path(path)
    try:
        if file.is_dir():
            raise FileError(f"cannot read {path}: it is a directory; name a file in it.")
        if extension in (".parquet", ".pq"):
            yield from _parquet_blocks(file, source, rows, ignore)
        elif extension in _EXCEL:
            yield from _excel_blocks(file, source, rows, reading)
        elif extension in (".xls", ".ods", ".numbers"):
            raise FileError(f"cannot read {path}: save it as .xlsx or .csv first.")
        else:
            with file.open("rb", buffering=1 << 16) as stream:
                yield from text_blocks(stream, source, rows, ignore)
    except FileNotFoundError as error:
        raise FileError(f"cannot read {path}: there is no such file.") from error
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}.") from error


def check_there(path: str) -> None:
    """Raise a FileError about a table that is not there; - is standard input."""
    if path != "-" and not Path(path).exists():
        raise FileError(f"cannot read {path}: there is no such file.")


def _parquet_blocks(file: Path, source: str, rows: int, ignore: Sequence[str]) -> Iterator[Block]:
    """Yield the blocks of a Parquet file, without an index that pandas stored in it."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise InputError(
            f'reading {source} needs pyarrow; install it with: pip install "pengp[formats]"'
        ) from error
    try:
        with pq.ParquetFile(file) as parquet:
            stored = [n for n in parquet.schema_arrow.names if not re.fullmatch(r"__\w+__", n)]
            kept = [stored[k] for k in kept_columns(names_in(stored), source, ignore)]
            names, empty = names_in(kept), True
            for batch in parquet.iter_batches(rows, columns=kept):
                yield Block(names, [_arrow_cells(column) for column in batch.columns], Dialect())
                empty = False
            if empty:
                yield Block(names, [()] * len(names), Dialect())
    except pa.ArrowException as error:
        raise FileError(
            f"{source} is not a Parquet file that can be read: {str(error).rstrip('.')}."
        ) from error


def _arrow_cells(column: Any) -> Sequence[Any]:
    """Return an Arrow column as an array where it holds numbers, else as a list."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_floating(kind) or (pa.types.is_integer(kind) and not column.null_count):
        return column.to_numpy(zero_copy_only=False)
    return column.to_pylist()


def _excel_blocks(file: Path, source: str, rows: int, reading: Reading) -> Iterator[Block]:
    """Yield a sheet of a workbook, which is read whole."""
    sheet = _sheet(file, source, reading.sheet)
    above = header_row(sheet[:HEAD_ROWS])
    names = names_in(sheet[above] if sheet else [])
    note_titles(sheet[:above], names, source)
    body = ((*row, *[None] * (len(names) - len(row))) for row in sheet[above + 1 :])
    yield from blocks_of_rows(
        names, body, source=source, rows=rows, ignore=reading.ignored, dialect=Dialect()
    )


def _sheet(file: Path, source: str, wanted: str | None) -> list[tuple[Any, ...]]:
    """Return the rows of a sheet, from the first that is not blank."""
    try:
        import openpyxl
    except ImportError as error:
        raise InputError(
            f'reading {source} needs openpyxl; install it with: pip install "pengp[cli]"'
        ) from error
    try:
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        chosen = _chosen(book.worksheets, source, wanted)
        chosen.reset_dimensions()  # some programs store a wrong size of the table
        rows = [tuple(row) for row in chosen.iter_rows(values_only=True)]
        book.close()
    except (OSError, InputError):
        raise
    except Exception as error:  # a broken workbook fails in openpyxl in many ways
        raise FileError(f"{source} is not an Excel file that can be read: {error}.") from error
    return list(itertools.dropwhile(lambda row: all(cell is None for cell in row), rows))


def _chosen(sheets: Sequence[Any], source: str, wanted: str | None) -> Any:
    """Return the sheet with a name or a number from 1, by default the first."""
    titles = [sheet.title for sheet in sheets]
    known = ", ".join(map(repr, titles))
    if wanted is None:
        if len(sheets) > 1:
            note(f"{source} has the sheets {known}; the first is read, --sheet chooses another.")
        return sheets[0]
    if wanted in titles:
        return sheets[titles.index(wanted)]
    if wanted.isdecimal() and 1 <= int(wanted) <= len(sheets):
        return sheets[int(wanted) - 1]
    raise InputError(f"{source} has no sheet {wanted!r}; its sheets are: {known}.")
