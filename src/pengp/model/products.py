"""Correlations that are products over the inputs, and the pieces that every correlation gives.

A product has one factor for each input, R = prod_p m(t_p) with t_p = theta_p D_p and l = log m; D_p
are the squared differences in input p. The derivatives of any correlation in theta have the form

    dR/dtheta_p = first E_p,   d2R/dtheta_p dtheta_q = second E_p E_q + [p = q] extra_p,

    radial   first = phi'(s),   second = phi''(s),   E_p = D_p,           extra_p = 0
    product  first = R,         second = R,          E_p = l'(t_p) D_p,   extra_p = R l''(t_p) D_p^2

which is all that the likelihoods ask for. An isotropic radial correlation (`kernels`) has the D_p
summed before, an isotropic product has E_p and extra_p summed.

An input may hold levels, which have no order: there D_p is 1 between different ones and 0 between
equal ones, so any two levels are equally correlated: phi(theta_p), m(theta_p).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.spatial.distance import pdist

from pengp._core.arrays import FloatArray

_SHARED = 8.0
"""b of the nearly additive correlation: 2, 4 and 8 predict alike, 8 best by a little."""


class Pieces(NamedTuple):
    """The derivatives of B correlation matrices in T thetas, entry by entry."""

    first: FloatArray  # [B, N]
    second: FloatArray  # [B, N], infinite only where all E are 0
    E: FloatArray  # [B or 1, T, N]
    extra: FloatArray | None  # [B, T, N], None for 0


@dataclass(frozen=True)
class Correlation:
    """What all correlations know of the inputs: which of them hold levels, by their numbers."""

    levels: tuple[int, ...] = field(default=(), kw_only=True, repr=False)

    def squares(self, differences: FloatArray, axis: int) -> FloatArray:
        """Return D of differences, of which the given axis is that of the d inputs."""
        D = differences * differences
        for p in self.levels:
            of_input = np.moveaxis(D, axis, 0)[p]
            np.not_equal(of_input, 0.0, out=of_input)
        return D


class ProductKernel(Correlation, ABC):
    """A product of correlations m(t) of a = sqrt(c t), one for each input.

    A class of your own gives ``c``, `factor` and `log_derivatives`; the other methods are those of
    a `RadialKernel`, with the same arguments.

    Attributes
    ----------
    c : float
        Of a = sqrt(c t).
    damped : bool
        Whether m(t) = f(a) exp(-a), so that one exponential does for all inputs, or m(t) = f(a).

    Examples
    --------
    exp(-t) for each input, which gives the squared exponential once more:

    >>> from dataclasses import dataclass
    >>> from typing import ClassVar
    >>> import numpy as np
    >>> from pengp.model import ProductKernel, correlation
    >>> @dataclass(frozen=True)
    ... class Exponential(ProductKernel):
    ...     name: ClassVar[str] = "exponential"
    ...     label: ClassVar[str] = "exponential of t"
    ...     c: ClassVar[float] = 1.0
    ...     damped: ClassVar[bool] = False
    ...     def factor(self, a):
    ...         return np.exp(-a * a)
    ...     def log_derivatives(self, a):
    ...         return -np.ones_like(a), np.zeros_like(a)
    >>> X = [[0.0, 0.0], [0.5, 1.0]]
    >>> round(float(correlation(X, [2.0, 0.3], kernel=Exponential())[0, 1]), 4)
    0.4493
    >>> round(float(correlation(X, [2.0, 0.3], kernel="sqexp")[0, 1]), 4)
    0.4493
    """

    name: ClassVar[str]
    label: ClassVar[str]
    c: ClassVar[float]
    damped: ClassVar[bool] = True

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
        """Return prod_p m(t_p), with one exponential for all of them if damped, and a."""
        a = self.distance(theta[:, :, None] * D)
        with np.errstate(over="ignore"):
            factors = np.multiply.reduce(self.factor(a), axis=1)
        return (_damped(factors, a.sum(1)) if self.damped else factors), a

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
        return self._product(root[:, p, None] * steps[:, p] for p in range(steps.shape[1]))

    def distance(self, t: FloatArray) -> FloatArray:
        """Return a = sqrt(c t) at t >= 0, an array of any shape."""
        return np.sqrt(self.c * t)

    def slope_at_zero(self) -> float:
        """Return l'(0)."""
        return float(self.log_derivatives(self.distance(np.zeros(1)))[0][0])

    def pairwise(self, A: FloatArray, C: FloatArray, theta: FloatArray) -> FloatArray:
        """Return the product, one input at a time."""
        root, pairs = self.distance(theta)[:, :, None, None], range(A.shape[2])
        deltas = (A[:, :, None, p] - C[:, None, :, p] for p in pairs)
        sizes = (d != 0.0 if p in self.levels else np.abs(d) for p, d in enumerate(deltas))
        return self._product(root[:, p] * size for p, size in enumerate(sizes))

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
        kept: Any,
    ) -> FloatArray:
        """Return the sums, dr_j/dx_p = r_j l'(t_p) 2 theta_p (x_p - x_jp); 0 for levels."""
        W, slopes = weights * r, np.zeros(X_new.shape)
        for p in sorted({*range(X.shape[1])} - {*self.levels}):
            delta = X_new[:, None, p] - X[None, :, p]
            with np.errstate(over="ignore"):
                first = self.log_derivatives(self.distance(theta[p] * delta * delta))[0]
            slopes[:, p] = 2.0 * theta[p] * (W * first * delta).sum(1)
        return slopes

    def condensed(self, X: FloatArray, theta: FloatArray) -> tuple[FloatArray, None]:
        """Return the product, one input at a time."""
        root = self.distance(theta)
        columns = (X[:, p : p + 1] for p in range(X.shape[1]))
        distances = (
            pdist(column, "hamming" if p in self.levels else "cityblock")
            for p, column in enumerate(columns)
        )
        return self._product(root[p] * step for p, step in enumerate(distances)), None

    def condensed_slopes(
        self, W: FloatArray, X: FloatArray, theta: FloatArray, R: FloatArray, kept: None
    ) -> FloatArray:
        """Return the sums, one input at a time, so that no array is larger than R."""
        n = len(X)
        weights = 2.0 * W.T[np.triu_indices(n, 1)] * R
        slopes = np.empty(X.shape[1])
        for p in range(X.shape[1]):
            D = pdist(X[:, p : p + 1], "hamming" if p in self.levels else "sqeuclidean")
            first = self.log_derivatives(self.distance(theta[p] * D))[0]
            slopes[p] = (weights * first) @ D
        return slopes

    def _product(self, distances: Iterable[FloatArray]) -> FloatArray:
        """Return the product of the factors at arrays a_p of one shape, taken one by one."""
        total: Any = 0.0
        product: Any = 1.0
        with np.errstate(over="ignore"):
            for a in distances:
                product = product * self.factor(a)
                a += total
                total = a
        return _damped(product, total) if self.damped else product


@dataclass(frozen=True)
class Matern52Product(ProductKernel):
    """m(t) = (1 + a + a^2/3) exp(-a) with a = sqrt(5 t), for each input.

    What DiceKriging, libKriging and RobustGaSP call Matern 5/2.

    Examples
    --------
    Along one input it is the radial kernel; across both it falls faster:

    >>> from pengp.model import Matern52, Matern52Product, correlation
    >>> for x in ([1.0, 0.0], [1.0, 1.0]):
    ...     pair = [[0.0, 0.0], x]
    ...     product = correlation(pair, [3.0, 3.0], kernel=Matern52Product())[0, 1]
    ...     print(round(product, 4), round(correlation(pair, 3.0, kernel=Matern52())[0, 1], 4))
    0.2053 0.2053
    0.0422 0.0689
    """

    name: ClassVar[str] = "matern52_product"
    label: ClassVar[str] = "product of Matérn 5/2"
    c: ClassVar[float] = 5.0

    def factor(self, a: FloatArray) -> FloatArray:
        """Return 1 + a + a^2/3."""
        f = a * (1.0 / 3.0)
        f += 1.0
        f *= a
        f += 1.0
        return f

    def log_derivatives(self, a: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return -5/6 (1 + a) / f and 25/36 (2 + a) / f^2."""
        f = self.factor(a)
        return -5.0 / 6.0 * (1.0 + a) / f, 25.0 / 36.0 * (2.0 + a) / (f * f)


@dataclass(frozen=True)
class Matern32Product(ProductKernel):
    """m(t) = (1 + a) exp(-a) with a = sqrt(3 t), for each input.

    Examples
    --------
    >>> from pengp.model import correlation
    >>> correlation([[0.0, 0.0]], [1.0, 2.0], [[1.0, 1.0]], kernel="matern32_product").round(4)
    array([[0.144]])
    """

    name: ClassVar[str] = "matern32_product"
    label: ClassVar[str] = "product of Matérn 3/2"
    c: ClassVar[float] = 3.0

    def factor(self, a: FloatArray) -> FloatArray:
        """Return 1 + a."""
        return 1.0 + a

    def log_derivatives(self, a: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return -3/2 / f and 9/4 / (a f^2), the latter 0 instead of infinite at a = 0."""
        f = self.factor(a)
        return -1.5 / f, np.divide(2.25, a * f * f, out=np.zeros_like(a), where=a > 0.0)


@dataclass(frozen=True)
class Matern52Additive(ProductKernel):
    """m(t) = (b + k(t)) / (b + 1) for each input, k the Matern 5/2 in it and b = 8.

    Multiplied out, the product over d inputs is a sum over all sets of inputs of products of k,
    each input in a set dividing its share by b (Stitson et al. 1999): main effects count most, and
    interactions the less the more inputs they have.

    Examples
    --------
    Inputs that differ in one column of six stay alike, however large its theta:

    >>> from pengp.model import correlation
    >>> X = [[0.0] * 6, [1.0] + [0.0] * 5]
    >>> round(float(correlation(X, 100.0, kernel="matern52_additive")[0, 1]), 4)
    0.8889
    >>> round(float(correlation(X, 100.0, kernel="matern52_product")[0, 1]), 4)
    0.0
    """

    name: ClassVar[str] = "matern52_additive"
    label: ClassVar[str] = "nearly additive Matérn 5/2"
    c: ClassVar[float] = 5.0
    damped: ClassVar[bool] = False

    def factor(self, a: FloatArray) -> FloatArray:
        """Return (b + (1 + a + a^2/3) exp(-a)) / (b + 1)."""
        return (_SHARED + (1.0 + a + a * a / 3.0) * np.exp(-a)) / (_SHARED + 1.0)

    def log_derivatives(self, a: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return k' / (b + k) and k'' / (b + k) less the square of the former."""
        e = np.exp(-a)
        whole = _SHARED + (1.0 + a + a * a / 3.0) * e
        first = -5.0 / 6.0 * (1.0 + a) * e / whole
        return first, 25.0 / 12.0 * e / whole - first * first


def _damped(product: FloatArray, total: FloatArray) -> FloatArray:
    """Return product exp(-total), 0 where the product overflows: the exponential is smaller yet."""
    with np.errstate(over="ignore", invalid="ignore"):
        R = product * np.exp(-total)
    R[np.isnan(R)] = 0.0
    return R
