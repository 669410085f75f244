"""Batched positive definite linear algebra in which one bad item never breaks its neighbours."""

from collections.abc import Callable
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
    L, ok = _each(np.linalg.cholesky, A)
    ok &= np.diagonal(L, axis1=-2, axis2=-1).min(-1) > np.sqrt(A.shape[-1] * _EPS)
    return (L if ok.all() else np.where(ok[:, None, None], L, np.eye(A.shape[-1]))), ok


def inverse(A: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Return inverses of A [B, n, n] and a flag [B] for each item that has one.

    The others are the identity.
    """
    return _each(np.linalg.inv, A)


def _each(function: Callable[[FloatArray], object], A: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Apply a batched function that raises for the whole batch if it fails for one item.

    The batch is halved until the failing item stands alone; it gets the identity.
    """
    try:
        return cast(FloatArray, function(A)), np.ones(len(A), dtype=bool)
    except np.linalg.LinAlgError:
        if len(A) == 1:
            return np.eye(A.shape[-1])[None], np.zeros(1, dtype=bool)
    half = len(A) // 2
    parts = _each(function, A[:half]), _each(function, A[half:])
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


def log_determinant(L: FloatArray) -> FloatArray:
    """Return log|A| = 2 sum log L_ii for Cholesky factors L [..., n, n]."""
    return 2.0 * np.log(np.diagonal(L, axis1=-2, axis2=-1)).sum(-1)
