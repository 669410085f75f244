"""Runs predicted by fits that did not know them."""

from dataclasses import replace

import numpy as np
import pytest

from pengp import PenalizedGPRegressor, PenalizedGPRegressorCV, diagnose, load_piston_slap
from pengp.choosing import random_folds
from pengp.model import condition, get_kernel
from pengp.path import penalized_path


def test_folds_predict_with_their_own_estimates() -> None:
    runs = load_piston_slap()
    plan = random_folds(12, 4, repeats=2, random_state=1)
    model = PenalizedGPRegressorCV(cv=plan, random_state=0).fit(runs.X, runs.y)
    held = model.held_out()
    table = model.cv_table_
    # The table's PE is the sum of squared residuals of each fold, on the standardised response.
    errors = table.values["pe"][table.lams == model.lam_][0]
    sd = runs.y.std(ddof=1)
    assert ((held.y - held.mean) ** 2).sum() / sd**2 == pytest.approx(errors.sum(), rel=1e-9)
    assert sorted(held.run.tolist()) == sorted([*range(12)] * 2)
    np.testing.assert_array_equal(held.y, runs.y[held.run])
    assert held.how == "4 random folds, dealt 2 times"


def test_without_folds_each_run_is_left_out_and_theta_estimated_anew() -> None:
    runs = load_piston_slap()
    model = PenalizedGPRegressor(0.05, random_state=0).fit(runs.X, runs.y)
    held = model.held_out(level=0.9)
    X, sd = (runs.X - runs.X.min(0)) / np.ptp(runs.X, axis=0), runs.y.std(ddof=1)
    y = (runs.y - runs.y.mean()) / sd
    for i in (0, 7):
        others = np.arange(12) != i
        fit = penalized_path(X[others], y[others], [0.05], n_starts=30, random_state=3)
        process = condition(
            X[others], y[others], fit.theta[0], kernel=get_kernel("sqexp"), nugget=1e-5
        )
        mean, variance = process.predict(X[[i]])
        assert held.mean[i] == pytest.approx(runs.y.mean() + sd * mean[0], rel=1e-6)
        assert held.std[i] == pytest.approx(sd * np.sqrt(process.sigma2 * variance[0]), rel=1e-4)
    half = 1.6448536269514722 * held.std
    np.testing.assert_allclose(held.upper - held.mean, half, rtol=1e-12)


def test_several_outputs_are_held_out_one_by_one() -> None:
    runs = load_piston_slap()
    both = PenalizedGPRegressor(0.05, random_state=0).fit(
        runs.X, np.column_stack([runs.X[:, 0], runs.y])
    )
    alone = PenalizedGPRegressor(0.05, random_state=0).fit(runs.X, runs.y)
    np.testing.assert_allclose(both.held_out(1).mean, alone.held_out().mean, rtol=1e-9)


def test_the_diagnosis_believes_the_runs_that_were_held_out() -> None:
    runs = load_piston_slap()
    plan = random_folds(12, 4, repeats=10, random_state=0)
    model = PenalizedGPRegressorCV(cv=plan, random_state=0).fit(runs.X, runs.y)
    found = diagnose(model)
    assert found.held_out is not None
    anew, kept = found.held_out.scores(), model.held_out(keep_theta=True).scores()
    assert anew["rmse"] > 1.5 * kept["rmse"]  # this is why the paper's runs are hard
    assert {"useless", "flattering"} <= {finding.code for finding in found.findings}


def test_theta_may_be_kept_for_comparison() -> None:
    runs = load_piston_slap()
    model = PenalizedGPRegressor(0.05, random_state=0).fit(runs.X, runs.y)
    kept = model.held_out(keep_theta=True)
    np.testing.assert_allclose(kept.mean, model.loo_.mean, rtol=1e-9)
    np.testing.assert_allclose(kept.std, model.loo_.std, rtol=1e-9)


def test_the_log_score_is_infinite_as_soon_as_a_run_has_no_density() -> None:
    runs = load_piston_slap()
    held = PenalizedGPRegressor(0.05, random_state=0).fit(runs.X, runs.y).held_out()
    some = held.log_density.copy()
    some[:2] = np.inf, -np.inf  # exact without spread, and wrong without spread
    assert replace(held, log_density=some).scores()["log_score"] == np.inf
