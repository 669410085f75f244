"""Scores of predictive distributions, and whether the number of runs in intervals is chance."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binomtest

from pengp.choosing.laws import NormalLaw
from pengp.choosing.scores import VALIDATION_SCORES, Law

#: Probability, were the intervals right, below which the number of runs inside contradicts them.
CONTRADICTION = 0.01


def score_predictions(
    y: ArrayLike, mean: ArrayLike, std: ArrayLike, *, level: float = 0.95
) -> dict[str, float]:
    """Return every score of `pengp.choosing.VALIDATION_SCORES` by name, for normal predictions.

    Parameters
    ----------
    y : [m]
        Responses that were seen.
    mean, std : [m]
        Their predictions.
    level : float
        Probability of the central intervals that coverage and interval_score judge.
    """
    mean, std = np.broadcast_arrays(np.asarray(mean, float), np.asarray(std, float))
    return score_law(y, NormalLaw(mean, std), level=level)


def score_law(y: ArrayLike, law: Law, *, level: float = 0.95) -> dict[str, float]:
    """Return every score of `pengp.choosing.VALIDATION_SCORES` by name, exactly those of the laws.

    Parameters
    ----------
    y : [m]
        Responses that were seen.
    law : Law
        Their predictive distributions, such as ``estimator.predictive_law(X)``.
    level : float
        Probability of the central intervals that coverage and interval_score judge.
    """
    return {name: score(y, law, level) for name, score in VALIDATION_SCORES.items()}


class IntervalCheck(NamedTuple):
    """How many responses lie in their intervals, and whether chance explains it.

    The one rule by which runs contradict intervals, be it the model's own runs, new or test runs:
    an exact two-sided binomial test of the number inside, at 1 %. Too few inside say that the
    intervals are too narrow, too many that they are too wide.
    """

    inside: int
    n: int
    level: float

    @property
    def p_value(self) -> float:
        """Probability of a number that is no likelier than this one, were the intervals right."""
        return float(binomtest(self.inside, self.n, self.level).pvalue)

    @property
    def contradicted(self) -> bool:
        """Whether chance does not explain the number."""
        return self.p_value < CONTRADICTION

    @property
    def too(self) -> str:
        """On which side of the expected the number lies: the intervals look narrow or wide."""
        return "narrow" if self.inside < self.n * self.level else "wide"
