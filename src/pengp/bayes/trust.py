"""Whether the draws can be believed: two halves compared, and what is wrong in sentences."""

from dataclasses import dataclass

import numpy as np

from pengp.bayes.components import Resampled, moments
from pengp.bayes.sample import PosteriorSample
from pengp.bayes.weighed import Weighed

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


def compare_halves(sample: PosteriorSample, drawn: Resampled) -> Halves:
    """Compare the halves' predictions at the reference points of the resampled draws.

    Some 400 draws of each half are compared, so that equal halves still differ by up to a tenth.
    """
    found = []
    for half in (0, 1):
        # Resampled by the weights of all draws; a half has its own evidences of the members.
        ratio = sample.half_weights(half)[drawn.chosen] / sample.draws.weight[drawn.chosen]
        weight = drawn.weight * ratio
        found.append(moments(drawn.location, drawn.square, weight / weight.sum()))
    (mean, sd), (other, other_sd) = found
    difference = (mean - other) / np.sqrt(0.5 * (sd**2 + other_sd**2))
    return Halves(
        float(np.sqrt(np.mean(difference**2))),
        float(np.sqrt(np.mean(np.log(sd / other_sd) ** 2))),
    )


def problems(sample: Weighed, halves: Halves, thinning: float = 0.0) -> list[str]:
    """Return sentences on what speaks against the draws; none if they can be trusted.

    Parameters
    ----------
    sample : Weighed
        Weighted draws.
    halves : Halves
        Their halves, compared.
    thinning : float
        Change of the predictive mean by the few processes that are kept, in standard deviations.
    """
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
    if thinning > _DIFFERENT:
        found.append(
            "the processes that are kept predict means that differ from those of all draws by "
            f"{thinning:.2f} standard deviations; raise n_components of BayesianGPRegressor."
        )
    return found
