"""(d) How the time of a path grows with n, d, the number of lambdas and the number of folds."""

import time

import numpy as np

from pengp import PathFit, lambda_grid, penalized_path
from pengp._core.arrays import FloatArray


def smooth_runs(n: int, d: int, sets: int = 1) -> tuple[FloatArray, FloatArray]:
    """Return smooth responses of random designs, X [sets, n, d] and y [sets, n]."""
    X = np.random.default_rng([n, d]).random((sets, n, d))
    y = np.sin(X @ np.linspace(4.0, 0.5, d)) + X[..., 0] ** 2
    return X, (y - y.mean(-1, keepdims=True)) / y.std(-1, keepdims=True)


def _report(label: str, X: FloatArray, y: FloatArray, lams: FloatArray, n_starts: int) -> None:
    """Fit once, after a small warm-up, and print."""
    start = time.perf_counter()
    fit: PathFit = penalized_path(X, y, lams, n_starts=n_starts, random_state=0)
    seconds = time.perf_counter() - start
    each = 1e6 * seconds / fit.n_evaluations
    print(f"  {label:<34}{seconds:10.3f} s {fit.n_evaluations:8d} evaluations {each:11.1f} us each")


def all_growth() -> None:
    """Print the four growths."""
    penalized_path(*smooth_runs(8, 2), [0.0], random_state=0)
    paper, one = lambda_grid("paper"), np.zeros(1)
    print("(d) growth with n (d = 4, one lambda, 10 starts; 1 start from n = 500)")
    for n in (10, 20, 30, 40, 50, 60, 70, 100, 200, 500, 1000, 2000):
        _report(f"n = {n}", *smooth_runs(n, 4), one, 10 if n < 500 else 1)
    print("(d) growth with d (n = 20, 41 lambdas)")
    for d in (1, 2, 4, 8, 12, 20):
        _report(f"d = {d}", *smooth_runs(20, d), paper, 10)
    print("(d) growth with lambdas (n = 12, d = 6)")
    for size in (1, 5, 11, 41, 101, 200):
        _report(f"{size} lambdas", *smooth_runs(12, 6), lambda_grid("paper", n=size), 10)
    print("(d) growth with folds (n = 10, d = 6, 41 lambdas)")
    for sets in (1, 2, 4, 8, 16, 64):
        _report(f"{sets} data sets", *smooth_runs(10, 6, sets), paper, 10)
