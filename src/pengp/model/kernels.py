"""Correlation functions phi(s) of s = sum_p theta_p D_p, with their first two derivatives in s.

Every correlation of the package is a scalar function of the weighted squared distance
s = sum_p theta_p (x_ip - x_jp)^2, so that with D_p the matrix of squared differences in input p

    R = phi(s),   dR/dtheta_p = phi'(s) D_p,   d2R/dtheta_p dtheta_q = phi''(s) D_p D_q.

A new correlation is one class with these three functions, added to ``KERNELS``.
"""

from dataclasses import dataclass
from typing import ClassVar, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike

from pengp._core.arrays import FloatArray
from pengp._core.registry import Registry


class Kernel(Protocol):
    """A stationary correlation; arrays of any shape go in and come out."""

    name: ClassVar[str]
    label: ClassVar[str]

    def phi(self, s: FloatArray) -> FloatArray:
        """Return the correlation at the weighted squared distance s >= 0."""
        ...

    def derivatives(self, s: FloatArray, phi: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return phi'(s) and phi''(s), given phi(s) so that exponentials are not taken twice."""
        ...


@dataclass(frozen=True)
class SquaredExponential:
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
class Matern52:
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
class Matern32:
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


#: Correlations by name; ``KERNELS.register`` adds to it.
KERNELS: Registry[Kernel] = Registry("kernel", SquaredExponential(), Matern52(), Matern32())


def get_kernel(kernel: str | Kernel) -> Kernel:
    """Return the kernel of that name, or the object itself."""
    if all(hasattr(kernel, name) for name in ("phi", "derivatives")):
        return cast(Kernel, kernel)
    return KERNELS.look_up(kernel, "an object with phi and derivatives")


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
    kernel : {"sqexp", "matern52", "matern32"} or Kernel
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
    s = ((rows[:, None, :] - inputs[None, :, :]) ** 2) @ weights
    R = get_kernel(kernel).phi(s)
    return R + nugget * np.eye(len(inputs)) if X_new is None else R
