"""Fits: the paper's numbers, a hand-written cross-validation, invariances, the same bits."""

import math
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

from pengp import lambda_grid, lambda_max, penalized_path
from pengp._core.arrays import FloatArray, IntArray
from pengp.choosing.folds import make_folds
from pengp.datasets import load_piston_slap
from pengp.estimators import PenalizedGPRegressor, PenalizedGPRegressorCV

TEST_RUNS = Path(__file__).parents[3] / "shared" / "reference" / "piston_slap_test.csv"
LAMS = lambda_grid()[[0, 10, 18, 24, 30]]
LABELS = np.array([0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3])


def near(lam: float) -> float:
    """The value of the paper's grid that the paper prints rounded as lam."""
    grid = lambda_grid()
    return float(grid[np.argmin(np.abs(grid - lam))])


def standardised(y: FloatArray) -> FloatArray:
    return np.asarray((y - y.mean()) / y.std(ddof=1))


def unit_cube(X: FloatArray) -> FloatArray:
    return np.asarray((X - X.min(0)) / (X.max(0) - X.min(0)))


def cv_model(**changes: Any) -> PenalizedGPRegressorCV:
    settings = {"lams": LAMS, "cv": LABELS, "random_state": 0, **changes}
    return PenalizedGPRegressorCV(**settings)


@pytest.mark.skipif(not TEST_RUNS.exists(), reason="the 100 test runs are not part of the project")
@pytest.mark.parametrize(
    ("isotropic", "lam", "rmse", "crps"),
    [
        (False, 0.0, 0.767, 0.500),
        (False, 0.00577, 0.768, 0.504),
        (False, 0.0578, 0.431, 0.263),
        (True, 0.116, 0.653, 0.378),
    ],
)
def test_piston_slap_test_runs_score_as_in_the_paper(
    isotropic: bool, lam: float, rmse: float, crps: float
) -> None:
    runs, test = load_piston_slap(), np.loadtxt(TEST_RUNS, delimiter=",", skiprows=1)
    model = PenalizedGPRegressor(near(lam), isotropic=isotropic, random_state=0)
    mean, std = model.fit(runs.X, runs.y).predict(test[:, :6], return_std=True)
    unit = runs.y.std(ddof=1)
    r, s = (test[:, 6] - mean) / unit, std / unit
    u = r / s
    density = np.exp(-0.5 * u**2) / np.sqrt(2.0 * np.pi)
    erf = np.array([math.erf(v) for v in u / np.sqrt(2.0)])
    assert np.sqrt(np.mean(r**2)) == pytest.approx(rmse, abs=6e-4)
    # CRPS of a normal: s (u (2 Phi(u) - 1) + 2 phi(u) - 1 / sqrt(pi)), with 2 Phi(u) - 1 = erf.
    values = s * (u * erf + 2.0 * density - 1.0 / np.sqrt(np.pi))
    assert values.mean() == pytest.approx(crps, abs=6e-4)


def test_piston_slap_estimates_are_those_of_the_paper() -> None:
    runs = load_piston_slap()
    model = PenalizedGPRegressor(near(0.0578), random_state=0).fit(runs.X, runs.y)
    np.testing.assert_allclose(model.theta_, [0.387, 0.001, 0.001, 0.906, 0.019, 0.428], atol=6e-4)
    assert model.sigma2_ == pytest.approx(5.382, abs=6e-3)
    assert (model.lam_, model.nugget_) == (near(0.0578), 1e-5)
    assert model.mean_ == pytest.approx(runs.y.mean(), rel=1e-12)
    np.testing.assert_allclose(
        model.lengthscale_, np.ptp(runs.X, axis=0) / np.sqrt(model.theta_), rtol=1e-12
    )


def test_fit_is_the_path_on_scaled_runs() -> None:
    runs = load_piston_slap()
    model = cv_model(rule="min").fit(runs.X, runs.y)
    path = penalized_path(unit_cube(runs.X), standardised(runs.y), LAMS, random_state=0)
    np.testing.assert_allclose(model.path_.theta, path.theta, rtol=1e-6)
    at = int(np.flatnonzero(model.lam_ == LAMS)[0])
    np.testing.assert_array_equal(model.theta_, model.path_.theta[at])
    np.testing.assert_array_equal(model.modes_.theta, model.path_.modes.theta[at])
    np.testing.assert_array_equal(model.flat_.upper, model.path_.flat.upper[at])
    assert (model.flat_.lower <= model.theta_ * (1.0 + 1e-12)).all()  # at lambda = 0 only
    assert model.lam_ == 0.0


def test_flat_tells_that_theta_is_not_identified() -> None:
    x = np.linspace(0.0, 1.25, 8)
    y = (6.0 * x - 2.0) ** 2 * np.sin(12.0 * x - 4.0)
    flat = PenalizedGPRegressor(random_state=0).fit(x[:, None], y).flat_
    assert flat.upper.shape == (1,)
    assert flat.lower[0] < 715.0
    assert flat.upper[0] == pytest.approx(1000.0, rel=1e-12)


def dpe_table(X: FloatArray, z: FloatArray, labels: IntArray, g: float) -> FloatArray:
    """r' R(X_k | D_-k)^-1 r for every lambda and fold, each fitted on its own [L, K]."""
    values = np.empty((len(LAMS), 4))
    for k in range(4):
        out = labels == k
        path = penalized_path(X[~out], z[~out], LAMS, random_state=0)
        for i, theta in enumerate(path.theta):
            D = (X[:, None] - X[None]) ** 2 @ theta
            R = np.exp(-D) + g * np.eye(len(X))
            W = np.linalg.solve(R[np.ix_(~out, ~out)], R[np.ix_(~out, out)])
            r = z[out] - W.T @ z[~out]
            cov = R[np.ix_(out, out)] - R[np.ix_(out, ~out)] @ W
            values[i, k] = r @ np.linalg.solve(cov, r)
    return values


def test_cross_validation_equals_a_hand_written_loop() -> None:
    runs = load_piston_slap()
    values = dpe_table(unit_cube(runs.X), standardised(runs.y), LABELS, 1e-5)
    mean, best = values.mean(1), int(np.argmin(values.mean(1)))
    limit = mean[best] + values[best].std(ddof=1) / 2.0
    model = cv_model().fit(runs.X, runs.y)
    np.testing.assert_allclose(model.cv_table_.values["dpe"], values, rtol=1e-4)
    assert model.lam_min_ == LAMS[best]
    assert model.lam_1se_ == LAMS[mean <= limit].max()
    assert model.lam_ == model.lam_1se_
    assert model.lam_min_ < model.lam_1se_  # or the two rules could not be told apart
    assert cv_model(rule="min").fit(runs.X, runs.y).lam_ == model.lam_min_
    alone = PenalizedGPRegressor(model.lam_, random_state=0).fit(runs.X, runs.y)
    np.testing.assert_allclose(model.theta_, alone.theta_, rtol=1e-5)


def test_metric_and_rule_may_be_functions() -> None:
    runs = load_piston_slap()

    def worst_error(r: FloatArray, R: FloatArray, sigma2: float) -> float:
        return float(np.abs(r).max())

    def second(lams: FloatArray, values: FloatArray) -> int:
        return int(np.argsort(values.mean(1))[1])

    model = cv_model(metric=worst_error, rule=second).fit(runs.X, runs.y)
    means = model.cv_table_.mean_of("worst_error")
    assert model.lam_ == LAMS[np.argsort(means)[1]]
    assert model.lam_min_ == LAMS[np.argmin(means)]
    assert {"dpe", "pe", "md", "score"} <= set(model.cv_table_.values)
    greater = cv_model(metric="scaled_score", rule="min").fit(runs.X, runs.y)
    assert greater.lam_ == LAMS[np.argmax(greater.cv_table_.mean_of("scaled_score"))]


def test_named_grids() -> None:
    runs = load_piston_slap()
    paper = PenalizedGPRegressorCV(cv=2, n_starts=1, random_state=0).fit(runs.X, runs.y)
    np.testing.assert_array_equal(paper.lams_, lambda_grid())
    assert len(paper.cv_table_.plan) == 2
    top = float(lambda_max(unit_cube(runs.X), standardised(runs.y)))
    kkt = PenalizedGPRegressorCV(lams="kkt", cv=2, n_starts=1, random_state=0)
    assert kkt.fit(runs.X, runs.y).lams_[-1] == pytest.approx(top, rel=1e-9)
    assert top > 30_000.0


def test_the_folds_are_those_of_make_folds_with_the_same_seed() -> None:
    runs = load_piston_slap()
    plan = make_folds("space-filling:3", runs.X, runs.y, random_state=5)
    model = cv_model(cv="space-filling:3", random_state=5, n_starts=1).fit(runs.X, runs.y)
    np.testing.assert_array_equal(model.cv_table_.plan.labels, plan.labels)


@pytest.mark.parametrize("isotropic", [False, True])
def test_units_of_inputs_and_response_do_not_matter(isotropic: bool) -> None:
    runs = load_piston_slap()
    new = runs.X[:3] + 0.1 * np.ptp(runs.X, axis=0)
    a = cv_model(isotropic=isotropic).fit(runs.X, runs.y)
    scale, shift = np.array([1e-3, -2.0, 1e5, 3.0, -0.1, 7.0]), np.arange(6.0)
    b = cv_model(isotropic=isotropic).fit(runs.X * scale + shift, -1e4 * runs.y + 3.0)
    np.testing.assert_allclose(b.theta_, a.theta_, rtol=1e-6)
    assert a.lam_ == b.lam_
    assert a.sigma2_ == pytest.approx(b.sigma2_, rel=1e-6)
    np.testing.assert_allclose(b.lengthscale_, a.lengthscale_ * np.abs(scale), rtol=1e-6)
    (m, s), (n, t) = (
        a.predict(new, return_std=True),
        b.predict(new * scale + shift, return_std=True),
    )
    unit = runs.y.std(ddof=1)
    np.testing.assert_allclose(((n - 3.0) / -1e4 - m) / unit, 0.0, atol=1e-6)
    np.testing.assert_allclose((t / 1e4 - s) / unit, 0.0, atol=1e-6)


def test_permuted_runs_and_inputs_permute_the_results() -> None:
    runs, rng = load_piston_slap(), np.random.default_rng(3)
    rows, columns = rng.permutation(12), rng.permutation(6)
    a = cv_model().fit(runs.X, runs.y)
    b = cv_model(cv=LABELS[rows]).fit(runs.X[rows], runs.y[rows])
    c = cv_model().fit(runs.X[:, columns], runs.y)
    np.testing.assert_allclose(b.theta_, a.theta_, rtol=1e-6)
    np.testing.assert_allclose(c.theta_, a.theta_[columns], rtol=1e-6)
    assert a.lam_ == b.lam_ == c.lam_
    np.testing.assert_allclose(b.loo_.mean, a.loo_.mean[rows], rtol=1e-8)
    np.testing.assert_allclose(c.predict(runs.X[:, columns]), a.predict(runs.X), rtol=1e-8)


@contextmanager
def dask_backend() -> Iterator[None]:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.Client(
            processes=False, n_workers=1, threads_per_worker=2, dashboard_address=":0"
        ),
        joblib.parallel_config("dask"),
    ):
        yield


@pytest.mark.parametrize("backend", ["plain", "threading", "loky", "dask"])
def test_same_bits_for_any_number_of_jobs_and_backend(backend: str) -> None:
    runs = load_piston_slap()
    one = cv_model(cv=4, n_jobs=1).fit(runs.X, runs.y)
    contexts: dict[str, Any] = {
        "plain": nullcontext(),
        "dask": dask_backend(),
        "threading": joblib.parallel_config("threading"),
        "loky": joblib.parallel_config("loky"),
    }
    with contexts[backend]:
        two = cv_model(cv=4, n_jobs=2).fit(runs.X, runs.y)
    for name, values in one.cv_table_.values.items():
        np.testing.assert_array_equal(values, two.cv_table_.values[name])
    np.testing.assert_array_equal(one.cv_table_.theta, two.cv_table_.theta)
    np.testing.assert_array_equal(one.path_.theta, two.path_.theta)
    np.testing.assert_array_equal(one.predict(runs.X + 0.1), two.predict(runs.X + 0.1))


def test_verbose_writes_the_choice(capsys: pytest.CaptureFixture[str]) -> None:
    runs = load_piston_slap()
    model = cv_model(verbose=1).fit(runs.X, runs.y)
    assert f"lambda = {model.lam_:.4g}, from 4 folds" in capsys.readouterr().out
