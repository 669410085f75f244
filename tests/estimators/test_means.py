"""Estimators with a trend, on the piston-slap runs and on data whose answer is known."""

import numpy as np
import pytest
from sklearn.base import clone

from pengp import InputError, PenalizedGPRegressor, PenalizedGPRegressorCV, PengpWarning
from pengp._core.arrays import FloatArray
from pengp.datasets import load_piston_slap
from pengp.model import LinearMean

RUNS = load_piston_slap()


def bowl(U: FloatArray) -> FloatArray:
    """Return a basis of one's own."""
    return np.column_stack([np.ones(len(U)), (U - 0.5) ** 2])


def test_piston_slap_with_a_linear_mean_follows_an_added_plane() -> None:
    X, y = RUNS.X, RUNS.y
    plane = X @ np.arange(1.0, 7.0)
    first, second = (
        PenalizedGPRegressorCV(cv="loo", mean="linear", lams=[0.0, 0.01, 0.1], random_state=0)
        for _ in range(2)
    )
    first.fit(X, y)
    sd = np.std(y + plane, ddof=1) / np.std(y, ddof=1)  # the response is divided by its own
    second.fit(X, y + plane)
    np.testing.assert_allclose(second.theta_, first.theta_, rtol=1e-3)
    assert second.lam_ == first.lam_
    np.testing.assert_allclose(second.sigma2_ * sd**2, first.sigma2_, rtol=1e-4)
    new = X[:6] * 0.9 + X[6:] * 0.1
    added = new @ np.arange(1.0, 7.0)
    np.testing.assert_allclose(second.predict(new) - added, first.predict(new), rtol=1e-4)
    slopes = second.predict_gradient(new) - first.predict_gradient(new)
    np.testing.assert_allclose(slopes, np.tile(np.arange(1.0, 7.0), (6, 1)), atol=1e-2)


@pytest.mark.parametrize("mean", ["linear", bowl, LinearMean(4.0)], ids=["linear", "bowl", "prior"])
def test_gradients_in_the_users_units_equal_differences(mean: object) -> None:
    model = PenalizedGPRegressor(0.01, mean=mean, random_state=0)  # type: ignore[arg-type]
    model.fit(RUNS.X, RUNS.y)
    new = RUNS.X[:4] * 0.7 + RUNS.X[4:8] * 0.3
    h = 1e-5 * np.ptp(RUNS.X, axis=0)
    steps = np.diag(h)
    numeric = [(model.predict(new + e) - model.predict(new - e)) / (2 * e.sum()) for e in steps]
    np.testing.assert_allclose(model.predict_gradient(new).T, numeric, rtol=1e-5, atol=1e-6)


def test_a_linear_response_is_reproduced_without_spread() -> None:
    y = RUNS.X @ np.arange(6.0) + 3.0
    model = PenalizedGPRegressor(mean="linear").fit(RUNS.X, y)
    new = np.vstack([RUNS.X.min(0) - 10.0, RUNS.X.max(0) + 100.0])  # far outside
    mean, std = model.predict(new, return_std=True)
    np.testing.assert_allclose(mean, new @ np.arange(6.0) + 3.0, rtol=1e-9)
    np.testing.assert_allclose(std, 0.0, atol=1e-6)


def test_a_column_that_does_not_vary_gets_no_slope() -> None:
    X = np.column_stack([RUNS.X[:, :3], np.full(12, 7.0)])
    with pytest.warns(PengpWarning, match="constant in column 3"):
        model = PenalizedGPRegressor(0.01, mean="linear", random_state=0).fit(X, RUNS.y)
    without = PenalizedGPRegressor(0.01, mean="linear", random_state=0).fit(X[:, :3], RUNS.y)
    assert model.trend_[4] == 0.0
    np.testing.assert_allclose(model.trend_[:4], without.trend_, rtol=1e-5)
    moved = X + np.array([0.0, 0.0, 0.0, 5.0])
    np.testing.assert_allclose(model.predict(moved), without.predict(X[:, :3]), rtol=1e-8)


def test_several_outputs_have_their_own_trends() -> None:
    Y = np.column_stack([RUNS.y, RUNS.y[::-1]])
    both = PenalizedGPRegressor(0.01, mean="linear", random_state=0).fit(RUNS.X, Y)
    for k in range(2):
        one = clone(both).fit(RUNS.X, Y[:, k])
        np.testing.assert_allclose(both.trend_[k], one.trend_, rtol=1e-6)
        assert both.mean_[k] == pytest.approx(one.mean_)


def test_the_kkt_grid_knows_the_mean() -> None:
    tops = [
        PenalizedGPRegressorCV(lams="kkt", cv="loo", mean=mean, n_starts=1, random_state=0)
        .fit(RUNS.X, RUNS.y)
        .lams_[-1]
        for mean in ("zero", "linear")
    ]
    assert tops[1] != tops[0]


def test_too_few_runs_are_said_in_one_sentence() -> None:
    linear = PenalizedGPRegressorCV(cv=2, mean="linear")
    with pytest.raises(
        InputError, match=r"fold 0 \(from 0\) leaves 6 runs to fit, but mean='linear'"
    ):
        linear.fit(RUNS.X, RUNS.y)
    with pytest.raises(InputError, match=r"X has 7 runs, but .* needs at least 8 runs"):
        linear.fit(RUNS.X[:7], RUNS.y[:7])
    PenalizedGPRegressor(0.1, mean=LinearMean(1.0), n_starts=1).fit(RUNS.X[:7], RUNS.y[:7])
