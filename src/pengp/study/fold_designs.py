"""Does structuring the folds help? The discussion's proposal, on the designs of Section 4.

Each repetition draws a random and a sliced Latin hypercube with the same test runs. On the random
one the folds are random, repeated five times, stratified by the response or space-filling; on the
sliced one they are its slices, each a Latin hypercube itself, or random.
"""

from collections.abc import Callable

import numpy as np

from pengp._core.arrays import FloatArray
from pengp._core.checks import as_seed
from pengp.choosing.crossval import cross_validate_path
from pengp.choosing.folds import given_folds, random_folds, space_filling_folds, stratified_folds
from pengp.choosing.plan import FoldPlan
from pengp.choosing.rules import RuleName
from pengp.datasets.designs import latin_hypercube, scale_design
from pengp.datasets.functions import TestFunction, get_function
from pengp.path.penalized import penalized_path
from pengp.study.rows import (
    LAMS,
    Runs,
    mean_and_std,
    scaled_runs,
    score_rows,
    surrogate_at,
    timed,
)
from pengp.study.simulation import FOLDS, SIZES
from pengp.study.task import Row, Task

_REPEATS = 5
#: How lambda is chosen from a table, by name.
_CHOICES: dict[str, tuple[str, RuleName]] = {"dpe_1se": ("dpe", "1se"), "pe": ("pe", "min")}


def fold_designs(task: Task) -> list[Row]:
    """Return the test scores of every way to make folds."""
    function, (n, m) = get_function(task.function), SIZES[task.function]
    rng = np.random.default_rng(task.seed)
    d, seed = function.dimension, as_seed(rng)
    X_test = scale_design(latin_hypercube(m, d, random_state=rng), function.bounds)
    random = _runs(latin_hypercube(n, d, random_state=rng), function)
    sliced = latin_hypercube(n, d, method="sliced", slices=FOLDS, random_state=rng)
    rows = list[Row]()
    for runs, ways in (
        (random, _ways_of_random(random, seed)),
        (_runs(sliced, function), _ways_of_sliced(n, seed)),
    ):
        rows += _judged(runs, ways, X_test, function, seed)
    return rows


def _runs(U: FloatArray, function: TestFunction) -> Runs:
    """Return the scaled runs of a design U [n, d] in the unit cube."""
    X = scale_design(U, function.bounds)
    return scaled_runs(X, function(X), function.bounds)


def _ways_of_random(runs: Runs, seed: int) -> dict[str, FoldPlan]:
    """Return the ways to make folds of a random design."""
    n = len(runs.y)
    return {
        "random": random_folds(n, FOLDS, random_state=seed),
        "repeated": random_folds(n, FOLDS, repeats=_REPEATS, random_state=seed),
        "stratified": stratified_folds(runs.y, FOLDS, random_state=seed),
        "space_filling": space_filling_folds(runs.X, FOLDS, random_state=seed),
    }


def _ways_of_sliced(n: int, seed: int) -> dict[str, FoldPlan]:
    """Return the ways to make folds of a sliced design, whose slices are consecutive runs."""
    return {
        "sliced": given_folds(np.repeat(np.arange(FOLDS), n // FOLDS)),
        "sliced_random": random_folds(n, FOLDS, random_state=seed),
    }


def _judged(
    runs: Runs, ways: dict[str, FoldPlan], X_test: FloatArray, function: TestFunction, seed: int
) -> list[Row]:
    """Return the scores of what each plan chooses; all share the path."""
    path = penalized_path(runs.X, runs.y, LAMS, random_state=seed)
    U, y = runs.inputs.transform(X_test), function(X_test)
    rows = list[Row]()
    for way, plan in ways.items():
        table, seconds = timed(
            cross_validate_path,
            runs.X,
            runs.y,
            LAMS,
            folds=plan,
            random_state=seed,
            metrics=("dpe", "pe"),
        )
        for name, (metric, rule) in _CHOICES.items():
            lam = table.select(metric, rule)
            posterior = surrogate_at(runs, path, int(np.flatnonzero(lam == LAMS)[0]))
            mean, std = mean_and_std(posterior, U)
            predicted = runs.response.inverse(mean), runs.response.inverse_std(std)
            rows += score_rows(f"{name}_{way}", lam, y, predicted, seconds)
    return rows


#: What runs each part.
PARTS: dict[str, Callable[[Task], list[Row]]] = dict.fromkeys(SIZES, fold_designs)
