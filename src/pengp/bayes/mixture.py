"""A mixture of processes, each at its own theta: predictions, covariances, draws, further runs."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from pengp._core.arrays import FloatArray, IntArray
from pengp.bayes.law import MixtureLaw
from pengp.bayes.members import Member
from pengp.bayes.student import inflation
from pengp.bayes.weights import normalised
from pengp.model.posterior import Posterior


@dataclass(frozen=True, eq=False)
class ProcessMixture:
    """sum_j w_j times the Student t process with theta_j, conditioned on the runs.

    With p(sigma2) = 1 / sigma2 integrated out, the process of component j has n degrees of freedom,
    its mean mu_j(x) and the scale matrix sigma2_j R_j(x, x' | runs), sigma2_j = y' R^-1 y / n.
    Where the noise is known, sigma2_j is drawn with theta_j, and the process is normal.

    Attributes
    ----------
    X : [n, d]
        Inputs of the runs, in the unit cube.
    y : [n]
        Responses.
    members : tuple of K Member
        The models.
    member : [M]
        Which of them each component is.
    theta : [M, d]
        Inverse squared lengthscales.
    nugget : [M]
        Nuggets.
    weight : [M]
        Weights, which sum to 1.
    scales : [M] or None
        sigma2_j, where the noise is known.
    noise : [n] or None
        Known variances of the responses.
    """

    X: FloatArray
    y: FloatArray
    members: tuple[Member, ...]
    member: IntArray
    theta: FloatArray
    nugget: FloatArray
    weight: FloatArray
    scales: FloatArray | None = None
    noise: FloatArray | None = None

    sigma2: ClassVar[float] = 1.0
    """Variances come as they are, not divided by a scale as those of one process do."""

    @property
    def df(self) -> float:
        """Degrees of freedom of every component, infinite where the noise is known."""
        return len(self.y) if self.noise is None else np.inf

    @cached_property
    def components(self) -> list[Posterior]:
        """The M processes, with sigma2_j as their scale."""
        scales = [None] * len(self.weight) if self.scales is None else self.scales.tolist()
        rows = zip(self.member, self.theta, self.nugget.tolist(), scales, strict=True)
        runs, noise = (self.X, self.y), self.noise
        return [self.members[k].condition(*runs, theta, g, s, noise) for k, theta, g, s in rows]

    def law(self, X_new: FloatArray) -> MixtureLaw:
        """Return the predictive laws at X_new [m, d], for quantiles and scores."""
        shape = len(X_new), len(self.weight)
        location, scale = np.empty(shape, order="F"), np.empty(shape, order="F")
        for j, component in enumerate(self.components):
            location[:, j], variance = component.predict(X_new)
            scale[:, j] = np.sqrt(component.sigma2 * variance)
        return MixtureLaw(location, scale, self.weight, self.df)

    def predict_mean(self, X_new: FloatArray) -> FloatArray:
        """Return the predictive mean [m] at X_new [m, d], without the cost of the variance."""
        parts = zip(self.weight, self.components, strict=True)
        return np.add.reduce([w * component.predict_mean(X_new) for w, component in parts])

    def predict(self, X_new: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the predictive mean [m] and variance [m] at X_new [m, d]."""
        mean, second = np.zeros(len(X_new)), np.zeros(len(X_new))
        factor = inflation(self.df)
        for w, component in zip(self.weight, self.components, strict=True):
            location, variance = component.predict(X_new)
            mean += w * location
            second += w * (factor * component.sigma2 * variance + location * location)
        return mean, np.maximum(second - mean * mean, 0.0)

    def predict_cov(self, X_new: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the predictive mean [m] and covariance [m, m] at X_new [m, d].

        The mean covariance of the components and the covariance of their means.
        """
        m, factor = len(X_new), inflation(self.df)
        cov, means = np.zeros((m, m)), np.empty((len(self.weight), m))
        for j, component in enumerate(self.components):
            means[j], scaled = component.predict_cov(X_new)
            cov += self.weight[j] * factor * component.sigma2 * scaled
        mean = self.weight @ means
        away = np.sqrt(self.weight)[:, None] * (means - mean)
        return mean, cov + away.T @ away

    def mean_gradient(self, X_new: FloatArray) -> FloatArray:
        """Return the derivatives [m, d] of the predictive mean in each input, at X_new [m, d]."""
        parts = zip(self.weight, self.components, strict=True)
        return np.add.reduce([w * component.mean_gradient(X_new) for w, component in parts])

    def sample(
        self, X_new: FloatArray, n_samples: int, rng: np.random.Generator | np.random.RandomState
    ) -> FloatArray:
        """Return draws [n_samples, m] of the responses at X_new [m, d].

        Each is a draw of one component's t process: a Gaussian one whose variance is sigma2_j n
        over a chi-squared variable with n degrees of freedom.
        """
        counts = rng.multinomial(n_samples, self.weight)
        out = np.empty((n_samples, len(X_new)))
        order, start = rng.permutation(n_samples), 0
        for component, count in zip(self.components, counts, strict=True):
            if count:
                rows = order[start : start + count]
                centre = component.predict_mean(X_new)
                stretch = np.ones(count)
                if self.noise is None:
                    stretch = np.sqrt(self.df / rng.chisquare(self.df, count))
                steps = component.sample(X_new, int(count), rng) - centre
                out[rows] = centre + stretch[:, None] * steps
                start += count
        return out

    def extend(
        self, X_add: FloatArray, y_add: FloatArray, noise_add: FloatArray | None = None
    ) -> "ProcessMixture":
        """Return the mixture that also knows the runs X_add [k, d], y_add [k].

        Where the noise of the runs is known, theirs is noise_add [k]. A component's weight is
        multiplied by its predictive density of the new runs, the ratio of two likelihoods.
        """
        X, y = np.concatenate([self.X, X_add]), np.concatenate([self.y, y_add])
        noise = self.noise
        if noise is not None and noise_add is not None:
            noise = np.concatenate([noise, noise_add])
        if not self.y.any():  # nothing is known but that y is 0, whatever theta
            return replace(self, X=X, y=y, noise=noise)
        of = self.member, self.theta, self.nugget, self.scales
        change = log_density_of_more(X, y, len(self.y), self.members, *of, noise)
        weight = normalised(np.log(self.weight) + change)
        kept = weight > 0.0
        return ProcessMixture(
            X,
            y,
            self.members,
            self.member[kept],
            self.theta[kept],
            self.nugget[kept],
            weight[kept],
            None if self.scales is None else self.scales[kept],
            noise,
        )


def log_density_of_more(
    X: FloatArray,
    y: FloatArray,
    n: int,
    members: tuple[Member, ...],
    member: IntArray,
    theta: FloatArray,
    nugget: FloatArray,
    sigma2: FloatArray | None = None,
    noise: FloatArray | None = None,
) -> FloatArray:
    """Return log L(all runs) - log L(the first n) [M] of processes, constants dropped.

    Parameters
    ----------
    X, y : [N, d], [N]
        All runs.
    n : int
        How many of them were known.
    members : tuple of K Member
        The models.
    member, theta, nugget : [M], [M, d], [M]
        Of the processes.
    sigma2, noise : [M], [N], optional
        Of the processes, and known variances of all responses, which need it.
    """
    change = np.empty(len(member))
    for k, own in enumerate(members):
        mine = np.flatnonzero(member == k)
        if len(mine):
            at = theta[mine], nugget[mine], None if sigma2 is None else sigma2[mine]
            before = own.log_likelihood(X[:n], y[:n], *at, None if noise is None else noise[:n])
            change[mine] = own.log_likelihood(X, y, *at, noise) - before
    return change
