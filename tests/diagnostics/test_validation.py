"""Test runs beside what the fit promised, and judged together."""

from dataclasses import replace
from typing import Literal

import numpy as np
import pytest
from scipy.stats import kstest, ttest_ind

from pengp import BayesianGPRegressor, PenalizedGPRegressor, latin_hypercube
from pengp.diagnostics import validate
from pengp.diagnostics.validation import _far_together, chance
from pengp.estimators.joint import joint_errors
from pengp.estimators.view import view_of
from pengp.model import correlation, get_kernel
from pengp.model.kernels import KernelName
from pengp.plots import CoverageDisplay, LeaveOneOutDisplay, PivotedErrorsDisplay

RNG = np.random.default_rng(0)
X, NEW = latin_hypercube(14, 2, random_state=0), RNG.random((25, 2))
Y = np.sin(5.0 * X[:, 0]) + X[:, 1]


@pytest.fixture(scope="module")
def average() -> BayesianGPRegressor:
    return BayesianGPRegressor(random_state=0, input_bounds=[(0.0, 1.0)] * 2).fit(X, Y)


@pytest.fixture(scope="module")
def penalized() -> PenalizedGPRegressor:
    return PenalizedGPRegressor(0.01, random_state=0, input_bounds=[(0.0, 1.0)] * 2).fit(X, Y)


def test_scores_of_an_average_are_those_of_its_mixture(average: BayesianGPRegressor) -> None:
    y = average.predict(NEW) + 0.5 * RNG.standard_normal(25)
    found, law = validate(average, NEW, y, level=0.9), average.predictive_law(NEW)
    lower, upper = average.predict_interval(NEW, 0.9)
    assert found.scores["coverage"] == np.mean((lower <= y) & (y <= upper))
    assert found.scores["crps"] == pytest.approx(law.crps(y).mean(), rel=1e-12)
    assert found.check.inside == ((lower <= y) & (y <= upper)).sum()
    assert found.held_out is not None
    promised = {d.name: d.promised for d in found.differences}
    assert promised["rmse"] == average.held_out(level=0.9).scores()["rmse"]


def test_joint_errors_of_a_penalized_fit_by_their_definition(
    penalized: PenalizedGPRegressor,
) -> None:
    y = np.sin(5.0 * NEW[:, 0]) + NEW[:, 1]
    found = joint_errors(view_of(penalized), NEW, y, 0.95)
    mean, cov = penalized.predict(NEW, return_cov=True)
    e = y - mean
    assert found.distance == pytest.approx(e @ np.linalg.solve(cov, e), rel=1e-6)
    np.testing.assert_allclose(found.standardized, e / np.sqrt(np.diagonal(cov)), rtol=1e-6)
    L = np.linalg.cholesky(cov[np.ix_(found.order, found.order)])
    np.testing.assert_allclose(found.pivoted, np.linalg.solve(L, e[found.order]), rtol=1e-5)
    # 14 runs, no mean: F with 25 and 14 degrees of freedom, not scaled.
    assert found.expected == pytest.approx(25 * 14 / 12, rel=1e-12)
    assert found.p_smaller + found.p_larger == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("likelihood", ["profile", "marginal"])
def test_the_reference_knows_what_sigma2_was_divided_by(
    likelihood: Literal["profile", "marginal"],
) -> None:
    model = PenalizedGPRegressor(0.0, mean="linear", likelihood=likelihood, random_state=0)
    model.set_params(theta_bounds=(4.0, 4.0001), input_bounds=[(0.0, 1.0)] * 2).fit(X, Y)
    y = (Y - Y.mean()) / Y.std(ddof=1)
    R = correlation(X, model.theta_)
    F = np.column_stack([np.ones(14), X])
    P = np.linalg.inv(R)
    P -= P @ F @ np.linalg.solve(F.T @ P @ F, F.T @ P)
    # With the true theta y' P y is sigma2 times chi-squared with 14 - 3 degrees of freedom.
    divisor = y @ P @ y / model.sigma2_
    found = joint_errors(view_of(model), NEW, np.sin(5.0 * NEW[:, 0]) + NEW[:, 1], 0.95)
    assert found.expected == pytest.approx(divisor / 11 * 25 * 11 / 9, rel=1e-6)


@pytest.mark.filterwarnings("ignore:X is constant")
def test_the_reference_counts_the_coefficients_that_were_estimated() -> None:
    still, new = np.column_stack([X, np.ones(14)]), np.column_stack([NEW, np.ones(25)])
    model = PenalizedGPRegressor(0.0, mean="linear", random_state=0).fit(still, Y)
    found = joint_errors(view_of(model), new, model.predict(new), 0.95)
    assert found.law == "scaled F with 25 and 11 degrees of freedom"  # a level and two slopes


def test_the_reference_of_an_average_is_right_for_its_own_draws(
    average: BayesianGPRegressor,
) -> None:
    view, places = view_of(average), NEW[:8]
    draws = average.sample_y(places, 150, np.random.default_rng(5))
    found = [joint_errors(view, places, y, 0.95) for y in draws.T]
    tails = [one.p_larger for one in found]
    assert kstest(tails, "uniform").pvalue > 0.01
    assert kstest([one.balance[1] for one in found], "uniform").pvalue > 0.01
    pivoted = np.array([one.pivoted for one in found])
    assert np.mean(pivoted < found[0].lower) == pytest.approx(0.025, abs=0.02)
    assert np.mean(pivoted > found[0].upper) == pytest.approx(0.025, abs=0.02)


def distance_finding(truth: str, kernel: KernelName, theta: float, stretch: float = 1.0) -> str:
    """Judge a draw of a process with theta = 4 by one with another kernel, theta or variance."""
    rng = np.random.default_rng(1)
    design, places = latin_hypercube(12, 2, random_state=1), rng.random((30, 2))
    every, fours = np.vstack([design, places]), np.full((1, 2), 4.0)
    R = get_kernel(truth).pairwise(every[None], every[None], fours)[0] + 1e-7 * np.eye(42)
    y = np.linalg.cholesky(R) @ rng.standard_normal(42)
    model = PenalizedGPRegressor(0.0, kernel=kernel, nugget=1e-7, random_state=0)
    model.set_params(input_bounds=[(0.0, 1.0)] * 2, theta_bounds=(theta, 1.0001 * theta))
    model.fit(design, y[:12])
    seen = model.predict(places) + stretch * (y[12:] - model.predict(places))
    found = validate(model, places, seen).findings
    return " ".join(f.message for f in found if f.code == "distance")


def test_a_wrong_variance_and_a_wrong_correlation_are_told_apart() -> None:
    for kernel in ("sqexp", "matern52"):
        assert distance_finding(kernel, kernel, 4.0) == ""
        assert "the variance is too small" in distance_finding(kernel, kernel, 4.0, 6.0)
        assert "the variance is too large" in distance_finding(kernel, kernel, 4.0, 0.05)
    assert "too long, or the kernel is too smooth" in distance_finding("matern52", "sqexp", 2.0)
    assert "the lengthscales are too short" in distance_finding("sqexp", "sqexp", 30.0)


def test_runs_of_the_fit_say_nothing_of_its_variance(penalized: PenalizedGPRegressor) -> None:
    (told,) = (f.message for f in validate(penalized, X, Y).findings if f.code == "distance")
    assert "14 of them are at runs that the model was fitted to" in told
    assert "the variance is too" not in told


def test_errors_that_are_only_in_the_wrong_places_are_not_called_too_large(
    penalized: PenalizedGPRegressor,
) -> None:
    joint = joint_errors(view_of(penalized), NEW, penalized.predict(NEW), 0.95)
    right = replace(joint, p_smaller=0.6, p_larger=0.4)
    (found,) = _far_together(replace(right, balance=(0.999, 0.001)))
    assert "the errors are as large as the model says, but not where it says (p = 0.002)" in (
        found.message
    )
    assert "too large at runs that others should predict well" in found.message
    assert not list(_far_together(replace(right, balance=(0.6, 0.4))))
    (found,) = _far_together(replace(right, p_smaller=0.999, p_larger=0.001, balance=(0.6, 0.4)))
    assert "smaller than the model says" in found.message  # the distance is 0


def test_runs_worse_than_promised_are_told_and_chance_is_not() -> None:
    x = np.linspace(0.0, 1.0, 15)[:, None]
    model = PenalizedGPRegressor(0.01, random_state=0).fit(x, np.sin(4.0 * x[:, 0]))
    far = np.linspace(1.5, 3.0, 20)[:, None]
    codes = [f.code for f in validate(model, far, np.sin(4.0 * far[:, 0])).findings]
    assert "promise" in codes
    assert "useless" in codes
    message = next(
        f for f in validate(model, far, np.sin(4.0 * far[:, 0])).findings if f.code == "promise"
    ).message
    assert "RMSE" in message
    assert "may lie where the runs of the fit do not" in message
    held = model.held_out()
    near = validate(model, x[:0:-2] - 1e-3, np.sin(4.0 * (x[:0:-2, 0] - 1e-3)))
    assert all(d.seen < d.promised for d in near.differences if d.name == "rmse")
    assert held.scores()["rmse"] == near.differences[0].promised


def test_chance_is_that_of_exchanges() -> None:
    assert chance(np.array([1.0, 2.0]), np.array([1.0, 2.0])) == 1.0
    # Of the 10 ways to choose 2 of 5, one has a sum as large as 7 + 8 and one as small.
    assert chance(np.array([7.0, 8.0]), np.array([0.0, 0.1, 0.2])) == pytest.approx(0.1, abs=0.01)
    rng = np.random.default_rng(0)
    a, b = rng.exponential(1.0, 60), rng.exponential(1.6, 40)
    welch = ttest_ind(a, b, equal_var=False).pvalue
    assert chance(a, b) == pytest.approx(welch, abs=0.02)
    tails = [chance(rng.exponential(size=9), rng.exponential(size=12)) for _ in range(40)]
    assert kstest(tails, "uniform").pvalue > 0.01


def test_displays_of_test_runs_know_the_laws(average: BayesianGPRegressor) -> None:
    y = np.sin(5.0 * NEW[:, 0]) + NEW[:, 1]
    law = average.predictive_law(NEW)
    shown = CoverageDisplay.from_test_runs(average, NEW, y)
    for level in (0.3, 0.95):
        lower, upper = law.interval(level).T
        at = np.flatnonzero(np.isclose(shown.levels, level))[0]
        assert shown.coverage[at] == np.mean((lower <= y) & (y <= upper))
    ends = LeaveOneOutDisplay.from_test_runs(average, NEW, y, level=0.8)
    np.testing.assert_allclose([ends.lower, ends.upper], law.interval(0.8).T, rtol=1e-12)
    pivoted = PivotedErrorsDisplay.from_test_runs(average, NEW, y)
    assert pivoted.distance == pytest.approx(pivoted.errors @ pivoted.errors, rel=1e-12)
    ax = pivoted.plot().ax_
    drawn = np.concatenate([line.get_ydata() for line in ax.lines[1:]])
    assert sorted(drawn) == pytest.approx(sorted(pivoted.errors))


def test_of_very_many_test_runs_some_are_judged_together(average: BayesianGPRegressor) -> None:
    many = np.random.default_rng(2).random((1001, 2))
    found = joint_errors(view_of(average), many, np.sin(5.0 * many[:, 0]) + many[:, 1], 0.95)
    assert len(found.run) == 400
    assert set(found.order) <= set(found.run)
    assert found.run[0] == 0
    assert found.run[-1] == 1000
