"""Grids of lambda, and the largest lambda that is worth trying."""

import numpy as np

from pengp._core.arrays import FloatArray
from pengp._core.checks import (
    ArrayOrArrays,
    as_datasets,
    check_count,
    check_datasets,
    check_mean,
    check_nugget,
)
from pengp.exceptions import InputError
from pengp.model.kernels import Kernel, get_kernel

_PAPER_LOGS = (-7.0, 2.0)
"""Range of log lambda in the paper's grid."""


def lambda_grid(kind: str = "paper", *, n: int = 41, lam_max: float | None = None) -> FloatArray:
    """Return 0 and n - 1 values of lambda, equally spaced in logarithm.

    Parameters
    ----------
    kind : {"paper", "kkt"}
        "paper" goes from exp(-7) to exp(2) = 7.389; "kkt" from exp(-7), or from
        exp(-7) lam_max if that is smaller, to ``lam_max``.
    n : int
        Number of values, 0 included.
    lam_max : float, optional
        Largest value of the "kkt" grid, from `lambda_max`.

    Returns
    -------
    [n], ascending
    """
    n = check_count(n, "n", 1)
    low, high = _PAPER_LOGS
    if kind == "kkt":
        if lam_max is None or np.size(lam_max) != 1 or not 0.0 < float(lam_max) < np.inf:
            raise InputError(
                "lambda_grid('kkt') needs lam_max > 0, one number from lambda_max(X, y)."
            )
        high = float(np.log(lam_max))
        low = min(low, high + low)
    elif kind != "paper":
        raise InputError(f"lambda_grid knows 'paper' and 'kkt', not {kind!r}.")
    logs = np.linspace(high, low, n - 1)[::-1]  # from the top, which a grid of two values keeps
    return np.concatenate([[0.0], np.exp(logs)])


def lambda_max(
    X: ArrayOrArrays,
    y: ArrayOrArrays,
    *,
    kernel: str | Kernel = "sqexp",
    isotropic: bool = False,
    nugget: float = 1e-5,
    mean: str = "zero",
) -> FloatArray:
    """Return the KKT bound of the paper's Appendix A: max_p |d log L / d theta_p| / n at theta = 0.

    From there on theta = 0 is a local maximum of the lasso-penalized likelihood. It need not be
    the global one below, nor the only one above.

    Parameters
    ----------
    X : [..., n, d], or a list of [n_f, d]
        Inputs in the unit cube.
    y : [..., n], or a list of [n_f]
        Responses, centred if the mean is zero.
    kernel, isotropic, nugget, mean
        As in `penalized_path`; the nugget is fixed and positive.

    Returns
    -------
    [...]
    """
    g, constant_mean = check_nugget(nugget), check_mean(mean)
    if g is None or g == 0.0:
        raise InputError("lambda_max needs a positive, fixed nugget: R is singular at theta = 0.")
    data = as_datasets(X, y)
    check_datasets(data, nugget=g, constant_mean=constant_mean)
    bounds = [
        _lambda_max(a, b, get_kernel(kernel), isotropic, g, constant_mean)
        for a, b in zip(data.X, data.y, strict=True)
    ]
    return np.array(bounds).reshape(data.shape)


def _lambda_max(
    X: FloatArray, y: FloatArray, kernel: Kernel, isotropic: bool, g: float, constant_mean: bool
) -> float:
    """Return the bound for one data set.

    At theta = 0, R = J + g I, R^-1 = (I - J / (n + g)) / g (Sherman and Morrison), R_p =
    phi'(0) D_p, and y' R^-1 y and its derivatives are sums over rows of D_p.
    """
    n = len(y)
    centred = y - y.mean() if constant_mean else y - y.sum() / (n + g)
    alpha = centred / g
    q = float(y @ alpha)
    if not q > 0.0:
        raise InputError("lambda_max is not defined, because y equals its prior mean everywhere.")
    zero = np.zeros(1)
    slope = float(kernel.derivatives(zero, kernel.phi(zero))[0][0])
    D = (X[:, None, :] - X[None, :, :]) ** 2
    forms = slope * np.einsum("i,ijp,j->p", alpha, D, alpha)
    traces = slope * -D.sum((0, 1)) / (g * (n + g))
    gradient = 0.5 * (n / q * forms - traces)
    return float(np.abs(gradient.sum() if isotropic else gradient).max() / n)
