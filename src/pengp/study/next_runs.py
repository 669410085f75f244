"""Do chosen runs help? From 2d to 4d runs, chosen by pengp, by distance or at random.

A problem is a table of runs, of a test function or of a real simulator. A third of its rows, drawn
before anything is chosen, are the test runs; the others are the candidates.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist

from pengp._core.arrays import FloatArray, IntArray
from pengp.datasets import get_function, latin_hypercube, scale_design
from pengp.decisions import next_runs
from pengp.decisions.goals import CriterionName
from pengp.estimators import BayesianGPRegressor
from pengp.study.methods.problems import SimulatorTables
from pengp.study.methods.sizes import NEXT_FUNCTIONS
from pengp.study.report_rows import MissingRowsError, Rows
from pengp.study.rows import timed
from pengp.study.task import Row, Task

_ROWS = 1000
"""Most rows of a problem."""

_TEST = 3
"""One row in so many is a test run."""

_FEWEST = 5
"""Runs at the beginning, or twice the number of inputs."""

_BATCHES = 4
"""Batches after which the number of runs has doubled."""


class Continued(NamedTuple):
    """A table of runs, where a study of them begins, and what judges it."""

    X: FloatArray  # [N, d]
    y: FloatArray  # [N]
    X_test: FloatArray  # [m, d]
    y_test: FloatArray  # [m]
    bounds: FloatArray  # [d, 2]
    start: IntArray  # [n]
    seed: int


#: A way to continue: rows [k] of a problem, given those known and the number k.
Way = Callable[[Continued, IntArray, int], IntArray]


def at_random(problem: Continued, known: IntArray, k: int) -> IntArray:
    """Return further rows, drawn."""
    rng = np.random.default_rng([problem.seed, len(known)])
    return rng.permutation(_others(problem, known))[:k]


def by_distance(problem: Continued, known: IntArray, k: int) -> IntArray:
    """Return the rows that are farthest from all before (maximin)."""
    low, high = problem.bounds.T
    U = (problem.X - low) / np.where(high > low, high - low, 1.0)
    nearest = cdist(U, U[known], "sqeuclidean").min(axis=1)
    chosen = np.empty(k, dtype=np.int64)
    for i in range(k):
        chosen[i] = nearest.argmax()
        np.minimum(nearest, ((U - U[chosen[i]]) ** 2).sum(axis=1), out=nearest)
    return chosen


def by_criterion(criterion: CriterionName) -> Way:
    """Return the way that `pengp.decisions.next_runs` goes, for accuracy by a criterion."""

    def way(problem: Continued, known: IntArray, k: int) -> IntArray:
        others = _others(problem, known)
        model = _average(problem, known)
        X = problem.X[others]
        found = next_runs(model, k, candidates=X, criterion=criterion, random_state=problem.seed)
        return others[cdist(found.X / _width(problem), X / _width(problem)).argmin(axis=1)]

    return way


WAYS: dict[str, Way] = {
    "random": at_random,
    "maximin": by_distance,
    "variance": by_criterion("integrated variance"),
    "vigf": by_criterion("VIGF"),
}


def _others(problem: Continued, known: IntArray) -> IntArray:
    """Return the rows that are not known."""
    return np.setdiff1d(np.arange(len(problem.y)), known)


def _width(problem: Continued) -> FloatArray:
    """Return the widths [d] of the inputs, 1 for those without."""
    width = np.ptp(problem.bounds, axis=1)
    return np.where(width > 0.0, width, 1.0)


def _average(problem: Continued, known: IntArray) -> BayesianGPRegressor:
    """Return the average of the known rows."""
    model = BayesianGPRegressor(input_bounds=problem.bounds, random_state=problem.seed)
    return model.fit(problem.X[known], problem.y[known])


def continued(problem: Continued, way: Way) -> float:
    """Return the RMSE on the test runs once the runs have doubled, in their sd."""
    known, twice = problem.start, 2 * len(problem.start)
    step = -(-len(known) // _BATCHES)
    while len(known) < twice:
        new = way(problem, known, min(step, twice - len(known)))
        known = np.concatenate([known, np.unique(new)])
    error = _average(problem, known).predict(problem.X_test) - problem.y_test
    return float(np.sqrt(np.mean(error**2)) / np.std(problem.y_test))


def _compared(problem: Continued) -> list[Row]:
    """Return the error of every way."""
    rows = []
    for name, way in WAYS.items():
        value, seconds = timed(continued, problem, way)
        rows.append(Row(name, None, "rmse", None, value, seconds))
    return rows


def _started(X: FloatArray, y: FloatArray, bounds: FloatArray, task: Task) -> Continued:
    """Return a problem that begins with random rows."""
    rng = np.random.default_rng(task.seed)
    kept = rng.permutation(len(y))[:_ROWS]
    test, rest = np.split(kept, [len(kept) // _TEST])
    n = max(2 * X.shape[1], _FEWEST)
    seed = int(rng.integers(2**31))
    return Continued(X[rest], y[rest], X[test], y[test], bounds, np.arange(n), seed)


def on_function(task: Task) -> list[Row]:
    """Return the errors on a test function; the table is new in each repetition."""
    function = get_function(task.function.removeprefix("next-"))
    design = latin_hypercube(_ROWS, function.dimension, random_state=task.seed)
    X = scale_design(design, function.bounds)
    return _compared(_started(X, function(X), function.bounds, task))


def on_simulator(task: Task, tables: SimulatorTables) -> list[Row]:
    """Return the errors on the first response of a real simulator."""
    table = tables[task.function.removeprefix("next-")]
    bounds = np.column_stack([table.X.min(axis=0), table.X.max(axis=0)])
    return _compared(_started(table.X, table.Y[:, 0], bounds, task))


PARTS: dict[str, Callable[[Task], list[Row]]] = dict.fromkeys(NEXT_FUNCTIONS, on_function)


def ratios(rows: Rows) -> pd.DataFrame:
    """Return 100 times the mean log ratio of RMSE to maximin's and to random's, with errors.

    One line a problem, the last one their mean; negative is better.
    """
    found = []
    for part in (*rows.parts("decisions"), *rows.parts("decisions-real")):
        name = part.split("/")[1]
        if name.startswith("next-"):
            found.append({"problem": name.removeprefix("next-"), **_of_part(rows, part)})
    if not found:
        raise MissingRowsError("no rows of next runs")
    table = pd.DataFrame(found)
    numbers = table.drop(columns="problem")
    mean, error = numbers.mean(), numbers.sem()
    last = {
        "problem": "mean",
        **mean,
        **{k: error[k[:-3]] for k in mean.index if k.endswith(" SE")},
    }
    return pd.concat([table, pd.DataFrame([last])], ignore_index=True)


def _of_part(rows: Rows, part: str) -> dict[str, float]:
    """Return the ratios of one problem."""
    errors = {way: rows.by_repetition(part, way, "rmse") for way in WAYS}
    line: dict[str, float] = {}
    for way, base in (
        *(("variance", "maximin"), ("vigf", "maximin")),
        *(("variance", "random"), ("maximin", "random")),
    ):
        logs = 100.0 * np.log((errors[way] / errors[base]).to_numpy(dtype=np.float64))
        spread = float(logs.std(ddof=1) / np.sqrt(len(logs))) if len(logs) > 1 else np.nan
        line |= {f"{way}/{base}": float(logs.mean()), f"{way}/{base} SE": spread}
    return line
