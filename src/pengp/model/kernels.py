"""The correlations by name: radial ones, phi(s) of a distance, and products over the inputs.

A new correlation is one class, a `RadialKernel` or a `ProductKernel`, added to ``KERNELS``.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pengp._core.arrays import FloatArray
from pengp._core.registry import Registry
from pengp.model.structure import Kernel, ProductKernel, RadialKernel


@dataclass(frozen=True)
class SquaredExponential(RadialKernel):
    """phi(s) = exp(-s), the paper's correlation."""

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
    """phi(s) = (1 + a + a^2/3) exp(-a) with a = sqrt(5 s)."""

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
    """phi(s) = (1 + a) exp(-a) with a = sqrt(3 s); phi'' is infinite at s = 0."""

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


@dataclass(frozen=True)
class Matern52Product(ProductKernel):
    """m(t) = (1 + a + a^2/3) exp(-a) with a = sqrt(5 t), for each input.

    What DiceKriging, libKriging and RobustGaSP call Matern 5/2.
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
    """m(t) = (1 + a) exp(-a) with a = sqrt(3 t), for each input."""

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


#: Correlations by name; ``KERNELS.register`` adds to it.
KERNELS: Registry[Kernel] = Registry(
    "kernel",
    SquaredExponential(),
    Matern52(),
    Matern32(),
    Matern52Product(),
    Matern32Product(),
)


def get_kernel(kernel: str | Kernel) -> Kernel:
    """Return the kernel of that name, or the object itself."""
    if isinstance(kernel, Kernel):
        return kernel
    return KERNELS.look_up(kernel, "a RadialKernel or ProductKernel of your own")


def correlation(
    X: ArrayLike,
    theta: ArrayLike,
    X_new: ArrayLike | None = None,
    *,
    kernel: str | Kernel = "sqexp",
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
    """
    inputs = np.asarray(X, dtype=np.float64)
    rows = inputs if X_new is None else np.asarray(X_new, dtype=np.float64)
    weights = np.broadcast_to(np.asarray(theta, dtype=np.float64), inputs.shape[1:])
    R = get_kernel(kernel).pairwise(rows[None], inputs[None], weights[None])[0]
    return R + nugget * np.eye(len(inputs)) if X_new is None else R
