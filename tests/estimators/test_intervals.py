"""Predictive laws of the estimators and jackknife+ intervals, against slow ways to the same."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from pengp import (
    BayesianGPRegressor,
    InputError,
    PenalizedGPRegressor,
    PenalizedGPRegressorCV,
    PengpWarning,
    load,
    save,
)
from pengp.choosing import jackknife_plus
from pengp.path import penalized_path


def response(X: Any) -> Any:
    return 10.0 + 3.0 * np.sin(5.0 * X[:, 0]) + X[:, 1] ** 2


RNG = np.random.default_rng(0)
X = RNG.random((20, 2))
Y = response(X)
NEW = RNG.random((30, 2))


@pytest.fixture(scope="module")
def penalized() -> PenalizedGPRegressor:
    return PenalizedGPRegressor(0.01, random_state=0).fit(X, Y)


@pytest.fixture(scope="module")
def average() -> BayesianGPRegressor:
    return BayesianGPRegressor(random_state=0).fit(X, Y)


def test_the_law_of_a_penalized_fit_is_normal(penalized: PenalizedGPRegressor) -> None:
    law, (mean, std) = penalized.predictive_law(NEW), penalized.predict(NEW, return_std=True)
    y = mean + 0.7 * std
    np.testing.assert_array_equal(law.mean(), mean)
    np.testing.assert_allclose(law.cdf(y), norm.cdf(0.7), rtol=1e-9)
    np.testing.assert_allclose(law.log_density(y), norm.logpdf(y, mean, std), rtol=1e-9)
    np.testing.assert_allclose(law.interval(0.8)[:, 0], norm.ppf(0.1, mean, std), rtol=1e-9)
    np.testing.assert_array_equal(
        np.transpose(law.interval(0.8)), penalized.predict_interval(NEW, 0.8)
    )


def test_the_law_of_an_average_is_its_mixture(average: BayesianGPRegressor) -> None:
    law = average.predictive_law(NEW)
    mean, std = average.predict(NEW, return_std=True)
    np.testing.assert_allclose(law.mean(), mean, rtol=1e-9)
    np.testing.assert_allclose(law.std(), std, rtol=1e-6)
    ends = np.stack(average.predict_interval(NEW, 0.9))
    np.testing.assert_allclose(ends.T, average.predict_quantiles(NEW, [0.05, 0.95]), rtol=1e-9)
    np.testing.assert_allclose(
        [law.cdf(end) for end in ends], [[0.05] * 30, [0.95] * 30], rtol=1e-6
    )
    normal = np.stack([mean - 1.645 * std, mean + 1.645 * std])
    assert np.abs(ends - normal).max() > 0.05 * std.min()  # it is not normal


def test_jackknife_refits_without_each_run(penalized: PenalizedGPRegressor) -> None:
    low, width = X.min(0), np.ptp(X, axis=0)
    scaled, sd = (X - low) / width, Y.std(ddof=1)
    y, means, residuals = (Y - Y.mean()) / sd, [], []
    for i in range(20):
        others = np.arange(20) != i
        fit = penalized_path(scaled[others], y[others], [0.01], n_starts=20, random_state=1)
        theta, g = fit.theta[0], 1e-5

        def r(A: Any, B: Any, theta: Any = theta) -> Any:
            return np.exp(-((A[:, None] - B[None]) ** 2 @ theta))

        inverse = np.linalg.inv(r(scaled[others], scaled[others]) + g * np.eye(19))
        known = inverse @ y[others]
        means.append(r((NEW - low) / width, scaled[others]) @ known)
        residuals.append(abs(y[i] - (r(scaled[[i]], scaled[others]) @ known)[0]))
    lower, upper = jackknife_plus(np.array(means).T, np.array(residuals), 0.9)
    found = penalized.predict_interval(NEW, 0.9, "jackknife+")
    np.testing.assert_allclose(found[0], Y.mean() + sd * lower, rtol=1e-4)
    np.testing.assert_allclose(found[1], Y.mean() + sd * upper, rtol=1e-4)


def test_a_file_and_another_lambda_have_their_own_jackknife(
    penalized: PenalizedGPRegressor, average: BayesianGPRegressor, tmp_path: Any
) -> None:
    for model in (penalized, average):
        first = model.predict_interval(NEW, 0.9, "jackknife+")
        save(model, tmp_path / "m.pengp")
        again = load(tmp_path / "m.pengp").predict_interval(NEW, 0.9, "jackknife+")
        np.testing.assert_allclose(again, first, rtol=1e-9)
    several = PenalizedGPRegressorCV(lams=[0.001, 1.0], cv=4, random_state=0).fit(X, Y)
    ends = [several.at_lambda(lam).predict_interval(NEW, 0.9, "jackknife+") for lam in (0.001, 1.0)]
    assert np.abs(ends[0][0] - ends[1][0]).max() > 0.01


def test_what_cannot_be_had_is_refused_in_a_sentence(penalized: PenalizedGPRegressor) -> None:
    with pytest.raises(InputError, match="intervals='bootstrap' is none of model, jackknife"):
        penalized.predict_interval(NEW, intervals="bootstrap")  # type: ignore[arg-type]
    few = PenalizedGPRegressor(0.01, random_state=0).fit(X[:8], Y[:8])
    with pytest.raises(
        InputError, match=r"at least 19 runs; 8 runs support a level of at most 0\.888\."
    ):
        few.predict_interval(NEW, intervals="jackknife+")
    later = penalized.condition_on([[0.5, 0.5]], [11.0])
    with pytest.raises(InputError, match="learned 1 later"):
        later.predict_interval(NEW, intervals="jackknife+")


def test_constant_and_several_outputs() -> None:
    both = np.column_stack([np.full(20, 3.0), Y])
    with pytest.warns(PengpWarning, match="is constant"):
        model = PenalizedGPRegressor(0.01, random_state=0).fit(X, both)
    alone = PenalizedGPRegressor(0.01, random_state=0).fit(X, Y)
    lower, upper = model.predict_interval(NEW, 0.9, "jackknife+")
    assert (lower[:, 0] == 3.0).all()
    assert (upper[:, 0] == 3.0).all()
    expected = alone.predict_interval(NEW, 0.9, "jackknife+")
    np.testing.assert_allclose([lower[:, 1], upper[:, 1]], expected, rtol=1e-6)


def test_jackknife_covers_where_normal_intervals_of_the_mle_do_not() -> None:
    """Random runs of a function that is steep in a corner, 30 designs."""
    rng = np.random.default_rng(1)
    normal, jackknife = list[float](), list[float]()
    for _ in range(30):
        design, new = rng.random((20, 3)), rng.random((40, 3))
        y, seen = (np.exp(3.0 * A[:, 0] * A[:, 1]) + np.sin(9.0 * A[:, 2]) for A in (design, new))
        model = PenalizedGPRegressor(0.0, n_starts=4, random_state=0).fit(design, y)
        both = (
            (normal, model.predict_interval(new, 0.9)),
            (jackknife, model.predict_interval(new, 0.9, "jackknife+")),
        )
        for inside, (lower, upper) in both:
            inside.append(float(np.mean((lower <= seen) & (seen <= upper))))
    assert np.mean(normal) < 0.86
    assert float(np.mean(jackknife)) > 0.8  # 2 level - 1
    assert float(np.mean(jackknife)) > float(np.mean(normal)) + 0.03
