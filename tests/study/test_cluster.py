import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from pengp.exceptions import InputError
from pengp.study.cluster import on_cluster
from pengp.study.definitions import get_study
from pengp.study.runner import Tally, run
from pengp.study.store import Store
from tests.study.work import TASKS, comparable, deadly, expected, simple, slow, wait_for, where

_ROOT = Path(__file__).parents[2]


class Cluster(NamedTuple):
    """A Dask cluster of processes on this computer."""

    address: str
    log: Path
    scheduler: "subprocess.Popen[bytes]"
    workers: list["subprocess.Popen[bytes]"]


@contextlib.contextmanager
def cluster(folder: Path, workers: int, **settings: str) -> Iterator[Cluster]:
    """Start a cluster, with settings in its environment; end all of it in the end."""
    environment = os.environ | {"PYTHONPATH": str(_ROOT)} | settings
    with contextlib.ExitStack() as stack:

        def start(command: str, *options: str) -> "subprocess.Popen[bytes]":
            with (folder / "log").open("ab") as log:
                process = subprocess.Popen(
                    [sys.executable, "-m", "dask", command, "--host=127.0.0.1", *options],
                    env=environment,
                    stdout=log,
                    stderr=log,
                )
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        file = folder / "scheduler.json"
        anywhere = ("--no-dashboard", "--dashboard-address=:0")  # the port of its own pages, too
        scheduler = start("scheduler", "--port=0", *anywhere, f"--scheduler-file={file}")
        started = [
            start(
                "worker",
                *("--no-nanny", "--nthreads=1", *anywhere),
                *(f"--scheduler-file={file}", f"--local-directory={folder}"),
            )
            for _ in range(workers)
        ]
        wait_for(lambda: (folder / "log").read_text().count("Registered to:") == workers)
        wait_for(lambda: file.exists() and file.read_text().endswith("}"))
        address = json.loads(file.read_text())["address"]
        yield Cluster(address, folder / "log", scheduler, started)


def test_a_cluster_finds_the_rows_of_a_local_run_though_a_worker_is_killed(tmp_path: Path) -> None:
    tasks = [*get_study("limits").tasks("quick"), *get_study("forrester").tasks("quick")[5:15]]
    with Store.open(tmp_path / "local.sqlite", "w") as store:
        run(tasks, store)
        local = comparable(store, tasks)
    with cluster(tmp_path, 2) as dask, Store.open(tmp_path / "dask.sqlite", "w") as store:

        def kill_one(tally: Tally) -> None:
            if tally.ended == 8:
                os.kill(dask.workers[0].pid, signal.SIGKILL)

        tally = run(tasks, store, scheduler=dask.address, progress=kill_one)
        assert dask.workers[0].wait() == -signal.SIGKILL
        assert (tally.done, tally.failed) == (len(tasks), 0)
        assert comparable(store, tasks) == local
        assert sum(map(len, local.values())) > 5000


def test_rows_that_are_lost_with_their_worker_are_found_again(tmp_path: Path) -> None:
    traces = tmp_path / "traces"
    traces.mkdir()
    with cluster(tmp_path, 2) as dask, Store.open(tmp_path / "s.sqlite", "w") as store:

        def kill_one_late(tally: Tally) -> None:
            if tally.ended == 1:
                wait_for(lambda: len(list(traces.iterdir())) == len(TASKS))
                dask.workers[0].kill()
                dask.workers[0].wait()
                wait_for(lambda: "to lose already computed task" in dask.log.read_text())

        work = partial(where, folder=traces, seconds=0.2)
        tally = run(TASKS, store, scheduler=dask.address, progress=kill_one_late, work=work)
        assert (tally.done, tally.failed) == (12, 0)
        assert comparable(store, TASKS) == expected(TASKS)
    assert len({file.name.split()[0] for file in traces.iterdir()}) == 2
    assert len(list(traces.iterdir())) > len(TASKS)


def test_a_task_that_kills_too_many_workers_fails_and_can_be_tried_again(tmp_path: Path) -> None:
    traces = tmp_path / "traces"
    traces.mkdir()
    work = partial(deadly, folder=traces, victim=TASKS[3], times=1)
    with (
        cluster(tmp_path, 2, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0") as dask,
        Store.open(tmp_path / "s.sqlite", "w") as store,
    ):
        run(TASKS, store, scheduler=dask.address, work=work)
        failures = {failed.task: failed.failure for failed in store.failures()}
        assert failures[TASKS[3]].type == "KilledWorker"
        assert store.done() == set(TASKS) - set(failures)
        tally = run(TASKS, store, scheduler=dask.address, work=simple, retry_failed=True)
        assert (tally.done, tally.failed) == (len(failures), 0)
        assert comparable(store, TASKS) == expected(TASKS)
        assert store.failures() == []


def test_a_lost_scheduler_stops_the_run_and_keeps_what_is_done(tmp_path: Path) -> None:
    with cluster(tmp_path, 1) as dask, Store.open(tmp_path / "s.sqlite", "w") as store:

        def lose(tally: Tally) -> None:
            if tally.ended == 2:
                dask.scheduler.kill()

        with pytest.raises(
            InputError, match=r"cannot be reached any more; what was done so far is"
        ):
            run(
                TASKS, store, scheduler=dask.address, progress=lose, work=partial(slow, seconds=0.1)
            )
        assert len(store.done()) >= 2
        run(TASKS, store, work=simple)
        assert comparable(store, TASKS) == expected(TASKS)


def test_a_scheduler_without_workers_is_named(tmp_path: Path) -> None:
    with (
        cluster(tmp_path, 0) as dask,
        pytest.raises(InputError, match=rf"^the Dask scheduler {dask.address} has no workers; st"),
    ):
        next(on_cluster(TASKS, simple, dask.address, patience=1.0))


def test_a_worker_with_another_pengp_is_refused(tmp_path: Path) -> None:
    information = tmp_path / "other" / "pengp-9.9.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: pengp\nVersion: 9.9\n")
    (information.parent / "pengp.py").write_text("__version__ = '9.9'\n")  # older Dask asks this
    with (
        cluster(tmp_path, 1, PYTHONPATH=f"{information.parent}:{_ROOT}") as dask,
        pytest.raises(
            InputError, match=r"^the Dask worker tcp://\S+ has pengp 9\.9, this process h"
        ),
    ):
        next(on_cluster(TASKS, simple, dask.address, patience=60.0))


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:{port}", "nonsense://x", "127.0.0.1"])
def test_a_scheduler_that_does_not_answer_is_named(address: str) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound but not listening: nobody answers there
        address = address.format(port=unused.getsockname()[1])
        with pytest.raises(
            InputError, match=rf"^no Dask scheduler answers at {address} within 1 s"
        ):
            next(on_cluster(TASKS, simple, address, patience=1.0))


def test_without_dask_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"not installed; `pip install 'pengp\[dask\]'` installs"):
        next(on_cluster(TASKS, simple, "tcp://127.0.0.1:1"))
