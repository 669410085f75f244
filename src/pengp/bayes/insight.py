"""What the posterior says about the inputs: which matter, and how many explanations there are."""

from typing import NamedTuple

import numpy as np

from pengp._core.arrays import FloatArray, IntArray
from pengp._core.shown import shown
from pengp.bayes.members import Member
from pengp.bayes.sample import PosteriorSample
from pengp.bayes.sampler import Sampler
from pengp.bayes.weighed import Weighed
from pengp.bayes.weights import normalised

MATTERS = 0.1
"""Change of the response, in its standard deviations, from which on an input matters."""


@shown
class Explanation(NamedTuple):
    """A mode of one member's posterior, and the posterior weight of the draws that belong to it."""

    member: int
    theta: FloatArray  # [d]
    nugget: float
    weight: float


@shown
class Activity(NamedTuple):
    """How much each input matters."""

    probability: FloatArray  # [d], posterior probability that the input matters
    change: FloatArray  # [d, k], quantiles of the change from end to end, in sd of the response
    lengthscale: FloatArray  # [d, k], quantiles of 1 / sqrt(theta), in the unit cube


def activity(
    sample: Weighed,
    y: FloatArray,
    *,
    threshold: float = MATTERS,
    levels: tuple[float, ...] = (0.05, 0.5, 0.95),
) -> Activity:
    """Tell how much each input matters.

    Under given parameters the response at the two ends of input p, all else equal, differs by
    sqrt(2 sigma2 (1 - phi(theta_p))) root mean square. An input matters if that exceeds
    ``threshold`` standard deviations of the response. A theta alone does not tell: a nearly linear
    effect has a tiny theta and a large sigma2.

    Parameters
    ----------
    sample : Weighed
        Weighted draws.
    y : [n]
        Responses that they were learned from.
    threshold : float
        In standard deviations of the response.
    levels : k floats
        Levels of the quantiles.
    """
    draws = sample.draws
    d = draws.theta.shape[1]
    change = np.empty(draws.theta.shape)
    for k, member in enumerate(sample.members):
        mine = draws.member == k
        change[mine] = change_across(member, draws.theta[mine], draws.sigma2[mine])
    change /= np.std(y)
    length = 1.0 / np.sqrt(np.maximum(draws.theta, 1e-300))
    w, p = draws.weight, np.asarray(levels)
    return Activity(
        w @ (change > threshold),
        np.stack([_quantiles(change[:, i], w, p) for i in range(d)]),
        np.stack([_quantiles(length[:, i], w, p) for i in range(d)]),
    )


def change_across(member: Member, theta: FloatArray, sigma2: FloatArray) -> FloatArray:
    """Return the root mean square changes [B, d] from end to end of each input.

    Parameters
    ----------
    member : Member
        The model.
    theta : [B, d]
        Inverse squared lengthscales.
    sigma2 : [B]
        Variances.
    """
    step = member.ends(theta)
    found: FloatArray = np.sqrt(2.0 * sigma2[:, None] * np.maximum(1.0 - step, 0.0))
    return found


def _quantiles(values: FloatArray, weights: FloatArray, levels: FloatArray) -> FloatArray:
    """Return quantiles [k] of values [N] with weights [N]."""
    order = values.argsort()
    place = np.searchsorted(weights[order].cumsum(), levels)
    found: FloatArray = values[order[np.minimum(place, len(order) - 1)]]
    return found


def explanations(sample: PosteriorSample) -> list[Explanation]:
    """Return the modes, the one with the largest posterior weight first.

    A draw belongs to the mode whose neighbourhood is likeliest to hold it; see `nearest_mode`.
    """
    found, d = [], sample.X.shape[1]
    for k, (s, share) in enumerate(zip(sample.samplers, sample.member_weights, strict=True)):
        mine = normalised(s.log_weights())
        weight = share * np.bincount(nearest_mode(s), mine, minlength=len(s.modes.u))
        for u, w in zip(s.modes.u, weight, strict=True):
            g = sample.members[k].nugget
            nugget = g if isinstance(g, float) else float(np.exp(u[d]))
            found.append(Explanation(k, np.exp(u[:d]), nugget, float(w)))
    return sorted(found, key=lambda e: -e.weight)


def nearest_mode(sampler: Sampler) -> IntArray:
    """Return which mode [N] each point belongs to.

    It is the one whose t_4, as high as the mode and as wide as its curvature, is highest there.
    """
    modes, terms = sampler.modes, []
    for u, height, A in zip(modes.u, modes.log_density, modes.precision, strict=True):
        steps = sampler.u - u
        square = np.einsum("np,pq,nq->n", steps, A, steps)
        terms.append(height - 0.5 * (4.0 + len(u)) * np.log1p(square / 4.0))
    owner: IntArray = np.argmax(terms, axis=0)
    return owner
