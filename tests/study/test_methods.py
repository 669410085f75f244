"""The study of methods: its problems, the scores of forecasts, and how methods are compared."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pengp._core.arrays import FloatArray
from pengp.choosing import crps_normal_values
from pengp.datasets import FUNCTIONS, load_piston_slap
from pengp.exceptions import InputError
from pengp.model import correlation
from pengp.path import penalized_path
from pengp.study.figures.methods import figure_methods
from pengp.study.methods import rivals
from pengp.study.methods.catalogue import LABELS, METHODS, RIVALS, jointly_robust
from pengp.study.methods.compare import compare, on_piston_slap
from pengp.study.methods.forecasts import normal, normal_mixture, scores
from pengp.study.methods.problems import SimulatorTable, function_problem, simulator_problem
from pengp.study.methods.sizes import FUNCTION_RUNS, SIMULATORS, halves
from pengp.study.methods.summary import log_ratios, over, overview, piston_slap
from pengp.study.report_rows import MissingRowsError, Rows
from pengp.study.task import Row, Task, TestRuns


def _rows(study: str, part: str, rows: list[Row], *more: tuple[str, str, list[Row]]) -> Rows:
    """Return the rows of one repetition of parts."""
    records = [(s, p, 0, *row) for s, p, each in ((study, part, rows), *more) for row in each]
    return Rows(pd.DataFrame(records, columns=["study", "function", "repetition", *Row._fields]))


def _x(points: Any) -> FloatArray:
    """Return where points with error bars lie."""
    return np.asarray(points.lines[0].get_xdata(), dtype=np.float64)


def _scored(method: str, crps: float, coverage: float = 0.9) -> list[Row]:
    """Return the rows of a method, all scores but coverage the same."""
    values = dict.fromkeys(("rmse", "crps", "interval_score"), crps) | {"coverage": coverage}
    return [Row(method, None, score, None, value, 0.1) for score, value in values.items()]


def test_every_test_function_is_compared_and_every_method_has_a_label() -> None:
    assert set(FUNCTION_RUNS) == set(FUNCTIONS)
    assert list(LABELS) == [*METHODS, *RIVALS]


def test_the_jointly_robust_mode_predicts_with_robustgasp_s_student_t() -> None:
    problem = function_problem("branin", 1)
    X, y = problem.runs.X, problem.runs.y
    n = len(y)
    theta = penalized_path(
        X,
        y,
        [1.0],
        kernel="matern52_product",
        penalty="jointly-robust",
        likelihood="marginal",
        mean="constant",
        nugget=1e-8,
        random_state=problem.seed,
    ).theta[0]
    R_inv = np.linalg.inv(correlation(X, theta, kernel="matern52_product", nugget=1e-8))
    r = correlation(X, theta, problem.X_test, kernel="matern52_product")
    weight = R_inv.sum()
    level = R_inv.sum(0) @ y / weight
    e = y - level
    sigma2 = e @ R_inv @ e / (n - 1)
    mean = level + r @ R_inv @ e
    one = 1.0 - (r @ R_inv).sum(1)
    scale = np.sqrt(sigma2 * (1.0 + 1e-8 - np.vecdot(r @ R_inv, r) + one**2 / weight))
    found = jointly_robust(problem)
    np.testing.assert_allclose(found.mean, mean, atol=1e-4)
    half = stats.t(n - 1).ppf(0.975) * scale
    np.testing.assert_allclose(found.upper - found.mean, half, rtol=1e-3, atol=1e-4)


def test_piston_slap_is_predicted_where_test_runs_are_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few = {"mle": METHODS["mle"]}
    monkeypatch.setattr("pengp.study.methods.compare.METHODS", few)
    monkeypatch.setattr("pengp.study.methods.summary.METHODS", few)
    data = load_piston_slap()
    rows = on_piston_slap(Task("methods", "piston-slap", 0), TestRuns(data.X, data.y))
    table = piston_slap(_rows("methods", "piston-slap", rows))
    assert table["rmse"].iloc[0] < 0.02  # the runs themselves
    with pytest.raises(MissingRowsError, match="piston-slap"):
        piston_slap(_rows("methods", "lim", rows))


def test_other_packages_are_skipped_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rivals, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"other packages is skipped.*pengp\[bench\]"):
        rivals.require_libkriging()


def test_the_figure_shows_the_mean_of_each_half() -> None:
    mle, rows = _scored("mle", 1.0), []
    for part, crps in {"lim": 0.5, "franke": 2.0, "forrester": np.exp(-0.3)}.items():
        rows.append(("methods", part, mle + _scored("bayes", crps, 0.8)))
    figure = figure_methods(_rows("methods", "hartmann3", mle, *rows))
    left, right = figure.axes
    points = {c.get_label(): _x(c) for c in left.containers}
    np.testing.assert_allclose(points["half of choices"], [0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(points["half that confirms"], [0.0, -30.0])
    assert [t.get_text() for t in left.get_yticklabels()] == [LABELS["mle"], LABELS["bayes"]]
    assert _x(right.containers[1])[1] == pytest.approx(0.8)
    with pytest.raises(MissingRowsError):
        figure_methods(_rows("forrester", "loo", mle))


def test_the_overview_tells_both_halves_in_words() -> None:
    mle = _scored("mle", 1.0)
    parts = {"lim": np.exp(-0.1), "franke": np.exp(-0.3), "forrester": 1.0}
    more = [("methods", part, mle + _scored("bayes", crps)) for part, crps in parts.items()]
    table = overview(_rows("methods", "hartmann3", mle, *more)).set_index("method")
    line = table.loc["average (default)"]
    assert line["functions, half of choices"] == "-20.0 / -20.0 / -20 (-10)"
    assert line["functions, half that confirms"] == "0.0 / 0.0 / 0 (+0)"
    assert line["coverage, functions, half of choices"] == "0.90 (0.90)"
    assert line["seconds, functions"] == "0.1"
    with pytest.raises(MissingRowsError):
        overview(_rows("forrester", "loo", mle))


def test_a_mixture_of_one_normal_is_that_normal() -> None:
    y = np.array([0.3, -2.0, 5.0])
    mean, std = np.array([0.0, 1.0, 2.0]), np.array([1.0, 0.5, 2.0])
    one, mixed = normal(mean, std, y), normal_mixture(np.ones(1), mean[None], std[None], y)
    for a, b in zip(one, mixed, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)


def test_scores_of_a_mixture_agree_with_draws() -> None:
    rng = np.random.default_rng(0)
    weight, mean, std = np.array([0.3, 0.7]), np.array([[-1.0], [2.0]]), np.array([[0.5], [1.5]])
    y = np.array([0.4])
    forecast = normal_mixture(weight, mean, std, y)
    which = rng.choice(2, (2, 200_000), p=weight)
    x, other = mean[which, 0] + std[which, 0] * rng.standard_normal((2, 200_000))
    crps = np.abs(x - y) - 0.5 * np.abs(x - other)
    assert forecast.crps[0] == pytest.approx(crps.mean(), abs=4.0 * crps.std() / np.sqrt(200_000))
    inside = ((x > forecast.lower) & (x < forecast.upper)).mean()
    assert inside == pytest.approx(0.95, abs=0.003)
    assert scores(forecast, y)["coverage"] == 1.0
    assert scores(normal(mean[0], std[0], y), y)["crps"] == crps_normal_values(y, mean[0], std[0])


def test_the_halves_are_fixed_by_the_names_alone() -> None:
    choice, confirmation = halves(FUNCTION_RUNS)
    assert choice == ("friedman", "lim", "gramacy_lee", "wing_weight", "franke", "hartmann3")
    assert {*choice, *confirmation} == set(FUNCTION_RUNS)
    assert halves(reversed(list(FUNCTION_RUNS))) == (choice, confirmation)
    assert [len(half) for half in halves(SIMULATORS)] == [6, 5]


def test_a_simulators_runs_and_test_runs_are_apart() -> None:
    X = np.random.default_rng(0).random((30, 2))
    table = SimulatorTable(X, np.column_stack([X[:, 0], X[:, 1] ** 2]))
    problem = simulator_problem("crm_wing.2.10", 3, {"crm_wing": table})
    assert (len(problem.runs.y), len(problem.y_test)) == (10, 20)
    assert len(np.unique(np.concatenate([problem.runs.X, problem.X_test]), axis=0)) == 30
    assert problem.runs.response.inverse(problem.y_test) == pytest.approx(
        problem.runs.inputs.inverse(problem.X_test)[:, 1] ** 2
    )


def test_methods_are_compared_on_the_same_runs() -> None:
    few = {name: METHODS[name] for name in ("mle", "mle_matern52")}
    rows = compare(function_problem("forrester", 0), few)
    assert rows == [
        row._replace(seconds=other.seconds)
        for row, other in zip(compare(function_problem("forrester", 0), few), rows, strict=True)
    ]
    ratio = log_ratios(
        _rows("methods", "forrester", rows), "methods/forrester", "mle_matern52", "rmse"
    )
    by_method = {row.method: row.value for row in rows if row.metric == "rmse"}
    expected = 100.0 * np.log(by_method["mle_matern52"] / by_method["mle"])
    assert ratio.iloc[0] == pytest.approx(expected)


def test_an_average_counts_each_problem_once() -> None:
    names = ("rmse", "crps", "interval_score")
    line = dict.fromkeys(names, 1.0) | {f"{n} SE": 0.3 for n in names}
    table = pd.DataFrame(
        {
            "problem": p,
            "method": "a",
            "coverage": c,
            "seconds": 1.0,
            "designs": 5,
            **line,
            "rmse": value,
        }
        for p, value, c in (("x", -2.0, 0.9), ("y", 6.0, 1.0), ("z", 50.0, 0.1))
    )
    found = over(table, ["x", "y"]).iloc[0]
    assert (found["rmse"], found["worst rmse"], found["lowest"]) == (2.0, 6.0, 0.9)
    assert found["rmse SE"] == pytest.approx(np.sqrt(2 * 0.3**2) / 2)
