"""The posterior over all members as weighted draws, with what tells whether to believe it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammaln

from pengp._core.arrays import BoolArray, FloatArray, RandomState
from pengp._core.checks import as_seed
from pengp._core.linalg import ONE_THREAD
from pengp._core.progress import tell
from pengp.bayes.coordinates import normal_coordinates
from pengp.bayes.members import Member, checked, default_members
from pengp.bayes.priors import Prior, get_prior
from pengp.bayes.sampler import Sampler
from pengp.bayes.target import Target
from pengp.bayes.weighed import NEGLIGIBLE, UNTRUSTED_SHAPE, Draws, Weighed
from pengp.bayes.weights import effective_size, log_mean, normalised, pareto_shape
from pengp.exceptions import InputError

_FIRST, _ROUND, _ROUNDS = 500, 500, 2
"""Pilot points around the modes and of a further round, and further rounds before settling."""

_AGAIN, _MOST_PILOTS, _PILOT_SHARE = 1500, 8000, 0.25
"""Pilot points of a round where it takes more of them, and the most of a member: so many, or such a
share of the points that are allowed."""

_AIMED = 3
"""How often points that count are drawn around those that there are."""

_FOR_MAP = 2000
"""Draws of the prior from which the members' coordinates are made."""

_POINTS, _FEW = 600, 200
"""Least points that a member gets at first, and points of one that does not count."""

_RESERVE = 1.3
"""Points that are drawn at first, in parts of those that are needed by the pilot points. To stop
where the weights of the points themselves say that they do would favour those without large ones.
"""

_EXPECTED = _FIRST + _ROUND * _ROUNDS + _POINTS
"""Points of a member that are expected until it is known better."""

_MOST_INPUTS = 100
"""Inputs: densities of points in 150 dimensions no longer have a double of their size."""

_HOPELESS = 1e-6
"""Weight by the first round below which a member is not adapted to; see `_counts`."""

_INEFFICIENT = 0.02
"""Effective size in parts of the points below which weights are poor."""


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
    noise : [n] or None
        Known variances of the responses.
    """

    X: FloatArray
    y: FloatArray
    members: tuple[Member, ...]
    samplers: tuple[Sampler, ...]
    noise: FloatArray | None = None

    @cached_property
    def log_evidences(self) -> FloatArray:
        """Log evidence [K] of each member: log of the mean over its prior of p(y | theta).

        p(y | theta) = Gamma(n/2) pi^(-n/2) |R|^(-1/2) (y' R^-1 y)^(-n/2), the variance integrated
        out with p(sigma2) = 1 / sigma2, which leaves a factor open that all members share. With
        known noise p(y | theta, sigma2) is normal, and sigma2 is drawn with theta.
        """
        means = np.array([log_mean(s.log_weights())[0] for s in self.samplers])
        return means + self.log_constant

    @property
    def log_constant(self) -> float:
        """Part of every log likelihood that depends on n alone; see `log_constant`.

        With known noise - n/2 log(2 pi).
        """
        n = len(self.y)
        return log_constant(n) if self.noise is None else -0.5 * n * float(np.log(2.0 * np.pi))

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
        nuggets = [nuggets_of(member, a, d) for a, member in zip(u, self.members, strict=True)]
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
        """Which members [K] count and have poor weights."""
        return self.counts & [_poor(s.log_weights()) for s in self.samplers]

    @property
    def overlooked(self) -> BoolArray:
        """Which members [K] count although they were not adapted to."""
        return self.counts & [s.rounds == 0 for s in self.samplers]


def log_constant(n: int) -> float:
    """Return log Gamma(n/2) - n/2 log pi, which all log likelihoods of n runs have in common."""
    return float(gammaln(0.5 * n) - 0.5 * n * np.log(np.pi))


def nuggets_of(member: Member, u: FloatArray, d: int) -> FloatArray:
    """Return the nuggets [N] of a member's points u [N, P], d inputs first."""
    g = member.nugget
    return np.full(len(u), g) if isinstance(g, float) else np.exp(u[:, d])


def sample_posterior(
    X: FloatArray,
    y: FloatArray,
    *,
    members: tuple[Member, ...] | None = None,
    prior: str | Prior = "hierarchical-lasso",
    effective_size: float = 800.0,
    max_points: int = 30_000,
    random_state: RandomState = None,
    noise: FloatArray | None = None,
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
        each member are drawn before that.
    random_state : int, Generator, RandomState or None
        Seed. Every member has its own stream, and what they share has another.
    noise : [n], optional
        Known variances of the responses.
    """
    _check_runs(X, y)
    goal = effective_size
    chosen, law = checked(members or default_members(X.shape[1]), X.shape[1]), get_prior(prior)
    streams = np.random.SeedSequence(as_seed(random_state)).spawn(len(chosen) + 1)
    rngs = [np.random.default_rng(stream) for stream in streams]
    with ONE_THREAD:
        samplers = _started([Target(member, X, y, law, noise) for member in chosen], rngs)
        _adapt(chosen, samplers, max_points)
        for sampler, size in zip(samplers, _sizes(chosen, samplers, goal, max_points), strict=True):
            sampler.settle()
            sampler.draw(int(size))
            _tell(samplers, len(samplers) * _EXPECTED)
        while True:
            found = PosteriorSample(X, y, chosen, samplers, noise)
            _tell(samplers, max_points, goal / found.effective_size)
            left = max_points - sum(len(s) + len(s.pilot.u) for s in samplers)
            if not _improve(found, goal, left):
                return found


def _started(targets: list[Target], rngs: list[np.random.Generator]) -> tuple[Sampler, ...]:
    """Return the members' samplers after their first round; the last stream is for all of them."""
    T = targets[0].n_theta
    theta = targets[0].sample_prior(rngs[-1], _FOR_MAP)[:, :T]
    nuggets = {target.log_nuggets for target in targets}
    maps = {each: normal_coordinates(theta, each) for each in nuggets}
    pairs = zip(targets, rngs[:-1], strict=True)
    samplers = tuple(Sampler(target, rng, maps[target.log_nuggets]) for target, rng in pairs)
    for sampler in samplers:
        sampler.start(_FIRST)
    return samplers


def _tell(samplers: tuple[Sampler, ...], most: int, times: float = np.inf) -> None:
    """Tell how many points there are of those wanted, so many times as many but not above most."""
    points = sum(len(s) + len(s.pilot.u) for s in samplers)
    tell("Sampling the posterior", "points", points, int(min(times * points, most)))


def _counts(members: tuple[Member, ...], samplers: tuple[Sampler, ...]) -> BoolArray:
    """Tell which members [K] may count, by their first round and by Laplace's approximation.

    One whose weight is below 1e-6 by both is not adapted to. If its points then give it more than
    1e-3 after all, it is.
    """
    prior = np.log([member.weight for member in members])
    laplace = normalised(prior + [s.modes.log_evidence for s in samplers])
    return np.maximum(_pilot_weights(members, samplers), laplace) > _HOPELESS


def _adapt(members: tuple[Member, ...], samplers: tuple[Sampler, ...], max_points: int) -> None:
    """Adapt to the members that may count, and further to those whose trial was poor."""
    for k in np.flatnonzero(_counts(members, samplers)):
        _rounds(samplers[k], _ROUND)
        _tell(samplers, len(samplers) * _EXPECTED)
    room, most = _AGAIN * _ROUNDS, max(_MOST_PILOTS, int(_PILOT_SHARE * max_points))
    while True:
        pilots = np.array([len(s.pilot.u) for s in samplers])
        poor = np.array([s.rounds > 0 and _poor(s.trial) for s in samplers])
        poor &= (_pilot_weights(members, samplers) > NEGLIGIBLE) & (pilots + room <= most)
        if not poor.any() or pilots.sum() + room + _POINTS > max_points:
            return
        _rounds(samplers[int(np.argmax(poor))], _AGAIN)


def _pilot_weights(members: tuple[Member, ...], samplers: tuple[Sampler, ...]) -> FloatArray:
    """Return the members' posterior weights [K] by their pilot points."""
    prior = np.log([member.weight for member in members])
    return normalised(prior + [log_mean(s.pilot.log_weights())[0] for s in samplers])


def _sizes(
    members: tuple[Member, ...], samplers: tuple[Sampler, ...], goal: float, max_points: int
) -> FloatArray:
    """Return how many points [K] to draw at first, by the efficiency of the last pilot points.

    The effective size of the average is 1 / sum_k w_k^2 / (N_k e_k): with N_k ~ w_k / e_k, each
    member has the share w_k of it.
    """
    K, pilots = len(samplers), sum(len(s.pilot.u) for s in samplers)
    adapted = np.array([s.rounds > 0 for s in samplers])
    weights = _pilot_weights(members, samplers)[adapted]
    least = np.full(K, float(_FEW))
    least[adapted] = max(min(_POINTS, max_points // K), _FEW)
    wanted = least.copy()
    efficiency = [_efficiency(s.trial) for s in samplers if s.rounds]
    wanted[adapted] = np.maximum(_RESERVE * goal * weights / efficiency, _POINTS)
    wanted *= min(1.0, max(max_points - pilots, 0.0) / wanted.sum())
    return np.maximum(wanted, least) // 2.0 * 2.0


def _rounds(sampler: Sampler, size: int) -> None:
    """Adapt to a member in rounds of ``size`` points."""
    for _ in range(_ROUNDS):
        sampler.adapt(size)


def _poor(log_weights: FloatArray) -> bool:
    """Tell whether weights have a heavy tail, or few of them hold all."""
    inefficient = _efficiency(log_weights) < _INEFFICIENT
    return inefficient or pareto_shape(log_weights) > UNTRUSTED_SHAPE


def _efficiency(log_weights: FloatArray) -> float:
    """Return the effective size of weights in parts of their number."""
    return float(effective_size(normalised(log_weights))) / len(log_weights)


def _improve(found: PosteriorSample, effective_size: float, left: int) -> bool:
    """Draw more where it is needed, at most ``left`` points; tell whether it was.

    A member with poor weights gets points around those that have most, each half from a proposal
    made from the other; else the one that adds most to the variance of an average gets more. No
    point is thrown away, but the few of a member that counts against expectation.
    """
    overlooked = np.flatnonzero(found.overlooked)
    if len(overlooked) and left >= (_ROUNDS + 2) * _ROUND:
        sampler = found.samplers[overlooked[0]]
        _rounds(sampler, _ROUND)
        sampler.settle()
        sampler.draw(2 * _ROUND)
        return True
    aimed = np.array([len(s.halves[0].proposals) > _AIMED for s in found.samplers])
    poor = np.flatnonzero(found.poor & ~aimed)
    if len(poor) and left >= _AGAIN:
        sampler = found.samplers[poor[0]]
        sampler.aim(sampler.log_weights(), _AGAIN)
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
    if X.shape[1] > _MOST_INPUTS:
        raise InputError(
            f"{X.shape[1]} inputs are too many for an average, whose draws have a density in as "
            f"many dimensions; use at most {_MOST_INPUTS}, or a penalized fit."
        )
    if len(y) < 3:
        raise InputError(f"the posterior of theta needs at least 3 runs, not {len(y)}.")
    if not (np.isfinite(X).all() and np.isfinite(y).all()):
        raise InputError("X and y must be finite.")
    if not y.any():
        raise InputError("y is 0 in every run, so that nothing can be learned from it.")
