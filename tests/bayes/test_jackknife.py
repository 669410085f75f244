"""Predictions of new inputs by the posteriors that leave out one run each."""

import numpy as np
import pytest

from pengp import BayesianGPRegressor
from pengp.bayes.average import Average
from pengp.bayes.jackknife import _left_out_weights, left_out_means

RNG = np.random.default_rng(0)
X = RNG.random((9, 2))
Y = np.sin(4.0 * X[:, 0]) + X[:, 1] ** 2
NEW = RNG.random((5, 2))


@pytest.fixture(scope="module")
def fitted() -> BayesianGPRegressor:
    bounds = [(0.0, 1.0)] * 2
    return BayesianGPRegressor(input_bounds=bounds, random_state=0).fit(X, Y)


def average_of(fitted: BayesianGPRegressor) -> Average:
    found = fitted._averages[0]
    assert found is not None
    return found


def test_means_are_those_of_processes_without_the_run(fitted: BayesianGPRegressor) -> None:
    average = average_of(fitted)
    left = left_out_means(average, X)
    means, y = left.means(NEW), average.y
    nuggets = {k: member.nugget for k, member in enumerate(average.members)}
    for i in (0, 4):
        others = np.arange(9) != i
        slow, at_run = np.zeros(5), 0.0
        rows = zip(left.member, left.theta, left.weight[:, i], strict=True)
        for k, theta, weight in rows:
            nugget = nuggets[int(k)]
            assert isinstance(nugget, float)
            member = average.members[k]
            process = member.condition(X[others], y[others], theta, nugget)
            slow += weight * process.predict_mean(NEW)
            at_run += weight * process.predict_mean(X[[i]])[0]
        np.testing.assert_allclose(means[:, i], slow, rtol=1e-6, atol=1e-8)
        assert left.residuals[i] == pytest.approx(abs(y[i] - at_run), rel=1e-5)


def test_draws_are_weighted_by_the_likelihood_without_the_run(fitted: BayesianGPRegressor) -> None:
    average = average_of(fitted)
    weight, draws = _left_out_weights(average, X), average.draws
    np.testing.assert_allclose(weight.sum(0), 1.0, rtol=1e-12)
    some = np.argsort(-draws.weight)[:40]
    for i in (2, 7):
        others, changes = np.arange(9) != i, []
        for j in some:
            member, u = average.members[draws.member[j]], np.log(draws.theta[[j]])
            one = np.zeros(1, dtype=np.int64)
            values = [
                member.likelihood(X[k], average.y[k]).evaluate(one, u, derivatives=False).value[0]
                for k in (others, slice(None))
            ]
            changes.append(values[0] - values[1])
        slow = draws.weight[some] * np.exp(changes)
        ratio = weight[some, i] / slow
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-5)


def test_few_draws_tell_what_the_held_out_runs_say(fitted: BayesianGPRegressor) -> None:
    left, held = left_out_means(average_of(fitted), X), fitted.held_out()
    sd = Y.std(ddof=1)
    assert np.abs(sd * left.residuals - np.abs(held.y - held.mean)).max() < 0.15 * held.std.max()
