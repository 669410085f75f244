"""Scores of predictive distributions, and whether the number of runs in intervals is chance."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, xlog1py, xlogy

from pengp._core.arrays import as_floats
from pengp.choosing.laws import NormalLaw
from pengp.choosing.validation import VALIDATION_SCORES, Law
from pengp.exceptions import InputError

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

    Examples
    --------
    >>> from pengp.diagnostics import score_predictions
    >>> scores = score_predictions([55.2, 59.0], [55.0, 57.0], [0.5, 1.0])
    >>> round(scores["rmse"], 3), round(scores["crps"], 3), scores["coverage"]
    (1.421, 0.801, 0.5)
    """
    location, scale = as_floats(mean, "mean"), as_floats(std, "std")
    shape = as_floats(y, "y").shape
    if any(a.shape not in ((), shape) for a in (location, scale)):
        raise InputError(
            f"mean and std must have the shape {shape} of y, or be numbers, not {location.shape} "
            f"and {scale.shape}."
        )
    law = NormalLaw(np.broadcast_to(location, shape), np.broadcast_to(scale, shape))
    return score_law(y, law, level=level)


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

    Examples
    --------
    >>> import numpy as np
    >>> from pengp.choosing import NormalLaw
    >>> from pengp.diagnostics import score_law
    >>> law = NormalLaw(np.array([55.0, 57.0]), np.array([0.5, 1.0]))
    >>> round(score_law([55.2, 59.0], law)["crps"], 3)
    0.801
    """
    if not isinstance(law, Law):
        raise InputError("law must be a predictive law, such as model.predictive_law(X).")
    return {name: score(y, law, level) for name, score in VALIDATION_SCORES.items()}


class IntervalCheck(NamedTuple):
    """How many responses lie in their intervals, and whether chance explains it.

    The one rule by which runs contradict intervals, be it the model's own runs, new or test runs:
    an exact two-sided binomial test of the number inside, at 1 %. Too few inside say that the
    intervals are too narrow, too many that they are too wide.

    Examples
    --------
    >>> from pengp.diagnostics import IntervalCheck
    >>> check = IntervalCheck(inside=7, n=12, level=0.95)
    >>> round(check.p_value, 4), check.contradicted
    (0.0002, True)
    """

    inside: int
    n: int
    level: float

    @property
    def p_value(self) -> float:
        """Probability of a number that is no likelier than this one, were the intervals right."""
        k, n = np.arange(self.n + 1.0), float(self.n)
        ways = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
        chance = np.exp(ways + xlogy(k, self.level) + xlog1py(n - k, -self.level))
        no_likelier = chance <= chance[self.inside] * (1.0 + 1e-7)  # up to rounding
        return min(1.0, float(chance[no_likelier].sum()))

    @property
    def contradicted(self) -> bool:
        """Whether chance does not explain the number."""
        return self.p_value < CONTRADICTION

    @property
    def too(self) -> str:
        """On which side of the expected the number lies: the intervals look narrow or wide."""
        return "narrow" if self.inside < self.n * self.level else "wide"
