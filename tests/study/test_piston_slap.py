"""The piston-slap study by the numbers that the paper prints."""

from pathlib import Path

import numpy as np
import pytest

from pengp.choosing.folds import given_folds
from pengp.datasets import load_piston_slap
from pengp.estimators import PenalizedGPRegressorCV
from pengp.path.grids import lambda_grid
from pengp.study.task import TestRuns
from tests.problems import piston_slap_runs, slow_loglik
from tests.study.rows import Rows, rows_of

TEST_RUNS = Path(__file__).parents[3] / "shared" / "reference" / "piston_slap_test.csv"
LAMS = lambda_grid()


def lam_near(value: float) -> float:
    """Return the lambda of the grid that prints as this value."""
    (lam,) = LAMS[np.isclose(LAMS, value, rtol=0.01, atol=0.0)] if value else LAMS[:1]
    return float(lam)


def path_rows(model: str) -> Rows:
    return rows_of("piston-slap", f"{model}-path")


def test_isotropic_estimates_are_those_of_the_table() -> None:
    rows = path_rows("isotropic")
    theta, sigma2 = rows.by_lam("pmle", "theta"), rows.by_lam("pmle", "sigma2")
    lam = lam_near(0.116)
    assert round(theta[lam], 3) == 1.453
    assert round(sigma2[lam], 3) == 1.177
    assert round(sigma2[0.0], 3) == 0.917
    assert round(rows.only("plateau", "sigma2"), 3) == 0.917
    assert rows.only("plateau", "theta") == 18.992


def test_the_isotropic_likelihood_is_flat_above_what_the_paper_prints() -> None:
    rows = path_rows("isotropic")
    best = rows.by_lam("pmle", "loglik")[0.0]
    assert best == pytest.approx(-14.38737, abs=1e-5)
    assert rows.only("plateau", "loglik") == pytest.approx(best, abs=1e-7)
    lower = rows.by_lam("pmle", "flat_lower")[0.0]
    assert rows.by_lam("pmle", "flat_upper")[0.0] == 1000.0
    X, y = piston_slap_runs()
    for theta, drop in ((lower, 1e-4), (0.9 * lower, 2e-4)):
        value = slow_loglik(X, y, np.full(6, theta))[0]
        assert (best - value <= 1.01 * drop) == (theta == lower)


@pytest.mark.parametrize(
    ("printed", "theta", "sigma2"),
    [
        (0.0, [4.067, 0.001, 0.588, 0.001, 0.001, 2.751], 1.151),
        (0.00577, [3.728, 0.001, 0.532, 0.001, 0.001, 2.550], 1.241),
        (0.0578, [0.387, 0.001, 0.001, 0.906, 0.019, 0.428], 5.382),
    ],
)
def test_anisotropic_estimates_are_those_of_the_table(
    printed: float, theta: list[float], sigma2: float
) -> None:
    rows, lam = path_rows("anisotropic"), lam_near(printed)
    mine = Rows(row for row in rows if row.lam == lam)
    assert list(mine.by_x("pmle", "theta")) == [1, 2, 3, 4, 5, 6]
    assert list(mine.by_x("pmle", "theta").values()) == pytest.approx(theta, abs=0.0006)
    assert mine.only("pmle", "sigma2") == pytest.approx(sigma2, rel=5e-4)  # printed lambda: 0.058


def test_objective_is_the_likelihood_less_the_penalty() -> None:
    X, y = piston_slap_runs()
    rows, lam = path_rows("anisotropic"), lam_near(0.0578)
    mine = Rows(row for row in rows if row.lam == lam)
    theta = np.array(list(mine.by_x("pmle", "theta").values()))
    loglik = slow_loglik(X, y, theta)[0]
    assert mine.only("pmle", "loglik") == pytest.approx(loglik, rel=1e-9)
    assert mine.only("pmle", "objective") == pytest.approx(loglik - 12 * lam * theta.sum())


@pytest.mark.parametrize(("model", "printed"), [("isotropic", 0.0), ("anisotropic", 0.00577)])
def test_leave_one_out_with_pe_chooses_as_in_the_paper(model: str, printed: float) -> None:
    rows = rows_of("piston-slap", f"{model}-loo")
    assert rows.only("pe", "chosen") == lam_near(printed)
    means = rows.by_lam("pe", "cv_mean")
    assert len(means) == 41
    assert min(means, key=lambda lam: means[lam]) == rows.only("pe", "chosen")


@pytest.mark.parametrize(
    ("model", "draw"), [("isotropic", 0), ("isotropic", 57), ("anisotropic", 3)]
)
def test_a_draw_of_folds_chooses_as_the_estimator_does(model: str, draw: int) -> None:
    data, rows = load_piston_slap(), rows_of("piston-slap", model, draw)
    plan = given_folds(list(rows.by_x("folds", "fold").values()))
    assert [len(test) for test in plan.test] == [3] * 4
    fit = PenalizedGPRegressorCV(cv=plan, isotropic=model == "isotropic", random_state=1)
    table = fit.fit(data.X, data.y).cv_table_
    for metric in ("pe", "md", "score", "dpe"):
        assert rows.only(metric, "chosen") == table.best(metric)
        assert rows.only(f"{metric}_1se", "chosen") == table.one_se(metric)
    assert all(row.lam == row.value for row in rows if row.metric == "chosen")


def test_draws_of_folds_differ_between_models_and_repetitions() -> None:
    draws = [rows_of("piston-slap", "isotropic", r).by_x("folds", "fold") for r in range(3)]
    draws.append(rows_of("piston-slap", "anisotropic", 0).by_x("folds", "fold"))
    assert len({tuple(draw.values()) for draw in draws}) == 4


@pytest.mark.skipif(not TEST_RUNS.exists(), reason="the 100 test runs are not part of the project")
def test_the_test_runs_score_as_in_the_paper() -> None:
    data = np.loadtxt(TEST_RUNS, delimiter=",", skiprows=1)
    runs = TestRuns._make((data[:, :6], data[:, 6]))
    isotropic, anisotropic = (
        rows_of("piston-slap", f"{model}-test", 0, runs) for model in ("isotropic", "anisotropic")
    )
    assert round(isotropic.only("plateau", "rmse"), 3) == 0.879
    assert round(isotropic.only("plateau", "crps"), 3) == 0.505
    for rows, printed, rmse, crps in [
        (isotropic, 0.116, 0.653, 0.378),
        (anisotropic, 0.0, 0.767, 0.500),
        (anisotropic, 0.00577, 0.768, 0.504),
        (anisotropic, 0.0578, 0.431, 0.263),
    ]:
        lam = lam_near(printed)
        assert rows.by_lam("pmle", "rmse")[lam] == pytest.approx(rmse, abs=0.0006)
        assert rows.by_lam("pmle", "crps")[lam] == pytest.approx(crps, abs=0.0006)
    coverage = anisotropic.by_lam("pmle", "coverage")
    assert (coverage[0.0], coverage[lam_near(0.0578)]) == (0.50, 0.68)


def test_test_runs_are_scaled_by_the_training_runs() -> None:
    data = load_piston_slap()
    spread = data.y.std(ddof=1)
    runs = TestRuns._make((data.X, data.y + 2.0 * spread))
    rows = rows_of("piston-slap", "isotropic-test", 0, runs)
    assert rows.only("plateau", "rmse") == pytest.approx(2.0, rel=1e-3)  # interpolates, 2 sd off
