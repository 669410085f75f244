"""Whether the draws can be believed: two halves compared, and what is wrong in sentences."""

from dataclasses import dataclass

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.bayes.components import moments, predictions, reference_points, systematic
from pengp.bayes.sample import PosteriorSample
from pengp.bayes.weighed import Weighed

_DRAWS = 200
"""Draws of each half that are compared."""

FEW = 200.0
"""Effective size below which a fit cannot be trusted."""

_DIFFERENT = 0.3
"""Difference of two halves' means, in predictive standard deviations, that is too large."""

_MORE_DRAWS = "raise effective_size and max_points of BayesianGPRegressor."
"""What to do about too few draws: the sampler stops at whichever is reached first."""


@dataclass(frozen=True)
class Halves:
    """Two halves of the draws, independent of each other, compared.

    Attributes
    ----------
    mean_difference : float
        Root mean square difference of their predictive means, in predictive standard deviations.
    std_ratio : float
        Root mean square logarithm of the ratio of their predictive standard deviations.
    """

    mean_difference: float
    std_ratio: float


def compare_halves(sample: PosteriorSample, points: FloatArray | None = None) -> Halves:
    """Compare the halves' predictions at points [m, d], by default over the unit cube.

    200 draws of each half are compared, so that equal halves still differ by up to a tenth.
    """
    rng = np.random.default_rng(0)
    where = reference_points(sample.X.shape[1], rng) if points is None else points
    found = []
    for half in (0, 1):
        chosen = systematic(sample.half_weights(half), _DRAWS, rng)
        equal = np.full(_DRAWS, 1.0 / _DRAWS)
        found.append(moments(*predictions(sample, chosen, where), equal))
    (mean, sd), (other, other_sd) = found
    difference = (mean - other) / np.sqrt(0.5 * (sd**2 + other_sd**2))
    return Halves(
        float(np.sqrt(np.mean(difference**2))),
        float(np.sqrt(np.mean(np.log(sd / other_sd) ** 2))),
    )


def problems(sample: Weighed, halves: Halves) -> list[str]:
    """Return sentences on what speaks against the draws; none if they can be trusted."""
    found = []
    if sample.effective_size < FEW:
        found.append(
            f"the effective number of draws is {sample.effective_size:.0f}, below {FEW:.0f}; "
            f"{_MORE_DRAWS}"
        )
    if sample.untrusted.any():
        worst = int(np.argmax(np.where(sample.untrusted, sample.pareto_shapes, -np.inf)))
        found.append(
            f"the largest weights of {sample.members[worst].label} have a Pareto shape of "
            f"{sample.pareto_shapes[worst]:.2f}, above 0.7; raise max_points of "
            "BayesianGPRegressor, so that the sampler adapts for longer."
        )
    if halves.mean_difference > _DIFFERENT:
        found.append(
            "two halves of the draws predict means that differ by "
            f"{halves.mean_difference:.2f} standard deviations; {_MORE_DRAWS}"
        )
    return found
