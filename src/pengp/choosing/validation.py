"""Validation scores as records, of predictive distributions: what tables and reports read."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from numpy.typing import ArrayLike

from pengp._core.arrays import FloatArray
from pengp._core.registry import Registry
from pengp.choosing.scores import (
    average,
    check_level,
    coverage,
    interval_score,
    mean_surprise,
    q2,
    rmse,
)


@runtime_checkable
class Law(Protocol):
    """Predictive distributions at m points; `pengp.choosing.NormalLaw` is the plainest.

    See Also
    --------
    NormalLaw : The plainest, with an example.
    """

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

    Examples
    --------
    >>> import numpy as np
    >>> from pengp.choosing import VALIDATION_SCORES, NormalLaw
    >>> law = NormalLaw(np.array([55.0, 57.0]), np.array([0.5, 1.0]))
    >>> coverage = VALIDATION_SCORES["coverage"]
    >>> coverage([55.2, 59.0], law), coverage.explain()
    (0.5, 'share in their 95 % interval; best 95 %')
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
    return average(law.crps(y))


def _log_score_of(y: ArrayLike, law: Law, level: float) -> float:
    """Log score; the level plays no part."""
    return mean_surprise(-law.log_density(y))


def _coverage_of(y: ArrayLike, law: Law, level: float) -> float:
    """Coverage of the central intervals."""
    return coverage(y, *law.interval(check_level(level)).T)


def _interval_score_of(y: ArrayLike, law: Law, level: float) -> float:
    """Interval score of the central intervals."""
    return interval_score(y, *law.interval(check_level(level)).T, level=level)


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
