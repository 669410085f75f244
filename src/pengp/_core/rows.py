"""Rows of an array that repeat earlier ones."""

import numpy as np

from pengp._core.arrays import FloatArray, IntArray


def first_of_each(rows: FloatArray) -> IntArray:
    """Return for each row of rows [n, k] the number of the first row that equals it [n]."""
    seen: dict[bytes, int] = {}
    # -0.0 becomes 0.0, which it equals
    return np.array([seen.setdefault(row.tobytes(), i) for i, row in enumerate(rows + 0.0)])
