"""Space-filling runs of real simulators: the average against maximum likelihood.

`python -m benchmarks.subsets FOLDER`, with the tables that `pengp study run methods-real` reads.
That study takes random rows of a table as runs; designed runs are spread, as here.
"""

import sys
from collections import defaultdict

import numpy as np
from joblib import Parallel, delayed
from sklearn.metrics.pairwise import euclidean_distances

from pengp._core.arrays import FloatArray, IntArray
from pengp.study.methods.catalogue import METHODS
from pengp.study.methods.forecasts import scores
from pengp.study.methods.problems import Problem, SimulatorTables, problem_of_rows, read_simulators
from pengp.study.methods.sizes import SIMULATOR_PARTS

_METHODS = ("mle", "bayes", "bayes_two_active")
_SUBSETS = 3


def spread(X: FloatArray, n: int, rng: np.random.Generator) -> IntArray:
    """Return n rows of X [N, d]: one at random, then always the farthest from those chosen."""
    low, high = X.min(axis=0), X.max(axis=0)
    U = (X - low) / np.where(high > low, high - low, 1.0)
    chosen = [int(rng.integers(len(U)))]
    nearest = np.full(len(U), np.inf)
    while len(chosen) < n:
        nearest = np.minimum(nearest, euclidean_distances(U, U[chosen[-1:]])[:, 0])
        chosen.append(int(nearest.argmax()))
    return np.array(chosen)


def problem(part: str, seed: int, tables: SimulatorTables) -> Problem:
    """Return a problem of the study `methods-real` with spread runs."""
    name, _, n = part.split(".")
    rng = np.random.default_rng([seed, SIMULATOR_PARTS.index(part)])
    X = tables[name].X
    runs = spread(X, int(n), rng)
    rest = rng.permutation(np.setdiff1d(np.arange(len(X)), runs))
    return problem_of_rows(part, runs, rest, seed, tables)


def _scored(part: str, seed: int, tables: SimulatorTables) -> FloatArray:
    """Return RMSE, CRPS and coverage of every method [k, 3]."""
    given = problem(part, seed, tables)
    found = (scores(METHODS[name](given), given.y_test) for name in _METHODS)
    return np.array([[each[s] for s in ("rmse", "crps", "coverage")] for each in found])


def spread_subsets(folder: str) -> None:
    """Print 100 log ratios of RMSE and CRPS to those of the MLE, and coverage."""
    tables = read_simulators(folder)
    tasks = [(part, seed) for part in SIMULATOR_PARTS for seed in range(_SUBSETS)]
    found = Parallel(n_jobs=2)(delayed(_scored)(part, seed, tables) for part, seed in tasks)
    by_part = defaultdict(list)
    for (part, _), values in zip(tasks, found, strict=True):
        ratios = 100.0 * np.log(values[:, :2] / values[0, :2])
        by_part[part].append(np.column_stack([ratios, values[:, 2]]))
    means = np.array([np.mean(each, axis=0) for each in by_part.values()])  # [problems, k, 3]
    errors = [np.std(each, axis=0, ddof=1) / np.sqrt(len(each)) for each in by_part.values()]
    error = np.linalg.norm(errors, axis=0) / len(errors)
    print(f"{len(means)} problems, {_SUBSETS} spread subsets each: RMSE, CRPS, coverage (lowest)")
    for k, name in enumerate(_METHODS):
        rmse, crps, coverage = means[:, k].mean(axis=0)
        print(
            f"  {name:<18}{rmse:+6.1f} +- {error[k, 0]:.1f}  {crps:+6.1f} +- {error[k, 1]:.1f}"
            f"  {coverage:.2f} ({means[:, k, 2].min():.2f})"
        )


if __name__ == "__main__":
    spread_subsets(sys.argv[1])
