"""The posterior over all members as weighted draws, with what tells whether to believe it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammaln

from pengp._core.arrays import FloatArray, RandomState
from pengp._core.linalg import ONE_THREAD
from pengp._core.seeds import as_seed
from pengp.bayes.members import Member, checked, default_members
from pengp.bayes.priors import Prior, get_prior
from pengp.bayes.sampler import Sampler
from pengp.bayes.target import Target
from pengp.bayes.weighed import Draws, Weighed
from pengp.bayes.weights import log_mean, normalised, pareto_shape
from pengp.exceptions import InputError

_FIRST, _ROUND, _ROUNDS = 800, 500, 2
"""Points of the first round and of a further one, and further rounds that every member gets."""

_MORE = 2.5
"""Factor on the effective size that is wanted from weights that cannot be trusted."""


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
        Draws of all members at which it stops in any case.
    random_state : int, Generator, RandomState or None
        Seed. Every member has its own stream.
    """
    _check_runs(X, y)
    chosen, law = checked(members or default_members(X.shape[1]), X.shape[1]), get_prior(prior)
    streams = np.random.SeedSequence(as_seed(random_state)).spawn(len(chosen))
    samplers = []
    with ONE_THREAD:
        for member, stream in zip(chosen, streams, strict=True):
            sampler = Sampler(Target(member, X, y, law), np.random.default_rng(stream))
            sampler.start(_FIRST)
            for _ in range(_ROUNDS):
                sampler.round(_ROUND)
            samplers.append(sampler)
        while True:
            found = PosteriorSample(X, y, chosen, tuple(samplers))
            size = found.effective_size
            enough = size >= (1.0 if found.trusted_shapes else _MORE) * effective_size
            if enough or sum(len(s) for s in samplers) + _ROUND > max_points:
                return found
            samplers[_poorest(found)].round(_ROUND)


def _poorest(found: PosteriorSample) -> int:
    """Return the member whose weights add most to the variance of an average."""
    draws = found.draws
    return int(np.bincount(draws.member, draws.weight**2).argmax())


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
