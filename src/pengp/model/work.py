"""Work arrays that all likelihoods of a Python thread share."""

import math
import threading

import numpy as np

from pengp._core.arrays import FloatArray

BUFFER_BYTES = 1 << 20
"""Size of the largest array of a batch, to which it is cut."""

_OWN = threading.local()
"""The three work arrays of a Python thread."""


def work_array(number: int, shape: tuple[int, ...]) -> FloatArray:
    """Return work array 0, 1 or 2 in this shape; what it held before is lost."""
    size, kept = math.prod(shape), BUFFER_BYTES // 8
    if size > kept:  # a single large matrix, which is not worth its memory afterwards
        return np.empty(shape)
    if not hasattr(_OWN, "arrays"):
        _OWN.arrays = [np.empty(kept) for _ in range(3)]
    array: FloatArray = _OWN.arrays[number]
    return array[:size].reshape(shape)
