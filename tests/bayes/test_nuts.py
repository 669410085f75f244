from functools import partial

import numpy as np
import pytest
from scipy.linalg import solve_triangular

from benchmarks import nuts
from pengp.bayes.priors import get_prior
from pengp.bayes.target import Target
from tests.bayes.data import runs


@pytest.mark.parametrize("d", [2, 6])
def test_the_rival_of_the_benchmark_samples_the_same_posterior(d: int) -> None:
    X, y = runs(12, d)
    target = Target(nuts.MEMBER, X, y, get_prior("hierarchical-lasso"))
    u = np.random.default_rng(0).uniform(-8.0, 3.0, (40, d))
    density = target.likelihood(u)[0] + target.log_prior(u)
    potential = partial(nuts.potential, np, solve_triangular, nuts.constants(X, y))
    total = density + [potential(each) for each in u]
    np.testing.assert_allclose(total, total[0], atol=1e-6)
    assert np.ptp(density) > 10.0  # or a constant would do
