"""Predictions of new inputs by the posteriors that leave out one run each."""

from dataclasses import replace

import numpy as np
import pytest

from pengp import BayesianGPRegressor
from pengp.bayes.average import Average, Settings, average, sampled
from pengp.bayes.heldout import leave_out
from pengp.bayes.jackknife import _left_out_weights, left_out_means
from pengp.bayes.members import Member
from pengp.bayes.priors import HierarchicalLasso
from pengp.bayes.weights import effective_size
from pengp.model.kernels import SquaredExponential
from pengp.model.means import ZERO
from tests.bayes.data import runs

RNG = np.random.default_rng(0)
X = RNG.random((9, 2))
Y = np.sin(4.0 * X[:, 0]) + X[:, 1] ** 2
NEW = RNG.random((5, 2))
NEW6 = RNG.random((4, 6))


@pytest.fixture(scope="module")
def fitted() -> BayesianGPRegressor:
    bounds = [(0.0, 1.0)] * 2
    return BayesianGPRegressor(input_bounds=bounds, random_state=0).fit(X, Y)


def average_of(fitted: BayesianGPRegressor) -> Average:
    found = fitted._averages[0]
    assert found is not None
    return found


def test_means_are_those_of_processes_without_the_run(fitted: BayesianGPRegressor) -> None:
    known = average_of(fitted)
    left = left_out_means(known, X, fitted._settings)
    means, y = left.means(NEW), known.y
    nuggets = {k: member.nugget for k, member in enumerate(known.members)}
    for i in (0, 4):
        others = np.arange(9) != i
        slow, at_run = np.zeros(5), 0.0
        rows = zip(left.member, left.theta, left.weight[:, i], strict=True)
        for k, theta, weight in rows:
            nugget = nuggets[int(k)]
            assert isinstance(nugget, float)
            member = known.members[k]
            process = member.condition(X[others], y[others], theta, nugget)
            slow += weight * process.predict_mean(NEW)
            at_run += weight * process.predict_mean(X[[i]])[0]
        np.testing.assert_allclose(means[:, i], slow, rtol=1e-6, atol=1e-8)
        assert left.residuals[i] == pytest.approx(abs(y[i] - at_run), rel=1e-5)


def test_draws_are_weighted_by_the_likelihood_without_the_run(fitted: BayesianGPRegressor) -> None:
    known = average_of(fitted)
    weight, draws = _left_out_weights(known, X), known.draws
    np.testing.assert_allclose(weight.sum(0), 1.0, rtol=1e-12)
    some = np.argsort(-draws.weight)[:40]
    for i in (2, 7):
        others, changes = np.arange(9) != i, []
        for j in some:
            member, u = known.members[draws.member[j]], np.log(draws.theta[[j]])
            one = np.zeros(1, dtype=np.int64)
            values = [
                member.likelihood(X[k], known.y[k]).evaluate(one, u, derivatives=False).value[0]
                for k in (others, slice(None))
            ]
            changes.append(values[0] - values[1])
        slow = draws.weight[some] * np.exp(changes)
        ratio = weight[some, i] / slow
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-5)


def test_few_draws_tell_what_the_held_out_runs_say(fitted: BayesianGPRegressor) -> None:
    left, held = left_out_means(average_of(fitted), X, fitted._settings), fitted.held_out()
    sd = Y.std(ddof=1)
    assert np.abs(sd * left.residuals - np.abs(held.y - held.mean)).max() < 0.15 * held.std.max()


def test_a_thin_posterior_gets_more_draws_from_a_file_as_well() -> None:
    X, y = runs(16, 6)
    y = y + np.where(np.arange(16) == 3, 3.0, 0.0)  # one run that changes everything
    members = (Member(SquaredExponential(), 1e-5, ZERO),)
    settings = Settings(members, HierarchicalLasso(), 300.0, 30_000, 100)
    found, _ = average(X, y, settings, 0)
    assert effective_size(_left_out_weights(found, X).T).min() < 100.0
    left = left_out_means(found, X, settings, 0)
    assert left.effective_size.min() >= 100.0
    held = leave_out(sampled(X, y, settings, 0), random_state=5)
    # Both have an error of at most a tenth of the sd, and few of the draws predict.
    noise = np.sqrt(1 / left.effective_size + 1 / held.effective_size + 1 / 50)
    assert (np.abs(left.residuals - np.abs(y - held.mean)) < 4.0 * noise * held.std).all()
    loaded = replace(found, source=found.held_out)
    np.testing.assert_allclose(left_out_means(loaded, X, settings, 0).means(NEW6), left.means(NEW6))
