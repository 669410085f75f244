"""Every public function on generated arguments: refused in a sentence, or sound answers."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from pengp.choosing import NormalLaw
from tests.fuzz.arguments import calls, fitted, public_functions
from tests.fuzz.inputs import attempt, counted, numbers_in, share

FUNCTIONS = public_functions()
RUNS = {"X": np.random.default_rng(0).random((6, 2)), "y": np.arange(6.0) ** 2}
#: Functions of models, which take a hundred times as long.
SLOW = {
    *("diagnose", "diagnose_view", "compare", "validate", "good_enough"),
    *("effects", "next_runs", "optimum", "propagate"),
}
#: Answers that say by nan what cannot be known, as documented.
MAY_BE_NAN = {"mean_and_se", "fold_metrics", "batch_predict", "full_loglik"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_function(name: str) -> None:
    @share(1 if name in SLOW else 12)
    @given(counted(calls(name, FUNCTIONS[name])))
    def check(call: tuple[dict[str, Any], bool]) -> None:
        arguments, sound = call
        result = attempt(lambda: FUNCTIONS[name](**arguments))
        if result is not None and sound and name not in MAY_BE_NAN:
            assert not any(np.isnan(values).any() for values in numbers_in(result)), result

    check()


def test_there_are_functions_to_call() -> None:
    assert {"penalized_path", "rmse", "next_runs", "correlation", "scale_design"} <= {*FUNCTIONS}


THREE, MATRIX, NOTHING, HUGE = np.arange(3.0), np.eye(3), np.zeros(0), 10**400
UNIT = {"X": RUNS["X"], "y": RUNS["y"] - RUNS["y"].mean()}
#: Calls that once ended otherwise than in an answer or a refusal.
ONCE: list[tuple[str, dict[str, Any]]] = [
    ("coverage", {"y": "", "lower": THREE, "upper": THREE}),
    ("cross_validate_path", {**RUNS, "lams": [0.1], "folds": 2, "metrics": -1.7}),
    ("cross_validate_path", {**RUNS, "lams": [0.1], "folds": 2, "n_jobs": ["x"]}),
    ("cross_validate_path", {**RUNS, "lams": [0.1], "folds": 2, "n_jobs": 0}),
    ("full_loglik", {**RUNS, "theta": [1.0, 1.0], "sigma2": "x"}),
    ("full_loglik", {**RUNS, "theta": None, "sigma2": None}),
    ("full_loglik", {**RUNS, "theta": True, "sigma2": 1.0}),
    ("full_loglik", {**RUNS, "theta": [1.0, 1.0], "sigma2": 1.0, "nugget": "x"}),
    ("full_loglik", {"X": [[-1e308], [0.0]], "y": [0.0, 1.0], "theta": [1.0], "sigma2": 1.0}),
    ("full_loglik", {"X": [[0.0], [1.0]], "y": [-np.inf, 1.0], "theta": [1.0], "sigma2": 1.0}),
    ("interval_score", {"y": THREE, "lower": THREE, "upper": THREE, "level": None}),
    ("interval_score", {"y": [1e308] * 3, "lower": [-1e308] * 3, "upper": [0.0] * 3}),
    ("lambda_grid", {"kind": MATRIX}),
    ("lambda_grid", {"n": 10**9}),
    ("lambda_grid", {"kind": "kkt", "lam_max": "x"}),
    ("q2", {"y": [1e-320, 0.0], "mean": [1e308, 0.0]}),
    ("q2", {"y": object(), "mean": THREE}),
    ("q2", {"y": [-np.inf, 0.0], "mean": [0.0, 0.0]}),
    ("q2", {"y": [1e308, 1e308, -1e308], "mean": [0.0, 0.0, 0.0]}),
    ("rmse", {"y": [1e308], "mean": [-1e308]}),
    ("best_index", {"values": MATRIX, "lams": "x"}),
    ("crps_student_t", {"y": THREE, "mean": THREE, "scale": THREE, "df": None}),
    ("external_sigma2", {"r": [1e148], "R": MATRIX}),
    ("fold_metrics", {"r": None, "R": None, "sigma2": None}),
    ("fold_metrics", {"r": THREE, "R": MATRIX, "sigma2": 1.0, "metrics": np.array(0.0)}),
    ("from_splitter", {"splitter": None, "X": MATRIX}),
    ("jackknife_plus", {"means": None, "residuals": None, "level": 0.5}),
    ("jackknife_plus", {"means": MATRIX, "residuals": THREE, "level": ["x"]}),
    ("mahalanobis_p_value", {"r": [-1e308, 0.0, 0.0], "R": MATRIX, "sigma2": 1.0}),
    ("mahalanobis_p_value", {"r": THREE, "R": MATRIX, "sigma2": -0.0}),
    ("mean_and_se", {"values": None, "axis": None}),
    ("one_se_index", {"lams": "x", "values": MATRIX}),
    ("correlation", {"X": "loo", "theta": [1.0]}),
    ("correlation", {"X": MATRIX, "theta": [1.0, -np.inf, 1.0]}),
    ("correlation", {"X": MATRIX, "theta": [1.0] * 3, "nugget": ""}),
    ("compare", {"models": None}),
    ("cross_validate_path", {**RUNS, "lams": [0.1], "folds": 2, "likelihood": MATRIX}),
    ("crps_normal", {"y": [1e308, 0.0], "mean": [0.0, 1e308], "std": [0.1, 0.1]}),
    ("get_function", {"name": MATRIX}),
    ("latin_hypercube", {"n": 5, "d": 1, "method": MATRIX}),
    ("leave_one_out", {"n": 10**9}),
    ("make_folds", {"cv": np.array(-0.0), "X": MATRIX}),
    ("stratified_folds", {"y": THREE, "k": 3, "repeats": 10**9}),
    ("fold_metrics", {"r": [1e308, 0.0, 0.0], "R": MATRIX, "sigma2": 1.0}),
    ("mean_and_se", {"values": MATRIX, "axis": True}),
    ("one_se_index", {"lams": THREE, "values": MATRIX, "repeats": "x"}),
    ("one_se_index", {"lams": THREE, "values": MATRIX, "repeats": 2}),
    ("continue_design", {"U": "x", "k": 2}),
    ("good_enough", {"estimator": fitted(0), "tolerance": []}),
    ("validate", {"estimator": fitted(0), "X": MATRIX[:, :2], "y": "x"}),
    ("next_runs", {"model": fitted(0), "where": 27}),
    ("optimum", {"model": fitted(0), "where": 27}),
    ("propagate", {"model": fitted(0), "laws": 33}),
    ("score_predictions", {"y": THREE, "mean": THREE, "std": b"x"}),
    ("score_predictions", {"y": THREE[:2], "mean": THREE[:2], "std": [1e308, 0.9]}),
    ("score_predictions", {"y": THREE, "mean": [np.inf, 0.0, 0.0], "std": [0.0, 1.0, 1.0]}),
    ("score_law", {"y": [1e308, 1e308], "law": NormalLaw(THREE[:2], THREE[:2] + 0.1)}),
    ("score_law", {"y": THREE, "law": None}),
    ("interval_score", {"y": THREE[:2], "lower": [-1.0, np.inf], "upper": [2.0, np.inf]}),
    ("crps_normal", {"y": THREE, "mean": [np.inf, 0.0, 0.0], "std": 0.0}),
    ("crps_student_t", {"y": THREE, "mean": THREE, "scale": 1.0, "df": HUGE}),
    ("mahalanobis_p_value", {"r": [1e300, 0.0, 0.0], "R": MATRIX, "sigma2": np.inf}),
    ("rmse", {"y": [HUGE], "mean": [0.0]}),
    ("lambda_grid", {"kind": "kkt", "lam_max": HUGE}),
    ("cross_validate_path", {**RUNS, "lams": HUGE, "folds": 2}),
    ("penalized_path", {**RUNS, "lams": [0.1], "theta_bounds": [HUGE]}),
    ("scale_design", {"U": MATRIX, "bounds": HUGE}),
    ("stratified_folds", {"y": HUGE, "k": 2}),
    ("next_runs", {"model": fitted(0), "planned": [[HUGE, 0.0]]}),
    ("good_enough", {"estimator": fitted(0), "tolerance": HUGE}),
    ("random_folds", {"n": 10**9, "k": 10**9}),
    ("random_folds", {"n": 10_000, "k": 10_000, "repeats": 10_000}),
    ("random_folds", {"n": 2**63, "k": 2}),
    ("leave_one_out", {"n": HUGE}),
    ("space_filling_folds", {"X": [[1e160], [0.27], [0.04], [0.02], [0.81]], "k": 3}),
    ("latin_hypercube", {"n": 10**9, "d": 1}),
    ("latin_hypercube", {"n": 5, "d": 10**9}),
    ("continue_design", {"U": MATRIX, "k": 10**9}),
    ("effects", {"model": fitted(0), "n_draws": 10**9}),
    ("propagate", {"model": fitted(0), "n_draws": 10**9}),
    ("next_runs", {"model": fitted(0), "n": 10**9}),
    ("effects", {"model": fitted(0), "pairs": True}),
    ("effects", {"model": fitted(0), "pairs": b"x"}),
    ("propagate", {"model": fitted(0), "constraint": True}),
    ("next_runs", {"model": fitted(0), "goal": NOTHING}),
    ("next_runs", {"model": fitted(0), "criterion": NOTHING}),
    ("next_runs", {"model": fitted(0), "maximize": NOTHING}),
    ("optimum", {"model": fitted(0), "maximize": NOTHING}),
    ("lambda_max", {**UNIT, "isotropic": NOTHING}),
    ("lambda_max", {**UNIT, "nugget": 1e-320}),
    ("profile_loglik", {**RUNS, "theta": [1.0, 1.0], "isotropic": NOTHING}),
    ("profile_loglik", {**RUNS, "theta": [1.0, 1.0], "derivatives": NOTHING}),
    ("best_index", {"values": MATRIX, "greater_is_better": NOTHING}),
    ("one_se_index", {"lams": THREE, "values": MATRIX, "greater_is_better": NOTHING}),
    ("one_se_index", {"lams": THREE[:2], "values": [[2.5, 4.8e294], [2.6, 4.8e294]]}),
    ("validate", {"estimator": fitted(0), "X": MATRIX[:, :2], "y": [1e308, 0.0, 0.0]}),
    ("validate", {"estimator": fitted(0), "X": MATRIX[:, :2], "y": THREE, "noise_sd": 1e308}),
    ("diagnose_view", {"view": None}),
]


@pytest.mark.parametrize(("name", "arguments"), ONCE)
def test_calls_that_once_failed(name: str, arguments: dict[str, Any]) -> None:
    attempt(lambda: FUNCTIONS[name](**arguments))


def test_options_of_models_that_once_failed() -> None:
    model = fitted(0)
    both = {"a": model, "b": model}
    for arguments in ({"output": "x"}, {"level": [0.5]}):
        assert attempt(partial(FUNCTIONS["diagnose"], model, **arguments)) is None
        assert attempt(partial(FUNCTIONS["compare"], both, **arguments)) is None
