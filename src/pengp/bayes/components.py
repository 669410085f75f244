"""A few components that predict what all draws predict.

Draws are resampled by their weights, and then thinned further: non-negative weights on few of them
that leave the predictive mean and variance, at reference points over the cube, as they are in all
leading principal directions (a Caratheodory reduction, as in Hayakawa, Oberhauser and Lyons 2022).
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.optimize import nnls
from scipy.stats import qmc

from pengp._core.arrays import FloatArray, IntArray, RandomState
from pengp._core.checks import as_seed
from pengp._core.linalg import ONE_THREAD, inverse_factors
from pengp.bayes.members import Member
from pengp.bayes.mixture import ProcessMixture
from pengp.bayes.weighed import Draws

_REFERENCE = 128
"""Reference points; half of them shape the thinning, the others check it."""

_PIECE = 1 << 18
"""Elements [draws, n, n + points] that are worked on at a time."""


class Weighted(Protocol):
    """Runs and weighted draws, such as a `PosteriorSample`."""

    @property
    def X(self) -> FloatArray:  # noqa: N802 - a matrix
        """Inputs [n, d]."""

    @property
    def y(self) -> FloatArray:
        """Responses [n]."""

    @property
    def members(self) -> tuple[Member, ...]:
        """The models."""

    @property
    def draws(self) -> Draws:
        """The draws."""


@dataclass(frozen=True, eq=False)
class Thinned:
    """A mixture of few processes, and how much it differs from all resampled draws.

    Attributes
    ----------
    mixture : ProcessMixture
        The few.
    mean_change : float
        Root mean square change of the predictive mean, in predictive standard deviations, at points
        that had no part in the thinning.
    std_change : float
        Root mean square relative change of the predictive standard deviation there.
    """

    mixture: ProcessMixture
    mean_change: float
    std_change: float


def thin(
    sample: Weighted,
    *,
    n_draws: int = 800,
    n_components: int = 100,
    random_state: RandomState = 0,
) -> Thinned:
    """Return a mixture of about n_components processes that predicts like n_draws resampled ones.

    Parameters
    ----------
    sample : Weighted
        Runs and weighted draws.
    n_draws : int
        Draws that are resampled by their weights.
    n_components : int
        Most components that are kept.
    random_state : int, Generator, RandomState or None
        Seed of the resampling and of the reference points.
    """
    rng = np.random.default_rng(as_seed(random_state))
    draws = sample.draws
    chosen, counts = np.unique(systematic(draws.weight, n_draws, rng), return_counts=True)
    points = reference_points(sample.X.shape[1], rng)
    with ONE_THREAD:
        location, square = predictions(sample, chosen, points)
    weight = counts / n_draws
    half = _REFERENCE // 2
    kept = _reduced(location[:, :half], square[:, :half], weight, n_components)
    few = np.flatnonzero(kept)
    of = chosen[few]
    mixture = ProcessMixture(
        sample.X,
        sample.y,
        sample.members,
        draws.member[of],
        draws.theta[of],
        draws.nugget[of],
        kept[few],
    )
    before = moments(location[:, half:], square[:, half:], weight)
    after = moments(location[:, half:], square[:, half:], kept)
    mean_change = (after[0] - before[0]) / before[1]
    return Thinned(mixture, _rms(mean_change), _rms(after[1] / before[1] - 1.0))


def reference_points(d: int, rng: np.random.Generator) -> FloatArray:
    """Return points [m, d] that fill the unit cube: a Sobol sequence, shifted at random."""
    points: FloatArray = (qmc.Sobol(d, scramble=False).random(_REFERENCE) + rng.random(d)) % 1.0
    return points


def systematic(weights: FloatArray, size: int, rng: np.random.Generator) -> IntArray:
    """Return ``size`` indices, each as often as its weight [N] says up to one (Kitagawa 1996)."""
    edges = (np.arange(size) + rng.random()) / size
    chosen: IntArray = np.minimum(np.searchsorted(np.cumsum(weights), edges), len(weights) - 1)
    return chosen


def _reduced(location: FloatArray, square: FloatArray, weight: FloatArray, size: int) -> FloatArray:
    """Return weights [M], at most ``size`` of them above 0, that keep the moments of ``weight``.

    Parameters
    ----------
    location, square : [M, m]
        Means and variances of the draws at the reference points.
    weight : [M]
        Weights of the draws.
    size : int
        Most positive weights.
    """
    if len(weight) <= size:
        return weight
    mean, sd = moments(location, square, weight)
    away = (location - mean) / sd
    features = np.column_stack([away, away**2 + square / sd**2])
    features -= weight @ features
    root = np.sqrt(weight)[:, None]
    _, values, directions = np.linalg.svd(root * features, full_matrices=False)
    leading = directions[: size - 1][values[: size - 1] > 1e-12 * values[0]]
    A = np.vstack([np.ones(len(weight)), (features @ leading.T).T])
    target = np.zeros(len(A))
    target[0] = 1.0
    found: FloatArray = nnls(A, target)[0]
    return found / found.sum()


def predictions(
    sample: Weighted, chosen: IntArray, points: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return means and variances [M, m] at points [m, d] of the draws ``chosen`` [M]."""
    (n, draws), shape = (len(sample.y), sample.draws), (len(chosen), len(points))
    location, square = np.empty(shape), np.empty(shape)
    step = max(1, _PIECE // (n * (n + len(points))))
    for k, member in enumerate(sample.members):
        mine = np.flatnonzero(draws.member[chosen] == k)
        whole = member.prior_variance(points)
        for start in range(0, len(mine), step):
            some = mine[start : start + step]
            theta, g = draws.theta[chosen[some]], draws.nugget[chosen[some]]
            W = inverse_factors(member.covariance(sample.X, theta, g))[0]
            z, v = sample.y @ W, member.cross(points, sample.X, theta) @ W
            location[some] = (v @ z[:, :, None])[..., 0]
            left = np.maximum(whole - np.vecdot(v, v), 0.0) + g[:, None]
            square[some] = left * (np.vecdot(z, z) / (n - 2.0))[:, None]
    return location, square


def moments(
    location: FloatArray, square: FloatArray, weight: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation [m] of a mixture."""
    mean = weight @ location
    return mean, np.sqrt(weight @ (square + (location - mean) ** 2))


def _rms(values: FloatArray) -> float:
    """Return the root mean square."""
    return float(np.sqrt(np.mean(values**2)))
