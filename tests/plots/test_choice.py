"""The axis of lambda, and the displays of lambda and theta."""

from collections.abc import Iterator
from typing import Any

import matplotlib as mpl

mpl.use("Agg")  # before pyplot is loaded anywhere

import matplotlib.pyplot as plt
import numpy as np
import pytest

from pengp import InputError, PenalizedGPRegressor, PenalizedGPRegressorCV
from pengp.plots import CVCurveDisplay, StabilityDisplay, ThetaPathDisplay, lambda_positions
from tests.plots.models import LAMS, forrester, piston, plain


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    plt.close("all")


def test_lambda_zero_stands_left_of_a_logarithmic_axis() -> None:
    axis = lambda_positions([1.0, 0.0, 0.01, 0.1])
    np.testing.assert_allclose(axis.positions, [0.0, -2.28, -2.0, -1.0])  # a gap of 14 %
    np.testing.assert_allclose(axis.ticks, [-2.28, -2.0, -1.0, 0.0])
    assert axis.labels == ("0", "0.01", "0.1", "1")


@pytest.mark.parametrize(
    ("lams", "labels"),
    [
        ([0.0], ("0",)),
        ([0.3], ("0.3",)),
        ([0.0, 0.3], ("0", "0.3")),
        ([0.02, 0.08], ("0.02", "0.08")),
        ([0.001, 0.02], ("0.001", "0.003", "0.01")),
        ([0.01, 0.06], ("0.01", "0.02", "0.05")),
        (np.geomspace(1e-5, 1e5, 11), ("0.0001", "0.01", "1", "100", "10000")),
    ],
)
def test_ticks_of_lambda_are_round_and_inside(lams: Any, labels: tuple[str, ...]) -> None:
    axis = lambda_positions(lams)
    assert axis.labels == labels
    round_values = [float(label) for label in labels if label != "0"]
    first = len(labels) - len(round_values)
    np.testing.assert_allclose(axis.ticks[first:], np.log10(round_values))


def test_the_curve_is_the_mean_and_standard_error_of_the_table() -> None:
    table = piston().cv_table_
    for metric in ("dpe", "pe", "scaled_score"):
        curve = CVCurveDisplay.from_estimator(piston(), metric=metric)
        np.testing.assert_array_equal(curve.mean, table.mean_of(metric))
        np.testing.assert_array_equal(curve.se, table.se_of(metric))
        assert (curve.best, curve.one_se) == (table.best(metric), table.one_se(metric))
    curve = CVCurveDisplay.from_estimator(piston())
    assert (curve.metric, curve.greater_is_better) == ("dpe", False)
    assert curve.values.shape == (len(LAMS), 12)
    for k in range(len(LAMS)):
        mean = sum(curve.values[k]) / 12
        errors = []
        for r in range(3):
            four = curve.values[k, 4 * r : 4 * r + 4]
            variance = sum((v - sum(four) / 4) ** 2 for v in four) / 3
            errors.append((variance / 4) ** 0.5)
        np.testing.assert_allclose(curve.mean[k], mean, rtol=1e-12)
        np.testing.assert_allclose(curve.se[k], sum(errors) / 3, rtol=1e-12)
    assert curve.best == LAMS[np.argmin(curve.mean)]


def test_the_curve_is_in_the_order_of_lambda() -> None:
    model, shuffled = forrester(), LAMS[[3, 0, 6, 1, 5, 2, 4]]
    other = PenalizedGPRegressorCV(lams=shuffled, cv=4, random_state=0)
    other.fit(model.X_train_, model.y_train_)
    ours, theirs = (CVCurveDisplay.from_estimator(m) for m in (other, model))
    np.testing.assert_array_equal(ours.lams, LAMS)
    np.testing.assert_allclose(ours.mean, theirs.mean, rtol=1e-6)
    path, expected = (ThetaPathDisplay.from_estimator(m).theta for m in (other, model))
    np.testing.assert_allclose(path, expected, rtol=1e-4)


def test_the_curve_marks_best_one_se_and_another_choice() -> None:
    curve = CVCurveDisplay.from_estimator(piston(), metric="scaled_score")
    curve.chosen = 0.05
    assert len({curve.best, curve.one_se, curve.chosen}) == 3
    drawn: dict[str, Any] = {str(line.get_label()): line for line in curve.plot().ax_.get_lines()}
    positions = dict(zip(LAMS, lambda_positions(LAMS).positions, strict=True))
    for word, lam in (("best", curve.best), ("one SE", curve.one_se), ("chosen", 0.05)):
        line = drawn[rf"{word}, $\lambda$ = {lam:.3g}"]
        assert list(line.get_xdata()) == [positions[lam]]
        assert list(line.get_ydata()) == [curve.mean[curve.lams == lam][0]]
    level = curve.mean[curve.lams == curve.best] - curve.se[curve.lams == curve.best]
    assert drawn["best mean $-$ 1 SE"].get_ydata()[0] == level
    np.testing.assert_array_equal(drawn["mean"].get_ydata(), curve.mean[1:])
    assert "higher is better" in curve.ax_.get_ylabel()
    assert curve.ax_.get_yscale() == "linear"


def test_a_metric_over_decades_gets_a_logarithmic_axis() -> None:
    curve = CVCurveDisplay.from_estimator(piston())
    assert curve.mean.max() > 30 * curve.mean.min()
    assert curve.plot().ax_.get_yscale() == "log"
    assert curve.plot(log_metric=False).ax_.get_yscale() == "linear"


def test_the_path_of_theta_is_that_of_all_runs() -> None:
    model = piston()
    path = ThetaPathDisplay.from_estimator(model)
    np.testing.assert_array_equal(path.theta, model.path_.theta)
    np.testing.assert_array_equal(path.theta[path.lams == path.chosen][0], model.theta_)
    assert (path.best, path.one_se) == (model.lam_min_, model.lam_1se_)
    assert path.theta_bounds == (1e-3, 1e3)
    assert (path.theta[:, 1] == 1e-3).all()  # location of peak pressure, never active
    alone = ThetaPathDisplay.from_estimator(plain())
    assert (alone.chosen, alone.best, alone.one_se) == (0.01, None, None)
    np.testing.assert_array_equal(alone.theta, plain().theta_[None])


def test_an_isotropic_path_is_one_line() -> None:
    model = PenalizedGPRegressor(0.116, isotropic=True, random_state=0)
    path = ThetaPathDisplay.from_estimator(model.fit(plain().X_train_, plain().y_train_))
    np.testing.assert_allclose(path.theta, np.full((1, 6), 1.453), rtol=1e-3)  # notes, Section 5
    ax: Any = path.plot().ax_
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["all inputs"]


def test_every_repeat_chooses_as_if_it_were_alone() -> None:
    model = piston()
    shown = StabilityDisplay.from_estimator(model)
    alone = [
        PenalizedGPRegressorCV(lams=LAMS, cv=model.cv.repeat(r), random_state=0)  # type: ignore[union-attr]
        .fit(model.X_train_, model.y_train_)
        .lam_
        for r in range(3)
    ]
    np.testing.assert_array_equal(shown.choices, alone)
    counts = [sum(lam == choice for choice in alone) for lam in LAMS]
    np.testing.assert_array_equal(shown.counts, counts)
    assert shown.chosen == model.lam_
    best = StabilityDisplay.from_estimator(model, rule="min")
    np.testing.assert_array_equal(best.choices, model.cv_table_.stability("dpe", "min"))
    assert (best.choices != shown.choices).any()


def test_bars_stand_where_their_lambda_is() -> None:
    shown = StabilityDisplay.from_estimator(piston()).plot()
    patches: Any = shown.ax_.patches
    bars = {bar.get_x() + bar.get_width() / 2: bar.get_height() for bar in patches}
    positions = lambda_positions(LAMS).positions[shown.counts > 0]
    np.testing.assert_allclose(list(bars), positions)
    np.testing.assert_array_equal(list(bars.values()), shown.counts[shown.counts > 0])


def test_folds_dealt_once_have_no_stability() -> None:
    with pytest.raises(InputError, match=r"cv=random_folds\(8, 4, repeats=20\) of pengp.choosing"):
        StabilityDisplay.from_estimator(forrester())
    alone = PenalizedGPRegressorCV(lams=LAMS[:2], cv="loo", random_state=0)
    alone.fit(forrester().X_train_, forrester().y_train_)
    with pytest.raises(InputError, match=r"cv=random_folds\(8, 5, repeats=20\)"):
        StabilityDisplay.from_estimator(alone)
