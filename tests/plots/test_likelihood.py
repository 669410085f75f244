"""The display of the likelihood along a line through the estimate."""

from collections.abc import Iterator

import matplotlib as mpl

mpl.use("Agg")  # before pyplot is loaded anywhere

import matplotlib.pyplot as plt
import numpy as np
import pytest

from pengp import InputError, PenalizedGPRegressor
from pengp.plots import ProfileLikelihoodDisplay
from tests.plots.models import forrester, piston, plain
from tests.problems import forrester_runs, piston_slap_runs, slow_loglik


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.mark.parametrize("input", [None, 0, 2, 3])
def test_a_profile_is_the_likelihood_along_its_line(input: int | None) -> None:
    model, (X, y) = piston(), piston_slap_runs()
    shown = ProfileLikelihoodDisplay.from_estimator(model, input=input, grid_size=41)
    assert len(shown.grid) == (41 if input == 3 else 42)  # x4 is at the bound, on the grid
    for g, theta, loglik in zip(shown.grid, shown.theta, shown.loglik, strict=True):
        expected = model.theta_.copy()
        if input is None:
            expected = np.clip(g * model.theta_, 1e-3, 1e3)
        else:
            expected[input] = g
        np.testing.assert_allclose(theta, expected, rtol=1e-14)
        np.testing.assert_allclose(loglik, slow_loglik(X, y, expected)[0], rtol=1e-9)
    penalty = 12 * model.lam_ * shown.theta.sum(axis=1)
    np.testing.assert_allclose(shown.objective, shown.loglik - penalty, rtol=1e-12)


@pytest.mark.parametrize("input", [None, *range(6)])
def test_a_profile_at_the_estimate_is_what_the_path_holds(input: int | None) -> None:
    model = piston()
    place = np.flatnonzero(model.path_.lams == model.lam_)[0]
    shown = ProfileLikelihoodDisplay.from_estimator(model, input=input)
    here = shown.grid == shown.estimate
    assert here.sum() == 1
    assert shown.estimate == (1.0 if input is None else model.theta_[input])
    assert shown.loglik_hat == model.path_.loglik[place]
    assert shown.objective_hat == model.path_.objective[place]
    np.testing.assert_allclose(shown.loglik[here], shown.loglik_hat, rtol=1e-10)
    np.testing.assert_allclose(shown.objective[here], shown.objective_hat, rtol=1e-10)
    assert shown.objective.max() <= shown.objective_hat + 1e-9  # nowhere on the line is Q higher


@pytest.mark.parametrize(
    "settings",
    [
        {"kernel": "matern52", "mean": "constant"},
        {"nugget": "estimate", "penalty": "scad"},
        {"isotropic": True, "theta_bounds": (1e-2, 1e2)},
    ],
)
def test_a_profile_follows_the_model_that_was_fitted(settings: dict[str, object]) -> None:
    runs = plain()
    model = PenalizedGPRegressor(0.05, random_state=0, **settings)  # type: ignore[arg-type]
    model.fit(runs.X_train_, runs.y_train_)
    shown = ProfileLikelihoodDisplay.from_estimator(model)
    here = shown.grid == shown.estimate
    np.testing.assert_allclose(shown.loglik[here], model.path_.loglik, rtol=1e-9)
    np.testing.assert_allclose(shown.objective[here], model.path_.objective, rtol=1e-9)
    X, y = piston_slap_runs()
    kernel = model._chosen._model.kernel.name
    slow = slow_loglik(X, y, shown.theta[50], model.nugget_, kernel, str(model.mean))[0]
    np.testing.assert_allclose(shown.loglik[50], slow, rtol=1e-8)
    low, high = model.theta_bounds
    assert (shown.theta >= low).all()
    assert (shown.theta <= high).all()
    shown.plot()


def test_the_shared_theta_of_an_isotropic_model_is_its_own_axis() -> None:
    runs = plain()
    model = PenalizedGPRegressor(0.0, isotropic=True, random_state=0)
    model.fit(runs.X_train_, runs.y_train_)
    shown = ProfileLikelihoodDisplay.from_estimator(model)
    assert shown.shared
    assert (shown.grid[0], shown.grid[-1]) == (1e-3, 1e3)
    np.testing.assert_array_equal(shown.theta, np.repeat(shown.grid[:, None], 6, axis=1))
    # The plateau of the paper's Section 5: -14.38737 and flat to 1e-7 above 19.
    assert shown.flat[0] < 19.0
    assert shown.flat[1] == 1e3
    np.testing.assert_allclose(shown.loglik[shown.grid > 19.0], -14.38737, atol=1e-5)
    with pytest.raises(InputError, match="share one theta"):
        ProfileLikelihoodDisplay.from_estimator(model, input=0)


def test_the_flat_stretch_of_the_ray_is_that_of_the_estimator() -> None:
    for lam in (0.0, 0.01, 0.1):
        model = piston().at_lambda(lam)
        lower, upper = ProfileLikelihoodDisplay.from_estimator(model).flat
        ends = [np.clip(c * model.theta_, 1e-3, 1e3) for c in (lower, upper)]
        np.testing.assert_allclose(ends[0], model.flat_.lower, rtol=1e-9)
        np.testing.assert_allclose(ends[1], model.flat_.upper, rtol=1e-9)


def test_the_flat_stretch_of_the_ray_is_found_whichever_theta_is_cut() -> None:
    X, y = plain().X_train_[:, [1, 0, 2, 3, 4, 5]], plain().y_train_
    model = PenalizedGPRegressor(0.0, random_state=0).fit(X, y)
    lower, upper = ProfileLikelihoodDisplay.from_estimator(model).flat
    assert model.flat_.lower[0] == model.theta_[0] == 1e-3  # cut to the bound, which it was at
    np.testing.assert_allclose(lower, (model.flat_.lower / model.theta_)[1], rtol=1e-12)
    np.testing.assert_allclose(upper, (model.flat_.upper / model.theta_)[1], rtol=1e-12)
    assert lower < 1.0 < upper


@pytest.mark.parametrize("input", [0, 2, 5])
def test_the_flat_stretch_of_an_input_ends_where_the_likelihood_has_fallen(input: int) -> None:
    model, (X, y) = piston(), piston_slap_runs()
    shown = ProfileLikelihoodDisplay.from_estimator(model, input=input, grid_size=1001)

    def height(value: float) -> float:
        theta = model.theta_.copy()
        theta[input] = value
        return slow_loglik(X, y, theta)[0]

    fine = max(height(v) for v in np.linspace(*shown.flat, 101))
    for end in shown.flat:
        np.testing.assert_allclose(height(end), fine - 1e-4, atol=2e-8)
    inside = (shown.grid >= shown.flat[0]) & (shown.grid <= shown.flat[1])
    np.testing.assert_array_equal(inside, shown.loglik >= fine - 1e-4)


def test_an_input_at_a_plateau_is_flat_up_to_the_bound() -> None:
    model = forrester().at_lambda(0.0)
    shown = ProfileLikelihoodDisplay.from_estimator(model, input="x1")
    assert shown.estimate == 1000.0  # notes on the paper: the bound, flat above 715 to 1e-6
    assert shown.flat[0] < 715.0
    assert shown.flat[1] == 1000.0
    X, y = forrester_runs()
    fall = slow_loglik(X, y, np.array([1e3]))[0] - slow_loglik(X, y, np.array(shown.flat[:1]))[0]
    np.testing.assert_allclose(fall, 1e-4, atol=1e-8)


def test_a_profile_shows_every_maximum() -> None:
    model = piston()
    shown = ProfileLikelihoodDisplay.from_estimator(model, input="x4")
    count = int(model.modes_.count)
    assert count > 1
    np.testing.assert_array_equal(shown.mode_theta, model.modes_.theta[:count])
    np.testing.assert_array_equal(shown.mode_loglik, model.modes_.loglik[:count])
    np.testing.assert_array_equal(shown.mode_positions, model.modes_.theta[:count, 3])
    assert (shown.input, shown.input_name) == (3, "x4")
    assert shown.plot().ax_.get_xlabel().endswith("of x4")
    X, y = piston_slap_runs()
    for theta, loglik in zip(shown.mode_theta, shown.mode_loglik, strict=True):
        np.testing.assert_allclose(loglik, slow_loglik(X, y, theta)[0], atol=1e-3)
    ray = ProfileLikelihoodDisplay.from_estimator(model)
    assert ray.mode_positions[0] == 1.0
    # Least squares in the logarithms: no other c is nearer to the second maximum.
    away = np.log(ray.mode_theta[1] / model.theta_)
    c = np.log(ray.mode_positions[1])
    squares = [((away - t) ** 2).sum() for t in (c, c - 1e-3, c + 1e-3)]
    assert np.argmin(squares) == 0


def test_a_profile_keeps_to_the_runs_that_were_fitted() -> None:
    model = forrester()
    more = model.condition_on([[0.1], [1.2]], [1.0, 2.0])
    one, two = (ProfileLikelihoodDisplay.from_estimator(m) for m in (model, more))
    np.testing.assert_array_equal(one.loglik, two.loglik)


def test_a_constant_response_has_no_profile() -> None:
    with pytest.warns(UserWarning, match="constant"):
        model = PenalizedGPRegressor(random_state=0).fit(np.eye(4), np.ones(4))
    with pytest.raises(InputError, match="response is constant and has no likelihood"):
        ProfileLikelihoodDisplay.from_estimator(model)
