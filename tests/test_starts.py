"""Where the search starts: anchors along lambda, and the points at each of them."""

import numpy as np
import pytest

from pengp import lambda_grid
from pengp._starts import anchors, choose, few_start_points, start_points
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
    starts = start_points(lams, *box(4, nugget), 4, 10, np.random.default_rng(0))
    assert starts.anchors.tolist() == anchors(lams).tolist()
    assert starts.fixed.shape == (len(starts.where), 4 + nugget)
    assert np.isfinite(starts.fixed).all()
    for a in starts.anchors:
        points = starts.fixed[starts.where == a]
        for p in range(4):
            others = np.delete(points[:, :4], p, axis=1)
            alone = (points[:, p] > others.max(1) + 1.0) & (others < LOW + 1.0).all(1)
            assert alone.sum() == 1
            assert (points[alone, 4:] == np.log(1e-5)).all()


def test_the_larger_lambda_the_less_active_an_input_starts() -> None:
    starts = start_points(lambda_grid("paper"), *box(3), 3, 10, np.random.default_rng(0))
    heights = [starts.fixed[starts.where == a][:3].max() for a in starts.anchors]
    assert heights[0] == 4.5
    assert (np.diff(heights) <= 0.0).all()
    assert heights[-1] == pytest.approx(0.5 - 2.0)


def test_the_ends_of_the_path_start_at_the_corners() -> None:
    lower, upper = box(3)
    for lams in (lambda_grid(), np.zeros(1)):
        starts = start_points(lams, lower, upper, 3, 10, np.random.default_rng(0))
        corners = [(starts.fixed == corner).all(1) for corner in (upper, lower)]
        assert [starts.where[at].tolist() for at in corners] == [[0], [len(lams) - 1]]


def test_random_points_come_from_the_generator_alone() -> None:
    a, b, c = (
        start_points(lambda_grid(), *box(3), 3, 10, np.random.default_rng(seed)).candidates
        for seed in (1, 1, 2)
    )
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)


@pytest.mark.parametrize(("n_starts", "half"), [(0, 1), (10, 1), (13, 2), (24, 2), (60, 5)])
def test_half_of_the_starts_are_random_and_half_are_to_be_chosen(n_starts: int, half: int) -> None:
    starts = start_points(lambda_grid(), *box(2), 2, n_starts, np.random.default_rng(0))
    assert len(starts.anchors) == 6
    assert starts.wanted == half
    assert len(starts.fixed) == 6 * (2 + half) + 2  # each input alone, random ones, the corners
    assert [int((starts.where == a).sum()) for a in starts.anchors[1:-1]] == [2 + half] * 4
    assert len(starts.candidates) == max(60, 6 * n_starts)


def test_a_single_lambda_has_each_input_alone_at_two_heights() -> None:
    starts = start_points(np.zeros(1), *box(2), 2, 10, np.random.default_rng(0))
    assert starts.wanted == 5
    assert len(starts.fixed) == 4 + 2 + 5
    assert sorted(starts.fixed[:4].max(1)) == [2.5, 2.5, 4.5, 4.5]


def test_given_thetas_are_the_only_starts() -> None:
    given = np.log([[0.5, 2.0], [30.0, 0.1], [1.0, 1.0]])
    starts = start_points(lambda_grid(), *box(2, True), 2, given, np.random.default_rng(0))
    for a in anchors(lambda_grid()):
        mine = starts.fixed[starts.where == a]
        assert (mine[:, :2] == given).all()
        assert (mine[:, 2] == np.log(1e-5)).all()
    assert len(starts.fixed) == 18
    assert len(starts.candidates) == len(starts.anchors) == starts.wanted == 0


def test_near_is_a_part_of_the_range() -> None:
    lower, upper = np.array([LOW, 0.0]), np.array([HIGH, 1.0])
    starts = start_points(np.zeros(1), lower, upper, 2, 10, np.random.default_rng(0))
    scaled = (starts.candidates - lower) / (upper - lower)
    apart = np.abs(scaled[:, None] - scaled).max(-1)
    assert np.array_equal(starts.near, apart < 0.18)
    assert starts.near.any(1).all()  # each is near itself
    assert not starts.near.all()


def test_the_best_candidates_are_chosen_unless_near_a_better_one() -> None:
    place = np.array([0.0, 0.1, 1.0, 1.1, 2.0, 3.0])
    near = np.abs(place[:, None] - place) < 0.5
    score = np.array([[5.0, 6.0, 4.0, 3.0, 1.0, 2.0], [1.0, 0.0, 2.0, 9.0, -np.inf, 8.0]])
    row, candidate = choose(score, near, 3)
    assert row.tolist() == [0, 0, 0, 1, 1, 1]
    assert candidate.tolist() == [1, 2, 5, 3, 5, 0]


def test_candidates_near_better_ones_come_last() -> None:
    place = np.array([0.0, 0.1, 1.0, 1.1, 2.0])
    near = np.abs(place[:, None] - place) < 0.5
    score = np.array([[9.0, 8.0, 3.0, 2.0, 1.0]])
    assert choose(score, near, 5)[1].tolist() == [0, 2, 4, 1, 3]


def test_no_candidate_is_chosen_twice_or_where_the_objective_is_not_defined() -> None:
    score, near = np.array([[1.0, -np.inf, 2.0]]), np.eye(3, dtype=bool)
    assert choose(score, near, 10)[1].tolist() == [2, 0]
    assert choose(score, np.ones((3, 3), dtype=bool), 10)[1].tolist() == [2, 0]
    assert choose(np.empty((4, 0)), np.empty((0, 0), dtype=bool), 5)[0].tolist() == []


def test_random_starts_fill_the_range_of_the_authors() -> None:
    every = few_start_points(np.zeros(1), *box(2, True), 2, 400, np.random.default_rng(0)).fixed
    assert every.shape == (400, 3)
    starts = every[1:]
    assert (starts[:, :2] >= -5.0).all()
    assert (starts[:, :2] <= 2.5).all()
    for column, (low, high) in enumerate([(-5.0, 2.5), (-5.0, 2.5), (np.log(1.49e-8), 0.0)]):
        counts = np.histogram(starts[:, column], bins=20, range=(low, high))[0]
        assert counts.min() >= 19  # a Latin hypercube: 20 to each bin, one point being replaced
        assert counts.max() <= 20


def test_large_data_sets_start_at_the_smallest_lambda() -> None:
    starts = few_start_points(lambda_grid(), *box(3, True), 3, 4, np.random.default_rng(0))
    assert starts.where.tolist() == [0] * 4
    assert starts.fixed.shape == (4, 4)
    assert np.allclose(np.exp(starts.fixed[0]), [0.5, 0.5, 0.5, 1e-5])
    assert starts.wanted == 0
    none = few_start_points(lambda_grid(), *box(3), 3, 0, np.random.default_rng(0))
    assert none.fixed.shape == (1, 3)
