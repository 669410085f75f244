"""A search for better points near good ones, in the unit cube and under any conditions."""

from collections.abc import Callable

import numpy as np

from pengp._core.arrays import BoolArray, FloatArray
from pengp.decisions.candidates import snapped
from pengp.decisions.processes import Processes

_STEPS, _WIDEST, _SHRINKING = 24, 0.15, 0.6
"""Points tried near each, standard deviation of the first steps, factor to the next."""

_MOVED = 0.3
"""Share of the inputs that a step moves."""


def refined(
    processes: Processes,
    score: Callable[[FloatArray], FloatArray],
    allowed: Callable[[FloatArray], BoolArray],
    X: FloatArray,
    value: FloatArray,
    rng: np.random.Generator,
    *,
    rounds: int,
) -> tuple[FloatArray, FloatArray]:
    """Return points [s, d] moved to higher scores nearby, and their scores [s].

    Parameters
    ----------
    processes : Processes
        Whose inputs these are.
    score, allowed : callable
        Score and permission [m] of points [m, d].
    X, value : [s, d], [s]
        Where to begin, and the scores there.
    rng : Generator
        Source of the steps.
    rounds : int
        How often steps are made, each time narrower.
    """
    (size, d), width = X.shape, _WIDEST
    for _ in range(rounds):
        steps = width * rng.standard_normal((size, _STEPS, d))
        steps *= rng.random(steps.shape) < max(_MOVED, 1.0 / d)
        tried = snapped(processes, (X[:, None] + steps).reshape(-1, d))
        met, found = allowed(tried), np.full(len(tried), -np.inf)
        if met.any():
            found[met] = score(tried[met])
        own = found.reshape(size, _STEPS)
        best = tried.reshape(size, _STEPS, d)[np.arange(size), own.argmax(axis=1)]
        X = np.where((own.max(axis=1) > value)[:, None], best, X)
        value = np.maximum(value, own.max(axis=1))
        width *= _SHRINKING
    return X, value
