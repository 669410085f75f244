"""Predictions in the user's units, each against an independent computation."""

import pickle
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from pengp import InputError
from pengp._core.arrays import FloatArray
from pengp.estimators import PenalizedGPRegressor, PenalizedGPRegressorCV
from pengp.model.means import MEANS
from tests.problems import BASES

RNG = np.random.default_rng(11)
LOW, HIGH = np.array([-5.0, 0.0, 100.0]), np.array([10.0, 0.01, 900.0])
X = LOW + (HIGH - LOW) * RNG.random((14, 3))
NEW = LOW + (HIGH - LOW) * RNG.random((9, 3))
G = 1e-5


def simulator(X: FloatArray) -> FloatArray:
    U = (X - LOW) / (HIGH - LOW)
    return np.asarray(40.0 + 25.0 * np.sin(3.0 * U[:, 0]) + 10.0 * U[:, 1] * U[:, 2])


Y = simulator(X)


def fitted(**changes: Any) -> PenalizedGPRegressor:
    settings = {"lam": 0.01, "input_bounds": np.c_[LOW, HIGH], "random_state": 0, **changes}
    return PenalizedGPRegressor(**settings).fit(X, Y)


def by_hand(
    model: PenalizedGPRegressor, X: FloatArray, y: FloatArray, new: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Mean and covariance, eq. (2), at the model's parameters and the training data's scales."""
    U, V = ((A - LOW) / (HIGH - LOW) for A in (X, new))
    m, sd = Y.mean(), Y.std(ddof=1)
    z, g = (y - m) / sd, model.nugget_
    assert isinstance(model.mean, str)
    F, f = BASES[model.mean](U), BASES[model.mean](V)

    def corr(A: FloatArray, B: FloatArray) -> FloatArray:
        return np.asarray(np.exp(-((A[:, None] - B[None]) ** 2 @ model.theta_)))

    R, r = corr(U, U) + g * np.eye(len(U)), corr(V, U)
    Pr, PF, Pz = (np.linalg.solve(R, a) for a in (r.T, F, z))
    cov = corr(V, V) + g * np.eye(len(V)) - r @ Pr
    inner = np.linalg.inv(F.T @ PF)
    beta, u = inner @ F.T @ Pz, f - r @ PF
    cov += u @ inner @ u.T
    np.testing.assert_allclose(model.trend_, sd * beta, rtol=1e-6)
    assert model.mean_ == pytest.approx(m + sd * (F @ beta).mean(), rel=1e-9)
    return m + sd * (f @ beta + r @ np.linalg.solve(R, z - F @ beta)), sd**2 * model.sigma2_ * cov


@pytest.mark.parametrize("mean", MEANS)
def test_predictions_are_the_formula_in_the_users_units(mean: str) -> None:
    model = fitted(mean=mean)
    expected, cov = by_hand(model, X, Y, NEW)
    got, std = model.predict(NEW, return_std=True)
    np.testing.assert_allclose(got, expected, rtol=1e-8)
    np.testing.assert_allclose(std, np.sqrt(np.diagonal(cov)), rtol=1e-6)
    both = model.predict(NEW, return_cov=True)
    np.testing.assert_allclose(both[0], expected, rtol=1e-8)
    # cov is what is left of the prior variance, n / G bounds the condition of R
    rounding = np.finfo(float).eps * len(X) / G * model.sigma2_ * Y.var(ddof=1)
    np.testing.assert_allclose(both[1], cov, rtol=0.0, atol=rounding)
    np.testing.assert_allclose(model.predict(NEW), expected, rtol=1e-8)
    with pytest.raises(InputError, match="not both"):
        model.predict(NEW, return_std=True, return_cov=True)


def test_sigma2_is_that_of_the_standardised_response() -> None:
    model = fitted()
    U, z = (X - LOW) / (HIGH - LOW), (Y - Y.mean()) / Y.std(ddof=1)
    R = np.exp(-((U[:, None] - U[None]) ** 2 @ model.theta_)) + G * np.eye(len(U))
    assert model.sigma2_ == pytest.approx(z @ np.linalg.solve(R, z) / len(z), rel=1e-7)


def test_runs_are_interpolated_to_within_the_nugget() -> None:
    model = fitted()
    mean, std = model.predict(X, return_std=True)
    # At a run the mean misses y by g alpha_i and the scaled variance is 2 g - g^2 (R^-1)_ii.
    np.testing.assert_allclose(mean, Y, atol=3.0 * std.max())
    assert (std <= np.sqrt(2.0 * G * model.sigma2_) * Y.std(ddof=1) * (1.0 + 1e-6)).all()
    assert (std > 0.0).all()
    np.testing.assert_allclose(fitted(nugget=1e-8).predict(X), Y, rtol=1e-5)


def test_spread_is_never_negative_and_nothing_is_nan() -> None:
    model = fitted(lam=5.0)
    far = np.array([[1e300, -1e300, 0.0], [1e308, 1.0, 1e308], [0.0, 0.0, 0.0]])
    for new in (X, X + 1e-12, far, np.repeat(X[:1], 40_000, axis=0)):
        mean, std = model.predict(new, return_std=True)
        assert np.isfinite(mean).all()
        assert (std >= 0.0).all()
        assert np.isfinite(std).all()
    np.testing.assert_allclose(model.predict(far[:2]), Y.mean(), rtol=1e-12)


def test_blocks_do_not_show() -> None:
    model, many = fitted(), LOW + (HIGH - LOW) * RNG.random((40_000, 3))
    mean, std = model.predict(many, return_std=True)
    some = np.r_[0:3, 16_382:16_387, 39_998:40_000]
    few = model.predict(many[some], return_std=True)
    np.testing.assert_allclose(mean[some], few[0], rtol=1e-9)
    np.testing.assert_allclose(std[some], few[1], rtol=1e-6)


def test_intervals_are_normal_quantiles() -> None:
    model = fitted()
    mean, std = model.predict(NEW, return_std=True)
    lower, upper = model.predict_interval(NEW, level=0.8)
    np.testing.assert_allclose(norm.cdf(lower, mean, std), 0.1, rtol=1e-9)
    np.testing.assert_allclose(norm.cdf(upper, mean, std), 0.9, rtol=1e-9)
    for level in (0.0, 1.0, 95):
        with pytest.raises(InputError, match="between 0 and 1"):
            model.predict_interval(NEW, level=level)


@pytest.mark.parametrize("kernel", ["sqexp", "matern52", "matern32"])
def test_gradient_is_the_slope_of_the_mean(kernel: str) -> None:
    model = fitted(kernel=kernel)
    gradient = model.predict_gradient(NEW)
    for p in range(3):
        h = np.zeros(3)
        h[p] = 1e-5 * (HIGH - LOW)[p]
        slope = (model.predict(NEW + h) - model.predict(NEW - h)) / (2.0 * h[p])
        np.testing.assert_allclose(gradient[:, p], slope, rtol=1e-4, atol=1e-5 / (HIGH - LOW)[p])


@pytest.mark.parametrize("mean", MEANS)
def test_new_runs_are_learned_as_if_conditioned_on_from_the_start(mean: str) -> None:
    model = fitted(mean=mean)
    before = model.predict(NEW)
    more = model.condition_on(NEW[:4], simulator(NEW[:4]))
    expected, cov = by_hand(more, np.r_[X, NEW[:4]], np.r_[Y, simulator(NEW[:4])], NEW[4:])
    got, std = more.predict(NEW[4:], return_std=True)
    np.testing.assert_allclose(got, expected, rtol=1e-8)
    np.testing.assert_allclose(std, np.sqrt(np.diagonal(cov)), rtol=1e-5)
    assert np.abs(more.predict(NEW[4:]) - simulator(NEW[4:])).max() > 0.0
    np.testing.assert_array_equal(model.predict(NEW), before)
    assert more.sigma2_ == model.sigma2_
    assert len(more.loo_.mean) == len(X) + 4
    assert (more.mean_ == model.mean_) == (mean == "zero")


def test_new_runs_are_checked() -> None:
    model = fitted()
    with pytest.raises(InputError, match="row 2 of the known runs and row 1 of X"):
        model.condition_on(np.array([NEW[0], X[2]]), np.array([1.0, Y[2] + 1.0]))
    again = model.condition_on(X[2:3], Y[2:3])
    np.testing.assert_allclose(again.predict(NEW), model.predict(NEW), rtol=1e-3)
    with pytest.raises(InputError, match="row 0, column 1, outside its input_bounds"):
        model.condition_on(np.array([[0.0, 0.02, 500.0]]), [1.0])
    with pytest.raises(InputError, match="2 outputs"):
        model.condition_on(NEW, np.ones((9, 2)))


def test_another_lambda_of_the_path_is_the_fit_at_that_lambda() -> None:
    model = PenalizedGPRegressorCV(
        lams=[0.0, 0.01, 0.3], cv=7, input_bounds=np.c_[LOW, HIGH], random_state=0
    ).fit(X, Y)
    for lam in model.lams_:
        other, alone = model.at_lambda(lam), fitted(lam=lam)
        assert other.lam_ == lam
        assert np.allclose(other.theta_, alone.theta_, rtol=1e-6, atol=0.0)
        for a, b in zip(
            other.predict(NEW, return_std=True), alone.predict(NEW, return_std=True), strict=True
        ):
            assert np.allclose(a, b, rtol=1e-6, atol=0.0)
    assert np.array_equal(model.at_lambda(model.lam_).predict(NEW), model.predict(NEW))
    with pytest.raises(InputError, match=r"lam=0\.02 is not among the 3 values.*nearest is 0\.01"):
        model.at_lambda(0.02)


def test_a_caller_who_changes_the_arrays_later_does_not_change_the_fit() -> None:
    inputs, response = X.copy(), Y.copy()
    model = PenalizedGPRegressorCV(lams=[0.0, 0.1], cv=7, random_state=0).fit(inputs, response)
    before = model.at_lambda(0.1).predict(NEW)
    inputs[:], response[:] = 0.0, 0.0
    assert np.array_equal(model.at_lambda(0.1).predict(NEW), before)
    assert np.array_equal(model.y_train_, Y)


@pytest.mark.parametrize("lam", ["a", None, [0.0], np.nan])
def test_a_lambda_that_is_no_number_is_refused(lam: Any) -> None:
    with pytest.raises(InputError, match="is not a number"):
        fitted().at_lambda(lam)


def test_another_lambda_keeps_runs_that_were_learned_later_and_every_output() -> None:
    both = np.c_[Y, X[:, 0] ** 2]
    settings = {"lams": [0.0, 0.1], "cv": 7, "input_bounds": np.c_[LOW, HIGH], "random_state": 0}
    model = PenalizedGPRegressorCV(**settings).fit(X, both)
    extended = model.condition_on(NEW, np.c_[simulator(NEW), NEW[:, 0] ** 2])
    other = extended.at_lambda(0.1)
    assert np.array_equal(other.X_train_, np.concatenate([X, NEW]))
    assert np.array_equal(other.y_train_[len(X) :, 1], NEW[:, 0] ** 2)
    later = model.at_lambda(0.1).condition_on(NEW, np.c_[simulator(NEW), NEW[:, 0] ** 2])
    assert other.lam_.tolist() == [0.1, 0.1]
    assert np.allclose(other.predict(X + 0.01), later.predict(X + 0.01), rtol=1e-8, atol=0.0)


def test_leave_one_out_equals_leaving_one_out() -> None:
    model = fitted()
    loo = model.loo_
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        mean, cov = by_hand(model, X[rest], Y[rest], X[i : i + 1])
        assert loo.mean[i] == pytest.approx(mean[0], rel=1e-7)
        assert loo.std[i] == pytest.approx(np.sqrt(cov[0, 0]), rel=1e-5)
    np.testing.assert_allclose(loo.residual, Y - loo.mean, atol=1e-10 * np.abs(Y).max())
    np.testing.assert_allclose(loo.standardized_residual, loo.residual / loo.std, rtol=1e-9)


def test_samples_have_the_predicted_moments() -> None:
    model, N = fitted(), 40_000
    mean, cov = model.predict(NEW[:3], return_cov=True)
    draws = model.sample_y(NEW[:3], N, random_state=4)
    assert draws.shape == (3, N)
    se = np.sqrt(np.diagonal(cov) / N)
    assert (np.abs(draws.mean(1) - mean) < 5.0 * se).all()
    spread = np.sqrt(np.outer(np.diagonal(cov), np.diagonal(cov)))
    np.testing.assert_allclose(np.cov(draws) / spread, cov / spread, atol=5.0 * np.sqrt(2.0 / N))
    np.testing.assert_array_equal(draws, model.sample_y(NEW[:3], N, random_state=4))
    assert model.sample_y(NEW).shape == (9, 1)


def test_several_outputs_equal_separate_fits() -> None:
    both = np.c_[Y, 1e6 * Y**2, -Y + X[:, 0]]
    settings: dict[str, Any] = {"lams": [0.0, 0.003, 0.03, 0.3], "cv": 4, "random_state": 2}
    model = PenalizedGPRegressorCV(**settings).fit(X, both)
    parts = [PenalizedGPRegressorCV(**settings).fit(X, y) for y in both.T]
    for name in ("theta_", "lengthscale_", "sigma2_", "nugget_", "mean_", "lam_", "lam_min_"):
        stacked = np.array([getattr(part, name) for part in parts])
        np.testing.assert_array_equal(getattr(model, name), stacked, strict=True)
    mean, std = model.predict(NEW, return_std=True)
    cov, gradient, loo = (
        model.predict(NEW, return_cov=True)[1],
        model.predict_gradient(NEW),
        model.loo_,
    )
    draws = model.sample_y(NEW, 2)
    assert draws.shape == (9, 3, 2)
    for k, part in enumerate(parts):
        np.testing.assert_array_equal(mean[:, k], part.predict(NEW))
        np.testing.assert_array_equal(std[:, k], part.predict(NEW, return_std=True)[1])
        np.testing.assert_array_equal(cov[:, :, k], part.predict(NEW, return_cov=True)[1])
        np.testing.assert_array_equal(gradient[:, k], part.predict_gradient(NEW))
        np.testing.assert_array_equal(loo.std[:, k], part.loo_.std)
        np.testing.assert_array_equal(model.flat_.upper[k], part.flat_.upper)
        count = int(part.modes_.count)
        np.testing.assert_array_equal(model.modes_.theta[k, :count], part.modes_.theta[:count])
        np.testing.assert_array_equal(
            model.cv_table_[k].values["dpe"], part.cv_table_.values["dpe"]
        )
    np.testing.assert_array_equal(draws[:, 0], parts[0].sample_y(NEW, 2))
    column = PenalizedGPRegressorCV(**settings).fit(X, both[:, :1])
    assert column.theta_.shape == (1, 3)
    np.testing.assert_array_equal(column.predict(NEW), mean[:, :1])


def test_a_pickled_model_predicts_the_same_bits() -> None:
    model = PenalizedGPRegressorCV(lams=[0.0, 0.01], cv=3, n_starts=1, random_state=0).fit(X, Y)
    copy = pickle.loads(pickle.dumps(model))
    for a, b in zip(
        model.predict(NEW, return_std=True), copy.predict(NEW, return_std=True), strict=True
    ):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(copy.flat_.lower, model.flat_.lower)
    assert copy.cv_table_.best() == model.cv_table_.best()
