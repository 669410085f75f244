"""A store: one file that holds the rows of studies, which tasks are done, and how they were run.

A task's rows and its mark "done" are written in one transaction, so a process may be killed at any
moment. One process writes at a time; any number may read meanwhile.
"""

import contextlib
import json
import math
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from pengp.exceptions import FileError
from pengp.study import schema
from pengp.study.digests import digest
from pengp.study.task import Row, Task

if TYPE_CHECKING:
    import pandas as pd

#: Columns of `Store.rows`.
COLUMNS = (
    *("study", "function", "repetition"),
    *("method", "lam", "metric", "x", "value", "seconds"),
)
_NUMBERS = ("lam", "x", "value", "seconds")


@dataclass(frozen=True)
class Failure:
    """Why a task failed."""

    type: str
    """Name of the exception's class."""
    message: str
    traceback: str


@dataclass(frozen=True)
class FailedTask:
    """A task that failed; ``task.seed`` is the seed with which it did."""

    task: Task
    failure: Failure
    seconds: float


class Store:
    """The rows of studies in one SQLite file; `open` makes one, a ``with`` block closes it.

    Examples
    --------
    >>> from pengp.study import Store, get_study, run
    >>> with Store.open("study.sqlite", "w") as store:
    ...     tally = run(get_study("limits").tasks("tiny")[:1], store)
    ...     print(store.rows().columns.tolist()[:4])
    ['study', 'function', 'repetition', 'method']
    """

    def __init__(
        self, path: Path, connection: sqlite3.Connection, lock: sqlite3.Connection | None = None
    ) -> None:
        self.path = path
        self._connection = connection
        self._lock = lock
        self._invocation: int | None = None

    @classmethod
    def open(cls, path: str | os.PathLike[str], mode: Literal["r", "w"] = "r") -> Self:
        """Open a file.

        Parameters
        ----------
        path : path-like
            The file. While it is written, an empty file ``<path>.lock`` lies beside it and stays.
        mode : {"r", "w"}
            "r" reads an existing file, "w" also writes and makes the file if there is none. Only
            one process at a time can have it open with "w".
        """
        path = Path(path)
        if mode == "r":
            return cls(path, schema.open_reading(path))
        with contextlib.ExitStack() as stack:
            lock = stack.enter_context(contextlib.closing(schema.lock(path)))
            connection = schema.open_writing(path)
            stack.pop_all()
        return cls(path, connection, lock)

    def close(self) -> None:
        """Close the file and let others write to it."""
        self._connection.close()
        if self._lock is not None:
            self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def rows(self, study: str | None = None) -> "pd.DataFrame":
        """Return all rows, or those of one study, in the order of tasks and of rows in a task.

        Returns
        -------
        DataFrame
            Columns study, function, repetition, method, lam, metric, x, value, seconds. ``lam`` and
            ``x`` are NaN where there is none; infinite and NaN values are what the task returned.
        """
        import pandas as pd

        found = self._select(
            f"SELECT {', '.join(COLUMNS)} FROM rows WHERE :study IN (study, '') "
            "ORDER BY study, function, repetition, position",
            {"study": study or ""},
        )
        # 'nan' and None both become NaN here.
        return pd.DataFrame(found, columns=list(COLUMNS)).astype(
            dict.fromkeys(_NUMBERS, "float64") | {"repetition": "int64"}
        )

    def done(self) -> set[Task]:
        """Return the tasks whose rows are here."""
        found = self._select("SELECT study, function, repetition FROM tasks WHERE state = 'done'")
        root = self.root
        return {Task(study, function, repetition, root) for study, function, repetition in found}

    def failures(self) -> list[FailedTask]:
        """Return the tasks that failed and why, in the order of their names."""
        found = self._select(
            "SELECT study, function, repetition, seconds, error_type, error_message, "
            "error_traceback FROM tasks WHERE state = 'failed' ORDER BY study, function, repetition"
        )
        root = self.root
        return [
            FailedTask(Task(study, function, repetition, root), Failure(*failure), seconds)
            for study, function, repetition, seconds, *failure in found
        ]

    def count_rows(self) -> int:
        """Return the number of rows of all tasks."""
        return int(self._select("SELECT count(*) FROM rows")[0][0])

    def check_structure(self) -> None:
        """Raise a FileError unless the file is well-formed; `open` has checked what it holds."""
        if self._select("PRAGMA integrity_check(1)") != [("ok",)]:
            raise FileError(schema.damaged(self.path))

    def metadata(self) -> dict[str, Any]:
        """Return how the rows came about.

        Returns
        -------
        dict
            "format": version of the file's format; "test_runs": digest of the test runs, None if
            none were given; "invocations": a list, oldest first, with one dict for each call that
            ran tasks: "started", "ended" (None if it still runs or was killed), "tasks_done" (those
            whose rows are from this call), and what the caller of `begin` told.
        """
        calls = self._select(
            "SELECT started, ended, details, (SELECT count(*) FROM tasks WHERE state = 'done' "
            "AND invocation = id) FROM invocations ORDER BY id"
        )
        return {
            "format": schema.SCHEMA_VERSION,
            "test_runs": self._meta("test_runs"),
            "invocations": [
                {"started": started, "ended": ended, "tasks_done": count, **json.loads(details)}
                for started, ended, details, count in calls
            ],
        }

    def begin(self, details: Mapping[str, Any]) -> None:
        """Record that a call starts to run tasks; ``details`` has to fit into JSON."""
        with self._transaction():
            cursor = self._connection.execute(
                "INSERT INTO invocations (started, details, digest) VALUES (?, ?, '')",
                (_now(), json.dumps(details)),
            )
            self._invocation = cursor.lastrowid
            self._seal_invocation()

    def end(self) -> None:
        """Record that the call ends in order, though perhaps before its tasks are done."""
        with self._transaction():
            self._connection.execute(
                "UPDATE invocations SET ended = ? WHERE id = ?", (_now(), self._invocation)
            )
            self._seal_invocation()

    def add(self, task: Task, rows: Iterable[Row], seconds: float) -> None:
        """Write a task's rows and mark it as done, both or neither."""
        encoded = [
            (
                i,
                str(r.method),
                _encoded(r.lam),
                str(r.metric),
                *map(_encoded, (r.x, r.value, r.seconds)),
            )
            for i, r in enumerate(rows)
        ]
        with self._transaction():
            self._mark(task, "done", seconds, (None, None, None), digest(*encoded))
            self._connection.executemany(
                "INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [(*task[:3], *row) for row in encoded],
            )

    def add_failure(self, task: Task, failure: Failure, seconds: float) -> None:
        """Mark a task as failed."""
        with self._transaction():
            error = (failure.type, failure.message, failure.traceback)
            self._mark(task, "failed", seconds, error, digest())

    @property
    def root(self) -> int:
        """The root seed of all that is here, 0 before one was pinned."""
        return int(self._meta("root") or 0)

    def pin(self, key: Literal["test_runs", "root"], value: str) -> None:
        """Keep the digest of the test runs, or the root seed; neither may change in one file."""
        kept = self._meta(key)
        if kept is None:
            with self._transaction():
                self._connection.execute(
                    "INSERT INTO meta VALUES (?, ?, ?)", (key, value, digest(key, value))
                )
        elif kept != value:
            what = {"test_runs": "on other test runs than these", "root": f"of seed {kept}"}[key]
            same = {"test_runs": "the same test runs", "root": "that seed"}[key]
            raise FileError(
                f"{self.path} holds results {what}; give {same} or choose another file."
            )

    def _mark(
        self,
        task: Task,
        state: str,
        seconds: float,
        error: tuple[str | None, str | None, str | None],
        of_rows: str,
    ) -> None:
        """Write the record of a task that ended, in place of the one of an earlier failure."""
        self._connection.execute(
            "DELETE FROM tasks WHERE (study, function, repetition, state) = (?, ?, ?, 'failed')",
            task[:3],
        )
        record = (*task[:3], state, self._invocation, float(seconds), task.seed, *error)
        self._connection.execute(
            "INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*record, digest(*record, of_rows)),
        )

    def _seal_invocation(self) -> None:
        """Renew the digest of the record of this call."""
        (record,) = self._connection.execute(
            "SELECT id, started, ended, details FROM invocations WHERE id = ?", (self._invocation,)
        )
        self._connection.execute(
            "UPDATE invocations SET digest = ? WHERE id = ?", (digest(*record), self._invocation)
        )

    def _meta(self, key: str) -> str | None:
        """Return a value of the table meta, None if there is none."""
        found = self._select("SELECT value FROM meta WHERE key = ?", (key,))
        return str(found[0][0]) if found else None

    def _select(self, query: str, values: Any = ()) -> list[Any]:
        """Return the records that a query finds."""
        with schema.explained(self.path):
            return self._connection.execute(query, values).fetchall()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """Make the block one transaction, undone if anything goes wrong in it."""
        with schema.explained(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            with self._connection:  # commits or rolls back
                yield


def _encoded(number: float | None) -> float | str | None:
    """Return how a number is stored: SQLite would make NULL, which is None here, of NaN.

    It keeps no sign of zero, so that none is given to it.
    """
    if number is None:
        return None
    return "nan" if math.isnan(number) else float(number) + 0.0


def _now() -> str:
    """Return the time, UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
