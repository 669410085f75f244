"""The Bayesian average as an estimator: units, outputs, seeds, new runs, what it says of itself."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from pengp import BayesianGPRegressor, InputError, PengpWarning, diagnose, load, save
from pengp._core.arrays import FloatArray
from pengp.bayes.average import sampled
from pengp.bayes.components import thin
from pengp.bayes.heldout import leave_out
from pengp.bayes.sample import PosteriorSample
from pengp.choosing import random_folds

QUICK: dict[str, Any] = {
    "kernels": "sqexp",
    "nugget": 1e-5,
    "effective_size": 100.0,
    "max_points": 3000,
}


def runs(n: int = 10, d: int = 2) -> tuple[FloatArray, FloatArray]:
    X = np.random.default_rng(5).random((n, d))
    return X, np.sin(4.0 * X[:, 0]) + 0.3 * X[:, -1] ** 2


@pytest.fixture(scope="module")
def model() -> BayesianGPRegressor:
    return BayesianGPRegressor(random_state=0).fit(*runs())


@pytest.mark.filterwarnings("ignore::pengp.PengpWarning")  # the checks' data are random
@parametrize_with_checks(  # type: ignore[untyped-decorator]  # scikit-learn ships no types
    [BayesianGPRegressor(**QUICK, random_state=0)]
)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_units_do_not_matter(model: BayesianGPRegressor) -> None:
    X, y = runs()
    # Powers of two, so that the scaled runs, and with them all draws, are the same to the bit.
    other = BayesianGPRegressor(random_state=0).fit(8.0 * X, 256.0 * y)
    new = np.random.default_rng(1).random((20, 2))
    mean, std = model.predict(new, return_std=True)
    there, spread = other.predict(8.0 * new, return_std=True)
    np.testing.assert_array_equal(there, 256.0 * mean)
    np.testing.assert_array_equal(spread, 256.0 * std)
    np.testing.assert_array_equal(
        other.predict_gradient(8.0 * new), 32.0 * model.predict_gradient(new)
    )


def test_quantiles_are_those_of_the_draws(model: BayesianGPRegressor) -> None:
    new = np.array([[0.5, 0.5], [1.4, -0.2]])
    draws = model.sample_y(new, 20_000, random_state=2)
    levels = np.array([0.05, 0.5, 0.95])
    found = model.predict_quantiles(new, levels)
    assert found.shape == (2, 3)
    share = (draws[:, None] <= found[:, :, None]).mean(-1)
    error = np.sqrt(levels * (1.0 - levels) / 20_000)
    assert (np.abs(share - levels) < 4.0 * error).all()
    lower, upper = model.predict_interval(new, 0.9)
    np.testing.assert_allclose(np.column_stack([lower, upper]), found[:, [0, 2]], rtol=1e-12)
    mean, cov = model.predict(new, return_cov=True)
    away = draws - mean[:, None]
    products = away[:, None] * away
    error = products.std(-1) / np.sqrt(20_000)
    assert (np.abs(products.mean(-1) - cov) < 4.0 * error).all()
    np.testing.assert_allclose(np.sqrt(np.diag(cov)), model.predict(new, return_std=True)[1])
    np.testing.assert_allclose(draws.mean(1), mean, atol=5.0 * np.sqrt(np.diag(cov) / 20_000).max())


def test_held_out_runs_are_those_of_the_sample_in_the_response_s_unit(
    model: BayesianGPRegressor,
) -> None:
    _, y = runs()
    held, scale = model.held_out(level=0.8), y.std(ddof=1)
    left = leave_out(sample_of(model))
    np.testing.assert_allclose(held.mean, y.mean() + scale * left.mean)
    np.testing.assert_allclose(held.std, scale * left.std)
    np.testing.assert_allclose(held.mean, model.loo_.mean)
    np.testing.assert_allclose(held.std, model.loo_.std)
    np.testing.assert_allclose(held.y - held.mean, model.loo_.residual)
    # F(y) tells what the interval of any level tells.
    np.testing.assert_array_equal(
        np.abs(2.0 * held.below - 1.0) <= 0.8, (held.lower <= held.y) & (held.y <= held.upper)
    )
    ends = np.concatenate([law.interval(0.8) for law in left.laws])
    np.testing.assert_allclose(held.lower, y.mean() + scale * ends[:, 0])
    np.testing.assert_allclose(held.upper, y.mean() + scale * ends[:, 1])
    np.testing.assert_array_equal(held.effective_size, left.effective_size)
    assert held.how.startswith("each run left out in turn")


def test_folds_are_those_of_refits_without_each() -> None:
    X, y = runs(18, 3)
    model = BayesianGPRegressor(random_state=0).fit(X, y)
    plan = random_folds(18, 4, random_state=1)
    held = model.held_out(level=0.8, folds=plan)
    assert held.how.startswith("4 random folds")
    np.testing.assert_array_equal(held.run, np.concatenate(plan.test))
    np.testing.assert_array_equal(held.y, y[held.run])
    known, differences, ratios = model._surrogate.posteriors[0], [], []
    for train, test in plan:
        refit = sampled(known.X[train], known.y[train], model._settings, 5)
        mean, variance = thin(refit, n_components=400).mixture.predict(known.X[test])
        mean, std = y.mean() + y.std(ddof=1) * mean, y.std(ddof=1) * np.sqrt(variance)
        mine = np.isin(held.run, test)
        own = held.run[mine].argsort().argsort()
        differences.append((held.mean[mine] - mean[own]) / std[own])
        ratios.append(held.std[mine] / std[own])
    assert np.abs(np.concatenate(differences)).mean() < 0.05
    assert np.abs(np.log(np.concatenate(ratios))).mean() < 0.05
    np.testing.assert_array_equal(
        np.abs(2.0 * held.below - 1.0) <= 0.8, (held.lower <= held.y) & (held.y <= held.upper)
    )


def test_folds_are_given_like_cv_and_one_run_each_is_the_default(
    model: BayesianGPRegressor,
) -> None:
    alone = model.held_out()
    one_each = model.held_out(folds=np.arange(10))
    np.testing.assert_array_equal(one_each.mean, alone.mean)
    np.testing.assert_array_equal(one_each.crps, alone.crps)
    for folds in (5, "space-filling:5", KFold(5)):
        assert len(model.held_out(folds=folds).run) == 10
    further = model.condition_on([[0.5, 0.5]], [1.0])
    np.testing.assert_array_equal(further.held_out(folds=KFold(5)).run, np.arange(10))
    with pytest.raises(InputError, match="leave at least 3 runs"):
        model.held_out(folds=[(np.arange(2), np.arange(2, 10))])
    with pytest.raises(InputError, match="all runs that they do not hold out"):
        model.held_out(folds=[(np.arange(5), np.arange(8, 10))])


def test_folds_are_held_out_of_a_model_file_as_of_the_fit(
    model: BayesianGPRegressor, tmp_path: Path
) -> None:
    further = model.condition_on([[0.5, 0.5]], [1.0])
    for k, one in enumerate((model, further)):
        save(one, tmp_path / f"{k}.pengp")
        again: Any = load(tmp_path / f"{k}.pengp")
        for folds in ("loo", 5):
            given, found = one.held_out(folds=folds), again.held_out(folds=folds)
            for name in ("run", "mean", "std", "lower", "upper", "crps", "effective_size"):
                np.testing.assert_array_equal(getattr(found, name), getattr(given, name))


def sample_of(model: BayesianGPRegressor) -> PosteriorSample:
    found = model._averages[0]
    assert found is not None
    assert isinstance(found.source, PosteriorSample)
    return found.source


def test_a_posterior_that_cannot_be_trusted_warns() -> None:
    X = np.random.default_rng(1).random((40, 20))
    y = np.sin(6.0 * X[:, 0]) * X[:, 1] + X[:, 2] ** 2
    with pytest.warns(PengpWarning, match=r"cannot be trusted: .* raise .*max_points"):
        BayesianGPRegressor(kernels="sqexp", random_state=0, max_points=1).fit(X, y)


def test_same_seed_same_bits_for_any_number_of_jobs() -> None:
    X, y = runs()
    both = np.column_stack([y, y**2])
    alone = BayesianGPRegressor(**QUICK, random_state=3).fit(X, both)
    together = BayesianGPRegressor(**QUICK, random_state=3, n_jobs=2).fit(X, both)
    np.testing.assert_array_equal(alone.predict(X + 0.1), together.predict(X + 0.1))
    np.testing.assert_array_equal(alone.log_evidence_, together.log_evidence_)
    np.testing.assert_array_equal(alone.loo_.mean, together.loo_.mean)
    levels = [0.1, 0.9]
    np.testing.assert_array_equal(
        alone.predict_quantiles(X, levels), together.predict_quantiles(X, levels)
    )


def test_what_it_says_of_itself(model: BayesianGPRegressor) -> None:
    assert sum(model.kernel_weights_.values()) == pytest.approx(1.0)
    matern = {"matern52", "matern52_product", "matern52_additive"}
    assert set(model.kernel_weights_) == {"sqexp", *matern}
    parts = model.components_
    assert parts.weight.sum() == pytest.approx(1.0)
    assert len(parts.kernel) == len(parts.theta) == len(parts.weight)
    assert sum(e.weight for e in model.explanations_) == pytest.approx(1.0)
    assert model.effective_size_ >= 800.0
    assert model.log_evidence_error_ < 0.1
    assert model.thinning_ < 0.05
    assert diagnose(model).held_out is not None
    assert "kernels: sqexp" in str(model)


def test_an_input_without_effect_matters_less() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((20, 3))
    X[:, 2] = 4.0
    with pytest.warns(PengpWarning, match="constant in column 2"):
        fitted = BayesianGPRegressor(random_state=0).fit(X, np.sin(5.0 * X[:, 0]))
    effect, none, constant = fitted.activity_.probability
    assert effect > 0.99
    assert none < effect
    assert constant == 0.0
    assert np.isinf(fitted.lengthscale_[2])


def test_new_runs_are_learned(model: BayesianGPRegressor) -> None:
    X, y = runs(14)
    more = model.condition_on(X[10:], y[10:])
    assert len(more.X_train_) == 14
    np.testing.assert_allclose(more.predict(X), y, atol=2e-2)
    std, before = (m.predict(X[10:], return_std=True)[1] for m in (more, model))
    assert (std < before).all()


def test_a_model_that_learned_more_says_what_is_of_the_fit(model: BayesianGPRegressor) -> None:
    assert "runs of fit" not in str(model)
    further = model.condition_on([[0.5, 0.5], [0.1, 0.2]], [0.9, 0.4])
    told = "by the 10 runs of fit, not the 2 learned later; so are activity_ and explanations_"
    assert told in str(further)
    assert told in str(further.summary())
    assert further.kernel_weights_ == model.kernel_weights_


def test_an_input_that_never_varied_changes_nothing() -> None:
    X, y = runs(8, 1)
    alone = BayesianGPRegressor(random_state=0).fit(X, y)
    with pytest.warns(PengpWarning, match="constant in column 1"):
        beside = BayesianGPRegressor(random_state=0).fit(np.column_stack([X, np.ones(8)]), y)
    assert alone._settings.members == beside._settings.members
    error = np.hypot(alone.log_evidence_error_, beside.log_evidence_error_)
    assert beside.log_evidence_ == pytest.approx(alone.log_evidence_, abs=4 * error)
    assert error < 0.1  # with the prior of two inputs it is off by much more


def test_a_constant_output_is_predicted_without_spread() -> None:
    X, y = runs()
    with pytest.warns(PengpWarning, match="output"):
        fitted = BayesianGPRegressor(**QUICK, random_state=0).fit(
            X, np.column_stack([y, 0 * y + 3])
        )
    mean, std = fitted.predict(X[:2] + 0.1, return_std=True)
    np.testing.assert_array_equal(mean[:, 1], 3.0)
    np.testing.assert_array_equal(std[:, 1], 0.0)
    np.testing.assert_array_equal(fitted.predict_quantiles(X[:2], [0.1, 0.9])[:, 1], 3.0)
    assert "output 1: constant response\n" in str(fitted)
    learned = fitted.condition_on(X[:1] + 0.01, [[1.0, 3.0]])
    np.testing.assert_array_equal(learned.predict(X)[:, 1], 3.0)


def test_frames_keep_their_names() -> None:
    X, y = runs()
    fitted = BayesianGPRegressor(**QUICK, random_state=0).fit(
        pd.DataFrame(X, columns=["a", "b"]), y
    )
    assert list(fitted.feature_names_in_) == ["a", "b"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernels": "cubic"}, "cubic"),
        ({"kernels": {"sqexp": -1.0}}, "positive prior weight"),
        ({"nugget": "estimate"}, "'sample'"),
        ({"nugget": 0.0}, "above 0"),
        ({"mean": "linear"}, "no prior on its coefficients"),
        ({"prior": "flat"}, "flat"),
        ({"effective_size": 0}, "effective_size"),
        ({"max_points": 0}, "max_points"),
    ],
)
def test_wrong_settings_get_a_sentence(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        BayesianGPRegressor(**settings).fit(*runs())
