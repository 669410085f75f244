"""Conditioning on the runs and prediction, eq. (2) of the paper; R and sigma2 are kept apart.

"Scaled" variances and covariances are divided by sigma2: R_theta(X_new | D) in the paper. The
nugget stands on the diagonals of R(X, X) and R(X_new, X_new) and not in R(X_new, X). A trend
F beta, whose coefficients the runs determine, adds u' (F' R^-1 F)^-1 u with
u = f(x_new) - F' R^-1 r(x_new) to the scaled covariance (universal kriging).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from pengp._core.arrays import FloatArray
from pengp.exceptions import InputError
from pengp.model.factors import factor_or_raise, floor_diagonal, with_noise
from pengp.model.kernels import Kernel, correlation_matrix
from pengp.model.left_out import leave_twins_out
from pengp.model.means import ZERO, Mean
from pengp.model.slopes import Slopes, clipped
from pengp.model.trend import columns_of, half_solved, trend_of

#: Elements of R(X_new, X) per chunk of new inputs: small enough to stay in a core's cache.
_CHUNK_ELEMENTS = 1 << 15
#: P_ii in parts of what the trend takes of (R^-1)_ii, below which it is rounding error.
_ALL_TREND = 1e-10
#: Rounding error of a scaled variance that leaves no doubt whether a point may be a run.
_ROUNDED = 1e-6


@dataclass(frozen=True, eq=False)
class Posterior(Slopes):
    """The process at given theta, conditioned on runs; made by `condition`.

    Attributes
    ----------
    X : [n, d]
        Inputs of the runs, in the unit cube.
    y : [n]
        Responses.
    theta : [d]
        Inverse squared lengthscales.
    kernel : Kernel
        Correlation phi.
    nugget : float
        g.
    mean : Mean
        Prior mean f(x)' beta.
    sigma2 : float
        Scale of the covariance.
    L : [n, n]
        Lower Cholesky factor of R = phi(s) + g I.
    alpha : [n]
        R^-1 (y - F beta).
    trend : [k]
        Coefficients beta of the mean's basis functions.
    basis_alpha : [k, n]
        Rows a_j with P = R^-1 - sum_j a_j a_j', which is R^-1 less what the trend takes
        (`pengp.model.trend`).
    basis_map : [k, k]
        Rows c_j with u_j = c_j' f(x) - a_j' r(x), whose squares are what a trend adds.
    noise : [n] or None
        Known variances v_i of the responses; R then has v_i / sigma2 on its diagonal as well.

    See Also
    --------
    condition : Makes it.
    """

    X: FloatArray
    y: FloatArray
    theta: FloatArray
    kernel: Kernel
    nugget: float
    mean: Mean
    sigma2: float
    L: FloatArray
    alpha: FloatArray
    trend: FloatArray
    basis_alpha: FloatArray
    basis_map: FloatArray
    noise: FloatArray | None = None

    @property
    def level(self) -> float:
        """The prior mean, averaged over the runs."""
        return float(self.mean.columns(self.X).mean(0) @ self.trend)

    @property
    def ridge(self) -> FloatArray | float:
        """What R has on its diagonal beside 1: the nugget, and known variances over sigma2 [n]."""
        if self.noise is None or self.sigma2 == 0.0:
            return self.nugget
        return self.nugget + self.noise / self.sigma2

    @property
    def next_ridge(self) -> float:
        """The same for a run to come, whose noise is taken for the mean of the others'."""
        return float(np.mean(self.ridge))

    def predict_mean(self, X_new: FloatArray) -> FloatArray:
        """Return the predictive mean [m] at X_new [m, d], without the cost of the variance."""
        mean = np.empty(len(X_new))
        for rows, r, _ in self._chunks(X_new):
            mean[rows] = self._prior_mean(X_new[rows]) + r @ self.alpha
        return mean

    def predict(self, X_new: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the predictive mean [m] and scaled variance [m] at X_new [m, d].

        The variance is g + (1 - r' R^-1 r) + u' (F' R^-1 F)^-1 u. No term is negative: where
        rounding makes the second one so, it is taken as 0. At run i the last two are
        g - g^2 P_ii, P being R^-1 less what the trend takes, without the rest of 1 - 1; known noise
        adds to this g as it does to the diagonal of R.
        """
        mean, variance = np.empty(len(X_new)), np.empty(len(X_new))
        many = len(X_new) >= len(self.X)
        for rows, r, _ in self._chunks(X_new):
            v = r @ self._inverse_factor if many else self._solve_factor(r)
            mean[rows] = self._prior_mean(X_new[rows]) + r @ self.alpha
            variance[rows] = self.nugget + np.maximum(1.0 - np.einsum("ij,ij->i", v, v), 0.0)
            if self.trend.size:
                u = self._trend_errors(X_new[rows], r)
                variance[rows] += np.einsum("ij,ij->i", u, u)
            self._at_runs(variance[rows], X_new[rows], r)
        return mean, variance

    def _at_runs(self, variance: FloatArray, X_new: FloatArray, r: FloatArray) -> None:
        """Mend the scaled variance [m] at those X_new [m, d] that are runs; r [m, n]."""
        near = np.flatnonzero(variance < 4.0 * self.nugget + _ROUNDED)
        if len(near):
            near = near[np.isin(X_new[near, 0], self.X[:, 0])]  # faster than to look at all of r
        if not len(near):
            return
        run = r[near].argmax(1)
        same = (X_new[near] == self.X[run]).all(1)
        P, g = self._precisions[run[same]], self.ridge
        g = g if isinstance(g, float) else g[run[same]]
        variance[near[same]] = self.nugget + np.maximum(g - g * g * P, 0.0)

    @cached_property
    def _inverse_factor(self) -> FloatArray:
        """L^-T [n, n]; products with it are faster than solves and, to 1e-13, as accurate."""
        return self._solve_factor(np.eye(len(self.X)))

    def predict_cov(self, X_new: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the predictive mean [m] and scaled covariance [m, m] at X_new [m, d]."""
        r, _ = self._across(X_new)
        v = self._solve_factor(r)
        cov = self._prior_correlations(X_new) - v @ v.T
        if self.trend.size:
            u = self._trend_errors(X_new, r)
            cov += u @ u.T
        mean = self._prior_mean(X_new) + r @ self.alpha
        return mean, floor_diagonal(cov[None], np.array([self.nugget]))[0]

    def sample(
        self,
        X_new: FloatArray,
        n_samples: int,
        rng: np.random.Generator | np.random.RandomState,
    ) -> FloatArray:
        """Return draws [n_samples, m] of the responses at X_new [m, d].

        The root of the covariance is the symmetric one, with negative eigenvalues taken as 0: it
        exists for a singular covariance too (repeated inputs, no nugget), where a Cholesky factor
        needs a jitter that changes the distribution, and it is free of the signs of eigenvectors.
        """
        mean, cov = self.predict_cov(X_new)
        values, vectors = np.linalg.eigh(self.sigma2 * cov)
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        draws: FloatArray = rng.standard_normal((n_samples, len(mean))) @ root
        return mean + draws

    def extend(
        self, X_add: FloatArray, y_add: FloatArray, noise_add: FloatArray | None = None
    ) -> "Posterior":
        """Return the posterior that also knows the runs X_add [k, d], y_add [k].

        Where the noise of the runs is known, theirs is noise_add [k], by default the mean of it.

        Theta, the nugget and sigma2 are kept, the trend is estimated anew; the old factor is the
        corner of the new one, so the cost is O(n^2 k).
        """
        r = self.kernel.pairwise(X_add[None], self.X[None], self.theta[None])[0]
        v = self._solve_factor(r)  # R = [[L, 0], [v, C]] [[L, 0], [v, C]]'
        R, noise = self._prior_correlations(X_add), self.noise
        if noise is not None:
            more = np.full(len(X_add), noise.mean()) if noise_add is None else noise_add
            R, noise = with_noise(R, more, self.sigma2), np.concatenate([noise, more])
        C = factor_or_raise(R - v @ v.T)
        L = np.block([[self.L, np.zeros(v.T.shape)], [v, C]])
        X, y = np.concatenate([self.X, X_add]), np.concatenate([self.y, y_add])
        return solve(X, y, self.theta, L, self.kernel, self.nugget, self.mean, self.sigma2, noise)

    def loo(self) -> tuple[FloatArray, FloatArray]:
        """Return leave-one-out means [n] and scaled variances [n] at this theta.

        They are of the responses, nugget and noise included; see `pengp.model.left_out`. Runs with
        the same inputs are left out together where their noise is known.
        """
        if len(self.y) < 2:
            raise InputError("Leave-one-out needs at least 2 runs.")
        diagonal = self._precisions
        needed = diagonal < _ALL_TREND * (self.basis_alpha**2).sum(0)
        if len(self.trend) > 1 and needed.any():  # any run gives a level
            raise InputError(
                f"Without run {needed.argmax()} the coefficients of mean={self.mean.name!r} "
                "cannot be estimated, so it cannot be left out; use a simpler mean or more runs."
            )
        residual, variance = self.alpha / diagonal, 1.0 / diagonal
        if self.noise is not None:
            leave_twins_out(self.X, self._inverse_factor, self.basis_alpha, residual, variance)
        return self.y - residual, variance

    def _prior_mean(self, X_new: FloatArray) -> FloatArray | float:
        """Return the prior mean [m] at X_new [m, d]."""
        if not self.trend.size:
            return 0.0
        prior: FloatArray = self.mean.columns(clipped(X_new)) @ self.trend
        return prior

    def _trend_errors(self, X_new: FloatArray, r: FloatArray) -> FloatArray:
        """Return u [m, k] at X_new [m, d], where the correlations are r [m, n]."""
        errors: FloatArray = self.mean.columns(clipped(X_new)) @ self.basis_map.T
        return errors - r @ self.basis_alpha.T

    def _across(self, X_new: FloatArray) -> tuple[FloatArray, Any]:
        """Return R(X_new, X) [m, n] for X_new [m, d], and what the kernel keeps for its slopes."""
        return self.kernel.across(clipped(X_new) - 0.5, self.X - 0.5, self.theta)

    def _chunks(self, X_new: FloatArray) -> Iterator[tuple[slice, FloatArray, Any]]:
        """Yield rows of X_new, R(X_new, X) and what the kernel keeps, a chunk at a time."""
        step = max(256, _CHUNK_ELEMENTS // len(self.X))
        for start in range(0, len(X_new), step):
            rows = slice(start, start + step)
            yield rows, *self._across(X_new[rows])

    def _solve_factor(self, r: FloatArray) -> FloatArray:
        """Return (L^-1 r')' [m, n] for r [m, n]."""
        return solve_triangular(self.L, r.T, lower=True, check_finite=False).T

    @cached_property
    def _precisions(self) -> FloatArray:
        """The diagonal [n] of P, which is R^-1 less what the trend takes."""
        F = self._inverse_factor
        return np.asarray(np.vecdot(F, F) - (self.basis_alpha**2).sum(0))

    def _prior_correlations(self, X: FloatArray) -> FloatArray:
        """Return R(X, X) [m, m] with the nugget on its diagonal."""
        X, g = clipped(X), np.array([self.nugget])
        R: FloatArray = correlation_matrix(X[None], self.theta[None], g, self.kernel)[0]
        return R


def condition(
    X: FloatArray,
    y: FloatArray,
    theta: FloatArray,
    *,
    kernel: Kernel,
    nugget: float,
    mean: Mean = ZERO,
    sigma2: float | None = None,
    noise: FloatArray | None = None,
) -> Posterior:
    """Condition the process on runs at given theta.

    Parameters
    ----------
    X : [n, d]
        Inputs of the runs, in the unit cube.
    y : [n]
        Responses on any scale.
    theta : [d]
        Inverse squared lengthscales; of an isotropic model, d times the same.
    kernel : Kernel
        Correlation phi.
    nugget : float
        g, on the diagonals of R(X, X) and R(X_new, X_new).
    mean : Mean
        Prior mean, from `get_mean`.
    sigma2 : float, optional
        Scale of the covariance; by default its profile estimate y' P y / n.
    noise : [n], optional
        Known variances of the responses, for which sigma2 must be given.

    Raises
    ------
    InputError
        If R is not positive definite.

    Examples
    --------
    >>> import numpy as np
    >>> from pengp.model import condition, get_kernel
    >>> X, y = np.array([[0.0], [0.5], [1.0]]), np.array([-1.0, 1.0, 0.0])
    >>> process = condition(X, y, np.array([4.0]), kernel=get_kernel("sqexp"), nugget=1e-5)
    >>> mean, scaled_variance = process.predict(np.array([[0.25]]))
    >>> mean.round(3), (process.sigma2 * scaled_variance).round(3)
    (array([0.075]), array([0.115]))
    """
    R = correlation_matrix(X[None], theta[None], np.array([nugget]), kernel)[0]
    if noise is not None:
        R = with_noise(R, noise, sigma2 or 0.0)
    return solve(X, y, theta, factor_or_raise(R), kernel, nugget, mean, sigma2, noise)


def solve(
    X: FloatArray,
    y: FloatArray,
    theta: FloatArray,
    L: FloatArray,
    kernel: Kernel,
    nugget: float,
    mean: Mean,
    sigma2: float | None,
    noise: FloatArray | None = None,
) -> Posterior:
    """Return the posterior whose R has the factor L [n, n]; see `condition`."""
    basis = columns_of(mean, X[None], y[None])
    trend = trend_of(mean, basis, *half_solved(L, basis))
    right = np.concatenate([trend.z[0][None], trend.duals[0]])
    both = solve_triangular(L, right.T, lower=True, trans="T")
    alpha, *duals = np.ascontiguousarray(both.T)
    return Posterior(
        X=X,
        y=y,
        theta=theta,
        kernel=kernel,
        nugget=nugget,
        mean=mean,
        sigma2=float(trend.quadratic[0]) / len(y) if sigma2 is None else sigma2,
        L=L,
        alpha=alpha,
        trend=trend.coefficients[0],
        basis_alpha=np.array(duals).reshape(-1, len(y)),
        basis_map=trend.carry[0],
        noise=noise,
    )
