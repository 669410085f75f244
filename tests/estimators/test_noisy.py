"""An estimated nugget: what chooses lambda, what is told at bounds, and where duplicates may be."""

from typing import Any

import numpy as np
import pytest

from pengp import (
    BayesianGPRegressor,
    DoubtWarning,
    InputError,
    PenalizedGPRegressor,
    PenalizedGPRegressorCV,
    diagnose,
    q2,
)
from pengp._core.arrays import FloatArray
from pengp.choosing import make_folds
from pengp.datasets import get_function

FORRESTER = get_function("forrester")
NEW = np.linspace(0.0, 1.0, 201)[:, None]


def noisy_forrester() -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(1)
    X = (np.arange(30)[:, None] + 0.5) / 30
    return X, FORRESTER.unit(X) + 0.5 * rng.normal(size=30)


def test_noise_does_not_destroy_the_default() -> None:
    X, y = noisy_forrester()
    model = PenalizedGPRegressorCV(nugget="estimate", random_state=0).fit(X, y)
    assert (model.metric_, model.rule_) == ("pe", "min")
    assert q2(FORRESTER.unit(NEW), model.predict(NEW)) > 0.95
    by_dpe = model.at_lambda(model.cv_table_.select("dpe", "1se"))
    assert q2(FORRESTER.unit(NEW), by_dpe.predict(NEW)) < 0.5  # these runs tell the two apart


def test_a_fixed_nugget_keeps_the_choice_of_the_paper() -> None:
    model = PenalizedGPRegressorCV()
    assert (model.metric_, model.rule_) == ("dpe", "1se")
    asked = PenalizedGPRegressorCV(nugget="estimate", metric="score", rule="1se")
    assert (asked.metric_, asked.rule_) == ("score", "1se")


def test_a_nugget_at_its_upper_bound_is_told() -> None:
    X = np.linspace(0.0, 1.0, 12)[:, None]
    y = np.tile([-1.0, 1.0], 6) + 0.01 * X[:, 0]
    with pytest.warns(DoubtWarning, match=r"at its bound; summary\(\) says more"):
        model = PenalizedGPRegressor(
            nugget="estimate", theta_bounds=(1e-3, 10.0), random_state=0
        ).fit(X, y)
    assert model.nugget_ == 1.0
    told = [f.message for f in diagnose(model).findings if f.code == "bound"]
    assert any("nugget is at its upper bound 1" in message for message in told)
    assert "nugget=1e-5" in str(model.summary())


def test_a_lambda_at_the_end_of_its_grid_is_told_while_inputs_are_active() -> None:
    X, y = noisy_forrester()
    model = PenalizedGPRegressorCV(lams=[0.0, 1e-9], cv=5, rule="1se", random_state=0).fit(X, y)
    at_end, at_start = (model.at_lambda(lam) for lam in (1e-9, 0.0))
    assert any("lams='kkt'" in finding.message for finding in diagnose(at_end).findings)
    assert not any("lams='kkt'" in finding.message for finding in diagnose(at_start).findings)


@pytest.mark.parametrize(
    ("kind", "words"), [(PenalizedGPRegressor, "estimate"), (BayesianGPRegressor, "sample")]
)
def test_the_advice_on_contradictory_runs_names_what_works(
    kind: type[PenalizedGPRegressor] | type[BayesianGPRegressor], words: Any
) -> None:
    X = np.array([[0.0], [0.0], [0.3], [0.5], [0.8], [1.0]])
    y = np.array([1.0, 1.2, 1.5, 2.0, 2.5, 3.0])
    with pytest.raises(InputError, match=f"noise_sd, or use nugget='{words}'"):
        kind(random_state=0).fit(X, y)
    kind(nugget=words, random_state=0).fit(X, y)


@pytest.mark.parametrize(("n", "repeats"), [(12, 10), (31, 3)])
def test_folds_are_dealt_repeatedly_by_default(n: int, repeats: int) -> None:
    X = np.random.default_rng(0).random((n, 1))
    model = PenalizedGPRegressorCV(lams=[0.0, 0.1], n_starts=1, random_state=7).fit(X, X[:, 0] ** 2)
    plan = make_folds(5, X, random_state=7, repeats=repeats)
    assert np.array_equal(model.cv_table_.plan.labels, plan.labels)
    once = PenalizedGPRegressorCV(cv=5, lams=[0.0], n_starts=1, random_state=7).fit(X, X[:, 0] ** 2)
    assert np.array_equal(once.cv_table_.plan.labels, plan.labels[:1])
