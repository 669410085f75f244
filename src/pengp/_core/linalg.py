"""Batched positive definite linear algebra in which one bad item never breaks its neighbours.

Also the context in which BLAS has a single thread for it, and arrays to work in.
"""

import math
import threading
from collections.abc import Callable
from typing import cast

import numpy as np
from scipy.linalg.lapack import dpocon, dposv, dpotrf, dtrtri
from scipy.spatial.distance import cdist
from threadpoolctl import LibController, ThreadpoolController

from pengp._core.arrays import BoolArray, FloatArray

_EPS = float(np.finfo(np.float64).eps)

BUFFER_BYTES = 1 << 20
"""Size of the largest array of a batch, to which it is cut."""

_LEARNED_BYTES = 1 << 22
"""Size of a block by which the allocator learns to keep memory; see `work_array`."""

_OWN = threading.local()
"""The three work arrays of a Python thread, which all its likelihoods share."""


class _OneThread:
    """A context in which BLAS has one thread, until the last of those who are in it leaves.

    Python threads may enter and leave it in any order.
    """

    def __init__(self) -> None:
        self._lock, self._inside = threading.Lock(), 0
        self._libraries: list[LibController] | None = None  # to find them takes a while
        self._before: list[int] = []

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                if self._libraries is None:
                    found = ThreadpoolController().lib_controllers
                    self._libraries = [library for library in found if library.user_api == "blas"]
                self._before = [library.num_threads for library in self._libraries]
                self._set([1] * len(self._before))
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._set(self._before)

    def _set(self, threads: list[int]) -> None:
        """Give the libraries these numbers of threads, whichever Python thread asks.

        Where a library has one number for the whole process, newer versions of threadpoolctl hear
        the first Python thread only that sets it, until it is released.
        """
        for library, number in zip(self._libraries or (), threads, strict=True):
            release = getattr(library, "clear_controlling_thread", lambda force: None)
            release(force=True)
            library.set_num_threads(number)
            release(force=True)


ONE_THREAD = _OneThread()
"""For work on small matrices, where more threads of BLAS are in each other's way."""


def diagonals(A: FloatArray) -> FloatArray:
    """Return a view [B, n] of the diagonals of A [B, n, n], which must be contiguous."""
    B, n = A.shape[:2]
    return A.reshape(B, n * n)[:, :: n + 1]


def max_norm(x: FloatArray) -> FloatArray:
    """Return the largest absolute value along the last axis of x [..., d].

    NumPy is several times faster along the first axis of a copy than along a short last one.
    """
    columns = x.reshape(-1, x.shape[-1]).T.copy()
    np.abs(columns, out=columns)
    return np.maximum.reduce(columns, axis=0).reshape(x.shape[:-1])


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


def positive_inverse(A: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return the inverses of positive definite matrices, their log determinants and flags.

    Parameters
    ----------
    A : [B, n, n]
        Symmetric matrices, overwritten.

    Returns
    -------
    V : [B, n, n]
        Inverses; the identity where an item is not positive definite.
    log_determinant : [B]
        Of A; 0 for these items.
    ok : [B]
        Whether the item is positive definite, as in `cholesky`.
    """
    W, log_determinant, ok = inverse_factors(A)
    return W @ W.transpose(0, 2, 1), log_determinant, ok


def inverse_factors(A: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return W [B, n, n], upper triangular with A^-1 = W W', and the rest as `positive_inverse`.

    Parameters
    ----------
    A : [B, n, n]
        Symmetric matrices, of which the entries j >= i are read; overwritten by W.
    """
    # LAPACK's dpotri is left out: OpenBLAS starts threads for it however small the matrix.
    failed = [
        k
        for k, a in enumerate(A.transpose(0, 2, 1))
        if dpotrf(a, 1, 1, 1)[1] or dtrtri(a, 1, 0, 1)[1]  # lower, clean or not unit, overwritten
    ]
    ok, pivots = _sound(A, failed, inverted=True)
    return A, -2.0 * np.add.reduce(np.log(pivots), axis=-1), ok


def positive_solve(A: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return A^-1 b for positive definite matrices, their log determinants and flags.

    Parameters
    ----------
    A : [B, n, n]
        Symmetric matrices, of which the entries j >= i are read; overwritten.
    b : [B, k, n]
        k right-hand sides of each, overwritten.

    Returns
    -------
    x : [B, k, n]
        Solutions; b where an item is not positive definite.
    log_determinant, ok : [B]
        As in `positive_inverse`.
    """
    given, pairs = b.copy(), zip(A.transpose(0, 2, 1), b.transpose(0, 2, 1), strict=True)
    # lower, both overwritten
    failed = [k for k, (a, right) in enumerate(pairs) if dposv(a, right, 1, 1, 1)[2]]
    ok, pivots = _sound(A, failed)
    if not np.logical_and.reduce(ok):
        b[~ok] = given[~ok]
    return b, 2.0 * np.add.reduce(np.log(pivots), axis=-1), ok


def _sound(
    A: FloatArray, failed: list[int], *, inverted: bool = False
) -> tuple[BoolArray, FloatArray]:
    """Tell which of the factors A [B, n, n], or inverses of factors, can be trusted.

    The others become the identity. Also return a view of all diagonals [B, n].

    LAPACK works in the transposes of A, in place. One item after the other is not slower than
    NumPy's loop, and a bad item costs nothing; options by position are much faster than by name.
    """
    B, n = A.shape[:2]
    ok, pivots, least = ~np.zeros(B, dtype=bool), diagonals(A), math.sqrt(n * _EPS)
    if failed:
        A[failed], ok[failed] = np.eye(n), False
    if inverted:
        sound = bool(np.maximum.reduce(pivots, axis=None, initial=0.0) < 1.0 / least)
    else:
        sound = bool(np.minimum.reduce(pivots, axis=None, initial=np.inf) > least)
    if not sound:
        ok &= (1.0 / pivots if inverted else pivots).min(-1, initial=np.inf) > least
        A[~ok] = np.eye(n)
    return ok, pivots


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


def condition_number(L: FloatArray) -> float:
    """Estimate the condition number of A = L L', in the 1-norm, from L [n, n].

    |A^-1| is what LAPACK's dpocon makes of the factor, |A| at most the largest row of |L| |L|'.
    """
    norm = float((np.abs(L) @ np.abs(L).sum(0)).max())
    reciprocal = float(dpocon(L, norm, uplo="L")[0])
    return 1.0 / reciprocal if reciprocal > 0.0 else math.inf


def squared_distances(z: FloatArray, Z: FloatArray, *, exact: bool) -> FloatArray:
    """Return |z_i - Z_j|^2 [m, n] for z [m, d], Z [n, d]: sums of squared differences if exact.

    Otherwise |z|^2 + |Z|^2 - 2 z Z', one matrix product: with many inputs it is twice as fast, and
    wrong by about 1e-16 |z|^2, even where z = Z. A negative result becomes 0.
    """
    if exact:
        return np.asarray(cdist(z, Z, "sqeuclidean"))
    left = np.column_stack([z, (z * z).sum(1), np.ones(len(z))])
    right = np.column_stack([-2.0 * Z, np.ones(len(Z)), (Z * Z).sum(1)])
    s: FloatArray = left @ right.T
    return np.maximum(s, 0.0, out=s)


def work_array(number: int, shape: tuple[int, ...]) -> FloatArray:
    """Return work array 0, 1 or 2 in this shape; what it held before is lost."""
    size, kept = math.prod(shape), BUFFER_BYTES // 8
    if size > kept:  # a single large matrix, which is not worth its memory afterwards
        return np.empty(shape)
    if not hasattr(_OWN, "arrays"):
        # Freed at once: the C library learns from it to keep what many small arrays give back.
        # Without that every round would ask the system for the same pages again, a tenth of a path.
        np.empty(_LEARNED_BYTES // 8)
        _OWN.arrays = [np.empty(kept) for _ in range(3)]
    array: FloatArray = _OWN.arrays[number]
    return array[:size].reshape(shape)


def in_logarithms(
    params: FloatArray, gradient: FloatArray, hessian: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Change derivatives from parameters [B, P] to their logarithms, in place."""
    gradient *= params
    hessian *= params[:, :, None]
    hessian *= params[:, None, :]
    on_diagonal = diagonals(hessian)
    on_diagonal += gradient
    return gradient, hessian
