"""The full log likelihood in theta, sigma2, mean and nugget, none of them profiled out.

It has the same maximiser as the profile likelihood; it is here for those who want to see the
likelihood in all its parameters.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pengp._core.arrays import FloatArray, as_floats, check_sizes
from pengp._core.checks import LARGEST_PARAMETER, check_number
from pengp._core.datasets import as_datasets, check_inputs, check_runs
from pengp._core.linalg import cholesky, log_determinant
from pengp._core.shown import shown
from pengp.exceptions import InputError
from pengp.model.kernels import Kernel, KernelName, get_kernel

_LARGEST_INPUT, _LARGEST_MEAN = 1e40, 1e40
"""Sizes up to which squares, times or over any parameter, are numbers."""


@shown
class FullLogLik(NamedTuple):
    """Full log likelihood of one data set at one point, and its gradient.

    See Also
    --------
    full_loglik : Makes it.
    """

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
    kernel: KernelName | Kernel = "sqexp",
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

    Examples
    --------
    >>> import numpy as np
    >>> from pengp import full_loglik, get_function
    >>> X = np.linspace(0, 1, 8)[:, None]
    >>> y = get_function("forrester")(X)
    >>> round(float(full_loglik(X, y, [10.0], 30.0, mean=y.mean()).value), 2)
    -60.29
    """
    data, theta, correlation = as_datasets(X, y), as_floats(theta, "theta"), get_kernel(kernel)
    if data.shape or theta.shape != data.X[0].shape[1:]:
        raise InputError("X must be [n, d], y [n] and theta [d].")
    X, y, n = data.X[0], data.y[0], len(data.y[0])
    check_runs(n)
    check_inputs(len(theta))
    check_sizes(X, "X", _LARGEST_INPUT)
    check_sizes(y, "y", _LARGEST_MEAN)
    check_sizes(theta, "theta", LARGEST_PARAMETER, least=0.0)
    sigma2 = check_number(sigma2, "sigma2", 1.0 / LARGEST_PARAMETER)
    nugget = check_number(nugget, "nugget", 0.0, LARGEST_PARAMETER)
    r = y - check_number(mean, "mean", -_LARGEST_MEAN, _LARGEST_MEAN)
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
