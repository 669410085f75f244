"""Rows of a table as blocks of columns."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from pengp.cli.headers import is_filled, kept_columns
from pengp.exceptions import InputError


class Dialect(NamedTuple):
    """How a file of separated values is written."""

    delimiter: str = ","
    encoding: str = "utf-8"
    decimal: str = "."


class Block(NamedTuple):
    """Some consecutive rows of a table."""

    names: list[str]
    columns: list[Sequence[Any]]  # a sequence of cells for every name
    dialect: Dialect


def blocks_of_rows(
    names: list[str],
    records: Iterable[Sequence[Any]],
    *,
    source: str,
    rows: int,
    ignore: Sequence[str],
    dialect: Dialect,
) -> Iterator[Block]:
    """Yield records below a header as blocks of so many rows, without columns to be ignored."""
    kept = kept_columns(names, source, ignore)
    for batch in _batches(_whole_rows(records, len(names), source), rows):
        columns = list(zip(*batch, strict=True)) if batch else [()] * len(names)
        yield Block([names[k] for k in kept], [columns[k] for k in kept], dialect)


def _whole_rows(
    records: Iterable[Sequence[Any]], width: int, source: str
) -> Iterator[Sequence[Any]]:
    """Yield the rows, all of one width; blank ones may only stand at the end."""
    blank = 0
    for number, record in enumerate(records, start=1):
        if not any(map(is_filled, record)):
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
