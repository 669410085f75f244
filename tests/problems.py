"""Data sets and slow formulas that several test modules share."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.datasets import load_piston_slap
from pengp.model.kernels import KERNELS
from pengp.path.penalties import PENALTIES, Penalty

DATA = Path(__file__).parent / "data"
NUGGET = 1e-5

#: Correlations typed again, as functions of a distance h = sqrt(s).
CORRELATIONS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "sqexp": lambda h: np.exp(-(h**2)),
    "matern52": lambda h: (1 + 5**0.5 * h + 5 / 3 * h**2) * np.exp(-(5**0.5) * h),
    "matern32": lambda h: (1 + 3**0.5 * h) * np.exp(-(3**0.5) * h),
}

#: Those that fall to 0 far away, which a nearly additive one does not.
VANISHING = [name for name in KERNELS if name != "matern52_additive"]

#: Bases of the means, typed again: [n, d] -> [n, k].
BASES: dict[str, Callable[[FloatArray], FloatArray]] = {
    "zero": lambda X: np.zeros((len(X), 0)),
    "constant": lambda X: np.ones((len(X), 1)),
    "linear": lambda X: np.array([[1.0, *x] for x in X]),
}

#: The penalties that are sums over the inputs, by name.
SEPARABLE: dict[str, Penalty] = {
    name: penalty for name, penalty in PENALTIES.items() if not hasattr(penalty, "for_runs")
}


def reference() -> dict[str, dict[str, Any]]:
    """Return the records of the authors' R package by name of data set."""
    return {r["name"]: r for r in json.loads((DATA / "gppenalty.json").read_text())}


def forrester_runs() -> tuple[FloatArray, FloatArray]:
    """Return the paper's 8 runs, equally spaced on [0, 1.25]: inputs on [0, 1], y standardised."""
    x = np.linspace(0.0, 1.25, 8)
    y = (6.0 * x - 2.0) ** 2 * np.sin(12.0 * x - 4.0)
    return np.linspace(0.0, 1.0, 8)[:, None], (y - y.mean()) / y.std(ddof=1)


def piston_slap_runs() -> tuple[FloatArray, FloatArray]:
    """Return the 12 piston-slap runs, inputs scaled by column, y standardised."""
    data = load_piston_slap()
    X, y = data.X, data.y
    low, high = X.min(0), X.max(0)
    return (X - low) / (high - low), (y - y.mean()) / y.std(ddof=1)


def smooth_runs(n: int, d: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Return n random runs of a smooth function of d inputs, centred."""
    rng = np.random.default_rng([n, d, seed])
    X = rng.random((n, d))
    y = np.sin(6.0 * X[:, 0]) + (X**2 @ np.arange(1.0, d + 1.0)) / d
    return X, (y - y.mean()) / y.std(ddof=1)


def correlated(x: FloatArray, z: FloatArray, theta: FloatArray, kernel: str) -> float:
    """Return the correlation of two inputs [d]: of their distance, or a product over inputs."""
    name, _, product = kernel.partition("_")
    h = np.sqrt(theta) * np.abs(x - z)
    if not product:
        return float(CORRELATIONS[name](np.sqrt(h @ h)))
    each = CORRELATIONS[name](h)
    return float(((8 + each) / 9 if product == "additive" else each).prod())


def correlation(X: FloatArray, theta: FloatArray, nugget: float, kernel: str) -> FloatArray:
    """Return R by a double loop."""
    n = len(X)
    R = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            R[i, j] = correlated(X[i], X[j], theta, kernel) + nugget * (i == j)
    return R


def slow_loglik(
    X: FloatArray,
    y: FloatArray,
    theta: FloatArray,
    nugget: float = NUGGET,
    kernel: str = "sqexp",
    mean: str = "zero",
) -> tuple[float, float, float]:
    """Return log likelihood, sigma2 and average prior mean at theta [d], by plain formulas."""
    n, F = len(y), BASES[mean](X)
    R = correlation(X, theta, nugget, kernel)
    beta = np.linalg.solve(F.T @ np.linalg.solve(R, F), F.T @ np.linalg.solve(R, y))
    r = y - F @ beta
    sigma2 = float(r @ np.linalg.solve(R, r) / n)
    value = -0.5 * n * np.log(n * sigma2) - 0.5 * np.linalg.slogdet(R)[1]
    return float(value), sigma2, float((F @ beta).mean())
