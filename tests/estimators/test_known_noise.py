"""Estimators with known noise of the runs: limits, scikit-learn, replicates, what is refused."""

from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pengp import BayesianGPRegressor, PenalizedGPRegressor, PenalizedGPRegressorCV, diagnose
from pengp._core.arrays import FloatArray
from pengp.diagnostics import compare, validate
from pengp.exceptions import InputError

pytestmark = pytest.mark.filterwarnings("ignore::pengp.exceptions.PengpWarning")


def truth(X: FloatArray) -> FloatArray:
    """Return the response without noise [n]."""
    return np.asarray(2.0 * np.sin(5.0 * X[:, 0]) + X[:, 1] ** 2)


def noisy_runs(n: int = 14, seed: int = 0) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return inputs, responses and standard deviations."""
    rng = np.random.default_rng(seed)
    X, sd = rng.random((n, 2)), np.where(np.arange(n) % 2, 0.3, 0.05)
    return X, truth(X) + sd * rng.standard_normal(n), sd


def few_draws(**settings: Any) -> BayesianGPRegressor:
    """Return an average of few draws of one kernel."""
    few: dict[str, Any] = {"kernels": "sqexp", "nugget": 1e-5, "effective_size": 200}
    return BayesianGPRegressor(**few, max_points=3000, random_state=1, **settings)


def estimators() -> list[Any]:
    """Return one of each kind."""
    return [
        PenalizedGPRegressor(0.01, random_state=0),
        PenalizedGPRegressorCV(cv=4, lams=[0.0, 0.01, 0.1], random_state=0),
        few_draws(),
    ]


@pytest.mark.parametrize("model", estimators(), ids=lambda m: type(m).__name__)
def test_no_noise_at_all_is_no_noise_given(model: Any) -> None:
    X, y, _ = noisy_runs()
    plain, zero = clone(model).fit(X, y), clone(model).fit(X, y, noise_sd=0.0)
    assert zero.noise_sd_ is None
    assert (plain.predict(X + 0.1) == zero.predict(X + 0.1)).all()


@pytest.mark.parametrize("mean", ["zero", "constant"])
def test_tiny_noise_is_the_noiseless_fit(mean: Any) -> None:
    X, y, _ = noisy_runs()
    model = PenalizedGPRegressor(0.01, mean=mean, random_state=0)
    plain, tiny = clone(model).fit(X, y), clone(model).fit(X, y, noise_sd=1e-8)
    np.testing.assert_allclose(tiny.theta_, plain.theta_, rtol=1e-5)
    assert tiny.sigma2_ == pytest.approx(plain.sigma2_, rel=1e-5)
    new = np.random.default_rng(1).random((30, 2))
    for a, b in zip(tiny.predict(new, True), plain.predict(new, True), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4)
    np.testing.assert_allclose(tiny.loo_.mean, plain.loo_.mean, rtol=1e-5)


def test_the_average_with_tiny_noise_is_the_noiseless_one() -> None:
    X, y, _ = noisy_runs()
    settings: dict[str, Any] = {"kernels": "sqexp", "nugget": 1e-3, "random_state": 0}
    plain = BayesianGPRegressor(**settings).fit(X, y)
    tiny = BayesianGPRegressor(**settings).fit(X, y, noise_sd=1e-8)
    new = np.random.default_rng(1).random((50, 2))
    mean, sd = plain.predict(new, True)
    other, other_sd = tiny.predict(new, True)
    assert np.sqrt(np.mean(((mean - other) / sd) ** 2)) < 0.15  # Monte Carlo errors of both
    assert np.exp(np.abs(np.log(other_sd / sd)).mean()) < 1.15
    # A normalised prior of log sigma2 in place of 1 / sigma2 costs the logarithm of its range.
    apart = plain.log_evidence_ - tiny.log_evidence_
    assert apart == pytest.approx(np.log(np.log(1e8 / 1e-4)), abs=0.3)
    left, other_left = plain.held_out(), tiny.held_out()
    assert np.sqrt(np.mean(((left.mean - other_left.mean) / left.std) ** 2)) < 0.2


@pytest.mark.parametrize("model", estimators()[:2], ids=lambda m: type(m).__name__)
def test_replicates_are_their_mean(model: Any) -> None:
    X, y, sd = noisy_runs()
    sd = sd.copy()
    more, values, sds = (
        X[[3, 3, 5]],
        np.array([y[3] + 0.2, y[3] - 0.1, y[5] + 0.3]),
        [0.1, 0.2, 0.3],
    )
    all_X, all_y = np.concatenate([X, more]), np.append(y, values)
    found = clone(model).fit(all_X, all_y, noise_sd=np.append(sd, sds))
    for i, group in ((3, [3, 14, 15]), (5, [5, 16])):
        weight = 1.0 / np.append(sd, sds)[group] ** 2
        y[i], sd[i] = weight @ all_y[group] / weight.sum(), weight.sum() ** -0.5
    expected = clone(model).fit(X, y, noise_sd=sd)
    assert found.X_train_.shape == X.shape
    np.testing.assert_allclose(found.noise_sd_, sd, rtol=1e-12)
    np.testing.assert_allclose(found.theta_, expected.theta_, rtol=1e-7)
    np.testing.assert_allclose(found.predict(X + 0.1), expected.predict(X + 0.1), rtol=1e-7)


@pytest.mark.parametrize("mean", ["zero", "constant"])
def test_a_run_of_huge_noise_is_as_good_as_none(mean: Any) -> None:
    X, y, sd = noisy_runs()
    bounds = [[0.0, 1.0]] * 2
    model = PenalizedGPRegressor(mean=mean, input_bounds=bounds, nugget=1e-6, random_state=0)
    rest = clone(model).fit(X[1:], y[1:], noise_sd=sd[1:])
    y[0], sd[0] = 500.0, 1e7
    whole = clone(model).fit(X, y, noise_sd=sd)
    new = np.random.default_rng(1).random((30, 2))
    for a, b in zip(whole.predict(new, True), rest.predict(new, True), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-3, atol=2e-3)


def test_known_noise_predicts_the_function_better_and_covers_it() -> None:
    errors, inside = [], []
    for seed in range(8):
        X, y, sd = noisy_runs(20, seed)
        new = np.random.default_rng(seed + 100).random((200, 2))
        row = []
        for settings in ({}, {"noise_sd": sd}):
            model = PenalizedGPRegressor(mean="constant", random_state=0).fit(X, y, **settings)
            row.append(np.sqrt(np.mean((model.predict(new) - truth(new)) ** 2)))
        errors.append(row)
        lower, upper = model.predict_interval(new)
        inside.append(((lower <= truth(new)) & (truth(new) <= upper)).mean())
    ratio = np.exp(np.mean(np.log(np.array(errors)[:, 1] / np.array(errors)[:, 0])))
    assert ratio < 0.7
    assert 0.75 < np.mean(inside) <= 1.0  # of an estimate that takes theta for known


def test_the_average_covers_the_function() -> None:
    inside = []
    for seed in range(5):
        X, y, sd = noisy_runs(15, seed)
        new = np.random.default_rng(seed + 100).random((200, 2))
        lower, upper = few_draws().fit(X, y, noise_sd=sd).predict_interval(new)
        inside.append(((lower <= truth(new)) & (truth(new) <= upper)).mean())
    assert np.mean(inside) > 0.88


def test_noise_goes_through_scikit_learn_and_is_indexed_with_the_runs() -> None:
    X, y, sd = noisy_runs()
    model, cv = PenalizedGPRegressor(0.01, random_state=0), KFold(2)
    scores = cross_val_score(model, X, y, cv=cv, params={"noise_sd": sd})
    expected = [
        clone(model).fit(X[a], y[a], noise_sd=sd[a]).score(X[b], y[b]) for a, b in cv.split(X)
    ]
    np.testing.assert_allclose(scores, expected, rtol=1e-10)
    search = GridSearchCV(model, {"lam": [0.0, 0.1]}, cv=cv).fit(X, y, noise_sd=sd)
    assert (search.best_estimator_.noise_sd_ == sd).all()
    pipe = make_pipeline(StandardScaler(), PenalizedGPRegressor(0.01, random_state=0))
    pipe.fit(X, y, penalizedgpregressor__noise_sd=sd)
    np.testing.assert_allclose(
        pipe.predict(X), clone(model).fit(X, y, noise_sd=sd).predict(X), rtol=1e-6
    )
    with sklearn.config_context(enable_metadata_routing=True):
        routed = PenalizedGPRegressor(0.01, random_state=0).set_fit_request(noise_sd=True)
        again = cross_val_score(routed, X, y, cv=cv, params={"noise_sd": sd})
    np.testing.assert_allclose(again, expected, rtol=1e-10)


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "each"])
def test_several_outputs_have_their_own_noise(shared: bool) -> None:
    X, y, sd = noisy_runs()
    Y, sds = np.column_stack([y, y**2]), np.column_stack([sd, sd if shared else np.full(14, 0.2)])
    both = PenalizedGPRegressor(0.01, random_state=0).fit(X, Y, noise_sd=sd if shared else sds)
    assert both.noise_sd_.shape == Y.shape
    for k in range(2):
        one = PenalizedGPRegressor(0.01, random_state=0).fit(X, Y[:, k], noise_sd=sds[:, k])
        np.testing.assert_allclose(both.theta_[k], one.theta_, rtol=1e-6)
        np.testing.assert_allclose(both.predict(X)[:, k], one.predict(X), rtol=1e-7)


def test_the_choice_of_lambda_is_the_same_for_any_number_of_jobs() -> None:
    X, y, sd = noisy_runs()
    settings: dict[str, Any] = {"cv": 4, "lams": [0.0, 0.01, 0.1], "random_state": 0}
    one = PenalizedGPRegressorCV(**settings, n_jobs=1).fit(X, y, noise_sd=sd)
    two = PenalizedGPRegressorCV(**settings, n_jobs=2).fit(X, y, noise_sd=sd)
    assert all((two.cv_table_.values[k] == v).all() for k, v in one.cv_table_.values.items())


def test_folds_are_judged_with_the_noise_of_their_runs() -> None:
    X, y, sd = noisy_runs()
    model = PenalizedGPRegressorCV(cv="loo", lams=[0.01], random_state=0, nugget=1e-3)
    model = model.fit(X, y, noise_sd=sd)
    table, i = model.cv_table_, 4
    rest = np.delete(np.arange(14), i)
    scale = model._surrogate.response
    v = (sd / scale.sd) ** 2
    X1, y1 = model._surrogate.scale(X), scale.transform(y[:, None])[:, 0]
    theta, sigma2 = table.theta[0, i], table.sigma2[0, i]
    K = sigma2 * np.exp(-(((X1[:, None] - X1) ** 2) @ theta))
    known = K[np.ix_(rest, rest)] + np.diag(1e-3 * sigma2 + v[rest])
    mean = K[i, rest] @ np.linalg.solve(known, y1[rest])
    spread = K[i, i] - K[i, rest] @ np.linalg.solve(known, K[rest, i]) + 1e-3 * sigma2 + v[i]
    error = (y1[i] - mean) ** 2
    assert table.values["pe"][0, i] == pytest.approx(error, rel=1e-7)
    assert table.values["md"][0, i] == pytest.approx(error / spread, rel=1e-7)
    assert table.values["dpe"][0, i] == pytest.approx(sigma2 * error / spread, rel=1e-7)
    assert model.held_out().std[i] == pytest.approx(np.sqrt(spread) * scale.sd[0], rel=1e-7)


@pytest.mark.parametrize("model", estimators(), ids=lambda m: type(m).__name__)
def test_further_runs_bring_their_noise(model: Any) -> None:
    X, y, sd = noisy_runs()
    fitted = clone(model).fit(X[:12], y[:12], noise_sd=sd[:12])
    more = fitted.condition_on(X[12:], y[12:], noise_sd=sd[12:])
    assert (more.noise_sd_ == sd).all()
    again = more.condition_on(X[:1], y[:1] + 0.1, noise_sd=0.2)  # known inputs may come again
    assert len(again.X_train_) == 15
    with pytest.raises(InputError, match="fitted with known noise; give noise_sd"):
        fitted.condition_on(X[12:], y[12:])
    with pytest.raises(InputError, match="fitted without noise"):
        clone(model).fit(X[:12], y[:12]).condition_on(X[12:], y[12:], noise_sd=0.1)


def test_an_estimate_with_further_runs_is_the_process_of_all() -> None:
    X, y, sd = noisy_runs()
    fitted = PenalizedGPRegressor(0.01, random_state=0).fit(X[:12], y[:12], noise_sd=sd[:12])
    more = fitted.condition_on(X[12:], y[12:], noise_sd=sd[12:])
    known = more._surrogate
    v, x1 = (sd / known.response.sd) ** 2, known.scale(X)
    K = more.sigma2_ * (np.exp(-(((x1[:, None] - x1) ** 2) @ more.theta_)) + 1e-5 * np.eye(14))
    z = known.response.transform(y[:, None])[:, 0]
    smooth = (K - 1e-5 * more.sigma2_ * np.eye(14)) @ np.linalg.solve(K + np.diag(v), z)
    np.testing.assert_allclose(more.predict(X), known.response.inverse(smooth[:, None])[:, 0])


def test_what_is_left_out_and_validated_has_its_noise() -> None:
    X, y, sd = noisy_runs()
    for model in (PenalizedGPRegressor(0.01, random_state=0), few_draws()):
        model.fit(X, y, noise_sd=sd)
        assert (model.loo_.std > sd).all()
        assert (model.held_out().std > sd).all()
        assert diagnose(model).held_out is not None
        assert "noise known, standard deviations 0.05 to 0.3" in str(model.summary())
        law, noisy = model.predictive_law(X), model.predictive_law(X, noise_sd=sd)
        np.testing.assert_allclose(noisy.std() ** 2, law.std() ** 2 + sd**2, rtol=1e-6)
        new, seen, new_sd = noisy_runs(9, seed=5)
        found = validate(model, new, seen, noise_sd=new_sd)
        assert found.scores["coverage"] >= validate(model, new, seen).scores["coverage"]
        assert found.joint is not None
        together = found.joint.standardized
        np.testing.assert_allclose(
            together,
            (seen - law_mean(model, new)) / model.predictive_law(new, noise_sd=new_sd).std(),
            rtol=1e-6,
        )
    pair = {"one": PenalizedGPRegressor(0.01).fit(X, y, sd), "two": few_draws().fit(X, y, sd)}
    assert compare(pair, new, seen, noise_sd=new_sd).judged[0].scores["rmse"] > 0.0


def law_mean(model: Any, X: FloatArray) -> FloatArray:
    """Return the predicted means [m]."""
    means: FloatArray = model.predict(X)
    return means


def test_a_transformed_response_has_the_noise_of_the_delta_method() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((16, 2))
    z, sd = truth(X), 0.1
    y = np.exp(z + sd * rng.standard_normal(16))
    by_hand = PenalizedGPRegressor(0.01, random_state=0).fit(X, np.log(y), noise_sd=sd)
    mapped = PenalizedGPRegressor(0.01, random_state=0, response_transform="log")
    mapped.fit(X, y, noise_sd=sd * y)
    np.testing.assert_allclose(mapped.theta_, by_hand.theta_, rtol=1e-6)
    new = rng.random((10, 2))
    middle = mapped.predict_quantiles(new, [0.5])[:, 0]
    np.testing.assert_allclose(np.log(middle), by_hand.predict(new), rtol=1e-6)
    power = PenalizedGPRegressor(0.01, random_state=0, response_transform="boxcox")
    assert abs(power.fit(X, y, noise_sd=sd * y).response_transform_.power) < 0.5


def test_other_lambdas_and_modes_keep_the_noise() -> None:
    X, y, sd = noisy_runs()
    lams = [0.0, 0.1, 1.0]
    model = PenalizedGPRegressorCV(cv=4, lams=lams, random_state=0).fit(X, y, noise_sd=sd)
    for lam in lams:
        other = PenalizedGPRegressor(lam, random_state=0).fit(X, y, noise_sd=sd)
        same = model.at_lambda(lam)
        assert same.path_.objective[lams.index(lam)] >= other.path_.objective[0] - 1e-6
        assert (same.noise_sd_ == sd).all()
    first = model.at_mode(1)
    np.testing.assert_allclose(first.sigma2_, model.sigma2_, rtol=1e-6)


@pytest.mark.parametrize(
    ("noise_sd", "words"),
    [
        (-0.1, "noise_sd has -0.1; a standard deviation is a number from 0 up"),
        ([0.1] * 13 + [-1.0], "noise_sd has -1 in row 13"),
        ([0.1] * 13 + [np.nan], "noise_sd has nan in row 13"),
        ([0.1] * 3, r"noise_sd has the shape \(3,\); give one standard deviation for all runs"),
        ("a lot", "noise_sd must be a numeric array"),
    ],
)
def test_noise_that_is_none_is_refused(noise_sd: Any, words: str) -> None:
    X, y, _ = noisy_runs()
    with pytest.raises(InputError, match=words):
        PenalizedGPRegressor().fit(X, y, noise_sd=noise_sd)


def test_what_cannot_be_combined_is_refused() -> None:
    X, y, sd = noisy_runs()
    for model, word in (
        (PenalizedGPRegressor(nugget="estimate"), "estimate"),
        (BayesianGPRegressor(nugget="sample"), "sample"),
    ):
        with pytest.raises(InputError, match=f"noise_sd and nugget='{word}'"):
            model.fit(X, y, noise_sd=sd)
    with pytest.raises(InputError, match="lams='kkt' has no bound"):
        PenalizedGPRegressorCV(lams="kkt").fit(X, y, noise_sd=sd)
    many = np.random.default_rng(0).random((301, 1))
    with pytest.raises(InputError, match="301 runs are too many for a fit with known noise"):
        PenalizedGPRegressor().fit(many, many[:, 0], noise_sd=0.1)


def test_contradicting_runs_are_told_what_helps_and_it_does() -> None:
    X, y, sd = noisy_runs()
    X, y = np.concatenate([X, X[:1]]), np.append(y, y[0] + 0.1)
    with pytest.raises(InputError, match="as noise_sd, or use nugget='estimate'"):
        PenalizedGPRegressor().fit(X, y)
    assert len(PenalizedGPRegressor(random_state=0).fit(X, y, noise_sd=0.1).X_train_) == 14
    assert len(PenalizedGPRegressor(nugget="estimate", random_state=0).fit(X, y).X_train_) == 15
    with pytest.raises(InputError, match=r"row 0 of X and row 14 of X .* noise_sd is 0 for both"):
        PenalizedGPRegressor().fit(X, y, noise_sd=np.append(0.0, np.append(sd[1:], 0.0)))
