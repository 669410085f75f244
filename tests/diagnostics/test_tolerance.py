"""Whether a surrogate is good enough for a tolerance, against Monte Carlo and further runs."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, norm

from pengp import BayesianGPRegressor, InputError, PenalizedGPRegressor, load_piston_slap
from pengp.datasets import continue_design
from pengp.diagnostics import GoodEnough, good_enough
from pengp.diagnostics.future import Future
from pengp.diagnostics.tolerance import _share
from pengp.estimators.view import view_of
from pengp.model import get_kernel

BOUNDS = [(0.0, 1.0)] * 2
RUNS = load_piston_slap()


def smooth(X: Any) -> Any:
    return np.sin(3.0 * X[:, 0]) + np.cos(2.0 * X[:, 1])


@pytest.fixture(scope="module")
def average() -> BayesianGPRegressor:
    return BayesianGPRegressor(random_state=0).fit(RUNS.X, RUNS.y)


def known_theta(n: int) -> PenalizedGPRegressor:
    """Return a fit at theta = 4 in both inputs, whatever the runs."""
    X = np.random.default_rng(1).random((n, 2))
    model = PenalizedGPRegressor(0.0, theta_bounds=(4.0, 4.0001), input_bounds=BOUNDS)
    return model.set_params(nugget=1e-8, kernel="matern52", random_state=0).fit(X, smooth(X))


def test_the_probability_is_that_of_draws_from_the_laws(average: BayesianGPRegressor) -> None:
    found, rng = good_enough(average, tolerance=2.0), np.random.default_rng(0)
    low, high = RUNS.X.min(0), RUNS.X.max(0)
    X = rng.uniform(low, high, (200, 6))
    # All points are drawn together; the errors of a point are those of its own law.
    draws = average.sample_y(X, 2000, rng)
    error = np.abs(draws - average.predict(X)[:, None])
    assert found.probability == pytest.approx(np.mean(error <= 2.0), abs=0.025)


def test_of_one_normal_law_it_is_the_error_function() -> None:
    model = known_theta(9)
    X = np.random.default_rng(2).random((20_000, 2))
    std = model.predict(X, return_std=True)[1]
    found = good_enough(model, tolerance=0.05, probability=0.999)
    assert found.probability == pytest.approx(np.mean(1 - 2 * norm.sf(0.05 / std)), abs=0.01)


def test_more_runs_leave_the_variance_that_was_foretold() -> None:
    model = known_theta(7)
    future = Future.of(view_of(model))
    for k in (1, 4, 16):
        more = model.condition_on(future.add[:k], smooth(future.add[:k]))
        variance = more.predict(future.X, return_std=True)[1] ** 2  # the cube is the design region
        nugget = 1e-8 * model.sigma2_ * np.var(model.y_train_, ddof=1)
        told = future.after(k).variance(np.ones(1)) * future.unit**2
        assert told == pytest.approx(np.mean(np.maximum(variance - nugget, 0.0)), rel=1e-6)


def test_the_share_within_the_tolerance_after_more_runs_is_as_foretold() -> None:
    """Draw the response from the process itself, add the runs, count the errors."""
    rng, n, k, m = np.random.default_rng(3), 6, 4, 200
    theta, X = np.array([4.0, 4.0]), rng.random((6, 2))
    add = continue_design(X, k, random_state=0)
    points = np.vstack([X, add, rng.random((m, 2))])
    R = get_kernel("matern52").pairwise(points[None], points[None], theta[None])[0]
    root = np.linalg.cholesky(R + 1e-8 * np.eye(len(R)))
    known = np.arange(n + k)
    a = np.linalg.solve(R[np.ix_(known, known)] + 1e-8 * np.eye(n + k), R[known, n + k :])
    Y = root @ rng.standard_normal((len(R), 2000))
    within = np.mean(np.abs(Y[n + k :] - a.T @ Y[: n + k]) <= 0.2)
    model = PenalizedGPRegressor(0.0, theta_bounds=(4.0, 4.0001), input_bounds=BOUNDS)
    model.set_params(nugget=1e-8, kernel="matern52", random_state=0).fit(X, Y[:n, 0])
    future = Future.of(view_of(model))
    np.testing.assert_array_equal(future.add[:k], add)
    # The variance of this response is estimated; the process has the variance 1.
    scale = np.sqrt(model.sigma2_) * 0.2
    assert future.after(k).probability(scale) == pytest.approx(within, abs=0.03)


def test_processes_of_an_average_come_closer_as_their_variance_falls(
    average: BayesianGPRegressor,
) -> None:
    future = Future.of(view_of(average))
    steps, more = future.search(3.0, 0.99)
    assert more is None or more > 1
    assert (np.diff([step.probability for step in steps]) > -0.01).all()
    assert (np.diff([step.variance for step in steps]) < 0.0).all()
    std = average.predict(
        np.random.default_rng(0).uniform(RUNS.X.min(0), RUNS.X.max(0), (2000, 6)), return_std=True
    )[1]
    assert steps[0].variance == pytest.approx(np.mean(std**2), rel=0.1)


def test_the_answer_counts_runs_that_then_reach_the_goal() -> None:
    model = known_theta(8)
    found = good_enough(model, tolerance=0.05, probability=0.9)
    if not found.contradicted:
        assert not found.enough
    assert found.more_runs
    future = Future.of(view_of(model))
    factor = future.stretch(0.05, found.believed) if found.contradicted else 1.0
    tolerance = 0.05 / factor / future.unit
    assert future.after(found.more_runs).probability(tolerance) == pytest.approx(0.9, abs=0.04)
    assert "more runs that fill the design region" in " ".join(found.sentences())


def test_an_absurd_number_of_runs_is_not_told() -> None:
    model = PenalizedGPRegressor(0.0, random_state=0).fit(RUNS.X, RUNS.y)
    found = good_enough(model, tolerance=1e-4)
    assert found.more_runs is None
    assert "more than 10 times as many runs" in " ".join(found.sentences())
    assert found.steps[-1].k == 120


def test_runs_that_were_learned_later_are_not_said_to_be_held_out() -> None:
    later = known_theta(9).condition_on([[0.5, 0.5]], [1.0])
    found = good_enough(later, tolerance=9.0)
    assert found.runs == len(later.held_out().run) == 9
    assert "Of the 9 runs, held out" in " ".join(found.sentences())


def test_held_out_runs_count_where_they_contradict_the_laws() -> None:
    found = GoodEnough(0.5, 0.9, 0.99, 0.5, 0.2, 0.8, 12, "how", (), 7)
    assert found.contradicted
    assert (found.believed, found.enough) == (0.5, False)
    assert "that contradicts the laws, and counts" in " ".join(found.sentences())
    found = GoodEnough(0.5, 0.9, 0.99, 0.9, 0.6, 0.995, 12, "how", (), 0)
    assert (found.contradicted, found.believed, found.enough) == (False, 0.99, True)
    found = GoodEnough(0.5, 0.9, 0.5, None, 0.0, 1.0, 3, "", (), None)
    assert (found.contradicted, found.believed, found.enough) == (False, 0.5, False)


def test_stretched_laws_have_the_share_that_is_believed() -> None:
    future = Future.of(view_of(known_theta(9)))
    factor = future.stretch(0.05, 0.4)
    assert future.now(0.05 / factor) == pytest.approx(0.4, abs=1e-4)


def test_the_interval_of_the_share_is_clopper_and_pearsons() -> None:
    model = known_theta(9)
    held = model.held_out()
    errors = np.sort(np.abs(held.y - held.mean))
    share, lower, upper = _share(held, float(errors[6]))
    assert share == 7 / 9
    assert binom.sf(6, 9, lower) == pytest.approx(0.025, rel=1e-6)
    assert binom.cdf(7, 9, upper) == pytest.approx(0.025, rel=1e-6)
    assert _share(held, float(errors[0]) / 2)[:2] == (0.0, 0.0)
    assert _share(held, 99.0)[0::2] == (1.0, 1.0)


def test_a_nugget_that_is_too_large_is_named() -> None:
    X = np.linspace(0.0, 1.0, 25)[:, None]
    model = PenalizedGPRegressor(0.0, theta_bounds=(0.1, 0.1001), nugget=1e-2, random_state=0)
    model.fit(X, np.sin(3.0 * X[:, 0]))
    nugget = 0.1 * np.sqrt(model.sigma2_) * np.sin(3.0 * X[:, 0]).std(ddof=1)
    found = good_enough(model, tolerance=nugget, probability=0.8)  # one standard deviation: 0.68
    assert not found.contradicted
    assert found.more_runs == 0
    assert "The nugget alone" in " ".join(found.sentences())


def test_without_more_runs_the_laws_are_what_they_are() -> None:
    # Else a nugget would be blamed that is not fixed.
    model = BayesianGPRegressor(kernels="sqexp", nugget="sample", random_state=0)
    future = Future.of(view_of(model.fit(RUNS.X, RUNS.y)))
    assert len(model.components_.weight) > 32
    for tolerance in (0.5, 2.0, 5.0):
        found = future.after(0).probability(tolerance / future.unit)
        assert found == pytest.approx(future.now(tolerance), abs=1e-9)


def test_nonsense_is_refused(average: BayesianGPRegressor) -> None:
    for tolerance in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(InputError, match="above 0, in the response's unit"):
            good_enough(average, tolerance=tolerance)
    with pytest.raises(InputError, match="probability=95 must lie between 0 and 1"):
        good_enough(average, tolerance=1.0, probability=95)
