"""n p_lambda(theta) as the search needs it: in log parameters, for many points at once.

A term is what a penalty takes off the log likelihood of F data sets. Its gradient and Hessian are
in the logarithms of the parameters, u = log theta: with p' and p'' the derivatives in theta,

    d p / d u_p         = theta_p p'_p
    d2 p / d u_p d u_q  = theta_p theta_q p''_pq + [p = q] theta_p p'_p.
"""

from typing import Protocol

import numpy as np

from pengp._core.arrays import FloatArray, IntArray
from pengp._core.linalg import diagonals
from pengp.path.joint import JointTerms
from pengp.path.newton import Expansion
from pengp.path.penalties import AnyPenalty, Penalty


class Term(Protocol):
    """n p_lambda of F data sets at points in log parameters."""

    def value(self, data_set: IntArray, point: FloatArray, lam: FloatArray) -> FloatArray:
        """Return the term [B] of data sets [B] at point [B, P] for lam [B]."""
        ...

    def values(self, data_set: IntArray, point: FloatArray, lams: FloatArray) -> FloatArray:
        """Return the term [N, L] of data sets [N] at point [N, P] for each of lams [L]."""
        ...

    def take_off(
        self, at: Expansion, data_set: IntArray, point: FloatArray, lam: FloatArray
    ) -> Expansion:
        """Return the expansion at point [B, P] less that of the term for lam [B]."""
        ...

    def move(
        self,
        at: Expansion,
        data_set: IntArray,
        point: FloatArray,
        here: FloatArray,
        there: FloatArray,
    ) -> None:
        """Change the derivatives of an expansion, in place, from lam ``here`` [B] to ``there``."""
        ...


class SeparableTerm:
    """The term of a separable penalty, which is the same for all data sets of n runs.

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

    def _theta(self, point: FloatArray) -> FloatArray:
        """Return theta [B, n_theta] at point [B, P]."""
        return np.exp(point[:, : self.n_theta])

    def value(self, data_set: IntArray, point: FloatArray, lam: FloatArray) -> FloatArray:
        """Return the term [B] of data sets [B] at point [B, P] for lam [B]."""
        return self.n * self.penalty.value(self._theta(point), lam[:, None]).sum(-1)

    def values(self, data_set: IntArray, point: FloatArray, lams: FloatArray) -> FloatArray:
        """Return the term [N, L] of data sets [N] at point [N, P] for each of lams [L]."""
        theta, penalty = self._theta(point), self.penalty
        if getattr(penalty, "linear", False):
            return self.n * (penalty.value(theta, np.ones(1)).sum(-1)[:, None] * lams)
        return self.n * penalty.value(theta.T[:, :, None], lams).sum(0)

    def take_off(
        self, at: Expansion, data_set: IntArray, point: FloatArray, lam: FloatArray
    ) -> Expansion:
        """Return the expansion at point [B, P] less that of the term for lam [B]."""
        theta, each, penalty = self._theta(point), lam[:, None], self.penalty
        gradient = self.n * theta * penalty.gradient(theta, each)
        curvature = gradient + self.n * theta * theta * penalty.curvature(theta, each)
        value = self.n * penalty.value(theta, each).sum(-1)
        here = Expansion(at.objective - value, at.gradient, at.hessian)
        self._subtract(here, gradient, curvature)
        return here

    def move(
        self,
        at: Expansion,
        data_set: IntArray,
        point: FloatArray,
        here: FloatArray,
        there: FloatArray,
    ) -> None:
        """Change the derivatives of an expansion, in place, from lam ``here`` [B] to ``there``."""
        theta, penalty, new, old = self._theta(point), self.penalty, there[:, None], here[:, None]
        gradient = penalty.gradient(theta, new) - penalty.gradient(theta, old)
        curvature = penalty.curvature(theta, new) - penalty.curvature(theta, old)
        gradient = self.n * theta * gradient
        self._subtract(at, gradient, gradient + self.n * theta * theta * curvature)

    def _subtract(self, at: Expansion, gradient: FloatArray, curvature: FloatArray) -> None:
        """Take the log gradient and log curvature [B, n_theta] off an expansion."""
        at.gradient[:, : self.n_theta] -= gradient
        if at.hessian.shape[-1]:
            diagonals(at.hessian)[:, : self.n_theta] -= curvature


class JointTerm:
    """The term of a joint penalty.

    Parameters
    ----------
    terms : JointTerms
        The penalty of F data sets.
    n_theta : int
        Number of thetas, T.
    nugget : float or None
        Fixed nugget; None if it is the last parameter.
    linear : bool
        Whether the penalty is proportional to lambda.
    """

    def __init__(
        self, terms: JointTerms, n_theta: int, nugget: float | None, *, linear: bool = False
    ) -> None:
        self.terms, self.n_theta, self.nugget, self.linear = terms, n_theta, nugget, linear

    def _params(self, point: FloatArray) -> FloatArray:
        """Return the thetas and the nugget [B, T + 1] at point [B, P]."""
        params = np.exp(point)
        if self.nugget is None:
            return params
        return np.hstack([params, np.full((len(point), 1), self.nugget)])

    def value(self, data_set: IntArray, point: FloatArray, lam: FloatArray) -> FloatArray:
        """Return the term [B] of data sets [B] at point [B, P] for lam [B]."""
        return self.terms.value(data_set, self._params(point), lam)

    def values(self, data_set: IntArray, point: FloatArray, lams: FloatArray) -> FloatArray:
        """Return the term [N, L] of data sets [N] at point [N, P] for each of lams [L]."""
        params, one = self._params(point), np.ones(len(point))
        if self.linear:
            return self.terms.value(data_set, params, one)[:, None] * lams
        return np.stack([self.terms.value(data_set, params, lam * one) for lam in lams], axis=1)

    def take_off(
        self, at: Expansion, data_set: IntArray, point: FloatArray, lam: FloatArray
    ) -> Expansion:
        """Return the expansion at point [B, P] less that of the term for lam [B]."""
        params = self._params(point)
        here = at._replace(objective=at.objective - self.terms.value(data_set, params, lam))
        self._subtract(here, params, *self.terms.derivatives(data_set, params, lam))
        return here

    def move(
        self,
        at: Expansion,
        data_set: IntArray,
        point: FloatArray,
        here: FloatArray,
        there: FloatArray,
    ) -> None:
        """Change the derivatives of an expansion, in place, from lam ``here`` [B] to ``there``."""
        params = self._params(point)
        gradient, hessian = self.terms.derivatives(data_set, params, there)
        old_gradient, old_hessian = self.terms.derivatives(data_set, params, here)
        self._subtract(at, params, gradient - old_gradient, hessian - old_hessian)

    def _subtract(
        self, at: Expansion, params: FloatArray, gradient: FloatArray, hessian: FloatArray
    ) -> None:
        """Take derivatives in params [B, T + 1], in their logarithms, off an expansion."""
        P = at.gradient.shape[1]
        slope = params * gradient
        at.gradient[:] -= slope[:, :P]
        if at.hessian.shape[-1]:
            curvature = params[:, :, None] * hessian * params[:, None, :]
            at.hessian[:] -= curvature[:, :P, :P]
            on_diagonal = diagonals(at.hessian)
            on_diagonal -= slope[:, :P]


def term_of(penalty: AnyPenalty, X: FloatArray, nugget: float | None, *, isotropic: bool) -> Term:
    """Return what a penalty takes off the likelihoods of data sets with inputs X [F, n, d]."""
    n, d = X.shape[1:]
    n_theta = 1 if isotropic else d
    if hasattr(penalty, "for_runs"):
        terms = penalty.for_runs(X, isotropic=isotropic)
        return JointTerm(terms, n_theta, nugget, linear=getattr(penalty, "linear", False))
    return SeparableTerm(penalty, n, n_theta)
