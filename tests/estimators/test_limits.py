"""Sizes and numbers that an exact fit in double precision cannot work with are said, at once."""

import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pengp import (
    BayesianGPRegressor,
    InputError,
    PenalizedGPRegressor,
    PenalizedGPRegressorCV,
    PengpWarning,
    cross_validate_path,
    full_loglik,
    latin_hypercube,
    leave_one_out,
    penalized_path,
    profile_loglik,
    random_folds,
)
from pengp.datasets import continue_design
from pengp.decisions import effects, next_runs, propagate
from pengp.path import penalized
from pengp.plots import ContourDisplay, SliceDisplay

RNG = np.random.default_rng(0)
X, Y = RNG.random((12, 3)), RNG.random(12)
MANY_X, MANY_Y = RNG.random((40_000, 3)), RNG.random(40_000)
MODEL = PenalizedGPRegressor(0.01, random_state=0).fit(X, Y)
AVERAGE = BayesianGPRegressor(effective_size=50, n_components=10, random_state=0).fit(X, Y)

TOO_MANY: list[Callable[[], Any]] = [
    lambda: PenalizedGPRegressor().fit(MANY_X, MANY_Y),
    lambda: PenalizedGPRegressorCV().fit(MANY_X, MANY_Y),
    lambda: BayesianGPRegressor().fit(MANY_X, MANY_Y),
    lambda: penalized_path(MANY_X, MANY_Y, [0.0]),
    lambda: profile_loglik(MANY_X, MANY_Y, np.ones(3)),
    lambda: MODEL.condition_on(MANY_X, MANY_Y),
]


@pytest.mark.parametrize("fit", TOO_MANY)
def test_too_many_runs_are_refused_before_memory_is_taken(fit: Callable[[], Any]) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=r"runs are too many for an exact fit: .* 13 GB; fit"):
            fit()
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()


WIDE_X = np.random.default_rng(1).random((5, 100_000))
TOO_WIDE: list[Callable[[], Any]] = [
    lambda: PenalizedGPRegressor().fit(WIDE_X, Y[:5]),
    lambda: PenalizedGPRegressorCV().fit(WIDE_X, Y[:5]),
    lambda: BayesianGPRegressor().fit(WIDE_X, Y[:5]),
    lambda: penalized_path(WIDE_X, Y[:5], [0.0]),
    lambda: cross_validate_path(WIDE_X, Y[:5], [0.0], folds=2),
    lambda: profile_loglik(WIDE_X, Y[:5], np.ones(100_000)),
    lambda: full_loglik(WIDE_X, Y[:5], np.ones(100_000), 1.0),
]


@pytest.mark.parametrize("fit", TOO_WIDE)
def test_too_many_inputs_are_refused_before_memory_is_taken(fit: Callable[[], Any]) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=r"100,000 inputs are too many: .* at most; leave out"):
            fit()
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()


def test_an_average_of_too_many_inputs_is_refused() -> None:
    with pytest.raises(InputError, match=r"101 inputs are too many for an average.* at most 100"):
        BayesianGPRegressor().fit(WIDE_X[:, :101], Y[:5])


def test_joint_distributions_of_too_many_points_are_refused() -> None:
    for ask in (lambda: MODEL.predict(MANY_X, return_cov=True), lambda: MODEL.sample_y(MANY_X)):
        with pytest.raises(InputError, match=r"of 40,000 points .* 13 GB; ask for at most 10,000"):
            ask()


COUNTS: list[tuple[Callable[[], Any], str]] = [
    (lambda: random_folds(10**9, 10**9), "1,000,000,000 runs are too many"),
    (lambda: random_folds(10_000, 10_000, repeats=10_000), "repeats must be .* from 1 to 100,"),
    (lambda: latin_hypercube(10**9, 1), "n must be .* from 1 to 10,000,000,"),
    (lambda: latin_hypercube(10_000_000, 2), "n must be .* from 1 to 5,000,000,"),
    (lambda: latin_hypercube(1, 10**9), "d must be .* from 1 to 500,"),
    (lambda: continue_design(X, 10**9), "k must be .* from 1 to 1,000,"),
    (lambda: MODEL.sample_y(X, 10**9), "n_samples must be .* from 1 to 2,083,333,"),
    (lambda: effects(MODEL, n_draws=10**9), "n_draws must be .* from 20 to 25,000,"),
    (lambda: propagate(MODEL, n_draws=10**9), "n_draws must be .* from 20 to 25,000,"),
    (lambda: next_runs(MODEL, 10**9), "n must be .* from 1 to 1,000,"),
    (lambda: SliceDisplay.from_estimator(MODEL, grid_size=10**9), "grid_size .* 2 to 100,000,"),
    (lambda: ContourDisplay.from_estimator(MODEL, grid_size=10**9), "grid_size .* 2 to 1,000,"),
]


@pytest.mark.parametrize(("ask", "words"), COUNTS)
def test_counts_are_refused_before_memory_is_taken(ask: Callable[[], Any], words: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=words):
            ask()
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()


def test_leaving_out_one_run_in_turn_takes_little_memory() -> None:
    tracemalloc.start()
    plan = leave_one_out(10_000)
    assert tracemalloc.get_traced_memory()[1] < 25_000_000  # 0.8 GB if the others were kept
    tracemalloc.stop()
    train, test = next(iter(plan))
    assert test.tolist() == [0]
    assert train.tolist() == list(range(1, 10_000))


@pytest.mark.parametrize("far", [1e100, -1e200, 1e307])
@pytest.mark.parametrize("kind", ["penalized", "average"])
def test_a_new_response_beyond_all_others_is_named(far: float, kind: str) -> None:
    model: Any = MODEL
    if kind == "average":
        cheap: dict[str, Any] = {"effective_size": 20, "max_points": 400, "random_state": 0}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PengpWarning)  # about so few draws
            model = BayesianGPRegressor(kernels="sqexp", **cheap).fit(X, Y)
    with pytest.raises(InputError, match=r"y_new has a response in row 1 more than 1e\+12 stand"):
        model.condition_on(RNG.random((2, 3)), [0.5, far])


def test_an_estimate_that_did_not_converge_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def cut_short(*args: Any) -> Any:
        path = penalized.fit_path(*args)
        path.converged.reshape(-1)[-1] = False
        return path

    monkeypatch.setattr("pengp.estimators.on_path.fit_path", cut_short)
    with pytest.warns(PengpWarning, match="the estimate of theta did not converge.* n_starts"):
        PenalizedGPRegressor(random_state=0).fit(X, Y)
    with pytest.warns(PengpWarning, match="of theta of output 1 did not converge"):
        PenalizedGPRegressorCV(lams=[0.0], random_state=0).fit(X, np.c_[Y, Y])


def test_predictions_stay_finite_at_the_ends_of_double_precision() -> None:
    with pytest.raises(InputError, match=r"y must be finite, from -1e\+303 to 1e\+303"):
        PenalizedGPRegressor().fit(X, [1e308, *Y[1:]])
    y = np.array([1e302, *Y[1:]])
    model = PenalizedGPRegressor(0.01, mean="linear", random_state=0).fit(X, y)
    mean, std = model.predict(np.full((1, 3), 1e300), return_std=True)
    assert np.isfinite(mean).all()
    assert np.isfinite(std).all()


def test_an_ill_conditioned_fit_is_told() -> None:
    x = np.linspace(0.0, 1.0, 12)[:, None]
    y = np.sin(5.0 * x[:, 0])
    model = PenalizedGPRegressor(0.0, random_state=0).fit(x, y)
    R = np.exp(-model.theta_ * (x - x.T) ** 2) + 1e-5 * np.eye(12)
    assert 0.3 < model.condition_ / np.linalg.cond(R, 1) < 10.0  # an estimate from both sides
    settings: dict[str, Any] = {"nugget": 1e-13, "theta_bounds": (0.1, 0.1), "random_state": 0}
    with pytest.warns(
        PengpWarning, match=r"condition number .* about \de\+1[3-5], .* larger nugget"
    ):
        PenalizedGPRegressor(0.0, **settings).fit(x, y)


def test_an_average_of_ill_conditioned_processes_is_told() -> None:
    x = np.linspace(0.0, 1.0, 12)[:, None]
    y = np.sin(5.0 * x[:, 0])
    settings: dict[str, Any] = {"effective_size": 50, "n_components": 10, "random_state": 0}
    with pytest.warns(PengpWarning, match=r"condition number .* larger nugget") as told:
        model = BayesianGPRegressor(kernels="sqexp", nugget=1e-12, **settings).fit(x, y)
    worst = 0.0
    for theta in model.components_.theta:
        R = np.exp(-theta * (x - x.T) ** 2) + 1e-12 * np.eye(12)
        worst = max(worst, float(np.linalg.cond(R, 1)))
    assert 0.3 < model.condition_ / worst < 10.0
    assert any(f"{model.condition_:.0e}" in str(each.message) for each in told)
    assert AVERAGE.condition_ < 1e12


def test_an_outlier_among_many_runs_does_not_hide_the_highest_maximum() -> None:
    rng = np.random.default_rng(8)
    inputs = rng.random((110, 3))
    y = np.sin(3.0 * inputs[:, 0]) + inputs[:, -1]
    y[rng.integers(110, size=4)[3]] += 50.0
    y = (y - y.mean()) / y.std(ddof=1)
    found = penalized_path(inputs, y, [0.0], random_state=0)
    smooth = penalized_path(inputs, y, [0.0], n_starts=[[1e-3] * 3]).objective[0]
    assert found.objective[0] > smooth + 30.0  # what fewer runs without the outlier lead to


ASKED: list[tuple[dict[str, Any], str]] = [
    *(({"level": level}, "level must lie between 0 and 1") for level in (1.5, np.inf, np.nan, 0)),
    *(({"level": level}, "level must lie between 0 and 1") for level in ("x", None, [0.9])),
    *(({"output": output}, r"output=.* does not exist; there are 1") for output in (99, -1, 1.5)),
    ({"output": "x"}, "output='x' does not exist"),
]


@pytest.mark.parametrize("model", [MODEL, AVERAGE], ids=["penalized", "average"])
def test_levels_outputs_and_kinds_of_intervals_that_do_not_exist_are_named(model: Any) -> None:
    for asked, words in ASKED:
        with pytest.raises(InputError, match=words):
            model.held_out(**asked)
        ask = model.predictive_law if "output" in asked else model.predict_interval
        with pytest.raises(InputError, match=words):
            ask(X, **asked)
    wrong: list[Any] = [[], None, "x", {"model"}]
    for intervals in wrong:
        with pytest.raises(InputError, match=r"intervals=.* is none of model, jackknife\+"):
            model.predict_interval(X, intervals=intervals)
