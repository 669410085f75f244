"""The Forrester example of Sections 1 and 3: what Figures 1 to 5 show."""

from collections.abc import Callable, Iterator

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.choosing.crossval import CVTable, cross_validate_path
from pengp.choosing.folds import FoldPlan, random_folds
from pengp.choosing.folds import leave_one_out as leave_one_out_folds
from pengp.choosing.rules import RuleName
from pengp.datasets.designs import scale_design
from pengp.datasets.functions import get_function
from pengp.model.profile import profile_loglik
from pengp.path.fitting import NUGGET_BOUNDS
from pengp.path.penalized import PathFit, penalized_path
from pengp.study.paper_search import is_rising, search_folds, search_leave_one_out
from pengp.study.partitions import PARTITION_METRICS, partition_table
from pengp.study.rows import (
    LAMS,
    METRICS,
    NUGGET,
    Runs,
    chained,
    choice_rows,
    counted,
    curve_rows,
    cv_curve_rows,
    fold_rows,
    fold_theta_rows,
    forrester_runs,
    lam_rows,
    mean_and_std,
    surrogate,
    surrogate_at,
    surrogate_rows,
    timed,
)
from pengp.study.task import Row, Task

#: The penalty of Figure 1(d), which the grid does not hold.
EXAMPLE_LAM = 0.005
#: The estimate of Figure 1(c); the likelihood is flat around it, in theta and in the nugget.
PRINTED_THETA = 922.203
#: The estimates of Figures 1(d) and 1(e), as printed.
PRINTED_PENALIZED, PRINTED_NFOLD = 27.444, 10.565
#: Indices of the lambdas that the paper prints for Figures 1(e), 0.0231, and 3(b), 0.0461.
PRINTED_BEST, PRINTED_FOLD_BEST = 15, 18
FOLDS = 4
#: The run of Figure 3(b), counted from 0.
_HELD_OUT = 6

_THETAS = np.logspace(-3.0, 3.0, 241)
_INPUTS = np.linspace(0.0, 1.0, 281)[:, None]  # 40 steps from run to run
_ZOOM_POINTS, _ZOOMS = 25, 6


def profiles(task: Task) -> list[Row]:
    """Return the profile log likelihoods of Figure 1(a)."""
    runs = forrester_runs()
    (without, seconds), (fixed, fixed_seconds) = (
        timed(profile_loglik, runs.X, runs.y, _THETAS[:, None], nugget=g) for g in (0.0, NUGGET)
    )
    (nugget, loglik), zoom_seconds = timed(best_nugget, runs, _THETAS)
    Q = fixed.value - len(runs.y) * EXAMPLE_LAM * _THETAS
    return chained(
        curve_rows("no_nugget", None, "loglik", _THETAS, without.value, seconds),
        curve_rows("fixed_nugget", None, "loglik", _THETAS, fixed.value, fixed_seconds),
        curve_rows("estimated_nugget", None, "loglik", _THETAS, loglik, zoom_seconds),
        curve_rows("estimated_nugget", None, "nugget", _THETAS, nugget, zoom_seconds),
        curve_rows("penalized", EXAMPLE_LAM, "objective", _THETAS, Q, fixed_seconds),
    )


def best_nugget(runs: Runs, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the most likely nugget [T] and its log likelihood [T] at each theta [T].

    The range of log g is cut into steps, and the two beside the best point become the next range.
    """
    low, high = (np.full(len(theta), end) for end in np.log(NUGGET_BOUNDS))
    every = np.arange(len(theta))
    for _ in range(_ZOOMS):
        logs = np.linspace(low, high, _ZOOM_POINTS, axis=1)  # [T, points]
        found = profile_loglik(runs.X, runs.y, theta[:, None, None], nugget=np.exp(logs)).value
        best = found.argmax(axis=1)
        low = logs[every, np.maximum(best - 1, 0)]
        high = logs[every, np.minimum(best + 1, _ZOOM_POINTS - 1)]
    return np.exp(logs[every, best]), found[every, best]


def surrogates(task: Task) -> list[Row]:
    """Return the surrogates of Figure 1(b) to 1(f), the function and the runs."""
    runs = forrester_runs()
    table = _table(runs, leave_one_out_folds(len(runs.y)), task.seed)
    lams = {
        "mle": 0.0,
        "pmle": EXAMPLE_LAM,
        "pe": table.best("pe"),
        "pe_printed": float(LAMS[PRINTED_BEST]),
        "pe_1se": table.one_se("pe"),
    }
    path, seconds = timed(_path, runs, np.array(list(lams.values())), task.seed)
    fitted = [
        (method, lam, surrogate_at(runs, path, i)) for i, (method, lam) in enumerate(lams.items())
    ]
    fitted += [
        (method, lams[method.removesuffix("_theta")], surrogate(runs.X, runs.y, np.array([theta])))
        for method, theta in (
            ("pmle_theta", PRINTED_PENALIZED),
            ("pe_printed_theta", PRINTED_NFOLD),
        )
    ]
    return chained(
        *(surrogate_rows(*each, _INPUTS, seconds) for each in fitted),
        _estimated_nugget(runs, task.seed),
        curve_rows("truth", None, "response", _INPUTS[:, 0], _truth(runs, _INPUTS), 0.0),
        curve_rows("runs", None, "response", runs.X[:, 0], runs.y, 0.0),
    )


def _estimated_nugget(runs: Runs, seed: int) -> Iterator[Row]:
    """Yield the surrogate with an estimated nugget, found and at the theta that is printed."""
    path, seconds = timed(
        penalized_path, runs.X, runs.y, [0.0], nugget="estimate", random_state=seed
    )
    yield from surrogate_rows("mle_nugget", 0.0, surrogate_at(runs, path, 0), _INPUTS, seconds)
    theta = np.array([PRINTED_THETA])
    (nugget, _), seconds = timed(best_nugget, runs, theta)
    printed = surrogate(runs.X, runs.y, theta, float(nugget[0]))
    yield from surrogate_rows("mle_nugget_printed", 0.0, printed, _INPUTS, seconds)


def _truth(runs: Runs, X: FloatArray) -> FloatArray:
    """Return the function [m], standardised as the runs are, at inputs X [m, 1] in [0, 1]."""
    function = get_function("forrester")
    return runs.response.transform(function(scale_design(X, function.bounds)))


def leave_one_out(task: Task) -> list[Row]:
    """Return the n-fold cross-validation, and the surrogate without run 7 (Figures 2 and 3)."""
    runs = forrester_runs()
    table, seconds = timed(_table, runs, leave_one_out_folds(len(runs.y)), task.seed)
    lowest = table.values["pe"].argmin(axis=0)
    return chained(
        cv_curve_rows(table, seconds),
        _each_fold(table, seconds),
        choice_rows(table, seconds),
        fold_rows(table, seconds),
        fold_theta_rows(table, seconds),
        curve_rows("fold", None, "chosen", counted(lowest), LAMS[lowest], seconds),
        _without_run(runs, table, "without_7", int(lowest[_HELD_OUT]), seconds),
        _without_run(runs, table, "without_7_printed", PRINTED_FOLD_BEST, seconds),
    )


def _each_fold(table: CVTable, seconds: float) -> Iterator[Row]:
    """Yield the metrics of each fold, by lambda."""
    for metric in METRICS:
        for lam, values in zip(table.lams.tolist(), table.values[metric], strict=True):
            yield from curve_rows(metric, lam, "cv_fold", counted(values), values, seconds)


def _without_run(
    runs: Runs, table: CVTable, method: str, index: int, seconds: float
) -> Iterator[Row]:
    """Yield the surrogate of Figure 3(b) from all runs but one, at a lambda's index."""
    X, y = np.delete(runs.X, _HELD_OUT, axis=0), np.delete(runs.y, _HELD_OUT)
    posterior, lam = surrogate(X, y, table.theta[index, _HELD_OUT]), float(table.lams[index])
    yield from surrogate_rows(method, lam, posterior, _INPUTS, seconds)
    x = float(runs.X[_HELD_OUT, 0])
    yield Row(method, lam, "response", x, float(runs.y[_HELD_OUT]), seconds)


def random_draw(task: Task) -> list[Row]:
    """Return the cross-validation on one random draw of four folds (Figures 4 and 5)."""
    runs = forrester_runs()
    plan = random_folds(len(runs.y), FOLDS, random_state=task.seed)
    table, seconds = timed(_table, runs, plan, task.seed)
    return chained(
        cv_curve_rows(table, seconds),
        choice_rows(table, seconds),
        fold_rows(table, seconds),
        fold_theta_rows(table, seconds),
    )


def partitions(task: Task) -> list[Row]:
    """Return what each of the 105 partitions into four pairs chooses."""
    table, seconds = timed(partition_table, forrester_runs(), task.seed)
    rules: tuple[tuple[str, RuleName], ...] = (("", "min"), ("_1se", "1se"))
    chosen = {
        metric + ending: table.stability(metric, rule)
        for metric in PARTITION_METRICS
        for ending, rule in rules
    }
    rising = {metric: _rising(table, metric) for metric in METRICS}
    return chained(
        *(
            curve_rows(method, None, "chosen", counted(lams), lams, seconds)
            for method, lams in chosen.items()
        ),
        *(
            curve_rows(metric, None, "rising", counted(found), found, seconds)
            for metric, found in rising.items()
        ),
    )


def _rising(table: CVTable, metric: str) -> FloatArray:
    """Return 1 for each repeat whose mean over the folds rises beyond 0.073, else 0."""
    means = (table.repeat(r).mean_of(metric) for r in range(table.plan.repeats))
    return np.array([float(is_rising(mean)) for mean in means])


def estimates(task: Task) -> list[Row]:
    """Return the estimates from all runs along the path, and the mean predictive variance."""
    runs = forrester_runs()
    path, seconds = timed(_path, runs, LAMS, task.seed)
    stds = [mean_and_std(surrogate_at(runs, path, i), _INPUTS)[1] for i in range(len(LAMS))]
    values = {
        "variance": (np.array(stds) ** 2).mean(axis=1),
        "theta": path.theta[:, 0],
        "sigma2": path.sigma2,
        "loglik": path.loglik,
        "objective": path.objective,
        "flat_lower": path.flat.lower[:, 0],
        "flat_upper": path.flat.upper[:, 0],
    }
    return chained(*(lam_rows("pmle", name, LAMS, v, seconds) for name, v in values.items()))


def _path(runs: Runs, lams: FloatArray, seed: int) -> PathFit:
    """Return the estimates from all runs."""
    return penalized_path(runs.X, runs.y, lams, random_state=seed)


def _table(runs: Runs, plan: FoldPlan, seed: int) -> CVTable:
    """Return the paper's metrics for every lambda and fold."""
    return cross_validate_path(runs.X, runs.y, LAMS, folds=plan, random_state=seed, metrics=METRICS)


#: What runs each part.
PARTS: dict[str, Callable[[Task], list[Row]]] = {
    "profiles": profiles,
    "surrogates": surrogates,
    "loo": leave_one_out,
    "path": estimates,
    "partitions": partitions,
    "folds": random_draw,
    "search-loo": search_leave_one_out,
    "search-folds": search_folds,
}
