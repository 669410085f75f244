"""The problems of the study of methods: test functions, real simulators, and how they are split."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.datasets import get_function, latin_hypercube, scale_design
from pengp.exceptions import FileError
from pengp.study.rows import Runs, scaled_runs
from pengp.study.task import Task

#: Runs of each test function; the first four as in the paper's Section 4.
FUNCTION_RUNS = {
    "lim": 10,
    "franke": 10,
    "piston": 15,
    "borehole": 15,
    "branin": 12,
    "otl_circuit": 15,
    "wing_weight": 20,
    "ishigami": 15,
    "friedman": 15,
    "gramacy_lee": 12,
    "hartmann3": 15,
    "forrester": 8,
}
#: Test runs of a function.
_TEST_RUNS = 500
#: The most rows of a simulator's table that are test runs.
_MOST_TEST_RUNS = 800
#: Number of inputs of each simulator, whose table has them first, and files of a published split.
SIMULATOR_INPUTS = {
    "irsn5d": 5,
    "sir": 3,
    "canopy": 5,
    "clm5": 6,
    "heart_activation": 6,
    "heart_inflation": 9,
    "truss": 6,
    "crm_wing": 2,
    "b777_engine": 3,
    "spotweld": 4,
    "rat_heart_sham": 8,
}
#: Responses of a simulator that are studied, the first ones of its table.
_RESPONSES = 2
#: Runs are this many times the inputs, brought between the next two.
_SIZES, _FEWEST, _MOST = (2, 5), 10, 40


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
    responses: tuple[str, ...]  # m names


#: Tables of simulators by name.
SimulatorTables = Mapping[str, SimulatorTable]


def halves(names: Mapping[str, object]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split names in two: those on which choices are made, and those that confirm them.

    The order of the names' SHA-256 digests decides, so that nobody does.
    """
    order = sorted(names, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    half = (len(order) + 1) // 2
    return tuple(order[:half]), tuple(order[half:])


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


def simulator_parts(tables: SimulatorTables) -> list[str]:
    """Return the parts of the study for simulators: name.response.runs."""
    parts = []
    for name, table in tables.items():
        for response in table.responses[:_RESPONSES]:
            sizes = [min(max(k * table.X.shape[1], _FEWEST), _MOST) for k in _SIZES]
            parts += [f"{name}.{response}.{n}" for n in dict.fromkeys(sizes)]
    return parts


def simulator_problem(part: str, repetition: int, tables: SimulatorTables) -> Problem:
    """Draw a random subset of a simulator's table as runs; others are test runs."""
    name, response, n = part.split(".")
    table = tables[name]
    y = table.Y[:, table.responses.index(response)]
    rng = np.random.default_rng(Task("methods-real", part, repetition).seed)
    order = rng.permutation(len(y))
    runs, rest = order[: int(n)], order[int(n) : int(n) + _MOST_TEST_RUNS]
    bounds = np.column_stack([table.X.min(0), table.X.max(0)])
    seed = int(rng.integers(2**31))
    return _problem(table.X[runs], y[runs], table.X[rest], y[rest], bounds, seed)


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

    Simulators whose files are not there are left out.
    """
    tables = {}
    for name, d in SIMULATOR_INPUTS.items():
        files = [Path(folder) / f"{name}{end}.csv" for end in ("", "_train", "_test")]
        parts = [_table(file) for file in files if file.is_file()]
        if parts:
            names, values = parts[0][0], np.concatenate([v for _, v in parts])
            tables[name] = SimulatorTable(values[:, :d], values[:, d:], tuple(names[d:]))
    if not tables:
        known = ", ".join(SIMULATOR_INPUTS)
        raise FileError(f"{folder} has no table of a known simulator (NAME.csv of {known}).")
    return tables


def _table(file: Path) -> tuple[list[str], FloatArray]:
    """Return the names and numbers of a table."""
    try:
        with file.open(encoding="utf-8") as lines:
            names = next(lines).strip().split(",")
            return names, np.loadtxt(lines, delimiter=",", ndmin=2)
    except (OSError, ValueError, StopIteration) as error:
        raise FileError(f"{file} is not a table of numbers with names on top: {error}.") from error
