"""Conditioning on the runs and prediction, eq. (2) of the paper; R and sigma2 are kept apart.

"Scaled" variances and covariances are divided by sigma2: R_theta(X_new | D) in the paper. The
nugget stands on the diagonals of R(X, X) and R(X_new, X_new) and not in R(X_new, X). With a
constant mean mu, estimated by generalised least squares, its uncertainty adds
u u' / (1' R^-1 1) with u = 1 - R(X_new, X) R^-1 1 to the scaled covariance.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, solve_triangular

from pengp._core.arrays import FloatArray
from pengp.exceptions import InputError
from pengp.model.folded import (
    BatchPrediction,
    FoldPrediction,
    batch_predict,
    correlation_matrix,
    factor_or_raise,
    floor_diagonal,
    hold_out,
    product_distances,
    weighted_distances,
)
from pengp.model.kernels import Kernel

__all__ = ["BatchPrediction", "FoldPrediction", "Posterior", "batch_predict", "condition"]

#: Elements of R(X_new, X) per chunk of new inputs: small enough to stay in a core's cache.
_CHUNK_ELEMENTS = 1 << 15
#: New inputs are brought into this range, so that their squares stay finite.
_FARTHEST = 1e140


@dataclass(frozen=True, eq=False)
class Posterior:
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
    constant_mean : bool
        Whether the prior mean is an estimated constant; it is 0 otherwise.
    mean : float
        The prior mean mu.
    sigma2 : float
        Scale of the covariance.
    L : [n, n]
        Lower Cholesky factor of R = phi(s) + g I.
    alpha : [n]
        R^-1 (y - mu).
    alpha_ones : [n]
        R^-1 1.
    """

    X: FloatArray
    y: FloatArray
    theta: FloatArray
    kernel: Kernel
    nugget: float
    constant_mean: bool
    mean: float
    sigma2: float
    L: FloatArray
    alpha: FloatArray
    alpha_ones: FloatArray

    def predict_mean(self, X_new: FloatArray) -> FloatArray:
        """Return the predictive mean [m] at X_new [m, d], without the cost of the variance."""
        mean = np.empty(len(X_new))
        for rows, _, _, r in self._chunks(X_new):
            mean[rows] = self.mean + r @ self.alpha
        return mean

    def predict(self, X_new: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the predictive mean [m] and scaled variance [m] at X_new [m, d].

        The variance is g + (1 - r' R^-1 r) + (1 - 1' R^-1 r)^2 / (1' R^-1 1), the last term with a
        constant mean only; at run i the first two are 2 g - g^2 (R^-1)_ii. No term is negative:
        where rounding makes the second one so, it is taken as 0.
        """
        mean, variance = np.empty(len(X_new)), np.empty(len(X_new))
        many = len(X_new) >= len(self.X)
        for rows, _, _, r in self._chunks(X_new):
            v = r @ self._inverse_factor if many else self._solve_factor(r)
            mean[rows] = self.mean + r @ self.alpha
            variance[rows] = self.nugget + np.maximum(1.0 - np.einsum("ij,ij->i", v, v), 0.0)
            if self.constant_mean:
                variance[rows] += (1.0 - r @ self.alpha_ones) ** 2 / self.alpha_ones.sum()
        return mean, variance

    @cached_property
    def _inverse_factor(self) -> FloatArray:
        """L^-T [n, n]; products with it are faster than solves and, to 1e-13, as accurate."""
        return self._solve_factor(np.eye(len(self.X)))

    def predict_cov(self, X_new: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the predictive mean [m] and scaled covariance [m, m] at X_new [m, d]."""
        r = self.kernel.phi(product_distances(self._scaled(X_new), self._scaled(self.X)))
        v = self._solve_factor(r)
        cov = self._prior_correlations(X_new) - v @ v.T
        if self.constant_mean:
            u = 1.0 - r @ self.alpha_ones
            cov += np.outer(u, u) / self.alpha_ones.sum()
        return self.mean + r @ self.alpha, floor_diagonal(cov[None], np.array([self.nugget]))[0]

    def mean_gradient(self, X_new: FloatArray) -> FloatArray:
        """Return the derivatives [m, d] of the predictive mean in each input, at X_new [m, d]."""
        gradient = np.empty(X_new.shape)
        for rows, z, s, r in self._chunks(X_new):
            gradient[rows] = self._contract(self.alpha, z, s, r)
        return gradient

    def variance_gradient(self, X_new: FloatArray) -> FloatArray:
        """Return the derivatives [m, d] of the scaled variance in each input, at X_new [m, d].

        -2 r' R^-1 dr, with a constant mean -2 (1 - 1' R^-1 r) / (1' R^-1 1) 1' R^-1 dr more.
        """
        gradient = np.empty(X_new.shape)
        for rows, z, s, r in self._chunks(X_new):
            weights = cho_solve((self.L, True), r.T, check_finite=False).T
            if self.constant_mean:
                u = 1.0 - r @ self.alpha_ones
                weights += np.outer(u / self.alpha_ones.sum(), self.alpha_ones)
            gradient[rows] = self._contract(-2.0 * weights, z, s, r)
        return gradient

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

    def extend(self, X_add: FloatArray, y_add: FloatArray) -> "Posterior":
        """Return the posterior that also knows the runs X_add [k, d], y_add [k].

        Theta, the nugget and sigma2 are kept, a constant mean is estimated anew; the old factor is
        the corner of the new one, so the cost is O(n^2 k).
        """
        r = self.kernel.phi(weighted_distances(X_add[None], self.X[None], self.theta[None])[0])
        v = self._solve_factor(r)  # R = [[L, 0], [v, C]] [[L, 0], [v, C]]'
        C = factor_or_raise(self._prior_correlations(X_add) - v @ v.T)
        L = np.block([[self.L, np.zeros(v.T.shape)], [v, C]])
        X, y = np.concatenate([self.X, X_add]), np.concatenate([self.y, y_add])
        return _solve(
            X, y, self.theta, L, self.kernel, self.nugget, self.constant_mean, self.sigma2
        )

    def loo(self) -> tuple[FloatArray, FloatArray]:
        """Return leave-one-out means [n] and scaled variances [n] at this theta (Dubrule, 1983).

        With P = R^-1, less R^-1 1 1' R^-1 / (1' R^-1 1) with a constant mean, the mean of run i is
        y_i - (P y)_i / P_ii and its scaled variance 1 / P_ii, nugget included.
        """
        if len(self.y) < 2:
            raise InputError("Leave-one-out needs at least 2 runs.")
        diagonal = np.diagonal(self._precision())
        return self.y - self.alpha / diagonal, 1.0 / diagonal

    def kfold(self, test_sets: Iterable[NDArray[Any]]) -> list[FoldPrediction]:
        """Predict each set of runs from all others, at this theta and without refitting.

        Parameters
        ----------
        test_sets : iterable of integer arrays, each [v]
            Indices of the runs that are held out together.
        """
        P, quadratic = self._precision(), float((self.y - self.mean) @ self.alpha)
        return [hold_out(P, self.y, self.alpha, quadratic, np.asarray(t)) for t in test_sets]

    def _scaled(self, X: FloatArray) -> FloatArray:
        """Return z = sqrt(theta) (x - 1/2) [m, d], so that s = |z - z'|^2."""
        return (np.clip(X, -_FARTHEST, _FARTHEST) - 0.5) * np.sqrt(self.theta)

    def _chunks(
        self, X_new: FloatArray
    ) -> Iterator[tuple[slice, FloatArray, FloatArray, FloatArray]]:
        """Yield rows of X_new, their scaled inputs z, s and R(X_new, X), a chunk at a time."""
        step = max(256, _CHUNK_ELEMENTS // len(self.X))
        Z = self._scaled(self.X)
        for start in range(0, len(X_new), step):
            rows = slice(start, start + step)
            z = self._scaled(X_new[rows])
            s = product_distances(z, Z)
            yield rows, z, s, self.kernel.phi(s)

    def _contract(
        self, weights: FloatArray, z: FloatArray, s: FloatArray, r: FloatArray
    ) -> FloatArray:
        """Return sum_j w_j dr_j/dx_p [m, d], dr_j/dx_p = phi'(s_j) 2 theta_p (x_p - x_jp)."""
        W = weights * self.kernel.derivatives(s, r)[0]
        steps: FloatArray = z * W.sum(1)[:, None] - W @ self._scaled(self.X)
        return 2.0 * np.sqrt(self.theta) * steps

    def _solve_factor(self, r: FloatArray) -> FloatArray:
        """Return (L^-1 r')' [m, n] for r [m, n]."""
        return solve_triangular(self.L, r.T, lower=True, check_finite=False).T

    def _precision(self) -> FloatArray:
        """Return P [n, n]: R^-1, and with a constant mean R^-1 - R^-1 1 1' R^-1 / (1' R^-1 1)."""
        F = self._solve_factor(np.eye(len(self.X)))
        P: FloatArray = F @ F.T
        if self.constant_mean:
            P -= np.outer(self.alpha_ones, self.alpha_ones) / self.alpha_ones.sum()
        return P

    def _prior_correlations(self, X: FloatArray) -> FloatArray:
        """Return R(X, X) [m, m] with the nugget on its diagonal."""
        X, g = np.clip(X, -_FARTHEST, _FARTHEST), np.array([self.nugget])
        R: FloatArray = correlation_matrix(X[None], self.theta[None], g, self.kernel)[0]
        return R


def condition(
    X: FloatArray,
    y: FloatArray,
    theta: FloatArray,
    *,
    kernel: Kernel,
    nugget: float,
    constant_mean: bool = False,
    sigma2: float | None = None,
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
    constant_mean : bool
        Estimate a constant mean by generalised least squares instead of taking 0.
    sigma2 : float, optional
        Scale of the covariance; by default its profile estimate (y - mu)' R^-1 (y - mu) / n.

    Raises
    ------
    InputError
        If R is not positive definite.
    """
    R = correlation_matrix(X[None], theta[None], np.array([nugget]), kernel)[0]
    return _solve(X, y, theta, factor_or_raise(R), kernel, nugget, constant_mean, sigma2)


def _solve(
    X: FloatArray,
    y: FloatArray,
    theta: FloatArray,
    L: FloatArray,
    kernel: Kernel,
    nugget: float,
    constant_mean: bool,
    sigma2: float | None,
) -> Posterior:
    """Return the posterior whose R has the factor L."""
    shift = float(y.mean()) if constant_mean else 0.0  # a large common level cancels here
    right = np.column_stack([y - shift, np.ones(len(y))])
    half = solve_triangular(L, right, lower=True)
    z, e = half[:, 0], half[:, 1]
    mu = float(z @ e / (e @ e)) if constant_mean else 0.0
    z = z - mu * e
    scale = float(z @ z) / len(y) if sigma2 is None else sigma2
    both = solve_triangular(L, np.column_stack([z, e]), lower=True, trans="T")
    alpha, alpha_ones = np.ascontiguousarray(both.T)
    return Posterior(
        X, y, theta, kernel, nugget, constant_mean, mu + shift, scale, L, alpha, alpha_ones
    )
