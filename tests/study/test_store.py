import contextlib
import math
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from pengp.exceptions import FileError
from pengp.study import schema
from pengp.study.store import COLUMNS, FailedTask, Failure, Store
from pengp.study.task import Row, Task
from tests.study.work import TASKS, comparable, expected, simple, stored_rows

TASK = Task("fake", "one", 0)
MODES: tuple[Literal["r", "w"], ...] = ("r", "w")
ROWS = [
    Row("a", None, "m", 0.1, 1 / 3, 0.5),
    Row("a", 0.1 + 0.2, "m", None, math.nan, 0.25),
    Row("b", math.inf, "n", math.nan, -math.inf, 0.125),
    Row("b", 0.0, "n", 5e-324, math.inf, 0.0),
    Row("b", np.float64(1.0), "n", 1e308, np.float64(2**53 + 1), np.float64(0.5)),
]


def test_rows_come_back_to_the_bit_with_none_nan_and_infinities_kept_apart(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.sqlite", "w") as store:
        store.add(TASK, ROWS, 1.5)
    with Store.open(tmp_path / "s.sqlite") as store:
        assert repr(stored_rows(store, TASK)) == repr([_plain(row) for row in ROWS])


def _plain(row: Row) -> Row:
    """Return a row without numpy's types, whose repr differs."""
    lam, x = (None if number is None else float(number) for number in (row.lam, row.x))
    return row._replace(lam=lam, x=x, value=float(row.value), seconds=float(row.seconds))


def test_the_frame_is_tidy_and_sorted_by_task_whatever_the_order_of_writing(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.sqlite", "w") as store:
        for study, repetition in (("b", 0), ("a", 10), ("a", 9)):
            row = Row("m", None, "k", 0.5, float(repetition), 0.0)
            store.add(Task(study, "f", repetition), [row, row._replace(value=math.nan)], 0.0)
        frame, one = store.rows(), store.rows("a")
    assert tuple(frame.columns) == COLUMNS
    assert list(zip(frame["study"], frame["repetition"], strict=True)) == [
        *(("a", 9), ("a", 9), ("a", 10), ("a", 10), ("b", 0), ("b", 0)),
    ]
    np.testing.assert_array_equal(frame["value"], [9, math.nan, 10, math.nan, 0, math.nan])
    np.testing.assert_array_equal(frame["lam"], [math.nan] * 6)
    np.testing.assert_array_equal(one["value"], [9, math.nan, 10, math.nan])
    assert [str(frame[name].dtype) for name in ("repetition", "lam", "value")] == [
        *("int64", "float64", "float64"),
    ]


def test_the_frame_of_a_store_without_rows_has_the_same_columns_and_types(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.sqlite", "w") as store:
        frame = store.rows()
    assert tuple(frame.columns) == COLUMNS
    assert len(frame) == 0
    assert str(frame["value"].dtype) == "float64"


def test_a_failure_is_kept_until_the_task_succeeds(tmp_path: Path) -> None:
    failure = Failure("ZeroDivisionError", "no luck", "Traceback ...")
    with Store.open(tmp_path / "s.sqlite", "w") as store:
        store.add_failure(TASK, Failure("OSError", "first", ""), 1.0)
        store.add_failure(TASK, failure, 2.5)
        assert store.failures() == [FailedTask(TASK, failure, 2.5)]
        assert store.done() == set()
        store.add(TASK, ROWS, 1.0)
        assert store.failures() == []
        assert store.done() == {TASK}


def test_a_process_killed_before_its_commit_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with Store.open(path, "w") as store:
        store.add(TASKS[0], simple(TASKS[0]), 0.0)
    # The small cache forces half-written pages into the file before the commit.
    script = f"""
import os, signal
from pengp.study.store import Store
from tests.study.work import TASKS, simple
store = Store.open({str(path)!r}, "w")
store._connection.execute("PRAGMA cache_size = 1")
store._connection.set_trace_callback(
    lambda sql: os.kill(os.getpid(), signal.SIGKILL) if sql == "COMMIT" else None
)
store.add(TASKS[1], simple(TASKS[1]) * 20000, 0.0)
"""
    before = path.stat().st_size
    killed = subprocess.run([sys.executable, "-c", script], env=_environment(), check=False)
    assert killed.returncode == -signal.SIGKILL
    assert path.stat().st_size > before
    assert Path(f"{path}-journal").stat().st_size > 0
    with Store.open(path) as store:  # a reader repairs the file, too
        assert store.done() == {TASKS[0]}
        assert comparable(store, TASKS[:2]) == {**expected(TASKS[:1]), TASKS[1]: []}
    with Store.open(path, "w") as store:
        store.add(TASKS[1], simple(TASKS[1]), 0.0)
        assert comparable(store, TASKS[:2]) == expected(TASKS[:2])


def _environment() -> dict[str, str]:
    """Return an environment in which the tests' helpers can be imported."""
    places = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, places))}


def test_only_one_can_write_while_others_read(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with Store.open(path, "w") as store:
        store.add(TASK, ROWS, 1.0)
        with pytest.raises(FileError, match=r"^another run is writing to .*s\.sqlite; wait until"):
            Store.open(path, "w")
        with Store.open(path) as reader:
            assert reader.done() == {TASK}
            store.add(TASKS[1], ROWS, 1.0)
            assert reader.done() == {TASK, TASKS[1]}
    with Store.open(path, "w") as store:
        assert len(store.done()) == 2


def test_the_lock_ends_with_the_process_that_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    script = (
        "import sys; from pengp.study.store import Store\n"
        f"store = Store.open({str(path)!r}, 'w'); print('open', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(FileError, match="another run is writing"):
            Store.open(path, "w")
        holder.kill()
        holder.wait()
        Store.open(path, "w").close()


@pytest.mark.parametrize("content", [b"hi", b"x" * 99, b"study,value\n" * 1000])
def test_a_file_that_is_not_sqlite_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    for mode in MODES:
        with pytest.raises(FileError, match=r"^cannot use .*table\.csv: it is not a file of study"):
            Store.open(path, mode)
    assert path.read_bytes() == content
    assert [file.name for file in tmp_path.iterdir()] == ["table.csv"]


def test_a_sqlite_file_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE rows (a, b)")
    before = path.read_bytes()
    for mode in MODES:
        with pytest.raises(FileError, match=r"other\.sqlite: it is a SQLite file of another prog"):
            Store.open(path, mode)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["other.sqlite"]


def test_a_file_of_a_newer_format_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    Store.open(path, "w").close()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {schema.SCHEMA_VERSION + 1}")
    before = path.read_bytes()
    for mode in MODES:
        with pytest.raises(FileError, match=r"a newer pengp wrote it \(format 3, .* up to 2\)"):
            Store.open(path, mode)
    assert path.read_bytes() == before


def test_an_empty_file_can_be_written_but_not_read(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    path.touch()  # what a run leaves that is killed while it makes the file
    with pytest.raises(FileError, match="holds no study results"):
        Store.open(path)
    with Store.open(path, "w") as store:
        store.add(TASK, ROWS, 1.0)
    with Store.open(path) as store:
        assert store.done() == {TASK}


def test_places_that_cannot_be_written_are_named_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path, reason in {
        tmp_path / "none" / "s.sqlite": "its directory does not exist; create it first",
        tmp_path / "file" / "s.sqlite": "its directory is a file; choose another place",
        tmp_path: "it is a directory; add a file name",
    }.items():
        with pytest.raises(FileError) as error:
            Store.open(path, "w")
        assert str(error.value) == f"cannot write {path}: {reason}."
    assert [file.name for file in tmp_path.iterdir()] == ["file"]
    with pytest.raises(FileError, match=r"^no file .*none.*; `pengp study run` writes such a file"):
        Store.open(tmp_path / "none" / "s.sqlite")
    with pytest.raises(FileError, match=r"it is a directory; add a file name"):
        Store.open(tmp_path)


@pytest.mark.skipif(not Path("/sys/kernel").is_dir(), reason="needs a folder nobody can write to")
def test_a_directory_without_permission_is_named() -> None:
    with pytest.raises(FileError, match=r"^cannot (write|use) /sys/kernel/s\.sqlite: .*permission"):
        Store.open("/sys/kernel/s.sqlite", "w")


def test_a_file_without_permission_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.sqlite"
    Store.open(path, "w").close()
    # The superuser may write everything, so the question is answered here.
    monkeypatch.setattr(os, "access", lambda place, mode: Path(place) != path)
    with pytest.raises(FileError, match=r"^cannot write .*s\.sqlite: permission is denied"):
        Store.open(path, "w")


def test_a_full_disk_costs_only_the_task_that_does_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with Store.open(path, "w") as store:
        store.add(TASKS[0], simple(TASKS[0]), 0.0)
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(
            FileError, match=r"s\.sqlite: the disk is full; free some space and run"
        ):
            store.add(TASKS[1], simple(TASKS[1]) * 1000, 0.0)
        assert store.done() == {TASKS[0]}
        store._connection.execute("PRAGMA max_page_count = 100000")
        store.add(TASKS[1], simple(TASKS[1]), 0.0)
    with Store.open(path) as store:
        assert comparable(store, TASKS[:2]) == expected(TASKS[:2])


def test_a_file_of_the_format_without_checksums_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    Store.open(path, "w").close()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 1")
    for mode in MODES:
        with pytest.raises(FileError, match=r"an older pengp wrote it \(format 1\), without check"):
            Store.open(path, mode)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with Store.open(path, "w") as store:
        store.add(TASK, simple(TASK) * 1000, 0.0)
    content = bytearray(path.read_bytes())
    content[4096:-4096] = b"\xff" * (len(content) - 8192)
    path.write_bytes(content)
    for mode in MODES:
        with pytest.raises(FileError, match="it is damaged; restore a copy"):
            Store.open(path, mode)


def _full_store(path: Path) -> None:
    """Write a store with something in every table, of which one row is the number 0.88."""
    with Store.open(path, "w") as store:
        store.pin("test_runs", "abc")
        store.begin({"arguments": {"studies": ["forrester"], "size": "tiny"}})
        store.add(TASK, [Row("dpe", None, "nlpd", None, 0.88, 0.5)], 1.5)
        store.add_failure(TASKS[3], Failure("OSError", "first", "Traceback"), 1.0)
        store.end()


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ("UPDATE rows SET value = 0.63", ", the task fake/one/0 not as written"),
        ("UPDATE rows SET value = 'damaged'", ", the task fake/one/0 not as written"),
        ("DELETE FROM rows", ", the task fake/one/0 not as written"),
        ("UPDATE rows SET repetition = 7", ", the task fake/one/0 and 1 more not as written"),
        ("UPDATE tasks SET state = 'done'", ", the task fake/one/3 not as written"),
        ("UPDATE tasks SET seconds = 2.0 WHERE state = 'done'", ", the task fake/one/0 not as"),
        ("DELETE FROM tasks WHERE state = 'done'", ", the task fake/one/0 not as written"),
        ("UPDATE invocations SET details = '{'", ", the record of call 1 not as written"),
        ("UPDATE invocations SET ended = NULL", ", the record of call 1 not as written"),
        ("UPDATE meta SET value = 'abd'", ", the entry 'test_runs' not as written"),
        ("UPDATE rows SET method = CAST(x'ff' AS TEXT)", "; restore a copy"),
        ("DROP TABLE rows", ", the tables not as written; restore a copy"),
    ],
)
def test_what_is_not_as_it_was_written_is_named(tmp_path: Path, change: str, what: str) -> None:
    path = tmp_path / "s.sqlite"
    _full_store(path)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(change)
    for mode in MODES:
        with pytest.raises(FileError, match=rf"^cannot use .*s\.sqlite: it is damaged{what}"):
            Store.open(path, mode)


def test_a_flipped_bit_anywhere_is_harmless_or_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    _full_store(path)
    sound = path.read_bytes()
    with Store.open(path) as store:
        before = _contents(store)
    messages, used = [], [i for i in range(len(sound)) if sound[i] or i < 100]
    for i in used[::3]:
        flipped = bytearray(sound)
        flipped[i] ^= 1 << i % 8
        path.write_bytes(flipped)
        try:
            with Store.open(path) as store:
                assert _contents(store) == before, f"byte {i}"
        except FileError as error:
            messages.append(str(error))
    assert len(messages) > len(used[::3]) / 2
    assert {message.count(str(path)) for message in messages} == {1}


def _contents(store: Store) -> str:
    """Return all that a store holds."""
    return repr((stored_rows(store, TASK), store.done(), store.failures(), store.metadata()))


def test_an_error_that_has_no_known_cause_is_not_disguised(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.sqlite", "w") as store:
        store.add(TASK, ROWS, 1.0)
        with pytest.raises(sqlite3.IntegrityError):
            store.add(TASK, ROWS, 1.0)
        assert len(store.rows()) == len(ROWS)


def test_the_test_runs_of_a_store_cannot_change(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with Store.open(path, "w") as store:
        store.pin("test_runs", "abc")
    with Store.open(path, "w") as store:
        store.pin("test_runs", "abc")
        with pytest.raises(FileError, match=r"s\.sqlite holds results on other test runs"):
            store.pin("test_runs", "abd")
        assert store.metadata()["test_runs"] == "abc"


def test_metadata_tells_of_each_call_and_what_it_did(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with Store.open(path, "w") as store:
        store.begin({"size": "tiny", "number": 1.5})
        store.add(TASKS[0], ROWS, 1.0)
        store.add(TASKS[1], ROWS, 1.0)
        store.end()
    with Store.open(path, "w") as store:
        store.begin({"size": "quick"})
        store.add(TASKS[2], ROWS, 1.0)
        store.add_failure(TASKS[3], Failure("A", "b", "c"), 1.0)
    with Store.open(path) as store:
        metadata = store.metadata()
    first, second = metadata["invocations"]
    assert (metadata["format"], metadata["test_runs"]) == (2, None)
    assert (first["size"], first["number"], first["tasks_done"]) == ("tiny", 1.5, 2)
    assert (second["size"], second["tasks_done"], second["ended"]) == ("quick", 1, None)
    assert first["started"] <= first["ended"] <= second["started"]


def test_a_reader_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a folder? #1" / "s.sqlite"
    path.parent.mkdir()
    with Store.open(path, "w") as store:
        store.add(TASK, ROWS, 1.0)
    before = path.read_bytes()
    with Store.open(path) as store, pytest.raises(FileError, match="it may not be written"):
        store.add(TASKS[1], ROWS, 1.0)
    assert path.read_bytes() == before
