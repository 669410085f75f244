"""Every estimator on generated runs: refused in a sentence, or sound answers."""

from functools import partial
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pengp import BayesianGPRegressor, PenalizedGPRegressor, PenalizedGPRegressorCV
from pengp.choosing.metrics import MetricName
from pengp.model.kernels import KERNELS
from pengp.path.penalties import PENALTIES
from tests.fuzz.arguments import WRONG
from tests.fuzz.inputs import HOSTILE, assert_sound, attempt, counted, runs, share

SETTINGS = st.fixed_dictionaries(
    {"n_starts": st.just(2), "random_state": st.just(0)},
    optional={
        "kernel": st.sampled_from([*KERNELS]),
        "penalty": st.sampled_from([*PENALTIES]),
        "isotropic": st.booleans(),
        "nugget": st.sampled_from([1e-5, 1e-12, 0.0, 1.0, 1e300, "estimate"]),
        "mean": st.sampled_from(["zero", "constant", "linear"]),
        "likelihood": st.sampled_from(["profile", "marginal"]),
        "theta_bounds": st.sampled_from([(1e-3, 1e3), (1e-50, 1e50), (1.0, 1.0), (1e300, 1e308)]),
    },
)
NAMES = ("kernel", "penalty", "isotropic", "nugget", "mean", "likelihood", "theta_bounds")


def use(model: Any, X: Any, y: Any) -> None:
    """Ask a fitted model for all that it can do, at its runs and far from them."""
    far = np.array([[value] * X.shape[1] for value in HOSTILE])
    with np.errstate(under="ignore"):
        for where in (X, far):
            both = attempt(partial(model.predict, where, return_std=True))
            assert both is not None
            assert_sound(*both)
        attempt(lambda: model.predict_gradient(far))
        attempt(lambda: model.predict(X, return_cov=True))
        attempt(lambda: model.sample_y(X, 2))
        loo = attempt(lambda: model.loo_)
        if loo is not None:
            assert not np.isnan(loo.mean).any()
        more = attempt(lambda: model.condition_on(X[:1] + 0.5 * (X[-1:] - X[:1]), y[:1]))
        if more is not None:
            assert_sound(*more.predict(X, return_std=True))


@share(60)
@given(counted(runs()), st.sampled_from([0.0, 0.01, 1e49]), SETTINGS)
def test_penalized(data: tuple[Any, Any], lam: float, settings: dict[str, Any]) -> None:
    model = attempt(lambda: PenalizedGPRegressor(lam, **settings).fit(*data))
    if model is not None:
        use(model, *data)


@share(30)
@given(counted(runs(least=4)), SETTINGS, st.sampled_from(["dpe", "pe", "md", "score"]))
def test_cross_validated(
    data: tuple[Any, Any], settings: dict[str, Any], metric: MetricName
) -> None:
    model = PenalizedGPRegressorCV(lams=[0.0, 0.1], cv=2, metric=metric, **settings)
    model = attempt(lambda: model.fit(*data))
    if model is not None:
        use(model, *data)


def test_fits_that_once_failed() -> None:
    few: dict[str, Any] = {"n_starts": 2, "random_state": 0}
    rng = np.random.default_rng(0)
    X, y = rng.random((3, 3)), np.array([-1.26542147, -0.62327446, 0.04132598])
    strict = PenalizedGPRegressor(1e49, penalty="jointly-robust", **few)
    use(attempt(lambda: strict.fit(X, y)), X, y)
    rng = np.random.default_rng(0)
    X, y = rng.random((6, 1)), rng.standard_normal(6)
    X[0] = 1e148
    model = PenalizedGPRegressorCV(lams=[0.0, 0.1], cv=2, metric="pe", mean="linear", **few)
    attempt(lambda: model.fit(X, y))  # without the first run there is no slope


@share(10)
@given(counted(runs(least=3, most=6)), st.sampled_from([None, 1e-8, "sample"]))
def test_averaged(data: tuple[Any, Any], nugget: Any) -> None:
    cheap: dict[str, Any] = {
        "effective_size": 20,
        "max_points": 400,
        "n_components": 4,
        "random_state": 0,
    }
    model = attempt(lambda: BayesianGPRegressor(nugget=nugget, kernels="sqexp", **cheap).fit(*data))
    if model is not None:
        use(model, *data)


@share(40)
@given(
    counted(st.sampled_from([*NAMES, "n_starts", "random_state", "input_bounds", "lam"])),
    st.data(),
)
def test_wrong_parameters(name: str, data: Any) -> None:
    value = data.draw(st.one_of(st.sampled_from([[1.0, 0.0], [[0, 1]] * 9]), WRONG))
    rng = np.random.default_rng(0)
    settings = {"n_starts": 2, "random_state": 0, name: value}
    model = attempt(lambda: PenalizedGPRegressor(**settings).fit(rng.random((6, 2)), rng.random(6)))
    if model is not None:
        assert_sound(*model.predict(rng.random((3, 2)), return_std=True))
