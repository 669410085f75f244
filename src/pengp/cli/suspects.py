"""Columns among the inputs that look like another response of the simulator."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pengp._core.arrays import BoolArray, FloatArray

#: Share of a column's variance, left-out runs predicted from the other columns, from which on it
#: is told. Columns of a design are nearly uncorrelated.
_FOLLOWS = 0.8
#: Runs beyond the number of coefficients that a judgement takes.
_SPARE = 5


def like_responses(X: "FloatArray") -> list[int]:
    """Return the columns of X [n, d] that follow the others as a response follows its inputs.

    Each column is fitted by a quadratic without interactions, or a plane, in the others. Of a
    response and its inputs each then follows from the rest; the response is the one that has most
    to do with all of them, and without it the others are judged anew.
    """
    left, found = list(range(X.shape[1])), []
    while len(left) > 1:
        columns = X[:, left]
        follows = np.array([_predicted_share(columns, p) for p in range(len(left))]) > _FOLLOWS
        if not follows.any():
            break
        found.append(left.pop(_most_related(columns, follows)))
    return sorted(found)


def _most_related(X: "FloatArray", among: "BoolArray") -> int:
    """Return which of some columns [d] of X [n, d] is most correlated with all others together."""
    spread = X.std(axis=0) > 0.0
    Z = np.where(spread, X - X.mean(axis=0), 0.0) / np.where(spread, X.std(axis=0), 1.0)
    related = ((Z.T @ Z / len(Z)) ** 2).sum(axis=0)
    last = len(related) - 1 - np.where(among, related, -1.0)[::-1].argmax()  # ties: the last column
    return int(last)


def _predicted_share(X: "FloatArray", p: int) -> float:
    """Return 1 - PRESS / variance of column p of X [n, d] from the others; 0 with too few runs."""
    y, Z = X[:, p], np.delete(X, p, axis=1)
    low, high = Z.min(axis=0), Z.max(axis=0)
    U = (Z - low) / np.where(high > low, high - low, 1.0)
    basis = np.column_stack([np.ones(len(y)), U, U**2])
    if len(y) < basis.shape[1] + _SPARE:
        basis = basis[:, : 1 + U.shape[1]]
    if len(y) < basis.shape[1] + _SPARE or np.ptp(y) == 0.0:
        return 0.0
    left, s, _ = np.linalg.svd(basis, full_matrices=False)
    left = left[:, s > 1e-9 * s[0]]
    leverage = np.minimum((left**2).sum(axis=1), 1.0 - 1e-9)
    residual = (y - left @ (left.T @ y)) / (1.0 - leverage)
    return float(1.0 - (residual**2).sum() / ((y - y.mean()) ** 2).sum())
