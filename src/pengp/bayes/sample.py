"""The posterior over all members as weighted draws, with what tells whether to believe it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammaln

from pengp._core.arrays import BoolArray, FloatArray, RandomState
from pengp._core.checks import as_seed
from pengp._core.linalg import ONE_THREAD
from pengp.bayes.members import Member, checked, default_members
from pengp.bayes.priors import Prior, get_prior
from pengp.bayes.sampler import Sampler
from pengp.bayes.target import Target
from pengp.bayes.weighed import Draws, Weighed
from pengp.bayes.weights import effective_size, log_mean, normalised, pareto_shape
from pengp.exceptions import InputError

_FIRST, _ROUND, _ROUNDS = 800, 500, 2
"""Pilot points of the first round and of a further one, and further rounds before settling."""

_AGAIN, _MOST_PILOTS, _PILOT_SHARE = 1500, 8000, 0.25
"""Pilot points of a round where settling has to be repeated, and the most of a member: so many, or
such a share of the points that are allowed."""

_POINTS, _FEW = 1000, 200
"""Points that a member gets at first, and one that does not count."""

_HOPELESS = 1e-6
"""Weight by the first round below which a member is not adapted to; see `_counts`."""

_INEFFICIENT = 0.02
"""Effective size in parts of the points below which a member is adapted to further."""


@dataclass(frozen=True, eq=False)
class PosteriorSample(Weighed):
    """Weighted draws of theta (and the nugget) for each member; made by `sample_posterior`.

    Attributes
    ----------
    X : [n, d]
        Inputs of the runs.
    y : [n]
        Responses.
    members : tuple of K Member
        The models, their prior weights summing to 1.
    samplers : tuple of K Sampler
        Their draws.
    """

    X: FloatArray
    y: FloatArray
    members: tuple[Member, ...]
    samplers: tuple[Sampler, ...]

    @cached_property
    def log_evidences(self) -> FloatArray:
        """Log evidence [K] of each member: log of the mean over its prior of p(y | theta).

        p(y | theta) = Gamma(n/2) pi^(-n/2) |R|^(-1/2) (y' R^-1 y)^(-n/2), the variance integrated
        out with p(sigma2) = 1 / sigma2, which leaves a factor open that all members share.
        """
        means = np.array([log_mean(s.log_weights())[0] for s in self.samplers])
        return means + self.log_constant

    @property
    def log_constant(self) -> float:
        """Part of every log likelihood that depends on n alone, log Gamma(n/2) - n/2 log pi."""
        n = len(self.y)
        return float(gammaln(0.5 * n) - 0.5 * n * np.log(np.pi))

    @cached_property
    def log_evidence_errors(self) -> FloatArray:
        """Monte Carlo standard errors [K] of the log evidences."""
        return np.array([log_mean(s.log_weights())[1] for s in self.samplers])

    @cached_property
    def draws(self) -> Draws:
        """All draws with their weights."""
        d = self.X.shape[1]
        u = [s.u for s in self.samplers]
        sizes = [len(a) for a in u]
        nuggets = [
            np.exp(a[:, d]) if a.shape[1] > d else np.full(len(a), member.nugget)
            for a, member in zip(u, self.members, strict=True)
        ]
        shares = zip(self.member_weights, self.samplers, strict=True)
        return Draws(
            np.repeat(np.arange(len(u)), sizes),
            np.exp(np.concatenate([a[:, :d] for a in u])),
            np.concatenate(nuggets),
            np.concatenate([s.sigma2 for s in self.samplers]),
            np.concatenate([np.repeat([0, 1], len(s) // 2) for s in self.samplers]),
            np.concatenate([w * normalised(s.log_weights()) for w, s in shares]),
        )

    def half_weights(self, half: int) -> FloatArray:
        """Return the weights [N] of all draws by one half alone; 0 for those of the other."""
        found = [s.halves[half].log_weights() for s in self.samplers]
        prior = np.log([member.weight for member in self.members])
        shares = normalised(prior + [log_mean(each)[0] for each in found])
        weight = np.zeros(len(self.draws.weight))
        parts = [w * normalised(each) for w, each in zip(shares, found, strict=True)]
        weight[self.draws.half == half] = np.concatenate(parts)
        return weight

    @cached_property
    def pareto_shapes(self) -> FloatArray:
        """Pareto shapes [K] of the members' weights; above 0.7 they cannot be trusted."""
        return np.array([pareto_shape(s.log_weights()) for s in self.samplers])

    @property
    def poor(self) -> BoolArray:
        """Which members [K] count and are to be adapted to further."""
        weights = [normalised(s.log_weights()) for s in self.samplers]
        share = np.array([float(effective_size(w)) / len(w) for w in weights])
        unadapted = np.array([len(s.pilot.u) <= _FIRST for s in self.samplers])
        return self.untrusted | (self.counts & ((share < _INEFFICIENT) | unadapted))


def sample_posterior(
    X: FloatArray,
    y: FloatArray,
    *,
    members: tuple[Member, ...] | None = None,
    prior: str | Prior = "hierarchical-lasso",
    effective_size: float = 800.0,
    max_points: int = 30_000,
    random_state: RandomState = None,
) -> PosteriorSample:
    """Draw from the posterior of theta under each member, and weigh the members by their evidence.

    Parameters
    ----------
    X : [n, d]
        Inputs in the unit cube.
    y : [n]
        Responses, centred and scaled to a variance of about 1.
    members : tuple of Member, optional
        The models that are averaged; `default_members` if omitted.
    prior : {"hierarchical-lasso", "gamma", "jointly-robust"} or Prior
        Prior of log theta.
    effective_size : float
        Effective number of draws at which the sampler stops.
    max_points : int
        Points of all members, those by which it adapts included, at which it stops; up to 2,000 of
        each member are drawn before that, and points that were thrown away do not count.
    random_state : int, Generator, RandomState or None
        Seed. Every member has its own stream.
    """
    _check_runs(X, y)
    chosen, law = checked(members or default_members(X.shape[1]), X.shape[1]), get_prior(prior)
    streams = np.random.SeedSequence(as_seed(random_state)).spawn(len(chosen))
    with ONE_THREAD:
        targets = [Target(member, X, y, law) for member in chosen]
        rngs = [np.random.default_rng(stream) for stream in streams]
        samplers = tuple(Sampler(*pair) for pair in zip(targets, rngs, strict=True))
        for sampler in samplers:
            sampler.start(_FIRST)
        first = max(min(_POINTS, max_points // (2 * len(chosen)) * 2), _FEW)
        for sampler, counts in zip(samplers, _counts(chosen, samplers), strict=True):
            _settle(sampler, [_ROUND] * _ROUNDS if counts else [], first if counts else _FEW)
        while True:
            found = PosteriorSample(X, y, chosen, samplers)
            left = max_points - sum(len(s) + len(s.pilot.u) for s in samplers)
            pilots = max(_MOST_PILOTS, int(_PILOT_SHARE * max_points))
            if not _improve(found, effective_size, left, pilots):
                return found


def _counts(members: tuple[Member, ...], samplers: tuple[Sampler, ...]) -> BoolArray:
    """Tell which members [K] may count, by their first round and by Laplace's approximation.

    One whose weight is below 1e-6 by both is not adapted to. If its points then give it more than
    1e-3 after all, it is.
    """
    prior = np.log([member.weight for member in members])
    sampled = np.array([log_mean(s.pilot.log_weights())[0] for s in samplers])
    laplace = np.array([s.modes.log_evidence for s in samplers])
    weights = [normalised(prior + each) for each in (sampled, laplace)]
    return np.maximum(*weights) > _HOPELESS


def _settle(sampler: Sampler, rounds: list[int], size: int) -> None:
    """Adapt to a member in rounds of so many points and draw ``size`` that count."""
    for points in rounds:
        sampler.adapt(points)
    sampler.settle()
    sampler.draw(size)


def _improve(found: PosteriorSample, effective_size: float, left: int, most_pilots: int) -> bool:
    """Adapt further or draw more where it is needed, at most ``left`` points; tell whether it was.

    A member that counts is adapted to further where its weights cannot be trusted or few points
    hold them all; else the one that adds most to the variance of an average gets more points.
    """
    rounds = [_AGAIN] * _ROUNDS
    pilots = np.array([len(s.pilot.u) for s in found.samplers])
    poor = np.flatnonzero(found.poor & (pilots + sum(rounds) <= most_pilots))
    if len(poor) and left >= sum(rounds) + _POINTS:
        _settle(found.samplers[poor[0]], rounds, _POINTS)
        return True
    if found.effective_size >= effective_size:
        return False
    draws = found.draws
    sampler = found.samplers[int(np.bincount(draws.member, draws.weight**2).argmax())]
    size = min(max(_ROUND, len(sampler) // 4), left) // 2 * 2
    if size >= _FEW:
        sampler.draw(size)
    return size >= _FEW


def _check_runs(X: FloatArray, y: FloatArray) -> None:
    """Refuse runs from which nothing can be learned."""
    if X.ndim != 2 or y.shape != (len(X),):
        raise InputError(f"X {X.shape} and y {y.shape} do not fit together; use [n, d] and [n].")
    if len(y) < 3:
        raise InputError(f"the posterior of theta needs at least 3 runs, not {len(y)}.")
    if not (np.isfinite(X).all() and np.isfinite(y).all()):
        raise InputError("X and y must be finite.")
    if not y.any():
        raise InputError("y is 0 in every run, so that nothing can be learned from it.")
