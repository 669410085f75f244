"""Gamma variables: draws beyond a point and of logarithms, and a check of their parameters."""

from typing import Any

import numpy as np

from pengp._core.arrays import BoolArray, FloatArray
from pengp._core.checks import LARGEST_PARAMETER, is_real
from pengp.exceptions import InputError


def gamma_beyond(rng: np.random.Generator, a: FloatArray, start: FloatArray) -> FloatArray:
    """Return draws [N] of Gamma(a, 1) beyond ``start`` [N], which is at most 1, by rejection."""
    x, left = np.empty(len(a)), np.arange(len(a))
    while len(left):
        x[left], accepted = _proposed_gamma(rng, a[left], start[left])
        left = left[~accepted]
    return x


def _proposed_gamma(
    rng: np.random.Generator, a: FloatArray, start: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Propose Gamma(a, 1) draws [N] beyond ``start`` [N], and tell which are accepted.

    For a <= 1 they come from x^(a-1) below 1 and exp(-x) above: the density x^(a-1) exp(-x) is
    nowhere higher, and its mass at least 1/e of theirs. For a > 1 they come from the Gamma itself.
    """
    b, u = np.minimum(a, 1.0), rng.random(len(a))
    below = -np.expm1(b * np.log(start))  # b times the integral of x^(b-1) from start to 1
    share = below / (below + b / np.e)
    inner = u < share
    # Where it is inner, u / share is uniform: x^b = start^b + (1 - start^b) u / share
    part = np.divide(u, share, out=np.ones_like(u), where=inner)
    x = np.exp(np.log1p(-below * (1.0 - part)) / b)
    x[~inner] += rng.standard_exponential(len(a) - np.count_nonzero(inner))
    accepted = rng.standard_exponential(len(a)) > np.where(inner, x, (1.0 - b) * np.log(x))
    wide = np.flatnonzero(a > 1.0)
    x[wide] = rng.standard_gamma(a[wide])
    accepted[wide] = x[wide] > start[wide]
    return x, accepted


def log_gamma_draws(
    rng: np.random.Generator, a: float | FloatArray, size: tuple[int, int]
) -> FloatArray:
    """Return logarithms of Gamma(a, 1) draws; G(a) = G(a + 1) U^(1/a) does not underflow."""
    return np.log(rng.gamma(a + 1.0, size=size)) - rng.exponential(size=size) / a


def check_positive(prior: object, **given: Any) -> None:
    """Refuse numbers, or sequences of them where they may be, unless from 1e-50 to 1e50."""
    for name, value in given.items():
        value = value.tolist() if isinstance(value, np.ndarray) else value
        several = isinstance(value, tuple | list) and name in ("a", "rates", "scales")
        numbers = value if several else [value]
        least = 1.0 / LARGEST_PARAMETER
        if not numbers or not all(is_real(one, least, LARGEST_PARAMETER) for one in numbers):
            raise InputError(f"{prior!r} needs {name} from {least:g} to {LARGEST_PARAMETER:g}.")
