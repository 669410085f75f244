"""The paper's search in cross-validation: ten random starts for every fold and lambda.

The paper does not say whether the lambdas of a fold share their ten starts, so half of the seeds
draw them anew for every lambda and half keep them.

Where a search ends follows from its start. The starts are therefore taken from `PLACES` equally
spaced values of log theta, the ends of all of them are found once, and a seed only has to say which
ten a fold and a lambda start from.
"""

from collections.abc import Iterator
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline

from pengp._core.arrays import FloatArray, IntArray
from pengp.choosing.folds import random_folds
from pengp.choosing.metrics import fold_metrics
from pengp.choosing.rules import best_index, one_se_index
from pengp.model.folded import batch_predict
from pengp.model.kernels import get_kernel
from pengp.model.profile import profile_loglik
from pengp.study.rows import LAMS, METRICS, NUGGET, counted, forrester_runs, timed
from pengp.study.task import Row, Task
from pengp.study.ten_starts import BOUNDS, LOG_RANGE, STARTS, climb

#: Different starts, and seeds (n-fold) or draws of four folds, the paper's twenty, in a task.
PLACES, SEEDS = 32, 20
#: Values of log theta between which the likelihood is interpolated.
_KNOTS = np.linspace(np.log(BOUNDS[0]), np.log(BOUNDS[1]), 4001)
#: The paper's 0.073, beyond which theta-hat collapses.
EDGE = 0.0735

Fold = tuple[int, ...]


class Ends(NamedTuple):
    """Where the searches of a fold end, by lambda and start."""

    objective: FloatArray  # [L, PLACES]
    theta: FloatArray  # [L, PLACES]
    values: FloatArray  # [metrics, L, PLACES], those of `METRICS` of the held-out runs


@cache
def ends_of(fold: Fold) -> Ends:
    """Return where the searches from all starts end without the runs of a fold."""
    runs, held_out = forrester_runs(), list(fold)
    X, y = np.delete(runs.X, held_out, axis=0), np.delete(runs.y, held_out)
    objective, theta = _climbed(X, y)
    flat = theta.reshape(-1, 1)

    def repeated(values: FloatArray) -> FloatArray:
        return np.broadcast_to(values, (len(flat), *values.shape))

    inputs = (repeated(X), repeated(y), repeated(runs.X[held_out]))
    found = batch_predict(*inputs, flat, kernel=get_kernel("sqexp"), nugget=NUGGET)
    values = fold_metrics(runs.y[held_out] - found.mean, found.scaled_cov, found.sigma2, METRICS)
    stacked = np.array([values[metric].reshape(theta.shape) for metric in METRICS])
    return Ends(objective, theta, stacked)


def _climbed(X: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the objective [L, PLACES] and theta [L, PLACES] at the ends, runs X [n, 1], y [n]."""
    loglik = profile_loglik(X, y, np.exp(_KNOTS)[:, None], nugget=NUGGET).value
    pieces = CubicSpline(_KNOTS, loglik).c.T.tolist()
    first, step = float(_KNOTS[0]), float(_KNOTS[1] - _KNOTS[0])
    weights, last = (len(y) * LAMS).tolist(), len(pieces) - 1

    def negative(at: FloatArray, weight: float) -> tuple[float, list[float]]:
        theta = float(at[0])
        u = np.log(theta) - first
        i = min(max(int(u / step), 0), last)
        (a, b, c, d), t = pieces[i], u - i * step
        slope = ((3.0 * a * t + 2.0 * b) * t + c) / theta
        return weight * theta - (((a * t + b) * t + c) * t + d), [weight - slope]

    width = (LOG_RANGE[1] - LOG_RANGE[0]) / PLACES
    starts = np.exp(LOG_RANGE[0] + width * (np.arange(PLACES) + 0.5))
    found = [
        [climb(partial(negative, weight=w), start) for start in starts[:, None]] for w in weights
    ]
    objective = [[-value for value, _ in ends] for ends in found]
    return np.array(objective), np.array([[theta[0] for _, theta in ends] for ends in found])


def searched(folds: list[Fold], rng: np.random.Generator, anew: bool) -> FloatArray:
    """Return the metrics [metrics, L, folds] at the best of ten random starts.

    ``anew`` draws the starts for every lambda; otherwise the lambdas of a fold share them.
    """
    columns = []
    for fold in folds:
        ends, rows = ends_of(fold), np.arange(len(LAMS))
        starts: IntArray = rng.integers(PLACES, size=(len(LAMS) if anew else 1, STARTS))
        starts = np.broadcast_to(starts, (len(LAMS), STARTS))
        best = np.take_along_axis(ends.objective, starts, axis=1).argmax(axis=1)
        columns.append(ends.values[:, rows, starts[rows, best]])
    return np.stack(columns, axis=-1)


def is_rising(means: FloatArray) -> bool:
    """Return whether a curve [L] is higher at every lambda > 0.073 than at every smaller one."""
    return bool(means[LAMS > EDGE].min() > means[LAMS <= EDGE].max())


def _chosen(metric: str, values: FloatArray, x: float, seconds: float) -> Iterator[Row]:
    """Yield what a metric with values [L, folds] chooses, and whether its curve rises."""
    for method, index in (
        (metric, best_index(values, LAMS)),
        (f"{metric}_1se", one_se_index(LAMS, values)),
    ):
        yield Row(method, None, "chosen", x, float(LAMS[index]), seconds)
    yield Row(metric, None, "rising", x, float(is_rising(values.mean(axis=1))), seconds)


def search_leave_one_out(task: Task) -> list[Row]:
    """Return what n-fold cross-validation on PE chooses in twenty seeds of the paper's search."""
    rng, rows = np.random.default_rng(task.seed), list[Row]()
    folds: list[Fold] = [(run,) for run in range(len(forrester_runs().y))]
    for seed in counted(range(SEEDS)).tolist():
        values, seconds = timed(searched, folds, rng, seed % 2 == 1)
        pe = values[METRICS.index("pe")]
        rows += _chosen("pe", pe, seed, seconds)
        span = pe.max(axis=0) - pe.min(axis=0)
        about = {
            "best_7": LAMS[pe[:, 6].argmin()],
            "ratio_8": pe[:, 7].max() / pe[:, 7].min(),
            "largest_span": span.argmax() + 1.0,
            "second_largest": pe.mean(axis=0).argsort()[-2] + 1.0,
        }
        rows += [Row("fold", None, m, seed, float(v), seconds) for m, v in about.items()]
    return rows


def search_folds(task: Task) -> list[Row]:
    """Return what twenty random draws of four folds choose with the paper's search."""
    rng, rows = np.random.default_rng(task.seed), list[Row]()
    for draw in counted(range(SEEDS)).tolist():
        plan = random_folds(len(forrester_runs().y), 4, random_state=rng)
        folds = [tuple(sorted(test.tolist())) for test in plan.test]
        values, seconds = timed(searched, folds, rng, task.repetition % 2 == 0)
        for metric, table in zip(METRICS, values, strict=True):
            rows += _chosen(metric, table, draw, seconds)
    return rows
