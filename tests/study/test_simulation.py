"""The numerical studies, against draws and scores written out again."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from pengp import lambda_grid, penalized_path, profile_loglik
from pengp._core.arrays import FloatArray
from pengp.datasets.functions import get_function
from pengp.estimators import PenalizedGPRegressor, PenalizedGPRegressorCV
from pengp.path.penalties import PenaltyName
from pengp.study.rows import scaled_runs
from pengp.study.simulation import Draw, draw
from pengp.study.task import Task
from pengp.study.ten_starts import ten_starts
from tests.study.rows import rows_of

METHODS = ["mle", "mle_nugget", "pe", "md", "score", "dpe", "dpe_1se", "pmle_star"]
SIZES = {"lim": (2, 10, 200), "franke": (2, 10, 200), "piston": (7, 15, 700)}
SIZES["borehole"] = (8, 15, 800)


def paper_scores(y: FloatArray, mean: FloatArray, std: FloatArray) -> tuple[float, float, float]:
    """Return RMSE and CRPS as Section 4 writes them, and the coverage of 95 % intervals."""
    z = (y - mean) / std
    terms = std * (1 / np.sqrt(np.pi) - 2 * norm.pdf(z) - z * (2 * norm.cdf(z) - 1))
    inside = np.abs(z) <= norm.ppf(0.975)
    return float(np.sqrt(np.mean((y - mean) ** 2))), float(-terms.mean()), float(inside.mean())


def by_hand(
    data: Draw, name: str, penalty: PenaltyName
) -> dict[str, tuple[float, float, float, float]]:
    """Return lambda and scores of each method, in the user's units and by the estimators."""
    settings: dict[str, Any] = {
        "input_bounds": get_function(name).bounds,
        "random_state": data.seed,
    }
    cv = PenalizedGPRegressorCV(cv=data.plan, penalty=penalty, **settings).fit(data.X, data.y)
    free = PenalizedGPRegressor(nugget="estimate", **settings).fit(data.X, data.y)
    models = {"mle": cv.at_lambda(0.0), "mle_nugget": free}
    for metric in ("pe", "md", "score", "dpe"):
        models[metric] = cv.at_lambda(cv.cv_table_.best(metric))
    models["dpe_1se"] = cv.at_lambda(cv.cv_table_.one_se("dpe"))
    path = [cv.at_lambda(lam) for lam in cv.lams_]
    errors = [np.sum((data.y_test - model.predict(data.X_test)) ** 2) for model in path]
    models["pmle_star"] = path[int(np.argmin(errors))]
    return {
        name: (
            float(model.lam_),
            *paper_scores(data.y_test, *model.predict(data.X_test, return_std=True)),
        )
        for name, model in models.items()
    }


@pytest.mark.parametrize(
    ("study", "name", "repetition"),
    [
        ("simulation", "lim", 0),
        ("simulation", "franke", 3),
        ("simulation", "borehole", 1),
        ("simulation-scad", "lim", 7),
        ("simulation-scad", "piston", 2),
    ],
)
def test_a_task_agrees_with_the_estimators(study: str, name: str, repetition: int) -> None:
    rows = rows_of(study, name, repetition)
    penalty: PenaltyName = "scad" if study.endswith("scad") else "lasso"
    expected = by_hand(draw(Task(study, name, repetition)), name, penalty)
    assert list(expected) == METHODS
    for method, (lam, *scores) in expected.items():
        mine = [row for row in rows if row.method == method and row.metric != "nugget"]
        assert [row.metric for row in mine] == ["rmse", "crps", "coverage"]
        assert [row.lam for row in mine] == [lam] * 3
        assert [row.value for row in mine] == pytest.approx(scores, rel=1e-5)


def test_these_repetitions_tell_the_methods_apart() -> None:
    lams = {row.method: row.lam for row in rows_of("simulation", "lim", 0)}
    assert len(set(lams.values())) >= 4


@pytest.mark.parametrize("name", SIZES)
def test_a_draw_has_the_papers_sizes(name: str) -> None:
    d, n, m = SIZES[name]
    data, bounds = draw(Task("simulation", name, 5)), get_function(name).bounds
    assert (data.X.shape, data.X_test.shape) == ((n, d), (m, d))
    for X in (data.X, data.X_test):  # a Latin hypercube: one point in each of n slices
        slices = np.floor((X - bounds[:, 0]) / (bounds[:, 1] - bounds[:, 0]) * len(X))
        assert (np.sort(slices, axis=0) == np.arange(len(X))[:, None]).all()
    assert [len(test) for test in data.plan.test] == [n // 5] * 5
    np.testing.assert_array_equal(np.sort(np.concatenate(data.plan.test)), np.arange(n))


def test_responses_are_those_of_the_function() -> None:
    data = draw(Task("simulation", "lim", 0))
    for X, y in ((data.X, data.y), (data.X_test, data.y_test)):
        x1, x2 = X.T
        expected = ((30 + 5 * x1 * np.sin(5 * x1)) * (4 + np.exp(-5 * x2)) - 100) / 6
        np.testing.assert_allclose(y, expected, rtol=1e-13)


@pytest.mark.parametrize("name", SIZES)
def test_no_lambda_beats_the_one_that_is_best_on_the_test_runs(name: str) -> None:
    rows = rows_of("simulation", name, 0)
    best = rows.only("pmle_star", "rmse")
    errors = [rows.only(method, "rmse") for method in METHODS if method != "mle_nugget"]
    assert min(errors) == best < max(errors)


def test_the_papers_search_finds_the_maximum_or_misses_it() -> None:
    missed = 0
    for repetition in range(6):
        data = draw(Task("simulation", "franke", repetition))
        runs = scaled_runs(data.X, data.y, get_function("franke").bounds)
        theta = ten_starts(runs, data.seed)
        reached = profile_loglik(runs.X, runs.y, theta).value
        best = penalized_path(runs.X, runs.y, lambda_grid(), random_state=data.seed).loglik[0]
        assert reached <= best + 1e-6
        missed += bool(reached < best - 1e-3)
        at = profile_loglik(runs.X, runs.y, theta)
        slope = at.gradient[:2] * ((theta > 1e-3) | (at.gradient[:2] > 0))
        assert np.abs(slope).max() < 1e-2  # a local maximum, as far as optim goes
    assert missed < 6


def test_the_papers_search_is_judged_like_the_others() -> None:
    rows, data = rows_of("simulation", "lim", 0), draw(Task("simulation", "lim", 0))
    runs = scaled_runs(data.X, data.y, get_function("lim").bounds)
    theta, U = ten_starts(runs, data.seed), runs.inputs.transform(data.X_test)
    R, k = (
        np.exp(-(theta * (A[:, None] - runs.X) ** 2).sum(-1)) for A in (runs.X, U)
    )  # the paper's correlation, nugget on its diagonal alone
    R += 1e-5 * np.eye(len(R))
    weights = np.linalg.solve(R, k.T)
    sigma2 = runs.y @ np.linalg.solve(R, runs.y) / len(runs.y)
    std = np.sqrt(sigma2 * (1.0 + 1e-5 - (k.T * weights).sum(0)))
    mean, unit = data.y.mean() + data.y.std(ddof=1) * (weights.T @ runs.y), data.y.std(ddof=1)
    expected = paper_scores(data.y_test, mean, unit * std)
    found = [rows.only("mle_ten_starts", metric) for metric in ("rmse", "crps", "coverage")]
    assert found == pytest.approx(expected, rel=1e-8)


def test_an_estimated_nugget_is_reported() -> None:
    data = draw(Task("simulation", "lim", 0))
    bounds = get_function("lim").bounds
    model = PenalizedGPRegressor(nugget="estimate", input_bounds=bounds, random_state=data.seed)
    expected = model.fit(data.X, data.y).nugget_
    assert rows_of("simulation", "lim", 0).only("mle_nugget", "nugget") == pytest.approx(
        expected, rel=1e-4
    )
