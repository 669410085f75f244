"""Points of the Sobol sequence, for which a command need not load all of ``scipy.stats``."""

import numpy as np

from pengp._core.arrays import FloatArray, IntArray

_DIRECTIONS: tuple[tuple[int, tuple[int, ...]], ...] = (
    (3, (1,)),
    (7, (1, 3)),
    (11, (1, 3, 1)),
    (13, (1, 1, 1)),
    (19, (1, 1, 3, 3)),
    (25, (1, 3, 5, 13)),
    (37, (1, 1, 5, 5, 17)),
    (41, (1, 1, 5, 5, 5)),
    (47, (1, 1, 7, 11, 19)),
    (55, (1, 1, 5, 1, 1)),
    (59, (1, 1, 1, 3, 11)),
    (61, (1, 3, 5, 5, 31)),
    (67, (1, 3, 3, 9, 7, 49)),
    (91, (1, 1, 1, 15, 21, 21)),
    (97, (1, 3, 1, 13, 27, 49)),
)
"""Primitive polynomials, as bits, and initial numbers m of inputs 2, 3, ... (Joe and Kuo 2008)."""


def sobol_points(size: int, d: int) -> FloatArray:
    """Return the first points [size, d] of the Sobol sequence in the unit cube, from 0 on.

    To the bit those of ``scipy.stats.qmc.Sobol(d, scramble=False)``, which gives them for more than
    16 inputs; a power of 2 of them is balanced.
    """
    if d > len(_DIRECTIONS) + 1:
        from scipy.stats import qmc

        many: FloatArray = qmc.Sobol(d, scramble=False).random(size)
        return many
    bits = max(size - 1, 1).bit_length()
    place = np.arange(size)
    gray = place ^ (place >> 1)
    found = np.zeros((size, d), dtype=np.int64)
    for k, row in enumerate(_directions(bits, d)):
        found ^= np.where(gray[:, None] >> k & 1, row, 0)
    return found / float(1 << bits)


def _directions(bits: int, d: int) -> IntArray:
    """Return the direction numbers [bits, d], in units of 2^-bits."""
    found = np.ones((bits, d), dtype=np.int64)
    for p, (polynomial, initial) in enumerate(_DIRECTIONS[: d - 1], start=1):
        m, s = list(initial), len(initial)
        for k in range(s, bits):
            new = m[k - s] ^ (m[k - s] << s)
            for j in range(1, s):
                new ^= (polynomial >> (s - j) & 1) * (m[k - j] << j)
            m.append(new)
        found[:, p] = m[:bits]
    return found << np.arange(bits - 1, -1, -1)[:, None]
