"""Profile log likelihood and gradient of large data sets, one point at a time in O(n^2) memory.

The same quantities as in `likelihood`, without a Hessian: the derivative in theta_p is
sum_ij W_ij dR_ij/dtheta_p with W = n/(2q) alpha alpha' - 1/2 R^-1. The squared differences in all
inputs are never in memory together.
"""

from typing import Any

import numpy as np
from scipy.linalg.blas import dsymv, dsyr
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.spatial.distance import squareform

from pengp._core.arrays import FloatArray, IntArray
from pengp.model.likelihood import Likelihood, LogLik
from pengp.model.trend import log_information

_REMEMBERED = 256
"""Points whose value and gradient are kept: a search comes back to its best ones."""


class LargeLikelihood(Likelihood):
    """Log likelihoods without Hessians: the engine for large data sets."""

    newton = False

    def _prepare(self) -> None:
        """Keep the inputs near 0, and room for what is remembered."""
        self._centred = self.X - 0.5
        self._known: dict[tuple[int, bytes], tuple[object, ...]] = {}

    def evaluate(
        self, data_set: IntArray, point: FloatArray, *, derivatives: bool = True
    ) -> LogLik:
        """Evaluate data sets [B] at point [B, P]; the Hessian is left empty."""
        pairs = zip(data_set, point, strict=True)
        parts = [self._remembered(int(f), u, derivatives) for f, u in pairs]
        return LogLik(*(np.array(a) for a in zip(*parts, strict=True)))

    def _remembered(self, f: int, point: FloatArray, derivatives: bool) -> tuple[object, ...]:
        """Return the fields of a LogLik at a point, computed unless it was among the last ones."""
        key = (f, point.tobytes())
        if key not in self._known:
            self.n_evaluations += 1
            fields = self._one(f, point, derivatives)
            if not derivatives:
                return fields
            self._known[key] = fields
            if len(self._known) > _REMEMBERED:
                self._known.pop(next(iter(self._known)))
        value, gradient, *rest = self._known[key]
        return value, gradient if derivatives else np.zeros(self.n_params), *rest

    def _one(self, f: int, point: FloatArray, derivatives: bool) -> tuple[object, ...]:
        """Return the fields of a LogLik at one point."""
        params, n, trend = np.exp(point), self.n, self._trend
        nugget = params[-1] if self.nugget is None else self.nugget
        theta = np.broadcast_to(params[: self.n_theta], self.X.shape[2:])
        correlations = self.kernel.condensed(self._centred[f], theta)
        R = squareform(correlations[0])
        R.flat[:: n + 1] = 1.0 + nugget
        if trend.prior is not None:
            R += trend.prior[f]
        no_gradient, no_hessian = np.zeros(self.n_params), np.zeros((self.n_params, 0))
        # R is symmetric: LAPACK works in its transpose, in place, and fills the lower triangle.
        L, info = dpotrf(R.T, lower=1, overwrite_a=1)
        pivots = np.diagonal(L)
        if info or pivots.min() <= np.sqrt(n * np.finfo(np.float64).eps):
            return -np.inf, no_gradient, no_hessian, 1.0 / n, 0.0, False
        log_determinant = 2.0 * np.log(pivots).sum()
        V, _ = dpotri(L, lower=1, overwrite_c=1)
        right = [trend.z[f], *trend.rows[f]]
        solved = np.array([dsymv(1.0, V, column, lower=1) for column in right])
        squares, means = trend.remove(np.array([f]), solved[None, 0], solved[None, 1:])
        mean, degrees = means[0], n
        if self.marginal:
            degrees = n - np.count_nonzero(squares)
            log_determinant += log_information(squares)[0]
            for square, dual in zip(squares[0], solved[1:], strict=True):
                V = dsyr(-square, dual, a=V, lower=1, overwrite_a=1)
        q = float(trend.z[f] @ solved[0])
        if not q > 0.0:
            return -np.inf, no_gradient, no_hessian, 1.0 / n, mean, False
        value = -0.5 * degrees * np.log(q) - 0.5 * log_determinant
        if not derivatives:
            return value, no_gradient, no_hessian, q / n, mean, True
        gradient = params * self._gradient(f, theta, correlations, V, solved[0], degrees / q)
        return value, gradient, no_hessian, q / n, mean, True

    def _gradient(
        self,
        f: int,
        theta: FloatArray,
        correlations: tuple[FloatArray, Any],
        V: FloatArray,
        alpha: FloatArray,
        weight: float,
    ) -> FloatArray:
        """Return the gradient [P] in the parameters, with the weight n / q, or (n - k) / q.

        V has R^-1, or P, in its lower triangle and is overwritten. All products are SciPy's,
        because NumPy may come with a second BLAS, whose threads would stand in the way of these.
        """
        of_nugget = 0.5 * (weight * (alpha @ alpha) - np.trace(V))
        V *= -0.5
        W = dsyr(0.5 * weight, alpha, a=V, lower=1, overwrite_a=1)
        slopes = self.kernel.condensed_slopes(W, self._centred[f], theta, *correlations)
        thetas = slopes.sum(keepdims=True) if self.isotropic else slopes
        return np.append(thetas, of_nugget) if self.nugget is None else thetas
