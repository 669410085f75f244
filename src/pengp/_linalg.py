"""Batched positive definite linear algebra in which one bad item never breaks its neighbours."""

from typing import cast

import numpy as np

from pengp._typing import BoolArray, FloatArray

_EPS = float(np.finfo(np.float64).eps)


def cholesky(A: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Return lower Cholesky factors and a flag for each item that has one.

    Parameters
    ----------
    A : [B, n, n]
        Symmetric matrices; only an item's own entries affect its factor.

    Returns
    -------
    L : [B, n, n]
        Factors; the identity where there is none to be trusted.
    ok : [B]
        Whether the item has one. A squared pivot below n eps is nothing but rounding error, as
        with a repeated run and no nugget, and counts as not positive definite.
    """
    try:
        L = cast(FloatArray, np.linalg.cholesky(A))
    except np.linalg.LinAlgError:
        return _cholesky_by_halves(A)
    ok = np.diagonal(L, axis1=-2, axis2=-1).min(-1) > np.sqrt(A.shape[-1] * _EPS)
    return (L if ok.all() else _mask(L, ok)), ok


def _cholesky_by_halves(A: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Split a batch that contains a failing item until the item stands alone."""
    if len(A) == 1:
        return np.eye(A.shape[-1])[None], np.zeros(1, dtype=bool)
    half = len(A) // 2
    parts = cholesky(A[:half]), cholesky(A[half:])
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


def _mask(L: FloatArray, ok: BoolArray) -> FloatArray:
    """Replace the factors that are not ok by the identity."""
    return np.where(ok[:, None, None], L, np.eye(L.shape[-1]))


def log_determinant(L: FloatArray) -> FloatArray:
    """Return log|A| = 2 sum log L_ii for Cholesky factors L [..., n, n]."""
    return 2.0 * np.log(np.diagonal(L, axis1=-2, axis2=-1)).sum(-1)
