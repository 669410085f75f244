"""Reader of separated values: finds the mark between columns, the encoding and the header."""

import codecs
import csv
import io
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import IO

from pengp.cli.headers import HEAD_ROWS, filled, header_row, names_in, note_titles
from pengp.cli.rows import Block, Dialect, blocks_of_rows
from pengp.exceptions import FileError

_LONGEST_LINE = 1 << 24
_DELIMITERS = (",", ";", "\t")
_SIGNATURES = {b"PK\x03\x04": "an Excel or zip file", b"PAR1": "a Parquet file", b"%PDF": "a PDF"}


def _cp1252(error: UnicodeError) -> tuple[str, int]:
    """Decode bytes that are no UTF-8 as Western European Windows wrote them."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("cp1252", errors="replace"), error.end


codecs.register_error("pengp-cp1252", _cp1252)


def text_blocks(
    stream: IO[bytes], source: str, rows: int, ignore: Sequence[str]
) -> Iterator[Block]:
    """Yield the blocks of a file of separated values."""
    buffered = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(stream)  # type: ignore[type-var]
    start = buffered.peek(4)
    if start[:4] in _SIGNATURES:
        what = _SIGNATURES[start[:4]]
        raise FileError(f"{source} is {what}, not text; give it the right extension.")
    encoding = _encoding(start)
    codec = "utf-16" if encoding == "utf-16" else "utf-8-sig"
    text = io.TextIOWrapper(buffered, codec, errors="pengp-cp1252", newline="")
    try:
        yield from _separated_blocks(_lines(text, source), source, rows, ignore, encoding)
    except (csv.Error, UnicodeError) as error:
        raise FileError(f"{source} is not a table of separated values: {error}.") from error
    finally:
        text.detach()  # whoever opened the stream closes it


def _encoding(start: bytes) -> str:
    """Return the encoding of a file by its first bytes."""
    if start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return "utf-16"
    if start.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)  # which may end within a character
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _lines(text: io.TextIOWrapper, source: str) -> Iterator[str]:
    """Yield the lines, none without end."""
    while line := text.readline(_LONGEST_LINE):
        if len(line) == _LONGEST_LINE and line[-1] not in "\r\n":
            raise FileError(
                f"{source} has a line of more than {_LONGEST_LINE:,} characters and is no table; "
                "end each row with a line break."
            )
        yield line


def _separated_blocks(
    lines: Iterator[str], source: str, rows: int, ignore: Sequence[str], encoding: str
) -> Iterator[Block]:
    """Yield the blocks of lines of separated values."""
    first = next((line for line in lines if line.strip()), "")
    if "\0" in first:
        raise FileError(f"{source} is not a text file; save the table as CSV or .xlsx.")
    head = [first, *itertools.islice(lines, HEAD_ROWS - 1)]
    delimiter, above = _header(head, lines)
    records = csv.reader(itertools.chain(head, lines), delimiter=delimiter)
    titles = [next(records) for _ in range(above)]
    names = names_in(next(records, []))
    note_titles(titles, names, source)
    yield from blocks_of_rows(
        names,
        records,
        source=source,
        rows=rows,
        ignore=ignore,
        dialect=Dialect(delimiter, encoding),
    )


def _header(head: list[str], lines: Iterator[str]) -> tuple[str, int]:
    """Return the mark between columns and the number of rows above the header.

    The mark is that which splits the first row most, or a header below it even more.
    """
    firsts = {mark: _records(_replayed(head, lines), mark, 1) for mark in _DELIMITERS}
    best = max(_DELIMITERS, key=lambda mark: len(firsts[mark][0]) if firsts[mark] else 0)
    above, most = 0, sum(map(filled, firsts[best]))
    for mark in _DELIMITERS:
        records = _records(head, mark)
        k = header_row(records)
        if k and filled(records[k]) > most:
            best, above, most = mark, k, filled(records[k])
    return best, above


def _replayed(head: list[str], lines: Iterator[str]) -> Iterator[str]:
    """Yield the lines in head, then further ones, which are added to it."""
    yield from list(head)
    for line in lines:
        head.append(line)
        yield line


def _records(lines: Iterable[str], delimiter: str, most: int | None = None) -> list[list[str]]:
    """Return the first records, none if this mark leaves a field that is too long."""
    try:
        return list(itertools.islice(csv.reader(lines, delimiter=delimiter), most))
    except csv.Error:
        return []
