"""Runs with the same inputs, left out together: one of them would give the others away.

With P = R^-1 less what a trend takes, leaving out the runs k has the residuals r = P_kk^-1 (P y)_k
and the scaled covariance P_kk^-1 (Dubrule, 1983).
"""

import numpy as np

from pengp._core.arrays import FloatArray
from pengp._core.rows import first_of_each


def leave_twins_out(
    X: FloatArray, F: FloatArray, B: FloatArray, residual: FloatArray, variance: FloatArray
) -> None:
    """Overwrite what leaving out single runs gives for those that have twins.

    Parameters
    ----------
    X : [n, d]
        Inputs.
    F, B : [n, n], [k, n]
        P = F F' - B' B.
    residual, variance : [n]
        (P y)_i / P_ii and 1 / P_ii, overwritten.
    """
    first = first_of_each(X)
    for i in np.flatnonzero(np.bincount(first) > 1):
        k = np.flatnonzero(first == i)
        inverse = np.linalg.inv(F[k] @ F[k].T - B[:, k].T @ B[:, k])
        alpha = residual[k] / variance[k]
        residual[k], variance[k] = inverse @ alpha, np.diagonal(inverse)
