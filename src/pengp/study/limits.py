"""The limits of Section 3 and Appendices A and B: the paper's formulas against the computation.

The data are the Forrester runs, centred. With theta to 0, R tends to J + g I; with theta to
infinity to (1 + g) I. Where the paper drops g beside n_t or 1, its form is the "approximation".
Section 3 leaves out the factor 1/n of sigma2, and at theta = 0 the factor g of the predictive
covariance, which Appendix B has; the formulas here have both.
"""

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.choosing.metrics import fold_metrics
from pengp.model.folded import batch_predict
from pengp.model.kernels import correlation_matrix, get_kernel
from pengp.model.profile import profile_loglik
from pengp.path.grids import lambda_max
from pengp.study.model_draws import model_draws
from pengp.study.printed_formulas import printed_formulas
from pengp.study.rows import (
    METRICS,
    NUGGET,
    Runs,
    chained,
    curve_rows,
    forrester_runs,
    piston_slap_runs,
    surrogate,
    timed,
)
from pengp.study.task import Row, Task

#: Ways to the limits.
TO_ZERO = 10.0 ** np.array([0.0, -1.0, -3.0, -5.0, -7.0, -9.0, -11.0])
TO_INFINITY = np.array([1.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 10000.0])

_APART = 4  # a fold holds out runs k and k + 4
_AT_RUN = 6  # run 7


def limit_at_zero(y_t: FloatArray, y_v: FloatArray, g: float, beside: float) -> dict[str, float]:
    """Return the limits at theta = 0 for training runs y_t [n_t] and held-out runs y_v [v].

    ``beside`` is the g beside n_t: g itself, or 0 for the paper's approximations. The forms
    of MD, Score and DPE hold for responses whose mean over all runs is 0.
    """
    n_t, v = len(y_t), len(y_v)
    m = n_t + beside
    mu = n_t * y_t.mean() / m
    squares = y_t @ y_t - n_t**2 / m * y_t.mean() ** 2  # y' (I - J / (n_t + g)) y
    distance = y_v @ y_v + v**2 / m * y_v.mean() ** 2
    log_ratio = np.log(1.0 + v / m)
    md = n_t * distance / squares
    return {
        "inverse_diagonal": (1.0 - 1.0 / m) / g,
        "inverse_off_diagonal": -1.0 / (m * g),
        "mean": mu,
        "scaled_variance": g * (1.0 + 1.0 / m),
        "scaled_covariance": g / m,
        "log_determinant": log_ratio + v * np.log(g),
        "sigma2": squares / (n_t * g),
        "pe": ((y_v - mu) ** 2).sum(),
        "md": md,
        "score": md + v * np.log(squares / n_t) + log_ratio,
        "dpe": distance / g,
    }


def limit_at_infinity(
    y_t: FloatArray, y_v: FloatArray, g: float, beside: float
) -> dict[str, float]:
    """Return the limits for theta to infinity, where every R is a multiple of the identity.

    ``beside`` is the g beside 1: g itself, or 0 for the paper's approximations.
    """
    n_t, v = len(y_t), len(y_v)
    md = n_t * (y_v @ y_v) / (y_t @ y_t)
    return {
        "inverse_diagonal": 1.0 / (1.0 + beside),
        "inverse_off_diagonal": 0.0,
        "mean": 0.0,
        "scaled_variance": 1.0 + beside,
        "scaled_covariance": 0.0,
        "log_determinant": v * np.log1p(beside),
        "sigma2": y_t @ y_t / (n_t * (1.0 + beside)),
        "pe": y_v @ y_v,
        "md": md,
        "score": md + v * np.log(y_t @ y_t / n_t),
        "dpe": y_v @ y_v / (1.0 + beside),
    }


def computed(runs: Runs, test: list[int], thetas: FloatArray) -> dict[str, FloatArray]:
    """Return the same quantities, [T] each, as the package computes them at thetas [T]."""
    held_out = np.isin(np.arange(len(runs.y)), test)
    X, y = (np.repeat(a[None], len(thetas), axis=0) for a in (runs.X, runs.y))
    theta, kernel = thetas[:, None], get_kernel("sqexp")
    X_t, X_v, y_t = X[:, ~held_out], X[:, held_out], y[:, ~held_out]
    inverse = np.linalg.inv(correlation_matrix(X_t, theta, np.full(len(thetas), NUGGET), kernel))
    found = batch_predict(X_t, y_t, X_v, theta, kernel=kernel, nugget=NUGGET)
    r = y[:, held_out] - found.mean
    metrics = fold_metrics(r, found.scaled_cov, found.sigma2, METRICS)
    return {
        "inverse_diagonal": inverse[:, 0, 0],
        "inverse_off_diagonal": inverse[:, 0, 1],
        "mean": found.mean[:, 0],
        "scaled_variance": found.scaled_cov[:, 0, 0],
        "scaled_covariance": found.scaled_cov[:, 0, -1],
        "log_determinant": np.linalg.slogdet(found.scaled_cov)[1],
        "sigma2": found.sigma2,
        **metrics,
    }


def held_out_fold(task: Task) -> list[Row]:
    """Return the limits for one of four folds of two runs."""
    runs, test = forrester_runs(), [task.repetition, task.repetition + _APART]
    limit, thetas, approximated = _WAYS[task.function]
    y_t, y_v = np.delete(runs.y, test), runs.y[test]
    found, seconds = timed(computed, runs, test, thetas)
    simpler = limit(y_t, y_v, NUGGET, 0.0)
    return chained(
        _constants("formula", limit(y_t, y_v, NUGGET, NUGGET)),
        _constants("approximation", {name: simpler[name] for name in approximated}),
        _curves(thetas, found, seconds),
    )


def held_out_run(task: Task) -> list[Row]:
    """Return the limit of PE for one run, y_k^2 ((n + g) / (n - 1 + g))^2."""
    runs, test = forrester_runs(), [task.repetition]
    n, y_k = len(runs.y), float(runs.y[task.repetition])
    limit = y_k**2 * ((n + NUGGET) / (n - 1 + NUGGET)) ** 2
    found, seconds = timed(computed, runs, test, TO_ZERO)
    return chained(
        _constants("formula", {"pe": limit}), _curves(TO_ZERO, {"pe": found["pe"]}, seconds)
    )


def all_runs_at_zero(task: Task) -> list[Row]:
    """Return the limits of the surrogate from all runs at theta = 0."""
    y, g = forrester_runs().y, NUGGET
    n = len(y)
    sigma2 = (y @ y - y.sum() ** 2 / (n + g)) / (n * g)
    scaled_variance = g * (1.0 + 1.0 / (n + g))
    limit = {
        "sigma2": sigma2,
        "mean": n * y.mean() / (n + g),
        "scaled_variance": scaled_variance,
        "variance": sigma2 * scaled_variance,
    }
    found, seconds = timed(computed_between_runs, TO_ZERO)
    return chained(_constants("formula", limit), _curves(TO_ZERO, found, seconds))


def all_runs_at_infinity(task: Task) -> list[Row]:
    """Return the limits of the surrogate from all runs for theta to infinity."""
    y, g = forrester_runs().y, NUGGET
    mean_square, y_i = y @ y / len(y), y[_AT_RUN]
    limit = {
        "sigma2": mean_square / (1.0 + g),
        "mean": 0.0,
        "scaled_variance": 1.0 + g,
        "variance": mean_square,
        "mean_at_run": y_i / (1.0 + g),
        "scaled_variance_at_run": 1.0 + g - 1.0 / (1.0 + g),
    }
    simpler = {
        "sigma2": mean_square,
        "scaled_variance": 1.0,
        "mean_at_run": y_i,
        "scaled_variance_at_run": 0.0,
    }
    (found, at_run), seconds = timed(
        lambda: (computed_between_runs(TO_INFINITY), computed_at_run(TO_INFINITY))
    )
    return chained(
        _constants("formula", limit),
        _constants("approximation", simpler),
        _curves(TO_INFINITY, found | at_run, seconds),
    )


def computed_between_runs(thetas: FloatArray) -> dict[str, FloatArray]:
    """Return sigma2 and the prediction midway between the first two runs, at thetas [T]."""
    runs = forrester_runs()
    fitted = [surrogate(runs.X, runs.y, np.array([theta])) for theta in thetas]
    sigma2 = np.array([posterior.sigma2 for posterior in fitted])
    mean, variance = np.array([p.predict(runs.X[:2].mean(axis=0)[None]) for p in fitted])[..., 0].T
    return {
        "sigma2": sigma2,
        "mean": mean,
        "scaled_variance": variance,
        "variance": sigma2 * variance,
    }


def computed_at_run(thetas: FloatArray) -> dict[str, FloatArray]:
    """Return the prediction at one of the runs, at thetas [T]."""
    runs = forrester_runs()
    fitted = [surrogate(runs.X, runs.y, np.array([theta])) for theta in thetas]
    mean, variance = np.array([p.predict(runs.X[[_AT_RUN]]) for p in fitted])[..., 0].T
    return {"mean_at_run": mean, "scaled_variance_at_run": variance}


def largest_lambda(task: Task) -> list[Row]:
    """Return the KKT bound, max_p |d log L / d theta_p| / n at theta = 0, and on the way there."""
    runs = forrester_runs() if task.function == "kkt-forrester" else piston_slap_runs()
    n, d = runs.X.shape
    theta = np.repeat(TO_ZERO[:, None], d, axis=1)
    loglik, seconds = timed(profile_loglik, runs.X, runs.y, theta, nugget=NUGGET)
    slopes = loglik.gradient[:, :d] / theta  # from log theta to theta; the nugget's comes last
    bound = float(lambda_max(runs.X, runs.y, nugget=NUGGET))
    return chained(
        _constants("formula", {"lambda_max": bound}),
        _curves(TO_ZERO, {"lambda_max": np.abs(slopes).max(axis=1) / n}, seconds),
    )


def _constants(method: str, values: Mapping[str, float]) -> Iterator[Row]:
    """Yield limits by metric."""
    for metric, value in values.items():
        yield Row(method, None, metric, None, float(value), 0.0)


def _curves(thetas: FloatArray, found: Mapping[str, FloatArray], seconds: float) -> Iterator[Row]:
    """Yield computed quantities [T] by metric and theta."""
    for metric, values in found.items():
        yield from curve_rows("computed", None, metric, thetas, values, seconds)


#: Limit, way to it, and the quantities of which the paper gives a simpler form.
_WAYS = {
    "zero": (limit_at_zero, TO_ZERO, ("md", "score", "dpe")),
    "infinity": (
        limit_at_infinity,
        TO_INFINITY,
        ("inverse_diagonal", "scaled_variance", "sigma2", "dpe"),
    ),
}

#: What runs each part.
PARTS: dict[str, Callable[[Task], list[Row]]] = {
    "zero": held_out_fold,
    "infinity": held_out_fold,
    "zero-loo": held_out_run,
    "zero-runs": all_runs_at_zero,
    "infinity-runs": all_runs_at_infinity,
    "kkt-forrester": largest_lambda,
    "kkt-piston-slap": largest_lambda,
    "model": model_draws,
    "printed-formulas": printed_formulas,
}
