"""Where the search starts: anchors along lambda, and the points at each of them."""

import tracemalloc

import numpy as np
import pytest

from pengp import lambda_grid
from pengp._core.arrays import FloatArray
from pengp.model.large import LargeLikelihood
from pengp.path import settings
from pengp.path.fitting import _from_fewer_runs, checked_model
from pengp.path.starts import anchors, choose, few_start_points, fixed_starts, start_points

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
    gaps, between = np.diff(np.log(lams[at[1:]])), np.log(lams[2] / lams[1])
    assert np.abs(gaps[1:] - settings.ANCHOR_SPACING).max() <= between  # as well as the grid can


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
            assert (points[alone, 4:] == np.log(settings.START_NUGGET)).all()


def test_the_larger_lambda_the_less_active_an_input_starts() -> None:
    starts = start_points(lambda_grid("paper"), *box(3), 3, 10, np.random.default_rng(0))
    heights = [starts.fixed[starts.where == a][:3].max() for a in starts.anchors]
    assert (np.diff(heights) <= 0.0).all()
    assert heights[-1] < heights[0] - 1.0


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


@pytest.mark.parametrize("n_starts", [0, 1, 10, 13, 24, 60])
@pytest.mark.parametrize("lams", [np.full(1, 0.1), lambda_grid()], ids=["one lambda", "path"])
def test_n_starts_run_at_the_smallest_lambda(n_starts: int, lams: FloatArray) -> None:
    starts = start_points(lams, *box(2), 2, n_starts, np.random.default_rng(0))
    alone_and_corner = 3 if len(lams) > 1 else 0
    first = int((starts.where == 0).sum()) - alone_and_corner + int(starts.wanted[0])
    assert first == max(n_starts, 1)
    assert starts.wanted[0] >= max(n_starts, 1) / 2  # at least half of them are chosen
    assert (starts.wanted[1:] == starts.wanted[1]).all() if len(lams) > 1 else True
    assert len(starts.candidates) >= 2 * max(n_starts, 1)  # among which there is a choice
    assert len(np.unique(starts.candidates, axis=0)) == len(starts.candidates)


@pytest.mark.parametrize("n_starts", [0, 10, 24, 60])
def test_half_of_the_starts_at_the_other_anchors_are_random(n_starts: int) -> None:
    starts = start_points(lambda_grid(), *box(2), 2, n_starts, np.random.default_rng(0))
    for a, wanted in zip(starts.anchors[1:-1], starts.wanted[1:-1], strict=True):
        alone = 2
        assert (starts.where == a).sum() == alone + wanted
    more, A = 2 * starts.wanted[1:].sum(), len(starts.anchors)
    assert n_starts * (A - 1) / A <= more < n_starts + 2 * A


@pytest.mark.parametrize("nugget", [False, True], ids=["fixed", "estimated"])
def test_at_a_single_lambda_inputs_alone_and_corners_are_candidates(nugget: bool) -> None:
    lower, upper = box(2, nugget)
    starts = start_points(np.zeros(1), lower, upper, 2, 10, np.random.default_rng(0))
    assert starts.fixed.shape == (0, 2 + nugget)
    special = starts.candidates[:6]
    assert (special[:, 2:] == np.log(settings.START_NUGGET)).all()
    for p in range(2):
        alone = (special[:4, p] > special[:4, 1 - p] + 3.0) & (special[:4, 1 - p] < LOW + 1.0)
        assert alone.sum() == 2  # a high one and a lower one
    assert special[4:, :2].tolist() == [[HIGH, HIGH], [LOW, LOW]]


def test_given_thetas_are_the_only_starts() -> None:
    given = np.log([[0.5, 2.0], [30.0, 0.1], [1.0, 1.0]])
    starts = start_points(lambda_grid(), *box(2, True), 2, given, np.random.default_rng(0))
    for a in anchors(lambda_grid()):
        mine = starts.fixed[starts.where == a]
        assert (mine[:, :2] == given).all()
        assert (mine[:, 2] == np.log(settings.START_NUGGET)).all()
    assert len(starts.fixed) == 18
    assert len(starts.candidates) == len(starts.anchors) == len(starts.wanted) == 0


def test_candidates_are_scaled_by_the_range_of_each_parameter() -> None:
    lower, upper = np.array([LOW, 0.0]), np.array([HIGH, 1.0])
    starts = start_points(np.zeros(1), lower, upper, 2, 10, np.random.default_rng(0))
    apart = starts.candidates[:, None] - starts.candidates
    scaled = starts.scaled[:, None] - starts.scaled
    assert np.allclose(scaled, apart / (upper - lower))


def greedy(objective: FloatArray, scaled: FloatArray, count: int) -> list[int]:
    """Choose the best of all candidates, one after the other, first those that are apart."""
    order = sorted(range(len(objective)), key=lambda k: -objective[k])
    order = [k for k in order if np.isfinite(objective[k])]
    chosen: list[int] = []
    for k in order:
        far = [np.abs(scaled[k] - scaled[j]).max() >= settings.APART for j in chosen]
        if all(far):
            chosen.append(k)
    return (chosen + [k for k in order if k not in chosen])[:count]


@pytest.mark.parametrize("count", [1, 5, 20, 60])
def test_the_best_candidates_are_chosen_unless_near_a_better_one(count: int) -> None:
    rng = np.random.default_rng(count)
    scaled, objective = rng.random((60, 2)), rng.normal(size=(3, 60))
    objective[rng.random((3, 60)) < 0.1] = -np.inf
    row, candidate = choose(objective, scaled, np.full(3, count))
    for g in range(3):
        assert candidate[row == g].tolist() == greedy(objective[g], scaled, count)
    assert (np.diff(row) >= 0).all()


def test_no_candidate_is_chosen_twice_or_where_the_objective_is_not_defined() -> None:
    objective = np.array([[1.0, -np.inf, 2.0]])
    for scaled in (np.array([[0.0], [5.0], [9.0]]), np.zeros((3, 1))):
        assert choose(objective, scaled, np.array([10]))[1].tolist() == [2, 0]
    assert choose(np.empty((4, 0)), np.empty((0, 2)), np.full(4, 5))[0].tolist() == []


def test_memory_does_not_grow_with_the_square_of_the_starts() -> None:
    tracemalloc.start()
    starts = start_points(np.zeros(1), *box(3), 3, 2_000, np.random.default_rng(0))
    choose(np.zeros((1, len(starts.candidates))), starts.scaled, starts.wanted)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (
        peak < 2_000 * 10_000
    )  # a byte for each pair of 10,000 candidates would be five times that


def test_random_starts_fill_their_range() -> None:
    every = few_start_points(np.zeros(1), *box(2, True), 2, 400, np.random.default_rng(0)).fixed
    assert every.shape == (400, 3)
    starts = every[1:]
    for column, (low, high) in enumerate([*[settings.RANDOM_RANGE] * 2, (np.log(1.49e-8), 0.0)]):
        assert ((starts[:, column] >= low) & (starts[:, column] <= high)).all()
        counts = np.histogram(starts[:, column], bins=20, range=(low, high))[0]
        assert counts.min() >= 19  # a Latin hypercube: 20 to each bin, one point being replaced
        assert counts.max() <= 20


def test_large_data_sets_start_at_the_smallest_lambda() -> None:
    starts = few_start_points(lambda_grid(), *box(3, True), 3, 4, np.random.default_rng(0))
    assert starts.where.tolist() == [0] * 4
    assert starts.fixed.shape == (4, 4)
    assert len(np.unique(starts.fixed[0, :3])) == 1  # the first treats all inputs alike
    assert len(starts.wanted) == 0
    none = few_start_points(lambda_grid(), *box(3), 3, 0, np.random.default_rng(0))
    assert none.fixed.shape == (1, 3)


def test_starts_of_many_runs_do_not_depend_on_other_data_sets() -> None:
    sets = []
    for seed in (0, 3):  # of half the runs, the first has two maxima and the second one
        rng = np.random.default_rng(seed)
        X = rng.random((101, 2))
        y = np.sin(25.0 * X[:, 0] * X[:, 1]) + 0.3 * rng.standard_normal(101)
        sets.append((X, (y - y.mean()) / y.std()))
    model = checked_model(
        kernel="sqexp",
        penalty="lasso",
        isotropic=False,
        nugget=1e-5,
        mean="zero",
        theta_bounds=(1e-3, 1e3),
    )
    points = np.array([[-0.7, -0.7], [5.5, 5.5]])

    def starts(*which: int) -> list[set[tuple[float, ...]]]:
        X, y = (np.stack([sets[f][k] for f in which]) for k in (0, 1))
        likelihood = LargeLikelihood(X, y, model.kernel, 1e-5)
        given = np.zeros(1), fixed_starts(points), True, np.random.default_rng(0)
        found = _from_fewer_runs(model, likelihood, *given)[0].fixed
        return [{tuple(point) for point in own.tolist()} for own in found]

    together = starts(0, 1)
    assert tuple(points[0]) not in together[0]  # its maxima are as many as the starts
    assert tuple(points[0]) in together[1]
    assert together == starts(0) + starts(1)
