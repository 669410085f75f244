"""One evaluation of the profile likelihood after the other, as an optimiser takes them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from benchmarks.rivals import libkriging
from benchmarks.timing import line, race, verdict
from pengp import ProfileLikelihood, profile_loglik
from pengp._core.arrays import FloatArray
from pengp.datasets.functions import FUNCTIONS

_CALLS = 200
"""Evaluations that are timed together."""


def single_evaluations(repeats: int = 51) -> None:
    """Compare a loop of single evaluations, value only, to compiled ones and to plain LAPACK."""
    print("(f) single evaluations of the profile likelihood, constant mean")
    for name, n in (("lim", 12), ("lim", 20), ("borehole", 40)):
        f = FUNCTIONS[name]
        X = np.random.default_rng(0).random((n, f.dimension))
        y = f.unit(X)
        _compare(f"n = {n}, d = {f.dimension}", X, (y - y.mean()) / y.std(), repeats)


def _compare(label: str, X: FloatArray, y: FloatArray, repeats: int) -> None:
    """Print the times and ratios of one data set."""
    thetas = np.exp(np.random.default_rng(1).uniform(-1.0, 2.0, (_CALLS, X.shape[1])))
    prepared, plain = ProfileLikelihood(X, y, mean="constant"), _lapack(X, y)
    rival = libkriging(X, y, 1)
    runners: dict[str, Callable[[int], Any]] = {
        "pengp, value": lambda k: [prepared(t, derivatives=False) for t in thetas],
        "pengp, gradient and Hessian": lambda k: [prepared(t) for t in thetas],
        "pengp, all in one call": lambda k: prepared(thetas, derivatives=False),
        "pengp, profile_loglik with Hessian": lambda k: [
            profile_loglik(X, y, t, mean="constant") for t in thetas[:20]
        ],
        "LAPACK by hand, value": lambda k: [plain(t) for t in thetas],
    }
    if rival is not None:  # its lengthscales l are those of exp(-(x / l)^2 / 2)
        scales = 1.0 / np.sqrt(2.0 * thetas)
        runners["pylibkriging, value"] = lambda k: [
            rival.logLikelihoodFun(s, False, False) for s in scales
        ]
    seconds = race(runners, repeats)
    each = {name: t / (20 if "profile" in name else _CALLS) for name, t in seconds.items()}
    for name, t in each.items():
        line(f"{name}, {label}", t, "for each")
    for against in ("LAPACK by hand, value", "pylibkriging, value"):
        if against in each:
            ratio = each["pengp, value"] / each[against]
            verdict(f"value / {against}, {label}", ratio, "at most 6", ratio <= 6.0)


def _lapack(X: FloatArray, y: FloatArray) -> Callable[[FloatArray], float]:
    """Return the same likelihood, written down for one data set and one kernel."""
    n = len(y)
    D = ((X[:, None] - X[None]) ** 2).reshape(n * n, -1)
    right = np.column_stack([y, np.ones(n)])

    def value(theta: FloatArray) -> float:
        R = np.exp(-(D @ theta)).reshape(n, n)
        R.flat[:: n + 1] += 1e-5
        L, _ = dpotrf(R, 1, 1, 1)
        solved, _ = dpotrs(L, right, 1)
        mu = solved[:, 1] @ y / solved[:, 1].sum()
        q = y @ (solved[:, 0] - mu * solved[:, 1])
        return float(-0.5 * n * np.log(q) - np.log(np.diagonal(L)).sum())

    return value
