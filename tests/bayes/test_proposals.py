import numpy as np
import pytest
from scipy import stats

from pengp.bayes.proposals import Blend, StudentMixture

RNG = np.random.default_rng(0)


def mixture(P: int, df: int) -> StudentMixture:
    A = RNG.normal(size=(P, P))
    root = np.asarray(np.linalg.cholesky(A @ A.T + np.eye(P)), dtype=np.float64)
    return StudentMixture(RNG.normal(size=(3, P)), root, df, np.array([0.2, 0.5, 0.3]))


@pytest.mark.parametrize(("P", "df"), [(1, 4), (2, 8), (5, 4), (6, 3)])
def test_density_is_scipy_s(P: int, df: int) -> None:
    q, u = mixture(P, df), 5.0 * RNG.normal(size=(50, P))
    S = q.root @ q.root.T
    laws = [stats.multivariate_t(c, S, df) for c in q.centres]
    by_hand = sum(w * np.atleast_1d(t.pdf(u)) for w, t in zip(q.weights, laws, strict=True))
    np.testing.assert_allclose(q.density(u), by_hand, rtol=1e-9)


def test_draws_follow_the_density() -> None:
    blend = Blend((mixture(3, 4), mixture(3, 8)), np.array([0.3, 0.7]))
    u = blend.sample(np.random.default_rng(1), 200_000)
    inner = stats.multivariate_normal(u.mean(0), 0.3 * np.eye(3))
    ratio = inner.pdf(u) / blend.density(u)  # has mean 1
    assert ratio.mean() == pytest.approx(1.0, abs=4 * ratio.std() / np.sqrt(len(u)))
    assert ratio.std() / np.sqrt(len(u)) < 0.02
