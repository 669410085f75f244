"""Memory over a study of many tiny tasks; `python -m benchmarks.study` prints figures.

Every task leaves the memory of the process that worked on it as its row.
"""

import math
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.study.runner import Tally, run
from pengp.study.store import Store
from pengp.study.task import Row, Task

COUNT = 10_000


def tiny(task: Task) -> list[Row]:
    """Return a few rows that take no time."""
    values = (math.sin(task.seed + i) for i in range(8))
    rows = [Row("a", 0.5, "sine", float(i), value, 0.0) for i, value in enumerate(values)]
    return [*rows, Row("a", None, "memory", None, _memory(), 0.0)]


def many_tasks(jobs: int) -> None:
    """Print how the memory of the last tenth of the tasks compares with that of the second."""
    tasks = [Task("tiny", "sine", r) for r in range(COUNT)]
    here: list[float] = []

    def note(tally: Tally) -> None:
        here.append(_memory())

    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        with Store.open(Path(folder) / "s.sqlite", "w") as store:
            tally = run(tasks, store, jobs=jobs, work=tiny, progress=note)
        seconds, start = time.perf_counter() - start, time.perf_counter()
        with Store.open(Path(folder) / "s.sqlite") as store:  # compares all checksums
            opening, rows = time.perf_counter() - start, store.rows()
    there = rows.loc[rows["metric"] == "memory", "value"].to_numpy()
    print(f"{tally.done} tasks, {len(rows)} rows, jobs {jobs}: {seconds:.1f} s; ", end="")
    print(f"opening the file and comparing its checksums: {opening:.2f} s")
    for name, memory in (("this process", np.array(here[1:])), ("where the work is", there)):
        second, last = _tenth(memory, 1), _tenth(memory, 9)
        print(f"  {name}: {second:.1f} MB, then {last:.1f} MB: {100 * (last / second - 1):+.2f} %")


def _tenth(memory: FloatArray, k: int) -> float:
    """Return the mean over tenth k, counted from 0, of memory [tasks]."""
    return float(np.array_split(memory, 10)[k].mean())


def _memory() -> float:
    """Return the memory of this process in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


if __name__ == "__main__":
    for jobs in (1, 2):
        many_tasks(jobs)
