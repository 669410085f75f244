"""Randomness from ``random_state`` alone."""

import numbers

import numpy as np

from pengp._core.arrays import RandomState
from pengp.exceptions import InputError


def as_seed(random_state: RandomState) -> int:
    """Return the integer seed that stands for random_state; a generator moves on by one draw."""
    if isinstance(random_state, numbers.Integral) and random_state >= 0:
        return int(random_state)
    if random_state is None:
        return int(np.random.default_rng().integers(2**32))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**32))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    raise InputError(
        f"random_state={random_state!r} is not a seed; use an integer from 0 up, a NumPy "
        "Generator or RandomState, or None."
    )


def as_generator(random_state: RandomState) -> np.random.Generator:
    """Return a generator: random_state itself if it is one, else the one that its seed starts."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(as_seed(random_state))
