"""Fold metrics against the reference file, the paper's limits and values by hand.

`data/gppenalty.json` holds values computed with the authors' R package GPpenalty 1.0.1 on R 4.2 for
five data sets, nugget 1e-5; its score is -(log|Sigma| + MD)/n_v, its DPE the root of the paper's.
"""

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from pengp._core.arrays import BoolArray, FloatArray
from pengp.choosing.metrics import (
    FOLD_METRICS,
    FoldMetric,
    fold_metrics,
    get_metric,
)
from pengp.exceptions import InputError

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "gppenalty.json").read_text())
BY_NAME = {record["name"]: record for record in REFERENCE}
G = 1e-5


def correlation(A: FloatArray, B: FloatArray, theta: FloatArray) -> FloatArray:
    """Squared exponential correlation, pair by pair."""
    return np.array([[np.exp(-np.sum(theta * (a - b) ** 2)) for b in B] for a in A])


def slow_gp(
    X: FloatArray, y: FloatArray, Z: FloatArray, theta: Any
) -> tuple[FloatArray, FloatArray, float]:
    """Mean, scaled covariance and sigma2 of eq. (2) with plain solves."""
    theta = np.broadcast_to(np.asarray(theta, dtype=np.float64), X.shape[1:])
    R = correlation(X, X, theta) + G * np.eye(len(X))
    C = correlation(Z, X, theta)
    weights = np.linalg.solve(R, y)
    scaled = correlation(Z, Z, theta) + G * np.eye(len(Z)) - C @ np.linalg.solve(R, C.T)
    return C @ weights, scaled, float(y @ weights / len(y))


def held_out(
    X: FloatArray, y: FloatArray, test: BoolArray, theta: Any
) -> tuple[FloatArray, FloatArray, float]:
    """Residual, scaled covariance and sigma2 of a fold given by its mask."""
    mean, scaled, sigma2 = slow_gp(X[~test], y[~test], X[test], theta)
    return y[test] - mean, scaled, sigma2


def arrays(record: dict[str, Any], *names: str) -> list[FloatArray]:
    """Fields of a reference record as float arrays."""
    return [np.array(record[name], dtype=np.float64) for name in names]


def close(actual: Any, expected: Any) -> None:
    """Assert agreement to 1e-8 of the largest expected magnitude."""
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-8 * np.max(np.abs(expected)))


@pytest.mark.parametrize("name", BY_NAME)
def test_predictions_of_the_reference(name: str) -> None:
    X, y, Z, y_test = arrays(BY_NAME[name], "x", "y", "x_test", "y_test")
    for expected in BY_NAME[name]["predictions"]:
        mean, scaled, sigma2 = slow_gp(X, y, Z, expected["theta"])
        close(mean, expected["mean"])
        close(scaled, expected["scaled_cov"])
        close(sigma2, expected["sigma2"])
        found = fold_metrics((y_test - mean)[:4], scaled[:4, :4], sigma2)
        close(found["root_dpe"], expected["root_dpe_first4"])
        close(found["scaled_score"], expected["score_first4"])
        close(found["md"], expected["md_first4"])


@pytest.mark.parametrize("name", BY_NAME)
def test_fold_metrics_of_the_reference(name: str) -> None:
    X, y, folds = arrays(BY_NAME[name], "x", "y", "folds")
    for expected in BY_NAME[name]["fold_metrics"]:
        test = folds == expected["fold"]
        found = fold_metrics(*held_out(X, y, test, expected["theta"]))
        close(found["pe"], expected["pe"])
        close(found["md"], expected["md"])
        close(found["root_dpe"], expected["root_dpe"])
        close(found["dpe"], expected["root_dpe"] ** 2)
        # the score is a difference of terms larger than itself, here as small as 0.01
        assert found["scaled_score"] == pytest.approx(expected["score"], rel=1e-8, abs=1e-8)
        assert found["score"] == pytest.approx(-test.sum() * expected["score"], rel=1e-8, abs=1e-7)


def folds_of(n: int, k: int) -> list[BoolArray]:
    """Masks of k folds."""
    return [np.arange(n) % k == fold for fold in range(k)]


@pytest.mark.parametrize("k", [4, 8, 3])
@pytest.mark.parametrize(("theta", "rel"), [(0.0, 1e-8), (1e-12, 1e-5)])
def test_limits_for_theta_to_zero(k: int, theta: float, rel: float) -> None:
    """Appendix B, with n_t + g where the paper's last step drops g."""
    X, y = arrays(BY_NAME["forrester"], "x", "y")
    assert abs(y.mean()) < 1e-12
    for test in folds_of(8, k):
        n_v, n_t = test.sum(), (~test).sum()
        y_k, y_t = y[test], y[~test]
        dpe = (y_k @ y_k + n_v**2 / (n_t + G) * y_k.mean() ** 2) / G
        ss = y_t @ y_t - n_t**2 / (n_t + G) * y_t.mean() ** 2
        md = n_t * G * dpe / ss
        score = md - n_v * np.log(n_t) + n_v * np.log(ss) + np.log(1 + n_v / (n_t + G))
        residual = y_k - n_t * y_t.mean() / (n_t + G)
        found = fold_metrics(*held_out(X, y, test, theta))
        assert found["dpe"] == pytest.approx(dpe, rel=rel)
        assert found["md"] == pytest.approx(md, rel=rel)
        assert found["score"] == pytest.approx(score, rel=rel, abs=rel)
        assert found["pe"] == pytest.approx(residual @ residual, rel=rel)
        if k == 8:  # n-fold
            closed = y_k[0] ** 2 * ((8 + G) / (7 + G)) ** 2
            assert found["pe"] == pytest.approx(closed, rel=rel)


@pytest.mark.parametrize("k", [4, 8, 3])
def test_limits_for_theta_to_infinity(k: int) -> None:
    """Appendix B; sigma2 = y'y/n_t/(1 + g), with the 1/n of its definition."""
    X, y = arrays(BY_NAME["forrester"], "x", "y")
    for test in folds_of(8, k):
        n_v, n_t = test.sum(), (~test).sum()
        y_k, y_t = y[test], y[~test]
        found = fold_metrics(*held_out(X, y, test, 1e6))
        md = n_t * (y_k @ y_k) / (y_t @ y_t)
        assert found["pe"] == pytest.approx(y_k @ y_k, rel=1e-13)
        assert found["dpe"] == pytest.approx(y_k @ y_k / (1 + G), rel=1e-13)
        assert found["md"] == pytest.approx(md, rel=1e-13)
        assert found["score"] == pytest.approx(md + n_v * np.log(y_t @ y_t / n_t), rel=1e-13)


def test_metrics_by_hand() -> None:
    # R^-1 = [[2, -1], [-1, 2]] / 3, so r' R^-1 r = (2 - 6 + 18)/3 for r = (1, 3)
    found = fold_metrics([1.0, 3.0], [[2.0, 1.0], [1.0, 2.0]], 4.0)
    assert found["pe"] == pytest.approx(10.0, rel=1e-14)
    assert found["dpe"] == pytest.approx(14.0 / 3.0, rel=1e-14)
    assert found["md"] == pytest.approx(14.0 / 12.0, rel=1e-14)
    assert found["score"] == pytest.approx(14.0 / 12.0 + np.log(16.0 * 3.0), rel=1e-14)
    assert found["root_dpe"] == pytest.approx(np.sqrt(14.0 / 3.0), rel=1e-14)
    assert found["scaled_score"] == pytest.approx(-(14.0 / 12.0 + np.log(48.0)) / 2, rel=1e-14)


def random_batch(*shape: int, v: int = 3) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Residuals, covariances and scales of a batch of folds."""
    rng = np.random.default_rng(9)
    A = rng.normal(size=(*shape, v, v + 2))
    return rng.normal(size=(*shape, v)), A @ np.swapaxes(A, -1, -2), rng.random(shape) + 0.1


def test_score_is_twice_the_normal_negative_log_density() -> None:
    r, R, sigma2 = random_batch(5)
    for i, value in enumerate(fold_metrics(r, R, sigma2)["score"]):
        density = stats.multivariate_normal(cov=sigma2[i] * R[i]).logpdf(r[i])
        assert value == pytest.approx(-2.0 * density - 3.0 * np.log(2.0 * np.pi), rel=1e-10)


def test_a_batch_equals_its_items() -> None:
    r, R, sigma2 = random_batch(4, 2)
    batch = fold_metrics(r, R, sigma2)
    for item in np.ndindex(4, 2):
        single = fold_metrics(r[item], R[item], sigma2[item])
        for name, value in single.items():
            assert batch[name][item] == pytest.approx(float(value), rel=1e-14)


def test_leading_axes_broadcast() -> None:
    r, R, sigma2 = random_batch(4)
    found = fold_metrics(r[:, None], R[:, None], sigma2[0])
    for name, value in fold_metrics(r, R, np.full(4, sigma2[0])).items():
        assert np.array_equal(found[name][:, 0], value)


@pytest.mark.parametrize("faulty", [-np.eye(3), np.zeros((3, 3)), np.full((3, 3), np.nan)])
def test_a_faulty_covariance_spoils_only_its_item(faulty: FloatArray) -> None:
    r, R, sigma2 = random_batch(3, 2)
    good = fold_metrics(r, R, sigma2)
    R[1, 0] = faulty
    found = fold_metrics(r, R, sigma2)
    rest = np.ones((3, 2), dtype=bool)
    rest[1, 0] = False
    for name, values in found.items():
        np.testing.assert_allclose(values[rest], good[name][rest], rtol=1e-13)
        assert np.isnan(values[1, 0]) == (name != "pe")


def test_no_spread() -> None:
    found = fold_metrics([[0.0, 0.0], [0.0, 1.0]], np.eye(2), 0.0)
    assert found["md"].tolist() == [0.0, np.inf]
    assert found["score"].tolist() == [-np.inf, np.inf]
    assert found["scaled_score"].tolist() == [np.inf, -np.inf]
    assert found["dpe"].tolist() == [0.0, 1.0]


def test_one_decomposition_serves_all_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    original = np.linalg.cholesky

    def counted(a: FloatArray) -> Any:
        calls.append(a.shape)
        return original(a)

    monkeypatch.setattr(np.linalg, "cholesky", counted)
    fold_metrics(*random_batch(4, 2))
    assert calls == [(4, 2, 3, 3)]


@pytest.mark.parametrize("name", FOLD_METRICS)
def test_a_perfect_prediction_ranks_first_under_every_fold_metric(name: str) -> None:
    r, R, sigma2 = random_batch(50)
    metric = FOLD_METRICS[name]
    r[17] = 0.0
    values = metric(r, R[0], sigma2[0])
    ranked = np.argsort(-values if metric.greater_is_better else values)
    assert ranked[0] == 17
    assert np.sum(values == values[17]) == 1


def custom_dpe(r: FloatArray, R: FloatArray, sigma2: float) -> float:
    """DPE of one fold."""
    return float(r @ np.linalg.inv(R) @ r)


def test_metrics_of_ones_own() -> None:
    r, R, sigma2 = random_batch(4, 2)
    better = FoldMetric.from_function(custom_dpe, name="minus", greater_is_better=True)
    found = fold_metrics(r, R, sigma2, ["dpe", custom_dpe, better])
    assert list(found) == ["dpe", "custom_dpe", "minus"]
    np.testing.assert_allclose(found["custom_dpe"], found["dpe"], rtol=1e-9)
    assert get_metric(better).greater_is_better
    assert not get_metric(custom_dpe).greater_is_better
    assert (better.label, better.meaning) == ("minus", "minus")
    copy = pickle.loads(pickle.dumps(better))
    assert np.array_equal(copy(r, R, sigma2), found["minus"])


def test_registered_metrics_are_computed_by_default() -> None:
    FOLD_METRICS.register(FoldMetric.from_function(custom_dpe, name="mine"))
    try:
        assert get_metric("mine").name == "mine"
        assert "mine" in fold_metrics(*random_batch(2))
    finally:
        del FOLD_METRICS["mine"]
    with pytest.raises(InputError, match=r"metric='mine' is unknown; use one of pe, .* a FoldM"):
        get_metric("mine")
