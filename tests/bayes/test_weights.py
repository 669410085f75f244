import numpy as np
import pytest
from scipy import stats

from pengp.bayes.weights import (
    effective_size,
    generalised_pareto_shape,
    log_mean,
    normalised,
    pareto_shape,
    tempered,
)


def test_effective_size_of_equal_and_of_single_weights() -> None:
    assert effective_size(np.ones(7)) == pytest.approx(7.0)
    assert effective_size(np.array([0.0, 3.0, 0.0])) == pytest.approx(1.0)
    assert effective_size(np.array([2.0, 1.0])) == pytest.approx(9.0 / 5.0)


def test_log_mean_and_its_error() -> None:
    w = np.random.default_rng(0).lognormal(size=4000)
    value, error = log_mean(np.log(w) + 900.0)  # would overflow as weights
    assert value == pytest.approx(np.log(w.mean()) + 900.0, abs=1e-10)
    assert error == pytest.approx(w.std() / w.mean() / np.sqrt(len(w)), rel=1e-10)


def test_tempering_is_the_largest_exponent_that_is_enough() -> None:
    logs = 6.0 * np.random.default_rng(1).normal(size=500)
    w = tempered(logs, 60.0)
    assert effective_size(w) == pytest.approx(60.0, abs=1e-6)
    exponent = np.diff(np.log(w)) / np.diff(logs)
    np.testing.assert_allclose(exponent, exponent[0])
    np.testing.assert_array_equal(tempered(0.01 * logs, 60.0), normalised(0.01 * logs))


def test_weights_that_are_all_0_are_equal() -> None:
    assert tempered(np.full(4, -np.inf), 2.0).tolist() == [0.25] * 4


@pytest.mark.parametrize("shape", [-0.3, 0.1, 0.5, 0.9])
def test_pareto_shape_of_known_tails(shape: float) -> None:
    n = 20_000
    x = np.sort(stats.genpareto(shape, scale=2.0).rvs(n, random_state=np.random.default_rng(2)))
    # Variance of the maximum likelihood estimate: (1 + k)^2 / n, where it is regular.
    assert generalised_pareto_shape(x) == pytest.approx(shape, abs=4 * (1 + shape) / np.sqrt(n))
    if shape > 0:  # any distribution in its domain of attraction
        w = stats.pareto(1 / shape).rvs(n, random_state=np.random.default_rng(3))
        assert pareto_shape(np.log(w)) == pytest.approx(shape, abs=0.2)


def test_shape_of_too_few_and_of_equal_weights() -> None:
    assert pareto_shape(np.zeros(10)) == np.inf
    assert pareto_shape(np.zeros(100)) == -np.inf
