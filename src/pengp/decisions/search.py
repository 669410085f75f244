"""A search for better points near good ones, in the unit cube and under any conditions."""

from collections.abc import Callable

import numpy as np

from pengp._core.arrays import BoolArray, FloatArray
from pengp.decisions.processes import Processes
from pengp.decisions.values import snapped, stepped
from pengp.model.levels import Levels

_STEPS, _WIDEST, _SHRINKING = 24, 0.15, 0.6
"""Points tried near each, standard deviation of the first steps, factor to the next."""

_MOVED = 0.3
"""Share of the inputs that a step moves."""

_MOST_VALUES = 64
"""Values of one input that are tried in turn; of more whole numbers the nearest are."""


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
        moved = rng.random(steps.shape) < max(_MOVED, 1.0 / d)
        tried = (X[:, None] + steps * moved).reshape(-1, d)
        _jump(processes, tried, moved.reshape(-1, d), rng)
        tried = snapped(processes, tried)
        met, found = allowed(tried), np.full(len(tried), -np.inf)
        if met.any():
            found[met] = score(tried[met])
        own = found.reshape(size, _STEPS)
        best = tried.reshape(size, _STEPS, d)[np.arange(size), own.argmax(axis=1)]
        X = np.where((own.max(axis=1) > value)[:, None], best, X)
        value = np.maximum(value, own.max(axis=1))
        width *= _SHRINKING
    return _alternated(processes, score, allowed, X, value)


def _jump(processes: Processes, X: FloatArray, moved: BoolArray, rng: np.random.Generator) -> None:
    """Move levels of X [m, d] to any other, and whole numbers by one, where moved [m, d] says."""
    for p, values in stepped(processes).items():
        rows = np.flatnonzero(moved[:, p])
        place = rng.integers(len(values), size=len(rows))
        if not isinstance(processes.each_transform[p], Levels):
            near = np.abs(snapped(processes, X[rows])[:, p, None] - values).argmin(axis=1)
            place = np.clip(near + rng.choice([-1, 1], len(rows)), 0, len(values) - 1)
        X[rows, p] = values[place]


def _alternated(
    processes: Processes,
    score: Callable[[FloatArray], FloatArray],
    allowed: Callable[[FloatArray], BoolArray],
    X: FloatArray,
    value: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return points [s, d] for which no other value of one whole number or level is better.

    One input after the other tries all its values, until nothing changes.
    """
    X, value, choices = X.copy(), value.copy(), stepped(processes)
    for i in range(len(X)) if choices else ():
        better = True
        while better:
            better = False
            for p, values in choices.items():
                near = np.argsort(np.abs(values - X[i, p]), kind="stable")[:_MOST_VALUES]
                tried = np.tile(X[i], (len(near), 1))
                tried[:, p] = values[near]
                tried = tried[(tried[:, p] != X[i, p]) & allowed(tried)]
                found = score(tried) if len(tried) else np.full(1, -np.inf)
                if found.max() > value[i]:
                    X[i], value[i], better = tried[int(found.argmax())], found.max(), True
    return X, value
