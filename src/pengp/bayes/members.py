"""Members of the average: a kernel with its nugget and mean, and how much is expected of each."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.exceptions import InputError
from pengp.model.kernels import Kernel, get_kernel
from pengp.model.likelihood import BatchLikelihood
from pengp.model.means import ZERO, ConstantMean, Mean
from pengp.model.noise import NOISE_AND_NUGGET, NoisyLikelihood, sigma2_at
from pengp.model.posterior import Posterior, condition

INTEGRATED = ConstantMean(9.0)
"""A constant with prior variance 9 sigma2, integrated out; 1, 9 and 100 are alike."""


@dataclass(frozen=True)
class Member:
    """One model of the average.

    Attributes
    ----------
    kernel : Kernel
        Correlation.
    nugget : float or (float, float)
        Fixed g, or the range over which log g is uniform a priori.
    mean : Mean
        Zero, or with a proper prior on its coefficients, over which it is integrated.
    weight : float
        Prior weight.
    """

    kernel: Kernel
    nugget: float | tuple[float, float] = 1e-5
    mean: Mean = INTEGRATED
    weight: float = 1.0

    @property
    def label(self) -> str:
        """Return the kernel's name and the nugget."""
        name = getattr(self.kernel, "name", type(self.kernel).__name__)
        g = self.nugget
        text = f"{g:g}" if isinstance(g, float) else f"{g[0]:g} to {g[1]:g}"
        return f"{name}, nugget {text}"

    def likelihood(
        self, X: FloatArray, y: FloatArray, noise: FloatArray | None = None
    ) -> BatchLikelihood:
        """Return the likelihood of runs X [n, d], y [n], of which variances [n] may be known."""
        nugget = self.nugget if isinstance(self.nugget, float) else None
        if noise is None:
            return BatchLikelihood(X[None], y[None], self.kernel, nugget, mean=self.mean)
        if nugget is None:
            raise InputError(NOISE_AND_NUGGET.format("sample"))
        runs = X[None], y[None], self.kernel, nugget, noise[None]
        return NoisyLikelihood(*runs, mean=self.mean)

    def log_likelihood(
        self,
        X: FloatArray,
        y: FloatArray,
        theta: FloatArray,
        nugget: FloatArray,
        sigma2: FloatArray | None = None,
        noise: FloatArray | None = None,
    ) -> FloatArray:
        """Return log L [B] of runs X [n, d], y [n] at theta [B, d], nugget [B] and sigma2 [B].

        Where the variances [n] of the responses are not known, sigma2 is integrated out.
        """
        likelihood, u = self.likelihood(X, y, noise), np.log(theta)
        if noise is not None and sigma2 is not None:
            u = np.column_stack([u, -np.log(sigma2)])
        elif likelihood.nugget is None:
            u = np.column_stack([u, np.log(nugget)])
        return likelihood.evaluate(np.zeros(len(u), dtype=np.int64), u, derivatives=False).value

    def condition(
        self,
        X: FloatArray,
        y: FloatArray,
        theta: FloatArray,
        nugget: float,
        sigma2: float | None = None,
        noise: FloatArray | None = None,
    ) -> Posterior:
        """Return the process at theta [d], conditioned on runs X [n, d], y [n].

        Known variances [n] need sigma2; if it is omitted, it is estimated.
        """
        kinds: dict[str, Any] = {"kernel": self.kernel, "nugget": nugget, "mean": self.mean}
        if noise is not None and sigma2 is None:
            sigma2 = sigma2_at(X, y, noise, theta, **kinds)
        return condition(X, y, theta, **kinds, sigma2=sigma2, noise=noise)

    def covariance(
        self,
        X: FloatArray,
        theta: FloatArray,
        nugget: FloatArray,
        scaled_noise: FloatArray | None = None,
    ) -> FloatArray:
        """Return R with the mean's part, [B, n, n] for theta [B, d] and nugget [B].

        ``scaled_noise`` [B, n] are known variances of the responses, divided by sigma2.
        """
        n = len(X)
        row, column = np.triu_indices(n, 1)
        R = np.empty((len(theta), n, n))
        R[:, row, column] = R[:, column, row] = self._correlations(X[row] - X[column], theta)
        R[:, np.arange(n), np.arange(n)] = 1.0 + nugget[:, None]
        if scaled_noise is not None:
            R[:, np.arange(n), np.arange(n)] += scaled_noise
        return R + self._trend(X, X)

    def cross(self, X_new: FloatArray, X: FloatArray, theta: FloatArray) -> FloatArray:
        """Return the same between X_new [m, d] and X [n, d], [B, m, n] for theta [B, d]."""
        steps = (X_new[:, None] - X).reshape(-1, X.shape[1])
        R = self._correlations(steps, theta).reshape(len(theta), len(X_new), len(X))
        return R + self._trend(X_new, X)

    def prior_variance(self, X_new: FloatArray) -> FloatArray:
        """Return 1 plus the mean's part, [m] at X_new [m, d]."""
        F = self.mean.columns(X_new)
        return 1.0 + (self.mean.variance or 0.0) * np.vecdot(F, F)

    def ends(self, theta: FloatArray) -> FloatArray:
        """Return the correlations [B, d] between the two ends of each input, for theta [B, d]."""
        return self._correlations(np.eye(theta.shape[1]), theta)

    def _correlations(self, differences: FloatArray, theta: FloatArray) -> FloatArray:
        """Return the correlations [B, m] of inputs that differ by [m, d], for theta [B, d]."""
        steps = self.kernel.steps(self.kernel.squares(differences, 1).T[None])
        return self.kernel.values(theta, steps)

    def _trend(self, X_new: FloatArray, X: FloatArray) -> FloatArray:
        """Return variance F F' [m, n] between X_new [m, d] and X [n, d]."""
        return (self.mean.variance or 0.0) * self.mean.columns(X_new) @ self.mean.columns(X).T


def default_members(d: int) -> tuple[Member, ...]:
    """Return the members of the default average for d inputs.

    The squared exponential with two nuggets, the radial, the tensor-product and the nearly additive
    Matern 5/2, a quarter each. With one input the Materns are the same: the squared exponential
    with the smaller nugget has 2/3 and Matern 1/3, and the mean is zero.
    """
    if d == 1:
        smooth, rough = get_kernel("sqexp"), get_kernel("matern52")
        return Member(smooth, 1e-8, ZERO, 2 / 3), Member(rough, 1e-5, ZERO, 1 / 3)
    matern = ("matern52", "matern52_product", "matern52_additive")
    return (
        Member(get_kernel("sqexp"), 1e-5, weight=1 / 8),
        Member(get_kernel("sqexp"), 1e-8, weight=1 / 8),
        *(Member(get_kernel(name), 1e-5, weight=1 / 4) for name in matern),
    )


def checked(members: tuple[Member, ...], d: int) -> tuple[Member, ...]:
    """Return members for d inputs with weights that sum to 1."""
    total = sum(member.weight for member in members)
    sound = all(0.0 < member.weight < np.inf for member in members)
    if not members or not sound:
        raise InputError("the average needs members, each with a positive prior weight.")
    for member in members:
        if member.mean.variance is None and member.mean.columns(np.zeros((1, d))).size:
            raise InputError(
                f"mean={member.mean.name!r} has no prior on its coefficients; give it a variance, "
                "such as ConstantMean(9.0), or use the zero mean."
            )
    return tuple(replace(member, weight=member.weight / total) for member in members)
