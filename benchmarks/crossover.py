"""Where exact Hessians stop paying: the same fits by lockstep Newton and by L-BFGS-B."""

import time

import numpy as np

from benchmarks.growth import smooth_runs
from pengp import lambda_grid, penalized_path
from pengp.path import settings


def newton_or_lbfgs() -> None:
    """Print both times around the size at which pengp changes over."""
    print(f"Newton against L-BFGS-B (pengp changes over above n = {settings.NEWTON_SIZE})")
    chosen = settings.NEWTON_SIZE
    for d in (2, 8):
        for n in (30, 45, 60, 80, 120):
            X, y = smooth_runs(n, d)
            for label, lams in (("1 lambda", np.zeros(1)), ("11 lambdas", lambda_grid(n=11))):
                seconds, heights = [], []
                for size in (10**9, 0):
                    settings.NEWTON_SIZE = size
                    start = time.perf_counter()
                    fit = penalized_path(X, y, lams, random_state=0)
                    seconds.append(time.perf_counter() - start)
                    heights.append(fit.objective)
                worse = float((heights[0] - heights[1]).max())
                print(
                    f"  d = {d}, n = {n:3d}, {label:<11}{seconds[0]:9.3f} s {seconds[1]:9.3f} s"
                    f"   L-BFGS-B lower by up to {worse:.3g}"
                )
    settings.NEWTON_SIZE = chosen
