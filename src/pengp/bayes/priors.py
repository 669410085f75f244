"""Priors on theta, as densities of u = log theta with exact gradient and Hessian.

A prior has ``value`` [B], ``gradient`` [B, d] and ``hessian`` [B, d, d] at u [B, d]. It may have a
sampler ``sample(rng, size, d) -> u [size, d]``; its density must then integrate to 1, since the
sampler's proposals use both. ``for_runs(X)`` returns the prior that runs X [n, d] call for, if it
depends on them. A new prior is one class, added to ``PRIORS``.
"""

from dataclasses import dataclass
from typing import ClassVar, Protocol, cast

import numpy as np
from scipy.special import gammaln

from pengp._core.arrays import FloatArray
from pengp._core.linalg import diagonals
from pengp.exceptions import InputError
from pengp.path import joint


class Prior(Protocol):
    """The log density of u = log theta."""

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
    """The lasso with lambda integrated out: theta_p | r ~ Gamma(a, rate r), log r uniform.

    The estimate theta-hat(lambda) is the mode under theta_p ~ Exp(n lambda); here r = n lambda has
    a distribution instead of a value. The shares theta / sum(theta) are Dirichlet(a, ..., a) and
    independent of the sum: with a = 2/d about two inputs are active a priori, whatever d.

    Parameters
    ----------
    a : float, optional
        Shape; 2/d if omitted, and 1 is the paper's exponential.
    rates : (float, float)
        Range of r.
    n_rates : int
        Points, equidistant in log r, that stand for the range.
    """

    a: float | None = None
    rates: tuple[float, float] = (0.1, 100.0)
    n_rates: int = 20
    name: ClassVar[str] = "hierarchical-lasso"
    label: ClassVar[str] = "lasso with lambda integrated out"

    def __post_init__(self) -> None:
        """Refuse what is no distribution."""
        _check_positive(self, a=1.0 if self.a is None else self.a, rates=min(self.rates))
        if not self.rates[0] <= self.rates[1] < np.inf or self.n_rates < 1:
            raise InputError(f"{self!r} needs rates in ascending order and n_rates of at least 1.")

    def value(self, u: FloatArray) -> FloatArray:
        """Return a sum u + log mean_j exp(d (a log r_j - lgamma(a)) - r_j S), S = sum theta."""
        return self._shape(u) * u.sum(-1) + self._rates(u)[2]

    def gradient(self, u: FloatArray) -> FloatArray:
        """Return a - E[r | S] theta."""
        return self._shape(u) - self._rates(u)[0][:, None] * np.exp(u)

    def hessian(self, u: FloatArray) -> FloatArray:
        """Return Var[r | S] theta theta' - diag(E[r | S] theta)."""
        mean, variance, _ = self._rates(u)
        theta = np.exp(u)
        H: FloatArray = variance[:, None, None] * theta[:, :, None] * theta[:, None, :]
        on_diagonal = diagonals(H)
        on_diagonal -= mean[:, None] * theta
        return H

    def sample(self, rng: np.random.Generator, size: int, d: int) -> FloatArray:
        """Return draws of u [size, d]."""
        rate = self._grid()[rng.integers(self.n_rates, size=size)]
        a = self._shape(np.empty((0, d)))
        return _log_gamma_draws(rng, a, (size, d)) - np.log(rate)[:, None]

    def _grid(self) -> FloatArray:
        """Return the values of r [n_rates]."""
        return np.geomspace(*self.rates, self.n_rates)

    def _shape(self, u: FloatArray) -> float:
        """Return a for u [B, d]."""
        return 2.0 / u.shape[-1] if self.a is None else self.a

    def _rates(self, u: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return E[r | S], Var[r | S] and the log of the mean over r, all [B]."""
        r, a = self._grid(), self._shape(u)
        with np.errstate(over="ignore"):
            S = np.exp(u).sum(-1)
        terms = u.shape[-1] * (a * np.log(r) - gammaln(a)) - np.minimum(S, 1e300)[:, None] * r
        top = terms.max(-1, keepdims=True)
        weight = np.exp(terms - top)
        total = weight.sum(-1)
        mean = weight @ r / total
        spread = (r - mean[:, None]) ** 2
        return mean, (weight * spread).sum(-1) / total, top[:, 0] + np.log(total / len(r))


@dataclass(frozen=True)
class Gamma:
    """theta_p ~ Gamma(shape, rate), independent.

    Parameters
    ----------
    shape, rate : float
        The density in theta is proportional to theta^(shape - 1) exp(-rate theta).
    """

    shape: float = 1.0
    rate: float = 1.0
    name: ClassVar[str] = "gamma"
    label: ClassVar[str] = "Gamma"

    def __post_init__(self) -> None:
        """Refuse what is no distribution."""
        _check_positive(self, shape=self.shape, rate=self.rate)

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
        return _log_gamma_draws(rng, self.shape, (size, d)) - np.log(self.rate)


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
        C; n^(-1/d) times the range of each input if omitted.
    """

    a: float = 0.2
    b: float | None = None
    scales: tuple[float, ...] | None = None
    name: ClassVar[str] = "jointly-robust"
    label: ClassVar[str] = "jointly robust"

    def __post_init__(self) -> None:
        """Refuse what is no distribution."""
        scales = (1.0,) if self.scales is None else self.scales
        _check_positive(self, b=1.0 if self.b is None else self.b, scales=min(scales))
        if not -len(scales) < self.a < np.inf:
            raise InputError(f"{self!r} needs a > -d.")

    def for_runs(self, X: FloatArray) -> "JointlyRobust":
        """Return the prior with the b and C of RobustGaSP for runs X [n, d]."""
        usual = joint.JointlyRobust(self.a, self.b).for_runs(X[None], isotropic=False)
        scales = tuple(float(c) for c in usual.C[0])
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


def _check_positive(prior: object, **numbers: float) -> None:
    """Refuse numbers that are not positive and finite."""
    for name, number in numbers.items():
        if not 0.0 < number < np.inf:
            raise InputError(f"{prior!r} needs {name} that are positive and finite.")


def _on_diagonal(values: FloatArray) -> FloatArray:
    """Return matrices [B, d, d] with the values [B, d] on their diagonals."""
    return values[:, :, None] * np.eye(values.shape[1])


def _log_gamma_draws(rng: np.random.Generator, a: float, size: tuple[int, int]) -> FloatArray:
    """Return logarithms of Gamma(a, 1) draws; G(a) = G(a + 1) U^(1/a) does not underflow."""
    return np.log(rng.gamma(a + 1.0, size=size)) - rng.exponential(size=size) / a


PRIORS: dict[str, Prior] = {p.name: p for p in (HierarchicalLasso(), Gamma(), JointlyRobust())}


def get_prior(prior: str | Prior) -> Prior:
    """Return the prior of that name, or the object itself."""
    if all(hasattr(prior, name) for name in ("value", "gradient", "hessian")):
        return cast(Prior, prior)
    if not isinstance(prior, str) or prior not in PRIORS:
        raise InputError(f"prior={prior!r} is unknown; use one of {', '.join(PRIORS)}.")
    return PRIORS[prior]
