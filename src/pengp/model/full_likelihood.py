"""The full log likelihood in theta, sigma2, mean and nugget, none of them profiled out.

It has the same maximiser as the profile likelihood; it is here for those who want to see the
likelihood in all its parameters.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pengp._core.arrays import FloatArray
from pengp._core.datasets import check_runs
from pengp._core.linalg import cholesky, log_determinant
from pengp.model.kernels import Kernel, get_kernel


class FullLogLik(NamedTuple):
    """Full log likelihood of one data set at one point, and its gradient."""

    value: float
    theta: FloatArray  # [d], derivatives in log theta
    sigma2: float  # derivative in log sigma2
    mean: float  # derivative in the mean
    nugget: float  # derivative in log nugget


def full_loglik(
    X: ArrayLike,
    y: ArrayLike,
    theta: ArrayLike,
    sigma2: float,
    *,
    mean: float = 0.0,
    nugget: float = 1e-5,
    kernel: str | Kernel = "sqexp",
) -> FullLogLik:
    """Return -n/2 log sigma2 - 1/2 log|R| - (y - mean)' R^-1 (y - mean) / (2 sigma2).

    The paper's first likelihood equation, constants dropped. Where R is not positive definite the
    value is -inf and the derivatives are nan.

    Parameters
    ----------
    X : [n, d]
        Inputs.
    y : [n]
        Responses.
    theta : [d]
        Correlation parameters.
    sigma2, mean, nugget : float
        The other parameters.
    kernel : str or Kernel
        Correlation function.
    """
    X, theta = np.asarray(X, dtype=np.float64), np.asarray(theta, dtype=np.float64)
    r, correlation = np.asarray(y, dtype=np.float64) - mean, get_kernel(kernel)
    n = len(r)
    check_runs(n)
    D = ((X.T[:, :, None] - X.T[:, None, :]) ** 2).reshape(1, -1, n * n)
    flat, kept = correlation.correlate(theta[None], D)
    phi = flat.reshape(n, n)
    L, ok = cholesky((phi + nugget * np.eye(n))[None])
    if not ok[0]:
        return FullLogLik(-np.inf, np.full_like(theta, np.nan), np.nan, np.nan, np.nan)
    V = np.linalg.inv(phi + nugget * np.eye(n))
    alpha = V @ r
    q = float(r @ alpha) / sigma2
    value = -0.5 * (n * np.log(sigma2) + float(log_determinant(L)[0]) + q)
    W = 0.5 * (np.outer(alpha, alpha) / sigma2 - V)  # d value / d R
    pieces = correlation.pieces(theta[None], D, flat, kept)
    slopes = pieces.E[0] @ (W.ravel() * pieces.first[0])
    return FullLogLik(
        value,
        theta * slopes,
        0.5 * (q - n),
        float(alpha.sum()) / sigma2,
        nugget * float(np.trace(W)),
    )
