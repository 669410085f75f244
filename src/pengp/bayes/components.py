"""A few components that predict what all draws predict.

Draws are resampled by their weights, and then thinned further: non-negative weights on few of them
that leave the predictive mean and variance, at reference points over the cube, as they are in all
leading principal directions (a Caratheodory reduction, as in Hayakawa, Oberhauser and Lyons 2022).
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from scipy.optimize import nnls

from pengp._core.arrays import FloatArray, IntArray, RandomState
from pengp._core.checks import as_seed
from pengp._core.linalg import ONE_THREAD, inverse_factors
from pengp._core.sobol import sobol_points
from pengp.bayes.members import Member
from pengp.bayes.mixture import ProcessMixture
from pengp.bayes.weighed import Draws, scaled_noise

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
    def noise(self) -> FloatArray | None:
        """Known variances [n] of the responses."""

    @property
    def members(self) -> tuple[Member, ...]:
        """The models."""

    @property
    def draws(self) -> Draws:
        """The draws."""


class Resampled(NamedTuple):
    """Draws resampled by their weights, and what they predict at m reference points."""

    chosen: IntArray  # [M], which draws, each once
    weight: FloatArray  # [M], sums to 1
    location: FloatArray  # [M, m], means
    square: FloatArray  # [M, m], variances


@dataclass(frozen=True, eq=False)
class Thinned:
    """A mixture of few processes, and about how much it differs from all draws.

    Draws are first resampled and then thinned. What the thinning changes is seen at points that had
    no part in it, what the resampling changes is its standard error there; both are added in
    squares. Systematic resampling does better than its standard error, if anything.

    Attributes
    ----------
    mixture : ProcessMixture
        The few.
    mean_change : float
        Root mean square change of the predictive mean, in predictive standard deviations.
    std_change : float
        Root mean square relative change of the predictive standard deviation.
    drawn : Resampled
        The resampled draws.
    """

    mixture: ProcessMixture
    mean_change: float
    std_change: float
    drawn: Resampled


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
    drawn = _resampled(sample, n_draws, rng)
    half = _REFERENCE // 2
    kept = _reduced(drawn.location[:, :half], drawn.square[:, :half], drawn.weight, n_components)
    few = np.flatnonzero(kept)
    draws, of = sample.draws, drawn.chosen[few]
    mixture = ProcessMixture(
        sample.X,
        sample.y,
        sample.members,
        draws.member[of],
        draws.theta[of],
        draws.nugget[of],
        kept[few],
        draws.sigma2[of] if sample.noise is not None else None,
        sample.noise,
    )
    fresh = drawn.location[:, half:], drawn.square[:, half:]
    mean_change, std_change = _changes(*fresh, drawn.weight, kept, n_draws)
    return Thinned(mixture, mean_change, std_change, drawn)


def _changes(
    location: FloatArray, square: FloatArray, weight: FloatArray, kept: FloatArray, n_draws: int
) -> tuple[float, float]:
    """Return the root mean square changes of mean and standard deviation; see `Thinned`.

    Parameters
    ----------
    location, square : [M, m]
        Means and variances of the resampled draws at m points.
    weight, kept : [M]
        Their weights before and after they were thinned.
    n_draws : int
        How many were resampled.
    """
    (mean, sd), (new_mean, new_sd) = (moments(location, square, w) for w in (weight, kept))
    away = (location - mean) / sd
    second = away**2 + square / sd**2  # of which the mean is 1, and half the error that of the sd
    by_chance = weight @ away**2, 0.25 * (weight @ (second - 1.0) ** 2)
    seen = ((new_mean - mean) / sd) ** 2, (new_sd / sd - 1.0) ** 2
    found = [np.sqrt(np.mean(a + b / n_draws)) for a, b in zip(seen, by_chance, strict=True)]
    return float(found[0]), float(found[1])


def _resampled(sample: Weighted, size: int, rng: np.random.Generator) -> Resampled:
    """Resample ``size`` draws by their weights, and predict reference points with them."""
    drawn = systematic(sample.draws.weight, size, rng)
    chosen, counts = np.unique(drawn, return_counts=True)
    with ONE_THREAD:
        at = predictions(sample, chosen, reference_points(sample.X.shape[1], rng))
    return Resampled(chosen, counts / size, *at)


def reference_points(d: int, rng: np.random.Generator) -> FloatArray:
    """Return points [m, d] that fill the unit cube: a Sobol sequence, shifted at random."""
    return (sobol_points(_REFERENCE, d) + rng.random(d)) % 1.0


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
            of = chosen[some]
            theta, g = draws.theta[of], draws.nugget[of]
            noise = scaled_noise(sample.noise, draws.sigma2[of])
            W = inverse_factors(member.covariance(sample.X, theta, g, noise))[0]
            z, v = sample.y @ W, member.cross(points, sample.X, theta) @ W
            location[some] = (v @ z[:, :, None])[..., 0]
            left = np.maximum(whole - np.vecdot(v, v), 0.0) + g[:, None]
            sigma2 = np.vecdot(z, z) / (n - 2.0) if sample.noise is None else draws.sigma2[of]
            square[some] = left * sigma2[:, None]
    return location, square


def moments(
    location: FloatArray, square: FloatArray, weight: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation [m] of a mixture."""
    mean = weight @ location
    return mean, np.sqrt(weight @ (square + (location - mean) ** 2))
