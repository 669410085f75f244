"""The Bayesian average of one response: what is kept of its posterior, and how it is made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pengp._core.arrays import NO_NUMBERS, FloatArray
from pengp._core.checks import warn
from pengp._core.registry import name_of
from pengp.bayes.components import Thinned, thin
from pengp.bayes.heldout import HeldOut, leave_out
from pengp.bayes.insight import Activity, Explanation, activity, explanations
from pengp.bayes.members import INTEGRATED, Member, checked, default_members
from pengp.bayes.mixture import ProcessMixture, log_density_of_more
from pengp.bayes.priors import Prior
from pengp.bayes.sample import PosteriorSample, sample_posterior
from pengp.bayes.trust import FEW, Halves, compare_halves, problems
from pengp.bayes.weighed import Draws, Weighed
from pengp.bayes.weights import effective_size, normalised
from pengp.exceptions import InputError
from pengp.model.kernels import get_kernel
from pengp.model.means import Mean, get_mean

SAMPLED_NUGGET = (1.49e-8, 1.0)
"""Range of a nugget that is sampled."""

_COUNTS = 1e-8
"""Weight, in parts of the largest, from which a draw is kept when further runs are learned."""

FEWEST = 3
"""Runs from which a posterior is learned: its predictions have a variance from there on."""


@dataclass(frozen=True)
class Settings:
    """How an average is made: members, prior, and when the sampler stops."""

    members: tuple[Member, ...]
    prior: Prior
    effective_size: float
    max_points: int
    n_components: int


@dataclass(frozen=True, eq=False)
class Average(Weighed):
    """What is kept of the posterior of one response: numbers, which a model file holds as well.

    Attributes
    ----------
    y : [n]
        Responses of the runs it was learned from, standardised.
    members : tuple of K Member
        The models.
    draws : Draws
        All N draws.
    log_evidences, log_evidence_errors : [K]
        Log evidence of each member, and its Monte Carlo standard error.
    pareto_shapes : [K]
        Of the members' weights.
    mean_change, std_change : float
        Root mean square changes of mean (in standard deviations) and standard deviation (relative)
        between all draws and the few processes that predict; see `pengp.bayes.components.Thinned`.
    halves : Halves
        Two independent halves of the draws, compared.
    explanations : tuple of Explanation
        The modes, with their posterior weights.
    source : PosteriorSample, HeldOut or None
        Runs that were left out, or the sample by which they can be; None for too few runs.
    noise : [n] or None
        Known variances of y.
    """

    y: FloatArray
    members: tuple[Member, ...]
    draws: Draws
    log_evidences: FloatArray
    log_evidence_errors: FloatArray
    pareto_shapes: FloatArray
    mean_change: float
    std_change: float
    halves: Halves
    explanations: tuple[Explanation, ...]
    source: PosteriorSample | HeldOut | None
    noise: FloatArray | None = None

    @property
    def activity(self) -> Activity:
        """How much each input matters."""
        return activity(self, self.y)

    @property
    def problems(self) -> list[str]:
        """What speaks against the draws, in sentences."""
        return problems(self, self.halves, self.mean_change)

    @cached_property
    def held_out(self) -> HeldOut:
        """Each run predicted from the others, theta learned anew."""
        if self.source is None:
            raise InputError(
                f"the posterior of theta needs at least 3 runs, so that none of {len(self.y)} can "
                "be left out."
            )
        return self.source if isinstance(self.source, HeldOut) else leave_out(self.source)

    @property
    def kernel_weights(self) -> dict[str, float]:
        """Posterior probability of each kernel."""
        found: dict[str, float] = {}
        for member, weight in zip(self.members, self.member_weights, strict=True):
            name = name_of(member.kernel)
            found[name] = found.get(name, 0.0) + float(weight)
        return found

    @property
    def medians(self) -> FloatArray:
        """Posterior medians [d] of theta."""
        theta, weight = self.draws.theta, self.draws.weight
        order = theta.argsort(0)
        k = (weight[order].cumsum(0) < 0.5).sum(0).clip(max=len(order) - 1)
        columns = np.arange(theta.shape[1])
        median: FloatArray = theta[order[k, columns], columns]
        return median


def average(
    X: FloatArray, y: FloatArray, settings: Settings, seed: int, noise: FloatArray | None = None
) -> tuple[Average, ProcessMixture]:
    """Sample the posterior of runs X [n, d], y [n], and find the few processes that predict.

    ``noise`` [n] are known variances of y.
    """
    sample = sampled(X, y, settings, seed, noise)
    few = thin(sample, n_components=settings.n_components, random_state=seed)
    return _described(sample, few), few.mixture


def sampled(
    X: FloatArray, y: FloatArray, settings: Settings, seed: int, noise: FloatArray | None = None
) -> PosteriorSample:
    """Sample the posterior of runs X [n, d], y [n] with known variances ``noise`` [n], if any."""
    return sample_posterior(
        X,
        y,
        members=settings.members,
        prior=settings.prior,
        effective_size=settings.effective_size,
        max_points=settings.max_points,
        random_state=seed,
        noise=noise,
    )


def sample_of(average: Average, X: FloatArray, settings: Settings, seed: int) -> PosteriorSample:
    """Return the sample from which an average was made, of runs X [n, d].

    That of a model file is drawn anew, by its settings and seed: the same to the last bit.
    """
    source = average.source
    if isinstance(source, PosteriorSample):
        return source
    return sampled(X, average.y, settings, seed, average.noise)


def _described(sample: PosteriorSample, few: Thinned) -> Average:
    """Return what is kept of a sample, whose few processes are known."""
    return Average(
        y=sample.y,
        members=sample.members,
        draws=sample.draws,
        log_evidences=sample.log_evidences,
        log_evidence_errors=sample.log_evidence_errors,
        pareto_shapes=sample.pareto_shapes,
        mean_change=few.mean_change,
        std_change=few.std_change,
        halves=compare_halves(sample, few.drawn),
        explanations=tuple(explanations(sample)),
        source=sample if len(sample.y) > FEWEST else None,
        noise=sample.noise,
    )


class _Reweighted(NamedTuple):
    """Draws with other weights, and the runs that these know."""

    X: FloatArray
    y: FloatArray
    members: tuple[Member, ...]
    draws: Draws
    noise: FloatArray | None


def extended(
    found: Average,
    X: FloatArray,
    y: FloatArray,
    settings: Settings,
    seed: int,
    noise: FloatArray | None = None,
) -> ProcessMixture:
    """Return the few processes that predict once more runs are known, X [N, d], y [N] being all.

    All draws of the fit are weighted by the predictive density of the new runs; where their
    effective size falls below 200, the posterior is sampled anew, with a warning if it cannot be
    trusted then.
    """
    counts = np.flatnonzero(found.draws.weight > _COUNTS * found.draws.weight.max())
    draws = found.draws.take(counts)
    of = draws.member, draws.theta, draws.nugget, draws.sigma2
    change = log_density_of_more(X, y, len(found.y), found.members, *of, noise)
    weight = normalised(np.log(draws.weight) + change)
    if effective_size(weight) < FEW:
        anew, mixture = average(X, y, settings, seed, noise)
        for sentence in anew.problems:
            warn(f"the posterior with the further runs cannot be trusted: {sentence}")
        return mixture
    known = _Reweighted(X, y, found.members, draws._replace(weight=weight), noise)
    return thin(known, n_components=settings.n_components, random_state=seed).mixture


def members_of(
    d: int,
    kernels: Any = None,
    nugget: float | Sequence[float] | str | None = None,
    mean: str | Mean | None = None,
    *,
    n_constant: int = 0,
) -> tuple[Member, ...]:
    """Return the members that a user's choices describe, for d inputs.

    Parameters
    ----------
    d : int
        Number of inputs.
    kernels : str, Kernel, sequence or mapping, optional
        Kernels, or a mapping from them to prior weights; those of `default_members` if omitted.
    nugget : float, sequence of floats, "sample" or None
        Nuggets of each kernel, which share its weight; those of `default_members` if omitted.
    mean : {"integrated", "zero"}, Mean or None
        A constant that is integrated out, zero, or a mean with a prior on its coefficients.
    n_constant : int
        How many of the inputs never vary; what is omitted is as without them.
    """
    defaults = default_members(max(d - n_constant, 1))
    trend = defaults[0].mean if mean is None else _mean(mean)
    if kernels is None:
        weights: dict[Any, float] = {}
        for member in defaults:
            weights[member.kernel] = weights.get(member.kernel, 0.0) + member.weight
    elif isinstance(kernels, Mapping):
        weights = {get_kernel(kernel): float(weight) for kernel, weight in kernels.items()}
    else:
        single = isinstance(kernels, str) or not isinstance(kernels, Sequence)
        weights = {get_kernel(kernel): 1.0 for kernel in ([kernels] if single else kernels)}
    members = []
    for kernel, weight in weights.items():
        usual = [m.nugget for m in defaults if m.kernel == kernel] or [1e-5]
        nuggets = usual if nugget is None else _nuggets(nugget)
        members += [Member(kernel, g, trend, weight / len(nuggets)) for g in nuggets]
    return checked(tuple(members), d)


def _mean(mean: Any) -> Mean:
    """Return the mean of a user's choice."""
    if isinstance(mean, str) and mean == "integrated":
        return INTEGRATED
    return get_mean(mean)


def _nuggets(nugget: Any) -> list[float | tuple[float, float]]:
    """Return the nuggets of each kernel."""
    if isinstance(nugget, str):
        if nugget != "sample":
            raise InputError(f"nugget={nugget!r} is unknown; use 'sample', a number or several.")
        return [SAMPLED_NUGGET]
    try:
        values = [float(g) for g in np.atleast_1d(np.asarray(nugget, dtype=np.float64))]
    except NO_NUMBERS:
        values = []
    if not values or not all(0.0 < g < np.inf for g in values):
        raise InputError(f"nugget={nugget!r} must be a number above 0, several, or 'sample'.")
    return list(values)
