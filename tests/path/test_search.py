"""The global search: which starts it chooses, what it predicts, and when it gives up."""

import re
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from benchmarks.tuning import OTHERS, WITHOUT
from pengp import lambda_grid, penalized_path
from pengp._core.arrays import FloatArray, IntArray
from pengp.model.kernels import KERNELS
from pengp.model.likelihood import BatchLikelihood, LogLik
from pengp.path import settings
from pengp.path.cells import CellObjective
from pengp.path.lockstep import Ended, NextSteps
from pengp.path.newton import newton_point
from pengp.path.penalties import SeparableTerm
from pengp.path.search import Branches, ModeSearch, first_order
from pengp.path.starts import Starts, fixed_starts, start_points
from tests.problems import SEPARABLE, piston_slap_runs, smooth_runs

LOW, HIGH = np.log(1e-3), np.log(1e3)


def search_of(
    lams: FloatArray, penalty: str = "lasso", F: int = 2, d: int = 3
) -> tuple[ModeSearch, BatchLikelihood]:
    """Return a search of F data sets of 9 runs, and their likelihoods."""
    runs = [smooth_runs(9, d, seed) for seed in range(F)]
    X, y = np.stack([r[0] for r in runs]), np.stack([r[1] for r in runs])
    likelihood = BatchLikelihood(X, y, KERNELS["sqexp"], 1e-5)
    low, high = np.full((F, d), LOW), np.full((F, d), HIGH)
    term = SeparableTerm(SEPARABLE[penalty], 9, d)
    return ModeSearch(CellObjective(likelihood, lams, term, low, high)), likelihood


def two_anchors() -> Starts:
    """Return starts of two anchors, at each of which several are to be chosen."""
    rng = np.random.default_rng(0)
    starts = start_points(np.array([0.01, 5.0]), np.full(3, LOW), np.full(3, HIGH), 3, 12, rng)
    assert starts.anchors.tolist() == [0, 1]
    assert (starts.wanted > 1).all()
    return starts


def test_the_starts_of_a_cell_are_the_best_candidates_for_it() -> None:
    lams = np.array([0.01, 5.0])
    search, likelihood = search_of(lams)
    starts = two_anchors()
    N, different = len(starts.candidates), set()
    cell, point = search._starts(starts)
    near = np.abs(starts.scaled[:, None] - starts.scaled).max(-1) < settings.APART
    for f in range(2):
        for a in range(2):
            mine, fixed = point[cell == 2 * f + a], starts.fixed[starts.where == a]
            assert (mine[: len(fixed)] == fixed).all()
            at = likelihood.evaluate(np.full(N, f), starts.candidates, derivatives=False).value
            score = at - 9 * lams[a] * np.exp(starts.candidates).sum(-1)
            left, expected = score.copy(), []
            for _ in range(starts.wanted[a]):
                expected.append(int(left.argmax()))
                left[near[expected[-1]]] = -np.inf
            assert (mine[len(fixed) :] == starts.candidates[expected]).all()
            different.add(tuple(expected))
    assert len(different) > 2  # data sets and lambdas do differ


@pytest.mark.parametrize("lams", [[0.01], [0.01, 5.0]], ids=["one lambda", "path"])
def test_no_estimate_is_below_any_candidate(lams: list[float]) -> None:
    grid = np.array(lams)
    search, likelihood = search_of(grid)
    rng = np.random.default_rng(0)
    starts = start_points(grid, np.full(3, LOW), np.full(3, HIGH), 3, 12, rng)
    found, N = search.run(starts), len(starts.candidates)
    for f in range(2):
        at = likelihood.evaluate(np.full(N, f), starts.candidates, derivatives=False).value
        table = at[:, None] - 9 * grid * np.exp(starts.candidates).sum(-1)[:, None]
        assert (found.objective[f, :, 0] >= table.max(0)).all()


@pytest.mark.parametrize("penalty", ["lasso", "scad", "ridge"])
def test_a_prediction_is_a_newton_step_at_the_next_lambda(penalty: str) -> None:
    lams = np.array([0.02, 0.05, 0.08])
    search, _ = search_of(lams, penalty)
    objective, rng = search._objective, np.random.default_rng(1)
    cell, step = np.array([1, 1, 4, 4]), np.array([-1, 1, -1, 1])
    point = np.log(rng.uniform(0.02, 0.4, (4, 3)))
    at = objective.expand(cell, point)
    same = np.zeros(4)
    rows = Ended(cell, cell, point, at, same, point, at.objective, same == 0.0)
    found = first_order(objective, rows, step)
    there = objective.expand(cell + step, point)
    bounds = objective.bounds(cell)
    expected, _ = newton_point(there, point, *bounds, np.full(4, settings.LONGEST_PREDICTION))
    assert np.allclose(found, expected, rtol=1e-9, atol=1e-10)
    assert np.abs(found - point).max() > 1e-3


def test_the_second_order_term_makes_a_parabola_exact() -> None:
    # A maximum at (lam, lam^2): its first-order prediction errs by (distance along lambda)^2.
    lams = np.array([0.1, 0.2, 0.4])
    maximum = np.column_stack([lams, lams**2])
    first = maximum[:-1] + np.diff(lams)[:, None] * np.column_stack([np.ones(2), 2 * lams[:-1]])
    branches = Branches(2)
    row = branches.add(np.array([1]), first[:1])
    one = np.zeros(1)
    at = search_of(lams, F=1, d=2)[0]._objective.expand(np.array([1]), maximum[1:2])
    ended = Ended(np.array([1]), row, maximum[1:2], at, one, maximum[1:2], one, one == 0.0)
    second = branches.second_order(ended, lams, np.array([1]))
    assert np.allclose(first[1] + second[0], maximum[2])
    back = branches.second_order(ended, lams, np.array([-1]))
    assert (back == 0.0).all()  # nothing is known of that side


def steps_of(cell: list[int], trial: list[list[float]], **fields: Any) -> NextSteps:
    """Return next steps, cut to their radius unless ``fields`` say otherwise."""
    B = len(cell)
    rest = {"row": np.arange(B), "gain": np.ones(B), "cut": np.ones(B, bool)}
    known = settings.KNOWN * np.array(trial)
    return NextSteps(cell=np.array(cell), trial=known, **(rest | fields))


def test_at_one_lambda_a_row_is_given_up_for_a_maximum_that_is_known() -> None:
    search, _ = search_of(np.array([0.1]), F=2, d=2)
    maximum = settings.KNOWN * np.array([[1.0, -2.0]])
    search._table.append(np.array([0]), maximum, np.zeros(1), np.ones(1, bool))
    steps = steps_of([0, 0, 1], [[1.9, -2.9], [1.4, -3.1], [1.0, -2.0]])
    assert search._leads_nowhere_new(steps).tolist() == [True, False, False]


def test_at_one_lambda_a_row_is_given_up_for_one_that_is_ahead() -> None:
    search, _ = search_of(np.array([0.1]), F=2, d=1)
    # of the first data set the third is ahead; the fourth is cut, the fifth elsewhere
    steps = steps_of(
        [0, 0, 0, 0, 0, 1],
        [[0.0], [0.9], [0.1], [0.2], [1.2], [0.1]],
        gain=np.array([3.0, 2.0, 1.0, 0.5, 4.0, 9.0]),
        cut=np.array([False, False, False, True, False, False]),
    )
    given_up = search._leads_nowhere_new(steps)
    assert given_up.tolist() == [True, True, False, False, False, False]


def test_on_a_path_starts_lead_to_the_known_and_others_leave_their_branch() -> None:
    search, _ = search_of(np.array([0.1, 0.2]), F=1, d=1)
    known = settings.KNOWN * np.ones((1, 1))
    search._table.append(np.array([1]), known, np.zeros(1), np.ones(1, bool))
    trial = 1.5 * known
    away = trial + 1.01 * settings.LEFT_BRANCH
    row = search._branches.add(
        np.array([0, 0, 1, 1, -1]), np.concatenate([trial, trial, known, away, away])
    )
    steps = steps_of([1, 0, 1, 1, 1], [[1.5]] * 5, row=row)
    assert search._leads_nowhere_new(steps).tolist() == [True, False, False, True, True]


def test_a_cell_is_searched_again_from_a_point_that_beats_its_maxima() -> None:
    unpenalized = np.zeros(1)
    anywhere = np.random.default_rng(0).uniform(-5.0, 2.5, (20, 3))
    best = search_of(unpenalized, F=1)[0].run(fixed_starts(anywhere))
    plain = search_of(unpenalized, F=1)[0].run(fixed_starts(np.full((1, 3), LOW)))
    assert plain.objective[0, 0, 0] < best.objective[0, 0, 0] - 1.0  # the start leads elsewhere
    search, likelihood = search_of(unpenalized, F=1)
    one, point = np.zeros(1, dtype=np.int64), best.point[0, 0, :1]
    search._objective._seen.append((one, point, likelihood.evaluate(one, point).value))
    found = search.run(fixed_starts(np.full((1, 3), LOW)))
    assert found.objective[0, 0, 0] == pytest.approx(best.objective[0, 0, 0], abs=1e-8)


@pytest.mark.parametrize(
    "patient",
    [
        {"PATIENCE": 200},
        {"KNOWN": -1.0},
        {"LEFT_BRANCH": np.inf},
        {"MISSING": 0.1},
        {"FOLLOW_STEP": 3e-4, "FOLLOW_GAIN": 0.0},
    ],
    ids="-".join,
)
def test_more_patience_finds_no_better_estimate(
    monkeypatch: pytest.MonkeyPatch, patient: dict[str, float]
) -> None:
    lams = lambda_grid("paper", n=21)
    for X, y in (piston_slap_runs(), smooth_runs(9, 3), smooth_runs(12, 2)):
        fit = penalized_path(X, y, lams, random_state=0)
        with monkeypatch.context() as slower:
            for name, value in patient.items():
                slower.setattr(settings, name, value)
            longer = penalized_path(X, y, lams, random_state=0)
        assert longer.n_evaluations >= fit.n_evaluations
        assert np.allclose(fit.objective, longer.objective, atol=1e-6)


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
    label: ClassVar[str] = "broadcasting"

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


def test_the_benchmark_measures_every_tuned_constant() -> None:
    tuned = Path(settings.__file__).read_text(encoding="utf-8").split("# Numerical limits")[0]
    names = re.findall(r"^([A-Z_, ]+) = ", tuned, re.MULTILINE)
    assert set(names) == {*WITHOUT, *OTHERS}
    assert all(hasattr(settings, name) for name in names)
