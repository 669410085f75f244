import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import gamma as gamma_function

from pengp.bayes.priors import PRIORS, Gamma, HierarchicalLasso, JointlyRobust, Prior, get_prior
from pengp.exceptions import InputError
from pengp.path import joint

X = np.random.default_rng(0).random((9, 3))
ALL: list[Prior] = [
    HierarchicalLasso(),
    HierarchicalLasso(a=1.0, rates=(0.5, 8.0), n_rates=5),
    HierarchicalLasso(a=(0.3, 1.0, 4.0), rates=(0.5, 8.0), n_rates=3),
    Gamma(0.4, 2.0),
    JointlyRobust().for_runs(X),
    JointlyRobust(a=1.5, b=2.0, scales=(0.3, 1.0, 2.0)),
]


@pytest.mark.parametrize("prior", ALL, ids=repr)
def test_derivatives_are_finite_differences(prior: Prior) -> None:
    u, h = np.random.default_rng(1).normal(-1.0, 1.5, size=(20, 3)), 1e-5
    steps = h * np.eye(3)
    slope = np.stack([(prior.value(u + e) - prior.value(u - e)) / (2 * h) for e in steps], -1)
    bend = np.stack([(prior.gradient(u + e) - prior.gradient(u - e)) / (2 * h) for e in steps], -1)
    np.testing.assert_allclose(prior.gradient(u), slope, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(prior.hessian(u), bend, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("prior", ALL, ids=repr)
def test_draws_follow_the_density(prior: HierarchicalLasso) -> None:
    # E[exp(log s - log p)] = 1 for any density s, here a normal one; both must be normalised.
    u = prior.sample(np.random.default_rng(2), 200_000, 3)
    inner = stats.multivariate_normal(u.mean(0), 0.25 * np.cov(u.T))
    ratio = np.exp(inner.logpdf(u) - prior.value(u))
    assert ratio.mean() == pytest.approx(1.0, abs=4 * ratio.std() / np.sqrt(len(u)))
    assert ratio.std() / np.sqrt(len(u)) < 0.02


def test_hierarchical_lasso_is_the_mean_over_shapes_and_rates_of_gamma_densities() -> None:
    theta = np.array([0.3, 2.0, 0.01])
    rates = np.exp(np.linspace(np.log(0.1), np.log(100.0), 20))
    pairs = [(a, r) for a in (2 / 3, 1 / 3) for r in rates]
    laws = [stats.gamma(a, scale=1 / r) for a, r in pairs]  # of theta + e, beyond e
    by_hand = np.mean([(law.pdf(theta + 1e-6) / law.sf(1e-6)).prod() for law in laws])
    expected = np.log(by_hand * theta.prod())  # d theta = theta du
    assert HierarchicalLasso().value(np.log(theta)[None])[0] == pytest.approx(expected, abs=1e-12)


def test_an_input_that_never_varied_leaves_the_prior_of_the_others() -> None:
    with_constant = HierarchicalLasso().for_runs(np.column_stack([X[:, 0], np.ones(9), X[:, 1]]))
    v, u = np.linspace(-60.0, 8.0, 20_001), np.array([0.3, -2.0])
    both = np.column_stack([np.full_like(v, u[0]), v, np.full_like(v, u[1])])
    marginal = np.log(np.trapezoid(np.exp(with_constant.value(both)), v))
    assert marginal == pytest.approx(HierarchicalLasso().value(u[None])[0], abs=1e-9)
    assert HierarchicalLasso(a=0.7).for_runs(X) == HierarchicalLasso(a=(0.7,))


def test_jointly_robust_takes_an_input_that_never_varied() -> None:
    prior = JointlyRobust().for_runs(np.column_stack([X[:, 0], np.ones(9)]))
    assert prior.scales == pytest.approx((np.ptp(X[:, 0]) / 3.0, 1.0 / 3.0), rel=1e-12)


def test_a_small_shape_spreads_log_theta_over_few_decades_only() -> None:
    u = HierarchicalLasso(a=0.1, rates=(1.0, 1.0), n_rates=1).sample(
        np.random.default_rng(5), 20_000, 1
    )
    law = stats.gamma(0.1)
    for bound in (1e-7, 1e-3, 0.5):
        share = (law.cdf(bound + 1e-6) - law.cdf(1e-6)) / law.sf(1e-6)
        spread = np.sqrt(share * (1 - share) / len(u))
        assert (np.exp(u) < bound).mean() == pytest.approx(share, abs=4 * spread)


def test_with_one_input_nothing_is_sparse() -> None:
    u = np.linspace(-3.0, 2.0, 6)[:, None]
    np.testing.assert_array_equal(HierarchicalLasso().value(u), HierarchicalLasso(a=2.0).value(u))


def test_with_one_rate_and_shape_one_it_is_the_paper_s_exponential() -> None:
    u = np.random.default_rng(3).normal(size=(4, 3))
    one = HierarchicalLasso(a=1.0, rates=(3.0, 3.0), n_rates=1)
    np.testing.assert_allclose(one.value(u), (np.log(3.0) - 3.0 * np.exp(u) + u).sum(-1))
    assert one.value(u - 40.0) == pytest.approx((np.log(3.0) + u - 40.0).sum(-1))  # whatever e is
    np.testing.assert_allclose(one.value(u), Gamma(1.0, 3.0).value(u))


def test_jointly_robust_has_the_published_density() -> None:
    n, d = X.shape
    C, b = np.ptp(X, axis=0) / n ** (1 / d), 3.2 * n ** (-1 / d)
    beta = np.array([0.7, 2.0, 0.1])
    t = C @ beta
    constant = 2.0 * b**3.2 * C.prod() / gamma_function(3.2)
    density = constant * t**0.2 * np.exp(-b * t) * np.prod(beta / 2)  # d beta = beta / 2 du
    prior = JointlyRobust().for_runs(X)
    assert prior.value(2 * np.log(beta)[None])[0] == pytest.approx(np.log(density), abs=1e-12)
    one = JointlyRobust(b=1.3, scales=(0.8,))
    total = integrate.quad(lambda u: np.exp(one.value(np.array([[u]]))[0]), -60.0, 12.0)[0]
    assert total == pytest.approx(1.0, abs=1e-6)


def test_jointly_robust_is_the_penalty_s_prior_without_a_nugget() -> None:
    u = np.random.default_rng(4).normal(size=(6, 3))
    params = np.column_stack([np.exp(u), np.zeros(6)])
    term = joint.JointlyRobust().for_runs(X[None], isotropic=False)
    penalty = term.value(np.zeros(6, dtype=np.int64), params, np.ones(6))
    ours = JointlyRobust().for_runs(X).value(u) - 0.5 * u.sum(-1)  # without the Jacobian of beta
    np.testing.assert_allclose(ours - ours[0], penalty[0] - penalty, atol=1e-10)


def test_names_and_objects() -> None:
    assert {get_prior(name) for name in PRIORS} == set(PRIORS.values())
    own = Gamma(2.0, 2.0)
    assert get_prior(own) is own
    with pytest.raises(InputError, match="hierarchical-lasso"):
        get_prior("horseshoe")
    with pytest.raises(InputError, match="runs to take them from"):
        JointlyRobust().value(np.zeros((1, 2)))
    for wrong in ({"a": 0.0}, {"a": (1.0, -1.0)}, {"rates": (2.0, 1.0)}, {"n_rates": 0}):
        with pytest.raises(InputError):
            HierarchicalLasso(**wrong)
    with pytest.raises(InputError):
        Gamma(rate=np.inf)
    with pytest.raises(InputError):
        JointlyRobust(a=-2.0)
