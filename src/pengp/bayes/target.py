"""The posterior density of one member's parameters, and its modes."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from pengp._core.arrays import BoolArray, FloatArray, IntArray
from pengp.bayes.members import Member
from pengp.bayes.priors import Prior
from pengp.exceptions import InputError
from pengp.model.noise import NoisyLikelihood, log_tau_bounds
from pengp.path.lockstep import Lockstep
from pengp.path.newton import Expansion

_LOWEST, _HIGHEST = -25.0, 15.0
"""Range of log theta in which modes are looked for."""

_BEST = 8
"""Starts with the largest posterior density, and as many with the largest likelihood."""

_GAIN = 1e-3
"""A search ends where the next step promises no more than this."""

_BELOW = 8.0
"""Modes so much lower than the best are left out."""

_APART = 0.5
"""Squared distance, in units of a mode's own curvature, within which another is the same."""

FLOOR = 0.08
"""Least curvature of a mode that the sampler believes."""


class Modes(NamedTuple):
    """Local maxima of the posterior density of u, best first."""

    u: FloatArray  # [K, P]
    log_density: FloatArray  # [K], log likelihood + log prior
    precision: FloatArray  # [K, P, P], minus the Hessian, its eigenvalues at least FLOOR

    @property
    def log_evidences(self) -> FloatArray:
        """Laplace's approximation of the log evidence [K] around each mode."""
        log_det = np.linalg.slogdet(self.precision)[1]
        half = 0.5 * self.u.shape[1] * np.log(2.0 * np.pi)
        return np.asarray(self.log_density - 0.5 * log_det + half)

    @property
    def log_evidence(self) -> float:
        """Laplace's approximation of the log evidence, the sum over the modes."""
        return float(logsumexp(self.log_evidences))


class Target:
    """Log likelihood and log prior of u = (log theta, and log nugget where it is sampled).

    Where the noise is known, the last one is log tau = -log sigma2 instead, uniform in its range.

    Parameters
    ----------
    member : Member
        The model.
    X : [n, d]
        Inputs in the unit cube.
    y : [n]
        Responses.
    prior : Prior
        Of log theta.
    noise : [n], optional
        Known variances of the responses.
    """

    def __init__(
        self,
        member: Member,
        X: FloatArray,
        y: FloatArray,
        prior: Prior,
        noise: FloatArray | None = None,
    ) -> None:
        self.member, self._likelihood = member, member.likelihood(X, y, noise)
        for_runs: Callable[[FloatArray], Prior] | None = getattr(prior, "for_runs", None)
        self.prior = prior if for_runs is None else for_runs(X)
        self.n_theta, self.n_params = X.shape[1], self._likelihood.n_params
        g = member.nugget
        self.log_nuggets = None if isinstance(g, float) else (np.log(g[0]), np.log(g[1]))
        if noise is not None:
            self.log_nuggets = log_tau_bounds()

    @property
    def can_sample(self) -> bool:
        """Return whether the prior can be drawn from."""
        return getattr(self.prior, "sample", None) is not None

    @property
    def n_evaluations(self) -> int:
        """Return the number of likelihoods computed so far."""
        return self._likelihood.n_evaluations

    def likelihood(self, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log L, constants dropped, and y' R^-1 y / n, each [N], at u [N, P]."""
        data_set = np.zeros(len(u), dtype=np.int64)
        at = self._likelihood.evaluate(data_set, u, derivatives=False)
        return at.value, at.sigma2

    def log_prior(self, u: FloatArray) -> FloatArray:
        """Return log p(u) [N] at u [N, P]."""
        value = self.prior.value(u[:, : self.n_theta])
        if self.log_nuggets is None:
            return value
        low, high = self.log_nuggets
        inside = (u[:, -1] >= low) & (u[:, -1] <= high)
        return np.where(inside, value - np.log(high - low), -np.inf)

    def sample_prior(self, rng: np.random.Generator, size: int) -> FloatArray:
        """Return draws [size, P] of the prior; of normal laws with sd 2 if it has no sampler."""
        draw: Any = getattr(self.prior, "sample", None)
        T = self.n_theta
        u = draw(rng, size, T) if self.can_sample else 2.0 * rng.standard_normal((size, T))
        if self.log_nuggets is None:
            return u
        return np.column_stack([u, rng.uniform(*self.log_nuggets, size=size)])

    def expand(self, cell: IntArray, u: FloatArray) -> Expansion:
        """Return the log posterior density at u [B, P] with gradient and Hessian."""
        at = self._likelihood.evaluate(np.zeros_like(cell), u)
        T = self.n_theta
        at.gradient[:, :T] += self.prior.gradient(u[:, :T])
        at.hessian[:, :T, :T] += self.prior.hessian(u[:, :T])
        return Expansion(at.value + self.log_prior(u), at.gradient, at.hessian)

    def modes(self, points: FloatArray, loglik: FloatArray) -> Modes:
        """Find local maxima by Newton steps from the best of points [N, P] with log L [N]."""
        if isinstance(self._likelihood, NoisyLikelihood):  # the best sigma2 for each theta
            data_set, T = np.zeros(len(points), dtype=np.int64), self.n_theta
            best_scales = self._likelihood.best_scales(data_set, points[:, :T])[0]
            points = np.column_stack([points[:, :T], best_scales])
            loglik = self.likelihood(points)[0]
        by_density = np.argsort(-(loglik + self.log_prior(points)), kind="stable")[:_BEST]
        by_likelihood = np.argsort(-loglik, kind="stable")[:_BEST]
        best = np.unique(np.concatenate([by_density, by_likelihood]))
        starts = np.clip(points[best], *self._box())
        search = Lockstep(self.expand, self._bounds, gain=_GAIN, max_rounds=30)
        zeros = np.zeros(len(starts), dtype=np.int64)
        search.add(zeros, np.arange(len(starts)), starts)
        ended = search.finish()
        height = ended.at.objective
        order = np.argsort(-height, kind="stable")
        order = order[height[order] > height[order[0]] - _BELOW]
        if not len(order):
            raise InputError(
                "the correlation matrix is singular for every theta that was tried; use a larger "
                "nugget, such as 1e-5."
            )
        u, precision = ended.point[order], _floored(-ended.at.hessian[order])
        kept = _distinct(u, precision)
        return Modes(u[kept], height[order][kept], precision[kept])

    def _box(self) -> tuple[FloatArray, FloatArray]:
        """Return the bounds [P] between which modes are looked for."""
        low, high = np.full(self.n_params, _LOWEST), np.full(self.n_params, _HIGHEST)
        if self.log_nuggets is not None:
            low[-1], high[-1] = self.log_nuggets
        return low, high

    def _bounds(self, cell: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return them for each of the cells [B]."""
        low, high = self._box()
        return np.tile(low, (len(cell), 1)), np.tile(high, (len(cell), 1))


def _floored(A: FloatArray) -> FloatArray:
    """Return A [K, P, P] with eigenvalues of at least FLOOR."""
    values, vectors = np.linalg.eigh(A)
    raised: FloatArray = (vectors * np.maximum(values, FLOOR)[:, None, :]) @ vectors.transpose(
        0, 2, 1
    )
    return raised


def _distinct(u: FloatArray, precision: FloatArray) -> BoolArray:
    """Tell which points u [K, P], best first, are near none that is better."""
    kept = np.zeros(len(u), dtype=bool)
    for k in range(len(u)):
        steps = u[k] - u[kept]
        distance = np.einsum("kp,kpq,kq->k", steps, precision[kept], steps)
        kept[k] = not (distance < _APART).any()
    return kept
