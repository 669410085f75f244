"""The problems of the study of methods: runs of test functions and of real simulators."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pengp._core.arrays import FloatArray, IntArray
from pengp.datasets import get_function, latin_hypercube, scale_design
from pengp.exceptions import FileError
from pengp.study.methods.sizes import FUNCTION_RUNS, SIMULATORS
from pengp.study.rows import Runs, piston_slap_runs, scaled_runs
from pengp.study.task import Task, TestRuns

#: Test runs of a function.
_TEST_RUNS = 500
#: The most rows of a simulator's table that are test runs.
_MOST_TEST_RUNS = 800


class Problem(NamedTuple):
    """Runs to fit and runs to predict, scaled alike."""

    runs: Runs
    X_test: FloatArray  # [m, d], on the scale of the runs
    y_test: FloatArray  # [m], standardised by the runs
    seed: int
    """Of everything random in a method."""


class SimulatorTable(NamedTuple):
    """All runs of a simulator."""

    X: FloatArray  # [N, d]
    Y: FloatArray  # [N, m]


#: Tables of simulators by name.
SimulatorTables = Mapping[str, SimulatorTable]


def function_problem(name: str, repetition: int) -> Problem:
    """Draw a random Latin hypercube of runs, one of test runs, and a seed."""
    function = get_function(name)
    rng = np.random.default_rng(Task("methods", name, repetition).seed)
    X, X_test = (
        scale_design(latin_hypercube(k, function.dimension, random_state=rng), function.bounds)
        for k in (FUNCTION_RUNS[name], _TEST_RUNS)
    )
    seed = int(rng.integers(2**31))
    return _problem(X, function(X), X_test, function(X_test), function.bounds, seed)


def simulator_problem(part: str, repetition: int, tables: SimulatorTables) -> Problem:
    """Draw a random subset of a simulator's table as runs; others are test runs."""
    name, _, n = part.split(".")
    rng = np.random.default_rng(Task("methods-real", part, repetition).seed)
    runs, rest = np.split(rng.permutation(len(tables[name].Y)), [int(n)])
    return problem_of_rows(part, runs, rest, int(rng.integers(2**31)), tables)


def problem_of_rows(
    part: str, runs: IntArray, rest: IntArray, seed: int, tables: SimulatorTables
) -> Problem:
    """Take rows of a simulator's table as runs, and the first of the rest as test runs."""
    name, response, _ = part.split(".")
    X, y = tables[name].X, tables[name].Y[:, int(response) - 1]
    bounds, test = np.column_stack([X.min(0), X.max(0)]), rest[:_MOST_TEST_RUNS]
    return _problem(X[runs], y[runs], X[test], y[test], bounds, seed)


def piston_slap_problem(test_runs: TestRuns, seed: int) -> Problem:
    """Return the 12 piston-slap runs, and the user's test runs to predict."""
    runs = piston_slap_runs()
    X_test, y_test = runs.inputs.transform(test_runs.X), runs.response.transform(test_runs.y)
    return Problem(runs, X_test, y_test, seed)


def _problem(
    X: FloatArray,
    y: FloatArray,
    X_test: FloatArray,
    y_test: FloatArray,
    bounds: FloatArray,
    seed: int,
) -> Problem:
    """Scale runs and test runs by the design region and by the runs' responses."""
    runs = scaled_runs(X, y, bounds)
    return Problem(runs, runs.inputs.transform(X_test), runs.response.transform(y_test), seed)


def read_simulators(folder: str | Path) -> dict[str, SimulatorTable]:
    """Read the tables of a folder: NAME.csv, or NAME_train.csv and NAME_test.csv, names on top.

    The first columns are the inputs, the others responses.
    """
    tables = {}
    for name, (d, _) in SIMULATORS.items():
        files = [Path(folder) / f"{name}{end}.csv" for end in ("", "_train", "_test")]
        parts = [_table(file) for file in files if file.is_file()]
        if not parts:
            raise FileError(f"{folder} has no table {name}.csv; the study needs all simulators.")
        values = np.concatenate(parts)
        tables[name] = SimulatorTable(values[:, :d], values[:, d:])
    return tables


def _table(file: Path) -> FloatArray:
    """Return the numbers of a table."""
    try:
        return np.loadtxt(file, delimiter=",", skiprows=1, ndmin=2)
    except (OSError, ValueError) as error:
        raise FileError(f"{file} is not a table of numbers with names on top: {error}.") from error
