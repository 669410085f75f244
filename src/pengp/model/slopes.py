"""Derivatives of what a process predicts, in each input."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg import cho_solve

from pengp._core.arrays import FloatArray
from pengp.model.kernels import Kernel
from pengp.model.means import Mean

#: New inputs are brought into this range, so that products of powers with any theta stay finite.
_FARTHEST = 1e40


class Slopes:
    """Adds derivatives to a process that is conditioned on runs; see `Posterior`."""

    X: FloatArray
    theta: FloatArray
    kernel: Kernel
    mean: Mean
    L: FloatArray
    alpha: FloatArray
    trend: FloatArray
    basis_alpha: FloatArray
    basis_map: FloatArray

    @abstractmethod
    def _chunks(self, X_new: FloatArray) -> Iterator[tuple[slice, FloatArray, Any]]:
        """Yield rows of X_new, R(X_new, X) and what the kernel keeps, a chunk at a time."""

    @abstractmethod
    def _trend_errors(self, X_new: FloatArray, r: FloatArray) -> FloatArray:
        """Return u [m, k] at X_new [m, d], where the correlations are r [m, n]."""

    def mean_gradient(self, X_new: FloatArray) -> FloatArray:
        """Return the derivatives [m, d] of the predictive mean in each input, at X_new [m, d]."""
        gradient = np.empty(X_new.shape)
        for rows, r, kept in self._chunks(X_new):
            inputs = clipped(X_new[rows]) - 0.5, self.X - 0.5
            gradient[rows] = self.kernel.across_slopes(self.alpha, *inputs, self.theta, r, kept)
            if self.trend.size:
                slopes = self.mean.gradient(clipped(X_new[rows]))
                gradient[rows] += np.einsum("k,mkp->mp", self.trend, slopes)
        return gradient

    def variance_gradient(self, X_new: FloatArray) -> FloatArray:
        """Return the derivatives [m, d] of the scaled variance in each input, at X_new [m, d].

        -2 r' R^-1 dr, and 2 sum_j u_j (c_j' df - a_j' dr) with a trend.
        """
        gradient = np.empty(X_new.shape)
        for rows, r, kept in self._chunks(X_new):
            inputs = clipped(X_new[rows]) - 0.5, self.X - 0.5
            u = self._trend_errors(X_new[rows], r)
            weights = cho_solve((self.L, True), r.T, check_finite=False).T + u @ self.basis_alpha
            gradient[rows] = self.kernel.across_slopes(-2.0 * weights, *inputs, self.theta, r, kept)
            if self.trend.size:
                slopes = self.mean.gradient(clipped(X_new[rows]))
                gradient[rows] += 2.0 * np.einsum("mk,mkp->mp", u @ self.basis_map, slopes)
        return gradient


def clipped(X: FloatArray) -> FloatArray:
    """Return X with what is too far away brought closer."""
    return np.clip(X, -_FARTHEST, _FARTHEST)
