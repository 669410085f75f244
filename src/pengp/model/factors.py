"""The matrix R of one data set: noise on its diagonal, its factor, and variances kept sound."""

import numpy as np

from pengp._core.arrays import FloatArray
from pengp._core.linalg import cholesky
from pengp.exceptions import InputError


def with_noise(R: FloatArray, noise: FloatArray, sigma2: float) -> FloatArray:
    """Return R [n, n] with known variances [n], divided by sigma2, on its diagonal.

    Without spread, sigma2 = 0, the responses are their prior mean, and R has no part in it.
    """
    return R + np.diag(noise / sigma2) if sigma2 > 0.0 else R


def factor_or_raise(R: FloatArray) -> FloatArray:
    """Return the lower Cholesky factor of R [n, n]."""
    L, ok = cholesky(R[None])
    if not ok[0]:
        raise InputError(
            "The correlation matrix of the runs is not positive definite, because runs (almost) "
            "coincide or theta is too small for the nugget; use a larger nugget."
        )
    only: FloatArray = L[0]
    return only


def floor_diagonal(cov: FloatArray, nugget: FloatArray) -> FloatArray:
    """Raise the variances in cov [B, v, v] to nugget [B], below which only rounding takes them."""
    diagonal = np.arange(cov.shape[-1])
    cov[:, diagonal, diagonal] = np.maximum(cov[:, diagonal, diagonal], nugget[:, None])
    return cov
