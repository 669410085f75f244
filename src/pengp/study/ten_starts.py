"""The paper's own search for the maximum of the likelihood, which may miss it.

Section 4: L-BFGS-B in theta, bounds [0.001, 1000], the best of 10 random starts; log theta of a
start is uniform on (-5, 2.5).
"""

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from pengp._core.arrays import FloatArray
from pengp.model.kernels import get_kernel
from pengp.model.likelihood import BatchLikelihood
from pengp.study.rows import NUGGET, Runs

STARTS, LOG_RANGE, BOUNDS = 10, (-5.0, 2.5), (1e-3, 1e3)
#: Relative gain at which R's optim ends: 1e7 machine precisions.
_GAIN = 1e7 * float(np.finfo(np.float64).eps)
#: Objective of a theta whose correlation matrix has no factor.
_IMPOSSIBLE = 1e10


def climb(
    negative: Callable[[FloatArray], tuple[float, FloatArray | list[float]]], start: FloatArray
) -> tuple[float, FloatArray]:
    """Return minus the objective, and theta [d], where a search from one start [d] ends.

    ``negative`` gives minus the objective and the gradient of that in theta [d].
    """
    found = minimize(
        negative,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[BOUNDS] * len(start),
        options={"ftol": _GAIN, "gtol": 0.0},
    )
    return float(found.fun), np.asarray(found.x)


def ten_starts(runs: Runs, seed: int) -> FloatArray:
    """Return theta [d] of the highest likelihood that the paper's search of runs finds."""
    likelihood = BatchLikelihood(runs.X[None], runs.y[None], get_kernel("sqexp"), NUGGET)
    d = runs.X.shape[1]

    def negative(theta: FloatArray) -> tuple[float, FloatArray]:
        at = likelihood.evaluate(np.zeros(1, dtype=np.int64), np.log(theta)[None])
        if not at.ok[0]:
            return _IMPOSSIBLE, np.zeros(d)
        return -float(at.value[0]), -at.gradient[0] / theta

    starts = np.exp(np.random.default_rng(seed).uniform(*LOG_RANGE, (STARTS, d)))
    return min((climb(negative, start) for start in starts), key=lambda end: end[0])[1]
