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
        return _of_all_subsets(centred, outside, weight)
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


def _of_all_subsets(centred: FloatArray, outside: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the sums [N, 2^d] of all subsets, from products of those of two halves of the inputs.

    What a subset gains is (high's gain) (all of low) + (high's product without gain) (low's gain).
    """
    d, N, T = centred.shape
    half, flat = d // 2, (d, N * T)
    parts, outer = centred.reshape(flat), outside.reshape(flat)
    low, low_base = _doubled(parts[:half], outer[:half], np.tile(weight, N))
    high, high_base = _doubled(parts[half:], outer[half:], np.ones(N * T))
    first = high_base * low
    low += low_base
    if T == 1:  # a matrix product would be one of columns and rows
        found = high[:, None] * low
        found += first
        return found.reshape(-1, N).T
    high, low, first = (a.reshape(-1, N, T) for a in (high, low, first))
    sums: FloatArray = high.transpose(1, 0, 2) @ low.transpose(1, 2, 0)  # [N, high, low]
    sums += first.sum(2).T[:, None]
    return sums.reshape(N, -1)


def _doubled(
    centred: FloatArray, outside: FloatArray, base: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the gains [2^d, M] of factors [d, M] by mask, and the product [M] of all, from base.

    The gain of no input, row 0, is 0.
    """
    d, M = centred.shape
    gain = np.zeros((1 << d, M))
    for p in range(d):
        size = 1 << p
        more = gain[size : 2 * size]
        np.multiply(base, centred[p], out=more[0])
        np.multiply(gain[1:size], outside[p] + centred[p], out=more[1:])
        more[1:] += more[0]
        gain[1:size] *= outside[p]
        base = base * outside[p]
    return gain, base
