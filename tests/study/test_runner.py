import multiprocessing
import os
import random
import signal
import subprocess
import sys
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path

import numpy as np
import pytest

from pengp.datasets import load_piston_slap
from pengp.exceptions import FileError, InputError
from pengp.study.definitions import STUDIES
from pengp.study.metadata import commit
from pengp.study.runner import Tally, run, run_studies
from pengp.study.store import Failure, Store
from pengp.study.task import Task, TestRuns
from pengp.study.tasks import run_task
from pengp.study.test_runs import digest
from pengp.study.workers import RETRIES, in_processes
from tests.study.work import (
    QUICK,
    TASKS,
    alive,
    comparable,
    deadly,
    expected,
    failing,
    run_quick,
    simple,
    slow,
    wait_for,
    where,
)


def worker_processes() -> list[BaseProcess]:
    """Return the runner's processes that live; joblib keeps some of its own for later tests."""
    return [p for p in multiprocessing.active_children() if "Loky" not in p.name]


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_rows_are_the_same_for_any_number_of_jobs(tmp_path: Path, jobs: int) -> None:
    tallies: list[Tally] = []
    with Store.open(tmp_path / "s.sqlite", "w") as store:
        tally = run(TASKS, store, jobs=jobs, work=simple, progress=tallies.append)
        assert comparable(store, TASKS) == expected(TASKS)
        assert store.done() == set(TASKS)
    assert (tally.total, tally.already, tally.done, tally.failed) == (12, 0, 12, 0)
    assert [t.ended for t in tallies] == list(range(13))
    assert tallies[-1] == tally
    assert tally.rate == 12 / tally.seconds
    assert worker_processes() == []


def test_tasks_of_the_store_are_passed_over_and_double_ones_run_once(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.sqlite", "w") as store:
        run(TASKS[:5], store, work=simple)
        tally = run([*TASKS, *TASKS], store, work=simple)
        assert (tally.total, tally.already, tally.to_do, tally.done) == (12, 5, 7, 7)
        assert comparable(store, TASKS) == expected(TASKS)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failed_task_is_recorded_and_tried_again_only_on_demand(
    tmp_path: Path, jobs: int
) -> None:
    bad = [task for task in TASKS if task.repetition == 2]
    with Store.open(tmp_path / "s.sqlite", "w") as store:
        tally = run(TASKS, store, jobs=jobs, work=failing)
        assert (tally.done, tally.failed) == (10, 2)
        assert [failed.task for failed in store.failures()] == bad
        failure = store.failures()[0].failure
        assert failure.type == "ZeroDivisionError"
        assert failure.message == f"no luck with seed {bad[0].seed}"
        assert "in failing" in failure.traceback
        assert comparable(store, bad) == {task: [] for task in bad}

        tally = run(TASKS, store, work=simple)
        assert (tally.already, tally.skipped, tally.to_do, tally.ended) == (10, 2, 0, 0)
        tally = run(TASKS, store, work=simple, retry_failed=True)
        assert (tally.done, tally.failed) == (2, 0)
        assert store.failures() == []
        assert comparable(store, TASKS) == expected(TASKS)


def test_a_worker_that_is_killed_costs_a_retry(tmp_path: Path) -> None:
    traces = tmp_path / "traces"
    traces.mkdir()
    work = partial(deadly, folder=traces, victim=TASKS[1], times=2)
    with Store.open(tmp_path / "s.sqlite", "w") as store:
        tally = run(TASKS, store, jobs=2, work=work)
        assert (tally.done, tally.failed) == (12, 0)
        assert comparable(store, TASKS) == expected(TASKS)
    assert len(list(traces.iterdir())) == 2


def test_a_task_that_kills_every_worker_fails_and_the_others_do_not(tmp_path: Path) -> None:
    traces = tmp_path / "traces"
    traces.mkdir()
    work = partial(deadly, folder=traces, victim=TASKS[1], times=1000)
    others = [task for task in TASKS if task != TASKS[1]]
    with Store.open(tmp_path / "s.sqlite", "w") as store:
        tally = run(TASKS, store, jobs=2, work=work)
        assert (tally.done, tally.failed) == (11, 1)
        (failed,) = store.failures()
        assert comparable(store, others) == expected(others)
    message = "4 worker processes died of it, the last with exit code -9"
    assert (failed.task, failed.failure) == (TASKS[1], Failure("WorkerDied", message, ""))
    assert len(list(traces.iterdir())) == RETRIES + 1


def test_closing_the_outcomes_ends_the_processes_at_once(tmp_path: Path) -> None:
    outcomes = in_processes(TASKS, partial(where, folder=tmp_path, seconds=0.1), 2)
    next(outcomes)
    pids = {int(file.name.split()[0]) for file in tmp_path.iterdir()}
    outcomes.close()
    assert worker_processes() == []
    assert not any(map(alive, pids))


def test_a_number_of_jobs_below_one_is_refused(tmp_path: Path) -> None:
    with (
        Store.open(tmp_path / "s.sqlite", "w") as store,
        pytest.raises(InputError, match="jobs is 0; it has to be at least 1"),
    ):
        run(TASKS, store, jobs=0, work=simple)


def test_a_quick_run_killed_at_twenty_random_moments_ends_with_the_same_rows(
    tmp_path: Path,
) -> None:
    with Store.open(tmp_path / "reference.sqlite", "w") as store:
        run(QUICK, store)
        reference = comparable(store, QUICK)
    assert sum(map(len, reference.values())) > 10000

    draw, path, killed = random.Random(1), tmp_path / "0.sqlite", 0
    while killed < 20:
        jobs = 2 if killed % 4 == 3 else 1
        process = _started(path, jobs)
        _wait_for_tasks(process, path, draw.randrange(3))
        process.join(draw.uniform(0.0, 0.2))
        workers = _children(process)
        process.kill()
        process.join()
        wait_for(lambda pids=workers: not any(map(alive, pids)))  # type: ignore[misc]
        if process.exitcode == 0:  # it was too quick; the next file continues the count
            _assert_rows(path, reference)
            path = tmp_path / f"{killed}.sqlite"
        else:
            assert process.exitcode == -signal.SIGKILL
            killed += 1
    run_quick(path, 1)
    _assert_rows(path, reference)


def _started(path: Path, jobs: int) -> BaseProcess:
    """Return a process that runs a quick study, with everything imported already."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.study.work", "pengp.study.runner"])
    process = context.Process(target=run_quick, args=(path, jobs))
    process.start()
    return process


def _wait_for_tasks(process: BaseProcess, path: Path, count: int) -> None:
    """Wait until a process has done so many tasks more, or all that there were."""
    before = _count_done(path)
    wait_for(lambda: not process.is_alive() or _count_done(path) >= before + count)


def _count_done(path: Path) -> int:
    """Return how many tasks a store holds."""
    if not path.exists() or path.stat().st_size == 0:
        return 0
    with Store.open(path) as store:
        return len(store.done())


def _children(process: BaseProcess) -> list[int]:
    """Return the process numbers of a process's children."""
    try:
        text = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    except OSError:  # it has ended
        return []
    return [int(pid) for pid in text.split()]


def _assert_rows(path: Path, reference: dict[Task, list[str]]) -> None:
    """Check that a store holds the rows of a run that was never stopped, and no others."""
    with Store.open(path) as store:
        assert comparable(store, QUICK) == reference
        assert store.done() == set(QUICK)
        assert len(store.rows()) == sum(map(len, reference.values()))
        assert store.failures() == []


def test_a_store_grows_from_one_size_to_the_next(tmp_path: Path) -> None:
    study = STUDIES["forrester"]
    tiny, quick = study.tasks("tiny"), study.tasks("quick")
    with Store.open(tmp_path / "grown.sqlite", "w") as store:
        first = run_studies([study], store, "tiny")["forrester"]
        for task in quick[10:]:
            store.add(task, [], 0.0)  # done, for the test's sake
        second = run_studies([study], store, "quick")["forrester"]
        grown = comparable(store, quick[:10])
    assert (first.already, first.done) == (0, len(tiny))
    assert (second.already, second.done) == (len(set(tiny) | set(quick[10:])), 3)
    assert grown == {
        task: [repr(row._replace(seconds=0.0)) for row in run_task(task)] for task in quick[:10]
    }


def _test_runs() -> TestRuns:
    """Return runs beside the training runs."""
    data = load_piston_slap()
    return TestRuns(data.X[:5] * 1.01, data.y[:5] + 0.5)


def test_test_runs_bring_their_tasks_and_are_pinned_with_the_circumstances(tmp_path: Path) -> None:
    study = STUDIES["piston-slap"]
    extra = [Task("piston-slap", part, 0) for part in study.test_parts]
    with Store.open(tmp_path / "s.sqlite", "w") as store:
        for task in study.tasks("tiny"):
            store.add(task, [], 0.0)  # the others are done, for the test's sake
        assert run_studies([study], store, "tiny")["piston-slap"].to_do == 0
        tally = run_studies([study], store, "tiny", test_runs=_test_runs())
        assert (tally["piston-slap"].done, tally["piston-slap"].failed) == (2, 0)
        assert comparable(store, extra) == {
            task: [repr(row._replace(seconds=0.0)) for row in run_task(task, _test_runs())]
            for task in extra
        }
        other = TestRuns(_test_runs().X, _test_runs().y + 1e-9)
        with pytest.raises(FileError, match="holds results on other test runs"):
            run_studies([study], store, "tiny", test_runs=other)
        metadata = store.metadata()
    assert metadata["test_runs"] == digest(_test_runs())
    assert [call["arguments"]["test_runs"] for call in metadata["invocations"]] == [False, True]
    call = metadata["invocations"][1]
    assert call["arguments"] == {
        "studies": ["piston-slap"],
        "size": "tiny",
        "seed": 0,
        "jobs": 1,
        "scheduler": None,
        "test_runs": True,
        "simulators": False,
        "retry_failed": False,
    }
    assert call["versions"]["numpy"] == np.__version__
    assert call["versions"]["python"] == sys.version.split()[0]
    assert set(call["versions"]) == {"python", "pengp", "numpy", "scipy", "scikit-learn"}
    assert call["cpus"] == os.cpu_count()
    assert call["started"] <= call["ended"]


def test_the_commit_is_that_of_the_package_not_of_the_folder_around_it(tmp_path: Path) -> None:
    git = ["git", "-c", "user.name=n", "-c", "user.email=e", "-C", str(tmp_path)]
    package, environment = tmp_path / "package", tmp_path / "environment"
    for folder in (package, environment):
        folder.mkdir()
        (folder / "__init__.py").touch()
    assert commit(package) is None
    for arguments in (["init", "-q"], ["add", "package"], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *arguments], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    assert commit(package) == head.stdout.strip()
    assert commit(environment) is None
    (package / "__init__.py").write_text("changed = True\n")
    assert commit(package) == f"{head.stdout.strip()}-dirty"


def test_an_exception_in_the_parent_leaves_no_process_behind(tmp_path: Path) -> None:
    def interrupted(tally: Tally) -> None:
        if tally.ended == 2:
            raise KeyboardInterrupt

    with Store.open(tmp_path / "s.sqlite", "w") as store:
        with pytest.raises(KeyboardInterrupt):
            run(TASKS, store, jobs=2, work=partial(slow, seconds=0.05), progress=interrupted)
        assert worker_processes() == []
        assert len(store.done()) == 2
        run(TASKS, store, work=simple)
        assert comparable(store, TASKS) == expected(TASKS)
