"""Formulas of validation scores (RMSE, CRPS, coverage, ...) of predictions of a test set.

A function named `..._values` gives one value a point, the plain name their mean. Without spread
(std = 0) each takes its limit.
"""

import numbers

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import beta, erf, ndtri, stdtr

from pengp._core.arrays import FloatArray, as_floats
from pengp.exceptions import InputError

#: Standardised errors are clipped here; densities are 0 beyond it and their squares stay finite.
_FAR = 1e100
#: Degrees of freedom beyond which a Student t is the normal distribution to all digits.
_NORMAL = 1e15


def rmse(y: ArrayLike, mean: ArrayLike) -> float:
    """Root mean squared error of predictions `mean` [m] of y [m].

    Examples
    --------
    >>> from pengp import rmse
    >>> round(rmse([1.0, 2.0, 3.0], [1.0, 2.0, 6.0]), 4)
    1.7321
    """
    return _root_mean_square(_errors(*_aligned(y, mean)))


def q2(y: ArrayLike, mean: ArrayLike) -> float:
    """Q2 = 1 - SSE / SST of predictions `mean` [m] of y [m]; SST is taken around the mean of y.

    For a constant y it is 1 where every prediction is right, else -inf.

    Examples
    --------
    >>> from pengp import q2
    >>> q2([1.0, 2.0, 3.0], [1.0, 2.0, 3.5])
    0.875
    """
    y, mean = _aligned(y, mean)
    scale = np.ldexp(1.0, max(int(np.frexp(np.abs(y).max())[1]), -1000) - 1)
    middle = scale * (y / scale).mean()  # a power of 2, for sums that are finite
    error, spread = (_root_mean_square(_errors(y, other)) for other in (mean, middle))
    if spread == 0:
        return 1.0 if error == 0 else -np.inf
    ratio = error / spread
    return 1.0 - ratio * ratio


def crps_normal_values(y: ArrayLike, mean: ArrayLike, std: ArrayLike) -> FloatArray:
    """CRPS [m] of normal predictions, `mean` and `std` [m], of y [m]; lower is better.

    With z = (y - mean) / std: std (z (2 Phi(z) - 1) + 2 phi(z) - 1/sqrt(pi)), Section 4.

    Examples
    --------
    A prediction that is sure of itself gains where it is right and loses where it is not:

    >>> from pengp.choosing import crps_normal_values
    >>> crps_normal_values([0.0, 3.0], [0.0, 0.0], [1.0, 1.0]).round(4)
    array([0.2337, 2.4366])
    >>> crps_normal_values([0.0, 3.0], [0.0, 0.0], [0.1, 0.1]).round(4)
    array([0.0234, 2.9436])
    """
    error, z, std = _standardised(y, mean, std)
    density = np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi)
    crps = error * erf(z / np.sqrt(2.0)) + std * (2.0 * density - 1.0 / np.sqrt(np.pi))
    return np.where(std > 0, crps, np.abs(error))


def crps_normal(y: ArrayLike, mean: ArrayLike, std: ArrayLike) -> float:
    """Mean of `crps_normal_values`.

    Examples
    --------
    >>> from pengp import crps_normal
    >>> round(crps_normal([0.0, 1.0], [0.0, 0.0], [1.0, 1.0]), 4)
    0.4181
    """
    return average(crps_normal_values(y, mean, std))


def crps_student_t_values(y: ArrayLike, mean: ArrayLike, scale: ArrayLike, df: float) -> FloatArray:
    """CRPS [m] of Student t predictions with location, scale and df > 1 of y [m]; lower is better.

    With z = (y - mean) / scale, F and f the standard distribution and density and B the beta
    function: scale (z (2 F(z) - 1) + 2 f(z) (df + z^2) / (df - 1)
    - 2 sqrt(df) / (df - 1) B(1/2, df - 1/2) / B(1/2, df/2)^2) (Jordan, Krueger, Lerch 2019).
    An infinite df is the normal distribution.

    Examples
    --------
    >>> import numpy as np
    >>> from pengp.choosing import crps_student_t_values
    >>> crps_student_t_values([0.0, 3.0], [0.0, 0.0], [1.0, 1.0], 5.0).round(4)
    array([0.257 , 2.3388])
    >>> crps_student_t_values([0.0, 3.0], [0.0, 0.0], [1.0, 1.0], np.inf).round(4)  # normal
    array([0.2337, 2.4366])
    """
    if not isinstance(df, numbers.Real) or not df > 1:
        raise InputError(f"the CRPS of a Student t needs more than 1 degree of freedom, not {df}.")
    df = float(df) if df <= _NORMAL else np.inf
    if np.isinf(df):
        return crps_normal_values(y, mean, scale)
    error, z, scale = _standardised(y, mean, scale)
    norm = beta(0.5, df / 2.0)
    density = np.exp(-0.5 * (df + 1.0) * np.log1p(z**2 / df)) / (np.sqrt(df) * norm)
    constant = 2.0 * np.sqrt(df) / (df - 1.0) * beta(0.5, df - 0.5) / norm**2
    tails = 2.0 * density * (df + z**2) / (df - 1.0)
    crps = error * (2.0 * stdtr(df, z) - 1.0) + scale * (tails - constant)
    return np.where(scale > 0, crps, np.abs(error))


def crps_student_t(y: ArrayLike, mean: ArrayLike, scale: ArrayLike, df: float) -> float:
    """Mean of `crps_student_t_values`.

    Examples
    --------
    >>> from pengp.choosing import crps_student_t
    >>> round(crps_student_t([0.0, 3.0], [0.0, 0.0], [1.0, 1.0], 5.0), 4)
    1.2979
    """
    return average(crps_student_t_values(y, mean, scale, df))


def log_score_values(y: ArrayLike, mean: ArrayLike, std: ArrayLike) -> FloatArray:
    """Negative log density [m] of normal predictions, `mean` and `std` [m], at y [m].

    log(std) + log(2 pi)/2 + z^2/2 with z = (y - mean) / std; lower is better.
    Without spread it is -inf where the prediction is right, else inf.

    Examples
    --------
    >>> from pengp.choosing import log_score_values
    >>> log_score_values([0.0, 1.0], [0.0, 0.0], [1.0, 1.0]).round(4)
    array([0.9189, 1.4189])
    """
    error, z, std = _standardised(y, mean, std)
    score = np.log(np.where(std > 0, std, 1.0)) + 0.5 * np.log(2.0 * np.pi) + 0.5 * z**2
    return np.where(std > 0, score, np.where(error == 0, -np.inf, np.inf))


def log_score(y: ArrayLike, mean: ArrayLike, std: ArrayLike) -> float:
    """Mean of `log_score_values`; inf as soon as one y has density 0.

    Examples
    --------
    >>> from pengp.choosing import log_score
    >>> round(log_score([0.0, 1.0], [0.0, 0.0], [1.0, 1.0]), 4)
    1.1689
    """
    return mean_surprise(log_score_values(y, mean, std))


def mean_surprise(values: FloatArray) -> float:
    """Mean of negative log densities [m]; inf as soon as one is."""
    return float(np.inf) if np.isposinf(values).any() else average(values)


def average(values: FloatArray) -> float:
    """Mean of values [m], infinite if it is too large for a number."""
    with np.errstate(over="ignore"):
        return float(np.mean(values))


def interval_score_values(
    y: ArrayLike, lower: ArrayLike, upper: ArrayLike, *, level: float = 0.95
) -> FloatArray:
    """Interval score [m] of central prediction intervals [lower, upper] [m] of y [m].

    (upper - lower) + 2/alpha (lower - y)_+ + 2/alpha (y - upper)_+ with alpha = 1 - level
    (Gneiting and Raftery 2007, eq. 43); lower is better.

    Examples
    --------
    The width, and 2 / 0.1 = 20 times the distance of a miss:

    >>> from pengp.choosing import interval_score_values
    >>> interval_score_values([1.0, 4.0], [0.0, 0.0], [3.0, 3.0], level=0.9).round(2)
    array([ 3., 23.])
    """
    alpha = 1.0 - check_level(level)
    y, lower, upper = _aligned(y, lower, upper, ends=True)
    if np.any(lower > upper):
        raise InputError("an interval has lower > upper; swap the two arguments.")
    with np.errstate(over="ignore"):
        # Between equal ends, which may both be infinite, there is nothing.
        width = np.subtract(upper, lower, out=np.zeros(y.shape), where=upper > lower)
        outside = np.maximum(lower - y, 0.0) + np.maximum(y - upper, 0.0)
        return width + 2.0 / alpha * outside


def interval_score(
    y: ArrayLike, lower: ArrayLike, upper: ArrayLike, *, level: float = 0.95
) -> float:
    """Mean of `interval_score_values`.

    Examples
    --------
    >>> from pengp import interval_score
    >>> round(interval_score([1.0, 4.0], [0.0, 0.0], [3.0, 3.0], level=0.9), 2)
    13.0
    """
    return average(interval_score_values(y, lower, upper, level=level))


def coverage(y: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> float:
    """Share of y [m] inside [lower, upper] [m], ends included; best near the nominal level.

    Examples
    --------
    >>> from pengp import coverage
    >>> coverage([1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 0.0, 0.0], [3.5, 3.5, 3.5, 3.5])
    0.75
    """
    y, lower, upper = _aligned(y, lower, upper, ends=True)
    return float(np.mean((lower <= y) & (y <= upper)))


def normal_interval(
    mean: ArrayLike, std: ArrayLike, level: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Lower and upper end [m] of central intervals of normal predictions, infinite if too large."""
    mean = np.asarray(mean, dtype=np.float64)
    with np.errstate(over="ignore"):
        half = half_width(level) * np.asarray(std, dtype=np.float64)
        return np.asarray(mean - half), np.asarray(mean + half)


def half_width(level: float) -> float:
    """Return the normal quantile z of a central interval mean -+ z std of that level."""
    return float(ndtri(0.5 + 0.5 * check_level(level)))


def _aligned(*arrays: ArrayLike, ends: bool = False) -> tuple[FloatArray, ...]:
    """Arrays as finite floats, each of the shape [m] of the first or a single number.

    Those after the first may be infinite if they are the ends of intervals.
    """
    first, *others = (as_floats(a, "what a score is made of") for a in arrays)
    shapes = [a.shape for a in others]
    if first.ndim != 1 or first.size == 0 or not all(s in ((), first.shape) for s in shapes):
        raise InputError(
            f"a score needs the responses as one column [m] and predictions of the same shape; got "
            f"{first.shape} and {', '.join(map(str, shapes))}."
        )
    finite = all(np.isfinite(a).all() for a in ([first] if ends else [first, *others]))
    if not finite or any(np.isnan(a).any() for a in others):
        raise InputError(
            "a score needs finite responses and predictions, but some are missing or infinite."
        )
    return (first, *(np.broadcast_to(a, first.shape) for a in others))


def _errors(y: FloatArray, mean: FloatArray) -> FloatArray:
    """Differences y - mean [m], infinite where they are too large for a number."""
    with np.errstate(over="ignore"):
        return y - mean


def _standardised(
    y: ArrayLike, mean: ArrayLike, std: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Errors y - mean [m], standardised errors [m] (0 without spread) and spreads [m]."""
    y, mean, std = _aligned(y, mean, std)
    if np.any(std < 0):
        raise InputError("a predictive standard deviation is negative; pass values from 0 up.")
    error = _errors(y, mean)
    with np.errstate(over="ignore"):
        z = error / np.where(std > 0, std, np.inf)
    return error, np.clip(z, -_FAR, _FAR), std


def _root_mean_square(x: FloatArray) -> float:
    """Root mean square of x [m], free of overflow and underflow in the squares."""
    largest = float(np.max(np.abs(x)))
    if largest == 0 or not np.isfinite(largest):
        return largest
    return largest * float(np.sqrt(np.mean((x / largest) ** 2)))


def check_level(level: float) -> float:
    """Return the coverage level if it lies between 0 and 1, else raise an InputError."""
    # Half of what is beyond must differ from 0 when it is taken from 1.
    if not isinstance(level, numbers.Real) or not (0 < level < 1 and 0.5 + 0.5 * level < 1):
        raise InputError(f"level must lie between 0 and 1, such as 0.95, and is {level!r}.")
    return float(level)
