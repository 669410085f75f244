"""Intervals from fits that left out one run each: the jackknife+ of Barber et al. (2021)."""

import math

import numpy as np
from numpy.typing import ArrayLike

from pengp._core.arrays import FloatArray, as_floats
from pengp.choosing.scores import half_width
from pengp.exceptions import InputError

#: Round-off of (n + 1) level that does not count.
_ROUNDING = 1e-9


def jackknife_plus(
    means: ArrayLike, residuals: ArrayLike, level: float
) -> tuple[FloatArray, FloatArray]:
    """Return the ends [m] of jackknife+ intervals.

    With k = ceil(level (n + 1)), the upper end is the k-th smallest of means_i(x) + residuals_i
    over the n runs, the lower end the k-th largest of means_i(x) - residuals_i. If the runs and the
    new one are exchangeable and each fit treats its runs alike, an interval holds the new response
    with probability 2 level - 1 at least, and about ``level`` where leaving out a run changes
    little (Barber, Candes, Ramdas and Tibshirani 2021, Annals of Statistics 49, Theorem 1).

    Parameters
    ----------
    means : [m, n]
        Predictions at m points by the fit without run i, i = 1, ..., n.
    residuals : [n]
        Absolute errors of these fits at the run they left out.
    level : float
        Probability that the intervals aim at; at most n / (n + 1).

    Examples
    --------
    Four runs; fits that each left one out predict one new point as 5.0, 5.1, 4.9 and 5.2:

    >>> from pengp.choosing import jackknife_plus
    >>> lower, upper = jackknife_plus([[5.0, 5.1, 4.9, 5.2]], [0.3, 0.1, 0.2, 0.4], level=0.8)
    >>> lower.round(2), upper.round(2)
    (array([4.7]), array([5.6]))
    """
    means, residuals = as_floats(means, "means"), as_floats(residuals, "residuals")
    if residuals.ndim != 1 or not means.ndim or means.shape[-1:] != residuals.shape:
        raise InputError(
            f"means must be [m, n] and residuals [n], not {means.shape} and {residuals.shape}."
        )
    if not np.isfinite(means).all() or not np.isfinite(residuals).all():
        raise InputError("means and residuals must be finite.")
    n = len(residuals)
    k = rank(n, level)
    with np.errstate(over="ignore"):
        low, high = means - residuals, means + residuals
    lower = np.partition(low, n - k, axis=-1)[..., n - k]
    upper = np.partition(high, k - 1, axis=-1)[..., k - 1]
    return lower, upper


def rank(n: int, level: float) -> int:
    """Return ceil(level (n + 1)); an InputError if that is above n, where an end is infinite."""
    half_width(level)  # says so if the level is none
    k = math.ceil(level * (n + 1) - _ROUNDING)
    if k > n:
        needed = math.ceil(level / (1.0 - level) - _ROUNDING)
        most = math.floor(1e3 * n / (n + 1)) / 1e3
        raise InputError(
            f"jackknife+ intervals of level {level:g} need at least {needed} runs; {n} runs "
            f"support a level of at most {most:g}."
        )
    return max(k, 1)
