"""Validation scores (RMSE, CRPS, coverage, ...) of predictions of a test set.

A function named `..._values` gives one value a point, the plain name their mean. Without spread
(std = 0) each takes its limit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import beta, erf, ndtri, stdtr

from pengp._core.arrays import FloatArray
from pengp._core.registry import Registry
from pengp.exceptions import InputError

#: Standardised errors are clipped here; densities are 0 beyond it and their squares stay finite.
_FAR = 1e100


def rmse(y: ArrayLike, mean: ArrayLike) -> float:
    """Root mean squared error of predictions `mean` [m] of y [m]."""
    y, mean = _aligned(y, mean)
    return _root_mean_square(y - mean)


def q2(y: ArrayLike, mean: ArrayLike) -> float:
    """Q2 = 1 - SSE / SST of predictions `mean` [m] of y [m]; SST is taken around the mean of y.

    For a constant y it is 1 where every prediction is right, else -inf.
    """
    y, mean = _aligned(y, mean)
    error, spread = _root_mean_square(y - mean), _root_mean_square(y - y.mean())
    if spread == 0:
        return 1.0 if error == 0 else -np.inf
    return 1.0 - (error / spread) ** 2


def crps_normal_values(y: ArrayLike, mean: ArrayLike, std: ArrayLike) -> FloatArray:
    """CRPS [m] of normal predictions, `mean` and `std` [m], of y [m]; lower is better.

    With z = (y - mean) / std: std (z (2 Phi(z) - 1) + 2 phi(z) - 1/sqrt(pi)), Section 4.
    """
    error, z, std = _standardised(y, mean, std)
    density = np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi)
    crps = error * erf(z / np.sqrt(2.0)) + std * (2.0 * density - 1.0 / np.sqrt(np.pi))
    return np.where(std > 0, crps, np.abs(error))


def crps_normal(y: ArrayLike, mean: ArrayLike, std: ArrayLike) -> float:
    """Mean of `crps_normal_values`."""
    return float(np.mean(crps_normal_values(y, mean, std)))


def crps_student_t_values(y: ArrayLike, mean: ArrayLike, scale: ArrayLike, df: float) -> FloatArray:
    """CRPS [m] of Student t predictions with location, scale and df > 1 of y [m]; lower is better.

    With z = (y - mean) / scale, F and f the standard distribution and density and B the beta
    function: scale (z (2 F(z) - 1) + 2 f(z) (df + z^2) / (df - 1)
    - 2 sqrt(df) / (df - 1) B(1/2, df - 1/2) / B(1/2, df/2)^2) (Jordan, Krueger, Lerch 2019).
    An infinite df is the normal distribution.
    """
    if not df > 1:
        raise InputError(f"the CRPS of a Student t needs more than 1 degree of freedom, not {df}.")
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
    """Mean of `crps_student_t_values`."""
    return float(np.mean(crps_student_t_values(y, mean, scale, df)))


def log_score_values(y: ArrayLike, mean: ArrayLike, std: ArrayLike) -> FloatArray:
    """Negative log density [m] of normal predictions, `mean` and `std` [m], at y [m].

    log(std) + log(2 pi)/2 + z^2/2 with z = (y - mean) / std; lower is better.
    Without spread it is -inf where the prediction is right, else inf.
    """
    error, z, std = _standardised(y, mean, std)
    score = np.log(np.where(std > 0, std, 1.0)) + 0.5 * np.log(2.0 * np.pi) + 0.5 * z**2
    return np.where(std > 0, score, np.where(error == 0, -np.inf, np.inf))


def log_score(y: ArrayLike, mean: ArrayLike, std: ArrayLike) -> float:
    """Mean of `log_score_values`; inf as soon as one y has density 0."""
    return _mean_surprise(log_score_values(y, mean, std))


def _mean_surprise(values: FloatArray) -> float:
    """Mean of negative log densities [m]; inf as soon as one is."""
    return float(np.inf if np.isposinf(values).any() else np.mean(values))


def interval_score_values(
    y: ArrayLike, lower: ArrayLike, upper: ArrayLike, *, level: float = 0.95
) -> FloatArray:
    """Interval score [m] of central prediction intervals [lower, upper] [m] of y [m].

    (upper - lower) + 2/alpha (lower - y)_+ + 2/alpha (y - upper)_+ with alpha = 1 - level
    (Gneiting and Raftery 2007, eq. 43); lower is better.
    """
    alpha = 1.0 - _check_level(level)
    y, lower, upper = _aligned(y, lower, upper)
    if np.any(lower > upper):
        raise InputError("an interval has lower > upper; swap the two arguments.")
    outside = np.maximum(lower - y, 0.0) + np.maximum(y - upper, 0.0)
    return np.asarray(upper - lower + 2.0 / alpha * outside)


def interval_score(
    y: ArrayLike, lower: ArrayLike, upper: ArrayLike, *, level: float = 0.95
) -> float:
    """Mean of `interval_score_values`."""
    return float(np.mean(interval_score_values(y, lower, upper, level=level)))


def coverage(y: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> float:
    """Share of y [m] inside [lower, upper] [m], ends included; best near the nominal level."""
    y, lower, upper = _aligned(y, lower, upper)
    return float(np.mean((lower <= y) & (y <= upper)))


class Law(Protocol):
    """Predictive distributions at m points; `pengp.choosing.NormalLaw` is the plainest."""

    def mean(self) -> FloatArray:
        """Return the means [m]."""
        ...

    def std(self) -> FloatArray:
        """Return the standard deviations [m]."""
        ...

    def cdf(self, y: ArrayLike) -> FloatArray:
        """Return F(y) [m] at y [m]."""
        ...

    def log_density(self, y: ArrayLike) -> FloatArray:
        """Return the logarithm of the density [m] at y [m]."""
        ...

    def interval(self, level: float) -> FloatArray:
        """Return the central intervals [m, 2] that hold ``level`` of each law."""
        ...

    def crps(self, y: ArrayLike) -> FloatArray:
        """Return the continuous ranked probability scores [m] of y [m]."""
        ...


@dataclass(frozen=True)
class ValidationScore:
    """A score of predictive distributions.

    Attributes
    ----------
    name : str
        Key in tables and in `VALIDATION_SCORES`.
    function : callable
        (y [m], law, level) -> float, with the predictive distributions as a `Law`.
    label : str
        What tables call it.
    meaning : str
        What it says; ``{level}`` stands for the probability of the intervals in percent.
    greater_is_better : bool or None
        Direction; None for a share that is best near the level.
    has_unit : bool
        Whether it has the unit of the response.
    """

    name: str
    function: Callable[[ArrayLike, Law, float], float]
    label: str
    meaning: str
    greater_is_better: bool | None = False
    has_unit: bool = False

    def __call__(self, y: ArrayLike, law: Law, level: float = 0.95) -> float:
        """Score of the predictive distributions of y [m]."""
        return self.function(y, law, level)

    def explain(self, level: float = 0.95) -> str:
        """Return meaning and direction in words."""
        best = {True: "higher is better", False: "lower is better", None: "best {level}"}
        text = f"{self.meaning}; {best[self.greater_is_better]}"
        return text.format(level=f"{100 * level:g} %")


def _rmse_of(y: ArrayLike, law: Law, level: float) -> float:
    """RMSE of the means."""
    return rmse(y, law.mean())


def _q2_of(y: ArrayLike, law: Law, level: float) -> float:
    """Q2 of the means."""
    return q2(y, law.mean())


def _crps_of(y: ArrayLike, law: Law, level: float) -> float:
    """CRPS; the level plays no part."""
    return float(np.mean(law.crps(y)))


def _log_score_of(y: ArrayLike, law: Law, level: float) -> float:
    """Log score; the level plays no part."""
    return _mean_surprise(-law.log_density(y))


def _coverage_of(y: ArrayLike, law: Law, level: float) -> float:
    """Coverage of the central intervals."""
    return coverage(y, *law.interval(_check_level(level)).T)


def _interval_score_of(y: ArrayLike, law: Law, level: float) -> float:
    """Interval score of the central intervals."""
    return interval_score(y, *law.interval(_check_level(level)).T, level=level)


def normal_interval(
    mean: ArrayLike, std: ArrayLike, level: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Lower and upper end [m] of central intervals of normal predictions."""
    mean = np.asarray(mean, dtype=np.float64)
    half = half_width(level) * np.asarray(std, dtype=np.float64)
    return np.asarray(mean - half), np.asarray(mean + half)


def half_width(level: float) -> float:
    """Return the normal quantile z of a central interval mean -+ z std of that level."""
    return float(ndtri(0.5 + 0.5 * _check_level(level)))


#: Validation scores by name; ``VALIDATION_SCORES.register`` adds to it.
VALIDATION_SCORES = Registry(
    "score",
    ValidationScore("rmse", _rmse_of, "RMSE", "typical size of an error", has_unit=True),
    ValidationScore(
        "q2", _q2_of, "Q2", "1 is perfect, 0 as good as the mean", greater_is_better=True
    ),
    ValidationScore("crps", _crps_of, "CRPS", "error and spread together", has_unit=True),
    ValidationScore("log_score", _log_score_of, "log score", "surprise at the responses"),
    ValidationScore(
        "coverage",
        _coverage_of,
        "coverage",
        "share in their {level} interval",
        greater_is_better=None,
    ),
    ValidationScore(
        "interval_score",
        _interval_score_of,
        "interval score",
        "interval width and misses",
        has_unit=True,
    ),
)


def _aligned(*arrays: ArrayLike) -> tuple[FloatArray, ...]:
    """Arrays as floats, each of the shape [m] of the first or a single number."""
    first, *others = (np.asarray(a, dtype=np.float64) for a in arrays)
    shapes = [a.shape for a in others]
    if first.ndim != 1 or first.size == 0 or not all(s in ((), first.shape) for s in shapes):
        raise InputError(
            f"a score needs the responses as one column [m] and predictions of the same shape; got "
            f"{first.shape} and {', '.join(map(str, shapes))}."
        )
    return (first, *(np.broadcast_to(a, first.shape) for a in others))


def _standardised(
    y: ArrayLike, mean: ArrayLike, std: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Errors y - mean [m], standardised errors [m] (0 without spread) and spreads [m]."""
    y, mean, std = _aligned(y, mean, std)
    if np.any(std < 0):
        raise InputError("a predictive standard deviation is negative; pass values from 0 up.")
    with np.errstate(over="ignore"):
        z = (y - mean) / np.where(std > 0, std, np.inf)
    return y - mean, np.clip(z, -_FAR, _FAR), std


def _root_mean_square(x: FloatArray) -> float:
    """Root mean square of x [m], free of overflow and underflow in the squares."""
    largest = float(np.max(np.abs(x)))
    if largest == 0 or not np.isfinite(largest):
        return largest
    return largest * float(np.sqrt(np.mean((x / largest) ** 2)))


def _check_level(level: float) -> float:
    """Return the coverage level if it lies between 0 and 1, else raise an InputError."""
    if not 0 < level < 1:
        raise InputError(f"level must lie between 0 and 1, such as 0.95, and is {level!r}.")
    return float(level)
