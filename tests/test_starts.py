"""Where the search starts: anchors along lambda, and the points at each of them."""

import numpy as np
import pytest

from pengp import lambda_grid
from pengp._starts import anchors, few_start_points, start_points
from pengp._typing import FloatArray

LOW, HIGH = np.log(1e-3), np.log(1e3)


def box(P: int, nugget: bool = False) -> tuple[FloatArray, FloatArray]:
    """Return bounds on the logarithms of P thetas, and of the nugget if it is estimated."""
    lower, upper = np.full(P + nugget, LOW), np.full(P + nugget, HIGH)
    if nugget:
        lower[-1], upper[-1] = np.log(1.49e-8), 0.0
    return lower, upper


def test_anchors_of_the_paper_grid() -> None:
    lams = lambda_grid("paper")
    at = anchors(lams)
    assert at[0] == 0
    assert at[-1] == 40
    assert (np.diff(at) > 0).all()
    gaps = np.diff(np.log(lams[at[1:]]))
    assert gaps.max() < 2.0
    assert gaps.min() > 1.5


@pytest.mark.parametrize(
    ("lams", "expected"),
    [([0.0], [0]), ([0.3], [0]), ([0.0, 0.3], [0, 1]), ([0.3, 0.31], [0, 1]), ([0.1, 9.0], [0, 1])],
)
def test_anchors_of_short_grids_are_their_ends(lams: list[float], expected: list[int]) -> None:
    assert anchors(np.array(lams)).tolist() == expected


@pytest.mark.parametrize("nugget", [False, True], ids=["fixed", "estimated"])
def test_every_anchor_has_each_input_alone(nugget: bool) -> None:
    lams = lambda_grid("paper")
    lower, upper = box(4, nugget)
    starts = start_points(lams, lower, upper, 4, 10, np.random.default_rng(0))
    assert sorted(starts) == anchors(lams).tolist()
    for points in starts.values():
        theta = points[:, :4]
        assert points.shape[1] == 4 + nugget
        assert np.isfinite(points).all()
        for p in range(4):
            others = np.delete(theta, p, axis=1)
            assert ((theta[:, p] > others.max(1) + 1.0) & (others < LOW + 1.0).all(1)).any()


def test_the_ends_of_the_path_start_at_the_bounds() -> None:
    lams = lambda_grid("paper")
    lower, upper = box(3)
    starts = start_points(lams, lower, upper, 3, 10, np.random.default_rng(0))
    assert (starts[0] == upper).all(1).any()
    assert (starts[40] == lower).all(1).any()


def test_random_points_come_from_the_generator_alone() -> None:
    lams = lambda_grid("paper")
    a, b, c = (
        start_points(lams, *box(3), 3, 10, np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    assert all(np.array_equal(a[k], b[k]) for k in a)
    assert any(not np.array_equal(a[k], c[k]) for k in a)


def test_more_starts_are_more_points() -> None:
    counts = [
        sum(map(len, start_points(np.zeros(1), *box(2), 2, n, np.random.default_rng(0)).values()))
        for n in (0, 10, 50)
    ]
    assert counts == sorted(counts)
    assert counts[2] >= 50
    assert counts[0] >= 4  # each input alone and both bounds, with no random start at all


def test_random_starts_fill_the_range_of_the_authors() -> None:
    starts = few_start_points(np.zeros(1), *box(2, True), 2, 400, np.random.default_rng(0))[0][1:]
    assert starts.shape == (399, 3)
    assert (starts[:, :2] >= -5.0).all()
    assert (starts[:, :2] <= 2.5).all()
    for column, (low, high) in enumerate([(-5.0, 2.5), (-5.0, 2.5), (np.log(1.49e-8), 0.0)]):
        counts = np.histogram(starts[:, column], bins=20, range=(low, high))[0]
        assert counts.min() >= 19  # a Latin hypercube: 20 to each bin, one point being replaced
        assert counts.max() <= 20


def test_large_data_sets_start_at_the_smallest_lambda() -> None:
    starts = few_start_points(lambda_grid(), *box(3, True), 3, 4, np.random.default_rng(0))
    assert list(starts) == [0]
    assert starts[0].shape == (4, 4)
    assert np.allclose(np.exp(starts[0][0]), [0.5, 0.5, 0.5, 1e-5])
    assert len(few_start_points(lambda_grid(), *box(3), 3, 0, np.random.default_rng(0))[0]) == 1
