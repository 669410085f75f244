"""Cross-validation on every partition of a few runs into pairs, from one fit for each pair."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.choosing.crossval import CVTable, cross_validate_path
from pengp.choosing.folds import FoldPlan
from pengp.study.rows import LAMS, METRICS, Runs

#: The paper's metrics, and the authors' package's own DPE.
PARTITION_METRICS = (*METRICS, "root_dpe")


def pairings(runs: tuple[int, ...]) -> Iterator[list[tuple[int, int]]]:
    """Yield every way to part the runs into pairs."""
    if not runs:
        yield []
        return
    first, rest = runs[0], runs[1:]
    for partner in rest:
        for others in pairings(tuple(r for r in rest if r != partner)):
            yield [(first, partner), *others]


def partition_table(runs: Runs, seed: int) -> CVTable:
    """Return the table of all partitions of n runs into pairs, one repeat each.

    A fold's estimates do not depend on the other folds, so the n (n - 1) / 2 pairs are fitted once
    and their columns dealt out to the partitions.
    """
    n = len(runs.y)
    pairs = list(combinations(range(n), 2))
    plan = FoldPlan(n, tuple(np.array(pair) for pair in pairs))
    table = cross_validate_path(
        runs.X, runs.y, LAMS, folds=plan, random_state=seed, metrics=PARTITION_METRICS
    )
    partitions = list(pairings(tuple(range(n))))
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
