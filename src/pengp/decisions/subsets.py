"""Sums over products of the inputs' factors, for many subsets of the inputs at once."""

import numpy as np

from pengp._core.arrays import FloatArray, IntArray


def subset_sums(
    centred: FloatArray, outside: FloatArray, weight: FloatArray, masks: IntArray
) -> FloatArray:
    """Return what products gain where a mask has bit p and the factor is larger by centred_p.

    That is sum_t w_t (prod_p (outside_p + [p in w] centred_p) - prod_p outside_p) [N, w], without
    a difference of large numbers.

    Parameters
    ----------
    centred, outside : [d, N, T]
        Of each input.
    weight : [T]
        w_t.
    masks : [w]
        Subsets; all 2^d in order are fastest, as matrix products of two halves of the inputs.
    """
    d = len(centred)
    if len(masks) == 1 << d:
        half = d // 2
        parts = (_doubled(centred[k], outside[k]) for k in (slice(half), slice(half, d)))
        (low, low_base), (high, high_base) = parts
        first = (high_base * weight)[:, None] @ low.swapaxes(1, 2)  # [N, 1, 2^half]
        low += low_base[:, None]
        low *= weight
        found: FloatArray = high @ low.swapaxes(1, 2)  # [N, 2^(d - half), 2^half]
        found += first
        return found.reshape(len(found), -1)
    out = np.empty((centred.shape[1], len(masks)))
    bits = ((masks[:, None] >> np.arange(d)) & 1).astype(bool)
    for k, mask in enumerate(bits):
        base, gain = np.ones_like(centred[0]), np.zeros_like(centred[0])
        for p in range(d):
            gain *= outside[p] + centred[p] if mask[p] else outside[p]
            gain += base * centred[p] if mask[p] else 0.0
            base *= outside[p]
        out[:, k] = gain @ weight
    return out


def _doubled(centred: FloatArray, outside: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the gains [N, 2^d, T] of factors [d, N, T] by mask, and the product [N, T] of all."""
    d, N, T = centred.shape
    gain, base = np.zeros((N, 1 << d, T)), np.ones((N, T))
    for p in range(d):
        size = 1 << p
        more = gain[:, size : 2 * size]
        np.multiply(gain[:, :size], (outside[p] + centred[p])[:, None], out=more)
        more += (base * centred[p])[:, None]
        gain[:, :size] *= outside[p][:, None]
        base *= outside[p]
    return gain, base
