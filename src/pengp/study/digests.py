"""Digests of what a store holds, so that a changed bit is noticed when the file is opened.

A task's digest covers its record and its rows; the other tables have one digest a record.
"""

import hashlib
import sqlite3
from itertools import groupby


def digest(*values: object) -> str:
    """Return the digest of values, which are numbers, text, None or tuples of these."""
    return hashlib.blake2b(repr(values).encode(), digest_size=16).hexdigest()


def damages(connection: sqlite3.Connection) -> list[str]:
    """Return what is not as it was written, in words; nothing if the store is sound."""
    return [*_damaged_records(connection), *_damaged_tasks(connection)]


def _damaged_records(connection: sqlite3.Connection) -> list[str]:
    """Name the records besides tasks that are not as they were written."""
    names = {"meta": "the entry {!r}", "invocations": "the record of call {}"}
    return [
        name.format(record[0])
        for table, name in names.items()
        for *record, kept in connection.execute(f"SELECT * FROM {table}")
        if digest(*record) != kept
    ]


def _damaged_tasks(connection: sqlite3.Connection) -> list[str]:
    """Name the tasks whose record or rows are not as they were written."""
    of_rows = {
        key: digest(*(row[3:] for row in rows))
        for key, rows in groupby(
            connection.execute("SELECT * FROM rows ORDER BY study, function, repetition, position"),
            key=lambda row: row[:3],
        )
    }
    found = [
        record[:3]
        for *record, kept in connection.execute("SELECT * FROM tasks")
        if digest(*record, of_rows.pop(tuple(record[:3]), digest())) != kept
    ]
    return ["the task " + "/".join(map(str, key)) for key in (*found, *of_rows)]
