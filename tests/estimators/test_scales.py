"""Estimators on other scales: equal to fits of transformed data, mapped back by hand."""

import ast
import pickle
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.preprocessing import FunctionTransformer, PowerTransformer

from pengp import (
    BayesianGPRegressor,
    InputError,
    PenalizedGPRegressor,
    PenalizedGPRegressorCV,
    PengpWarning,
    diagnose,
    load,
    q2,
    save,
)
from pengp._core.arrays import FloatArray
from pengp._core.surface import command_words
from pengp.diagnostics import good_enough
from pengp.estimators.advice import _candidates, advise
from pengp.model import Log10, Logit
from pengp.model.transforms import IDENTITY, BoxCox, YeoJohnson

ESTIMATORS = [PenalizedGPRegressor, PenalizedGPRegressorCV, BayesianGPRegressor]


def runs(n: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Return runs of a flow in permeability (eight decades) and porosity; one input is inert."""
    U = np.random.default_rng(seed).random((n, 3))
    X = np.column_stack([10.0 ** (8.0 * U[:, 0] - 6.0), U[:, 1:]])
    k = 8.0 * U[:, 0] - 6.0
    return X, np.sin(1.2 * k) + X[:, 1] ** 2 * k / 6.0 + 0.3 * X[:, 1]


X, Z = runs(16, 1)
Y = np.exp(Z)
Z = np.log(Y)  # so that fits of Z and of the logarithm of Y are the same to the last bit
NEW, Z_NEW = runs(60, 2)


def fitted(cls: Any, y: FloatArray = Y, **settings: Any) -> Any:
    settings = {"input_transforms": {0: "log10"}, "random_state": 0, **settings}
    if cls is PenalizedGPRegressor:
        settings["lam"] = 0.01
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PengpWarning)  # few runs: about the sampler
        return cls(**settings).fit(X, y)


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_a_log_model_is_a_model_of_the_logarithm(cls: Any) -> None:
    log, plain = fitted(cls, response_transform="log"), fitted(cls, Z)
    np.testing.assert_allclose(log.theta_, plain.theta_, rtol=1e-9)
    levels = [0.05, 0.5, 0.9]
    expected = np.exp(plain.predict_quantiles(NEW, levels))
    np.testing.assert_allclose(log.predict_quantiles(NEW, levels), expected, rtol=1e-9)
    lower, upper = log.predict_interval(NEW, 0.8)
    ends = [np.exp(end) for end in plain.predict_interval(NEW, 0.8)]
    np.testing.assert_allclose([lower, upper], ends, rtol=1e-9)
    assert (lower > 0.0).all()
    draws = log.sample_y(NEW[:5], 3, random_state=1)
    same = np.exp(plain.sample_y(NEW[:5], 3, random_state=1))
    np.testing.assert_allclose(draws, same, rtol=1e-9)
    held, plainly = log.held_out(), plain.held_out()
    np.testing.assert_allclose(held.lower, np.exp(plainly.lower), rtol=1e-9)
    np.testing.assert_array_equal(held.y, Y[held.run])
    # The density of y = exp(z) is that of z over y.
    jacobian = np.log(held.y)
    np.testing.assert_allclose(held.log_density, plainly.log_density - jacobian, rtol=1e-9)


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_inputs_are_those_of_a_transformed_table(cls: Any) -> None:
    own = fitted(cls, Z)
    table = np.column_stack([np.log10(X[:, 0]), X[:, 1:]])
    new = np.column_stack([np.log10(NEW[:, 0]), NEW[:, 1:]])
    by_hand = clone(own).set_params(input_transforms=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PengpWarning)
        by_hand.fit(table, Z)
    np.testing.assert_allclose(own.predict(NEW), by_hand.predict(new), rtol=1e-9)
    np.testing.assert_allclose(own.lengthscale_, by_hand.lengthscale_, rtol=1e-9)
    slope = by_hand.predict_gradient(new)[:, 0] / (NEW[:, 0] * np.log(10.0))
    np.testing.assert_allclose(own.predict_gradient(NEW)[:, 0], slope, rtol=1e-7)


def test_mean_and_spread_of_a_log_model_are_those_of_log_normal_laws() -> None:
    log = fitted(PenalizedGPRegressor, response_transform="log10")
    z, s = fitted(PenalizedGPRegressor, Z).predict(NEW, return_std=True)
    mean, std = log.predict(NEW, return_std=True)
    np.testing.assert_allclose(mean, np.exp(z + 0.5 * s**2), rtol=1e-9)
    np.testing.assert_allclose(std, mean * np.sqrt(np.expm1(s**2)), rtol=1e-7)
    np.testing.assert_allclose(log.predict(NEW), mean, rtol=1e-15)
    loo, plain = log.loo_, fitted(PenalizedGPRegressor, Z).loo_
    np.testing.assert_allclose(loo.mean, np.exp(plain.mean + 0.5 * plain.std**2), rtol=1e-9)
    np.testing.assert_allclose(loo.residual, Y - loo.mean, rtol=1e-12)
    np.testing.assert_allclose(loo.standardized_residual, plain.standardized_residual, rtol=1e-7)


@pytest.mark.parametrize("cls", ESTIMATORS)
@pytest.mark.parametrize("transform", ["log", "sqrt", Logit(0.0, 40.0), YeoJohnson(0.3)])
def test_the_gradient_is_that_of_the_mean(cls: Any, transform: Any) -> None:
    model, h = fitted(cls, response_transform=transform), 1e-5
    places = NEW[:4]
    gradient = model.predict_gradient(places)
    for p in range(3):
        step = np.zeros(places.shape)
        step[:, p] = h * places[:, p]
        both = model.predict(places + step) - model.predict(places - step)
        quotient = both / (2.0 * h * places[:, p])
        np.testing.assert_allclose(gradient[:, p], quotient, rtol=1e-4, atol=1e-6 * Y.max())


def test_the_mean_of_an_average_is_finite_and_a_spread_from_the_median_at_most() -> None:
    model = fitted(BayesianGPRegressor, response_transform="log")
    mean, std = model.predict(NEW, return_std=True)
    median = model.predict_quantiles(NEW, [0.5])[:, 0]
    assert np.isfinite(std).all()
    assert (np.abs(mean - median) < std).all()  # true of any law


def test_powers_zero_and_one_are_the_log_and_nothing() -> None:
    cases = [(BoxCox(0.0), "log"), (BoxCox(1.0), None), (YeoJohnson(1.0), None)]
    for family, plain in cases:
        one, other = (fitted(PenalizedGPRegressor, response_transform=t) for t in (family, plain))
        np.testing.assert_allclose(one.theta_, other.theta_, rtol=1e-6)
        density, known = (model.held_out().log_density for model in (one, other))
        np.testing.assert_allclose(density, known, rtol=1e-5)
        ends, expected = (m.predict_quantiles(NEW, [0.1, 0.5, 0.9]) for m in (one, other))
        if family == BoxCox(1.0):  # which knows that y is positive
            expected = np.maximum(expected, 0.0)
        np.testing.assert_allclose(ends, expected, rtol=1e-6, atol=1e-12)


def test_the_power_maximises_the_likelihood_with_its_jacobian() -> None:
    from pengp import profile_loglik  # the public likelihood, of one data set

    y = (3.0 + Z) ** 4  # a power of about 1/4
    chosen = fitted(PenalizedGPRegressor, y, response_transform="boxcox")
    assert 0.15 <= chosen.response_transform_.power <= 0.35

    def value(power: float) -> float:
        model = fitted(PenalizedGPRegressor, y, response_transform=BoxCox(power))
        scaler = model._surrogate.response
        z = scaler.transform(y[:, None])[:, 0]
        log = profile_loglik(model._surrogate.posteriors[0].X, z, model.theta_, nugget=1e-5)
        penalty = len(y) * 0.01 * model.theta_.sum()
        jacobian = ((power - 1.0) * np.log(y)).sum() - len(y) * np.log(scaler.sd.item())
        return float(log.value) - penalty + jacobian

    best = chosen.response_transform_.power
    assert value(best) > max(value(best - 0.1), value(best + 0.1), value(1.0), value(0.0))


@pytest.mark.parametrize("cls", ESTIMATORS)
@pytest.mark.parametrize("transform", ["log10", "boxcox", Logit(0.0, 40.0)])
def test_a_transformed_model_survives(cls: Any, transform: Any, tmp_path: Path) -> None:
    model = fitted(cls, response_transform=transform)
    expected = model.predict_quantiles(NEW, [0.1, 0.9])
    save(model, tmp_path / "a.pengp")
    for other in (load(tmp_path / "a.pengp"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict_quantiles(NEW, [0.1, 0.9]), expected)
        np.testing.assert_array_equal(
            other.predict_gradient(NEW[:3]), model.predict_gradient(NEW[:3])
        )
        assert other.response_transform_ == model.response_transform_
        assert other.get_params() == model.get_params()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PengpWarning)
        same = clone(model).fit(X, Y)
    np.testing.assert_array_equal(same.predict(NEW), model.predict(NEW))
    more = load(tmp_path / "a.pengp").condition_on(NEW[:2], np.exp(Z_NEW[:2]))
    np.testing.assert_allclose(more.predict(NEW[:2]), np.exp(Z_NEW[:2]), rtol=0.02)
    if cls is PenalizedGPRegressorCV:
        lam = float(model.path_.lams[5])
        again = model.at_lambda(lam).at_lambda(model.lam_)
        np.testing.assert_allclose(again.predict(NEW), model.predict(NEW), rtol=1e-12)


def test_several_outputs_have_transforms_of_their_own() -> None:
    both = fitted(PenalizedGPRegressor, np.column_stack([Y, Z]), response_transform=["log", None])
    alone = fitted(PenalizedGPRegressor, response_transform="log")
    np.testing.assert_allclose(both.predict(NEW)[:, 0], alone.predict(NEW), rtol=1e-6)
    plain = fitted(PenalizedGPRegressor, Z)
    np.testing.assert_allclose(both.predict(NEW)[:, 1], plain.predict(NEW), rtol=1e-6)
    assert both.predict_quantiles(NEW, [0.1, 0.9]).shape == (60, 2, 2)
    with pytest.raises(InputError, match="3 entries, but y has 2 outputs"):
        fitted(PenalizedGPRegressor, np.column_stack([Y, Z]), response_transform=["log"] * 3)


def test_the_median_is_that_of_scikit_learns_wrapper() -> None:
    plain = PenalizedGPRegressor(0.01, input_transforms={0: "log10"}, random_state=0)
    wrapped = TransformedTargetRegressor(plain, func=np.log, inverse_func=np.exp).fit(X, Y)
    own = fitted(PenalizedGPRegressor, response_transform="log")
    median = own.predict_quantiles(NEW, [0.5])[:, 0]
    np.testing.assert_allclose(median, wrapped.predict(NEW), rtol=1e-9)


def test_scikit_learns_transformers_are_taken_and_not_saved(tmp_path: Path) -> None:
    log = FunctionTransformer(np.log, np.exp)
    own = fitted(PenalizedGPRegressor, response_transform=log, input_transforms={0: log})
    by_name = fitted(PenalizedGPRegressor, response_transform="log", input_transforms={0: "log"})
    np.testing.assert_allclose(own.predict(NEW), by_name.predict(NEW), rtol=1e-6)
    one, other = own.held_out().log_density, by_name.held_out().log_density
    np.testing.assert_allclose(one, other, rtol=1e-6)
    with pytest.raises(InputError, match="FunctionTransformer, but a model file holds no code"):
        save(own, tmp_path / "a.pengp")
    power = fitted(PenalizedGPRegressor, response_transform=PowerTransformer())
    assert q2(np.exp(Z_NEW), power.predict(NEW)) > 0.95


@pytest.mark.parametrize("method", ["yeo-johnson", "box-cox"])
def test_laws_that_overstep_a_transformers_end_have_finite_scores(method: str) -> None:
    x = np.random.default_rng(3).random((30, 1))[:12]
    y = np.exp((6.0 * x[:, 0] - 2.0) ** 2 * np.sin(12.0 * x[:, 0] - 4.0) / 8.0)
    transform = PowerTransformer(method)
    model = PenalizedGPRegressor(0.01, response_transform=transform, random_state=0).fit(x, y)
    new = np.array([[-0.5], [0.9], [1.5]])
    law, levels = model.predictive_law(new), (np.arange(20_000) + 0.5) / 20_000
    quantiles = model.predict_quantiles(new, levels)
    assert (np.abs(quantiles - y.mean()) <= 11.0 * np.ptp(y)).all()
    assert (np.unique(quantiles, axis=1)[:, -1] == quantiles[:, -1]).all()
    std = quantiles.std(axis=1)
    assert (np.abs(law.mean() - quantiles.mean(axis=1)) < 0.02 * std).all()
    np.testing.assert_allclose(law.std(), std, rtol=0.02)
    # The CRPS is 2 times the integral of (1{y <= q(p)} - p) (q(p) - y) over p.
    away = quantiles - y.mean()
    expected = 2.0 * ((away >= 0.0) - levels) * away
    np.testing.assert_allclose(law.crps(np.full(3, y.mean())), expected.mean(axis=1), rtol=1e-2)
    assert np.isfinite(model.held_out().scores()["crps"])


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_eight_decades_need_a_logarithm(cls: Any) -> None:
    X_more, z = runs(40, 1)
    scores = []
    for transforms in (None, {0: "log10"}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PengpWarning)
            model = cls(input_transforms=transforms, random_state=0).fit(X_more, z)
        scores.append(q2(Z_NEW, model.predict(NEW)))
    assert scores[0] < 0.3
    assert scores[1] > 0.98


def test_what_cannot_be_transformed_is_told() -> None:
    with pytest.raises(InputError, match=r"y has -.* in row 0, but log needs values above 0"):
        fitted(PenalizedGPRegressor, Z, response_transform="log")
    with pytest.raises(InputError, match=r"names 'a', which is no input; there are 3 columns"):
        fitted(PenalizedGPRegressor, input_transforms={"a": "log"})
    with pytest.raises(InputError, match=r"boxcox of column 1 has no power"):
        fitted(PenalizedGPRegressor, input_transforms={1: "boxcox"})
    model = fitted(PenalizedGPRegressor, response_transform="log")
    with pytest.raises(InputError, match=r"X has -.* in row 0, column 0, but log10 needs"):
        model.predict(-NEW)
    with pytest.raises(InputError, match=r"y_new has -1 in row 0, but log needs"):
        model.condition_on(NEW[:1], [-1.0])
    with pytest.raises(InputError, match="use return_std, or joint draws: sample_y"):
        model.predict(NEW, return_cov=True)
    bounds = [[0.0, 200.0], [0.0, 1.0], [0.0, 1.0]]
    with pytest.raises(InputError, match=r"input_bounds of column 0 are \(0, 200\)"):
        fitted(PenalizedGPRegressor, input_bounds=bounds)


def test_a_constant_response_stays_constant() -> None:
    for cls in ESTIMATORS:
        model = fitted(cls, np.full(len(X), 7.0), response_transform="log")
        assert (model.predict(NEW) == 7.0).all()
        assert (model.predict_quantiles(NEW, [0.1, 0.9]) == 7.0).all()
        assert not diagnose(model).findings


def test_the_scores_of_a_diagnosis_are_those_of_the_mapped_laws() -> None:
    model = fitted(PenalizedGPRegressor, response_transform="log")
    plain = fitted(PenalizedGPRegressor, Z).loo_
    scores = diagnose(model).scores
    expected = np.mean(norm.logpdf(Z, plain.mean, plain.std) - Z)
    assert scores["log_score"] == pytest.approx(-expected, rel=1e-9)
    inside = np.abs(Z - plain.mean) <= norm.ppf(0.975) * plain.std
    assert scores["coverage"] == pytest.approx(inside.mean())


def test_advice_names_what_gains_and_what_it_gains() -> None:
    (advice,) = advise(X, Z)
    assert (advice.column, advice.transform.name) == (0, "log10")
    assert advice.gain > 10.0
    sentence = advice.sentence("Permeability", len(Z))
    assert sentence.startswith("Permeability spans 7.")
    assert "with input_transforms={'Permeability': 'log10'} the log score" in sentence
    with command_words():
        assert "with --log Permeability the log score" in advice.sentence("Permeability", len(Z))
    assert not advise(X, Z, fitted(PenalizedGPRegressor).input_transforms_)
    both = advise(X, np.exp(4.0 * Z))
    assert {a.column for a in both} == {0, None}
    assert not advise(X[:, 1:], Z)  # no input over two decades
    near = np.column_stack([X[:, 0], np.linspace(1e-4, 1.0, len(Z))])
    assert [a.column for a in _candidates(near, Z, dict.fromkeys((0, 1, None), IDENTITY))] == [0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PengpWarning)
        findings = diagnose(PenalizedGPRegressor(0.01, random_state=0).fit(X, Z)).findings
    (told,) = [f.message for f in findings if f.code == "scale"]
    assert told == advice.sentence("x1", len(Z), named=False)
    setting = re.search(r"input_transforms=({.*})", told)
    assert setting
    given = ast.literal_eval(setting[1])
    again = PenalizedGPRegressor(0.01, input_transforms=given, random_state=0)
    assert again.fit(X, Z).input_transforms_[0] == Log10()


def test_the_tolerance_of_a_log_model_is_in_the_unit_of_the_response() -> None:
    model = fitted(PenalizedGPRegressor, response_transform="log")
    tight, loose = (good_enough(model, tolerance=t) for t in (1e-3, 100.0))
    assert loose.enough
    assert not tight.enough
    # The laws now, about their means, by draws at points spread over the scales.
    U = np.random.default_rng(0).random((4000, 3))
    low, high = X.min(0), X.max(0)
    points = low + (high - low) * U
    points[:, 0] = low[0] * (high[0] / low[0]) ** U[:, 0]
    law = model.predictive_law(points)
    inside = law.cdf(law.mean() + 0.05) - law.cdf(law.mean() - 0.05)
    assert good_enough(model, tolerance=0.05).probability == pytest.approx(inside.mean(), abs=0.02)


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_jackknife_intervals_are_mapped(cls: Any) -> None:
    log, plain = fitted(cls, response_transform="log"), fitted(cls, Z)
    ends = log.predict_interval(NEW, 0.8, "jackknife+")
    expected = np.exp(plain.predict_interval(NEW, 0.8, "jackknife+"))
    np.testing.assert_allclose(ends, expected, rtol=1e-9)
