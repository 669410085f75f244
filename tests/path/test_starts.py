"""Where the search starts: anchors along lambda, and the points at each of them."""

import numpy as np
import pytest

from pengp import lambda_grid
from pengp._core.arrays import FloatArray
from pengp.path.starts import anchors, choose, few_start_points, start_points

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
    starts = start_points(lambda_grid(), lower, upper, 3, 10, np.random.default_rng(0))
    corners = [(starts.fixed == corner).all(1) for corner in (upper, lower)]
    assert [starts.where[at].tolist() for at in corners] == [[0], [40]]


def test_random_points_come_from_the_generator_alone() -> None:
    a, b, c = (
        start_points(lambda_grid(), *box(3), 3, 10, np.random.default_rng(seed)).candidates
        for seed in (1, 1, 2)
    )
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)


@pytest.mark.parametrize(
    ("n_starts", "first", "half"), [(0, 1, 1), (10, 10, 1), (13, 12, 2), (24, 17, 2), (60, 35, 5)]
)
def test_starts_are_chosen_at_the_first_anchor_and_half_random_at_the_others(
    n_starts: int, first: int, half: int
) -> None:
    starts = start_points(lambda_grid(), *box(2), 2, n_starts, np.random.default_rng(0))
    assert starts.wanted.tolist() == [first] + [half] * 5
    # each input alone, random ones and a corner
    random = max(n_starts - first, 0)
    counts = [int((starts.where == a).sum()) for a in starts.anchors]
    assert counts == [2 + random + 1] + [2 + half] * 4 + [2 + half + 1]
    assert len(starts.candidates) == max(60, 6 * n_starts)
    assert (starts.candidates >= -5.0).all()


@pytest.mark.parametrize("nugget", [False, True], ids=["fixed", "estimated"])
def test_at_a_single_lambda_inputs_alone_and_corners_are_candidates(nugget: bool) -> None:
    lower, upper = box(2, nugget)
    starts = start_points(np.zeros(1), lower, upper, 2, 10, np.random.default_rng(0))
    assert starts.wanted.tolist() == [10]
    assert starts.fixed.shape == (0, 2 + nugget)
    special, points = starts.candidates[:6], starts.candidates[6:]
    assert (special[:, 2:] == np.log(1e-5)).all()
    alone = special[:4, :2]
    assert sorted(map(tuple, alone)) == sorted(
        place for high in (2.5, 4.5) for place in ((LOW + 0.4, high), (high, LOW + 0.4))
    )
    assert special[4:, :2].tolist() == [[HIGH, HIGH], [LOW, LOW]]
    assert len(points) == 60
    assert ((points[:, :2] >= -5.0) & (points[:, :2] <= 4.0)).all()


@pytest.mark.parametrize(("n_starts", "n_random"), [(0, 0), (1, 0), (10, 0), (12, 1), (60, 25)])
def test_at_a_single_lambda_the_starts_beyond_ten_are_half_random(
    n_starts: int, n_random: int
) -> None:
    starts = start_points(np.full(1, 0.1), *box(2), 2, n_starts, np.random.default_rng(0))
    assert len(starts.fixed) == len(starts.where) == n_random
    assert starts.wanted.tolist() == [max(1, n_starts - n_random)]
    assert len(starts.candidates) == 4 + 2 + max(60, 6 * n_starts)
    assert len(np.unique(starts.candidates, axis=0)) == len(starts.candidates)


def test_given_thetas_are_the_only_starts() -> None:
    given = np.log([[0.5, 2.0], [30.0, 0.1], [1.0, 1.0]])
    starts = start_points(lambda_grid(), *box(2, True), 2, given, np.random.default_rng(0))
    for a in anchors(lambda_grid()):
        mine = starts.fixed[starts.where == a]
        assert (mine[:, :2] == given).all()
        assert (mine[:, 2] == np.log(1e-5)).all()
    assert len(starts.fixed) == 18
    assert len(starts.candidates) == len(starts.anchors) == len(starts.wanted) == 0


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
    row, candidate = choose(score, near, np.array([3, 3]))
    assert row.tolist() == [0, 0, 0, 1, 1, 1]
    assert candidate.tolist() == [1, 2, 5, 3, 5, 0]
    row, candidate = choose(score, near, np.array([1, 2]))
    assert row.tolist() == [0, 1, 1]
    assert candidate.tolist() == [1, 3, 5]


def test_candidates_near_better_ones_come_last() -> None:
    place = np.array([0.0, 0.1, 1.0, 1.1, 2.0])
    near = np.abs(place[:, None] - place) < 0.5
    score = np.array([[9.0, 8.0, 3.0, 2.0, 1.0]])
    assert choose(score, near, np.array([5]))[1].tolist() == [0, 2, 4, 1, 3]


def test_no_candidate_is_chosen_twice_or_where_the_objective_is_not_defined() -> None:
    score, near = np.array([[1.0, -np.inf, 2.0]]), np.eye(3, dtype=bool)
    assert choose(score, near, np.array([10]))[1].tolist() == [2, 0]
    assert choose(score, np.ones((3, 3), dtype=bool), np.array([10]))[1].tolist() == [2, 0]
    assert choose(np.empty((4, 0)), np.empty((0, 0), dtype=bool), np.full(4, 5))[0].tolist() == []


def test_random_starts_fill_their_range() -> None:
    every = few_start_points(np.zeros(1), *box(2, True), 2, 400, np.random.default_rng(0)).fixed
    assert every.shape == (400, 3)
    starts = every[1:]
    assert (starts[:, :2] >= -5.0).all()
    assert (starts[:, :2] <= 4.0).all()
    for column, (low, high) in enumerate([(-5.0, 4.0), (-5.0, 4.0), (np.log(1.49e-8), 0.0)]):
        counts = np.histogram(starts[:, column], bins=20, range=(low, high))[0]
        assert counts.min() >= 19  # a Latin hypercube: 20 to each bin, one point being replaced
        assert counts.max() <= 20


def test_large_data_sets_start_at_the_smallest_lambda() -> None:
    starts = few_start_points(lambda_grid(), *box(3, True), 3, 4, np.random.default_rng(0))
    assert starts.where.tolist() == [0] * 4
    assert starts.fixed.shape == (4, 4)
    assert np.allclose(np.exp(starts.fixed[0]), [0.5, 0.5, 0.5, 1e-5])
    assert len(starts.wanted) == 0
    none = few_start_points(lambda_grid(), *box(3), 3, 0, np.random.default_rng(0))
    assert none.fixed.shape == (1, 3)
