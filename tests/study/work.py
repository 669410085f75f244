"""Fast stand-ins for the work on a task, for worker processes to import; how to compare rows."""

import math
import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

from pengp.study.definitions import get_study
from pengp.study.store import Store
from pengp.study.task import Row, Task

TASKS = [Task("fake", function, r) for function in ("one", "two") for r in range(6)]
QUICK = get_study("forrester").tasks("quick")


def simple(task: Task) -> list[Row]:
    """Return rows that follow from the task's seed, some of them not finite."""
    draw = random.Random(task.seed)
    return [
        Row("a", None, "m", draw.random(), draw.random(), time.perf_counter()),
        Row("a", draw.random(), "m", None, math.nan, time.perf_counter()),
        Row("b", math.inf, "m", math.nan, -math.inf, time.perf_counter()),
    ]


def failing(task: Task) -> list[Row]:
    """Fail in repetition 2."""
    if task.repetition == 2:
        raise ZeroDivisionError(f"no luck with seed {task.seed}")
    return simple(task)


def slow(task: Task, seconds: float) -> list[Row]:
    """Take some time."""
    time.sleep(seconds)
    return simple(task)


def deadly(task: Task, folder: Path, victim: Task, times: int) -> list[Row]:
    """Kill the process at the first attempts at one task, and leave a file for each of them."""
    if task == victim and len(list(folder.iterdir())) < times:
        (folder / str(os.getpid())).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return simple(task)


def where(task: Task, folder: Path, seconds: float) -> list[Row]:
    """Leave a file that names the process and take some time."""
    (folder / f"{os.getpid()} {task.function} {task.repetition}").touch()
    return slow(task, seconds)


def run_quick(path: Path, jobs: int) -> None:
    """Run a quick study; to be called in a process of its own."""
    from pengp.study.runner import run  # much to import, which the other helpers do without

    with Store.open(path, "w") as store:
        run(QUICK, store, jobs=jobs)


def stored_rows(store: Store, task: Task) -> list[Row]:
    """Return the rows of one task exactly as it returned them, None and NaN kept apart."""
    found = store._select(
        "SELECT method, lam, metric, x, value, seconds FROM rows "
        "WHERE (study, function, repetition) = (?, ?, ?) ORDER BY position",
        task[:3],
    )

    def decoded(stored: float | str | None) -> float | None:
        return None if stored is None else float(stored)

    return [
        Row(method, decoded(lam), metric, decoded(x), float(value), seconds)
        for method, lam, metric, x, value, seconds in found
    ]


def comparable(store: Store, tasks: list[Task]) -> dict[Task, list[str]]:
    """Return all columns but seconds as text, in which NaN equals NaN and every bit counts."""
    return {
        task: [repr(row._replace(seconds=0.0)) for row in stored_rows(store, task)]
        for task in tasks
    }


def expected(tasks: list[Task]) -> dict[Task, list[str]]:
    """Return what `comparable` gives for the rows of `simple`."""
    return {task: [repr(row._replace(seconds=0.0)) for row in simple(task)] for task in tasks}


def alive(pid: int) -> bool:
    """Return whether a process exists and is no zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def wait_for(condition: Callable[[], bool], seconds: float = 120.0) -> None:
    """Wait until a condition holds; fail if it does not in good time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} s for {condition}"
        time.sleep(0.01)
