"""Predictions of new inputs by the posteriors that leave out one run each, theta learned anew.

At a draw of theta, with P = R^-1, alpha = P y and a(x) = P r(x), the process without run i has the
mean m(x) - a_i(x) alpha_i / P_ii, and its likelihood is closed as well (`pengp.bayes.heldout`): the
same draws, weighted anew, are the posterior without run i.
"""

from dataclasses import dataclass

import numpy as np

from pengp._core.arrays import FloatArray, IntArray
from pengp._core.linalg import ONE_THREAD, inverse_factors, positive_inverse
from pengp.bayes.average import Average
from pengp.bayes.components import systematic
from pengp.bayes.heldout import without
from pengp.bayes.members import Member
from pengp.bayes.weights import normalised

_KEPT = 400
"""Draws that predict, resampled from all left-out posteriors together."""

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
    """

    X: FloatArray
    members: tuple[Member, ...]
    member: IntArray
    theta: FloatArray
    weight: FloatArray
    precision: FloatArray
    alpha: FloatArray

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


def left_out_means(average: Average, X: FloatArray, seed: int = 0) -> LeftOutMeans:
    """Return the predictions without each run, of an average that was learned from X [n, d]."""
    with ONE_THREAD:
        weight = _left_out_weights(average, X)
        every = weight.mean(1)
        drawn = systematic(every, _KEPT, np.random.default_rng(seed))
        chosen, counts = np.unique(drawn, return_counts=True)
        # Importance weights: the draws were resampled by the mean of the columns.
        few = weight[chosen] * (counts / every[chosen])[:, None]
        draws, y = average.draws, average.y
        member, theta, g = draws.member[chosen], draws.theta[chosen], draws.nugget[chosen]
        P = np.empty((len(chosen), len(y), len(y)))
        for k, one in enumerate(average.members):
            mine = member == k
            P[mine] = positive_inverse(one.covariance(X, theta[mine], g[mine]))[0]
    return LeftOutMeans(X, average.members, member, theta, few / few.sum(0), P, P @ y)


def _left_out_weights(average: Average, X: FloatArray) -> FloatArray:
    """Return the weights [N, n] of all draws in the posterior without run i."""
    draws, n = average.draws, len(average.y)
    log_weight = np.full((len(draws.weight), n), -np.inf)
    step = max(1, _PIECE // n**2)
    for k, member in enumerate(average.members):
        mine = np.flatnonzero((draws.member == k) & (draws.weight > 0.0))
        for start in range(0, len(mine), step):
            some = mine[start : start + step]
            R = member.covariance(X, draws.theta[some], draws.nugget[some])
            change = without(inverse_factors(R)[0], average.y, np.arange(n)[:, None])[0]
            log_weight[some] = np.log(draws.weight[some])[:, None] + change
    return normalised(log_weight.T).T
