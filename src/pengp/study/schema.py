"""The file behind a store: its tables, how it is opened, locked, and what can be wrong with it.

It is one SQLite file with a rollback journal and not a write-ahead log: a write-ahead log would be
a second file with results in it, and needs shared memory, which network file systems lack.
"""

import contextlib
import errno
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from pengp._core.files import writing_to
from pengp.exceptions import FileError
from pengp.study.digests import damages

SCHEMA_VERSION = 2  # 1 had no digests
APPLICATION_ID = 0x50656E47  # "PenG"; tells a store from other SQLite files

_TABLES = """
CREATE TABLE meta (
    key TEXT PRIMARY KEY, value TEXT NOT NULL, digest TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE invocations (  -- one record for each call that ran tasks
    id INTEGER PRIMARY KEY,
    started TEXT NOT NULL,  -- UTC
    ended TEXT,  -- NULL while it runs, and for ever if it was killed
    details TEXT NOT NULL,  -- JSON: versions, platform, arguments, ...
    digest TEXT NOT NULL
);
CREATE TABLE tasks (  -- tasks that ended, well or not
    study TEXT NOT NULL,
    function TEXT NOT NULL,
    repetition INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('done', 'failed')),
    invocation INTEGER REFERENCES invocations (id),
    seconds REAL NOT NULL,
    seed INTEGER NOT NULL,
    error_type TEXT,  -- this and the next two are NULL if done
    error_message TEXT,
    error_traceback TEXT,
    digest TEXT NOT NULL,  -- of this record and of the task's rows
    PRIMARY KEY (study, function, repetition)
) WITHOUT ROWID;
CREATE TABLE rows (  -- NULL: no such number; the text 'nan': NaN, which SQLite cannot store
    study TEXT NOT NULL,
    function TEXT NOT NULL,
    repetition INTEGER NOT NULL,
    position INTEGER NOT NULL,  -- counts the rows of a task
    method TEXT NOT NULL,
    lam REAL,
    metric TEXT NOT NULL,
    x REAL,
    value REAL NOT NULL,
    seconds REAL NOT NULL,
    PRIMARY KEY (study, function, repetition, position)
) WITHOUT ROWID;
"""

#: What a SQLite error means for the user, by its primary code.
_REASONS = {
    sqlite3.SQLITE_FULL: "the disk is full; free some space and run the same command again, what "
    "was done so far is kept",
    sqlite3.SQLITE_NOTADB: "it is not a file of study results; choose another file",
    sqlite3.SQLITE_CORRUPT: "it is damaged; restore a copy or choose another file",
    sqlite3.SQLITE_BUSY: "another program keeps it busy; end that program or choose another file",
    sqlite3.SQLITE_READONLY: "it may not be written; choose a file that you may write to",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; check its directory and permissions",
    sqlite3.SQLITE_PERM: "permission is denied; choose another file",
    sqlite3.SQLITE_IOERR: "the disk reports an error; check the disk or choose another place",
}


@contextlib.contextmanager
def explained(path: Path, *, opening: bool = False) -> Iterator[None]:
    """Turn a SQLite error of the block into a FileError that says what is wrong with ``path``.

    An error without a cause of its own comes from a damaged file while one is opened, where a table
    may be missing or a text be none; later it would be a mistake in pengp, and is left as it is.
    """
    try:
        yield
    except UnicodeDecodeError as error:  # even in what SQLite says about the file
        raise FileError(damaged(path)) from error
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF  # the rest is detail
        if opening and code == sqlite3.SQLITE_ERROR:
            raise FileError(damaged(path)) from error
        if code not in _REASONS:
            raise
        raise FileError(f"cannot use {path}: {_REASONS[code]}.") from error


def open_reading(path: Path) -> sqlite3.Connection:
    """Return a connection to an existing store that changes nothing."""
    if not path.exists():
        raise FileError(f"no file {path}; `pengp study run` writes such a file.")
    if path.is_dir():
        raise FileError(f"cannot use {path}: it is a directory; add a file name.")
    with explained(path, opening=True), contextlib.ExitStack() as stack:
        connection = stack.enter_context(contextlib.closing(_connect(path, "rw")))
        _check(connection, path)
        if _is_blank(connection):
            raise FileError(f"{path} holds no study results; `pengp study run` writes them.")
        _verify(connection, path)
        connection.execute("PRAGMA query_only = ON")
        stack.pop_all()
    return connection


def open_writing(path: Path) -> sqlite3.Connection:
    """Return a connection to a store for the one process that writes; a new file gets its tables.

    The lock of `lock` has to be held.
    """
    with explained(path, opening=True), contextlib.ExitStack() as stack:
        connection = stack.enter_context(contextlib.closing(_connect(path, "rwc")))
        if _is_blank(connection):
            connection.executescript(
                f"BEGIN; {_TABLES}; PRAGMA application_id = {APPLICATION_ID};"
                f"PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
            )
        _verify(connection, path)
        stack.pop_all()
    return connection


def lock(path: Path) -> sqlite3.Connection:
    """Return the lock that only one process can hold on ``path``; closing it releases it.

    It is the exclusive lock of an empty SQLite file beside ``path``: it works on every system,
    ends with the process however that ends, and is not inherited by other processes. The empty
    file stays: whoever deleted it could take the name away from under a lock.
    """
    check_writable(path)
    beside = path.with_name(f"{path.name}.lock")
    with explained(path), contextlib.ExitStack() as stack:
        connection = stack.enter_context(contextlib.closing(_connect(beside, "rwc", timeout=0)))
        try:
            connection.execute("PRAGMA journal_mode = OFF")  # nothing is ever written
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
            raise FileError(
                f"another run is writing to {path}; wait until it ends or choose another file."
            ) from error
        stack.pop_all()
    return connection


def check_writable(path: Path) -> None:
    """Raise a FileError unless ``path`` is a store or can become one; leave everything as it is."""
    with writing_to(path):
        number = _obstacle(path)
        if number:
            raise OSError(number, os.strerror(number))
    if path.exists():
        with explained(path, opening=True), contextlib.closing(_connect(path, "rw")) as connection:
            _check(connection, path)


def _obstacle(path: Path) -> int:
    """Return the error number of what keeps ``path`` from being written, 0 if nothing is seen."""
    folder = path.parent
    obstacles = {
        errno.ENOENT: not folder.exists(),
        errno.ENOTDIR: folder.exists() and not folder.is_dir(),
        errno.EISDIR: path.is_dir(),
        errno.EACCES: not os.access(path if path.exists() else folder, os.W_OK)
        or not os.access(folder, os.W_OK),  # the journal is written beside the file
    }
    return next((number for number, found in obstacles.items() if found), 0)


def _connect(path: Path, mode: str, timeout: float = 60) -> sqlite3.Connection:
    """Return a connection without implicit transactions; it waits ``timeout`` seconds for locks."""
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=timeout, isolation_level=None
    )


def _check(connection: sqlite3.Connection, path: Path) -> None:
    """Raise a FileError unless the file is empty or a store that this version understands."""
    if _is_blank(connection):
        if path.stat().st_size == 1:  # SQLite takes a file of one byte for an empty one
            raise FileError(f"cannot use {path}: {_REASONS[sqlite3.SQLITE_NOTADB]}.")
        return
    if _pragma(connection, "application_id") != APPLICATION_ID:
        raise FileError(
            f"cannot use {path}: it is a SQLite file of another program; choose another file."
        )
    version = _pragma(connection, "user_version")
    if version > SCHEMA_VERSION:
        raise FileError(
            f"cannot use {path}: a newer pengp wrote it (format {version}, this one knows up to "
            f"{SCHEMA_VERSION}); update pengp or choose another file."
        )
    if version < SCHEMA_VERSION:
        raise FileError(
            f"cannot use {path}: an older pengp wrote it (format {version}), without checksums; "
            "choose another file and run the study again."
        )


def _verify(connection: sqlite3.Connection, path: Path) -> None:
    """Raise a FileError unless all that the file holds is as it was written."""
    connection.execute("BEGIN")  # one state of the file, even if another process writes to it
    found = ["the tables"] if _tables(connection) != _own_tables() else damages(connection)
    connection.execute("ROLLBACK")
    if found:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        raise FileError(damaged(path, f", {found[0]}{more} not as written"))


def _tables(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return the names and definitions of the tables, and of their indices."""
    return connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()


def _own_tables() -> list[tuple[str, str]]:
    """Return what `_tables` finds in a new store."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(_TABLES)
        return _tables(connection)


def damaged(path: Path, where: str = "") -> str:
    """Return the sentence on a damaged file."""
    return f"cannot use {path}: it is damaged{where}; restore a copy or choose another file."


def _is_blank(connection: sqlite3.Connection) -> bool:
    """Return whether the file is empty, as one is whose first run was killed early."""
    return _pragma(connection, "page_count") == 0


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    """Return a number that SQLite keeps about the file."""
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
