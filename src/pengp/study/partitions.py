"""Cross-validation on every partition of a few runs into folds, from one fit for each fold."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Final

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.choosing.crossval import CVTable, cross_validate_path
from pengp.choosing.folds import FoldPlan
from pengp.choosing.rules import best_index, one_se_index
from pengp.study.rows import LAMS, METRICS, Runs

#: The paper's metrics, and the authors' package's own DPE.
PARTITION_METRICS: Final = (*METRICS, "root_dpe")


def partings(runs: tuple[int, ...], size: int) -> Iterator[list[tuple[int, ...]]]:
    """Yield every way to part the runs into folds of a size."""
    if not runs:
        yield []
        return
    for partners in combinations(runs[1:], size - 1):
        rest = tuple(r for r in runs[1:] if r not in partners)
        for others in partings(rest, size):
            yield [(runs[0], *partners), *others]


def shares(table: CVTable, metric: str, size: int) -> dict[str, FloatArray]:
    """Return which share of all partitions into folds of a size chooses each lambda.

    Parameters
    ----------
    table : CVTable
        Of the plan `every_fold`.
    metric : str
        One of the table's.
    size : int
        Runs in a fold.

    Returns
    -------
    dict
        Shares [L] of lambda*, by name of the metric, and of lambda_1SE, by that name with "_1se".
    """
    folds = {tuple(test.tolist()): k for k, test in enumerate(table.plan.test)}
    found = {metric: np.zeros(len(table.lams)), f"{metric}_1se": np.zeros(len(table.lams))}
    for parting in partings(tuple(range(table.plan.n)), size):
        values = table.values[metric][:, [folds[fold] for fold in parting]]
        found[metric][best_index(values, table.lams)] += 1.0
        found[f"{metric}_1se"][one_se_index(table.lams, values)] += 1.0
    return {name: times / times.sum() for name, times in found.items()}


def every_fold(n: int, size: int) -> FoldPlan:
    """Return a plan of all folds of a size, which are no partition."""
    return FoldPlan(n, tuple(np.array(fold) for fold in combinations(range(n), size)))


def partition_table(runs: Runs, seed: int) -> CVTable:
    """Return the table of all partitions of n runs into pairs, one repeat each.

    A fold's estimates do not depend on the other folds, so the n (n - 1) / 2 pairs are fitted once
    and their columns dealt out to the partitions.
    """
    n = len(runs.y)
    plan = every_fold(n, 2)
    pairs = [tuple(test.tolist()) for test in plan.test]
    table = cross_validate_path(
        runs.X, runs.y, LAMS, folds=plan, random_state=seed, metrics=PARTITION_METRICS
    )
    partitions = list(partings(tuple(range(n)), 2))
    column = [pairs.index(pair) for partition in partitions for pair in partition]

    def dealt(values: FloatArray) -> FloatArray:
        """Return the columns of values [L, pairs, ...] in the order of the partitions."""
        return values[:, column]

    return replace(
        table,
        plan=FoldPlan(n, tuple(plan.test[c] for c in column), len(partitions)),
        values={name: dealt(values) for name, values in table.values.items()},
        theta=dealt(table.theta),
        nugget=dealt(table.nugget),
        sigma2=dealt(table.sigma2),
        mean=dealt(table.mean),
        converged=table.converged[:, column],
    )
