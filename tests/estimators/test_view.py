"""The view of a fitted model, against the estimator's own attributes, and what is computed once."""

import copy
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from pengp import (
    BayesianGPRegressor,
    InputError,
    PenalizedGPRegressor,
    PenalizedGPRegressorCV,
    PengpWarning,
    diagnose,
)
from pengp._core.registry import name_of
from pengp.choosing.folds import random_folds
from pengp.datasets import load_piston_slap
from pengp.estimators.left_out import LeaveOneOut
from pengp.estimators.view import view_of
from pengp.model.posterior import Posterior

RUNS = load_piston_slap()
BOTH = np.c_[RUNS.y, RUNS.X[:, 0] + 0.1 * RUNS.X[:, 1] ** 2]
LAMS = [0.0, 0.01, 0.1]


@pytest.fixture(scope="module")
def two() -> PenalizedGPRegressorCV:
    cv = random_folds(12, 4, repeats=3, random_state=0)
    return PenalizedGPRegressorCV(lams=LAMS, cv=cv, random_state=0).fit(RUNS.X, BOTH)


def one(**options: Any) -> PenalizedGPRegressor:
    return PenalizedGPRegressor(0.01, random_state=0, **options).fit(RUNS.X, RUNS.y)


@pytest.mark.parametrize("k", [0, 1])
def test_a_view_holds_the_share_of_its_output(two: PenalizedGPRegressorCV, k: int) -> None:
    view, place = view_of(two, k), LAMS.index(two.lam_[k])
    np.testing.assert_array_equal(view.y, BOTH[:, k])
    np.testing.assert_array_equal(view.theta, two.theta_[k])
    np.testing.assert_array_equal(view.loo.mean, two.loo_.mean[:, k])
    np.testing.assert_array_equal(view.at_bound, two.path_.at_bound[k, place])
    np.testing.assert_array_equal(view.flat.upper, two.flat_.upper[k])
    assert view.table is two.cv_table_[k]
    assert view.response == f"output {k}"
    assert view.names == ("x1", "x2", "x3", "x4", "x5", "x6")
    count = two.modes_.count[k]
    for mode, theta, objective in zip(
        view.modes, two.modes_.theta[k], two.modes_.objective[k, :count], strict=False
    ):
        np.testing.assert_array_equal(mode.theta, theta)
        assert mode.deficit == two.modes_.objective[k, 0] - objective
    assert len(view.modes) == count
    X = RUNS.X[:3] + 0.1
    mean, std = (a[:, k] for a in two.predict(X, return_std=True))
    shown = view.predict(X, 0.95)
    np.testing.assert_allclose(shown, [mean, mean - 1.959964 * std, mean + 1.959964 * std], 1e-7)
    sigma = np.sqrt(two.sigma2_[k]) * BOTH[:, k].std(ddof=1)
    assert view.sigma == pytest.approx(sigma, rel=1e-12)


def test_names_are_those_of_the_frame_or_given() -> None:
    frame = pd.DataFrame(RUNS.X, columns=list("abcdef"))
    model = PenalizedGPRegressor(0.01, random_state=0).fit(frame, RUNS.y)
    assert view_of(model).names == tuple("abcdef")
    assert view_of(model).response == "response"
    given = view_of(model, 0, list("uvwxyz"), "noise")
    assert (given.names, given.response) == (tuple("uvwxyz"), "noise")
    assert view_of(given) is given
    with pytest.raises(InputError, match="input_names has 2 names, but there are 6 inputs"):
        view_of(model, 0, ["a", "b"])
    with pytest.raises(InputError, match="a pipeline that ends in one, not a list"):
        view_of([])


def test_an_input_that_was_constant_is_never_active() -> None:
    X = RUNS.X.copy()
    X[:, 2] = 3.0
    for isotropic in (True, False):
        with pytest.warns(PengpWarning, match="constant"):
            model = PenalizedGPRegressor(0.01, isotropic=isotropic, random_state=0).fit(X, RUNS.y)
        view = view_of(model)
        assert model.theta_[0] > 1e-3  # the others are
        assert view.constant.tolist() == [False, False, True, False, False, False]
        assert not diagnose(model).active[2]
        assert not any(mode.active[2] for mode in view.modes)
        if isotropic:
            assert model.theta_[2] == model.theta_[0]
            assert diagnose(model).active.sum() == 5


def test_leave_one_out_is_computed_once_and_cannot_be_spoiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls, compute = [], Posterior.loo

    def counted(self: Posterior) -> Any:
        calls.append(self)
        return compute(self)

    monkeypatch.setattr(Posterior, "loo", counted)
    model = one()
    first = model.loo_.mean.copy()
    diagnose(model)
    _ = view_of(model).loo, model.loo_
    assert len(calls) == 1
    with pytest.raises(ValueError, match="read-only"):
        model.loo_.mean[0] = 0.0
    np.testing.assert_array_equal(model.loo_.mean, first)


def brute(model: PenalizedGPRegressor) -> LeaveOneOut:
    """Leave-one-out from a surrogate that has never been asked."""
    loo: LeaveOneOut = (
        copy.deepcopy(model._surrogate)
        .__class__(
            model._surrogate.inputs,
            model._surrogate.response,
            model._surrogate.posteriors,
            model._surrogate.y_raw,
            model._surrogate.batches,
        )
        .loo
    )
    return loo.output(0)


def test_no_copy_keeps_the_leave_one_out_of_another_fit() -> None:
    model = PenalizedGPRegressorCV(lams=LAMS, random_state=0).fit(RUNS.X, RUNS.y)
    before = model.loo_.mean
    other = clone(model).fit(RUNS.X[:9], RUNS.y[:9])
    copies = {
        "another lambda": model.at_lambda(next(lam for lam in LAMS if lam != model.lam_)),
        "more runs": model.condition_on(RUNS.X[:1] + 0.1, RUNS.y[:1] + 1.0),
        "clone": other,
        "refit": copy.copy(model).fit(RUNS.X, -2.0 * RUNS.y),
    }
    for name, changed in copies.items():
        np.testing.assert_array_equal(changed.loo_.mean, brute(changed).mean, err_msg=name)
        assert not np.array_equal(changed.loo_.mean, before), name
    for same in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(same.loo_.mean, before)
    np.testing.assert_array_equal(model.loo_.mean, before)


def test_an_average_without_a_path_has_a_view_too() -> None:
    model = BayesianGPRegressor(effective_size=200.0, random_state=0).fit(RUNS.X, BOTH)
    for k in range(2):
        view = view_of(model, k)
        assert not view.is_penalized
        assert not view.is_selected
        assert (view.table, view.metric, view.stability, view.modes) == (None, None, None, ())
        assert view.learned_later == 0
        assert view.active.tolist() == (model.activity_[k].probability > 0.5).tolist()
        np.testing.assert_array_equal(view.theta, model.theta_[k])
        diagnosis, rmse = diagnose(model, output=k), np.sqrt((view.loo.residual**2).mean())
        assert diagnosis.scores["rmse"] == pytest.approx(rmse, rel=1e-12)
        told = {finding.code for finding in diagnosis.findings}
        assert not told & {"flat", "bound", "converged", "unstable"}
        with pytest.raises(InputError, match="averages over lambda and chooses none"):
            _ = view.path
        X = RUNS.X[:4] + 0.05
        mean, lower, upper = view.predict(X, 0.9)
        np.testing.assert_array_equal(mean, model.predict(X)[:, k])
        ends = model.predict_quantiles(X, [0.05, 0.95])[:, k]
        np.testing.assert_allclose(np.column_stack([lower, upper]), ends, rtol=1e-12)
        np.testing.assert_array_equal(view.predict_std(X), model.predict(X, True)[1][:, k])
        np.testing.assert_array_equal(view.average.activity.change, model.activity_[k].change)
        assert sum(w.sum() for _, _, w in view.processes) == pytest.approx(1.0)


def test_explanations_that_differ_in_the_nugget_alone_are_one() -> None:
    model = BayesianGPRegressor(effective_size=200.0, random_state=0).fit(RUNS.X, RUNS.y)
    (average,) = model._averages
    assert average is not None
    found, modes = view_of(model).average.explanations, average.explanations
    assert sum(one.weight for one in found) == pytest.approx(sum(e.weight for e in modes))
    assert [one.weight for one in found] == sorted((one.weight for one in found), reverse=True)
    names = [name_of(model._settings.members[e.member].kernel) for e in modes]
    for kernel in set(names):
        both = sum(e.weight for e, name in zip(modes, names, strict=True) if name == kernel)
        assert sum(one.weight for one in found if one.kernel == kernel) == pytest.approx(both)
    assert len(set(names)) <= len(found) < len(modes)
    top = model.explanations_[0]
    assert repr(model.explanations_) == repr(found)
    assert (top.kernel, top.nugget) in {(m.kernel.name, m.nugget) for m in average.members}
    assert repr(top).startswith(f"Explained({top.kernel}, weight {top.weight:.2f}, ")


def test_an_input_matters_in_an_explanation_as_it_does_in_a_draw_there() -> None:
    # By hand: the response at the two ends of an input differs by sqrt(2 sigma2 (1 - phi(theta))).
    X = np.random.default_rng(0).random((15, 2))
    y = np.sin(5.0 * X[:, 0])
    model = BayesianGPRegressor(kernels="sqexp", nugget=1e-5, mean="zero", random_state=0)
    view = view_of(model.fit(X, y))
    scaled, z = (X - X.min(0)) / np.ptp(X, axis=0), (y - y.mean()) / y.std(ddof=1)
    for one in view.average.explanations:
        steps = one.theta * (scaled[:, None] - scaled) ** 2
        sigma2 = z @ np.linalg.solve(np.exp(-steps.sum(2)) + 1e-5 * np.eye(15), z) / 15
        change = np.sqrt(2.0 * sigma2 * (1.0 - np.exp(-one.theta))) / z.std()
        assert one.matters.tolist() == (change > 0.1).tolist()
    assert view.average.explanations[0].matters[0]


def test_a_fit_by_penalized_likelihood_is_no_average() -> None:
    with pytest.raises(InputError, match="is one estimate and no average"):
        _ = view_of(one()).average
