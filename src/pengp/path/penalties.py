"""Penalties p_lambda(theta) on theta >= 0: value, gradient and curvature, lambda an argument.

These are separable: p_lambda(theta) = sum_p rho(theta_p, lambda). The functions return the terms
rho and their derivatives in theta_p, broadcast over theta and lambda; the likelihood is penalized
by n times their sum (the paper's equation for Q). Those of all thetas together are in `joint`. A
new penalty of either kind is one class, added to ``PENALTIES``. If it is proportional to lambda,
``linear = True`` says so and saves time; a subclass that is not must set it to False.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np

from pengp._core.arrays import FloatArray
from pengp._core.registry import Registry
from pengp.exceptions import InputError
from pengp.path.joint import JointlyRobust, JointPenalty


class Penalty(Protocol):
    """One separable penalty; ``theta`` and ``lam`` broadcast against each other."""

    name: ClassVar[str]
    label: ClassVar[str]

    def value(self, theta: FloatArray, lam: FloatArray) -> FloatArray:
        """Return rho(theta, lam)."""
        ...

    def gradient(self, theta: FloatArray, lam: FloatArray) -> FloatArray:
        """Return d rho / d theta."""
        ...

    def curvature(self, theta: FloatArray, lam: FloatArray) -> FloatArray:
        """Return d2 rho / d theta2."""
        ...


@dataclass(frozen=True)
class NoPenalty:
    """rho = 0: maximum likelihood whatever lambda is."""

    name: ClassVar[str] = "none"
    label: ClassVar[str] = "no penalty"
    linear: ClassVar[bool] = True

    def value(self, theta: FloatArray, lam: FloatArray) -> FloatArray:
        """Return 0."""
        return 0.0 * theta * lam

    gradient = value
    curvature = value


@dataclass(frozen=True)
class Lasso:
    """rho = lambda theta (Tibshirani 1996), the paper's choice."""

    name: ClassVar[str] = "lasso"
    label: ClassVar[str] = "lasso"
    linear: ClassVar[bool] = True

    def value(self, theta: FloatArray, lam: FloatArray) -> FloatArray:
        """Return lambda theta."""
        return lam * theta

    def gradient(self, theta: FloatArray, lam: FloatArray) -> FloatArray:
        """Return lambda."""
        return lam * np.ones_like(theta)

    def curvature(self, theta: FloatArray, lam: FloatArray) -> FloatArray:
        """Return 0."""
        return 0.0 * theta * lam


@dataclass(frozen=True)
class Ridge:
    """rho = lambda theta^2."""

    name: ClassVar[str] = "ridge"
    label: ClassVar[str] = "ridge"
    linear: ClassVar[bool] = True

    def value(self, theta: FloatArray, lam: FloatArray) -> FloatArray:
        """Return lambda theta^2."""
        return lam * theta * theta

    def gradient(self, theta: FloatArray, lam: FloatArray) -> FloatArray:
        """Return 2 lambda theta."""
        return 2.0 * lam * theta

    def curvature(self, theta: FloatArray, lam: FloatArray) -> FloatArray:
        """Return 2 lambda."""
        return 2.0 * lam * np.ones_like(theta)


@dataclass(frozen=True)
class SCAD:
    """Smoothly clipped absolute deviation (Fan and Li 2001).

    rho = lambda theta up to lambda, a parabola from lambda to a lambda, and constant beyond;
    its derivative is lambda, then (a lambda - theta) / (a - 1), then 0.
    """

    a: float = 3.7
    name: ClassVar[str] = "scad"
    label: ClassVar[str] = "SCAD"

    def __post_init__(self) -> None:
        """Refuse an a for which the penalty is not defined."""
        if not 2.0 < self.a < np.inf:
            raise InputError(f"SCAD needs a > 2 and finite, got a={self.a!r}.")

    def value(self, theta: FloatArray, lam: FloatArray) -> FloatArray:
        """Return the three-piece penalty."""
        parabola = (2.0 * self.a * lam * theta - theta**2 - lam**2) / (2.0 * (self.a - 1.0))
        plateau = 0.5 * (self.a + 1.0) * lam**2
        middle = np.where(theta <= self.a * lam, parabola, plateau)
        return np.where(theta <= lam, lam * theta, middle)

    def gradient(self, theta: FloatArray, lam: FloatArray) -> FloatArray:
        """Return lambda, (a lambda - theta)+ / (a - 1)."""
        slope = np.maximum(self.a * lam - theta, 0.0) / (self.a - 1.0)
        return np.where(theta <= lam, lam, slope)

    def curvature(self, theta: FloatArray, lam: FloatArray) -> FloatArray:
        """Return -1 / (a - 1) on the parabola, 0 elsewhere."""
        on_parabola = (theta > lam) & (theta <= self.a * lam)
        return np.where(on_parabola, -1.0 / (self.a - 1.0), 0.0)


AnyPenalty: TypeAlias = Penalty | JointPenalty

#: Penalties by name; ``PENALTIES.register`` adds to it.
PENALTIES: Registry[AnyPenalty] = Registry(
    "penalty", NoPenalty(), Lasso(), Ridge(), SCAD(), JointlyRobust()
)


def get_penalty(penalty: str | AnyPenalty) -> AnyPenalty:
    """Return the penalty of that name, or the object itself."""
    own: Any = penalty
    if all(hasattr(own, name) for name in ("value", "gradient", "curvature")):
        return own
    if hasattr(own, "for_runs"):
        return own
    return PENALTIES.look_up(
        penalty, "an object with value, gradient and curvature, or with for_runs"
    )
