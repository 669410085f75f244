"""What several studies share: their data, their surrogates, and rows of common kinds."""

import time
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Final, NamedTuple, ParamSpec, TypeVar

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.choosing.crossval import CVTable
from pengp.choosing.laws import NormalLaw
from pengp.choosing.scores import half_width
from pengp.choosing.validation import VALIDATION_SCORES
from pengp.datasets import load_piston_slap
from pengp.datasets.designs import scale_design
from pengp.datasets.functions import get_function
from pengp.model.kernels import get_kernel
from pengp.model.posterior import Posterior, condition
from pengp.model.scaling import InputScaler, ResponseScaler
from pengp.path.grids import lambda_grid
from pengp.path.penalized import PathFit
from pengp.study.task import Row

#: The paper's fixed nugget.
NUGGET = 1e-5
#: The paper's values of lambda [41].
LAMS = lambda_grid()
#: The paper's cross-validation metrics.
METRICS: Final = ("pe", "md", "score", "dpe")
#: What predictions of test runs are judged by.
SCORES = ("rmse", "crps", "coverage")

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Runs(NamedTuple):
    """Runs of a simulator, and how they were scaled."""

    X: FloatArray  # [n, d], in the unit cube
    y: FloatArray  # [n], standardised
    inputs: InputScaler
    response: ResponseScaler


def scaled_runs(X: FloatArray, y: FloatArray, bounds: FloatArray | None = None) -> Runs:
    """Scale runs X [n, d], y [n] as the paper does; the inputs by bounds [d, 2], else by range."""
    inputs, response = InputScaler.from_data(X, bounds), ResponseScaler.from_data(y)
    return Runs(inputs.transform(X), response.transform(y), inputs, response)


def forrester_runs() -> Runs:
    """Return the paper's 8 runs, equally spaced on [0, 1.25]."""
    function = get_function("forrester")
    X = scale_design(np.linspace(0.0, 1.0, 8)[:, None], function.bounds)
    return scaled_runs(X, function(X), function.bounds)


def piston_slap_runs() -> Runs:
    """Return the 12 piston-slap runs."""
    data = load_piston_slap()
    return scaled_runs(data.X, data.y)


def timed(function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> tuple[_T, float]:
    """Call a function; return its result and the seconds that it took."""
    start = time.perf_counter()
    result = function(*args, **kwargs)
    return result, time.perf_counter() - start


def surrogate_at(runs: Runs, path: PathFit, index: int) -> Posterior:
    """Return the surrogate of runs at the estimate of the path's lambda number ``index``."""
    return surrogate(runs.X, runs.y, path.theta[index], float(path.nugget[index]))


def surrogate(X: FloatArray, y: FloatArray, theta: FloatArray, nugget: float = NUGGET) -> Posterior:
    """Return the surrogate of runs X [n, d], y [n] at theta [d], with its estimate of sigma2."""
    return condition(X, y, theta, kernel=get_kernel("sqexp"), nugget=nugget)


def mean_and_std(posterior: Posterior, X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the predictive mean [m] and standard deviation [m] at X [m, d]."""
    mean, scaled_variance = posterior.predict(X)
    return mean, np.sqrt(posterior.sigma2 * scaled_variance)


def curve_rows(
    method: str, lam: float | None, metric: str, x: FloatArray, values: FloatArray, seconds: float
) -> Iterator[Row]:
    """Yield one row for each place x [m] of a curve with values [m]."""
    for place, value in zip(x.tolist(), values.tolist(), strict=True):
        yield Row(method, lam, metric, place, value, seconds)


def lam_rows(
    method: str, metric: str, lams: FloatArray, values: FloatArray, seconds: float
) -> Iterator[Row]:
    """Yield one row for each lambda [L] of a quantity with values [L]."""
    for lam, value in zip(lams.tolist(), values.tolist(), strict=True):
        yield Row(method, lam, metric, None, value, seconds)


def score_rows(
    method: str,
    lam: float,
    y: FloatArray,
    prediction: tuple[FloatArray, FloatArray],
    seconds: float,
) -> Iterator[Row]:
    """Yield the scores of a predictive mean and standard deviation, each [m], of y [m]."""
    law = NormalLaw(*prediction)
    for name in SCORES:
        yield Row(method, lam, name, None, VALIDATION_SCORES[name](y, law), seconds)


def surrogate_rows(
    method: str, lam: float, posterior: Posterior, X: FloatArray, seconds: float
) -> Iterator[Row]:
    """Yield the parameters of a surrogate of one input, and its 95 % intervals at X [m, 1]."""
    n, diagonal = len(posterior.y), np.diagonal(posterior.L)
    loglik = -0.5 * n * np.log(n * posterior.sigma2) - np.log(diagonal).sum()
    mean, std = mean_and_std(posterior, X)
    half = half_width(0.95) * std
    parameters = {
        "theta": posterior.theta[0],
        "sigma2": posterior.sigma2,
        "nugget": posterior.nugget,
        "loglik": loglik,
    }
    for metric, value in parameters.items():
        yield Row(method, lam, metric, None, float(value), seconds)
    for metric, values in {"mean": mean, "lower": mean - half, "upper": mean + half}.items():
        yield from curve_rows(method, lam, metric, X[:, 0], values, seconds)


def cv_curve_rows(table: CVTable, seconds: float) -> Iterator[Row]:
    """Yield the mean over folds and its standard error, by metric and lambda."""
    for metric in METRICS:
        yield from lam_rows(metric, "cv_mean", table.lams, table.mean_of(metric), seconds)
        yield from lam_rows(metric, "cv_se", table.lams, table.se_of(metric), seconds)


def choice_rows(table: CVTable, seconds: float) -> Iterator[Row]:
    """Yield the lambda that each metric chooses, alone and with the one-standard-error rule."""
    for metric in METRICS:
        for method, lam in ((metric, table.best(metric)), (f"{metric}_1se", table.one_se(metric))):
            yield Row(method, lam, "chosen", None, lam, seconds)


def fold_rows(table: CVTable, seconds: float) -> Iterator[Row]:
    """Yield the fold of each run."""
    labels = table.plan.labels[0] + 1.0
    yield from curve_rows("folds", None, "fold", counted(labels), labels, seconds)


def fold_theta_rows(table: CVTable, seconds: float) -> Iterator[Row]:
    """Yield the estimates of one theta, by lambda and fold, and their means over the folds."""
    theta = table.theta[:, :, 0]
    for lam, estimates in zip(table.lams.tolist(), theta, strict=True):
        yield from curve_rows("folds", lam, "theta", counted(estimates), estimates, seconds)
    yield from lam_rows("folds", "theta_mean", table.lams, theta.mean(axis=1), seconds)


def counted(items: Sized) -> FloatArray:
    """Return 1, 2, ... for the items."""
    return np.arange(1.0, len(items) + 1.0)


def chained(*parts: Iterable[Row]) -> list[Row]:
    """Return the rows of all parts."""
    return [row for part in parts for row in part]
