"""Displays of an average, against the estimator's own numbers."""

from functools import cache
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import norm

from pengp import BayesianGPRegressor
from pengp.datasets import load_piston_slap
from pengp.exceptions import InputError
from pengp.plots import (
    ActivityDisplay,
    ContourDisplay,
    CoverageDisplay,
    CVCurveDisplay,
    ExplanationsDisplay,
    LeaveOneOutDisplay,
    ProfileLikelihoodDisplay,
    ResidualsDisplay,
    SliceDisplay,
    StabilityDisplay,
    ThetaPathDisplay,
)
from tests.plots.models import piston, plain

mpl.use("Agg")
RUNS = load_piston_slap()


@cache
def average() -> BayesianGPRegressor:
    """Return the average of the piston-slap runs, of two outputs."""
    both = np.column_stack([RUNS.X[:, 0] ** 2, RUNS.y])
    return BayesianGPRegressor(random_state=0).fit(RUNS.X, both)


def test_activity_is_the_estimator_s() -> None:
    shown, found = ActivityDisplay.from_estimator(average(), output=1), average().activity_[1]
    np.testing.assert_array_equal(shown.probability, found.probability)
    np.testing.assert_array_equal(shown.lengthscale, found.lengthscale)
    np.testing.assert_allclose(shown.share.sum(1), 1.0, rtol=1e-9)
    # The median lies in the bin in which half of the probability is passed.
    middle = np.clip(found.lengthscale[:, 1] / np.ptp(RUNS.X, axis=0), *shown.edges[[0, -1]])
    passed = (shown.share.cumsum(1) >= 0.5).argmax(1)
    assert (shown.edges[passed] <= middle * (1 + 1e-9)).all()
    assert (middle <= shown.edges[passed + 1] * (1 + 1e-9)).all()
    median = found.change[:, 1]
    assert list(shown.order) == np.argsort(-median, kind="stable").tolist()


def test_explanations_and_kernels_are_the_estimator_s() -> None:
    shown = ExplanationsDisplay.from_estimator(average(), output=1)
    weights = average().kernel_weights_[1]
    assert dict(zip(shown.kernels, shown.kernel_weight, strict=True)) == weights
    np.testing.assert_allclose(shown.kernel_prior, 1 / len(weights))
    assert shown.weight.sum() == pytest.approx(1.0)
    assert len(shown.kernel) == len(shown.weight) == len(shown.theta)
    width = np.ptp(RUNS.X, axis=0)
    np.testing.assert_allclose(shown.lengthscale, width / np.sqrt(shown.theta))


def test_predictions_are_held_out_with_the_intervals_of_their_laws() -> None:
    held = average().held_out(1, 0.8)
    shown = LeaveOneOutDisplay.from_estimator(average(), output=1, level=0.8)
    assert shown.source == "held-out"
    for name in ("mean", "std", "lower", "upper"):
        np.testing.assert_array_equal(getattr(shown, name), getattr(held, name))
    np.testing.assert_array_equal(shown.observed, held.y)
    assert shown.inside.sum() == held.inside
    coverage = CoverageDisplay.from_estimator(average(), output=1)
    for level in (0.5, 0.8, 0.9):
        inside = average().held_out(1, level).inside
        at = np.isclose(coverage.levels, level)
        assert coverage.coverage[at] == pytest.approx(inside / 12)
    residuals = ResidualsDisplay.from_estimator(average(), output=1)
    np.testing.assert_allclose(norm.cdf(residuals.standardized), held.below, rtol=1e-9)


def test_held_out_runs_of_a_penalized_fit_can_be_shown() -> None:
    held = piston().held_out()
    shown = LeaveOneOutDisplay.from_held_out(piston())
    np.testing.assert_allclose(shown.lower, held.lower)
    np.testing.assert_allclose(shown.upper, held.upper)
    assert shown.inside.sum() == held.inside
    assert len(shown.mean) == 36  # four folds, dealt three times
    assert LeaveOneOutDisplay.from_estimator(piston()).source == "leave-one-out"
    z = (held.y - held.mean) / held.std
    np.testing.assert_allclose(ResidualsDisplay.from_held_out(piston()).standardized, z)
    np.testing.assert_allclose(norm.cdf(z), held.below)


def test_a_slice_has_the_quantiles_of_the_mixture() -> None:
    shown = SliceDisplay.from_estimator(average(), input=2, output=1, level=0.9, grid_size=11)
    points = np.tile(shown.at, (len(shown.grid), 1))
    points[:, 2] = shown.grid
    ends = average().predict_quantiles(points, [0.05, 0.95])[:, 1]
    np.testing.assert_allclose(np.column_stack([shown.lower, shown.upper]), ends, rtol=1e-12)


def test_distances_are_the_mean_over_the_processes() -> None:
    # By hand: 1 - sum_j w_j r_j^2, r_j the correlation over the inputs that are held.
    shown = SliceDisplay.from_estimator(average(), input=2, output=1, grid_size=3)
    parts, others = average().components_[1], [0, 1, 3, 4, 5]
    steps = ((RUNS.X - shown.at) / np.ptp(RUNS.X, axis=0))[:, others] ** 2
    left = np.ones(12)
    for kernel, theta, weight in zip(parts.kernel, parts.theta, parts.weight, strict=True):
        t = theta[others] * steps
        if kernel == "sqexp":
            r = np.exp(-t.sum(1))
        elif kernel == "matern52":
            a = np.sqrt(5.0 * t.sum(1))
            r = (1.0 + a + a * a / 3.0) * np.exp(-a)
        else:
            b = np.sqrt(5.0 * t)
            each = (1.0 + b + b * b / 3.0) * np.exp(-b)
            r = ((8.0 + each) / 9.0 if kernel == "matern52_additive" else each).prod(1)
        left -= weight * r**2
    np.testing.assert_allclose(shown.runs_distance, left, atol=1e-12)


@pytest.mark.parametrize(
    "display", [CVCurveDisplay, StabilityDisplay, ThetaPathDisplay, ProfileLikelihoodDisplay]
)
def test_displays_of_a_choice_refuse_an_average_in_one_sentence(display: Any) -> None:
    with pytest.raises(InputError, match="averages over lambda and chooses none; fit a") as error:
        display.from_estimator(average())
    assert str(error.value).count(".") == 1


@pytest.mark.parametrize("display", [ActivityDisplay, ExplanationsDisplay])
def test_displays_of_an_average_refuse_one_estimate(display: Any) -> None:
    with pytest.raises(InputError, match="is one estimate and no average"):
        display.from_estimator(plain())


@pytest.mark.parametrize(
    "display", [ActivityDisplay, ExplanationsDisplay, ContourDisplay, ResidualsDisplay]
)
def test_all_can_be_drawn(display: Any) -> None:
    options = {"grid_size": 5} if display is ContourDisplay else {}
    made = display.from_estimator(average(), output=1, **options).plot()
    assert len(made.axes_) == 2
    plt.close(made.figure_)
