"""The piston slap noise data of Section 5 and Appendix E, isotropic and anisotropic."""

from collections.abc import Callable, Iterator

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.choosing.crossval import CVTable, cross_validate_path
from pengp.choosing.folds import FoldsLike, random_folds
from pengp.model.profile import profile_loglik
from pengp.path.penalized import PathFit, penalized_path
from pengp.study.partitions import every_fold, shares
from pengp.study.rows import (
    LAMS,
    METRICS,
    chained,
    choice_rows,
    counted,
    curve_rows,
    cv_curve_rows,
    fold_rows,
    lam_rows,
    mean_and_std,
    piston_slap_runs,
    score_rows,
    surrogate,
    surrogate_at,
    timed,
)
from pengp.study.task import Row, Task, TestRuns

#: The isotropic estimate that the paper prints; the likelihood is flat from there on.
PLATEAU = 18.992
FOLDS = 4


def spread_of_inputs(task: Task) -> list[Row]:
    """Return how many different values each input has, and its standard deviation over range."""
    X = piston_slap_runs().X  # in the unit cube by the range
    unique = np.array([len(np.unique(column)) for column in X.T], dtype=np.float64)
    found = {"unique_values": unique, "sd_over_range": X.std(axis=0, ddof=1)}
    return chained(
        *(curve_rows("runs", None, m, counted(values), values, 0.0) for m, values in found.items())
    )


def _isotropic(task: Task) -> bool:
    """Return whether the task's model has one theta for all inputs."""
    return task.function.startswith("isotropic")


def _path(task: Task) -> PathFit:
    """Return the estimates from all runs at every lambda."""
    runs = piston_slap_runs()
    return penalized_path(runs.X, runs.y, LAMS, isotropic=_isotropic(task), random_state=task.seed)


def _table(task: Task, folds: FoldsLike) -> CVTable:
    """Cross-validate the task's model."""
    runs = piston_slap_runs()
    return cross_validate_path(
        runs.X,
        runs.y,
        LAMS,
        folds=folds,
        isotropic=_isotropic(task),
        random_state=task.seed,
        metrics=METRICS,
    )


def estimates(task: Task) -> list[Row]:
    """Return the estimates along the path, and those on the isotropic plateau."""
    path, seconds = timed(_path, task)
    by_lambda = {"sigma2": path.sigma2, "loglik": path.loglik, "objective": path.objective}
    thetas = {"theta": path.theta, "flat_lower": path.flat.lower, "flat_upper": path.flat.upper}
    return chained(
        *(_theta_rows(task, name, values, seconds) for name, values in thetas.items()),
        *(lam_rows("pmle", name, LAMS, values, seconds) for name, values in by_lambda.items()),
        _plateau(seconds) if _isotropic(task) else [],
    )


def _theta_rows(task: Task, metric: str, values: FloatArray, seconds: float) -> Iterator[Row]:
    """Yield a quantity [L, 6] of the inputs' thetas; one row a lambda where they are equal."""
    if _isotropic(task):
        yield from lam_rows("pmle", metric, LAMS, values[:, 0], seconds)
        return
    for lam, theta in zip(LAMS.tolist(), values, strict=True):
        yield from curve_rows("pmle", lam, metric, counted(theta), theta, seconds)


def _plateau(seconds: float) -> Iterator[Row]:
    """Yield what the path's rows say, at the theta that the paper prints for lambda = 0."""
    runs = piston_slap_runs()
    found = profile_loglik(runs.X, runs.y, [PLATEAU], isotropic=True)
    values = {
        "theta": PLATEAU,
        "sigma2": float(found.sigma2),
        "loglik": float(found.value),
        "objective": float(found.value),
    }
    for metric, value in values.items():
        yield Row("plateau", 0.0, metric, None, value, seconds)


def leave_one_out(task: Task) -> list[Row]:
    """Return the n-fold cross-validation."""
    table, seconds = timed(_table, task, "loo")
    return chained(
        cv_curve_rows(table, seconds), choice_rows(table, seconds), fold_rows(table, seconds)
    )


def random_draw(task: Task) -> list[Row]:
    """Return what one random draw of four folds chooses."""
    plan = random_folds(len(piston_slap_runs().y), FOLDS, random_state=task.seed)
    table, seconds = timed(_table, task, plan)
    return chained(choice_rows(table, seconds), fold_rows(table, seconds))


def partitions(task: Task) -> list[Row]:
    """Return which share of all 15,400 partitions into four folds chooses each lambda."""
    n = len(piston_slap_runs().y)
    table, seconds = timed(_table, task, every_fold(n, n // FOLDS))
    found = [shares(table, metric, n // FOLDS) for metric in METRICS]
    return chained(
        *(
            lam_rows(method, "share", LAMS, values, seconds)
            for by_method in found
            for method, values in by_method.items()
        )
    )


def judge(task: Task, test_runs: TestRuns) -> list[Row]:
    """Return the scores on the test runs along the path, and those on the isotropic plateau."""
    runs = piston_slap_runs()
    path, seconds = timed(_path, task)
    U, z = runs.inputs.transform(test_runs.X), runs.response.transform(test_runs.y)
    surrogates = [("pmle", float(lam), surrogate_at(runs, path, i)) for i, lam in enumerate(LAMS)]
    if _isotropic(task):
        theta = np.full(runs.X.shape[1], PLATEAU)
        surrogates.append(("plateau", 0.0, surrogate(runs.X, runs.y, theta)))
    return chained(
        *(
            score_rows(method, lam, z, mean_and_std(posterior, U), seconds)
            for method, lam, posterior in surrogates
        )
    )


_MODELS = ("isotropic", "anisotropic")
_KINDS: dict[str, Callable[[Task], list[Row]]] = {
    "": random_draw,
    "-path": estimates,
    "-loo": leave_one_out,
    "-partitions": partitions,
}

#: What runs each part.
PARTS = {"runs": spread_of_inputs} | {
    model + kind: run for model in _MODELS for kind, run in _KINDS.items()
}
#: What runs each part that needs test runs.
TEST_PARTS = {f"{model}-test": judge for model in _MODELS}
