"""Grids of lambda, and the largest lambda that is worth trying."""

from typing import Literal

import numpy as np

from pengp._core.arrays import ArrayOrArrays, FloatArray, as_floats
from pengp._core.checks import (
    LARGEST_PARAMETER,
    check_choice,
    check_count,
    check_flag,
    check_nugget,
)
from pengp._core.datasets import as_datasets, check_datasets
from pengp.exceptions import InputError
from pengp.model.kernels import Kernel, KernelName, get_kernel
from pengp.model.means import Mean, MeanLike, get_mean
from pengp.model.trend import check_trend, columns_of, follows, project, warn_of_trend

_PAPER_LOGS = (-7.0, 2.0)
"""Range of log lambda in the paper's grid."""

_MOST_LAMBDAS = 100_000
_NEEDS_NUGGET = (
    "lambda_max needs a fixed nugget, at least 1e-50: R is singular at theta = 0 without one."
)


def lambda_grid(
    kind: Literal["paper", "kkt"] = "paper", *, n: int = 41, lam_max: float | None = None
) -> FloatArray:
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

    Examples
    --------
    >>> from pengp import lambda_grid
    >>> [f"{lam:.4g}" for lam in lambda_grid("paper", n=4)]
    ['0', '0.0009119', '0.08208', '7.389']
    >>> lambda_grid("kkt", n=3, lam_max=0.5).round(4)
    array([0.    , 0.0005, 0.5   ])
    """
    n = check_count(n, "n", 1, _MOST_LAMBDAS)
    low, high = _PAPER_LOGS
    if check_choice(kind, "kind", ("paper", "kkt")) == "kkt":
        largest = as_floats(np.nan if lam_max is None else lam_max, "lam_max")
        if largest.size != 1 or not 0.0 < largest.item() < np.inf:
            raise InputError(
                "lambda_grid('kkt') needs lam_max > 0, one number from lambda_max(X, y)."
            )
        high = float(np.log(largest.item()))
        low = min(low, high + low)
    logs = np.linspace(high, low, n - 1)[::-1]  # from the top, which a grid of two values keeps
    return np.concatenate([[0.0], np.exp(logs)])


def lambda_max(
    X: ArrayOrArrays,
    y: ArrayOrArrays,
    *,
    kernel: KernelName | Kernel = "sqexp",
    isotropic: bool = False,
    nugget: float = 1e-5,
    mean: MeanLike = "zero",
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

    Examples
    --------
    >>> import numpy as np
    >>> from pengp import get_function, lambda_max, penalized_path
    >>> X = np.linspace(0, 1, 8)[:, None]
    >>> y = get_function("forrester")(X)
    >>> bound = lambda_max(X, y - y.mean())
    >>> round(float(bound), 3)
    1476.188
    >>> penalized_path(X, y - y.mean(), [1.01 * bound], random_state=0).modes
    Modes(1 local maximum, best objective -42.98)
    """
    g, trend = check_nugget(nugget), get_mean(mean)
    isotropic = check_flag(isotropic, "isotropic")
    if g is None or g < 1.0 / LARGEST_PARAMETER:
        raise InputError(_NEEDS_NUGGET)
    data = as_datasets(X, y)
    check_datasets(data, nugget=g)
    check_trend(data, trend)
    pairs = zip(data.X, data.y, strict=True)
    warn_of_trend(data, trend, [follows(trend, a[None], b[None])[0] for a, b in pairs])
    bounds = [
        kkt_bound(a, b, get_kernel(kernel), isotropic, g, trend)
        for a, b in zip(data.X, data.y, strict=True)
    ]
    return np.array(bounds).reshape(data.shape)


def kkt_bound(
    X: FloatArray, y: FloatArray, kernel: Kernel, isotropic: bool, g: float, mean: Mean
) -> float:
    """Return `lambda_max` of one data set X [n, d], y [n] that is known to be sound, nugget g.

    At theta = 0, R = J + g I, R^-1 = (I - J / (n + g)) / g (Sherman and Morrison), R_p =
    c D_p, and the gradient of the likelihood is a sum of quadratic forms and sums of D_p.
    """
    if g == 0.0:
        raise InputError(_NEEDS_NUGGET)
    n = len(y)
    alpha, duals, q = _at_zero(X, y, g, mean)
    if not q > 0.0:
        raise InputError("lambda_max is not defined, because y equals its prior mean everywhere.")
    slope = kernel.slope_at_zero()
    D = kernel.squares(X[:, None, :] - X[None, :, :], 2)
    forms = slope * np.einsum("i,ijp,j->p", alpha, D, alpha)
    traces = slope * -D.sum((0, 1)) / (g * (n + g))
    if mean.variance is not None:  # R is J + g I + variance F F', whose inverse is P
        traces -= slope * np.einsum("ki,ijp,kj->p", duals, D, duals)
    gradient = 0.5 * (n / q * forms - traces)
    return float(np.abs(gradient.sum() if isotropic else gradient).max() / n)


def _at_zero(
    X: FloatArray, y: FloatArray, g: float, mean: Mean
) -> tuple[FloatArray, FloatArray, float]:
    """Return P y [n], rows a_j [k, n] with P = R^-1 - sum_j a_j a_j', and y' P y at theta = 0."""
    n, basis = len(y), columns_of(mean, X[None], y[None])
    rows = np.concatenate([basis.z, basis.rows[0]])
    solved = (rows - rows.sum(1, keepdims=True) / (n + g)) / g
    k, z = len(rows) - 1, basis.z
    # A proper prior is k more runs, of the coefficients themselves, with response 0.
    more = np.zeros((k + 1, k)) if mean.variance is None else np.eye(k + 1, k, -1)
    scaled = more if mean.variance is None else more / mean.variance
    solved, rows = np.hstack([solved, scaled])[None], np.hstack([rows, more])[None]
    squares, _ = project(solved[:, 0], solved[:, 1:], rows[:, 1:], rows[:, 0], basis.carry.copy())
    duals = np.sqrt(squares[0])[:, None] * solved[0, 1:, :n]
    alpha: FloatArray = solved[0, 0, :n]
    return alpha, duals, float(z[0] @ alpha)
