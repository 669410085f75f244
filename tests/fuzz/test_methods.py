"""Every method of fitted models, and fits of columns that are no plain numbers or have noise."""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pengp import BayesianGPRegressor, InputError, PenalizedGPRegressor, PenalizedGPRegressorCV
from pengp.model import BoxCox, Logit
from tests.fuzz.arguments import Sizes, fitted, spoilt
from tests.fuzz.inputs import assert_sound, attempt, counted, numbers_in, runs, share

FEW: dict[str, Any] = {
    "kernels": "sqexp",
    "effective_size": 20,
    "max_points": 400,
    "n_components": 4,
}
#: scikit-learn's own, and those that have their own tests.
_ELSEWHERE = {"fit", "get_metadata_routing", "get_params", "score", "set_params"}
CLASSES = (PenalizedGPRegressor, PenalizedGPRegressorCV, BayesianGPRegressor)


@cache
def model(kind: int) -> Any:
    """Return a small model of two inputs; the last have noise, or a factor and transforms."""
    rng = np.random.default_rng(7)
    X, y = rng.random((8, 2)), rng.random(8) + 0.1
    of_levels = np.c_[np.arange(8) % 2, X[:, 1]]
    scales: dict[str, Any] = {"factors": [0], "input_transforms": {1: "sqrt"}}
    return (
        lambda: fitted(0),
        lambda: fitted(1),
        lambda: fitted(2),
        lambda: fitted(3),
        lambda: PenalizedGPRegressor(0.1, n_starts=1, random_state=0).fit(X, y, noise_sd=0.1),
        lambda: PenalizedGPRegressor(
            0.1, n_starts=1, random_state=0, response_transform="log", **scales
        ).fit(of_levels, y),
    )[kind]()


def methods() -> dict[str, Any]:
    """Return the methods of all estimators by name."""
    found = {name: method for kind in CLASSES for name, method in inspect.getmembers(kind)}
    return {
        name: method
        for name, method in found.items()
        if inspect.isfunction(method)
        and not name.startswith("_")
        and "request" not in name
        and name not in _ELSEWHERE
    }


METHODS = methods()


def arguments(sizes: Sizes) -> dict[str, Callable[[], Any]]:
    """Return what makes a sound argument of a method, by name."""
    rng = sizes.rng

    def inputs() -> Any:
        X = sizes.numbers(3, 2)
        return np.c_[rng.integers(2, size=3), X[:, 1]] if rng.integers(2) else X

    def pick(*options: Any) -> Callable[[], Any]:
        return lambda: options[rng.integers(len(options))]

    return {
        "X": inputs,
        "X_new": inputs,
        "y_new": lambda: sizes.numbers(3) + 0.1,
        "noise_sd": pick(None, 0.1, np.full(3, 0.2)),
        "return_std": pick(True, False),
        "return_cov": pick(False, True),
        "n_samples": pick(1, 3),
        "random_state": pick(0, 1),
        "level": pick(0.5, 0.95),
        "levels": pick([0.1, 0.9], [0.5]),
        "intervals": pick("model", "loo", "jackknife"),
        "output": pick(0, 0, 1),
        "keep_theta": pick(True, False),
        "each": pick(True, False),
        "folds": pick("loo", 2),
        "lam": pick(0.0, 0.1, 1.0),
        "k": pick(0, 0, 1),
    }


@pytest.mark.parametrize("name", METHODS)
def test_a_method(name: str) -> None:
    @share(8)
    @given(counted(st.integers(0, 5)), st.integers(0, 2**16), st.data())
    def check(kind: int, seed: int, data: st.DataObject) -> None:
        subject, makers, sound = model(kind), arguments(Sizes(3, 2, seed)), True
        method = getattr(subject, name, None)
        if method is None:
            return
        chosen: dict[str, Any] = {}
        for parameter in inspect.signature(method).parameters.values():
            if parameter.default is not parameter.empty and data.draw(st.integers(0, 1)):
                continue
            value = makers[parameter.name]()
            if data.draw(st.integers(0, 5)) == 0:
                value, sound = spoilt(cast(st.DrawFn, data.draw), value), False
            chosen[parameter.name] = value
        answer = attempt(lambda: method(**chosen))
        if sound and not hasattr(answer, "fit"):
            assert not any(np.isnan(values).any() for values in numbers_in(answer)), answer

    check()


def test_the_methods_are_found() -> None:
    wanted = ("held_out", "predict_interval", "predict_quantiles", "predictive_law", "at_lambda")
    assert {*wanted, "at_mode", "condition_on", "sample_y", "predict_gradient"} <= {*METHODS}


COLUMNS: list[Any] = [[0], [0], [], None, 1, "x", [9], [0, 0], [-1], [None], {0: [0.0, 1.0]}]
SCALES = st.fixed_dictionaries(
    {},
    optional={
        "integer_inputs": st.sampled_from(COLUMNS[:-1]),
        "factors": st.sampled_from([*COLUMNS, {0: 1}, {0: [np.nan]}, {0: "ab"}, {0: [[1.0]]}]),
        "input_transforms": st.sampled_from(
            ["log", "sqrt", {0: "sqrt"}, {1: BoxCox(0.5)}, "boxcox", "nope", {9: "log"}, 1]
        ),
        "response_transform": st.sampled_from(
            ["log", "sqrt", "boxcox", "yeojohnson", Logit(-10.0, 10.0), ["log", None], "nope", 1]
        ),
    },
)
NOISE = [None, None, 0.1, 1e-300, 0.0, -1.0, np.nan, np.full(5, 0.2), np.ones((5, 2)), "x"]


@share(40)
@given(
    counted(st.sampled_from([0, 0, 0, 0, 1, 1, 2])),
    runs(least=5, most=5),
    SCALES,
    st.sampled_from(NOISE),
    st.tuples(st.booleans(), st.booleans(), st.booleans()),
)
def test_a_fit_of_other_columns(
    kind: int, data: tuple[Any, Any], scales: dict[str, Any], noise: Any, choices: tuple[bool, ...]
) -> None:
    X, y = data
    levels, positive, several = choices
    X = np.c_[np.arange(5) % 2, X] if levels else X
    y = np.abs(y) + 1.0 if positive else y
    y = np.c_[y, y[::-1]] if several else y
    settings: dict[str, Any] = ({"n_starts": 1}, {"n_starts": 1, "lams": [0.1], "cv": 2}, FEW)[kind]
    found = attempt(
        lambda: CLASSES[kind](**settings, **scales, random_state=0).fit(X, y, noise_sd=noise)
    )
    if found is not None:
        with np.errstate(under="ignore"):
            assert_sound(*found.predict(X, return_std=True))
            attempt(lambda: found.predict_gradient(X))
            held_out = attempt(found.held_out)
            assert held_out is None or not np.isnan(held_out.mean).any()


NOTHING = np.zeros(0)
FAR = np.array([[1.0, 1e12], [1.0, 0.3], [1.0, 0.9]])
#: Calls of methods of models that once ended otherwise than in an answer or a refusal.
CALLS: list[tuple[int, str, dict[str, Any]]] = [
    (0, "predict", {"X": FAR, "return_std": NOTHING}),
    (0, "predict", {"X": FAR, "return_cov": NOTHING}),
    (0, "predict", {"X": object()}),
    (0, "predict", {"X": [[{}, 1.0]]}),
    (0, "predict", {"X": [[10**400, 1.0]]}),
    (0, "predict_interval", {"X": FAR, "intervals": NOTHING}),
    (0, "held_out", {"keep_theta": NOTHING}),
    (1, "held_out", {"each": NOTHING}),
    (0, "sample_y", {"X": FAR, "n_samples": 10**9}),
    (2, "predict_quantiles", {"X": FAR, "levels": 1e-320}),
    (5, "predict_gradient", {"X": FAR}),
    (5, "predictive_law", {"X": FAR, "noise_sd": 1e308}),
    (0, "condition_on", {"X_new": FAR[1:2], "y_new": [1e308]}),
    (3, "condition_on", {"X_new": FAR[1:2], "y_new": [[1e308, 0.0]]}),
    *((kind, "condition_on", {"X_new": {}, "y_new": [0.5]}) for kind in range(3)),
    *((kind, "condition_on", {"X_new": FAR[1:2], "y_new": {}}) for kind in range(3)),
]


@pytest.mark.parametrize(("kind", "name", "call"), CALLS)
def test_calls_that_once_failed(kind: int, name: str, call: dict[str, Any]) -> None:
    answer = attempt(lambda: getattr(model(kind), name)(**call))
    assert not any(np.isnan(values).any() for values in numbers_in(answer))


#: Transforms of huge responses, whose squares are beyond the largest number, that once failed.
@pytest.mark.parametrize("transform", ["log", "sqrt", "boxcox"])
def test_huge_responses_have_no_transform(transform: str) -> None:
    X, y = np.random.default_rng(0).random((5, 1)), 1e300 * np.array([3.6, 1.3, 0.9, 0.7, 1.3])
    settings: dict[str, Any] = {"n_starts": 1, "response_transform": transform}
    with pytest.raises(InputError, match=r"has 3.6e.300 in row 0, but a transf"):
        PenalizedGPRegressor(**settings).fit(X, y)
    fit = attempt(lambda: PenalizedGPRegressor(**settings).fit(X, y / 1e201))
    assert_sound(*fit.predict(X, return_std=True))


def test_runs_without_which_all_draws_are_unlikely_are_left_out() -> None:
    """All weight is with a few draws, those of one half of the sampler."""
    X = np.random.default_rng(0).random((5, 1))
    y = np.array([0.0, 1e8 + 1.0, 1e8 + 1.0, 1e8 - 1.0, 1e8 - 1.0])
    average = BayesianGPRegressor(**FEW, random_state=0)
    held = attempt(lambda: average.fit(X, y, noise_sd=0.1).held_out())
    assert_sound(held.mean, held.std)


#: Settings that once ended otherwise than in a fit or a refusal.
ONCE: list[tuple[int, dict[str, Any]]] = [
    (1, {"integer_inputs": 1}),
    (2, {"integer_inputs": 1}),
    (1, {"factors": 1}),
    (2, {"factors": 1}),
    (0, {"factors": {0: 1}}),
    (0, {"factors": {0: [[1.0]]}}),
]


@pytest.mark.parametrize(("kind", "settings"), ONCE)
def test_settings_that_once_failed(kind: int, settings: dict[str, Any]) -> None:
    X, y = np.random.default_rng(0).random((6, 2)), np.arange(6.0)
    assert attempt(lambda: CLASSES[kind](**settings).fit(X, y)) is None
