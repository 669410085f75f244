"""Readers of the file formats: each yields blocks of rows as columns of unconverted cells."""

import codecs
import csv
import io
import itertools
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from pengp.exceptions import FileError, InputError

_DELIMITERS = (",", ";", "\t")
_SIGNATURES = {b"PK\x03\x04": "an Excel or zip file", b"PAR1": "a Parquet file", b"%PDF": "a PDF"}
_FORMATS = 'install it with: pip install "pengp[formats]"'


class Block(NamedTuple):
    """Some consecutive rows of a table."""

    names: list[str]
    columns: list[Sequence[Any]]  # a sequence of cells for every name
    decimal_comma: bool


def blocks_of(path: str, source: str, rows: int) -> Iterator[Block]:
    """Yield the table in blocks of so many rows, by the file's extension; - is standard input.

    There is at least one block, empty if there are no rows.
    """
    if path == "-":
        if sys.stdin is None:
            raise FileError("cannot read standard input: it is closed; name a file instead of -.")
        yield from _text_blocks(sys.stdin.buffer, source, rows)
        return
    file, extension = Path(path), Path(path).suffix.lower()
    try:
        if file.is_dir():
            raise FileError(f"cannot read {path}: it is a directory; name a file in it.")
        if extension in (".parquet", ".pq"):
            yield from _parquet_blocks(file, source, rows)
        elif extension in (".xlsx", ".xlsm"):
            yield from _excel_blocks(file, source, rows)
        elif extension in (".xls", ".ods", ".numbers"):
            raise FileError(f"cannot read {path}: save it as .xlsx or .csv first.")
        else:
            with file.open("rb") as stream:
                yield from _text_blocks(stream, source, rows)
    except FileNotFoundError as error:
        raise FileError(f"cannot read {path}: there is no such file.") from error
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}.") from error


def _cp1252(error: UnicodeError) -> tuple[str, int]:
    """Decode bytes that are no UTF-8 as Western European Windows wrote them."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("cp1252", errors="replace"), error.end


codecs.register_error("pengp-cp1252", _cp1252)


def _text_blocks(stream: IO[bytes], source: str, rows: int) -> Iterator[Block]:
    """Yield the blocks of a file of separated values."""
    buffered = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(stream)  # type: ignore[type-var]
    head = buffered.peek(4)[:4]
    if head in _SIGNATURES:
        raise FileError(f"{source} is {_SIGNATURES[head]}, not text; give it the right extension.")
    utf16 = head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    encoding = "utf-16" if utf16 else "utf-8-sig"
    text = io.TextIOWrapper(buffered, encoding, errors="pengp-cp1252", newline="")
    try:
        yield from _separated_blocks(text, source, rows)
    except (csv.Error, UnicodeError) as error:
        raise FileError(f"{source} is not a table of separated values: {error}.") from error
    finally:
        text.detach()  # whoever opened the stream closes it


def _separated_blocks(text: Iterable[str], source: str, rows: int) -> Iterator[Block]:
    """Yield the blocks of lines of separated values."""
    lines = iter(text)
    first = next((line for line in lines if line.strip()), "")
    if "\0" in first:
        raise FileError(f"{source} is not a text file; save the table as CSV or .xlsx.")
    head = [first]  # more lines if a name in quotes goes on
    delimiter = max(_DELIMITERS, key=lambda mark: len(_fields(_replayed(head, lines), mark)))
    records = csv.reader(itertools.chain(head, lines), delimiter=delimiter)
    names = checked_names(next(records, []), source)
    body = _whole_rows(records, len(names), source)
    for block in _batches(body, rows):
        yield Block(names, _columns(block, len(names)), decimal_comma=delimiter != ",")


def _replayed(head: list[str], lines: Iterator[str]) -> Iterator[str]:
    """Yield the lines in head, then further ones, which are added to it."""
    yield from list(head)
    for line in lines:
        head.append(line)
        yield line


def _fields(lines: Iterable[str], delimiter: str) -> list[str]:
    """Return the fields of the first record."""
    return next(csv.reader(lines, delimiter=delimiter), [])


def _is_filled(cell: Any) -> bool:
    """Return whether a cell holds anything but blanks."""
    return bool(cell.strip()) if isinstance(cell, str) else cell is not None


def _whole_rows(
    records: Iterable[Sequence[Any]], width: int, source: str
) -> Iterator[Sequence[Any]]:
    """Yield the rows, all of one width; blank ones may only stand at the end."""
    blank = 0
    for number, record in enumerate(records, start=1):
        if not any(map(_is_filled, record)):
            blank = blank or number
            continue
        if blank:
            raise InputError(
                f"{source}: row {blank} is blank (rows are counted from 1 below the header); "
                "delete it or fill it in."
            )
        if len(record) != width and (len(record) < width or any(record[width:])):
            raise InputError(
                f"{source}: row {number} has {len(record)} values, but the header names {width} "
                "columns (rows are counted from 1 below the header); correct that row."
            )
        yield record if len(record) == width else record[:width]


def _batches(body: Iterator[Sequence[Any]], rows: int) -> Iterator[list[Sequence[Any]]]:
    """Yield lists of so many rows, at least one list."""
    batch = list(itertools.islice(body, rows))
    yield batch
    while batch := list(itertools.islice(body, rows)):
        yield batch


def _columns(batch: list[Sequence[Any]], width: int) -> list[Sequence[Any]]:
    """Turn rows into columns."""
    return list(zip(*batch, strict=True)) if batch else [()] * width


def checked_names(header: Sequence[Any], source: str) -> list[str]:
    """Return the names of the columns, or raise an InputError about one that cannot be used."""
    names = ["" if name is None else str(name).strip() for name in header]
    while names and header[-1] is None:  # cells that Excel keeps to the right of the table
        names, header = names[:-1], header[:-1]
    if not names:
        raise InputError(f"{source} is empty; its first row must name the columns.")
    for position, name in enumerate(names, start=1):
        if not name:
            raise InputError(
                f"{source}: column {position} has no name; name it in the first row or remove it."
            )
        if names.index(name) + 1 != position:
            raise InputError(
                f"{source}: columns {names.index(name) + 1} and {position} are both named "
                f"{name!r}; rename one."
            )
    return names


def _parquet_blocks(file: Path, source: str, rows: int) -> Iterator[Block]:
    """Yield the blocks of a Parquet file, without an index that pandas stored in it."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise InputError(f"reading {source} needs pyarrow; {_FORMATS}") from error
    try:
        with pq.ParquetFile(file) as parquet:
            wanted = [n for n in parquet.schema_arrow.names if not re.fullmatch(r"__\w+__", n)]
            names = checked_names(wanted, source)
            empty = True
            for batch in parquet.iter_batches(rows, columns=wanted):
                yield Block(names, [_arrow_cells(column) for column in batch.columns], False)
                empty = False
            if empty:
                yield Block(names, [()] * len(names), decimal_comma=False)
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


def _excel_blocks(file: Path, source: str, rows: int) -> Iterator[Block]:
    """Yield the first sheet of a workbook, which is read whole."""
    try:
        import openpyxl
    except ImportError as error:
        raise InputError(f"reading {source} needs openpyxl; {_FORMATS}") from error
    try:
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        first = book.worksheets[0]
        first.reset_dimensions()  # some programs store a wrong size of the table
        sheet = [tuple(row) for row in first.iter_rows(values_only=True)]
        book.close()
    except OSError:
        raise
    except Exception as error:  # a broken workbook fails in openpyxl in many ways
        raise FileError(f"{source} is not an Excel file that can be read: {error}.") from error
    sheet = list(itertools.dropwhile(lambda row: all(cell is None for cell in row), sheet))
    names = checked_names(sheet[0] if sheet else [], source)
    body = ((*row, *[None] * (len(names) - len(row))) for row in sheet[1:])
    for block in _batches(_whole_rows(body, len(names), source), rows):
        yield Block(names, _columns(block, len(names)), decimal_comma=False)
