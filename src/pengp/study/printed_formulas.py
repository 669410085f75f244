"""The piston simulation and borehole functions as Appendix C prints them, and how far that is off.

The root of the piston simulation ends before "- A", and Tu/Tl of the borehole belongs inside the
bracket; `pengp.datasets` has both as in the literature.
"""

from collections.abc import Callable

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.datasets.designs import latin_hypercube, scale_design
from pengp.datasets.functions import get_function
from pengp.study.task import Row, Task

_INPUTS = 1000


def piston_as_printed(X: FloatArray) -> FloatArray:
    """Return the cycle time [m] with V = S/(2k) sqrt(A^2 + 4k (P0 V0 / T0) Ta - A), X [m, 7]."""
    M, S, V0, k, P0, Ta, T0 = X.T
    gas = P0 * V0 / T0 * Ta
    A = P0 * S + 19.62 * M - k * V0 / S
    V = S / (2 * k) * np.sqrt(A**2 + 4 * k * gas - A)
    return np.asarray(2 * np.pi * np.sqrt(M / (k + S**2 * gas / V**2)))


def borehole_as_printed(X: FloatArray) -> FloatArray:
    """Return the flow [m] with Tu/Tl outside the bracket, X [m, 8]."""
    rw, r, Tu, Hu, Tl, Hl, L, Kw = X.T
    log_ratio = np.log(r / rw)
    inside = log_ratio * (1 + 2 * L * Tu / (log_ratio * rw**2 * Kw))
    return np.asarray(2 * np.pi * Tu * (Hu - Hl) / (inside + Tu / Tl))


_PRINTED: dict[str, Callable[[FloatArray], FloatArray]] = {
    "piston": piston_as_printed,
    "borehole": borehole_as_printed,
}


def printed_formulas(task: Task) -> list[Row]:
    """Return how the printed functions compare with the usual ones."""
    rows = []
    for name, printed in _PRINTED.items():
        function = get_function(name)
        U = latin_hypercube(_INPUTS, function.dimension, random_state=task.seed)
        X = scale_design(U, function.bounds)
        usual, found = function(X), printed(X)
        ok = np.isfinite(found)
        values = {
            "ratio_median": np.median(found[ok] / usual[ok]),
            "correlation": np.corrcoef(found[ok], usual[ok])[0, 1],
            "undefined": 1.0 - ok.mean(),
        }
        rows += [Row(name, None, metric, None, float(v), 0.0) for metric, v in values.items()]
    return rows
