"""Space-filling folds against every partition there is, and their indifference to units."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from pengp._core.arrays import FloatArray
from pengp.choosing.folds import space_filling_folds


def partitions(runs: list[int], sizes: list[int]) -> Iterator[list[tuple[int, ...]]]:
    """All ways to deal runs into unordered sets of equal sizes."""
    if not sizes:
        yield []
        return
    for rest in combinations(runs[1:], sizes[0] - 1):
        chosen = (runs[0], *rest)
        left = [i for i in runs if i not in chosen]
        for others in partitions(left, sizes[1:]):
            yield [chosen, *others]


def smallest_distance(points: FloatArray, folds: list[Any]) -> float:
    """Smallest distance of two points in one fold."""
    return min(
        float(np.linalg.norm(points[i] - points[j]))
        for fold in folds
        for i, j in combinations(fold, 2)
    )


@pytest.mark.parametrize(("n", "k", "d"), [(8, 4, 1), (8, 4, 2), (9, 3, 2), (12, 3, 3), (8, 2, 6)])
def test_space_filling_folds_reach_the_brute_force_optimum(n: int, k: int, d: int) -> None:
    points = np.linspace(0, 1, n)[:, None] if d == 1 else np.random.default_rng(d).random((n, d))
    points = (points - points.min(axis=0)) / np.ptp(points, axis=0)
    every = list(partitions(list(range(n)), [n // k] * k))
    assert n != 8 or k != 4 or len(every) == 105
    distances = [smallest_distance(points, folds) for folds in every]
    plan = space_filling_folds(points, k, random_state=0)
    assert smallest_distance(points, list(plan.test)) == pytest.approx(max(distances), rel=1e-12)
    share = np.mean(np.array(distances) > max(distances) * (1 - 1e-12))
    assert share < 0.15  # a random plan would not do


def test_no_swap_improves_space_filling_folds() -> None:
    points = np.random.default_rng(5).random((23, 3))
    points = (points - points.min(axis=0)) / np.ptp(points, axis=0)
    labels = space_filling_folds(points, 4, random_state=0).labels[0]

    def phi(labels: Any) -> float:
        pairs = combinations(range(23), 2)
        return sum(
            float(np.linalg.norm(points[i] - points[j])) ** -15
            for i, j in pairs
            if labels[i] == labels[j]
        )

    reached = phi(labels)
    for i, j in combinations(range(23), 2):
        swapped = labels.copy()
        swapped[[i, j]] = swapped[[j, i]]
        assert phi(swapped) >= reached * (1 - 1e-8)


def test_units_do_not_change_space_filling_folds() -> None:
    X = np.random.default_rng(0).random((11, 2))
    plan = space_filling_folds(X, 4, random_state=0).labels
    for scale, shift in [([1e6, -1e-6], [3.0, 1.0]), ([1e300, 1e-300], [0.0, 0.0])]:
        moved = space_filling_folds(X * scale + shift, 4, random_state=0)
        assert np.array_equal(moved.labels, plan)
    with_constant = np.column_stack([X, np.full(11, 4.0)])
    assert np.array_equal(space_filling_folds(with_constant, 4, random_state=0).labels, plan)


def test_duplicates_go_to_different_folds() -> None:
    points = np.repeat(np.random.default_rng(1).random((5, 2)), 2, axis=0)
    labels = space_filling_folds(points, 5, random_state=0).labels[0]
    assert np.all(labels[::2] != labels[1::2])
    same_point = space_filling_folds(np.ones((7, 2)), 3, random_state=0)
    assert sorted(np.bincount(same_point.labels[0])) == [2, 2, 3]
    assert len(space_filling_folds(points, 10, random_state=0)) == 10
