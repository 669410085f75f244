"""The marginal likelihood against integrals, plain formulas and finite differences."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

from pengp import InputError, penalized_path
from pengp._core.arrays import FloatArray
from pengp.model.kernels import KERNELS
from pengp.model.large import LargeLikelihood
from pengp.model.likelihood import BatchLikelihood
from pengp.model.means import MEANS, ConstantMean, Mean
from tests.problems import BASES, correlation, smooth_runs

ENGINES: tuple[Any, ...] = (BatchLikelihood, LargeLikelihood)
each_engine = pytest.mark.parametrize("engine", ENGINES)
each_mean = pytest.mark.parametrize("mean", BASES)


def marginal_by_hand(
    X: FloatArray, y: FloatArray, theta: FloatArray, nugget: float, mean: str
) -> float:
    """Return the formula of RobustGaSP for a trend with a flat prior, by dense matrices."""
    R, F = correlation(X, theta, nugget, "sqexp"), BASES[mean](X)
    n, k = F.shape
    V = np.linalg.inv(R)
    value = -0.5 * np.linalg.slogdet(R)[1]
    P = V
    if k:
        G = F.T @ V @ F
        P = V - V @ F @ np.linalg.inv(G) @ F.T @ V
        value -= 0.5 * np.linalg.slogdet(G)[1]
    return float(value - 0.5 * (n - k) * np.log(y @ P @ y))


def engine_of(engine: Any, mean: Mean, nugget: float | None, F: int = 2) -> Any:
    """Return the marginal likelihoods of F data sets of 9 runs of two inputs."""
    runs = [smooth_runs(9, 2, seed) for seed in range(F)]
    X, y = np.stack([r[0] for r in runs]), np.stack([r[1] for r in runs]) + 0.7
    return engine(X, y, KERNELS["sqexp"], nugget, mean=mean, marginal=True)


@each_engine
@each_mean
def test_values_against_plain_dense_formulas(engine: Any, mean: str) -> None:
    lik = engine_of(engine, MEANS[mean], None)
    rng = np.random.default_rng(0)
    point = np.column_stack([rng.uniform(-1.0, 2.0, (6, 2)), rng.uniform(-6.0, -2.0, 6)])
    which = np.array([0, 1, 1, 0, 1, 0])
    for derivatives in (True, False):
        at = lik.evaluate(which, point, derivatives=derivatives)
        expected = [
            marginal_by_hand(lik.X[f], lik.y[f], np.exp(u[:2]), float(np.exp(u[2])), mean)
            for f, u in zip(which, point, strict=True)
        ]
        assert np.allclose(at.value, expected, rtol=1e-9)


@each_engine
@each_mean
@pytest.mark.parametrize("nugget", [1e-3, None], ids=["fixed", "estimated"])
def test_derivatives_against_finite_differences(
    engine: Any, mean: str, nugget: float | None
) -> None:
    lik = engine_of(engine, MEANS[mean], nugget)
    P, h, which = lik.n_params, 1e-5, np.array([0, 1])
    point = np.array([[0.3, -0.8, -4.0], [1.1, 0.4, -3.0]])[:, :P]
    at = lik.evaluate(which, point)
    for p in range(P):
        e = h * np.eye(P)[p]
        up, down = lik.evaluate(which, point + e), lik.evaluate(which, point - e)
        slope = (up.value - down.value) / (2 * h)
        assert np.allclose(at.gradient[:, p], slope, rtol=1e-6, atol=1e-6)
        if engine is BatchLikelihood:
            curvature = (up.gradient - down.gradient) / (2 * h)
            assert np.allclose(at.hessian[:, :, p], curvature, rtol=1e-5, atol=1e-6)


def test_it_is_the_integral_over_the_mean_and_sigma2() -> None:
    X, y = smooth_runs(5, 1)
    y, nugget = y + 0.4, 1e-2

    def log_integral(theta: float) -> float:
        R = correlation(X, np.array([theta]), nugget, "sqexp")
        V, size = np.linalg.inv(R), np.linalg.slogdet(R)[1]

        def over_mean(log_sigma2: float) -> float:
            sigma = np.exp(0.5 * log_sigma2)

            def density(t: float) -> float:  # of the mean y-bar + sigma t
                r = y - y.mean() - sigma * t
                exponent = 5 * log_sigma2 + size + r @ V @ r / sigma**2
                return float(sigma * np.exp(-0.5 * exponent))

            return float(quad(density, -20.0, 20.0, points=[0.0], limit=400)[0])

        return float(np.log(quad(over_mean, -8.0, 16.0, limit=200)[0]))

    lik = BatchLikelihood(
        X[None], y[None], KERNELS["sqexp"], nugget, mean=ConstantMean(), marginal=True
    )
    thetas = np.array([2.0, 9.0])
    ours = lik.evaluate(np.zeros(2, dtype=np.int64), np.log(thetas)[:, None]).value
    theirs = [log_integral(theta) for theta in thetas]
    assert ours[1] - ours[0] == pytest.approx(theirs[1] - theirs[0], abs=1e-5)


@each_engine
def test_without_a_trend_it_is_the_profile_likelihood(engine: Any) -> None:
    marginal = engine_of(engine, MEANS["zero"], 1e-3)
    profile = engine(marginal.X, marginal.y, marginal.kernel, 1e-3)
    which, point = np.array([0, 1]), np.array([[0.3, -0.8], [1.1, 0.4]])
    a, b = marginal.evaluate(which, point), profile.evaluate(which, point)
    assert np.allclose(a.value, b.value)
    assert np.allclose(a.gradient, b.gradient)


def test_a_wide_prior_on_the_mean_leads_to_the_marginal_likelihood() -> None:
    which, point = np.zeros(3, dtype=np.int64), np.log([[0.3, 2.0], [1.0, 1.0], [5.0, 0.2]])
    flat = engine_of(BatchLikelihood, ConstantMean(), 1e-3, 1).evaluate(which, point).value
    wide = engine_of(BatchLikelihood, ConstantMean(variance=1e7), 1e-3, 1)
    values = wide.evaluate(which, point).value
    # With a proper prior sigma2 is integrated with n degrees of freedom, not n - 1.
    lik = engine_of(BatchLikelihood, ConstantMean(), 1e-3, 1)
    q = 9 * lik.evaluate(which, point).sigma2
    assert np.allclose(np.diff(values), np.diff(flat - 0.5 * np.log(q)), atol=1e-4)


def test_a_likelihood_of_another_name_is_refused() -> None:
    with pytest.raises(InputError, match="likelihood='full' is none of profile, marginal"):
        penalized_path(*smooth_runs(8, 1), [0.0], likelihood="full")  # type: ignore[arg-type]
