"""The correlations by name: radial ones, phi(s) of a distance, and products over the inputs.

A radial correlation is phi(s) of the weighted squared distance s = sum_p theta_p D_p, D_p being
the squared differences in input p; the others are in `products`. A new correlation is one class, a
`RadialKernel` or a `ProductKernel`, added to ``KERNELS``.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg.blas import dsymm, dsymv
from scipy.spatial.distance import pdist, squareform

from pengp._core.arrays import FloatArray, as_floats, check_sizes
from pengp._core.checks import LARGEST_PARAMETER, check_number
from pengp._core.linalg import squared_distances
from pengp._core.registry import Registry
from pengp.exceptions import InputError
from pengp.model.products import (
    Correlation,
    Matern32Product,
    Matern52Additive,
    Matern52Product,
    Pieces,
    ProductKernel,
)

_LARGEST_INPUT = 1e80
"""Inputs whose squared differences, times any theta, are numbers."""

_GENTLE = 4.0
"""Sum of thetas up to which a squared distance in the unit cube, at most as large, may come from a
matrix product: what it loses is no more than the rounding error of phi."""


class RadialKernel(Correlation, ABC):
    """A correlation phi(s); a class of your own gives `phi` and `derivatives`.

    ``kept`` is what one method leaves for the next one, with the same arguments.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from typing import ClassVar
    >>> from pengp.model import RadialKernel, correlation
    >>> @dataclass(frozen=True)
    ... class RationalQuadratic(RadialKernel):
    ...     name: ClassVar[str] = "rational"
    ...     label: ClassVar[str] = "rational quadratic"
    ...     def phi(self, s):
    ...         return 1 / (1 + s)
    ...     def derivatives(self, s, phi):
    ...         return -(phi**2), 2 * phi**3
    >>> correlation([[0.0], [0.5]], 4.0, kernel=RationalQuadratic(), nugget=0.0)
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    name: ClassVar[str]
    label: ClassVar[str]

    @abstractmethod
    def phi(self, s: FloatArray) -> FloatArray:
        """Return the correlation at the weighted squared distance s >= 0, an array of any shape."""

    @abstractmethod
    def derivatives(self, s: FloatArray, phi: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return phi'(s) and phi''(s), given phi(s) so that exponentials are not taken twice."""

    def blocks(self, D: FloatArray, *, isotropic: bool) -> FloatArray:
        """Return what is kept of squared differences D [F, d, n, n]: their sum if isotropic."""
        return D.sum(1, keepdims=True) if isotropic else D

    def correlate(self, theta: FloatArray, D: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return R [B, N] and s, for theta [B, T] and blocks D [B or 1, d or 1, N]."""
        s = (theta[:, None] @ D)[:, 0]
        return self.phi(s), s

    def pieces(self, theta: FloatArray, D: FloatArray, R: FloatArray, kept: FloatArray) -> Pieces:
        """Return the derivatives, after `correlate`."""
        return Pieces(*self.derivatives(kept, R), D, None)

    def steps(self, D: FloatArray) -> FloatArray:
        """Return what `values` takes for blocks D [B or 1, d or 1, N] of squared differences."""
        return D

    def values(self, theta: FloatArray, steps: FloatArray) -> FloatArray:
        """Return R [B, N] alone for theta [B, T], after `steps`: faster than `correlate`."""
        return self.phi((theta[:, None] @ steps)[:, 0])

    def slope_at_zero(self) -> float:
        """Return c in dR/dtheta_p = c D_p at theta = 0."""
        zero = np.zeros(1)
        return float(self.derivatives(zero, self.phi(zero))[0][0])

    def pairwise(self, A: FloatArray, C: FloatArray, theta: FloatArray) -> FloatArray:
        """Return the correlations [B, a, c] of A [B, a, d] and C [B, c, d], theta [B, d].

        They are exactly 1 where two inputs coincide.
        """
        s = np.zeros((len(A), A.shape[1], C.shape[1]))
        for p in range(A.shape[2]):
            delta = A[:, :, None, p] - C[:, None, :, p]
            D = delta != 0.0 if p in self.levels else delta * delta
            s += D * theta[:, p, None, None]
        return self.phi(s)

    def across(self, X_new: FloatArray, X: FloatArray, theta: FloatArray) -> tuple[FloatArray, Any]:
        """Return R(X_new, X) [m, n] and what is kept, for X_new [m, d], X [n, d], theta [d].

        s = |z - Z|^2 with z = sqrt(theta) x. Levels are compared.
        """
        root = np.sqrt(self._of_numbers(theta))
        z, Z = X_new * root, X * root
        s = squared_distances(z, Z, exact=float(root @ root) > _GENTLE)
        for p in self.levels:
            s += theta[p] * (X_new[:, None, p] != X[:, p])
        return self.phi(s), (z, Z, s)

    def across_slopes(
        self,
        weights: FloatArray,
        X_new: FloatArray,
        X: FloatArray,
        theta: FloatArray,
        r: FloatArray,
        kept: Any,
    ) -> FloatArray:
        """Return sum_j w_j dr_j/dx_p [m, d] for weights [n], after `across`.

        dr_j/dx_p = phi'(s_j) 2 theta_p (x_p - x_jp), 0 for levels.
        """
        z, Z, s = kept
        W = weights * self.derivatives(s, r)[0]
        steps: FloatArray = z * W.sum(1)[:, None] - W @ Z
        return 2.0 * np.sqrt(theta) * steps

    def condensed(self, X: FloatArray, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return R_ij, i < j, of X [n, d] as SciPy's `pdist` orders them, and s."""
        s: FloatArray = pdist(X * np.sqrt(self._of_numbers(theta)), "sqeuclidean")
        for p in self.levels:
            s += theta[p] * pdist(X[:, p : p + 1], "hamming")
        return self.phi(s), s

    def condensed_slopes(
        self, W: FloatArray, X: FloatArray, theta: FloatArray, R: FloatArray, kept: FloatArray
    ) -> FloatArray:
        """Return sum_ij W_ij dR_ij/dtheta_p [d], after `condensed`.

        Of W [n, n], symmetric and in Fortran's order, the lower triangle is used and overwritten.
        With M = W * phi'(s), sum_ij M_ij (x_ip - x_jp)^2 = 2 (sum_i (M 1)_i x_ip^2 - x_p' M x_p).
        All products are SciPy's, because NumPy may come with a second BLAS, whose threads would
        stand in the way of these.
        """
        W *= squareform(self.derivatives(kept, R)[0]).T
        sums, products = dsymv(1.0, W, np.ones(len(X)), lower=1), dsymm(1.0, W, X, lower=1)
        slopes: FloatArray = 2.0 * ((sums[:, None] * X * X).sum(0) - (X * products).sum(0))
        for p in self.levels:
            slopes[p] = 2.0 * np.tril(W, -1).ravel() @ (X[:, [p]] != X[:, p]).ravel()
        return slopes

    def _of_numbers(self, theta: FloatArray) -> FloatArray:
        """Return theta [d] with 0 for inputs that hold levels."""
        if not self.levels:
            return theta
        return np.where(np.isin(np.arange(len(theta)), self.levels), 0.0, theta)


@dataclass(frozen=True)
class SquaredExponential(RadialKernel):
    """phi(s) = exp(-s), the paper's correlation.

    Examples
    --------
    >>> import numpy as np
    >>> from pengp.model import SquaredExponential
    >>> SquaredExponential().phi(np.array([0.0, 0.5, 2.0])).round(4)
    array([1.    , 0.6065, 0.1353])
    """

    name: ClassVar[str] = "sqexp"
    label: ClassVar[str] = "squared exponential"

    def phi(self, s: FloatArray) -> FloatArray:
        """Return exp(-s)."""
        return np.exp(-s)

    def derivatives(self, s: FloatArray, phi: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return -exp(-s) and exp(-s)."""
        return -phi, phi


@dataclass(frozen=True)
class Matern52(RadialKernel):
    """phi(s) = (1 + a + a^2/3) exp(-a) with a = sqrt(5 s).

    Examples
    --------
    >>> import numpy as np
    >>> from pengp.model import Matern52
    >>> Matern52().phi(np.array([0.0, 0.5, 2.0])).round(4)
    array([1.    , 0.7025, 0.3173])
    """

    name: ClassVar[str] = "matern52"
    label: ClassVar[str] = "Matérn 5/2"

    def phi(self, s: FloatArray) -> FloatArray:
        """Return (1 + a + a^2/3) exp(-a)."""
        a = np.sqrt(5.0 * s)
        return (1.0 + a + a * a / 3.0) * np.exp(-a)

    def derivatives(self, s: FloatArray, phi: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return -5/6 (1 + a) exp(-a) and 25/12 exp(-a)."""
        a = np.sqrt(5.0 * s)
        e = np.exp(-a)
        return -5.0 / 6.0 * (1.0 + a) * e, 25.0 / 12.0 * e


@dataclass(frozen=True)
class Matern32(RadialKernel):
    """phi(s) = (1 + a) exp(-a) with a = sqrt(3 s); phi'' is infinite at s = 0.

    Examples
    --------
    >>> import numpy as np
    >>> from pengp.model import Matern32
    >>> Matern32().phi(np.array([0.0, 0.5, 2.0])).round(4)
    array([1.    , 0.6537, 0.2978])
    """

    name: ClassVar[str] = "matern32"
    label: ClassVar[str] = "Matérn 3/2"

    def phi(self, s: FloatArray) -> FloatArray:
        """Return (1 + a) exp(-a)."""
        a = np.sqrt(3.0 * s)
        return (1.0 + a) * np.exp(-a)

    def derivatives(self, s: FloatArray, phi: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return -3/2 exp(-a) and 9/4 exp(-a) / a, the latter infinite at s = 0."""
        a = np.sqrt(3.0 * s)
        e = np.exp(-a)
        with np.errstate(divide="ignore"):
            return -1.5 * e, 2.25 * e / a


#: A correlation of either kind.
Kernel: TypeAlias = RadialKernel | ProductKernel

#: The names of `KERNELS`, for type checkers; a kernel of your own is passed itself.
KernelName: TypeAlias = Literal[
    "sqexp", "matern52", "matern32", "matern52_product", "matern32_product", "matern52_additive"
]

#: Correlations by name; ``KERNELS.register`` adds to it.
KERNELS: Registry[Kernel] = Registry(
    "kernel",
    SquaredExponential(),
    Matern52(),
    Matern32(),
    Matern52Product(),
    Matern32Product(),
    Matern52Additive(),
)


def get_kernel(kernel: str | Kernel) -> Kernel:
    """Return the kernel of that name, or the object itself.

    Examples
    --------
    >>> from pengp.model import get_kernel
    >>> get_kernel("matern52").label
    'Matérn 5/2'
    """
    if isinstance(kernel, RadialKernel | ProductKernel):
        return kernel
    return KERNELS.look_up(kernel, "a RadialKernel or ProductKernel of your own")


def correlation(
    X: ArrayLike,
    theta: ArrayLike,
    X_new: ArrayLike | None = None,
    *,
    kernel: KernelName | Kernel = "sqexp",
    nugget: float = 1e-5,
) -> FloatArray:
    """Return R(X, X) with the nugget on its diagonal, or R(X_new, X) without.

    Parameters
    ----------
    X : [n, d]
        Inputs.
    theta : [d], or a number for an isotropic correlation
        Weights of the squared differences.
    X_new : [m, d], optional
        Other inputs.
    kernel : str or Kernel
        Correlation function.
    nugget : float
        Added to the diagonal of R(X, X).

    Returns
    -------
    [n, n] or [m, n]

    Examples
    --------
    >>> from pengp.model import correlation
    >>> correlation([[0.0], [0.5], [1.0]], 2.0, nugget=0.0).round(4)
    array([[1.    , 0.6065, 0.1353],
           [0.6065, 1.    , 0.6065],
           [0.1353, 0.6065, 1.    ]])
    >>> correlation([[0.0], [0.5], [1.0]], 2.0, [[0.25]], kernel="matern52").round(4)
    array([[0.9067, 0.9067, 0.4896]])
    """
    inputs, weights = as_floats(X, "X"), as_floats(theta, "theta")
    rows = inputs if X_new is None else as_floats(X_new, "X_new")
    if inputs.ndim != 2 or rows.ndim != 2 or rows.shape[1] != inputs.shape[1]:
        raise InputError(f"inputs must be [n, d] and [m, d], not {inputs.shape} and {rows.shape}.")
    if weights.shape not in ((), (1,), inputs.shape[1:]):
        raise InputError(f"theta must have {inputs.shape[1]} values, not {weights.shape}.")
    for name, values in (("X", inputs), ("X_new", rows)):
        check_sizes(values, name, _LARGEST_INPUT)
    check_sizes(weights, "theta", LARGEST_PARAMETER, least=0.0)
    g = check_number(nugget, "nugget", 0.0, LARGEST_PARAMETER)
    weights = np.broadcast_to(weights, inputs.shape[1:])
    R = get_kernel(kernel).pairwise(rows[None], inputs[None], weights[None])[0]
    return R + g * np.eye(len(inputs)) if X_new is None else R


def correlation_matrix(
    X: FloatArray, theta: FloatArray, nugget: FloatArray, kernel: Kernel
) -> FloatArray:
    """Return R with the nugget, eq. (1) of the paper, for X [B, n, d], theta [B, d], nugget [B]."""
    R = kernel.pairwise(X, X, theta)
    diagonal = np.arange(X.shape[1])
    R[:, diagonal, diagonal] += nugget[:, None]
    return R
