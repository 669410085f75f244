"""Awkward data, answered as a user would want."""

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from pengp import InputError, PengpWarning
from pengp._core.arrays import FloatArray
from pengp.estimators import BayesianGPRegressor, PenalizedGPRegressor, PenalizedGPRegressorCV
from pengp.model.means import MeanName

RNG = np.random.default_rng(5)
X = RNG.random((10, 3))
Y = np.sin(4.0 * X[:, 0]) + X[:, 1]
QUICK: dict[str, Any] = {"n_starts": 2, "random_state": 0}
LAMS = [0.0, 0.01, 0.1]


def cv_model(**changes: Any) -> PenalizedGPRegressorCV:
    return PenalizedGPRegressorCV(**{"lams": LAMS, **QUICK, **changes})


def assert_sound(model: Any, X: FloatArray, y: FloatArray) -> None:
    """The runs are interpolated to within a few standard deviations, all numbers are finite."""
    mean, std = model.predict(X, return_std=True)
    assert np.isfinite(mean).all()
    assert np.isfinite(std).all()
    assert (std >= 0.0).all()
    np.testing.assert_array_less(np.abs(mean - y), 4.0 * std + 1e-12 * np.abs(y).max())


def test_two_runs_use_the_smallest_lambda() -> None:
    with pytest.warns(PengpWarning, match="2 runs are too few for cross-validation"):
        model = cv_model(lams=[0.1, 0.01]).fit(X[:2], Y[:2])
    assert model.lam_ == model.lam_min_ == model.lam_1se_ == 0.01
    assert model.cv_table_ is None
    assert_sound(model, X[:2], Y[:2])
    assert_sound(PenalizedGPRegressor(**QUICK).fit(X[:2], Y[:2]), X[:2], Y[:2])


@pytest.mark.filterwarnings("ignore:the estimate of theta did not converge")  # so few runs
@pytest.mark.parametrize("n", [3, 4])
def test_fewer_runs_than_default_folds_are_left_out_one_by_one(n: int) -> None:
    with pytest.warns(PengpWarning, match=f"there are {n} runs, too few for 5 folds"):
        model = cv_model().fit(X[:n], Y[:n])
    assert len(model.cv_table_.plan) == n
    assert_sound(model, X[:n], Y[:n])


def test_explicit_folds_must_fit() -> None:
    with pytest.raises(InputError, match="only 4 runs"):
        cv_model(cv=6).fit(X[:4], Y[:4])
    with pytest.raises(InputError, match="1 run to fit"):
        cv_model(cv=2).fit(X[:2], Y[:2])
    with pytest.raises(ValueError, match="1 sample"):
        cv_model().fit(X[:1], Y[:1])


def test_one_input_and_twenty_inputs() -> None:
    assert_sound(cv_model().fit(X[:, :1], Y), X[:, :1], Y)
    wide = np.random.default_rng(0).random((10, 20))
    model = cv_model(rule="min").fit(wide, Y)
    assert model.theta_.shape == (20,)
    assert_sound(model, wide, Y)


@pytest.mark.parametrize(
    "model",
    [
        PenalizedGPRegressor(0.01, **QUICK),
        PenalizedGPRegressor(0.01, nugget=1e-9, **QUICK),
        cv_model(),
        BayesianGPRegressor(effective_size=50, n_components=10, random_state=0),
    ],
    ids=["penalized", "hardly a nugget", "cv", "average"],
)
def test_a_run_that_is_given_twice_counts_once(model: Any) -> None:
    order = np.r_[3, :3, 4:10]
    once = clone(model).fit(X[order], Y[order])
    rows = np.r_[3, :10, 5]
    with pytest.warns(PengpWarning, match="row 4 of X and y repeats row 0 and 1 more likewise"):
        twice = clone(model).fit(X[rows], Y[rows])
    np.testing.assert_array_equal(twice.X_train_, X[order])
    np.testing.assert_array_equal(twice.predict(X + 0.1), once.predict(X + 0.1))
    np.testing.assert_array_equal(twice.loo_.mean, once.loo_.mean)


def test_runs_with_equal_inputs_and_different_responses_are_named() -> None:
    twice = np.r_[X, X[3:4]]
    with pytest.raises(InputError, match=r"rows 3 and 10 of X have the same inputs.*'estimate'"):
        PenalizedGPRegressor(**QUICK).fit(twice, np.r_[Y, Y[3] + 1.0])
    with pytest.raises(InputError, match="rows 3 and 10"):
        cv_model().fit(twice, np.c_[np.r_[Y, Y[3]], np.r_[Y, 7.0]])
    noisy = PenalizedGPRegressor(nugget="estimate", **QUICK).fit(twice, np.r_[Y, Y[3] + 0.5])
    assert noisy.nugget_ > 1e-4
    assert_sound(noisy, twice, np.r_[Y, Y[3] + 0.5])
    again = np.r_[X[:1], twice], np.r_[Y[:1], Y, Y[3] + 1.0]
    with pytest.raises(InputError, match="rows 4 and 11 of X"):  # as they are given
        PenalizedGPRegressor(**QUICK).fit(*again)
    noisy = PenalizedGPRegressor(nugget="estimate", **QUICK).fit(np.r_[X, X], np.r_[Y, Y])
    assert len(noisy.X_train_) == 2 * len(X)  # they tell how much responses scatter


@pytest.mark.parametrize("bounds", [None, [[0, 1], [0, 5], [0, 1], [0, 1]]])
@pytest.mark.parametrize("isotropic", [False, True])
def test_constant_columns_are_ignored(bounds: Any, isotropic: bool) -> None:
    more = np.insert(X, 1, 3.5, axis=1)
    settings = {"isotropic": isotropic, "lam": 0.01, **QUICK}
    without = None if bounds is None else np.delete(bounds, 1, axis=0)
    plain = PenalizedGPRegressor(input_bounds=without, **settings).fit(X, Y)
    with pytest.warns(PengpWarning, match="constant in column 1;") as record:
        model = PenalizedGPRegressor(input_bounds=bounds, **settings).fit(more, Y)
    assert len(record) == 1
    assert record[0].filename == __file__
    np.testing.assert_allclose(np.delete(model.theta_, 1), plain.theta_, rtol=1e-5)
    new = RNG.random((6, 4)) * np.array([1.0, 100.0, 1.0, 1.0])
    np.testing.assert_allclose(model.predict(new), plain.predict(np.delete(new, 1, 1)), rtol=1e-5)
    assert np.isposinf(model.lengthscale_[1])
    assert (model.predict_gradient(new)[:, 1] == 0.0).all()
    with pytest.warns(PengpWarning, match="constant in column 1;") as record:
        cv_model(isotropic=isotropic, input_bounds=bounds).fit(more, Y)
    assert len(record) == 1


@pytest.mark.parametrize("mean", ["zero", "constant"])
def test_constant_response_is_predicted_without_spread(mean: MeanName) -> None:
    for model in (PenalizedGPRegressor(mean=mean, **QUICK), cv_model(mean=mean)):
        with pytest.warns(PengpWarning, match="y is constant") as record:
            model.fit(X, np.full(10, 0.1))
        assert len(record) == 1
        assert record[0].filename == __file__
        predicted, std = model.predict(RNG.random((5, 3)), return_std=True)
        np.testing.assert_array_equal(predicted, 0.1)
        np.testing.assert_array_equal(std, 0.0)
        np.testing.assert_array_equal(model.loo_.residual, 0.0)
        np.testing.assert_array_equal(model.loo_.standardized_residual, 0.0)
        np.testing.assert_array_equal(model.sample_y(X, 3), 0.1)
        assert model.mean_ == 0.1
        with pytest.raises(InputError, match="no scale"):
            model.condition_on(X[:1] + 0.5, [0.2])
        assert model.condition_on(X[:1] + 0.5, [0.1]).predict(X)[0] == 0.1


def test_one_constant_output_leaves_the_others_alone() -> None:
    with pytest.warns(PengpWarning, match=r"output \[1\] of y is constant"):
        model = cv_model(cv=3).fit(X, np.c_[Y, np.full(10, -4.0)])
    np.testing.assert_array_equal(model.predict(X)[:, 1], -4.0)
    np.testing.assert_array_equal(model.predict(X)[:, 0], cv_model(cv=3).fit(X, Y).predict(X))
    assert model.cv_table_[1] is None
    assert model.sigma2_[1] == 0.0


@pytest.mark.parametrize("x_unit", [1e-300, 1e-9, 1e300])
@pytest.mark.parametrize("y_unit", [1e-300, 1e9, 1e300])
def test_huge_and_tiny_units(x_unit: float, y_unit: float) -> None:
    new = RNG.random((6, 3))
    plain = cv_model(cv=3).fit(X, Y)
    model = cv_model(cv=3).fit(X * x_unit, Y * y_unit)
    np.testing.assert_allclose(model.theta_, plain.theta_, rtol=1e-6)
    assert model.lam_ == plain.lam_
    mean, std = model.predict(new * x_unit, return_std=True)
    np.testing.assert_allclose(mean / y_unit, plain.predict(new), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(std / y_unit, plain.predict(new, return_std=True)[1], rtol=1e-4)
    np.testing.assert_allclose(model.lengthscale_ / x_unit, plain.lengthscale_, rtol=1e-6)
    np.testing.assert_allclose(model.loo_.std / y_unit, plain.loo_.std, rtol=1e-4)
    assert not np.isnan(model.predict_gradient(new * x_unit)).any()
    assert not np.isnan(model.predict(new * x_unit, return_cov=True)[1]).any()


def test_integers_and_single_precision() -> None:
    whole = np.array([[0, 0], [3, 9], [7, 2], [5, 5], [1, 8], [9, 1]])
    y = whole[:, 0] ** 2 - whole[:, 1]
    model = PenalizedGPRegressor(0.01, **QUICK).fit(whole, y)
    for kind in (np.float64, np.float32, np.int16):
        other = PenalizedGPRegressor(0.01, **QUICK).fit(whole.astype(kind), y.astype(kind))
        np.testing.assert_array_equal(other.predict(whole), model.predict(whole))
    assert model.predict(whole.astype(np.float32)).dtype == np.float64


def test_bounds_declare_the_design_region() -> None:
    bounds = np.array([[-1.0, 1.0], [0.0, 2.0], [0.0, 1.0]])
    model = PenalizedGPRegressor(0.01, input_bounds=bounds, **QUICK).fit(X, Y)
    expected = (bounds[:, 1] - bounds[:, 0]) / np.sqrt(model.theta_)
    np.testing.assert_allclose(model.lengthscale_, expected, rtol=1e-12)
    assert np.isfinite(model.predict(10.0 * X)).all()  # predictions may leave the region
    row = int(np.argmax(X[:, 2] > 0.5))
    with pytest.raises(InputError, match=rf"row {row}, column 2, outside its input_bounds \(0, 0"):
        PenalizedGPRegressor(input_bounds=[(0.0, 1.0), (0.0, 1.0), (0.0, 0.5)]).fit(X, Y)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"lams": "papr"}, "paper"),
        ({"lams": [-1.0]}, "must be from 0"),
        ({"metric": "mse"}, "metric=.mse. is unknown"),
        ({"rule": "2se"}, "rule=.2se. is unknown"),
        ({"cv": "lou"}, "unknown folds"),
        ({"kernel": "rbf"}, "unknown"),
        ({"mean": 0}, "mean"),
        ({"nugget": -1.0}, "nugget"),
        ({"theta_bounds": (1.0, 0.1)}, "theta_bounds"),
        ({"input_bounds": [[0, 1]]}, "input bounds"),
        ({"n_starts": -1}, "n_starts"),
        ({"random_state": "x"}, "random_state"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        cv_model(**settings).fit(X, Y)


def test_lam_is_one_number() -> None:
    with pytest.raises(InputError, match="one number"):
        PenalizedGPRegressor([0.0, 1.0]).fit(X, Y)  # type: ignore[arg-type]


def test_ordinary_data_give_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cv_model().fit(X, Y)


def test_kkt_grid_without_a_bound_is_the_papers() -> None:
    with pytest.warns(PengpWarning, match="constant"):
        model = cv_model(lams="kkt").fit(X, np.ones(10))
    assert len(model.lams_) == 41
    estimated = cv_model(lams="kkt", nugget="estimate", isotropic=True).fit(X, Y)
    assert estimated.lams_[-1] > 7.4


def test_inputs_that_never_change_leave_the_mean() -> None:
    same = np.ones((6, 2))
    with pytest.warns(PengpWarning, match="constant in column 0, column 1;"):
        model = PenalizedGPRegressor(nugget="estimate", **QUICK).fit(same, Y[:6])
    assert model.predict(same[:1])[0] == pytest.approx(Y[:6].mean(), rel=1e-6)
    with pytest.raises(InputError, match="rows 0 and 1"):
        PenalizedGPRegressor(**QUICK).fit(same, Y[:6])
