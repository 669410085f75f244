"""Adaptive importance sampling of one member's posterior, with deterministic-mixture weights.

Points are drawn in rounds, each from a proposal made from the points so far. Every point, whatever
its round, is weighted against the mixture of all proposals in the shares in which they were used
(Veach and Guibas 1995; Cornuet, Marin, Mira and Robert 2012), so that no point is wasted and a poor
early proposal does no harm.

A proposal that is high at the very points it was made from takes weight from those that found what
had been overlooked, and the evidence comes out too small, the more so the more inputs there are. So
the points form two halves, and each draws from proposals made from the points of the other.
"""

import copy
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from pengp._core.arrays import FloatArray
from pengp.bayes.proposals import Blend, Proposal, StudentMixture
from pengp.bayes.target import Modes, Target
from pengp.bayes.weights import normalised, tempered

_PRIOR_SHARE = 0.3
"""Share of the first round that is drawn from the prior."""

_WIDER = 1.2
"""Factor on the covariance at a mode."""

_CENTRES = 40
"""Components of the later proposals."""

_RIDGE = 0.05
"""Added to the variances of the later proposals."""

_NARROW = 0.6
"""Width of these components, in that of the weighted points."""

_WIDE, _WIDE_SHARE = 1.4, 0.15
"""Width and share of one more component around their mean."""


@dataclass(frozen=True, eq=False)
class _FromPrior:
    """The prior as a proposal."""

    target: Target

    def sample(self, rng: np.random.Generator, size: int) -> FloatArray:
        """Return draws [size, P]."""
        return self.target.sample_prior(rng, size)

    def density(self, u: FloatArray) -> FloatArray:
        """Return p(u) [N]."""
        return np.exp(self.target.log_prior(u))


@dataclass(eq=False)
class Half:
    """Points and the proposals they were drawn from.

    Attributes
    ----------
    u : [N, P]
        Points.
    log_likelihood, sigma2, log_prior : [N]
        At the points.
    proposals : tuple of (Proposal, int)
        What they were drawn from, and how many from each.
    mass : [N]
        Sum of the proposals' densities at the points, each times its number.
    """

    u: FloatArray
    log_likelihood: FloatArray
    sigma2: FloatArray
    log_prior: FloatArray
    proposals: tuple[tuple[Proposal, int], ...]
    mass: FloatArray

    def grown(
        self, target: Target, proposal: Proposal, size: int, rng: np.random.Generator
    ) -> "Half":
        """Return the half with ``size`` more points from a proposal."""
        new = proposal.sample(rng, size)
        proposals = (*self.proposals, (proposal, size))
        old = self.mass + size * proposal.density(self.u)
        mass = np.add.reduce([count * q.density(new) for q, count in proposals])
        loglik, sigma2 = target.likelihood(new)
        return Half(
            np.concatenate([self.u, new]),
            np.concatenate([self.log_likelihood, loglik]),
            np.concatenate([self.sigma2, sigma2]),
            np.concatenate([self.log_prior, target.log_prior(new)]),
            proposals,
            np.concatenate([old, mass]),
        )

    def log_weights(self) -> FloatArray:
        """Return log L + log p - log q [N], q the mixture of the proposals."""
        with np.errstate(divide="ignore"):
            return self.log_likelihood + self.log_prior - np.log(self.mass / len(self.u))


class Sampler:
    """The points of one member.

    Parameters
    ----------
    target : Target
        Posterior density.
    rng : Generator
        Source of all randomness.

    Attributes
    ----------
    modes : Modes
        Local maxima of the density.
    halves : (Half, Half)
        Points; those of the first half come first in all arrays of the sampler.
    """

    def __init__(self, target: Target, rng: np.random.Generator) -> None:
        self.target, self._rng = target, rng
        self.modes = target.modes(rng)
        none = np.empty(0)
        empty = Half(np.empty((0, target.n_params)), none, none, none, (), none)
        self.halves = (empty, empty)

    def __len__(self) -> int:
        """Return the number of points."""
        return sum(len(half.u) for half in self.halves)

    @property
    def u(self) -> FloatArray:
        """Points [N, P]."""
        return np.concatenate([half.u for half in self.halves])

    @property
    def sigma2(self) -> FloatArray:
        """Y' R^-1 y / n at the points [N]."""
        return np.concatenate([half.sigma2 for half in self.halves])

    def log_weights(self) -> FloatArray:
        """Return log L + log p - log q of all points [N]."""
        return np.concatenate([half.log_weights() for half in self.halves])

    def start(self, size: int) -> None:
        """Draw the first ``size`` points, from the prior and around the modes."""
        proposal = _first(self.target, self.modes)
        self._grow((proposal, proposal), size)

    def round(self, size: int) -> None:
        """Draw ``size`` more points around those with large weights."""
        self.aim(self.log_weights(), size)

    def aim(self, log_weights: FloatArray, size: int) -> None:
        """Draw ``size`` more points around those with large ``log_weights`` [N]."""
        first, second = self.halves
        parts = log_weights[: len(first.u)], log_weights[len(first.u) :]
        made = [adapted(h.u, w, self._rng) for h, w in zip((first, second), parts, strict=True)]
        self._grow((made[1], made[0]), size)

    def copy(self, rng: np.random.Generator) -> "Sampler":
        """Return a sampler with the same points that goes on by itself."""
        other = copy.copy(self)
        other._rng = rng
        return other

    def _grow(self, proposals: tuple[Proposal, Proposal], size: int) -> None:
        """Draw ``size`` points, as many for each half."""
        pairs = zip(self.halves, proposals, strict=True)
        grown = [half.grown(self.target, q, size // 2, self._rng) for half, q in pairs]
        self.halves = (grown[0], grown[1])


def _first(target: Target, modes: Modes) -> Proposal:
    """Return 0.3 prior + 0.7 t_4 around the modes, weighted by the root of Laplace's evidence."""
    factors = np.linalg.cholesky(modes.precision)
    half_log_det = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(1)
    weights = normalised(0.5 * (modes.log_density - half_log_det))
    identity = np.eye(target.n_params)
    around = []
    for u, L in zip(modes.u, factors, strict=True):
        # (L L')^-1 = W' W with W = L^-1
        W = solve_triangular(L, identity, lower=True)
        root = np.asarray(np.linalg.cholesky(_WIDER * (W.T @ W)), dtype=np.float64)
        around.append(StudentMixture(u[None], root, 4, np.ones(1)))
    if getattr(target.prior, "sample", None) is not None:
        wide: Proposal = _FromPrior(target)
    else:
        wide = StudentMixture(modes.u, 4.0 * around[0].root, 4, weights)
    shares = np.concatenate([[_PRIOR_SHARE], (1.0 - _PRIOR_SHARE) * weights])
    return Blend((wide, *around), shares)


def adapted(u: FloatArray, log_weights: FloatArray, rng: np.random.Generator) -> Proposal:
    """Return 40 t_8 around points resampled from u [N, P] by tempered weights, and a wide t_4.

    The points are drawn to their mean and the t's narrowed so that the mixture has about the
    covariance of the weighted points (West 1993).
    """
    P = u.shape[1]
    weights = tempered(log_weights, 12.0 * P + 20.0)
    mean = weights @ u
    steps = u - mean
    C = (weights[:, None] * steps).T @ steps + _RIDGE * np.eye(P)
    root = np.asarray(np.linalg.cholesky(C), dtype=np.float64)
    edges = (np.arange(_CENTRES) + rng.random()) / _CENTRES
    chosen = np.minimum(np.searchsorted(np.cumsum(weights), edges), len(u) - 1)
    centres = mean + np.sqrt(1.0 - _NARROW**2) * steps[chosen]
    near = StudentMixture(centres, _NARROW * root, 8, np.full(_CENTRES, 1.0 / _CENTRES))
    wide = StudentMixture(mean[None], _WIDE * root, 4, np.ones(1))
    return Blend((near, wide), np.array([1.0 - _WIDE_SHARE, _WIDE_SHARE]))
