"""Importance sampling of one member's posterior from a proposal that was adapted beforehand.

First pilot points are drawn in rounds, each from a proposal made from the points so far, and
weighted against the mixture of all proposals in the shares in which they were used (Veach and
Guibas 1995; Cornuet, Marin, Mira and Robert 2012). A proposal that is high at the very points it
was made from takes weight from those that found what had been overlooked: evidence from such
weights comes out too small, the more so the more inputs there are. So pilot points only shape the
proposal from which the points that count are then drawn. Their weights are independent, their mean
is the evidence without bias, and the errors that they report are to be believed.

Pilot points also tell whether to adapt further: each round is weighted against its own proposal,
which was made without it. Were the points that count thrown away where their weights look poor,
those that are kept would be those that missed the large weights, and the evidence too small.
"""

import copy
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_triangular

from pengp._core.arrays import FloatArray
from pengp.bayes.coordinates import Coordinates, Stretched
from pengp.bayes.proposals import Blend, Proposal, StudentMixture
from pengp.bayes.target import Modes, Target
from pengp.bayes.weights import normalised, tempered

_STARTS = 400
"""Draws of the prior, from the best of which modes are looked for; they are pilot points as well.
"""

_WIDE_AT_FIRST = 0.3
"""Share of wide t's in the first round where the prior cannot be drawn from."""

_WIDER = 1.2
"""Factor on the covariance at a mode."""

_CENTRES = 100
"""Components of the later proposals."""

_RIDGE = 0.02
"""Added to their variances, where the prior's are 1."""

_NARROW = 0.8
"""Width of these components, in that of the weighted points."""

_WIDE, _WIDE_SHARE = 1.4, 0.15
"""Width and share of one more component around their mean."""

_SAFE = (0.1, 0.1)
"""Shares of the prior and of the first round's proposal in what the points are drawn from."""


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


@dataclass(frozen=True, eq=False)
class Points:
    """Points and the mixture of proposals that they were drawn from.

    Attributes
    ----------
    u : [N, P]
        Points.
    log_likelihood, sigma2, log_prior : [N]
        At the points.
    proposals : tuple of (Proposal, float)
        The mixture's parts and their shares, which sum to 1.
    density : [N]
        The mixture's density at the points.
    """

    u: FloatArray
    log_likelihood: FloatArray
    sigma2: FloatArray
    log_prior: FloatArray
    proposals: tuple[tuple[Proposal, float], ...]
    density: FloatArray

    @classmethod
    def none(cls, n_params: int, proposal: Proposal) -> "Points":
        """Return no points yet, which a proposal is to give."""
        empty = np.empty(0)
        return cls(np.empty((0, n_params)), empty, empty, empty, ((proposal, 1.0),), empty)

    def more(self, target: Target, size: int, rng: np.random.Generator) -> "Points":
        """Return ``size`` more points from the same mixture."""
        parts, shares = zip(*self.proposals, strict=True)
        mixture = Blend(parts, np.array(shares))
        new = mixture.sample(rng, size)
        return self._joined(target, new, mixture.density(new))

    def grown(
        self, target: Target, proposal: Proposal, size: int, rng: np.random.Generator
    ) -> "Points":
        """Return ``size`` more points from a proposal that joins the mixture."""
        share = size / (len(self.u) + size)
        old = tuple((q, (1.0 - share) * s) for q, s in self.proposals if len(self.u))
        density = (1.0 - share) * self.density + share * proposal.density(self.u)
        joined = replace(self, proposals=(*old, (proposal, share)), density=density)
        new = proposal.sample(rng, size)
        parts, shares = zip(*joined.proposals, strict=True)
        return joined._joined(target, new, Blend(parts, np.array(shares)).density(new))

    def log_weights(self) -> FloatArray:
        """Return log L + log p - log q [N], q the mixture of the proposals."""
        with np.errstate(divide="ignore"):
            return self.log_likelihood + self.log_prior - np.log(self.density)

    def last(self, size: int, proposal: Proposal) -> FloatArray:
        """Return log L + log p - log q of the last ``size`` points, q that of a proposal."""
        log_density = self.log_likelihood[-size:] + self.log_prior[-size:]
        with np.errstate(divide="ignore"):
            return log_density - np.log(proposal.density(self.u[-size:]))

    def _joined(self, target: Target, new: FloatArray, density: FloatArray) -> "Points":
        """Return the points with new ones, at which the mixture's density is known."""
        loglik, sigma2 = target.likelihood(new)
        return Points(
            np.concatenate([self.u, new]),
            np.concatenate([self.log_likelihood, loglik]),
            np.concatenate([self.sigma2, sigma2]),
            np.concatenate([self.log_prior, target.log_prior(new)]),
            self.proposals,
            np.concatenate([self.density, density]),
        )


class Sampler:
    """The points of one member: call `start`, `adapt` as often as needed, `settle` and `draw`.

    Parameters
    ----------
    target : Target
        Posterior density.
    rng : Generator
        Source of all randomness.
    coordinates : Coordinates
        In which the prior is about normal.

    Attributes
    ----------
    modes : Modes
        Local maxima of the density.
    pilot : Points
        Points by which the proposal is made.
    halves : (Points, Points)
        Points that count; those of the first half come first in all arrays of the sampler.
    rounds : int
        How often it was adapted.
    trial : [M]
        Log weights of the last round of pilot points, against the proposal they were drawn from.
    """

    def __init__(self, target: Target, rng: np.random.Generator, coordinates: Coordinates) -> None:
        self.target, self._rng, self._coordinates = target, rng, coordinates
        prior, self.rounds, self.trial = _FromPrior(target), 0, np.empty(0)
        nothing = Points.none(target.n_params, prior)
        starts = nothing.more(target, _STARTS, rng)
        self.modes = target.modes(starts.u, starts.log_likelihood)
        self._first = _around(self.modes)
        self._wide = prior if target.can_sample else _around(self.modes, 16.0)
        self.pilot = starts if target.can_sample else nothing
        self.halves = (nothing, nothing)

    def __len__(self) -> int:
        """Return the number of points that count."""
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
        """Draw ``size`` pilot points around the modes, beside those from the prior."""
        shares = np.array([_WIDE_AT_FIRST, 1.0 - _WIDE_AT_FIRST])
        around = self._first if len(self.pilot.u) else Blend((self._wide, self._first), shares)
        self.pilot = self.pilot.grown(self.target, around, size, self._rng)

    def adapt(self, size: int) -> None:
        """Draw ``size`` more pilot points, most of them around those with large weights."""
        proposal = self._proposal()
        self.pilot = self.pilot.grown(self.target, proposal, size, self._rng)
        self.trial = self.pilot.last(size, proposal)
        self.rounds += 1

    def settle(self) -> None:
        """Make the proposal from the pilot points; points that were drawn before do not count."""
        empty = Points.none(self.target.n_params, self._proposal())
        self.halves = (empty, empty)

    def draw(self, size: int) -> None:
        """Draw ``size`` more points that count."""
        first, second = (half.more(self.target, size // 2, self._rng) for half in self.halves)
        self.halves = (first, second)

    def aim(self, log_weights: FloatArray, size: int) -> None:
        """Draw ``size`` more points around those with large ``log_weights`` [N].

        Each half gets its points from a proposal made from the other.
        """
        first, second = self.halves
        cut = len(first.u)
        for_second = self._adapted(first.u, log_weights[:cut])
        for_first = self._adapted(second.u, log_weights[cut:])
        self.halves = (
            first.grown(self.target, for_first, size // 2, self._rng),
            second.grown(self.target, for_second, size // 2, self._rng),
        )

    def copy(self, rng: np.random.Generator) -> "Sampler":
        """Return a sampler with the same points that goes on by itself."""
        other = copy.copy(self)
        other._rng = rng
        return other

    def _proposal(self) -> Proposal:
        """Return a proposal made from the pilot points, with some of the prior and first round."""
        made = self._adapted(self.pilot.u, self.pilot.log_weights())
        shares = np.array([*_SAFE, 1.0 - sum(_SAFE)])
        return Blend((self._wide, self._first, made), shares)

    def _adapted(self, u: FloatArray, log_weights: FloatArray) -> Proposal:
        """Return `adapted` for points u [N, P]."""
        return adapted(u, log_weights, self._coordinates, self._rng)


def _around(modes: Modes, factor: float = _WIDER) -> Proposal:
    """Return t_4 around the modes, weighted by the root of Laplace's evidence.

    Their covariances are ``factor`` times those of the modes.
    """
    factors = np.linalg.cholesky(modes.precision)
    half_log_det = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(1)
    weights = normalised(0.5 * (modes.log_density - half_log_det))
    identity = np.eye(modes.u.shape[1])
    around = []
    for u, L in zip(modes.u, factors, strict=True):
        # (L L')^-1 = W' W with W = L^-1
        W = solve_triangular(L, identity, lower=True)
        root = np.asarray(np.linalg.cholesky(factor * (W.T @ W)), dtype=np.float64)
        around.append(StudentMixture(u[None], root, 4, np.ones(1)))
    return Blend(tuple(around), weights)


def adapted(
    u: FloatArray, log_weights: FloatArray, coordinates: Coordinates, rng: np.random.Generator
) -> Proposal:
    """Return 100 t_8 around points resampled from u [N, P] by tempered weights, and a wide t_4.

    The points are drawn to their mean and the t's narrowed so that the mixture has about the
    covariance of the weighted points (West 1993), in coordinates in which the prior is normal.
    """
    z, P = coordinates.inner(u), u.shape[1]
    weights = tempered(log_weights, 12.0 * P + 20.0)
    mean = weights @ z
    steps = z - mean
    C = (weights[:, None] * steps).T @ steps + _RIDGE * np.eye(P)
    root = np.asarray(np.linalg.cholesky(C), dtype=np.float64)
    edges = (np.arange(_CENTRES) + rng.random()) / _CENTRES
    chosen = np.minimum(np.searchsorted(np.cumsum(weights), edges), len(u) - 1)
    centres = mean + np.sqrt(1.0 - _NARROW**2) * steps[chosen]
    near = StudentMixture(centres, _NARROW * root, 8, np.full(_CENTRES, 1.0 / _CENTRES))
    wide = StudentMixture(mean[None], _WIDE * root, 4, np.ones(1))
    both = Blend((near, wide), np.array([1.0 - _WIDE_SHARE, _WIDE_SHARE]))
    return Stretched(both, coordinates)
