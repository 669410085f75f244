"""Whole commands: processor time of one process, from its start to its end."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.timing import line
from pengp._core.arrays import FloatArray
from pengp.datasets import FUNCTIONS, latin_hypercube, load_piston_slap, scale_design

#: What is run: label, arguments of Python, exit code and seconds of the goal.
_COMMANDS = (
    ("pengp fit, 12 runs, d = 6", "-m pengp fit 12.csv -y y --force", 0, 1.5),
    ("pengp fit, 40 runs, d = 8", "-m pengp fit 40.csv -y y --force", 0, 2.5),
    ("pengp fit, 150 runs, d = 10", "-m pengp fit 150.csv -y y --force", 0, 10.0),
    ("pengp fit, a file that is not there", "-m pengp fit none.csv -y y", 4, 0.4),
    ("pengp predict, no such model", "-m pengp predict none.pengp 40.csv", 4, 0.4),
    ("pengp report, no such model", "-m pengp report none.pengp", 4, 0.4),
    ("pengp next, no such table", "-m pengp next none.csv --response y", 4, 0.4),
    ("pengp effects, no such model", "-m pengp effects none.pengp", 4, 0.4),
    ("pengp predict, 40 runs", "-m pengp predict 40.pengp 40.csv -o new.csv", 0, np.inf),
    ("importing scikit-learn and pandas alone", "-c import\tsklearn.base,pandas", 0, np.inf),
)


def whole_commands(repeats: int = 5) -> None:
    """Print the median processor time of each command in a process of its own, taking turns."""
    took: list[list[float]] = [[] for _ in _COMMANDS]
    with tempfile.TemporaryDirectory() as folder:
        _write_tables(Path(folder))
        for _ in range(repeats):
            for seconds, (_, arguments, code, _) in zip(took, _COMMANDS, strict=True):
                seconds.append(_processor_time(arguments.split(" "), folder, code))
    print(f"commands: processor time of a whole process, median of {repeats}")
    for seconds, (label, _, _, goal) in zip(took, _COMMANDS, strict=True):
        median = float(np.median(seconds))
        note = f"goal: {goal:g} s; {'met' if median <= goal else 'NOT met'}"
        line(label, median, note if np.isfinite(goal) else "")


def _write_tables(folder: Path) -> None:
    """Write tables of 12, 40 and 150 runs in their own units."""
    piston = load_piston_slap()
    _write(folder, piston.X, piston.y)
    for name, n in (("borehole", 40), ("wing_weight", 150)):
        f = FUNCTIONS[name]
        X = scale_design(latin_hypercube(n, f.dimension, random_state=0), f.bounds)
        _write(folder, X, f(X))


def _write(folder: Path, X: FloatArray, y: FloatArray) -> None:
    """Write runs X [n, d], y [n] to a table whose name is their number."""
    names = [f"x{p + 1}" for p in range(X.shape[1])]
    pd.DataFrame(X, columns=names).assign(y=y).to_csv(folder / f"{len(y)}.csv", index=False)


def _processor_time(arguments: list[str], folder: str, code: int) -> float:
    """Return the seconds, user's and system's, of a Python that is to end with an exit code."""
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != code:
        raise RuntimeError(f"{' '.join(arguments)} ended with {process.returncode}, not {code}.")
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    whole_commands()
