"""The next run among 10,000 candidates, n = 40 runs of d = 8 inputs; beside scikit-optimize."""

import time
import warnings
from typing import Any

import numpy as np

from benchmarks.timing import line, verdict
from pengp import BayesianGPRegressor
from pengp._core.arrays import FloatArray
from pengp.datasets import latin_hypercube
from pengp.datasets.functions import FUNCTIONS
from pengp.decisions import next_runs

_MOST = 3.0
"""Seconds that a proposal may take."""


def next_run(n: int = 40, d: int = 8, m: int = 10_000) -> None:
    """Time a proposal for each goal, and the fit and proposal of another package."""
    print(f"Next run among {m:,} candidates, n = {n}, d = {d}")
    X = latin_hypercube(n, d, random_state=0)
    y = FUNCTIONS["borehole"].unit(X)
    candidates = latin_hypercube(m, d, random_state=1)
    start = time.perf_counter()
    model = BayesianGPRegressor(input_bounds=[(0.0, 1.0)] * d, random_state=0).fit(X, y)
    fit = time.perf_counter() - start
    line("pengp, fit of the average", fit)
    seconds, worst = {}, 0.0
    for goal in ("accuracy", "optimum"):
        start, busy = time.perf_counter(), time.process_time()
        next_runs(model, 1, goal=goal, candidates=candidates)
        seconds[goal] = time.perf_counter() - start
        worst = max(worst, time.process_time() - busy)
        line(f"pengp, {goal}", seconds[goal])
    verdict(f"the processor's seconds / {_MOST:g}", worst / _MOST, "below 1", worst < _MOST)
    theirs = _scikit_optimize(X, y, m)
    if theirs is None:
        print("  scikit-optimize is missing: pip install 'pengp[bench-decisions]' shows the ratio.")
        return
    line("scikit-optimize, fit and proposal", theirs)
    ratio = (fit + seconds["optimum"]) / theirs
    print(f"  -> pengp, averaged / scikit-optimize, one theta: {ratio:.2f} x, fit and proposal")


def _scikit_optimize(X: FloatArray, y: FloatArray, m: int) -> float | None:
    """Return the seconds of a fit and of the best expected improvement of m points, or None."""
    try:
        import skopt
    except ImportError:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # bounds of lengthscales that are reached
        optimizer: Any = skopt.Optimizer(
            [(0.0, 1.0)] * X.shape[1],
            n_initial_points=len(X),
            acq_func="EI",
            acq_optimizer="sampling",
            acq_optimizer_kwargs={"n_points": m},
            random_state=0,
        )
        start = time.perf_counter()
        optimizer.tell(np.asarray(X).tolist(), y.tolist())
        optimizer.ask()
        return time.perf_counter() - start
