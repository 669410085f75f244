"""The limiting forms against dense algebra at the limit, and against the computation near it."""

from collections.abc import Callable

import numpy as np
import pytest

from pengp._core.arrays import FloatArray
from pengp.study.limits import limit_at_infinity, limit_at_zero
from tests.problems import NUGGET as G
from tests.problems import forrester_runs
from tests.study.rows import Rows, rows_of

Limit = Callable[[FloatArray, FloatArray, float, float], dict[str, float]]
ONES, IDENTITY = np.ones((8, 8)), np.eye(8)


def at_limit(test: list[int], prior: FloatArray) -> dict[str, float]:
    """Return every quantity from the correlations [8, 8] of the limit, by dense algebra."""
    _, y = forrester_runs()
    train = [i for i in range(8) if i not in test]
    R_t, R_v, R_vt = (prior[np.ix_(a, b)] for a, b in ((train, train), (test, test), (test, train)))
    inverse = np.linalg.inv(R_t)
    mean = R_vt @ inverse @ y[train]
    cov = R_v - R_vt @ inverse @ R_vt.T
    r, sigma2 = y[test] - mean, y[train] @ inverse @ y[train] / len(train)
    dpe = r @ np.linalg.inv(cov) @ r
    return {
        "inverse_diagonal": inverse[0, 0],
        "inverse_off_diagonal": inverse[0, 1],
        "mean": mean[0],
        "scaled_variance": cov[0, 0],
        "scaled_covariance": cov[0, -1],
        "log_determinant": np.linalg.slogdet(cov)[1],
        "sigma2": sigma2,
        "pe": r @ r,
        "md": dpe / sigma2,
        "score": dpe / sigma2 + np.linalg.slogdet(sigma2 * cov)[1],
        "dpe": dpe,
    }


def last_computed(rows: Rows, metric: str) -> float:
    """Return what was computed nearest to the limit."""
    return list(rows.by_x("computed", metric).values())[-1]


@pytest.mark.parametrize("g", [0.3, 2.0])
@pytest.mark.parametrize(("limit", "prior"), [(limit_at_zero, ONES), (limit_at_infinity, IDENTITY)])
def test_formulas_hold_for_any_nugget(limit: Limit, prior: FloatArray, g: float) -> None:
    _, y = forrester_runs()
    for test in ([0, 4], [1, 2, 6], [7]):
        found = limit(np.delete(y, test), y[test], g, g)
        expected = at_limit(test, prior + g * IDENTITY)
        if len(test) == 1:  # no covariance
            del found["scaled_covariance"], expected["scaled_covariance"]
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("fold", range(4))
@pytest.mark.parametrize(("part", "prior"), [("zero", ONES), ("infinity", IDENTITY)])
def test_formulas_are_taken_at_the_papers_nugget(part: str, prior: FloatArray, fold: int) -> None:
    rows = rows_of("limits", part, fold)
    expected = at_limit([fold, fold + 4], prior + G * IDENTITY)
    found = {metric: rows.only("formula", metric) for metric in expected}
    assert found == pytest.approx(expected, rel=2e-5, abs=1e-12)  # dense algebra loses 1e-6
    assert {row.metric for row in rows} == set(expected)


@pytest.mark.parametrize("part", ["zero", "infinity"])
@pytest.mark.parametrize("fold", range(4))
def test_the_computation_approaches_the_formulas(part: str, fold: int) -> None:
    rows = rows_of("limits", part, fold)
    for metric in {row.metric for row in rows}:
        limit, values = rows.only("formula", metric), rows.by_x("computed", metric)
        errors = [abs(value - limit) for value in values.values()]
        assert errors[-1] <= max(1e-4 * abs(limit), 1e-4 * errors[0])
        toward = list(values) if part == "infinity" else [1 / x for x in values]
        assert toward == sorted(toward)


@pytest.mark.parametrize("fold", range(4))
def test_approximations_leave_out_the_nugget(fold: int) -> None:
    zero, infinity = (rows_of("limits", part, fold) for part in ("zero", "infinity"))
    _, y = forrester_runs()
    y_k, y_t = y[[fold, fold + 4]], np.delete(y, [fold, fold + 4])
    numerator = y_k @ y_k + 4 / 6 * y_k.mean() ** 2
    squares = ((y_t - y_t.mean()) ** 2).sum()  # the corrected sum of squares
    md = 6 * numerator / squares
    expected = {
        "md": md,
        "score": md - 2 * np.log(6) + 2 * np.log(squares) + np.log(1 + 2 / 6),
        "dpe": numerator / G,
    }
    assert {row.metric for row in zero if row.method == "approximation"} == set(expected)
    for metric, value in expected.items():
        assert zero.only("approximation", metric) == pytest.approx(value, rel=1e-12)
        assert zero.only("approximation", metric) != zero.only("formula", metric)
    assert infinity.only("approximation", "dpe") == pytest.approx(y_k @ y_k, rel=1e-12)
    assert infinity.only("approximation", "sigma2") == pytest.approx(y_t @ y_t / 6, rel=1e-12)


@pytest.mark.parametrize("run", range(8))
def test_leave_one_out_pe_tends_to_the_squared_response(run: int) -> None:
    rows = rows_of("limits", "zero-loo", run)
    expected = at_limit([run], ONES + G * IDENTITY)["pe"]
    assert rows.only("formula", "pe") == pytest.approx(expected, rel=1e-8)
    assert last_computed(rows, "pe") == pytest.approx(expected, rel=1e-4)


def test_a_surrogate_of_all_runs_at_zero_is_dominated_by_the_nugget() -> None:
    rows, (_, y) = rows_of("limits", "zero-runs"), forrester_runs()
    inverse = np.linalg.inv(ONES + G * IDENTITY)
    sigma2, scaled = y @ inverse @ y / 8, 1 + G - inverse.sum()
    expected = {"sigma2": sigma2, "mean": 0.0, "scaled_variance": scaled}
    expected["variance"] = sigma2 * scaled
    for metric, value in expected.items():
        assert rows.only("formula", metric) == pytest.approx(value, rel=1e-5, abs=1e-12)
        assert last_computed(rows, metric) == pytest.approx(value, rel=1e-4, abs=1e-5)


def test_a_surrogate_of_all_runs_at_infinity_knows_the_runs_only() -> None:
    rows, (_, y) = rows_of("limits", "infinity-runs"), forrester_runs()
    expected = {
        "sigma2": y @ y / (8 * (1 + G)),
        "mean": 0.0,
        "scaled_variance": 1 + G,
        "variance": y @ y / 8,
        "mean_at_run": y[6] / (1 + G),
        "scaled_variance_at_run": 1 + G - 1 / (1 + G),
    }
    assert {row.metric for row in rows} == set(expected)
    for metric, value in expected.items():
        assert rows.only("formula", metric) == pytest.approx(value, rel=1e-9)
        assert last_computed(rows, metric) == pytest.approx(value, rel=1e-6, abs=1e-15)
    assert rows.only("approximation", "mean_at_run") == pytest.approx(y[6], rel=1e-12)


@pytest.mark.parametrize(("data", "bound"), [("forrester", 3019.7), ("piston-slap", 33484.6)])
def test_the_kkt_bound_is_the_slope_at_zero(data: str, bound: float) -> None:
    rows = rows_of("limits", f"kkt-{data}")
    assert rows.only("formula", "lambda_max") == pytest.approx(bound, abs=0.05)
    assert last_computed(rows, "lambda_max") == pytest.approx(bound, rel=1e-4)
