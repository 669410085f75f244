"""Correlation matrices, folds in closed form, and many small data sets conditioned in one batch."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve

from pengp._core.arrays import FloatArray
from pengp._core.linalg import cholesky
from pengp.exceptions import InputError
from pengp.model.kernels import Kernel

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
        Predictive covariances divided by sigma2, R_theta(X_new | D), nugget on the diagonal.
    sigma2 : [B]
        Profile estimates (y - mu)' R^-1 (y - mu) / n.
    prior_mean : [B]
        The constant mu: the generalised least squares mean, or 0.
    """

    mean: FloatArray
    scaled_cov: FloatArray
    sigma2: FloatArray
    prior_mean: FloatArray


class FoldPrediction(NamedTuple):
    """Prediction of held-out runs from the remaining ones.

    Attributes
    ----------
    mean : [v]
        Predictive mean mu_k.
    scaled_cov : [v, v]
        Scaled covariance R_theta(X_k | D_-k), nugget on the diagonal.
    sigma2 : float
        Profile estimate sigma2_-k of the remaining runs, divided by n - v.
    """

    mean: FloatArray
    scaled_cov: FloatArray
    sigma2: float


def weighted_distances(A: FloatArray, C: FloatArray, theta: FloatArray) -> FloatArray:
    """Return s = sum_p theta_p (a_p - c_p)^2 of every pair, exactly 0 where two inputs coincide.

    Parameters
    ----------
    A : [B, a, d]
        Inputs of the rows.
    C : [B, c, d]
        Inputs of the columns.
    theta : [B, d]
        Weights of the squared differences.

    Returns
    -------
    [B, a, c]
    """
    s = np.zeros((len(A), A.shape[1], C.shape[1]))
    for p in range(A.shape[2]):
        delta = A[:, :, None, p] - C[:, None, :, p]
        delta *= delta
        delta *= theta[:, p, None, None]
        s += delta
    return s


def product_distances(z: FloatArray, Z: FloatArray) -> FloatArray:
    """Return s = |z|^2 + |Z|^2 - 2 z Z' [m, n] for z [m, d], Z [n, d], as one matrix product.

    With z = sqrt(theta) x the same s as above, for many inputs. Its rounding error, about
    1e-16 |z|^2, is far below any nugget; a negative s becomes 0.
    """
    left = np.column_stack([z, (z * z).sum(1), np.ones(len(z))])
    right = np.column_stack([-2.0 * Z, np.ones(len(Z)), (Z * Z).sum(1)])
    s: FloatArray = left @ right.T
    return np.maximum(s, 0.0, out=s)


def correlation_matrix(
    X: FloatArray, theta: FloatArray, nugget: FloatArray, kernel: Kernel
) -> FloatArray:
    """Return R = phi(s) + g I, eq. (1) of the paper, for X [B, n, d], theta [B, d], nugget [B]."""
    R = kernel.phi(weighted_distances(X, X, theta))
    diagonal = np.arange(X.shape[1])
    R[:, diagonal, diagonal] += nugget[:, None]
    return R


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


def hold_out(
    P: FloatArray, y: FloatArray, alpha: FloatArray, quadratic: float, test: NDArray[Any]
) -> FoldPrediction:
    """Predict the runs `test` from the others, at the theta of P and without refitting.

    Inverting P by blocks gives the residual P_kk^-1 (P y)_k and the scaled covariance P_kk^-1; the
    remaining runs' quadratic form is y' P y less that of the residual.

    Parameters
    ----------
    P : [n, n]
        R^-1; with a constant mean R^-1 - R^-1 1 1' R^-1 / (1' R^-1 1).
    y : [n]
        Responses.
    alpha : [n]
        P y.
    quadratic : float
        y' P y.
    test : integers, [v]
        Indices of the held-out runs.
    """
    left = len(y) - len(test)
    if left < 1:
        raise InputError(f"A fold of {len(test)} of the {len(y)} runs leaves none to predict from.")
    F = np.linalg.cholesky(P[np.ix_(test, test)])
    residual = cho_solve((F, True), alpha[test])
    scaled_cov = cho_solve((F, True), np.eye(len(test)))
    sigma2 = max(quadratic - float(alpha[test] @ residual), 0.0) / left
    return FoldPrediction(y[test] - residual, scaled_cov, sigma2)


def floor_diagonal(cov: FloatArray, nugget: FloatArray) -> FloatArray:
    """Raise the variances in cov [B, v, v] to nugget [B], below which only rounding takes them."""
    diagonal = np.arange(cov.shape[-1])
    cov[:, diagonal, diagonal] = np.maximum(cov[:, diagonal, diagonal], nugget[:, None])
    return cov


def batch_predict(
    X: FloatArray,
    y: FloatArray,
    X_new: FloatArray,
    theta: FloatArray,
    *,
    kernel: Kernel,
    nugget: float | FloatArray,
    constant_mean: bool = False,
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
    constant_mean : bool
        Estimate a constant mean by generalised least squares instead of taking 0.

    Returns
    -------
    BatchPrediction
        Items whose R is not positive definite hold nan.
    """
    (B, v), N = X_new.shape[:2], X.shape[1] + X_new.shape[1]
    g = np.broadcast_to(np.asarray(nugget, dtype=np.float64), (B,))
    out = BatchPrediction(np.empty((B, v)), np.empty((B, v, v)), np.empty(B), np.empty(B))
    step = max(1, _CHUNK_BYTES // (8 * 4 * N * N))
    for start in range(0, B, step):
        k = slice(start, start + step)
        Z = np.concatenate([X[k], X_new[k]], axis=1)
        R = correlation_matrix(Z, theta[k], g[k], kernel)
        _condition_chunk(out, k, R, y[k], g[k], constant_mean)
    return out


def _condition_chunk(
    out: BatchPrediction,
    k: slice,
    R: FloatArray,
    y: FloatArray,
    nugget: FloatArray,
    constant_mean: bool,
) -> None:
    """Fill items k of `out` from the joint correlations R [b, n + v, n + v], runs first."""
    n = y.shape[1]
    L, ok = cholesky(R[:, :n, :n])
    shift = y.mean(-1) if constant_mean else np.zeros(len(y))
    columns = [R[:, :n, n:], (y - shift[:, None])[:, :, None], np.ones((*y.shape, 1))]
    W = np.linalg.solve(L, np.concatenate(columns, axis=2))
    V, z, e = W[:, :, :-2], W[:, :, -2], W[:, :, -1]  # L^-1 R(X, X_new), L^-1 y, L^-1 1
    cov = R[:, n:, n:] - V.transpose(0, 2, 1) @ V
    mu = np.zeros(len(y))
    if constant_mean:
        total = (e * e).sum(-1)  # 1' R^-1 1
        mu = (e * z).sum(-1) / total
        z = z - mu[:, None] * e
        u = 1.0 - (V.transpose(0, 2, 1) @ e[:, :, None])[..., 0]
        cov += u[:, :, None] * u[:, None, :] / total[:, None, None]
    out.prior_mean[k] = mu + shift
    out.mean[k] = (mu + shift)[:, None] + (V.transpose(0, 2, 1) @ z[:, :, None])[..., 0]
    out.sigma2[k] = (z * z).sum(-1) / n
    out.scaled_cov[k] = floor_diagonal(cov, nugget)
    for values in (out.mean, out.scaled_cov, out.sigma2, out.prior_mean):
        values[k][~ok] = np.nan
