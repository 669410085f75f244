"""How a correlation is put together from its inputs: a function of one distance, or a product.

A radial correlation is phi(s) of the weighted squared distance s = sum_p theta_p D_p, D_p being
the squared differences in input p. A product has one factor for each input, R = prod_p m(t_p) with
t_p = theta_p D_p and l = log m. Either way the derivatives in theta have the form

    dR/dtheta_p = first E_p,   d2R/dtheta_p dtheta_q = second E_p E_q + [p = q] extra_p,

    radial   first = phi'(s),   second = phi''(s),   E_p = D_p,           extra_p = 0
    product  first = R,         second = R,          E_p = l'(t_p) D_p,   extra_p = R l''(t_p) D_p^2

which is all that the likelihoods and the posterior ask for. An isotropic radial correlation has the
D_p summed before, an isotropic product has E_p and extra_p summed.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.linalg.blas import dsymm, dsymv
from scipy.spatial.distance import pdist, squareform

from pengp._core.arrays import FloatArray


class Pieces(NamedTuple):
    """The derivatives of B correlation matrices in T thetas, entry by entry."""

    first: FloatArray  # [B, N]
    second: FloatArray  # [B, N], infinite only where all E are 0
    E: FloatArray  # [B or 1, T, N]
    extra: FloatArray | None  # [B, T, N], None for 0


class Kernel(ABC):
    """A stationary correlation: `RadialKernel` or `ProductKernel`, one of which has to be given.

    ``kept`` is what one method leaves for the next one, with the same arguments.
    """

    name: ClassVar[str]
    label: ClassVar[str]

    @abstractmethod
    def blocks(self, D: FloatArray, *, isotropic: bool) -> FloatArray:
        """Return what is kept of squared differences D [F, d, n, n]."""

    @abstractmethod
    def correlate(self, theta: FloatArray, D: FloatArray) -> tuple[FloatArray, Any]:
        """Return R [B, N] and what is kept, for theta [B, T] and blocks D [B or 1, d or 1, N]."""

    @abstractmethod
    def pieces(self, theta: FloatArray, D: FloatArray, R: FloatArray, kept: Any) -> Pieces:
        """Return the derivatives, after `correlate`."""

    @abstractmethod
    def steps(self, D: FloatArray) -> FloatArray:
        """Return what `values` takes for blocks D [B or 1, d or 1, N] of squared differences."""

    @abstractmethod
    def values(self, theta: FloatArray, steps: FloatArray) -> FloatArray:
        """Return R [B, N] alone for theta [B, T], after `steps`: faster than `correlate`.

        Where all items share the steps, an item's result may depend on the others by rounding.
        """

    @abstractmethod
    def slope_at_zero(self) -> float:
        """Return c in dR/dtheta_p = c D_p at theta = 0."""

    @abstractmethod
    def pairwise(self, A: FloatArray, C: FloatArray, theta: FloatArray) -> FloatArray:
        """Return the correlations [B, a, c] of A [B, a, d] and C [B, c, d], theta [B, d].

        They are exactly 1 where two inputs coincide.
        """

    @abstractmethod
    def across(self, X_new: FloatArray, X: FloatArray, theta: FloatArray) -> tuple[FloatArray, Any]:
        """Return R(X_new, X) [m, n] and what is kept, for X_new [m, d], X [n, d], theta [d]."""

    @abstractmethod
    def across_slopes(
        self,
        weights: FloatArray,
        X_new: FloatArray,
        X: FloatArray,
        theta: FloatArray,
        r: FloatArray,
        kept: Any,
    ) -> FloatArray:
        """Return sum_j w_j dr_j/dx_p [m, d] for weights [m, n] or [n], after `across`."""

    @abstractmethod
    def condensed(self, X: FloatArray, theta: FloatArray) -> tuple[FloatArray, Any]:
        """Return R_ij, i < j, of X [n, d] as SciPy's `pdist` orders them, and what is kept."""

    @abstractmethod
    def condensed_slopes(
        self, W: FloatArray, X: FloatArray, theta: FloatArray, R: FloatArray, kept: Any
    ) -> FloatArray:
        """Return sum_ij W_ij dR_ij/dtheta_p [d], after `condensed`.

        Of W [n, n], symmetric and in Fortran's order, the lower triangle is used and overwritten.
        """


class RadialKernel(Kernel):
    """A correlation phi(s); a class of your own gives `phi` and `derivatives`."""

    @abstractmethod
    def phi(self, s: FloatArray) -> FloatArray:
        """Return the correlation at the weighted squared distance s >= 0, an array of any shape."""

    @abstractmethod
    def derivatives(self, s: FloatArray, phi: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return phi'(s) and phi''(s), given phi(s) so that exponentials are not taken twice."""

    def blocks(self, D: FloatArray, *, isotropic: bool) -> FloatArray:
        """Return D, summed over the inputs if isotropic."""
        return D.sum(1, keepdims=True) if isotropic else D

    def correlate(self, theta: FloatArray, D: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return phi(s) and s."""
        s = (theta[:, None] @ D)[:, 0]
        return self.phi(s), s

    def pieces(self, theta: FloatArray, D: FloatArray, R: FloatArray, kept: FloatArray) -> Pieces:
        """Return phi'(s), phi''(s) and D."""
        return Pieces(*self.derivatives(kept, R), D, None)

    def steps(self, D: FloatArray) -> FloatArray:
        """Return D."""
        return D

    def values(self, theta: FloatArray, steps: FloatArray) -> FloatArray:
        """Return phi(s); for shared D, s is one matrix product."""
        shared = len(steps) == 1
        return self.phi(theta @ steps[0] if shared else (theta[:, None] @ steps)[:, 0])

    def slope_at_zero(self) -> float:
        """Return phi'(0)."""
        zero = np.zeros(1)
        return float(self.derivatives(zero, self.phi(zero))[0][0])

    def pairwise(self, A: FloatArray, C: FloatArray, theta: FloatArray) -> FloatArray:
        """Return phi(s)."""
        s = np.zeros((len(A), A.shape[1], C.shape[1]))
        for p in range(A.shape[2]):
            delta = A[:, :, None, p] - C[:, None, :, p]
            delta *= delta
            delta *= theta[:, p, None, None]
            s += delta
        return self.phi(s)

    def across(
        self, X_new: FloatArray, X: FloatArray, theta: FloatArray
    ) -> tuple[FloatArray, tuple[FloatArray, FloatArray, FloatArray]]:
        """Return phi(s); s = |z|^2 + |Z|^2 - 2 z Z' with z = sqrt(theta) x is one matrix product.

        Its rounding error, about 1e-16 |z|^2, is far below any nugget; a negative s becomes 0.
        """
        root = np.sqrt(theta)
        z, Z = X_new * root, X * root
        left = np.column_stack([z, (z * z).sum(1), np.ones(len(z))])
        right = np.column_stack([-2.0 * Z, np.ones(len(Z)), (Z * Z).sum(1)])
        s: FloatArray = left @ right.T
        np.maximum(s, 0.0, out=s)
        return self.phi(s), (z, Z, s)

    def across_slopes(
        self,
        weights: FloatArray,
        X_new: FloatArray,
        X: FloatArray,
        theta: FloatArray,
        r: FloatArray,
        kept: tuple[FloatArray, FloatArray, FloatArray],
    ) -> FloatArray:
        """Return the sums, dr_j/dx_p = phi'(s_j) 2 theta_p (x_p - x_jp)."""
        z, Z, s = kept
        W = weights * self.derivatives(s, r)[0]
        steps: FloatArray = z * W.sum(1)[:, None] - W @ Z
        return 2.0 * np.sqrt(theta) * steps

    def condensed(self, X: FloatArray, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return phi(s) and s."""
        s: FloatArray = pdist(X * np.sqrt(theta), "sqeuclidean")
        return self.phi(s), s

    def condensed_slopes(
        self, W: FloatArray, X: FloatArray, theta: FloatArray, R: FloatArray, kept: FloatArray
    ) -> FloatArray:
        """Return the sums without any array of differences.

        With M = W * phi'(s), sum_ij M_ij (x_ip - x_jp)^2 = 2 (sum_i (M 1)_i x_ip^2 - x_p' M x_p).
        All products are SciPy's, because NumPy may come with a second BLAS, whose threads would
        stand in the way of these.
        """
        W *= squareform(self.derivatives(kept, R)[0]).T
        sums, products = dsymv(1.0, W, np.ones(len(X)), lower=1), dsymm(1.0, W, X, lower=1)
        slopes: FloatArray = 2.0 * ((sums[:, None] * X * X).sum(0) - (X * products).sum(0))
        return slopes


class ProductKernel(Kernel):
    """A product of correlations m(t) = f(a) exp(-a) with a = sqrt(c t), one for each input.

    A class of your own gives ``c``, `factor` and `log_derivatives`.
    """

    c: ClassVar[float]

    @abstractmethod
    def factor(self, a: FloatArray) -> FloatArray:
        """Return f(a)."""

    @abstractmethod
    def log_derivatives(self, a: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return l'(t) and l''(t) of l = log m; at t = 0, where D_p is 0, any finite l'' does."""

    def blocks(self, D: FloatArray, *, isotropic: bool) -> FloatArray:
        """Return D: the factors need every input."""
        return D

    def correlate(self, theta: FloatArray, D: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return prod_p m(t_p), with one exponential for all of them, and a."""
        a = self.distance(theta[:, :, None] * D)
        with np.errstate(over="ignore"):
            factors = np.multiply.reduce(self.factor(a), axis=1)
        return _damped(factors, a.sum(1)), a

    def pieces(self, theta: FloatArray, D: FloatArray, R: FloatArray, kept: FloatArray) -> Pieces:
        """Return R and the derivatives of its logarithm, summed if there is one theta for all."""
        E, extra = self.log_derivatives(kept)
        E *= D
        extra *= D
        extra *= D
        extra *= R[:, None]
        if theta.shape[1] < D.shape[1]:
            E, extra = E.sum(1, keepdims=True), extra.sum(1, keepdims=True)
        return Pieces(R, R, E, extra)

    def steps(self, D: FloatArray) -> FloatArray:
        """Return sqrt(D): a_p = sqrt(c theta_p) sqrt(D_p) needs no further root."""
        return np.sqrt(D)

    def values(self, theta: FloatArray, steps: FloatArray) -> FloatArray:
        """Return the product, one input at a time."""
        root = self.distance(np.broadcast_to(theta, (len(theta), steps.shape[1])))
        roots = (root[:, p, None] * steps[:, p] for p in range(steps.shape[1]))
        return self._product(roots)

    def distance(self, t: FloatArray) -> FloatArray:
        """Return a = sqrt(c t) at t >= 0, an array of any shape."""
        return np.sqrt(self.c * t)

    def slope_at_zero(self) -> float:
        """Return l'(0)."""
        return float(self.log_derivatives(self.distance(np.zeros(1)))[0][0])

    def pairwise(self, A: FloatArray, C: FloatArray, theta: FloatArray) -> FloatArray:
        """Return the product, one input at a time."""
        deltas = (np.abs(A[:, :, None, p] - C[:, None, :, p]) for p in range(A.shape[2]))
        root = self.distance(theta)
        return self._product(root[:, p, None, None] * delta for p, delta in enumerate(deltas))

    def across(
        self, X_new: FloatArray, X: FloatArray, theta: FloatArray
    ) -> tuple[FloatArray, None]:
        """Return the product, one input at a time."""
        return self.pairwise(X_new[None], X[None], theta[None])[0], None

    def across_slopes(
        self,
        weights: FloatArray,
        X_new: FloatArray,
        X: FloatArray,
        theta: FloatArray,
        r: FloatArray,
        kept: None,
    ) -> FloatArray:
        """Return the sums, dr_j/dx_p = r_j l'(t_p) 2 theta_p (x_p - x_jp)."""
        W, slopes = weights * r, np.empty(X_new.shape)
        for p in range(X.shape[1]):
            delta = X_new[:, None, p] - X[None, :, p]
            with np.errstate(over="ignore"):
                first = self.log_derivatives(self.distance(theta[p] * delta * delta))[0]
            slopes[:, p] = 2.0 * theta[p] * (W * first * delta).sum(1)
        return slopes

    def condensed(self, X: FloatArray, theta: FloatArray) -> tuple[FloatArray, None]:
        """Return the product, one input at a time."""
        root = self.distance(theta)
        distances = (pdist(X[:, p : p + 1], "cityblock") for p in range(X.shape[1]))
        return self._product(root[p] * step for p, step in enumerate(distances)), None

    def condensed_slopes(
        self, W: FloatArray, X: FloatArray, theta: FloatArray, R: FloatArray, kept: None
    ) -> FloatArray:
        """Return the sums, one input at a time, so that no array is larger than R."""
        n = len(X)
        weights = 2.0 * W.T[np.triu_indices(n, 1)] * R
        slopes = np.empty(X.shape[1])
        for p in range(X.shape[1]):
            D = pdist(X[:, p : p + 1], "sqeuclidean")
            first = self.log_derivatives(self.distance(theta[p] * D))[0]
            slopes[p] = (weights * first) @ D
        return slopes

    def _product(self, distances: Iterable[FloatArray]) -> FloatArray:
        """Return prod_p f(a_p) exp(-a_p) of arrays a_p of one shape, taken one after the other."""
        total: Any = 0.0
        product: Any = 1.0
        with np.errstate(over="ignore"):
            for a in distances:
                product = product * self.factor(a)
                a += total
                total = a
        return _damped(product, total)


def _damped(product: FloatArray, total: FloatArray) -> FloatArray:
    """Return product exp(-total), 0 where the product overflows: the exponential is smaller yet."""
    with np.errstate(over="ignore", invalid="ignore"):
        R = product * np.exp(-total)
    R[np.isnan(R)] = 0.0
    return R
