"""Adaptive importance sampling of one member's posterior, with deterministic-mixture weights.

Points are drawn in rounds, each from a proposal made from the points so far. Every point, whatever
its round, is weighted against the mixture of all proposals in the shares in which they were used
(Veach and Guibas 1995; Cornuet, Marin, Mira and Robert 2012), so that no point is wasted and a poor
early proposal does no harm. The points form two halves which adapt on their own: after the first
round neither knows the other, and their disagreement tells what the sampler missed.
"""

import copy
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import solve_triangular

from pengp._core.arrays import FloatArray, IntArray
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

BOTH = -1
"""Half of a proposal that both halves use."""


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
class Sampler:
    """The points of one member and where they come from.

    Attributes
    ----------
    target : Target
        Posterior density.
    rng : Generator
        Source of all randomness.
    modes : Modes
        Local maxima of the density.
    u : [N, P]
        Points.
    log_likelihood, sigma2, log_prior : [N]
        At the points.
    half : [N]
        0 or 1.
    """

    target: Target
    rng: np.random.Generator
    modes: Modes = field(init=False)
    u: FloatArray = field(init=False)
    log_likelihood: FloatArray = field(init=False)
    sigma2: FloatArray = field(init=False)
    log_prior: FloatArray = field(init=False)
    half: IntArray = field(init=False)

    def __post_init__(self) -> None:
        """Find the modes."""
        self.modes = self.target.modes(self.rng)
        self.u, self.half = np.empty((0, self.target.n_params)), np.empty(0, dtype=np.int64)
        self.log_likelihood = self.sigma2 = self.log_prior = np.empty(0)
        self._proposals: list[Proposal] = []
        self._half_of: list[int] = []  # of each proposal
        self._counts: list[int] = []  # points drawn from it, by each half that uses it
        self._densities: list[FloatArray] = []  # of each proposal at all points, [N]

    def start(self, size: int) -> None:
        """Draw the first ``size`` points, from the prior and around the modes."""
        self._add([(_first(self.target, self.modes), BOTH)], size)

    def round(self, size: int) -> None:
        """Draw ``size`` more points around those with large weights."""
        self._add([(self._around(half), half) for half in (0, 1)], size)

    def log_weights(self, half: int = BOTH) -> FloatArray:
        """Return log L + log p - log q [N] of all points, or of one half's by its own proposals."""
        mine = slice(None) if half == BOTH else self.half == half
        used = [j for j, h in enumerate(self._half_of) if BOTH in (h, half) or h == half]
        # A proposal of both halves was drawn from twice as often as its count says.
        counts = [self._counts[j] * (2 if half == self._half_of[j] == BOTH else 1) for j in used]
        total = float(sum(counts))
        pairs = zip(used, counts, strict=True)
        q = np.add.reduce([(c / total) * self._densities[j][mine] for j, c in pairs])
        with np.errstate(divide="ignore"):
            return self.log_likelihood[mine] + self.log_prior[mine] - np.log(q)

    def aim(self, log_weights: FloatArray, size: int) -> None:
        """Draw ``size`` more points around those with large ``log_weights`` [N]."""
        proposal = _adapted(self.u, log_weights, self.rng)
        self._add([(proposal, BOTH)], size)

    def copy(self, rng: np.random.Generator) -> "Sampler":
        """Return a sampler with the same points that goes on by itself."""
        other = copy.copy(self)
        other.rng = rng
        for name in ("_proposals", "_half_of", "_counts", "_densities"):
            setattr(other, name, list(getattr(self, name)))
        return other

    def _around(self, half: int) -> Proposal:
        """Return the next proposal of a half."""
        return _adapted(self.u[self.half == half], self.log_weights(half), self.rng)

    def _add(self, proposals: list[tuple[Proposal, int]], size: int) -> None:
        """Draw ``size`` points, as many for each half."""
        each = size // 2
        drawn, halves = [], []
        for proposal, half in proposals:
            for h in (0, 1) if half == BOTH else (half,):
                drawn.append(proposal.sample(self.rng, each))
                halves.append(np.full(each, h))
        new = np.concatenate(drawn)
        self._densities = [
            np.concatenate([old, q.density(new)])
            for old, q in zip(self._densities, self._proposals, strict=True)
        ]
        self.u, self.half = np.concatenate([self.u, new]), np.concatenate([self.half, *halves])
        loglik, sigma2 = self.target.likelihood(new)
        self.log_likelihood = np.concatenate([self.log_likelihood, loglik])
        self.sigma2 = np.concatenate([self.sigma2, sigma2])
        self.log_prior = np.concatenate([self.log_prior, self.target.log_prior(new)])
        for proposal, half in proposals:
            self._proposals.append(proposal)
            self._half_of.append(half)
            self._counts.append(each)
            self._densities.append(proposal.density(self.u))


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
        root = np.linalg.cholesky(_WIDER * (W.T @ W))
        around.append(StudentMixture(u[None], root, 4, np.ones(1)))
    if getattr(target.prior, "sample", None) is not None:
        wide: Proposal = _FromPrior(target)
    else:
        wide = StudentMixture(modes.u, 4.0 * around[0].root, 4, weights)
    shares = np.concatenate([[_PRIOR_SHARE], (1.0 - _PRIOR_SHARE) * weights])
    return Blend((wide, *around), shares)


def _adapted(u: FloatArray, log_weights: FloatArray, rng: np.random.Generator) -> Proposal:
    """Return 40 t_8 around points resampled from u [N, P] by tempered weights, and a wide t_4.

    The points are drawn to their mean and the t's narrowed so that the mixture has about the
    covariance of the weighted points (West 1993).
    """
    P = u.shape[1]
    weights = tempered(log_weights, 12.0 * P + 20.0)
    mean = weights @ u
    steps = u - mean
    root = np.linalg.cholesky((weights[:, None] * steps).T @ steps + _RIDGE * np.eye(P))
    edges = (np.arange(_CENTRES) + rng.random()) / _CENTRES
    chosen = np.minimum(np.searchsorted(np.cumsum(weights), edges), len(u) - 1)
    centres = mean + np.sqrt(1.0 - _NARROW**2) * steps[chosen]
    near = StudentMixture(centres, _NARROW * root, 8, np.full(_CENTRES, 1.0 / _CENTRES))
    wide = StudentMixture(mean[None], _WIDE * root, 4, np.ones(1))
    return Blend((near, wide), np.array([1.0 - _WIDE_SHARE, _WIDE_SHARE]))
