"""All partitions of the paper's 8 Forrester runs into four pairs, from 28 training sets."""

from collections.abc import Iterator
from functools import cache
from itertools import combinations

import numpy as np
import pytest

from pengp._core.arrays import FloatArray
from pengp.choosing.crossval import CVTable, cross_validate_path
from pengp.choosing.folds import FoldPlan
from pengp.choosing.rules import RuleName
from pengp.path.grids import lambda_grid
from tests.problems import forrester_runs

PAIRS = list(combinations(range(8), 2))
LARGEST = np.exp(2.0)


def pairings(runs: tuple[int, ...]) -> Iterator[list[tuple[int, int]]]:
    """Yield every way to part the runs into pairs."""
    if not runs:
        yield []
        return
    first, rest = runs[0], runs[1:]
    for partner in rest:
        for others in pairings(tuple(r for r in rest if r != partner)):
            yield [(first, partner), *others]


PARTITIONS = list(pairings(tuple(range(8))))


@cache
def partition_table() -> CVTable:
    """Return the table of the 105 partitions as 105 repeats, put together from the 28 pairs."""
    X, y = forrester_runs()
    pairs = FoldPlan(8, tuple(np.array(pair) for pair in PAIRS))
    table = cross_validate_path(X, y, lambda_grid(), folds=pairs, random_state=0)
    column = [PAIRS.index(pair) for partition in PARTITIONS for pair in partition]
    return CVTable(
        lams=table.lams,
        plan=FoldPlan(8, tuple(np.array(PAIRS[c]) for c in column), len(PARTITIONS)),
        values={name: values[:, column] for name, values in table.values.items()},
        theta=table.theta[:, column],
        nugget=table.nugget[:, column],
        sigma2=table.sigma2[:, column],
        mean=table.mean[:, column],
        converged=table.converged[:, column],
        greater_is_better=table.greater_is_better,
    )


def chosen(metric: str, rule: RuleName) -> FloatArray:
    """Return the lambda [105] that each partition chooses."""
    return partition_table().stability(metric, rule)


def test_there_are_105_partitions_into_four_pairs() -> None:
    assert len({frozenset(partition) for partition in PARTITIONS}) == 105
    assert all(sorted(sum(partition, ())) == list(range(8)) for partition in PARTITIONS)


def test_every_training_set_is_fitted() -> None:
    assert partition_table().converged.all()


@pytest.mark.parametrize(("metric", "count"), [("dpe", 105), ("root_dpe", 100), ("pe", 18)])
def test_how_often_the_best_lambda_is_zero(metric: str, count: int) -> None:
    assert np.count_nonzero(chosen(metric, "min") == 0.0) == count


@pytest.mark.parametrize(
    ("metric", "count"), [("pe", 105), ("md", 78), ("score", 78), ("scaled_score", 78), ("dpe", 0)]
)
def test_how_often_one_standard_error_reaches_the_end_of_the_grid(metric: str, count: int) -> None:
    ends = np.isclose(chosen(metric, "1se"), LARGEST, rtol=1e-12)
    assert np.count_nonzero(ends) == count


def test_one_standard_error_with_dpe_stays_small() -> None:
    lams = chosen("dpe", "1se")
    assert round(lams.min(), 4) == 0.0036
    assert round(lams.max(), 4) == 0.0731
    assert round(float(np.median(lams)), 4) == 0.0092
