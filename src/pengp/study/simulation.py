"""The numerical studies of Section 4: eight ways to estimate theta, judged on test runs."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from pengp._core.arrays import FloatArray
from pengp._core.checks import as_seed
from pengp._core.linalg import ONE_THREAD
from pengp.choosing.crossval import CVTable, cross_validate_path
from pengp.choosing.folds import FoldPlan, random_folds
from pengp.choosing.scores import rmse
from pengp.datasets.designs import latin_hypercube, scale_design
from pengp.datasets.functions import get_function
from pengp.model.posterior import Posterior
from pengp.path.penalized import PathFit, penalized_path
from pengp.path.penalties import PenaltyName
from pengp.study.rows import (
    LAMS,
    METRICS,
    Runs,
    chained,
    mean_and_std,
    scaled_runs,
    score_rows,
    surrogate,
    surrogate_at,
    timed,
)
from pengp.study.task import Row, Task
from pengp.study.ten_starts import ten_starts

#: Runs and test runs of each function (the table of Section 4).
SIZES = {"lim": (10, 200), "franke": (10, 200), "piston": (15, 700), "borehole": (15, 800)}
FOLDS = 5


class Draw(NamedTuple):
    """What is random in a task."""

    X: FloatArray  # [n, d], in the function's units
    y: FloatArray  # [n]
    X_test: FloatArray  # [m, d]
    y_test: FloatArray  # [m]
    plan: FoldPlan
    seed: int
    """Of the starts of all fits."""


def draw(task: Task) -> Draw:
    """Draw the runs, the test runs, the folds and the starts, in this order.

    They are those of the study `simulation`, whatever the study, so that penalties are compared on
    the same designs.
    """
    function, (n, m) = get_function(task.function), SIZES[task.function]
    rng = np.random.default_rng(task._replace(study="simulation").seed)
    X, X_test = (
        scale_design(latin_hypercube(k, function.dimension, random_state=rng), function.bounds)
        for k in (n, m)
    )
    plan = random_folds(n, FOLDS, random_state=rng)
    return Draw(X, function(X), X_test, function(X_test), plan, as_seed(rng))


def simulate(task: Task, *, penalty: PenaltyName) -> list[Row]:
    """Return the scores of all methods; they share the folds, the path and the test runs."""
    with ONE_THREAD:  # many tiny matrices, which threads only slow down
        return _simulated(draw(task), task.function, penalty)


def _simulated(data: Draw, function: str, penalty: PenaltyName) -> list[Row]:
    """Return the scores of all methods on one draw."""
    runs = scaled_runs(data.X, data.y, get_function(function).bounds)
    judge = partial(_scores, data, runs)
    table, cv_seconds = timed(_cross_validate, runs, data, penalty)
    path, seconds = timed(
        penalized_path, runs.X, runs.y, LAMS, penalty=penalty, random_state=data.seed
    )
    best, test_seconds = timed(_best_on_test, data, runs, path)
    chosen = {metric: table.best(metric) for metric in METRICS} | {"dpe_1se": table.one_se("dpe")}
    return chained(
        judge("mle", path, 0, seconds),
        _ten_starts_of_the_paper(data, runs),
        _estimated_nugget(data, runs),
        *(
            judge(method, path, int(np.flatnonzero(lam == LAMS)[0]), cv_seconds + seconds)
            for method, lam in chosen.items()
        ),
        judge("pmle_star", path, best, seconds + test_seconds),
    )


def _cross_validate(runs: Runs, data: Draw, penalty: PenaltyName) -> CVTable:
    """Return the table of the five folds."""
    return cross_validate_path(
        runs.X,
        runs.y,
        LAMS,
        folds=data.plan,
        penalty=penalty,
        random_state=data.seed,
        metrics=METRICS,
    )


def _ten_starts_of_the_paper(data: Draw, runs: Runs) -> list[Row]:
    """Return the rows of maximum likelihood as the paper searches for it."""
    theta, seconds = timed(ten_starts, runs, data.seed)
    return _judged(data, runs, "mle_ten_starts", surrogate(runs.X, runs.y, theta), 0.0, seconds)


def _estimated_nugget(data: Draw, runs: Runs) -> list[Row]:
    """Return the rows of maximum likelihood with an estimated nugget."""
    path, seconds = timed(
        penalized_path, runs.X, runs.y, [0.0], nugget="estimate", random_state=data.seed
    )
    nugget = Row("mle_nugget", 0.0, "nugget", None, float(path.nugget[0]), seconds)
    return [*_scores(data, runs, "mle_nugget", path, 0, seconds), nugget]


def _best_on_test(data: Draw, runs: Runs, path: PathFit) -> int:
    """Return the index of the lambda whose surrogate has the least RMSE on the test runs."""
    U, z = runs.inputs.transform(data.X_test), runs.response.transform(data.y_test)
    means = (surrogate_at(runs, path, i).predict_mean(U) for i in range(len(path.lams)))
    return int(np.argmin([rmse(z, mean) for mean in means]))


def _scores(
    data: Draw, runs: Runs, method: str, path: PathFit, index: int, seconds: float
) -> list[Row]:
    """Return the scores on the test runs at one lambda of the path."""
    posterior, lam = surrogate_at(runs, path, index), float(path.lams[index])
    return _judged(data, runs, method, posterior, lam, seconds)


def _judged(
    data: Draw, runs: Runs, method: str, posterior: Posterior, lam: float, seconds: float
) -> list[Row]:
    """Return the scores of a surrogate on the test runs, in the response's unit."""
    mean, std = mean_and_std(posterior, runs.inputs.transform(data.X_test))
    prediction = runs.response.inverse(mean), runs.response.inverse_std(std)
    return list(score_rows(method, lam, data.y_test, prediction, seconds))


#: What runs each part, with the lasso ...
PARTS: dict[str, Callable[[Task], list[Row]]] = dict.fromkeys(
    SIZES, partial(simulate, penalty="lasso")
)
#: ... and with the SCAD penalty.
SCAD_PARTS: dict[str, Callable[[Task], list[Row]]] = dict.fromkeys(
    SIZES, partial(simulate, penalty="scad")
)
