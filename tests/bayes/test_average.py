from dataclasses import replace

import numpy as np
import pytest

from pengp import PengpWarning
from pengp.bayes.average import Settings, average, extended, members_of
from pengp.bayes.priors import HierarchicalLasso
from pengp.bayes.weights import effective_size, normalised
from tests.bayes.data import runs

SETTINGS = Settings(members_of(3), HierarchicalLasso(), 800.0, 30_000, 100)
X, Y = runs(16, 3)
NEW = np.random.default_rng(3).random((30, 3))


def test_further_runs_are_learned_as_by_a_fit_to_all() -> None:
    found, before = average(X[:13], Y[:13], SETTINGS, 0)
    later = extended(found, X, Y, SETTINGS, 0)
    # The density of the new runs at every draw, by the chain rule and one law at a time.
    draws = found.draws
    some = np.argsort(-draws.weight)[:50]
    by_hand = np.zeros(50)
    for j, k in enumerate(some):
        member = found.members[draws.member[k]]
        for n in range(13, 16):
            process = member.condition(X[:n], Y[:n], draws.theta[k], float(draws.nugget[k]))
            mean, variance = process.predict(X[n : n + 1])
            scale2 = process.sigma2 * variance[0]
            z2 = (Y[n] - mean[0]) ** 2 / scale2
            by_hand[j] += -0.5 * np.log(scale2) - 0.5 * (n + 1.0) * np.log1p(z2 / n)
    weight = normalised(np.log(draws.weight[some]) + by_hand)
    size = float(effective_size(weight))  # of all draws it is larger
    refit, other = average(X, Y, SETTINGS, 1)
    (mean, variance), (expected, expected_variance) = later.predict(NEW), other.predict(NEW)
    apart = (mean - expected) / np.sqrt(expected_variance)
    chance = np.sqrt(1.0 / size + 1.0 / refit.effective_size)
    assert np.sqrt(np.mean(apart**2)) < 2.0 * chance
    old = (before.predict(NEW)[0] - expected) / np.sqrt(expected_variance)
    assert np.sqrt(np.mean(old**2)) > 3.0 * chance  # the new runs did teach something
    ratio = np.log(variance / expected_variance)
    assert np.sqrt(np.mean(ratio**2)) < 4.0 * chance


def test_where_few_draws_are_left_the_posterior_is_sampled_anew() -> None:
    found, _ = average(X[:8], Y[:8], SETTINGS, 0)
    y = np.append(Y[:15], 30.0)  # a run that nothing announced
    later, fresh = extended(found, X, y, SETTINGS, 0), average(X, y, SETTINGS, 0)[1]
    np.testing.assert_array_equal(later.theta, fresh.theta)
    np.testing.assert_array_equal(later.weight, fresh.weight)


def test_a_posterior_that_is_sampled_anew_says_if_it_cannot_be_trusted() -> None:
    found, _ = average(X[:8], Y[:8], SETTINGS, 0)
    few = replace(SETTINGS, members=members_of(3, "sqexp", 1e-5), max_points=1)
    with pytest.warns(PengpWarning, match="with the further runs cannot be trusted: .*draws"):
        extended(found, X, np.append(Y[:15], 30.0), few, 0)
