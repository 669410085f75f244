"""Latin hypercubes: the exact Latin property, distances against brute force, seeds, scaling."""

from itertools import permutations
from typing import Any, Literal

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from pengp.datasets.designs import continue_design, latin_hypercube, scale_design
from pengp.exceptions import InputError

Method = Literal["random", "maximin", "sliced"]


def assert_latin(U: np.ndarray[Any, np.dtype[np.float64]]) -> None:
    """Every column has one point in each of n equal intervals."""
    n, d = U.shape
    levels = np.sort(np.floor(U * n).astype(int), axis=0)
    np.testing.assert_array_equal(levels, np.tile(np.arange(n)[:, None], d))


@pytest.mark.parametrize(("n", "d"), [(1, 1), (1, 3), (2, 2), (7, 1), (15, 8), (40, 3)])
@pytest.mark.parametrize("method", ["random", "maximin"])
def test_every_interval_of_every_input_holds_one_point(method: Method, n: int, d: int) -> None:
    U = latin_hypercube(n, d, method=method, random_state=1)
    assert U.shape == (n, d)
    assert_latin(U)


@pytest.mark.parametrize(
    ("n", "d", "slices"), [(12, 3, 3), (12, 3, 4), (12, 2, 12), (12, 2, 1), (100, 6, 5)]
)
def test_slices_and_whole_are_latin_hypercubes(n: int, d: int, slices: int) -> None:
    for seed in range(5):
        U = latin_hypercube(n, d, method="sliced", slices=slices, random_state=seed)
        assert_latin(U)
        for part in U.reshape(slices, n // slices, d):
            assert_latin(part)


def test_an_ordinary_design_is_not_sliced() -> None:
    U = latin_hypercube(100, 6, random_state=0)
    with pytest.raises(AssertionError):
        assert_latin(U[:20])


def test_slices_share_no_order_between_columns_or_slices() -> None:
    # A construction that forgets to shuffle within slices, or reuses one order, is regular.
    U = latin_hypercube(1000, 3, method="sliced", slices=5, random_state=0)
    columns = U.reshape(5, 200, 3).swapaxes(1, 2).reshape(15, 200)  # every slice, every input
    correlations = np.asarray(np.corrcoef(columns)) - np.eye(15)
    assert np.max(np.abs(correlations)) < 0.3


def test_points_are_uniform_within_their_cells() -> None:
    random = latin_hypercube(2000, 2, random_state=8)
    sliced = latin_hypercube(2000, 2, method="sliced", slices=4, random_state=8)
    for U in (random, sliced):
        within = U * 2000 % 1
        assert np.abs(within.mean() - 0.5) < 0.02
        assert within.var() == pytest.approx(1 / 12, rel=0.05)


@pytest.mark.parametrize("n", [4, 5, 6, 7, 8])
def test_maximin_reaches_the_best_distance_there_is(n: int) -> None:
    best = max(
        pdist(np.column_stack([np.arange(n), order]), "sqeuclidean").min()
        for order in permutations(range(n))
    )
    U = latin_hypercube(n, 2, method="maximin", random_state=0)
    assert pdist(U * n, "sqeuclidean").min() == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize(("n", "d", "factor"), [(10, 2, 1.8), (15, 8, 1.6), (60, 5, 1.8)])
def test_maximin_is_far_better_than_the_best_random_design(n: int, d: int, factor: float) -> None:
    distances = [pdist(latin_hypercube(n, d, random_state=seed)).min() for seed in range(100)]
    U = latin_hypercube(n, d, method="maximin", random_state=0)
    assert pdist(U).min() > factor * np.median(distances)
    assert pdist(U).min() > np.max(distances)


def test_the_largest_usual_maximin_design_improves_on_random_ones() -> None:
    distances = [pdist(latin_hypercube(100, 20, random_state=seed)).min() for seed in range(50)]
    U = latin_hypercube(100, 20, method="maximin", random_state=0)
    assert_latin(U)
    assert pdist(U).min() > 1.3 * np.max(distances)


@pytest.mark.parametrize(("method", "slices"), [("random", None), ("maximin", None), ("sliced", 2)])
def test_a_seed_repeats_the_design(method: Method, slices: int | None) -> None:
    def draw(state: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
        return latin_hypercube(10, 3, method=method, slices=slices, random_state=state)

    np.testing.assert_array_equal(draw(4), draw(4))
    np.testing.assert_array_equal(draw(4), draw(np.random.default_rng(4)))
    np.testing.assert_array_equal(
        draw(np.random.RandomState(4)),
        draw(np.random.RandomState(4)),
    )
    assert not np.array_equal(draw(4), draw(5))
    assert not np.array_equal(draw(None), draw(None))


@pytest.mark.parametrize(
    "state",
    [np.random.default_rng(0), np.random.RandomState(0)],
    ids=["Generator", "RandomState"],
)
def test_a_generator_moves_on(state: Any) -> None:
    first = latin_hypercube(6, 2, random_state=state)
    assert not np.array_equal(first, latin_hypercube(6, 2, random_state=state))


def test_scaling_maps_corners_to_the_bounds() -> None:
    U = np.array([[0, 0], [1, 1], [0.25, 0.5]])
    expected = np.array([[-5, 100], [10, 50000], [-1.25, 25050]])
    np.testing.assert_allclose(scale_design(U, [[-5, 10], [100, 50000]]), expected, rtol=1e-15)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0, "d": 2}, "n must be a whole number from 1 to 5,000,000"),
        ({"n": 5, "d": 2.0}, "d must be a whole number from 1 to 500"),
        ({"n": True, "d": 2}, "n must be a whole number from 1 to"),
        ({"n": 5, "d": 2, "method": "minimax"}, "method=.* is none of random, maximin, sliced"),
        ({"n": 6, "d": 2, "method": "sliced"}, "needs slices"),
        ({"n": 6, "d": 2, "method": "sliced", "slices": 4}, "must divide n"),
        (
            {"n": 6, "d": 2, "method": "sliced", "slices": 0},
            "slices must be a whole number",
        ),
        ({"n": 6, "d": 2, "slices": 2}, "slices goes with"),
        ({"n": 6, "d": 2, "random_state": -1}, "random_state"),
        ({"n": 6, "d": 2, "random_state": "seed"}, "random_state"),
    ],
)
def test_unusable_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        latin_hypercube(**arguments)


@pytest.mark.parametrize(
    ("U", "bounds", "message"),
    [
        ([0.5, 0.5], [[0, 1]], r"U must have shape"),
        ([[0.5, 0.5]], [[0, 1]], r"bounds must have shape \(2, 2\)"),
        ([[0.5]], [[1, 1]], "lower < upper"),
        ([[0.5]], [[0, np.inf]], "finite"),
        ([[1.5]], [[0, 1]], "unit cube"),
        ([[np.nan]], [[0, 1]], "unit cube"),
    ],
)
def test_unusable_designs_and_bounds_are_refused(U: Any, bounds: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        scale_design(U, bounds)


def test_a_range_wider_than_the_largest_double_is_refused() -> None:
    with pytest.raises(InputError, match=r"the range of input 1 .* is wider than the largest"):
        scale_design([[0.5, 0.5]], [[0.0, 1.0], [-1e308, 1e308]])
    assert scale_design([[0.5]], [[-8e307, 8e307]]) == [[0.0]]


def test_a_continued_design_takes_the_farthest_points_one_after_the_other() -> None:
    U = latin_hypercube(6, 2, random_state=0)
    more = continue_design(U, 5, random_state=1)
    np.testing.assert_array_equal(more[:3], continue_design(U, 3, random_state=1))
    assert ((more >= 0.0) & (more <= 1.0)).all()
    anywhere = np.random.default_rng(0).random((20_000, 2))
    for k in range(5):
        known = np.vstack([U, more[:k]])
        distance = np.sqrt(((anywhere[:, None] - known) ** 2).sum(-1)).min(1)
        mine = np.sqrt(((more[k] - known) ** 2).sum(-1)).min()
        assert mine > 0.95 * distance.max()
    with pytest.raises(InputError, match=r"U must have shape"):
        continue_design([0.5, 0.5], 1)
