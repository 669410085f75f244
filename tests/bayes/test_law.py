import numpy as np
import pytest
from scipy import stats

from pengp.bayes.law import MixtureLaw
from pengp.bayes.student import t_cdf, t_log_density
from pengp.choosing.scores import crps_student_t_values
from pengp.exceptions import InputError


def law(df: int, M: int = 30, spread: float = 1.0) -> MixtureLaw:
    rng = np.random.default_rng([df, M])
    scale = np.exp(spread * rng.normal(size=(4, M)))
    return MixtureLaw(2.0 * rng.normal(size=(4, M)), scale, rng.dirichlet(np.ones(M)), df)


@pytest.mark.parametrize("df", [1, 2, 3, 4, 7, 12, 39, 100])
def test_t_distribution_is_scipy_s(df: int) -> None:
    z = np.concatenate([np.linspace(-30.0, 30.0, 601), [-1e200, 1e200]])
    np.testing.assert_allclose(t_cdf(z, df), stats.t(df).cdf(z), rtol=0, atol=3e-15)
    np.testing.assert_allclose(t_log_density(z[:-2], df), stats.t(df).logpdf(z[:-2]), atol=1e-12)


def test_one_component_is_the_t_distribution() -> None:
    one = MixtureLaw(np.array([[1.0], [-3.0]]), np.array([[2.0], [0.1]]), np.ones(1), 9)
    t = [stats.t(9, 1.0, 2.0), stats.t(9, -3.0, 0.1)]
    y, levels = np.array([0.3, -2.9]), [0.001, 0.2, 0.5, 0.99]
    np.testing.assert_allclose(one.mean(), [1.0, -3.0])
    np.testing.assert_allclose(one.std(), [a.std() for a in t])
    np.testing.assert_allclose(one.quantiles(levels), [a.ppf(levels) for a in t], rtol=1e-9)
    np.testing.assert_allclose(one.interval(0.9)[:, 1], [a.ppf(0.95) for a in t])
    np.testing.assert_allclose(one.log_density(y), [a.logpdf(x) for a, x in zip(t, y, strict=True)])
    expected = crps_student_t_values(y, np.array([1.0, -3.0]), np.array([2.0, 0.1]), 9.0)
    np.testing.assert_allclose(one.crps(y), expected, rtol=1e-6)


@pytest.mark.parametrize("df", [3, 8, 40])
def test_quantiles_and_scores_are_those_of_a_million_draws(df: int) -> None:
    mixed, N = law(df, M=12), 1_000_000
    rng, columns = np.random.default_rng(7), zip(mixed.location, mixed.scale, strict=True)
    chosen = rng.choice(12, size=N, p=mixed.weights)
    draws = np.stack([m[chosen] + s[chosen] * rng.standard_t(df, N) for m, s in columns], axis=-1)
    levels, y = np.array([0.025, 0.5, 0.9]), np.array([0.5, -4.0, 0.0, 3.0])
    error = np.sqrt(levels * (1.0 - levels) / N)
    for k in range(4):
        below = (draws[:, k, None] <= mixed.quantiles(levels)[k]).mean(0)
        assert (np.abs(below - levels) < 3.0 * error).all()
        # CRPS = E|X - y| - E|X - X'| / 2, with pairs of draws for the second mean
        x, other = draws[: N // 2, k], draws[N // 2 :, k]
        terms = np.abs(x - y[k]) - 0.5 * np.abs(x - other)
        score = mixed.crps(y)[k]
        assert abs(terms.mean() - score) < 3.0 * terms.std() / np.sqrt(N // 2)


def test_wide_and_narrow_components_together() -> None:
    mixed = law(8, M=20, spread=3.0)
    levels = np.array([1e-4, 0.3, 0.77])
    x = mixed.quantiles(levels)
    for j, level in enumerate(levels):
        np.testing.assert_allclose(mixed.cdf(x[:, j]), level, rtol=1e-8)
    y = np.arange(4.0)
    by_hand = [integral(mixed.take(slice(k, k + 1)), y[k]) for k in range(4)]
    np.testing.assert_allclose(mixed.crps(y), by_hand, rtol=1e-3)


def integral(one: MixtureLaw, y: float) -> float:
    """Return the integral of (F(x) - [x >= y])^2, by Gauss's rule between all quantiles."""
    tail = [1e-12, 1e-10, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.03]
    levels = np.concatenate([tail, np.linspace(0.06, 0.94, 15), 1.0 - np.array(tail)])
    t = stats.t(one.df).ppf(levels)
    ends = np.unique(np.append(one.location[0] + one.scale[0] * t[:, None], y))
    nodes, weights = np.polynomial.legendre.leggauss(8)
    half, middle = 0.5 * np.diff(ends), 0.5 * (ends[1:] + ends[:-1])
    x = middle[:, None] + half[:, None] * nodes
    z = (x[..., None] - one.location[0]) / one.scale[0]
    F = stats.t(one.df).cdf(z) @ one.weights
    return float(half @ ((F - (x >= y)) ** 2 @ weights))


def test_weights_may_differ_between_points() -> None:
    mixed = law(6)
    each = MixtureLaw(mixed.location, mixed.scale, np.tile(mixed.weights, (4, 1)), 6)
    y = np.arange(4.0)
    np.testing.assert_allclose(each.crps(y), mixed.crps(y))
    np.testing.assert_allclose(each.quantiles([0.1]), mixed.quantiles([0.1]))
    np.testing.assert_allclose(each.variance(), mixed.variance())


def test_limits() -> None:
    assert np.isinf(law(2).variance()).all()
    with pytest.raises(InputError, match="between 0 and 1"):
        law(5).quantiles([0.0, 0.5])
    with pytest.raises(InputError, match="more than one degree"):
        law(1).crps(np.zeros(4))
