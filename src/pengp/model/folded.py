"""Folds predicted in one batch: many small data sets, each conditioned at its own theta."""

from dataclasses import dataclass

import numpy as np

from pengp._core.arrays import FloatArray
from pengp._core.linalg import cholesky
from pengp.model.factors import floor_diagonal
from pengp.model.kernels import Kernel, correlation_matrix
from pengp.model.means import ZERO, Mean
from pengp.model.trend import Columns, columns_of, trend_of

#: Bytes that one chunk of a batch may occupy: small enough to stay in a core's cache.
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, eq=False)
class BatchPrediction:
    """Predictions of B data sets, eq. (2) of the paper; nan in an item whose R has no factor.

    Attributes
    ----------
    mean : [B, v]
        Predictive means mu_theta(X_new | D).
    scaled_cov : [B, v, v]
        Predictive covariances divided by sigma2, R_theta(X_new | D), nugget on the diagonal, and
        the noise of the new runs where it is known.
    sigma2 : [B]
        Profile estimates y' P y / n.
    trend : [B, k]
        Coefficients of the mean's basis functions.

    See Also
    --------
    batch_predict : Makes it.
    """

    mean: FloatArray
    scaled_cov: FloatArray
    sigma2: FloatArray
    trend: FloatArray


def batch_predict(
    X: FloatArray,
    y: FloatArray,
    X_new: FloatArray,
    theta: FloatArray,
    *,
    kernel: Kernel,
    nugget: float | FloatArray,
    mean: Mean = ZERO,
    noise: FloatArray | None = None,
) -> BatchPrediction:
    """Predict X_new from (X, y) at theta for B independent items of equal sizes.

    An item's result does not depend, to the bit, on the other items of the batch.

    Parameters
    ----------
    X : [B, n, d]
        Inputs of the runs, in the unit cube.
    y : [B, n]
        Responses.
    X_new : [B, v, d]
        Inputs to predict.
    theta : [B, d]
        Inverse squared lengthscales.
    kernel : Kernel
        Correlation phi.
    nugget : float or [B]
        g, on the diagonals of R(X, X) and R(X_new, X_new).
    mean : Mean
        Prior mean.
    noise : [B, n + v], optional
        Known variances of y and of the responses at X_new, divided by sigma2.

    Returns
    -------
    BatchPrediction
        Items whose R is not positive definite hold nan.

    Examples
    --------
    >>> import numpy as np
    >>> from pengp.model import batch_predict, get_kernel
    >>> X = np.array([[[0.0], [0.5]], [[0.5], [1.0]]])  # two folds of three runs, [2, 2, 1]
    >>> y = np.array([[-1.0, 1.0], [1.0, 0.0]])
    >>> held_out, theta = np.array([[[1.0]], [[0.0]]]), np.full((2, 1), 4.0)
    >>> batch_predict(X, y, held_out, theta, kernel=get_kernel("sqexp"), nugget=1e-5).mean.round(3)
    array([[0.553],
           [0.418]])
    """
    (B, v), N = X_new.shape[:2], X.shape[1] + X_new.shape[1]
    g = np.broadcast_to(np.asarray(nugget, dtype=np.float64), (B,))
    F_new = mean.columns(X_new)
    out = BatchPrediction(
        np.empty((B, v)), np.empty((B, v, v)), np.empty(B), np.empty((B, F_new.shape[2]))
    )
    step = max(1, _CHUNK_BYTES // (8 * 4 * N * N))
    for start in range(0, B, step):
        k = slice(start, start + step)
        Z = np.concatenate([X[k], X_new[k]], axis=1)
        R = correlation_matrix(Z, theta[k], g[k], kernel)
        if noise is not None:
            R[:, np.arange(N), np.arange(N)] += noise[k]
        _condition_chunk(out, k, R, g[k], mean, columns_of(mean, X[k], y[k]), F_new[k])
    return out


def _condition_chunk(
    out: BatchPrediction,
    k: slice,
    R: FloatArray,
    nugget: FloatArray,
    mean: Mean,
    basis: Columns,
    F_new: FloatArray,
) -> None:
    """Fill items k of `out` from the joint correlations R [b, n + v, n + v], runs first.

    `basis` is that of the runs, F_new [b, v, k] that at the inputs to predict.
    """
    n = basis.z.shape[1]
    v = len(R[0]) - n
    L, ok = cholesky(R[:, :n, :n])
    columns = [R[:, :n, n:], basis.z[:, :, None], basis.rows.swapaxes(1, 2)]
    W = np.asarray(np.linalg.solve(L, np.concatenate(columns, axis=2)), dtype=np.float64)
    V = W[:, :, :v]  # L^-1 R(X, X_new)
    trend = trend_of(mean, basis, W[:, :, v], W[:, :, v + 1 :].swapaxes(1, 2))
    cov = R[:, n:, n:] - V.transpose(0, 2, 1) @ V
    if F_new.shape[2]:
        u = F_new @ trend.carry.swapaxes(1, 2) - V.transpose(0, 2, 1) @ trend.duals.swapaxes(1, 2)
        cov += u @ u.swapaxes(1, 2)
    prior = (F_new @ trend.coefficients[:, :, None])[..., 0]
    out.trend[k] = trend.coefficients
    out.mean[k] = prior + (V.transpose(0, 2, 1) @ trend.z[:, :, None])[..., 0]
    out.sigma2[k] = trend.quadratic / n
    out.scaled_cov[k] = floor_diagonal(cov, nugget)
    for values in (out.mean, out.scaled_cov, out.sigma2, out.trend):
        values[k][~ok] = np.nan
