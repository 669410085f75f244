"""Integrals of correlations over the law of one input: m = E k(X, a), W = E k(X, a) k(X, b), U.

A correlation is here a sum of products over the inputs, sum_t w_t prod_p k(r_t theta_p, x_p - a_p)
(`Terms`): a product kernel and the squared exponential have one term; a radial Matern is a scale
mixture of squared exponentials, M(s) = E exp(-s / (2 tau)) with tau ~ Gamma(nu, rate nu).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import erf, gammaln

from pengp._core.arrays import FloatArray
from pengp.decisions.laws import Line
from pengp.exceptions import InputError
from pengp.model.kernels import Kernel
from pengp.model.products import ProductKernel

_MATERN = {"matern52": 2.5, "matern32": 1.5}
"""nu of the radial Materns."""

_FEW = {
    2.5: (
        (-3.30189, -1.81973, -0.76012, 0.10041, 0.86896),
        (0.003313, 0.063476, 0.324324, 0.480496, 0.128391),
    ),
    1.5: (
        (-5.11189, -2.90458, -1.36359, -0.15101, 0.88207),
        (0.002726, 0.043598, 0.246, 0.500865, 0.206812),
    ),
}
"""log tau and weights of five nodes, by nu: those with the smallest largest error of the
correlation c in parts of sqrt(1 - c), as it is near 1 that details are decided. It is 7e-5 for
Matern 5/2 and 5.4e-4 for Matern 3/2."""

_LOG_TAU = {2.5: (-11.0, 2.5), 1.5: (-14.5, 3.0)}
"""Ends of the trapezoid rule in log tau for many nodes, by nu. With 48 the largest error of the
correlation is 2e-12 for Matern 5/2 and 4e-10 for Matern 3/2."""

FEW, MANY = 5, 48
"""Nodes that a radial Matern can have."""


@dataclass(frozen=True, eq=False)
class Terms:
    """A correlation as a sum of T products of one-dimensional correlations.

    Attributes
    ----------
    weight, rate : [T]
        w_t, which sum to 1, and r_t.
    factor : callable
        k(theta D), elementwise, with D the squared difference in one input.
    gaussian : bool
        Whether k = exp(-theta D), whose integrals are closed.
    """

    weight: FloatArray
    rate: FloatArray
    factor: Callable[[FloatArray], FloatArray]
    gaussian: bool


def terms_of(kernel: Kernel, nodes: int = FEW) -> Terms:
    """Return a kernel as a sum of products; of a radial Matern with so many nodes, 5 or 48."""
    if isinstance(kernel, ProductKernel):
        return Terms(np.ones(1), np.ones(1), lambda t: _factor(kernel, t), gaussian=False)
    if kernel.name == "sqexp":
        return Terms(np.ones(1), np.ones(1), _gaussian, gaussian=True)
    if kernel.name not in _MATERN:
        raise InputError(
            f"kernel={kernel.name!r} is neither a product over the inputs nor a known mixture of "
            "products, so that its effects are not known; use another kernel."
        )
    nu = _MATERN[kernel.name]
    if nodes == FEW:
        log_tau, weight = (np.array(part) for part in _FEW[nu])
    else:
        log_tau = np.linspace(*_LOG_TAU[nu], nodes)
        weight = np.exp(nu * np.log(nu) - gammaln(nu) + nu * log_tau - nu * np.exp(log_tau))
    return Terms(weight / weight.sum(), 0.5 * np.exp(-log_tau), _gaussian, gaussian=True)


def _gaussian(t: FloatArray) -> FloatArray:
    """Return exp(-t)."""
    return np.exp(-t)


def _factor(kernel: ProductKernel, t: FloatArray) -> FloatArray:
    """Return m(t) of a product kernel, for an array of any shape."""
    a = kernel.distance(t)
    f = kernel.factor(a)
    return f * np.exp(-a) if kernel.damped else f


def gaussian_m(theta: FloatArray, a: FloatArray, line: Line) -> FloatArray:
    """Return E exp(-theta (X - a)^2) for a uniform or normal law; theta and a broadcast."""
    assert line.closed is not None
    family, first, second = line.closed
    if family == "normal":
        stretch = 1.0 + 2.0 * theta * second
        return np.asarray(np.exp(-theta * (a - first) ** 2 / stretch) / np.sqrt(stretch))
    root = np.sqrt(theta)
    between = erf(root * (second - a)) + erf(root * (a - first))
    return np.asarray(0.5 * np.sqrt(np.pi) * between / (root * (second - first)))


def gaussian_w(
    theta: FloatArray, rho: FloatArray, a: FloatArray, b: FloatArray, line: Line
) -> FloatArray:
    """Return E exp(-theta (X - a)^2 - rho (X - b)^2) for a uniform or normal law.

    The two factors are exp(-theta rho (a - b)^2 / (theta + rho)) times one of X, with theta + rho
    and the centre (theta a + rho b) / (theta + rho).
    """
    total = theta + rho
    centre = (theta * a + rho * b) / total
    return np.exp(-theta * rho / total * (a - b) ** 2) * gaussian_m(total, centre, line)


def gaussian_u(theta: FloatArray, line: Line) -> FloatArray:
    """Return E exp(-theta (X - X')^2) for a uniform or normal law."""
    assert line.closed is not None
    family, first, second = line.closed
    if family == "normal":
        return np.asarray((1.0 + 4.0 * theta * second) ** -0.5)
    scaled = theta * (second - first) ** 2
    root = np.sqrt(scaled)
    whole = np.sqrt(np.pi) * erf(root) / root + np.expm1(-scaled) / scaled
    return np.where(scaled < 1e-4, 1.0 - scaled / 6.0 + scaled**2 / 30.0, whole)
