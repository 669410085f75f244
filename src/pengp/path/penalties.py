"""Penalties p_lambda(theta) on theta >= 0: value, gradient and curvature, lambda an argument.

These are separable: p_lambda(theta) = sum_p rho(theta_p, lambda). The functions return the terms
rho and their derivatives in theta_p, broadcast over theta and lambda; the likelihood is penalized
by n times their sum (the paper's equation for Q). Those of all thetas together are in `joint`. A
new penalty of either kind is one class, added to ``PENALTIES``. If it is proportional to lambda,
``linear = True`` says so and saves time; a subclass that is not must set it to False.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

import numpy as np

from pengp._core.arrays import FloatArray, IntArray
from pengp._core.checks import is_real
from pengp._core.linalg import diagonals
from pengp._core.registry import Registry
from pengp.exceptions import InputError
from pengp.path.cells import Term
from pengp.path.joint import JointlyRobust, JointPenalty, JointTerm
from pengp.path.newton import Expansion


class Penalty(Protocol):
    """One separable penalty; ``theta`` and ``lam`` broadcast against each other.

    Examples
    --------
    An elastic net of your own, half lasso and half ridge:

    >>> import numpy as np
    >>> from pengp import PenalizedGPRegressor, load_piston_slap
    >>> class ElasticNet:
    ...     name, label = "elastic-net", "elastic net"
    ...     def value(self, theta, lam):
    ...         return lam * (theta + theta**2) / 2
    ...     def gradient(self, theta, lam):
    ...         return lam * (1 + 2 * theta) / 2
    ...     def curvature(self, theta, lam):
    ...         return lam * np.ones_like(theta)
    >>> runs = load_piston_slap()
    >>> model = PenalizedGPRegressor(0.01, penalty=ElasticNet(), random_state=0).fit(runs.X, runs.y)
    >>> model.theta_.round(2)
    array([2.88, 0.  , 0.45, 0.  , 0.  , 2.19])
    """

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
    """rho = 0: maximum likelihood whatever lambda is.

    Examples
    --------
    >>> import numpy as np
    >>> from pengp.path import NoPenalty
    >>> NoPenalty().value(np.array([0.5, 2.0]), 0.1)
    array([0., 0.])
    """

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
    """rho = lambda theta (Tibshirani 1996), the paper's choice.

    Examples
    --------
    >>> import numpy as np
    >>> from pengp.path import Lasso
    >>> Lasso().value(np.array([0.5, 2.0]), 0.1)
    array([0.05, 0.2 ])
    """

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
    """rho = lambda theta^2.

    Examples
    --------
    >>> import numpy as np
    >>> from pengp.path import Ridge
    >>> Ridge().value(np.array([0.5, 2.0]), 0.1)
    array([0.025, 0.4  ])
    """

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

    Examples
    --------
    Like the lasso for a small theta, and without a pull on a large one:

    >>> import numpy as np
    >>> from pengp.path import SCAD
    >>> SCAD().gradient(np.array([0.05, 0.2, 1.0]), 0.1).round(4)
    array([0.1  , 0.063, 0.   ])
    """

    a: float = 3.7
    name: ClassVar[str] = "scad"
    label: ClassVar[str] = "SCAD"

    def __post_init__(self) -> None:
        """Refuse an a for which the penalty is not defined."""
        if not (is_real(self.a) and self.a > 2.0):
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

#: The names of `PENALTIES`, for type checkers; a penalty of your own is passed itself.
PenaltyName: TypeAlias = Literal["none", "lasso", "ridge", "scad", "jointly-robust"]

#: Penalties by name; ``PENALTIES.register`` adds to it.
PENALTIES: Registry[AnyPenalty] = Registry(
    "penalty", NoPenalty(), Lasso(), Ridge(), SCAD(), JointlyRobust()
)


def get_penalty(penalty: str | AnyPenalty) -> AnyPenalty:
    """Return the penalty of that name, or the object itself.

    Examples
    --------
    >>> from pengp.path import get_penalty
    >>> get_penalty("scad").label
    'SCAD'
    """
    own: Any = penalty
    if all(hasattr(own, name) for name in ("value", "gradient", "curvature")):
        return own
    if hasattr(own, "for_runs"):
        return own
    return PENALTIES.look_up(
        penalty, "an object with value, gradient and curvature, or with for_runs"
    )


def term_of(penalty: AnyPenalty, X: FloatArray, nugget: float | None, *, isotropic: bool) -> Term:
    """Return what a penalty takes off the likelihoods of data sets with inputs X [F, n, d]."""
    n, d = X.shape[1:]
    if hasattr(penalty, "for_runs"):
        terms = penalty.for_runs(X, isotropic=isotropic)
        return JointTerm(terms, nugget, linear=getattr(penalty, "linear", False))
    return SeparableTerm(penalty, n, 1 if isotropic else d)


class SeparableTerm:
    """n p_lambda of a separable penalty, which is the same for all data sets of n runs; see `Term`.

    With p' and p'' its derivatives in theta, those in u = log theta are

        d p / d u_p = theta_p p'_p,   d2 p / d u_p^2 = theta_p^2 p''_p + theta_p p'_p.

    Parameters
    ----------
    penalty : Penalty
        Applied to each of the first ``n_theta`` parameters.
    n : int
        Number of runs.
    n_theta : int
        Number of thetas.
    """

    def __init__(self, penalty: Penalty, n: int, n_theta: int) -> None:
        self.penalty, self.n, self.n_theta = penalty, n, n_theta

    def params(self, point: FloatArray) -> FloatArray:
        """Return theta [B, n_theta] at point [B, P]."""
        return np.exp(point[:, : self.n_theta])

    def value(self, data_set: IntArray, params: FloatArray, lam: FloatArray) -> FloatArray:
        """Return the term [B] at theta [B, n_theta] for lam [B]."""
        return self.n * self.penalty.value(params, lam[:, None]).sum(-1)

    def values(self, data_set: IntArray, params: FloatArray, lams: FloatArray) -> FloatArray:
        """Return the term [N, L] at theta [N, n_theta] for each of lams [L]."""
        if getattr(self.penalty, "linear", False):
            return self.n * (self.penalty.value(params, np.ones(1)).sum(-1)[:, None] * lams)
        return self.n * self.penalty.value(params.T[:, :, None], lams).sum(0)

    def derivatives(
        self, data_set: IntArray, params: FloatArray, lam: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return p' and p'' [B, n_theta] at theta [B, n_theta] for lam [B]."""
        each = lam[:, None]
        return self.penalty.gradient(params, each), self.penalty.curvature(params, each)

    def take_off(
        self, at: Expansion, params: FloatArray, first: FloatArray, second: FloatArray
    ) -> None:
        """Take p' and p'' [B, n_theta], in the logarithms, off an expansion in place."""
        slope = self.n * params * first
        at.gradient[:, : self.n_theta] -= slope
        if at.hessian.shape[-1]:
            curvature = slope + self.n * params * params * second
            diagonals(at.hessian)[:, : self.n_theta] -= curvature
