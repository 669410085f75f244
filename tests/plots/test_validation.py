"""Displays that compare predictions with what was observed."""

from collections.abc import Iterator
from statistics import NormalDist
from typing import Any

import matplotlib as mpl

mpl.use("Agg")  # before pyplot is loaded anywhere

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import binom

from pengp import InputError, PenalizedGPRegressor, PenalizedGPRegressorCV
from pengp._core.arrays import FloatArray
from pengp.choosing import random_folds
from pengp.plots import CoverageDisplay, LeaveOneOutDisplay, ResidualsDisplay
from tests.plots.models import forrester, piston

NORMAL = NormalDist()
KINDS = [LeaveOneOutDisplay, ResidualsDisplay, CoverageDisplay]


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    plt.close("all")


def validation_set(n: int = 40) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return observed responses, means and standard deviations that are too small."""
    rng = np.random.default_rng(0)
    mean, std = rng.normal(size=n), rng.uniform(0.5, 1.5, n)
    return mean + 1.7 * std * rng.normal(size=n), mean, std


def test_runs_are_inside_or_outside_their_leave_one_out_interval() -> None:
    model = forrester()
    shown = LeaveOneOutDisplay.from_estimator(model, level=0.9)
    z = NORMAL.inv_cdf(0.95)
    for i in range(8):
        low = model.loo_.mean[i] - z * model.loo_.std[i]
        high = model.loo_.mean[i] + z * model.loo_.std[i]
        np.testing.assert_allclose((shown.lower[i], shown.upper[i]), (low, high), rtol=1e-12)
        assert shown.inside[i] == (low <= model.y_train_[i] <= high)
    assert 0 < shown.inside.sum() < 8  # both kinds occur
    np.testing.assert_array_equal(shown.observed, model.y_train_)


def test_points_outside_look_different_and_are_counted() -> None:
    observed, mean, std = validation_set()
    shown = LeaveOneOutDisplay.from_predictions(observed, mean, std, response_name="noise").plot()
    ax: Any = shown.ax_
    inside, outside = ax.containers
    missed = int((np.abs(observed - mean) > NORMAL.inv_cdf(0.975) * std).sum())
    assert 0 < missed < 40
    assert inside.get_label() == f"in its 95 % interval ({40 - missed} of 40)"
    assert outside.get_label() == f"outside its 95 % interval ({missed} of 40)"
    assert len(outside.lines[0].get_xdata()) == missed
    assert inside.lines[0].get_marker() != outside.lines[0].get_marker()
    assert shown.ax_.get_xlabel() == "observed noise"
    assert shown.ax_.get_xlim() == shown.ax_.get_ylim()


def test_residuals_are_those_of_the_estimator() -> None:
    for model in (piston(), forrester()):
        shown = ResidualsDisplay.from_estimator(model)
        np.testing.assert_allclose(shown.standardized, model.loo_.standardized_residual, rtol=1e-12)
        np.testing.assert_array_equal(shown.fitted, model.loo_.mean)
        assert (np.diff(shown.standardized[shown.order]) >= 0.0).all()


@pytest.mark.parametrize("n", [1, 2, 12, 25])
def test_quantiles_and_envelope_are_those_of_normal_order_statistics(n: int) -> None:
    observed = np.random.default_rng(n).normal(size=n)
    shown = ResidualsDisplay.from_predictions(observed, np.zeros(n), np.ones(n), level=0.9)
    # The smallest of n uniform draws exceeds u with probability (1 - u)^n.
    for values, share in (
        (shown.quantiles, 0.5),
        (shown.envelope_lower, 0.05),
        (shown.envelope_upper, 0.95),
    ):
        np.testing.assert_allclose(values[0], NORMAL.inv_cdf(1 - (1 - share) ** (1 / n)))
        np.testing.assert_allclose(values[-1], NORMAL.inv_cdf(share ** (1 / n)))
        # The i-th smallest is below q if at least i of n draws are.
        below = [NORMAL.cdf(q) for q in values]
        at_least = [1.0 - binom.cdf(i, n, u) for i, u in enumerate(below)]
        np.testing.assert_allclose(at_least, share, rtol=1e-9)


def test_the_second_panel_shows_ordered_residuals_against_quantiles() -> None:
    shown = ResidualsDisplay.from_predictions(*validation_set()).plot()
    ax: Any = shown.axes_[1]
    inside, outside = ax.get_lines()[-2:]
    x = np.concatenate([inside.get_xdata(), outside.get_xdata()])
    y = np.concatenate([inside.get_ydata(), outside.get_ydata()])
    order = np.argsort(x)
    np.testing.assert_array_equal(x[order], shown.quantiles)
    np.testing.assert_array_equal(y[order], np.sort(shown.standardized))
    beyond = (y[order] < shown.envelope_lower) | (y[order] > shown.envelope_upper)
    assert len(outside.get_xdata()) == beyond.sum() > 0


def slow_coverage(observed: Any, mean: Any, std: Any) -> list[float]:
    """Return the share of responses inside their intervals at 1 to 99 %, by counting."""
    shares = []
    for percent in range(1, 100):
        z = NORMAL.inv_cdf(0.5 + percent / 200)
        inside = [m - z * s <= y <= m + z * s for y, m, s in zip(observed, mean, std, strict=True)]
        shares.append(sum(inside) / len(inside))
    return shares


def test_coverage_counts_at_every_level() -> None:
    given = validation_set()
    shown = CoverageDisplay.from_predictions(*given)
    np.testing.assert_allclose(shown.levels, [k / 100 for k in range(1, 100)], rtol=1e-15)
    np.testing.assert_allclose(shown.coverage, slow_coverage(*given), rtol=1e-12)
    assert len(set(shown.coverage)) > 20
    for model in (piston(), forrester()):
        loo = CoverageDisplay.from_estimator(model)
        expected = slow_coverage(model.y_train_, model.loo_.mean, model.loo_.std)
        np.testing.assert_allclose(loo.coverage, expected, rtol=1e-12)
        assert loo.n == len(model.y_train_)


def test_the_band_of_coverage_is_binomial() -> None:
    shown = CoverageDisplay.from_predictions(*validation_set(12), level=0.9)
    for level, low, high in zip(shown.levels, shown.band_lower, shown.band_upper, strict=True):
        chances = [binom.pmf(k, 12, level) for k in range(13)]
        below = np.cumsum(chances)
        # Quantiles: the first counts by which 5 % and 95 % have been collected.
        assert low == np.flatnonzero(below >= 0.05)[0] / 12
        assert high == np.flatnonzero(below >= 0.95)[0] / 12


def test_an_exact_prediction_without_spread_counts_as_right() -> None:
    given = [1.0, 2.0], [1.0, 2.0], [0.0, 0.0]
    assert LeaveOneOutDisplay.from_predictions(*given).inside.all()
    assert (ResidualsDisplay.from_predictions(*given).standardized == 0.0).all()
    assert (CoverageDisplay.from_predictions(*given).coverage == 1.0).all()


def test_a_wrong_prediction_without_spread_has_no_standardised_residual() -> None:
    given = [1.0, 2.0], [1.0, 2.5], [0.0, 0.0]
    with pytest.raises(InputError, match="std is 0 in row 1"):
        ResidualsDisplay.from_predictions(*given)
    assert LeaveOneOutDisplay.from_predictions(*given).inside.tolist() == [True, False]
    assert set(CoverageDisplay.from_predictions(*given).coverage) == {0.5}


@pytest.mark.parametrize("kind", KINDS)
def test_validation_predictions_are_checked(kind: Any) -> None:
    with pytest.raises(InputError, match=r"shapes \(2,\), \(3,\), \(2,\)"):
        kind.from_predictions([1.0, 2.0], [1.0, 2.0, 3.0], [1.0, 1.0])
    with pytest.raises(InputError, match="mean is nan in row 1"):
        kind.from_predictions([1.0, 2.0], [1.0, np.nan], [1.0, 1.0])
    with pytest.raises(InputError, match="std is -1 in row 0"):
        kind.from_predictions([1.0, 2.0], [1.0, 2.0], [-1.0, 1.0])
    with pytest.raises(InputError, match="at least one number"):
        kind.from_predictions([], [], [])
    with pytest.raises(InputError, match="level must lie between 0 and 1"):
        kind.from_predictions([1.0], [1.0], [1.0], level=95)


@pytest.mark.parametrize("kind", KINDS)
def test_labels_tell_where_predictions_come_from(kind: Any) -> None:
    loo = kind.from_estimator(piston()).plot()
    other = kind.from_predictions(*validation_set()).plot()
    assert (loo.source, other.source) == ("leave-one-out", "validation")
    texts = []
    for shown in (loo, other):
        ax = shown.axes_[0] if kind is ResidualsDisplay else shown.ax_
        texts.append(ax.get_ylabel())
        shown.figure_.canvas.draw()
    assert texts[0] != texts[1]


@pytest.mark.parametrize("made", ["from_estimator", "from_held_out"])
def test_displays_of_a_transformed_response_know_its_laws(made: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.random((14, 2))
    y = np.exp(2.0 * np.sin(5.0 * X[:, 0]) + X[:, 1])
    model = PenalizedGPRegressor(0.05, response_transform="log", random_state=0).fit(X, y)
    logs = PenalizedGPRegressor(0.05, random_state=0).fit(X, np.log(y))
    own, plain = (getattr(LeaveOneOutDisplay, made)(m, level=0.9) for m in (model, logs))
    np.testing.assert_allclose(np.log(own.lower), plain.lower, rtol=1e-9)
    np.testing.assert_allclose(np.log(own.upper), plain.upper, rtol=1e-9)
    np.testing.assert_array_equal(own.inside, plain.inside)
    one, other = (getattr(ResidualsDisplay, made)(m) for m in (model, logs))
    np.testing.assert_allclose(one.standardized, other.standardized, rtol=1e-6)
    shares = [getattr(CoverageDisplay, made)(m).coverage for m in (model, logs)]
    np.testing.assert_array_equal(*shares)


def test_repeated_folds_do_not_make_more_runs() -> None:
    X = np.random.default_rng(0).random((12, 1))
    plan = random_folds(12, 4, repeats=5, random_state=0)
    model = PenalizedGPRegressorCV(lams=[0.1], cv=plan, random_state=0).fit(
        X, np.sin(5.0 * X[:, 0])
    )
    shown = CoverageDisplay.from_held_out(model)
    assert shown.n == 12
    # The band is that of twelve runs, whose five copies say the same.
    np.testing.assert_array_equal(shown.band_lower, binom.ppf(0.025, 12, shown.levels) / 12)
    residuals = ResidualsDisplay.from_held_out(model)
    assert len(residuals.standardized) == 60
    alone = ResidualsDisplay.from_predictions(np.zeros(12), np.zeros(12), np.ones(12))
    # The quantiles and the envelope at a share i / (n + 1) are those of twelve runs.
    for name in ("quantiles", "envelope_lower", "envelope_upper"):
        shares = np.arange(1, 61) / 61
        few = np.interp(shares, np.arange(1, 13) / 13, getattr(alone, name))
        middle = slice(10, 50)
        assert np.abs(getattr(residuals, name)[middle] - few[middle]).max() < 0.03
