"""The global search: which starts it chooses, what it predicts, and when it gives up."""

from typing import Any, ClassVar

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from pengp import lambda_grid, penalized_path
from pengp._core.arrays import FloatArray, IntArray
from pengp.model.kernels import KERNELS
from pengp.model.likelihood import BatchLikelihood, LogLik
from pengp.path.newton import Lockstep, Prospects, Rows, newton_target
from pengp.path.penalties import PENALTIES
from pengp.path.search import ModeSearch, _astray
from pengp.path.starts import Starts, fixed_starts, start_points
from tests.problems import smooth_runs

LOW, HIGH = np.log(1e-3), np.log(1e3)


def search_of(
    lams: FloatArray, penalty: str = "lasso", F: int = 2, d: int = 3
) -> tuple[ModeSearch, BatchLikelihood]:
    """Return a search of F data sets of 9 runs, and their likelihoods."""
    runs = [smooth_runs(9, d, seed) for seed in range(F)]
    X, y = np.stack([r[0] for r in runs]), np.stack([r[1] for r in runs])
    likelihood = BatchLikelihood(X, y, KERNELS["sqexp"], 1e-5)
    low, high = np.full((F, d), LOW), np.full((F, d), HIGH)
    return ModeSearch(likelihood, lams, PENALTIES[penalty], low, high), likelihood


def two_anchors() -> Starts:
    """Return starts of two anchors, of which three are to be chosen at each."""
    rng = np.random.default_rng(0)
    starts = start_points(np.array([0.01, 5.0]), np.full(3, LOW), np.full(3, HIGH), 3, 12, rng)
    assert starts.anchors.tolist() == [0, 1]
    assert starts.wanted.tolist() == [11, 3]
    return starts


def test_the_starts_of_a_cell_are_the_best_candidates_for_it() -> None:
    lams = np.array([0.01, 5.0])
    search, likelihood = search_of(lams)
    starts = two_anchors()
    N, different = len(starts.candidates), set()
    cell, u = search._chosen(starts)
    for f in range(2):
        for a in range(2):
            mine, fixed = u[cell == 2 * f + a], starts.fixed[starts.where == a]
            assert (mine[: len(fixed)] == fixed).all()
            at = likelihood.evaluate(np.full(N, f), starts.candidates, derivatives=False).value
            score = at - 9 * lams[a] * np.exp(starts.candidates).sum(-1)
            left, expected = score.copy(), []
            for _ in range(starts.wanted[a]):
                expected.append(int(left.argmax()))
                left[starts.near[expected[-1]]] = -np.inf
            assert (mine[len(fixed) :] == starts.candidates[expected]).all()
            different.add(tuple(expected))
    assert len(different) > 2  # data sets and lambdas do differ


def test_candidates_take_part_in_the_ranking_of_all_points() -> None:
    search, _ = search_of(np.array([0.01, 5.0]))
    search._chosen(two_anchors())
    f, u, value = search._seen[0]
    assert u.shape == (144, 3)
    assert f.tolist() == [0] * 72 + [1] * 72
    assert np.isfinite(value).all()


@pytest.mark.parametrize("penalty", ["lasso", "scad", "ridge"])
def test_a_prediction_is_a_newton_step_at_the_next_lambda(penalty: str) -> None:
    lams = np.array([0.02, 0.05, 0.08])
    search, _ = search_of(lams, penalty)
    rng = np.random.default_rng(1)
    cell, step = np.array([1, 1, 4, 4]), np.array([-1, 1, -1, 1])
    x = np.log(rng.uniform(0.02, 0.4, (4, 3)))
    rows = Rows(cell, np.zeros((4, 4)), x, search._objective(cell, x))
    lower, upper = search._bounds(cell)
    found = search._prediction(rows, step, lower, upper)
    there = search._objective(cell + step, x)
    expected, _ = newton_target(there, x, lower, upper, np.ones(4))
    assert np.allclose(found, expected, rtol=1e-9, atol=1e-10)
    assert np.abs(found - x).max() > 1e-3


def prospects(tag: list[int], target: list[list[float]], **fields: Any) -> Prospects:
    """Return what rows are about to do, cut to their radius unless ``fields`` say otherwise."""
    B = len(tag)
    rest = {"memo": np.zeros((B, 1)), "promised": np.ones(B), "cut": np.ones(B, bool)}
    return Prospects(tag=np.array(tag), target=np.array(target), **(rest | fields))


def test_at_one_lambda_a_row_is_given_up_for_a_maximum_that_is_known() -> None:
    search, _ = search_of(np.array([0.1]), F=2, d=2)
    search._table._append(np.array([0]), np.array([[1.0, -2.0]]), np.zeros(1), np.ones(1, bool))
    rows = prospects([0, 0, 1], [[1.9, -2.9], [1.4, -3.1], [1.0, -2.0]])
    assert search._reached(rows).tolist() == [True, False, False]


def test_at_one_lambda_a_row_is_given_up_for_one_that_is_ahead() -> None:
    search, _ = search_of(np.array([0.1]), F=2, d=1)
    # of the first data set the third is ahead; the fourth is cut, the fifth elsewhere
    rows = prospects(
        [0, 0, 0, 0, 0, 1],
        [[0.0], [0.9], [0.1], [0.2], [1.2], [0.1]],
        promised=np.array([3.0, 2.0, 1.0, 0.5, 4.0, 9.0]),
        cut=np.array([False, False, False, True, False, False]),
    )
    assert search._reached(rows).tolist() == [True, True, False, False, False, False]


def test_no_start_is_given_up_where_something_was_overlooked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unpenalized = np.zeros(1)
    anywhere = np.random.default_rng(0).uniform(-5.0, 2.5, (20, 3))
    best = search_of(unpenalized, F=1)[0].run(fixed_starts(anywhere))
    search, likelihood = search_of(unpenalized, F=1)
    f, u = np.zeros(1, dtype=np.int64), best.u[0, 0, :1]
    search._seen.append((f, u, likelihood.evaluate(f, u).value))
    given, plain = [], ModeSearch._follow

    def follow(self: ModeSearch, cell: Any, u: Any, *how: Any) -> None:
        given.append(how)
        plain(self, cell, u, *how)

    monkeypatch.setattr(ModeSearch, "_follow", follow)
    found = search.run(fixed_starts(np.full((1, 3), LOW)))  # which leads nowhere
    assert given == [(5 + 3, 1e-6, search._reached), (100, 0.0, _astray)]
    assert found.objective[0, 0, 0] == pytest.approx(best.objective[0, 0, 0], abs=1e-8)


def test_on_a_path_starts_lead_to_the_known_and_others_go_astray() -> None:
    search, _ = search_of(np.array([0.1, 0.2]), F=1, d=1)
    search._table._append(np.array([1]), np.array([[1.0]]), np.zeros(1), np.ones(1, bool))
    memo = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 1.0], [1.0, -4.0]])
    rows = prospects([1, 0, 1, 1], [[1.5], [1.5], [1.5], [1.5]], memo=memo)
    assert search._astray_or_reached(rows).tolist() == [True, False, False, True]


def test_a_row_is_astray_far_from_what_it_follows() -> None:
    memo = np.array([[0.0, 1.0, 1.0], [1.0, 1.0, 1.0], [-1.0, 1.0, 1.0]])
    rows = prospects([0, 0, 0], [[9.0, 9.0], [1.0, 5.1], [1.0, 4.9]], memo=memo)
    assert _astray(rows).tolist() == [False, True, False]


def test_rows_that_follow_a_maximum_have_less_to_spend(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, plain = [], Lockstep.add

    def add(solver: Lockstep, *rows: Any, spent: int = 0) -> None:
        seen.append((solver._reach, solver._max_rounds - spent))
        plain(solver, *rows, spent=spent)

    monkeypatch.setattr(Lockstep, "add", add)
    penalized_path(*smooth_runs(9, 2), lambda_grid(), random_state=0)
    follow = [left for reach, left in seen if reach == seen[0][0]]
    assert follow[0] == 26 + 2
    assert set(follow[1:]) == {16}


class Evaluations:
    """Count evaluations with derivatives, and the threads of BLAS meanwhile."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.points, self.threads = 0, set[int]()
        plain = BatchLikelihood.evaluate

        def evaluate(
            likelihood: BatchLikelihood, which: IntArray, log_params: FloatArray, **options: Any
        ) -> LogLik:
            if options.get("derivatives", True):
                self.points += len(which)
            libraries = [lib for lib in threadpool_info() if lib["user_api"] == "blas"]
            self.threads |= {lib["num_threads"] for lib in libraries}
            return plain(likelihood, which, log_params, **options)

        monkeypatch.setattr(BatchLikelihood, "evaluate", evaluate)


@pytest.mark.parametrize("n", [9, 120], ids=["small", "from fewer runs"])
def test_blas_has_one_thread_while_matrices_are_small(
    monkeypatch: pytest.MonkeyPatch, n: int
) -> None:
    seen = Evaluations(monkeypatch)
    with threadpool_limits(2, user_api="blas"):
        penalized_path(*smooth_runs(n, 2), [0.1], n_starts=2, random_state=0)
    assert seen.points
    assert seen.threads == {1}


@pytest.mark.parametrize("d", [1, 2, 4])
def test_more_starts_search_more(monkeypatch: pytest.MonkeyPatch, d: int) -> None:
    X, y = smooth_runs(9, d)
    points = []
    for n_starts in (0, 10, 40):
        seen = Evaluations(monkeypatch)
        penalized_path(X, y, [0.01], n_starts=n_starts, random_state=0)
        points.append(seen.points)
    assert points[0] < points[1] < points[2]
    assert points[2] > points[1] + 30  # each start takes one evaluation at least


def test_more_starts_find_what_few_overlook() -> None:
    rng = np.random.default_rng(30129)
    n = int(rng.choice([8, 15, 25]))
    X = rng.random((n, 2))
    y = np.sin(rng.uniform(2, 30) * X[:, 0]) + 0.5 * np.sin(rng.uniform(2, 40) * X[:, -1])
    y += 0.1 * rng.standard_normal(n)
    y -= y.mean()
    many = np.exp(rng.uniform(-5.0, 4.0, (300, 2)))
    best = penalized_path(X, y, [0.0], n_starts=many).objective[0]
    few, more = (
        [penalized_path(X, y, [0.0], random_state=k, n_starts=n).objective[0] for k in range(4)]
        for n in (1, 60)
    )
    assert min(few) < best - 1.0
    assert np.allclose(more, best, atol=1e-6)


class Broadcasting:
    """A user's lasso, whose derivatives are as small as broadcasting allows."""

    name: ClassVar[str] = "broadcasting"

    def value(self, theta: FloatArray, lam: FloatArray) -> FloatArray:
        """Return lambda theta."""
        return lam * theta

    def gradient(self, theta: FloatArray, lam: FloatArray) -> FloatArray:
        """Return lambda."""
        return lam

    def curvature(self, theta: FloatArray, lam: FloatArray) -> FloatArray:
        """Return 0."""
        return np.zeros(1)


def test_the_derivatives_of_a_penalty_may_be_broadcast() -> None:
    X, y = smooth_runs(9, 3)
    ours = penalized_path(X, y, lambda_grid(), random_state=0)
    theirs = penalized_path(X, y, lambda_grid(), penalty=Broadcasting(), random_state=0)
    assert np.allclose(ours.objective, theirs.objective, rtol=1e-9)


@pytest.mark.parametrize("n", [12, 130])
@pytest.mark.parametrize("offset", [1e3, 1e6, 1e9])
def test_an_offset_of_the_response_does_not_matter_to_a_constant_mean(
    n: int, offset: float
) -> None:
    X, y = smooth_runs(n, 2)
    model: dict[str, Any] = {"mean": "constant", "nugget": 1e-4, "n_starts": 2, "random_state": 0}
    y = (y + offset) - offset  # what is left of it beside the offset
    plain = penalized_path(X, y, [0.01], **model)
    fit = penalized_path(X, y + offset, [0.01], **model)
    assert fit.converged.all()
    assert np.allclose(fit.objective, plain.objective, atol=1e-6)
    assert np.allclose(fit.mean - offset, plain.mean, atol=1e-6)
