"""Models compared by runs that were left out, or by test runs."""

from typing import Any

import numpy as np
import pytest

from pengp import BayesianGPRegressor, InputError, PenalizedGPRegressor, PenalizedGPRegressorCV
from pengp.choosing.scores import crps_normal
from pengp.diagnostics import compare

X = (np.argsort(np.random.default_rng(3).random((14, 2)), axis=0) + 0.5) / 14
Y = np.sin(5.0 * X[:, 0]) + X[:, 1] ** 2
NEW = np.random.default_rng(4).random((20, 2))


def test_left_out_runs_are_those_of_refits_and_differences_are_paired() -> None:
    settings: dict[str, Any] = {
        "theta_bounds": (1e-3, 50.0),
        "input_bounds": [[0.0, 1.0]] * 2,
        "n_starts": 10,
    }
    models = {
        "smooth": PenalizedGPRegressorCV(lams=[0.01], cv=5, random_state=0, **settings).fit(X, Y),
        "rough": PenalizedGPRegressor(0.5, kernel="matern32", random_state=0, **settings).fit(X, Y),
    }
    found = compare(models)
    assert [one.name for one in found.judged] == ["smooth", "rough"]
    best, other = found.judged
    held = models["smooth"].held_out(each=True)
    assert held.how == "each run left out in turn"
    assert best.scores["crps"] == pytest.approx(crps_normal(Y, held.mean, held.std), rel=1e-9)
    d = other.crps - best.crps
    assert other.difference == pytest.approx(d.mean(), rel=1e-12)
    assert other.error == pytest.approx(np.sqrt(d.var(ddof=1) / 14), rel=1e-12)
    assert best.difference == best.error == 0.0


def test_what_cannot_be_told_apart_is_said() -> None:
    fit = {
        name: PenalizedGPRegressor(lam, random_state=0).fit(X, Y)
        for name, lam in (("a", 0.001), ("b", 0.001), ("c", 5.0))
    }
    truth = np.sin(5.0 * NEW[:, 0]) + NEW[:, 1] ** 2
    found = compare(fit, NEW, truth)
    assert found.how == "20 test runs"
    assert (
        found.sentence() == "These runs prefer a to c; a and b cannot be told apart by these runs."
    )
    same = compare({"a": fit["a"], "b": fit["b"]}, NEW, truth)
    assert same.sentence().startswith("a and b cannot be told apart by these runs: take")


def test_an_average_is_compared_by_its_own_laws() -> None:
    average = BayesianGPRegressor(kernels="sqexp", random_state=0).fit(X, Y)
    found = compare({"average": average, "one": PenalizedGPRegressor(random_state=0).fit(X, Y)})
    by_name = {one.name: one for one in found.judged}
    assert by_name["average"].scores["crps"] == pytest.approx(average.held_out().crps.mean())


def test_models_that_no_run_can_judge_are_refused() -> None:
    one = PenalizedGPRegressor(random_state=0).fit(X, Y)
    with pytest.raises(InputError, match="takes two models"):
        compare({"one": one})
    with pytest.raises(InputError, match="one and less do not have the same runs"):
        compare({"one": one, "less": PenalizedGPRegressor(random_state=0).fit(X[1:], Y[1:])})
    later = one.condition_on(NEW, np.ones(20))
    with pytest.raises(InputError, match="cannot be left out"):
        compare({"later": later, "again": later})
