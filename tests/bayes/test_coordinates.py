import numpy as np
import pytest
from scipy import stats

from pengp.bayes.coordinates import Stretched, normal_coordinates
from pengp.bayes.priors import HierarchicalLasso
from pengp.bayes.proposals import StudentMixture

DRAWS = HierarchicalLasso().sample(np.random.default_rng(0), 4000, 3)
MAP = normal_coordinates(DRAWS, (-5.0, 0.0))


def test_the_prior_becomes_standard_normal() -> None:
    fresh = HierarchicalLasso().sample(np.random.default_rng(2), 4000, 3)
    fresh = np.column_stack([fresh, np.random.default_rng(3).uniform(-5.0, 0.0, 4000)])
    z = MAP.inner(fresh)
    for column in z.T:
        # Both the map and these draws have sampling errors, of about sqrt(1 / 4000) each.
        assert stats.kstest(column, "norm").statistic < 3.0 * np.sqrt(2.0 / 4000)


def test_there_and_back() -> None:
    z = np.linspace(-8.0, 8.0, 101)[:, None] * np.ones(4)
    u = MAP.outer(z)
    assert (np.diff(u, axis=0) > 0.0).all()
    np.testing.assert_allclose(MAP.inner(u), z, atol=1e-9)
    step = 1e-6
    slope = (MAP.inner(u + step) - MAP.inner(u - step)) / (2.0 * step)
    smooth = np.abs(MAP.inner(u + step) + MAP.inner(u - step) - 2.0 * z).max(-1) < 1e-9
    assert smooth.sum() > 80  # the others are at knots
    np.testing.assert_allclose(MAP.log_slope(u)[smooth], np.log(slope).sum(-1)[smooth], rtol=1e-6)


def test_a_stretched_density_integrates_to_one() -> None:
    inner = StudentMixture(np.zeros((1, 4)), np.eye(4), 8, np.ones(1))
    q = Stretched(inner, MAP)
    u = q.sample(np.random.default_rng(4), 50_000)
    other = stats.multivariate_normal(np.zeros(4), 0.3 * np.eye(4))
    # A density of u over q has mean 1 under q.
    ratio = other.pdf(MAP.inner(u)) * np.exp(MAP.log_slope(u)) / q.density(u)
    assert ratio.mean() == pytest.approx(1.0, abs=4.0 * ratio.std() / np.sqrt(len(u)))
    box = stats.multivariate_normal(u.mean(0), 0.5 * np.eye(4))
    ratio = box.pdf(u) / q.density(u)
    error = ratio.std() / np.sqrt(len(u))
    assert error < 0.05
    assert ratio.mean() == pytest.approx(1.0, abs=4.0 * error)
