"""The study of methods: its problems, the scores of forecasts, and how methods are compared."""

import numpy as np
import pandas as pd
import pytest

from pengp.choosing import crps_normal_values
from pengp.study.methods.catalogue import METHODS
from pengp.study.methods.compare import compare
from pengp.study.methods.forecasts import normal, normal_mixture, scores
from pengp.study.methods.problems import SimulatorTable, function_problem, simulator_problem
from pengp.study.methods.sizes import FUNCTION_RUNS, SIMULATORS, halves
from pengp.study.methods.summary import log_ratios, over
from pengp.study.report_rows import Rows


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
    frame = pd.DataFrame(
        [("methods", "forrester", 0, *row) for row in rows],
        columns=["study", "function", "repetition", *rows[0]._fields],
    )
    ratio = log_ratios(Rows(frame), "methods/forrester", "mle_matern52", "rmse")
    by_method = {row.method: row.value for row in rows if row.metric == "rmse"}
    expected = 100.0 * np.log(by_method["mle_matern52"] / by_method["mle"])
    assert ratio.iloc[0] == pytest.approx(expected)


def test_an_average_counts_each_problem_once() -> None:
    names = ("rmse", "crps", "interval_score")
    line = dict.fromkeys(names, 1.0) | {f"{n} SE": 0.3 for n in names}
    table = pd.DataFrame(
        {"problem": p, "method": "a", "coverage": c, "seconds": 1.0, **line, "rmse": value}
        for p, value, c in (("x", -2.0, 0.9), ("y", 6.0, 1.0), ("z", 50.0, 0.1))
    )
    found = over(table, ["x", "y"]).iloc[0]
    assert (found["rmse"], found["worst rmse"], found["lowest"]) == (2.0, 6.0, 0.9)
    assert found["rmse SE"] == pytest.approx(np.sqrt(2 * 0.3**2) / 2)
