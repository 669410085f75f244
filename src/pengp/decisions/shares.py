"""Shares of the variance, from the closed variances V_w = Var E[f | x_w] of subsets w of inputs."""

from math import comb
from typing import NamedTuple

import numpy as np

from pengp._core.arrays import FloatArray, IntArray

MOST_SHAPLEY = 12
"""Inputs up to which Shapley effects are computed: they need all 2^d subsets."""


class Shares(NamedTuple):
    """Shares of the variance of D functions of d inputs."""

    variance: FloatArray  # [D]
    first: FloatArray  # [D, d]
    total: FloatArray  # [D, d]
    second: FloatArray  # [D, d, d], 0 on the diagonal
    shapley: FloatArray | None  # [D, d], None for more than 12 inputs


def masks_of(d: int) -> IntArray:
    """Return the subsets that `shares_of` needs, bit p for input p, ascending."""
    if d <= MOST_SHAPLEY:
        return np.arange(1 << d)
    one = 1 << np.arange(d, dtype=np.int64)
    pairs = (one[:, None] | one).ravel()
    return np.unique(np.concatenate([pairs, one.sum() - one, [one.sum()]]))


def shares_of(V: FloatArray, d: int) -> Shares:
    """Return the shares for closed variances V [D, w] of the subsets `masks_of` d inputs.

    S_k = V_k / V, T_k = 1 - V_-k / V, S_kl = (V_kl - V_k - V_l) / V, and the Shapley effect is the
    mean over all orders of what the input adds to those before it. Rounding is kept in [0, 1].
    """
    masks = masks_of(d)
    one = 1 << np.arange(d, dtype=np.int64)
    variance = V[:, -1]
    share = V / np.where(variance > 0.0, variance, 1.0)[:, None]
    first = share[:, np.searchsorted(masks, one)]
    without = share[:, np.searchsorted(masks, one.sum() - one)]
    pairs = share[:, np.searchsorted(masks, one[:, None] | one)]
    second = pairs - first[:, :, None] - first[:, None, :]
    second[:, range(d), range(d)] = 0.0
    first, total, second = (np.clip(a, 0.0, 1.0) for a in (first, 1.0 - without, second))
    shapley = _shapley(share, d) if d <= MOST_SHAPLEY else None
    return Shares(variance, first, total, second, shapley)


def _shapley(share: FloatArray, d: int) -> FloatArray:
    """Return the Shapley effects [D, d] for the shares [D, 2^d] of all subsets."""
    masks = np.arange(1 << d)
    sizes = ((masks[:, None] >> np.arange(d)) & 1).sum(1)
    out = np.empty((len(share), d))
    for p in range(d):
        before = masks[(masks >> p) & 1 == 0]
        weight = 1.0 / (d * np.array([comb(d - 1, int(s)) for s in sizes[before]]))
        out[:, p] = (share[:, before | (1 << p)] - share[:, before]) @ weight
    np.maximum(out, 0.0, out=out)
    total = out.sum(1, keepdims=True)
    return out / np.where(total > 0.0, total, 1.0)
