"""Uncorrelated errors of test runs: by hand, by their definition, and their laws by simulation."""

import numpy as np
import pytest
from scipy.stats import chi2, kstest

from pengp.choosing.pivoted import PivotedFactor, SimulatedReference, StudentReference
from pengp.model import condition, get_kernel


def test_two_runs_by_hand() -> None:
    V = np.array([[1.0, 1.2], [1.2, 4.0]])
    factor = PivotedFactor.of(V)
    assert factor.order.tolist() == [1, 0]  # the larger variance first
    first = 3.0 / 2.0
    rest = (2.0 - 1.2 / 4.0 * 3.0) / np.sqrt(1.0 - 1.2**2 / 4.0)
    errors = factor.errors(np.array([2.0, 3.0]))
    np.testing.assert_allclose(errors, [first, rest], rtol=1e-14)
    assert errors @ errors == pytest.approx(
        np.array([2.0, 3.0]) @ np.linalg.inv(V) @ [2.0, 3.0], rel=1e-13
    )


def test_each_run_has_the_largest_variance_given_those_before() -> None:
    rng = np.random.default_rng(1)
    A = rng.standard_normal((7, 7))
    V = A @ A.T
    order = PivotedFactor.of(V).order
    for k in range(7):
        known, left = order[:k], order[k:]
        C = V[np.ix_(left, left)]
        if k:
            B = V[np.ix_(left, known)]
            C = C - B @ np.linalg.solve(V[np.ix_(known, known)], B.T)
        assert np.diagonal(C).argmax() == 0


def test_pivoted_errors_are_uncorrelated_with_variance_1() -> None:
    rng = np.random.default_rng(2)
    A = rng.standard_normal((6, 6))
    factor = PivotedFactor.of(A @ A.T)
    M = factor.errors(A.T)  # the rows of A' are errors whose second moments add up to V
    np.testing.assert_allclose(M.T @ M, np.eye(6), atol=1e-10)


def test_runs_that_others_determine_are_left_out() -> None:
    A = np.random.default_rng(3).standard_normal((5, 3))
    factor = PivotedFactor.of(A @ A.T)
    assert len(factor.order) == 3
    e = A @ np.array([1.0, -2.0, 0.5])
    assert factor.errors(e) @ factor.errors(e) == pytest.approx(1.0 + 4.0 + 0.25, rel=1e-10)


@pytest.mark.parametrize("mean", ["zero", "constant"])
def test_the_distance_is_scaled_f_where_sigma2_is_estimated(mean: str) -> None:
    from pengp.model.means import get_mean

    rng, n, m = np.random.default_rng(4), 8, 5
    X, theta = rng.random((n + m, 2)), np.array([3.0, 1.0])
    kernel, basis = get_kernel("matern52"), get_mean(mean)
    q = len(basis.columns(X)[0])
    prior = condition(X[:1], np.zeros(1), theta, kernel=kernel, nugget=1e-6, sigma2=1.0)
    root = np.linalg.cholesky(prior._prior_correlations(X))
    reference = StudentReference(n - q, n / (n - q))
    distances, tails, known, balances = [], [], [], []
    for _ in range(1000):
        y = 7.0 * root @ rng.standard_normal(n + m)
        process = condition(X[:n], y[:n], theta, kernel=kernel, nugget=1e-6, mean=basis)
        centre, cov = process.predict_cov(X[n:])
        errors = PivotedFactor.of(process.sigma2 * cov).errors(y[n:] - centre)
        distances.append(errors @ errors)
        tails.append(reference.tails(errors)[1])
        balances.append(reference.balance(errors)[1])
        known.append(chi2.sf(errors @ errors, m))
    assert kstest(tails, "uniform").pvalue > 0.01
    assert kstest(balances, "uniform").pvalue > 0.01
    assert kstest(known, "uniform").pvalue < 1e-6  # chi-squared would be wrong here
    assert np.mean(distances) == pytest.approx(reference.expected(m), rel=0.15)


def test_a_known_variance_is_the_limit() -> None:
    errors = np.array([1.0, -0.5, 2.0])
    below, above = StudentReference(np.inf, 1.0).tails(errors)
    assert above == pytest.approx(chi2.sf(5.25, 3), rel=1e-9)
    assert below + above == pytest.approx(1.0, rel=1e-12)
    assert StudentReference(np.inf, 1.0).band(2, 0.95)[1, 1] == pytest.approx(1.959964, rel=1e-6)


def test_a_simulated_law_agrees_with_the_one_it_is_drawn_from() -> None:
    rng, df = np.random.default_rng(5), 6
    draws = rng.standard_normal((20_000, 4)) / np.sqrt(rng.chisquare(df, (20_000, 1)) / df)
    errors = np.array([1.0, -2.0, 0.3, 1.5])
    exact, simulated = StudentReference(df, 1.0), SimulatedReference(draws)
    np.testing.assert_allclose(simulated.tails(errors), exact.tails(errors), atol=0.012)
    np.testing.assert_allclose(simulated.balance(errors), exact.balance(errors), atol=0.012)
    # (0.3^2 + 1.5^2) / (1 + 2^2) against F(2, 2), whose distribution function is x / (1 + x).
    ratio = 2.34 / 5.0
    assert exact.balance(errors)[0] == pytest.approx(ratio / (1.0 + ratio), rel=1e-9)
    np.testing.assert_allclose(simulated.band(4, 0.9), exact.band(4, 0.9), atol=0.07)
