"""What further runs are expected to buy: the mean width of prediction intervals after them."""

from typing import NamedTuple

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.bayes.law import MixtureLaw
from pengp.choosing.scores import half_width
from pengp.decisions.beliefs import conditioned
from pengp.decisions.candidates import Candidates
from pengp.decisions.processes import Processes

_COUNTS = (0, 1, 2, 4, 8)
"""Numbers of further runs."""

_POINTS = 256
"""Most candidates at which the width is taken."""

_LEVEL = 0.95
"""Of the intervals."""

_BOTH = np.array([-1.0, 1.0])


class Step(NamedTuple):
    """What is expected after so many further runs.

    See Also
    --------
    next_runs : Its ``steps`` are such.
    """

    runs: int
    width: float
    """Mean width of the 95 % intervals, in the response's unit."""


def steps_of(processes: Processes, X: FloatArray, pool: Candidates) -> tuple[Step, ...]:
    """Return the mean width now and after 1, 2, 4, 8 runs: X [n, d] first, then gaps are filled.

    The variance after more runs needs no responses at fixed theta. Each process keeps its weight,
    and its distance from the common mean shrinks like its standard deviation.
    """
    further = max(_COUNTS) - len(X)
    if further > 0:
        known = _after(processes, X)
        X = np.concatenate([X, pool.gaps(known, further)])
    at = pool.X[np.random.default_rng(0).permutation(len(pool.X))[:_POINTS]]
    means, before = processes.means_and_scales(at)
    found = []
    for k in _COUNTS:
        squares = _after(processes, X[:k]).means_and_scales(at)[1] if k else before
        shrunk = np.sqrt(squares / np.maximum(before, np.finfo(float).tiny))
        common = processes.weight @ means
        moved = common + (means - common) * np.minimum(shrunk, 1.0)
        ends = interval_of(processes, moved, np.sqrt(squares), _LEVEL)
        found.append(Step(k, float(np.diff(processes.to_response(ends), axis=1).mean())))
    return tuple(found)


def _after(processes: Processes, X: FloatArray) -> Processes:
    """Return the processes once runs at X [k, d] are known; only their variances have a meaning."""
    return conditioned(processes, X, np.zeros(len(X))) if len(X) else processes


def interval_of(
    processes: Processes, means: FloatArray, scales: FloatArray, level: float
) -> FloatArray:
    """Return the central intervals [m, 2] of laws with means and scales [M, m], standardised."""
    if np.isinf(processes.df):
        ends: FloatArray = means[0, :, None] + scales[0, :, None] * half_width(level) * _BOTH
        return ends
    floor = np.finfo(float).eps
    law = MixtureLaw(means.T, np.maximum(scales.T, floor), processes.weight, int(processes.df))
    return law.interval(level)
