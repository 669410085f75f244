import numpy as np
import pytest

from pengp import BayesianGPRegressor
from pengp.bayes.components import thin
from pengp.bayes.insight import activity, explanations, nearest_mode
from pengp.bayes.members import Member
from pengp.bayes.sample import sample_posterior
from pengp.bayes.trust import Halves, compare_halves, problems
from pengp.model.kernels import SquaredExponential
from pengp.model.means import ZERO
from tests.bayes.data import runs

SMOOTH = Member(SquaredExponential(), 1e-6, ZERO)


def test_inputs_that_matter_and_inputs_that_do_not() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((25, 4))
    y = np.sin(5.0 * X[:, 0]) + 1.5 * X[:, 2]  # a bend, a line, and two inert inputs
    y = (y - y.mean()) / y.std()
    sample = sample_posterior(X, y, members=(SMOOTH,), random_state=0)
    found = activity(sample, sample.y)
    assert (found.probability[[0, 2]] > 0.95).all()
    assert (found.probability[[1, 3]] < 0.3).all()
    assert found.lengthscale[0, 1] < found.lengthscale[2, 1] < found.lengthscale[1, 1]
    # By hand, for the draw that weighs most.
    k = int(sample.draws.weight.argmax())
    change = np.sqrt(2.0 * sample.draws.sigma2[k] * (1.0 - np.exp(-sample.draws.theta[k])))
    assert (change[[0, 2]] > found.change[[0, 2], 0] * 0.8).all()
    strict = activity(sample, sample.y, threshold=1e6)
    assert not strict.probability.any()


def test_weighted_quantiles_of_the_lengthscale() -> None:
    sample = sample_posterior(*runs(8, 1), members=(SMOOTH,), random_state=0)
    draws = sample.draws
    middle = activity(sample, sample.y).lengthscale[0, 1]
    assert draws.weight[1.0 / np.sqrt(draws.theta[:, 0]) <= middle].sum() == pytest.approx(
        0.5, abs=0.01
    )


def test_two_explanations_share_the_weight() -> None:
    # y follows either input alike: the two columns are almost copies of each other.
    rng = np.random.default_rng(2)
    x = rng.random(9)
    X = np.column_stack([x, np.clip(x + 0.02 * rng.normal(size=9), 0.0, 1.0)])
    y = np.sin(6.0 * x)
    y = (y - y.mean()) / y.std()
    sample = sample_posterior(
        X, y, members=(Member(SquaredExponential(), 1e-2, ZERO),), random_state=0
    )
    found = explanations(sample)
    assert sum(e.weight for e in found) == pytest.approx(1.0)
    assert [e.weight for e in found] == sorted((e.weight for e in found), reverse=True)
    sampler = sample.samplers[0]
    owner = nearest_mode(sampler)
    modes = sampler.modes.u
    for k, u in enumerate(modes):  # a mode is its own
        near = np.abs(sampler.u - u).max(-1).argmin()
        assert owner[near] == k


def test_halves_agree_and_problems_are_told() -> None:
    sample = sample_posterior(*runs(10, 3), members=(SMOOTH,), random_state=0)
    halves = compare_halves(sample, thin(sample).drawn)
    assert halves.mean_difference < 0.2
    assert halves.std_ratio < 0.2
    assert problems(sample, halves) == []
    told = problems(sample, Halves(0.9, 0.5))
    assert len(told) == 1
    assert "0.90 standard deviations" in told[0]
    few = problems(sample, halves, thinning=0.4)
    assert len(few) == 1
    assert "0.40 standard deviations; raise n_components" in few[0]
    assert "n_components" in BayesianGPRegressor().get_params()
    poor = sample_posterior(*runs(30, 8), members=(SMOOTH,), max_points=1, random_state=0)
    assert poor.effective_size < 200.0
    told = problems(poor, halves)
    assert any("effective number of draws" in text for text in told)
    # What is advised exists.
    advised = "effective_size and max_points of BayesianGPRegressor", "max_points of"
    assert all(any(f"raise {words}" in text for words in advised) for text in told)
    assert {"effective_size", "max_points"} <= set(BayesianGPRegressor().get_params())
