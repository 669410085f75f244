"""Whether the runs look noisy: how much likelier they are with noise than without it.

The evidence of a smooth model with a free nugget, in Laplace's approximation, is held against that
of smooth and rough models whose nuggets are fixed, so that roughness is no noise. Of the former
count the modes whose noise is neither too small to matter nor most of the response, where hardly
anything but noise is left.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from pengp._core.arrays import FloatArray
from pengp._core.linalg import ONE_THREAD
from pengp.bayes.members import Member
from pengp.bayes.priors import Prior
from pengp.bayes.target import Modes, Target

#: Range of the nugget of noise, over which its logarithm is uniform.
_NUGGETS = (1e-4, 1.0)
#: Standard deviations that count as noise, in that of the responses.
_LEAST, _MOST = 0.02, 0.5
#: Draws of the prior, from the best of which modes are looked for.
_STARTS = 200


class NoiseFound(NamedTuple):
    """How much speaks for noise."""

    log_factor: float
    """Log evidence with noise less that without; -inf where no mode has noise that counts."""
    std: float
    """Standard deviation of the noise at the best mode, in the unit of the responses, else nan."""


def noise_in(
    X: FloatArray,
    y: FloatArray,
    members: Sequence[Member],
    prior: Prior,
    log_evidences: FloatArray | None = None,
) -> NoiseFound:
    """Tell how much likelier runs X [n, d], y [n] are with noise than without.

    Parameters
    ----------
    X : [n, d]
        Inputs in the unit cube.
    y : [n]
        Responses of mean 0, not all equal.
    members : sequence of K Member
        Models with fixed nuggets; the first, the smoothest, gets the noise.
    prior : Prior
        Prior of log theta.
    log_evidences : [K], optional
        Of the members, constants dropped; approximated where they are not known.
    """
    rng, total = np.random.default_rng(0), sum(member.weight for member in members)
    with ONE_THREAD:
        target = Target(replace(members[0], nugget=_NUGGETS), X, y, prior)
        modes = _modes(target, rng)
        std = np.sqrt(np.exp(modes.u[:, -1]) * target.likelihood(modes.u)[1])
        counts = (std > _LEAST * y.std()) & (std < _MOST * y.std())
        if not counts.any():
            return NoiseFound(-np.inf, np.nan)
        if log_evidences is None:
            targets = [Target(member, X, y, prior) for member in members]
            log_evidences = np.array([_modes(target, rng).log_evidence for target in targets])
    found = modes.log_evidences[counts]
    without = logsumexp(np.log([member.weight / total for member in members]) + log_evidences)
    return NoiseFound(float(logsumexp(found) - without), float(std[counts][found.argmax()]))


def _modes(target: Target, rng: np.random.Generator) -> Modes:
    """Return the modes to which draws of the prior lead."""
    draws = target.sample_prior(rng, _STARTS)
    return target.modes(draws, target.likelihood(draws)[0])
