"""Displays of the surrogate along one input and over two."""

from collections.abc import Iterator

import matplotlib as mpl

mpl.use("Agg")  # before pyplot is loaded anywhere

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from pengp import InputError, PenalizedGPRegressor
from pengp.plots import ContourDisplay, SliceDisplay
from tests.plots.models import forrester, piston, two_outputs
from tests.problems import piston_slap_runs


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    plt.close("all")


def test_a_slice_is_the_prediction_with_its_interval() -> None:
    model = piston()
    shown = SliceDisplay.from_estimator(model, input="x6", level=0.8, at={"x1": 40.0})
    X = np.tile(model.X_train_.mean(axis=0), (len(shown.grid), 1))
    X[:, 0], X[:, 5] = 40.0, shown.grid
    np.testing.assert_allclose(shown.mean, model.predict(X), rtol=1e-12)
    lower, upper = model.predict_interval(X, 0.8)
    np.testing.assert_allclose(shown.lower, lower, rtol=1e-12)
    np.testing.assert_allclose(shown.upper, upper, rtol=1e-12)
    runs = model.X_train_[:, 5]
    assert (shown.grid[0], shown.grid[-1]) == (runs.min(), runs.max())
    assert np.isin(runs, shown.grid).all()
    np.testing.assert_array_equal(shown.runs_x, runs)
    np.testing.assert_array_equal(shown.runs_y, model.y_train_)


@pytest.mark.parametrize("run", [0, 5, 11])
def test_a_slice_through_a_run_meets_it(run: int) -> None:
    model = piston()
    x, y = model.X_train_[run], model.y_train_[run]
    shown = SliceDisplay.from_estimator(model, input=0, at=x)
    here = shown.grid == x[0]
    # At a run, y - mean = g (R^-1 y)_i, and (R^-1 y)_i is the leave-one-out residual over its
    # scaled variance.
    loo, sd2 = model.loo_, model.y_train_.var(ddof=1)
    share = model.nugget_ * loo.residual[run] * model.sigma2_ * sd2 / loo.std[run] ** 2
    np.testing.assert_allclose(shown.mean[here], y - share, rtol=1e-10)
    assert abs(share) < 1e-3
    assert shown.runs_distance[run] == 0.0


def test_the_distance_from_a_slice_counts_what_matters() -> None:
    model = piston()
    at = model.X_train_[2]
    shown = SliceDisplay.from_estimator(model, input=0, at=at)
    U, _ = piston_slap_runs()
    for i, distance in enumerate(shown.runs_distance):
        s = sum(model.theta_[p] * (U[i, p] - U[2, p]) ** 2 for p in range(1, 6))
        np.testing.assert_allclose(distance, 1.0 - np.exp(-s) ** 2, rtol=1e-10, atol=1e-15)
    assert shown.runs_distance.max() > 0.5
    inactive = np.flatnonzero(model.theta_ == 1e-3)
    moved = at.copy()
    moved[inactive] = model.X_train_[:, inactive].max(axis=0)
    other = SliceDisplay.from_estimator(model, input=0, at=moved)
    np.testing.assert_allclose(other.runs_distance, shown.runs_distance, atol=0.007)
    active = at.copy()
    active[5] = model.X_train_[:, 5].max()
    apart = SliceDisplay.from_estimator(model, input=0, at=active)
    assert np.abs(apart.runs_distance - shown.runs_distance).max() > 0.3


def test_a_slice_spans_the_declared_range_of_a_named_input() -> None:
    X = pd.DataFrame({"speed": [1.0, 2.0, 4.0, 5.0], "load": [3.0, 1.0, 2.0, 5.0]})
    bounds = [[0.0, 10.0], [0.0, 6.0]]
    model = PenalizedGPRegressor(0.01, input_bounds=bounds, random_state=0)
    model.fit(X, [1.0, 3.0, 2.0, 5.0])
    shown = SliceDisplay.from_estimator(model, input="speed", at={"load": 4.0})
    assert (shown.grid[0], shown.grid[-1]) == (0.0, 10.0)
    np.testing.assert_array_equal(shown.at, [3.0, 4.0])
    row = np.flatnonzero(shown.grid == 5.0)
    frame = pd.DataFrame({"speed": [5.0], "load": [4.0]})
    np.testing.assert_allclose(shown.mean[row], model.predict(frame), rtol=1e-12)


def test_a_slice_without_a_choice_takes_the_most_active_input() -> None:
    model = piston()
    assert SliceDisplay.from_estimator(model).input == np.argmax(model.theta_) == 0
    pair = ContourDisplay.from_estimator(model).inputs
    assert pair == tuple(sorted(np.argsort(-model.theta_)[:2])) == (0, 5)


def test_a_contour_is_the_prediction_on_a_grid() -> None:
    model = two_outputs()
    shown = ContourDisplay.from_estimator(model, inputs=("x2", "x1"), output=1, grid_size=5)
    assert shown.input_names == ("x2", "x1")
    low, high = model.X_train_.min(axis=0), model.X_train_.max(axis=0)
    np.testing.assert_allclose(shown.x, np.linspace(low[1], high[1], 5))
    np.testing.assert_allclose(shown.y, np.linspace(low[0], high[0], 5))
    for j in range(5):
        for i in range(5):
            point = [[shown.y[j], shown.x[i]]]
            lower, upper = model.predict_interval(point)
            np.testing.assert_allclose(shown.mean[j, i], model.predict(point)[0, 1], rtol=1e-10)
            np.testing.assert_allclose(shown.width[j, i], (upper - lower)[0, 1], rtol=1e-8)
    np.testing.assert_array_equal(shown.runs_x, model.X_train_[:, 1])
    np.testing.assert_array_equal(shown.runs_distance, np.zeros(10))  # no input is held


def test_a_row_of_a_contour_is_a_slice() -> None:
    model = piston()
    contour = ContourDisplay.from_estimator(model, inputs=(0, 5), grid_size=11)
    piece = SliceDisplay.from_estimator(model, input=0, at={"x6": contour.y[3]}, grid_size=11)
    on_grid = np.searchsorted(piece.grid, contour.x)
    np.testing.assert_allclose(contour.mean[3], piece.mean[on_grid], rtol=1e-10)
    width = piece.upper - piece.lower
    np.testing.assert_allclose(contour.width[3], width[on_grid], rtol=1e-8)


def test_a_flat_surrogate_can_be_drawn() -> None:
    X = np.random.default_rng(0).random((6, 2))
    with pytest.warns(UserWarning, match="constant"):
        model = PenalizedGPRegressor(random_state=0).fit(X, np.full(6, 3.0))
    contour = ContourDisplay.from_estimator(model, grid_size=5)
    assert (contour.mean == 3.0).all()
    assert (contour.width == 0.0).all()
    contour.plot().figure_.canvas.draw()
    SliceDisplay.from_estimator(model).plot().figure_.canvas.draw()


def test_faint_runs_are_far_from_the_slice() -> None:
    shown = SliceDisplay.from_estimator(piston()).plot()
    points = shown.ax_.collections[-1]
    offsets, opacity = np.asarray(points.get_offsets()), np.asarray(points.get_alpha())
    for (x, y), alpha in zip(offsets, opacity, strict=True):
        run = np.flatnonzero((shown.runs_x == x) & (shown.runs_y == y))[0]
        assert alpha == max(1.0 - shown.runs_distance[run], 0.12)


def test_wrong_inputs_are_named() -> None:
    model = piston()
    with pytest.raises(InputError, match="no input 'x9'; there are x1, x2"):
        SliceDisplay.from_estimator(model, input="x9")
    with pytest.raises(InputError, match="no input 6; there are 6, counted from 0"):
        SliceDisplay.from_estimator(model, input=6)
    with pytest.raises(InputError, match="grid_size"):
        SliceDisplay.from_estimator(model, grid_size=1)
    with pytest.raises(InputError, match="two different ones"):
        ContourDisplay.from_estimator(model, inputs=(1, 1))
    with pytest.raises(InputError, match="needs 2 inputs that vary, but there is 1"):
        ContourDisplay.from_estimator(forrester())
    with pytest.raises(InputError, match="all 6 of them"):
        SliceDisplay.from_estimator(model, at=[1.0, 2.0])
    with pytest.raises(InputError, match="no input 'pin'"):
        SliceDisplay.from_estimator(model, at={"pin": 1.0})
    with pytest.raises(InputError, match="level must lie between 0 and 1"):
        SliceDisplay.from_estimator(model, level=95.0)
    X = np.array([[0.0, 7.0], [0.5, 7.0], [1.0, 7.0]])
    with pytest.warns(UserWarning, match="constant"):
        narrow = PenalizedGPRegressor(random_state=0).fit(X, [0.0, 1.0, 3.0])
    with pytest.raises(InputError, match="input 'x2' has the same value, 7, in all runs"):
        SliceDisplay.from_estimator(narrow, input=1)
