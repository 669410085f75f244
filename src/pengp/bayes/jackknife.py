"""Predictions of new inputs by the posteriors that leave out one run each, theta learned anew.

At a draw of theta, with P = R^-1, alpha = P y and a(x) = P r(x), the process without run i has the
mean m(x) - a_i(x) alpha_i / P_ii, and its likelihood is closed as well (`pengp.bayes.heldout`): the
same draws, weighted anew, are the posterior without run i, and where they are few more are drawn.
"""

from dataclasses import dataclass

import numpy as np

from pengp._core.arrays import FloatArray, IntArray
from pengp._core.linalg import ONE_THREAD, inverse_factors, positive_inverse
from pengp.bayes.average import Average, Settings, sample_of
from pengp.bayes.components import systematic
from pengp.bayes.heldout import LEAST, LeftOutDraws, left_out_draws, without
from pengp.bayes.members import Member
from pengp.bayes.weighed import scaled_noise
from pengp.bayes.weights import effective_size, normalised

_KEPT, _MOST, _ENOUGH = 400, 3200, 50.0
"""Draws that predict, resampled from all left-out posteriors together: at first, and at most where
the effective size of one of these is not enough."""

_MOST_ELEMENTS = 1 << 24
"""Elements of their matrices P."""

_PIECE = 1 << 19
"""Elements [draws, n, n] that are inverted at a time."""


@dataclass(frozen=True, eq=False)
class LeftOutMeans:
    """Predictive means without run i, for every i; on the model's scale.

    Attributes
    ----------
    X : [n, d]
        Inputs of the runs, in the unit cube.
    members : tuple of K Member
        The models.
    member : [J]
        Which of them each draw is.
    theta : [J, d]
        Draws of theta.
    weight : [J, n]
        Their weights in the posterior without run i; each column sums to 1.
    precision : [J, n, n]
        P at each draw.
    alpha : [J, n]
        P y.
    effective_size : [n]
        Of the draws without run i from which these were resampled.
    """

    X: FloatArray
    members: tuple[Member, ...]
    member: IntArray
    theta: FloatArray
    weight: FloatArray
    precision: FloatArray
    alpha: FloatArray
    effective_size: FloatArray

    @property
    def residuals(self) -> FloatArray:
        """Absolute errors [n] at the run that was left out."""
        each = self.alpha / np.diagonal(self.precision, axis1=1, axis2=2)
        return np.abs((self.weight * each).sum(0))

    def means(self, X_new: FloatArray) -> FloatArray:
        """Return the means [m, n] at X_new [m, d]."""
        out = np.zeros((len(X_new), len(self.X)))
        columns = (self.member, self.theta, self.precision, self.alpha, self.weight)
        with ONE_THREAD:
            for k, theta, P, alpha, w in zip(*columns, strict=True):
                r = self.members[k].cross(X_new, self.X, theta[None])[0]
                out += w * ((r @ alpha)[:, None] - (r @ P) * (alpha / np.diagonal(P)))
        return out


def left_out_means(
    average: Average, X: FloatArray, settings: Settings, seed: int = 0
) -> LeftOutMeans:
    """Return the predictions without each run, of an average that was learned from X [n, d].

    One of a model file is made anew by its settings and seed if its draws are too few.
    """
    y, draws = average.y, _known(average, X)
    if effective_size(draws.weight.T).min() < LEAST:
        draws = left_out_draws(sample_of(average, X, settings, seed), seed)
    chosen, few = _resampled(draws.weight, np.random.default_rng(seed))
    member, theta = draws.member[chosen], draws.theta[chosen]
    g, sigma2 = draws.nugget[chosen], draws.sigma2[chosen]
    P = np.empty((len(chosen), len(y), len(y)))
    with ONE_THREAD:
        for k, one in enumerate(average.members):
            mine = member == k
            noise = scaled_noise(average.noise, sigma2[mine])
            P[mine] = positive_inverse(one.covariance(X, theta[mine], g[mine], noise))[0]
    sizes = effective_size(draws.weight.T)
    return LeftOutMeans(X, average.members, member, theta, few, P, P @ y, sizes)


def _resampled(weight: FloatArray, rng: np.random.Generator) -> tuple[IntArray, FloatArray]:
    """Resample draws from all posteriors, weight [N, n], together; return them and their weights.

    More are taken where one of the posteriors has few of them.
    """
    every, size = weight.mean(1), _KEPT
    while True:
        chosen, counts = np.unique(systematic(every, size, rng), return_counts=True)
        # Importance weights: the draws were resampled by the mean of the columns.
        few = weight[chosen] * (counts / every[chosen])[:, None]
        few /= few.sum(0)
        size *= 2
        enough = effective_size(few.T).min() >= _ENOUGH
        if enough or size > min(_MOST, _MOST_ELEMENTS // weight.shape[1] ** 2):
            return chosen, few


def _known(average: Average, X: FloatArray) -> LeftOutDraws:
    """Return the draws of the average with their weights without each run."""
    draws = average.draws
    weight = _left_out_weights(average, X)
    return LeftOutDraws(draws.member, draws.theta, draws.nugget, draws.sigma2, weight)


def _left_out_weights(average: Average, X: FloatArray) -> FloatArray:
    """Return the weights [N, n] of all draws in the posterior without run i."""
    draws, n = average.draws, len(average.y)
    log_weight = np.full((len(draws.weight), n), -np.inf)
    step = max(1, _PIECE // n**2)
    with ONE_THREAD:
        for k, member in enumerate(average.members):
            mine = np.flatnonzero((draws.member == k) & (draws.weight > 0.0))
            for start in range(0, len(mine), step):
                some = mine[start : start + step]
                noise = scaled_noise(average.noise, draws.sigma2[some])
                R = member.covariance(X, draws.theta[some], draws.nugget[some], noise)
                sigma2 = None if average.noise is None else draws.sigma2[some]
                each = np.arange(n)[:, None]
                change = without(inverse_factors(R)[0], average.y, each, sigma2)[0]
                log_weight[some] = np.log(draws.weight[some])[:, None] + change
    return normalised(log_weight.T).T
