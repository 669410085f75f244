"""Priors on theta, as densities of u = log theta with exact gradient and Hessian.

A prior has ``value`` [B], ``gradient`` [B, d] and ``hessian`` [B, d, d] at u [B, d]. It may have a
sampler ``sample(rng, size, d) -> u [size, d]``; its density must then integrate to 1, since the
sampler's proposals use both. ``for_runs(X)`` returns the prior that runs X [n, d] call for, if it
depends on them. A new prior is one class, added to ``PRIORS``.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Literal, Protocol, TypeAlias, cast

import numpy as np
from scipy.special import gammaincc, gammaln

from pengp._core.arrays import FloatArray
from pengp._core.checks import check_count, is_real
from pengp._core.linalg import diagonals
from pengp.bayes.gammas import check_positive, gamma_beyond, log_gamma_draws
from pengp.bayes.weights import normalised
from pengp.exceptions import InputError
from pengp.path import joint

_MOST_RATES = 10_000
"""Points that stand for a range of rates; a density is evaluated at all of them."""
_NOTHING, _LEAST = 1e-6, 1e-6
"""A theta far below e acts like 0; the density of log theta falls off there. Least draw over e."""


class Prior(Protocol):
    """The log density of u = log theta.

    Examples
    --------
    A prior of your own: log theta normal with standard deviation 2, in every input.

    >>> import numpy as np
    >>> from pengp import BayesianGPRegressor, load_piston_slap
    >>> class LogNormal:
    ...     def value(self, u):
    ...         return -(u**2).sum(-1) / 8
    ...     def gradient(self, u):
    ...         return -u / 4
    ...     def hessian(self, u):
    ...         return np.broadcast_to(-np.eye(u.shape[1]) / 4, (*u.shape, u.shape[1]))
    >>> runs = load_piston_slap()
    >>> model = BayesianGPRegressor(kernels="matern52", prior=LogNormal(), random_state=0)
    >>> model.fit(runs.X, runs.y).predict(runs.X[:2]).round()  # two of the runs
    array([57., 58.])
    """

    def value(self, u: FloatArray) -> FloatArray:
        """Return log p(u) [B] at u [B, d]."""
        ...

    def gradient(self, u: FloatArray) -> FloatArray:
        """Return its gradient [B, d]."""
        ...

    def hessian(self, u: FloatArray) -> FloatArray:
        """Return its Hessian [B, d, d]."""
        ...


@dataclass(frozen=True)
class HierarchicalLasso:
    """The lasso with lambda integrated out: theta_p + e | a, r ~ Gamma(a, rate r), log r uniform.

    The estimate theta-hat(lambda) is the mode under theta_p ~ Exp(n lambda); here r = n lambda has
    a distribution instead of a value. Given a, the shares theta / sum(theta) are
    Dirichlet(a, ..., a) and independent of the sum: with a = 2/d about two inputs are active a
    priori, with a = 1/d one, whatever d. By default both have the same weight. The Gamma starts at
    e = 1e-6, which acts like 0: without e a small a would spread log theta over many decades that
    no run can tell apart, and that draws would have to reach.

    Parameters
    ----------
    a : float or tuple of floats, optional
        Shape, or several of equal weight; 2/d and 1/d if omitted, and 2 alone with one input, where
        nothing can be sparse. 1 is the paper's exponential.
    rates : (float, float)
        Range of r.
    n_rates : int
        Points, equidistant in log r, that stand for the range.

    Examples
    --------
    Of six inputs about two are active a priori:

    >>> import numpy as np
    >>> from pengp.bayes import HierarchicalLasso
    >>> u = HierarchicalLasso().sample(np.random.default_rng(0), 4000, 6)
    >>> share = np.exp(u) / np.exp(u).sum(1, keepdims=True)
    >>> round(float((share > 0.1).sum(1).mean()))
    2
    """

    a: float | tuple[float, ...] | None = None
    rates: tuple[float, float] = (0.1, 100.0)
    n_rates: int = 20
    name: ClassVar[str] = "hierarchical-lasso"
    label: ClassVar[str] = "lasso with lambda integrated out"

    def __post_init__(self) -> None:
        """Refuse what is no distribution."""
        check_positive(self, a=1.0 if self.a is None else self.a, rates=self.rates)
        check_count(self.n_rates, "n_rates", 1, _MOST_RATES)
        if np.shape(self.rates) != (2,) or not self.rates[0] <= self.rates[1] <= 1.0 / _NOTHING:
            raise InputError(f"{self!r} needs two rates in ascending order, up to 1e6.")

    def for_runs(self, X: FloatArray) -> "HierarchicalLasso":
        """Return the prior with the shapes for the inputs that vary in the runs X [n, d].

        Given a and r the thetas are independent: with these shapes, the thetas of inputs that vary
        have the prior that they would have without the others.
        """
        varying = int(np.count_nonzero(np.ptp(X, axis=0)))
        return replace(self, a=tuple(self._shapes(max(varying, 1)).tolist()))

    def value(self, u: FloatArray) -> FloatArray:
        """Return log mean_k prod_p c_k theta_p (theta_p + e)^(a_k - 1) exp(-r_k theta_p).

        k runs over all pairs of a shape and a rate; 1 / c_k = exp(r e) r^-a Gamma(a, r e), an
        incomplete Gamma function.
        """
        _, terms = self._terms(u)
        top = terms.max(0)
        terms -= top
        return top + np.log(np.exp(terms, out=terms).sum(0) / len(terms))

    def gradient(self, u: FloatArray) -> FloatArray:
        """Return 1 - q + E[a | u] q - E[r | u] theta with q = theta / (theta + e)."""
        (a, r), terms = self._terms(u)
        weight = normalised(terms.T)
        theta = np.exp(u)
        q = theta / (theta + _NOTHING)
        return 1.0 - q + (weight @ a)[:, None] * q - (weight @ r)[:, None] * theta

    def hessian(self, u: FloatArray) -> FloatArray:
        """Return Var[a q - r theta | u] plus diag((E[a | u] - 1) q (1 - q) - E[r | u] theta)."""
        (a, r), terms = self._terms(u)
        weight = normalised(terms.T)
        mean_a, mean_r, theta = weight @ a, weight @ r, np.exp(u)
        q = theta / (theta + _NOTHING)
        da, dr = a - mean_a[:, None], r - mean_r[:, None]
        aa, ar, rr = (np.vecdot(weight, x)[:, None, None] for x in (da * da, da * dr, dr * dr))
        across = q[:, :, None] * theta[:, None, :]
        H: FloatArray = aa * q[:, :, None] * q[:, None, :] - ar * (across + across.swapaxes(1, 2))
        H += rr * theta[:, :, None] * theta[:, None, :]
        on_diagonal = diagonals(H)
        on_diagonal += (mean_a - 1.0)[:, None] * q * (1.0 - q) - mean_r[:, None] * theta
        return H

    def sample(self, rng: np.random.Generator, size: int, d: int) -> FloatArray:
        """Return draws of u [size, d]: theta + e is Gamma beyond e."""
        rate = self._grid[rng.integers(self.n_rates, size=size)][:, None]
        shapes = self._shapes(d)
        a = shapes[rng.integers(len(shapes), size=size)]
        start = rate * _NOTHING
        beyond = gamma_beyond(rng, a.repeat(d), start.repeat(d)).reshape(size, d)
        return np.log(np.maximum(beyond - start, _LEAST * start)) - np.log(rate)

    @cached_property
    def _grid(self) -> FloatArray:
        """Return the values of r [n_rates]."""
        return np.geomspace(*self.rates, self.n_rates)

    def _shapes(self, d: int) -> FloatArray:
        """Return the values of a for d inputs."""
        if self.a is None:
            return np.array([2.0 / d, 1.0 / d] if d > 1 else [2.0])
        return np.atleast_1d(np.asarray(self.a, dtype=np.float64))

    def _terms(self, u: FloatArray) -> tuple[tuple[FloatArray, FloatArray], FloatArray]:
        """Return a and r [K] of the pairs, and the logarithms [K, B] of their densities at u."""
        d, rates, shapes = u.shape[-1], self._grid, self._shapes(u.shape[-1])
        a, r = np.repeat(shapes, len(rates)), np.tile(rates, len(shapes))
        with np.errstate(over="ignore"):
            theta = np.minimum(np.exp(u), 1e300)
        S, T = theta.sum(-1), np.log(theta + _NOTHING).sum(-1)
        e = r * _NOTHING
        constant = a * np.log(r) - gammaln(a) - np.log(gammaincc(a, e)) - e
        terms = np.multiply.outer(-r, S)
        terms += np.multiply.outer(shapes - 1.0, T).repeat(len(rates), 0)
        terms += d * constant[:, None]
        terms += u.sum(-1)
        return (a, r), terms


@dataclass(frozen=True)
class Gamma:
    """theta_p ~ Gamma(shape, rate), independent.

    Parameters
    ----------
    shape, rate : float
        The density in theta is proportional to theta^(shape - 1) exp(-rate theta).

    Examples
    --------
    >>> import numpy as np
    >>> from pengp.bayes import Gamma
    >>> Gamma(2.0, 1.0).value(np.log([[0.5, 2.0]])).round(4)  # the log density of log theta
    array([-2.5])
    """

    shape: float = 1.0
    rate: float = 1.0
    name: ClassVar[str] = "gamma"
    label: ClassVar[str] = "Gamma"

    def __post_init__(self) -> None:
        """Refuse what is no distribution."""
        check_positive(self, shape=self.shape, rate=self.rate)

    def value(self, u: FloatArray) -> FloatArray:
        """Return sum_p shape (u_p + log rate) - rate theta_p - lgamma(shape)."""
        terms = self.shape * (u + np.log(self.rate)) - self.rate * np.exp(u) - gammaln(self.shape)
        return terms.sum(-1)

    def gradient(self, u: FloatArray) -> FloatArray:
        """Return shape - rate theta."""
        return self.shape - self.rate * np.exp(u)

    def hessian(self, u: FloatArray) -> FloatArray:
        """Return -diag(rate theta)."""
        return _on_diagonal(-self.rate * np.exp(u))

    def sample(self, rng: np.random.Generator, size: int, d: int) -> FloatArray:
        """Return draws of u [size, d]."""
        return log_gamma_draws(rng, self.shape, (size, d)) - np.log(self.rate)


@dataclass(frozen=True)
class JointlyRobust:
    """Jointly robust prior (Gu 2019): p(beta) ~ t^a exp(-b t), t = sum_p C_p beta_p.

    beta_p = sqrt(theta_p) is RobustGaSP's inverse range. Its normalising constant is
    (d - 1)! b^(a + d) prod_p C_p / Gamma(a + d): given t, the shares C_p beta_p / t are uniform.

    Parameters
    ----------
    a : float
        More than -d; RobustGaSP's 0.2 by default.
    b : float, optional
        n^(-1/d) (a + d) if omitted.
    scales : [d], optional
        C; n^(-1/d) times the range of each input if omitted, and times 1 if it never varied.

    Examples
    --------
    >>> from pengp import load_piston_slap
    >>> from pengp.bayes import JointlyRobust
    >>> prior = JointlyRobust().for_runs(load_piston_slap().X)
    >>> round(prior.b, 3), [round(c, 3) for c in prior.scales]
    (4.098, [46.263, 3.965, 2.644, 1.322, 1.322, 0.529])
    """

    a: float = 0.2
    b: float | None = None
    scales: tuple[float, ...] | None = None
    name: ClassVar[str] = "jointly-robust"
    label: ClassVar[str] = "jointly robust"

    def __post_init__(self) -> None:
        """Refuse what is no distribution."""
        scales = (1.0,) if self.scales is None else self.scales
        check_positive(self, b=1.0 if self.b is None else self.b, scales=scales)
        if np.ndim(scales) != 1 or not is_real(self.a) or self.a <= -len(scales):
            raise InputError(f"{self!r} needs a > -d, and scales of d inputs.")

    def for_runs(self, X: FloatArray) -> "JointlyRobust":
        """Return the prior with the b and C of RobustGaSP for runs X [n, d]."""
        if self.scales is not None and len(self.scales) != X.shape[1]:
            raise InputError(f"{self!r} has scales of {len(self.scales)} inputs, not {X.shape[1]}.")
        usual = joint.JointlyRobust(self.a, self.b).for_runs(X[None], isotropic=False)
        # The theta of an input that never varied does nothing, but needs a proper prior.
        spacing = len(X) ** (-1.0 / X.shape[1])
        scales = tuple(float(c) or spacing for c in usual.C[0])
        return JointlyRobust(self.a, usual.b, scales if self.scales is None else self.scales)

    def value(self, u: FloatArray) -> FloatArray:
        """Return a log t - b t + sum u / 2 and the constants, the Jacobian of beta included."""
        (C, b), d = self._known(), u.shape[-1]
        t = np.exp(0.5 * u) @ C
        constant = gammaln(d) + (self.a + d) * np.log(b) + np.log(C).sum() - gammaln(self.a + d)
        return self.a * np.log(t) - b * t + 0.5 * u.sum(-1) + constant - d * np.log(2.0)

    def gradient(self, u: FloatArray) -> FloatArray:
        """Return 1/2 + (a/t - b) C beta / 2."""
        C, b = self._known()
        part = C * np.exp(0.5 * u)
        return 0.5 + 0.5 * (self.a / part.sum(-1) - b)[:, None] * part

    def hessian(self, u: FloatArray) -> FloatArray:
        """Return diag((a/t - b) C beta / 4) - a/t^2 (C beta)(C beta)' / 4."""
        C, b = self._known()
        part = C * np.exp(0.5 * u)
        t = part.sum(-1)
        H = _on_diagonal(0.25 * (self.a / t - b)[:, None] * part)
        share = part / t[:, None]
        H -= 0.25 * self.a * share[:, :, None] * share[:, None, :]
        return H

    def sample(self, rng: np.random.Generator, size: int, d: int) -> FloatArray:
        """Return draws of u [size, d]."""
        C, b = self._known()
        t = rng.gamma(self.a + d, size=size) / b
        share = rng.dirichlet(np.ones(d), size=size)
        return 2.0 * (np.log(t)[:, None] + np.log(share) - np.log(C))

    def _known(self) -> tuple[FloatArray, float]:
        """Return C [d] and b."""
        if self.scales is None or self.b is None:
            raise InputError("JointlyRobust needs b and scales, or runs to take them from.")
        return np.asarray(self.scales), self.b


def _on_diagonal(values: FloatArray) -> FloatArray:
    """Return matrices [B, d, d] with the values [B, d] on their diagonals."""
    return values[:, :, None] * np.eye(values.shape[1])


#: The names of `PRIORS`, for type checkers; a prior of your own is passed itself.
PriorName: TypeAlias = Literal["hierarchical-lasso", "gamma", "jointly-robust"]

#: Priors of theta by name.
PRIORS: dict[str, Prior] = {p.name: p for p in (HierarchicalLasso(), Gamma(), JointlyRobust())}


def get_prior(prior: str | Prior) -> Prior:
    """Return the prior of that name, or the object itself.

    Examples
    --------
    >>> from pengp.bayes import get_prior
    >>> get_prior("gamma")
    Gamma(shape=1.0, rate=1.0)
    """
    if all(hasattr(prior, name) for name in ("value", "gradient", "hessian")):
        return cast(Prior, prior)
    if not isinstance(prior, str) or prior not in PRIORS:
        raise InputError(f"prior={prior!r} is unknown; use one of {', '.join(PRIORS)}.")
    return PRIORS[prior]
