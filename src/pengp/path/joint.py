"""Joint penalties: of all thetas, and the nugget, together, with a full Hessian.

A joint penalty is bound to the inputs of F data sets first, on which it may depend. What it then
returns is n p_lambda itself, what is taken off the log likelihood: for a prior pi that is
-lambda log pi, so that lambda = 1 is the prior and lambda = 0 is maximum likelihood, whatever n.
"""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from pengp._core.arrays import FloatArray, IntArray
from pengp._core.checks import is_real
from pengp._core.linalg import diagonals
from pengp.exceptions import InputError
from pengp.path.newton import Expansion


class JointTerms(Protocol):
    """n p_lambda of F data sets in the parameters: T thetas and the nugget, fixed or not.

    See Also
    --------
    JointlyRobust : Makes one for given runs.
    """

    def value(self, data_set: IntArray, params: FloatArray, lam: FloatArray) -> FloatArray:
        """Return n p_lambda [B] of data sets [B] at params [B, T + 1] for lam [B]."""
        ...

    def derivatives(
        self, data_set: IntArray, params: FloatArray, lam: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return its gradient [B, T + 1] and Hessian [B, T + 1, T + 1] in these parameters."""
        ...


class JointPenalty(Protocol):
    """One penalty of all parameters together.

    See Also
    --------
    JointlyRobust : One of them, with an example.
    """

    name: ClassVar[str]
    label: ClassVar[str]

    def for_runs(self, X: FloatArray, *, isotropic: bool) -> JointTerms:
        """Return the penalty for the inputs X [F, n, d]; T = 1 if isotropic, else T = d."""
        ...


@dataclass(frozen=True)
class JointlyRobust:
    """The jointly robust prior of RobustGaSP (Gu 2019, Bayesian Analysis 14, 877-905).

    With t = sum_p C_p beta_p + g, beta_p = sqrt(theta_p) the inverse ranges and g the nugget,

        pi(beta, g) ~ t^a exp(-b t),        n p_lambda = lambda (b t - a log t).

    It keeps the estimate from theta = 0 and from theta = infinity, where nothing is learned, and
    allows single inputs to be inert. C_p is the mean spacing of the runs, range_p n^(-1/d); if one
    theta is shared, the largest distance of two runs divided by n, as in RobustGaSP. The mode is
    that of the density in beta, as there. RobustGaSP adds it to the marginal likelihood of a
    constant trend: ``likelihood="marginal"`` and ``mean="constant"``, lambda = 1.

    Parameters
    ----------
    a : float
        Power of t.
    b : float, optional
        Rate, n^(-1/d) (a + d) by default.

    Examples
    --------
    The estimate under RobustGaSP's prior and likelihood for the 12 piston-slap runs:

    >>> from pengp import PenalizedGPRegressor, load_piston_slap
    >>> runs = load_piston_slap()
    >>> model = PenalizedGPRegressor(
    ...     lam=1,
    ...     penalty="jointly-robust",
    ...     likelihood="marginal",
    ...     mean="constant",
    ...     kernel="matern52_product",
    ...     random_state=0,
    ... )
    >>> model.fit(runs.X, runs.y).theta_.round(2)
    array([0.12, 0.  , 0.  , 0.3 , 0.  , 0.21])
    """

    a: float = 0.2
    b: float | None = None
    name: ClassVar[str] = "jointly-robust"
    label: ClassVar[str] = "jointly robust prior"
    linear: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse settings for which the prior is not defined."""
        if not is_real(self.a):
            raise InputError(f"JointlyRobust needs a finite a, got a={self.a!r}.")
        if self.b is not None and not (is_real(self.b) and self.b > 0.0):
            raise InputError(f"JointlyRobust needs b > 0 and finite, or None, got b={self.b!r}.")

    def for_runs(self, X: FloatArray, *, isotropic: bool) -> "JointlyRobustTerms":
        """Return the prior for the inputs X [F, n, d]."""
        n, d = X.shape[1:]
        spacing = n ** (-1.0 / d)
        C = np.ptp(X, axis=1) * spacing
        if isotropic:
            squares = ((X[:, :, None] - X[:, None]) ** 2).sum(-1)
            C = np.sqrt(squares.max((1, 2)))[:, None] / n
        return JointlyRobustTerms(C, self.a, spacing * (self.a + d) if self.b is None else self.b)


@dataclass(frozen=True, eq=False)
class JointlyRobustTerms:
    """lambda (b t - a log t) of F data sets, with t = sum_p C_p sqrt(theta_p) + g."""

    C: FloatArray
    """[F, T]"""
    a: float
    b: float

    def _t(self, data_set: IntArray, params: FloatArray) -> FloatArray:
        """Return t [B]."""
        return np.vecdot(self.C[data_set], np.sqrt(params[:, :-1])) + params[:, -1]

    def value(self, data_set: IntArray, params: FloatArray, lam: FloatArray) -> FloatArray:
        """Return n p_lambda [B] of data sets [B] at params [B, T + 1] for lam [B]."""
        t = self._t(data_set, params)
        return lam * (self.b * t - self.a * np.log(t))

    def derivatives(
        self, data_set: IntArray, params: FloatArray, lam: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return its gradient [B, T + 1] and Hessian [B, T + 1, T + 1] in these parameters."""
        t, theta = self._t(data_set, params)[:, None], params[:, :-1]
        slope, curvature = np.ones_like(params), np.zeros_like(params)  # t is linear in the nugget
        slope[:, :-1] = 0.5 * self.C[data_set] / np.sqrt(theta)
        curvature[:, :-1] = -0.5 * slope[:, :-1] / theta
        first = lam[:, None] * (self.b - self.a / t)
        hessian = (lam[:, None] * self.a / t**2 * slope)[:, :, None] * slope[:, None, :]
        on_diagonal = diagonals(hessian)
        on_diagonal += first * curvature
        return first * slope, hessian


class JointTerm:
    """n p_lambda of a joint penalty, see `Term`, with its Hessian in logarithms u.

        d2 p / d u_p d u_q = theta_p theta_q p''_pq + [p = q] theta_p p'_p.

    Parameters
    ----------
    terms : JointTerms
        The penalty of F data sets.
    nugget : float or None
        Fixed nugget; None if it is the last parameter.
    linear : bool
        Whether the penalty is proportional to lambda.
    """

    def __init__(self, terms: JointTerms, nugget: float | None, *, linear: bool = False) -> None:
        self.terms, self.nugget, self.linear = terms, nugget, linear
        self.value, self.derivatives = terms.value, terms.derivatives

    def params(self, point: FloatArray) -> FloatArray:
        """Return the thetas and the nugget [B, T + 1] at point [B, P]."""
        params = np.exp(point)
        if self.nugget is None:
            return params
        return np.hstack([params, np.full((len(point), 1), self.nugget)])

    def values(self, data_set: IntArray, params: FloatArray, lams: FloatArray) -> FloatArray:
        """Return the term [N, L] of data sets [N] at params [N, T + 1] for each of lams [L]."""
        one = np.ones(len(params))
        if self.linear:
            return self.value(data_set, params, one)[:, None] * lams
        return np.stack([self.value(data_set, params, lam * one) for lam in lams], axis=1)

    def take_off(
        self, at: Expansion, params: FloatArray, first: FloatArray, second: FloatArray
    ) -> None:
        """Take gradient [B, T + 1] and Hessian, in the logarithms, off an expansion in place."""
        P = at.gradient.shape[1]
        slope = params * first
        at.gradient[:] -= slope[:, :P]
        if at.hessian.shape[-1]:
            curvature = params[:, :, None] * second * params[:, None, :]
            at.hessian[:] -= curvature[:, :P, :P]
            on_diagonal = diagonals(at.hessian)
            on_diagonal -= slope[:, :P]
