"""Data sets and slow formulas that several test modules share."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.datasets import load_piston_slap

DATA = Path(__file__).parent / "data"
NUGGET = 1e-5

#: Correlations typed again, as functions of a distance h = sqrt(s).
CORRELATIONS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "sqexp": lambda h: np.exp(-(h**2)),
    "matern52": lambda h: (1 + 5**0.5 * h + 5 / 3 * h**2) * np.exp(-(5**0.5) * h),
    "matern32": lambda h: (1 + 3**0.5 * h) * np.exp(-(3**0.5) * h),
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


def correlation(X: FloatArray, theta: FloatArray, nugget: float, kernel: str) -> FloatArray:
    """Return R by a double loop."""
    n = len(X)
    R = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            h = np.sqrt((theta * (X[i] - X[j]) ** 2).sum())
            R[i, j] = CORRELATIONS[kernel](h) + nugget * (i == j)
    return R


def slow_loglik(
    X: FloatArray,
    y: FloatArray,
    theta: FloatArray,
    nugget: float = NUGGET,
    kernel: str = "sqexp",
    constant_mean: bool = False,
) -> tuple[float, float, float]:
    """Return profile log likelihood, sigma2 and mean at theta [d] by plain dense formulas."""
    n, one = len(y), np.ones(len(y))
    R = correlation(X, theta, nugget, kernel)
    mean = 0.0
    if constant_mean:
        mean = float(one @ np.linalg.solve(R, y) / (one @ np.linalg.solve(R, one)))
    sigma2 = float((y - mean) @ np.linalg.solve(R, y - mean) / n)
    value = -0.5 * n * np.log(n * sigma2) - 0.5 * np.linalg.slogdet(R)[1]
    return float(value), sigma2, mean
