"""Search for slices of a design that each spread over the input space; plain arrays only.

Gains are rounded far above rounding error before they are compared, so that the same seed gives the
same slices on every machine, ties included.
"""

import numpy as np

from pengp._core.arrays import FloatArray, IntArray

#: Exponent of the phi_p criterion; large enough to rank slices almost as their smallest distance.
PHI_POWER = 15
#: Random starts of the search; beyond 100 runs fewer, but no less than 2.
STARTS = 10
#: Decimal digits of a comparison.
DIGITS = 9
_TINY = float(np.finfo(np.float64).tiny)


def maximin_slices(X: FloatArray, k: int, rng: np.random.Generator) -> IntArray:
    """Slice X [n, d] into k parts with a large smallest distance within each.

    From every random start, pairs of runs of different slices are swapped while that lowers
    phi_p = sum of distance^-p over pairs in one slice; the end with the largest smallest distance
    wins, then the one with the lowest phi_p. Sizes differ by at most one.

    Returns
    -------
    IntArray, shape [n]
        Slice of each run, 0 to k-1.
    """
    W = _repulsion(X)
    found = []
    for _ in range(max(2, min(STARTS, 100 * STARTS // len(W)))):
        labels = rng.permutation(np.arange(len(W)) % k)
        _swap_descent(W, labels)
        within = W * _together(labels)
        key = tuple(float(f"{value:.{DIGITS}e}") for value in (within.max(), within.sum()))
        found.append((key, labels))
    return min(found, key=lambda item: item[0])[1]


def _repulsion(X: FloatArray) -> FloatArray:
    """Terms of phi_p [n, n]: (median distance / distance)^p, zero on the diagonal.

    Each column is brought to the unit interval first. Distances below 1e-6 of the median count as
    that, so that the terms of duplicates stay finite.
    """
    X = X / np.maximum(np.abs(X).max(axis=0), _TINY)
    U = (X - X.min(axis=0)) / np.where(np.ptp(X, axis=0) > 0, np.ptp(X, axis=0), 1.0)
    D = np.zeros((len(U), len(U)))
    for column in U.T:
        D += (column[:, None] - column[None, :]) ** 2
    median = np.median(D[D > 0]) if np.any(D > 0) else 1.0
    W: FloatArray = (median / np.maximum(D, max(1e-12 * median, _TINY))) ** (PHI_POWER / 2)
    np.fill_diagonal(W, 0.0)
    return W


def _together(labels: IntArray) -> FloatArray:
    """1 where two different runs share a slice, else 0, shape [n, n]."""
    together: FloatArray = np.equal.outer(labels, labels).astype(np.float64)
    np.fill_diagonal(together, 0.0)
    return together


def _swap_descent(W: FloatArray, labels: IntArray) -> None:
    """Swap runs between slices, in place, until no swap lowers phi_p."""
    together = _together(labels)
    own = np.einsum("jm,jm->j", W, together)
    improved = True
    while improved:
        improved = False
        for i in range(len(W)):
            gain = _relative_gain(W, together, own, i)
            j = int(np.argmax(gain))
            if gain[j] > 0:
                improved = True
                labels[[i, j]] = labels[[j, i]]
                together[[i, j]] = together[[j, i]]
                together[:, [i, j]] = together[:, [j, i]]
                touched = np.isin(labels, labels[[i, j]])
                own[touched] = np.einsum("jm,jm->j", W[touched], together[touched])


def _relative_gain(W: FloatArray, together: FloatArray, own: FloatArray, i: int) -> FloatArray:
    """Share [n] by which a swap of run i with each run j lowers the terms of i and j in phi_p.

    Sums leave out the pair (i, j) itself instead of subtracting it: near duplicates would drown the
    rest. With own[j] = sum_m W[j, m] together[j, m], for every j: before = own[i] + own[j], after =
    sum_m W[i, m] together[j, m] + sum_m W[j, m] together[i, m].
    """
    before = own[i] + own
    after = together @ W[i] + W @ together[i]
    gain = np.round((before - after) / np.where(before > 0, before, 1.0), DIGITS)
    return np.where(together[i] > 0, 0.0, gain)
