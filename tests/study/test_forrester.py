"""The Forrester study by the paper's numbers, and against slow formulas."""

from functools import cache

import numpy as np
import pytest
from scipy.stats import norm

from pengp._core.arrays import FloatArray
from pengp.choosing.folds import given_folds
from pengp.estimators import PenalizedGPRegressorCV
from pengp.path.grids import lambda_grid
from pengp.study.partitions import partings
from tests.problems import NUGGET, forrester_runs, slow_loglik
from tests.study.rows import Rows, rows_of

LAMS = lambda_grid()
METRICS = ("pe", "md", "score", "dpe")
DRAWS = 20


@cache
def rows(part: str, repetition: int = 0) -> Rows:
    return rows_of("forrester", part, repetition)


def slow_prediction(
    X: FloatArray, y: FloatArray, x: float, theta: float, nugget: float
) -> tuple[float, float]:
    """Return mean and standard deviation at input x by plain dense formulas, eq. (2)."""
    R = np.exp(-theta * (X - X.T) ** 2) + nugget * np.eye(len(y))
    r = np.exp(-theta * (X[:, 0] - x) ** 2)
    sigma2 = y @ np.linalg.solve(R, y) / len(y)
    variance = sigma2 * (1.0 + nugget - r @ np.linalg.solve(R, r))
    return float(r @ np.linalg.solve(R, y)), float(np.sqrt(variance))


@pytest.mark.parametrize("theta", [1e-3, 1.0, 31.622776601683793, 1000.0])
def test_profiles_are_the_likelihoods(theta: float) -> None:
    X, y = forrester_runs()
    place = min(rows("profiles").by_x("fixed_nugget", "loglik"), key=lambda x: abs(x - theta))
    assert place == pytest.approx(theta, rel=1e-9)
    fixed = slow_loglik(X, y, np.array([place]))[0]
    found = {(r.method, r.metric): r.value for r in rows("profiles") if r.x == place}
    assert found["fixed_nugget", "loglik"] == pytest.approx(fixed, rel=1e-7)
    assert found["penalized", "objective"] == pytest.approx(fixed - 8 * 0.005 * place, rel=1e-7)
    if place > 10:
        bare = slow_loglik(X, y, np.array([place]), nugget=0.0)[0]
        assert found["no_nugget", "loglik"] == pytest.approx(bare, rel=1e-7)
    nuggets = np.geomspace(1.49e-8, 1.0, 400)
    most = max(slow_loglik(X, y, np.array([place]), nugget=g)[0] for g in nuggets)
    assert most - 1e-9 <= found["estimated_nugget", "loglik"] <= most + 1e-3
    at_most = slow_loglik(X, y, np.array([place]), nugget=found["estimated_nugget", "nugget"])[0]
    assert found["estimated_nugget", "loglik"] == pytest.approx(at_most, rel=1e-9)


def test_without_a_nugget_the_likelihood_disappears_as_theta_goes_to_zero() -> None:
    values = rows("profiles").by_x("no_nugget", "loglik")
    lost = [x for x, value in values.items() if np.isneginf(value)]
    assert min(values) in lost
    assert max(lost) < 1.0
    assert all(np.isfinite(list(rows("profiles").by_x("fixed_nugget", "loglik").values())))


@pytest.mark.parametrize(
    ("method", "theta"),
    [("mle", 1000.0), ("pmle", 27.435), ("pe_printed", 10.554), ("pe_1se", 0.001)],
)
def test_the_surrogates_have_the_papers_thetas(method: str, theta: float) -> None:
    assert rows("surrogates").only(method, "theta") == pytest.approx(theta, abs=6e-4)


@pytest.mark.parametrize(
    "method", ["mle", "mle_nugget", "mle_nugget_printed", "pmle", "pe", "pe_printed", "pe_1se"]
)
def test_the_surrogates_predict_by_the_formula(method: str) -> None:
    X, y = forrester_runs()
    theta, nugget = (rows("surrogates").only(method, name) for name in ("theta", "nugget"))
    curves = {m: rows("surrogates").by_x(method, m) for m in ("mean", "lower", "upper")}
    xs = list(curves["mean"])
    assert len(xs) == 281
    for x in (xs[0], xs[77], xs[240]):
        mean, std = slow_prediction(X, y, x, theta, nugget)
        half = norm.ppf(0.975) * std
        assert curves["mean"][x] == pytest.approx(mean, abs=1e-7)
        assert curves["upper"][x] == pytest.approx(mean + half, rel=1e-6, abs=1e-7)
        assert curves["lower"][x] == pytest.approx(mean - half, rel=1e-6, abs=1e-7)
    loglik = slow_loglik(X, y, np.array([theta]), nugget=nugget)[0]
    assert rows("surrogates").only(method, "loglik") == pytest.approx(loglik, rel=1e-8)


def test_truth_passes_through_the_runs() -> None:
    x = np.linspace(0.0, 1.0, 8)
    _, y = forrester_runs()
    runs = rows("surrogates").by_x("runs", "response")
    assert list(runs) == pytest.approx(x.tolist())
    assert list(runs.values()) == pytest.approx(y.tolist(), rel=1e-12)
    truth = np.array(list(rows("surrogates").by_x("truth", "response").values()))
    np.testing.assert_allclose(truth[::40], y, rtol=1e-12)


def test_an_estimated_nugget_is_not_identified_and_may_halve_the_runs() -> None:
    found = rows("surrogates")
    best = found.only("mle_nugget", "loglik")
    assert found.only("mle_nugget_printed", "theta") == 922.203
    assert found.only("mle_nugget_printed", "loglik") == pytest.approx(best, abs=1e-8)
    assert found.only("mle_nugget_printed", "nugget") == pytest.approx(1.0, rel=1e-4)
    mean = np.array(list(found.by_x("mle_nugget_printed", "mean").values()))[::40]
    np.testing.assert_allclose(mean, forrester_runs()[1] / 2.0, rtol=1e-3)


@cache
def slow_leave_one_out() -> FloatArray:
    """Return PE [41, 8] with each theta-hat from a fine grid of theta and plain formulas."""
    X, y = forrester_runs()
    thetas = np.geomspace(1e-3, 1e3, 6001)
    PE = np.empty((41, 8))
    for k in range(8):
        U, z = np.delete(X, k, axis=0), np.delete(y, k)
        R = np.exp(-thetas[:, None, None] * (U - U.T) ** 2) + NUGGET * np.eye(7)
        r = np.exp(-thetas[:, None] * (U[:, 0] - X[k, 0]) ** 2)
        alpha = np.linalg.solve(R, np.broadcast_to(z[:, None], (6001, 7, 1)))[..., 0]
        loglik = -3.5 * np.log(alpha @ z) - 0.5 * np.linalg.slogdet(R)[1]
        at = (loglik - 7 * LAMS[:, None] * thetas).argmax(axis=1)
        PE[:, k] = (y[k] - (r * alpha).sum(axis=1)[at]) ** 2
    return PE


def test_leave_one_out_agrees_with_a_slow_search() -> None:
    PE = slow_leave_one_out()
    found = rows("loo").where("pe", "cv_fold")
    cells = {(r.lam, r.x): r.value for r in found}
    fast = np.array([[cells[lam, k + 1.0] for k in range(8)] for lam in LAMS])
    np.testing.assert_allclose(fast, PE, rtol=0.02, atol=2e-4)
    np.testing.assert_allclose(
        list(rows("loo").by_lam("pe", "cv_mean").values()), fast.mean(axis=1), rtol=1e-12
    )
    se = fast.std(axis=1, ddof=1) / np.sqrt(8)
    np.testing.assert_allclose(list(rows("loo").by_lam("pe", "cv_se").values()), se, rtol=1e-12)
    assert rows("loo").only("pe", "chosen") == LAMS[PE.mean(axis=1).argmin()]
    lowest = list(rows("loo").by_x("fold", "chosen").values())
    assert lowest == LAMS[PE.argmin(axis=0)].tolist()


def test_leave_one_out_with_one_standard_error_takes_the_largest_lambda() -> None:
    assert rows("loo").only("pe_1se", "chosen") == pytest.approx(np.exp(2.0), rel=1e-12)
    assert rows("surrogates").where("pe_1se", "mean")[0].lam == LAMS[-1]


@pytest.mark.parametrize("method", ["without_7", "without_7_printed"])
def test_the_surrogate_without_run_7_misses_it_by_that_folds_error(method: str) -> None:
    (held_out,) = rows("loo").where(method, "response")
    assert held_out.x is not None
    assert (round(held_out.x, 3), round(held_out.value, 4)) == (0.857, 1.0345)
    mean = min(rows("loo").by_x(method, "mean").items(), key=lambda xy: abs(xy[0] - 6 / 7))[1]
    (error,) = [
        r.value for r in rows("loo").where("pe", "cv_fold") if (r.lam, r.x) == (held_out.lam, 7)
    ]
    assert (held_out.value - mean) ** 2 == pytest.approx(error, rel=1e-8)


@pytest.mark.parametrize("draw", [0, 11])
def test_a_draw_agrees_with_the_estimator_in_the_users_units(draw: int) -> None:
    found = rows("folds", draw)
    plan = given_folds(list(found.by_x("folds", "fold").values()))
    X = np.linspace(0.0, 1.25, 8)[:, None]
    y = (6 * X[:, 0] - 2) ** 2 * np.sin(12 * X[:, 0] - 4)
    table = PenalizedGPRegressorCV(cv=plan, random_state=99).fit(X, y).cv_table_
    for metric in METRICS:
        for name, expected in (("cv_mean", table.mean_of(metric)), ("cv_se", table.se_of(metric))):
            values = list(found.by_lam(metric, name).values())
            np.testing.assert_allclose(values, expected, rtol=1e-5)
        assert found.only(metric, "chosen") == table.best(metric)
        assert found.only(f"{metric}_1se", "chosen") == table.one_se(metric)
    mean_theta = list(found.by_lam("folds", "theta_mean").values())
    np.testing.assert_allclose(mean_theta, table.theta[:, :, 0].mean(axis=1), rtol=1e-4)


def test_the_twenty_draws_are_partitions_of_the_105() -> None:
    partitions: list[frozenset[tuple[int, ...]]]
    partitions = [frozenset(p) for p in partings(tuple(range(8)), 2)]
    exact = {m: list(rows("partitions").by_x(m, "chosen").values()) for m in ("dpe", "pe_1se")}
    drawn = set()
    for r in range(DRAWS):
        fold = np.array(list(rows("folds", r).by_x("folds", "fold").values()))
        pairs = frozenset(tuple(np.flatnonzero(fold == k).tolist()) for k in (1, 2, 3, 4))
        at = partitions.index(pairs)
        drawn.add(at)
        for method, lams in exact.items():
            assert rows("folds", r).only(method, "chosen") == lams[at]
    assert len(drawn) > DRAWS / 2


@pytest.mark.parametrize(("method", "count"), [("dpe", 105), ("root_dpe", 100), ("pe", 18)])
def test_how_many_partitions_choose_no_penalty(method: str, count: int) -> None:
    chosen = list(rows("partitions").by_x(method, "chosen").values())
    assert len(chosen) == 105
    assert chosen.count(0.0) == count


@pytest.mark.parametrize(
    ("method", "count"), [("pe_1se", 105), ("md_1se", 78), ("score_1se", 78), ("dpe_1se", 0)]
)
def test_how_many_partitions_choose_the_largest_penalty(method: str, count: int) -> None:
    chosen = list(rows("partitions").by_x(method, "chosen").values())
    assert chosen.count(LAMS[-1]) == count


def test_the_partitions_choice_by_dpe_with_one_standard_error() -> None:
    chosen = list(rows("partitions").by_x("dpe_1se", "chosen").values())
    found = (min(chosen), float(np.median(chosen)), max(chosen))
    assert [round(lam, 4) for lam in found] == [0.0036, 0.0092, 0.0731]


def test_the_path_says_where_the_likelihood_is_flat() -> None:
    X, y = forrester_runs()
    theta = rows("path").by_lam("pmle", "theta")
    assert theta[0.0] == pytest.approx(1000.0)
    assert theta[float(LAMS[15])] == pytest.approx(10.554, abs=6e-4)
    best = rows("path").by_lam("pmle", "loglik")[0.0]
    lower = rows("path").by_lam("pmle", "flat_lower")[0.0]
    assert best - slow_loglik(X, y, np.array([lower]))[0] == pytest.approx(1e-4, rel=0.02)
    for lam in LAMS[[0, 9, 40]]:
        loglik = slow_loglik(X, y, np.array([theta[lam]]))[0]
        objective = rows("path").by_lam("pmle", "objective")[lam]
        assert objective == pytest.approx(loglik - 8 * lam * theta[lam], rel=1e-8)
