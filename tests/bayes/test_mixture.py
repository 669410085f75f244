from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from pengp.bayes.components import thin
from pengp.bayes.members import INTEGRATED, Member
from pengp.bayes.mixture import ProcessMixture
from pengp.bayes.sample import sample_posterior
from pengp.model.kernels import Matern52, SquaredExponential
from pengp.model.means import ZERO
from pengp.model.posterior import condition
from tests.bayes.data import runs
from tests.bayes.test_sample import predicted

X, Y = runs(9, 2)
MEMBERS = (Member(SquaredExponential(), 1e-6, ZERO), Member(Matern52(), 1e-4, INTEGRATED))
NEW = np.random.default_rng(8).random((5, 2))


def mixture(weight: tuple[float, ...] = (0.2, 0.5, 0.3)) -> ProcessMixture:
    theta = np.array([[1.0, 3.0], [0.2, 8.0], [2.0, 0.01]])[: len(weight)]
    member = np.array([0, 1, 1])[: len(weight)]
    nugget = np.array([1e-6, 1e-4, 1e-4])[: len(weight)]
    return ProcessMixture(X, Y, MEMBERS, member, theta, nugget, np.array(weight))


def test_one_component_is_the_plain_student_t_process() -> None:
    one = mixture((1.0,))
    process = condition(X, Y, one.theta[0], kernel=SquaredExponential(), nugget=1e-6)
    mean, scaled = process.predict(NEW)
    n = len(Y)
    scale = np.sqrt(process.sigma2 * scaled)
    found = one.law(NEW)
    by_hand = stats.t(n, mean, scale)
    np.testing.assert_allclose(found.quantiles([0.1, 0.9])[:, 0], by_hand.ppf(0.1))
    np.testing.assert_allclose(one.predict(NEW)[0], mean)
    np.testing.assert_allclose(one.predict(NEW)[1], np.asarray(by_hand.var()))
    np.testing.assert_allclose(one.predict_mean(NEW), mean)
    cov = process.predict_cov(NEW)[1]
    np.testing.assert_allclose(one.predict_cov(NEW)[1], process.sigma2 * cov * n / (n - 2))
    np.testing.assert_allclose(one.mean_gradient(NEW), process.mean_gradient(NEW))


def test_moments_are_those_of_the_law_and_of_the_covariance() -> None:
    mixed = mixture()
    mean, variance = mixed.predict(NEW)
    found = mixed.law(NEW)
    np.testing.assert_allclose(mean, found.mean(), rtol=1e-10)
    np.testing.assert_allclose(variance, found.variance(), rtol=1e-8)
    both, cov = mixed.predict_cov(NEW)
    np.testing.assert_allclose(both, mean)
    np.testing.assert_allclose(np.diagonal(cov), variance, rtol=1e-7)


def test_draws_have_the_mixture_s_law() -> None:
    mixed = mixture()
    N = 40_000
    draws = mixed.sample(NEW, N, np.random.default_rng(0))
    mean, cov = mixed.predict_cov(NEW)
    sd = np.sqrt(np.diagonal(cov))
    assert (np.abs(draws.mean(0) - mean) < 4.0 * sd / np.sqrt(N)).all()
    correlation = cov / sd / sd[:, None]
    np.testing.assert_allclose(np.corrcoef(draws.T), correlation, atol=0.05)
    for k, law in enumerate(mixed.law(NEW).quantiles([0.05, 0.6, 0.98])):
        below = (draws[:, k, None] < law).mean(0)
        np.testing.assert_allclose(below, [0.05, 0.6, 0.98], atol=4 * 0.5 / np.sqrt(N))


def test_gradient_is_a_finite_difference() -> None:
    mixed, h = mixture(), 1e-6
    for p, step in enumerate(h * np.eye(2)):
        slope = (mixed.predict_mean(NEW + step) - mixed.predict_mean(NEW - step)) / (2 * h)
        np.testing.assert_allclose(mixed.mean_gradient(NEW)[:, p], slope, rtol=1e-4, atol=1e-6)


def test_further_runs_multiply_weights_by_their_predictive_density() -> None:
    mixed, (more, values) = mixture(), (NEW[:1], np.array([0.3]))
    law = mixed.law(more)
    z = (values[:, None] - law.location) / law.scale
    density = stats.t(len(Y)).pdf(z) / law.scale
    extended = mixed.extend(more, values)
    product = mixed.weight * density[0]
    np.testing.assert_allclose(extended.weight, product / product.sum(), rtol=1e-6)
    whole = np.concatenate([X, more]), np.concatenate([Y, values])
    fresh = replace(extended, X=whole[0], y=whole[1])
    for found, expected in zip(extended.predict(NEW), fresh.predict(NEW), strict=True):
        np.testing.assert_allclose(found, expected)
    # One run after the other, or both at once.
    again = extended.extend(NEW[1:2], np.array([-0.2]))
    at_once = mixed.extend(NEW[:2], np.array([0.3, -0.2]))
    np.testing.assert_allclose(again.weight, at_once.weight, rtol=1e-8)


def test_few_components_predict_what_all_draws_predict() -> None:
    at = runs(12, 4)
    sample = sample_posterior(*at, members=(MEMBERS[1],), random_state=0)
    mean, std = predicted(sample, np.random.default_rng(1).random((30, 4)))
    thinned = thin(sample, random_state=2)
    mixed = thinned.mixture
    assert len(mixed.weight) <= 100
    assert mixed.weight.sum() == pytest.approx(1.0)
    few = mixed.predict(np.random.default_rng(1).random((30, 4)))
    # 800 draws resampled from all: their standard error is at most a 28th of the sd.
    assert np.sqrt(np.mean(((few[0] - mean) / std) ** 2)) < 2.0 / np.sqrt(800)
    assert np.sqrt(np.mean((np.sqrt(few[1]) / std - 1.0) ** 2)) < 3.0 / np.sqrt(800)
    assert thinned.mean_change < 1.2 / np.sqrt(800)
    assert thinned.std_change < 1.2 / np.sqrt(800)


def test_the_change_by_thinning_is_estimated_for_fresh_points() -> None:
    told, made = [], []
    for n, d in ((8, 1), (10, 3), (12, 6)):
        sample = sample_posterior(*runs(n, d), members=(MEMBERS[1],), random_state=0)
        points = np.random.default_rng(d).random((60, d))
        mean, std = predicted(sample, points)
        for seed, size in ((0, 100), (1, 100), (2, 15), (3, 8)):
            few = thin(sample, n_components=size, random_state=seed)
            told.append(few.mean_change)
            made.append(np.sqrt(np.mean(((few.mixture.predict(points)[0] - mean) / std) ** 2)))
            assert made[-1] < 2.5 * told[-1]
    ratio = np.linalg.norm(made) / np.linalg.norm(told)
    assert 0.6 < ratio < 1.3
    assert np.corrcoef(np.log(made), np.log(told))[0, 1] > 0.7


def test_thinning_keeps_the_leading_moments_exactly() -> None:
    sample = sample_posterior(*runs(8, 1), members=(MEMBERS[0],), random_state=0)
    whole, few = thin(sample, n_components=800), thin(sample, n_components=60)
    assert len(few.mixture.weight) <= 60 < len(whole.mixture.weight)
    points = np.linspace(0.0, 1.0, 50)[:, None]
    expected = whole.mixture.predict(points)
    np.testing.assert_allclose(few.mixture.predict(points)[0], expected[0], atol=1e-4)
    np.testing.assert_allclose(few.mixture.predict(points)[1], expected[1], rtol=1e-2)
