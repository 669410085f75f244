"""The likelihood with known noise, against the Gaussian density and by finite differences."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal

from pengp._core.arrays import FloatArray
from pengp.model.kernels import get_kernel
from pengp.model.likelihood import BatchLikelihood
from pengp.model.means import Mean, get_mean
from pengp.model.noise import NoisyLikelihood, ProfiledNoise, sigma2_at
from pengp.model.posterior import condition
from pengp.model.scaling import ResponseScaler, noise_weights

KERNEL, NUGGET = get_kernel("sqexp"), 1e-3


def some_runs(F: int = 2, n: int = 9, d: int = 2) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return X [F, n, d], y [F, n] and variances [F, n], of which one is 0."""
    rng = np.random.default_rng(n)
    X, noise = rng.random((F, n, d)), np.exp(rng.normal(-4.0, 1.0, (F, n)))
    y = np.sin(4.0 * X[..., 0]) + X[..., 1] + np.sqrt(noise) * rng.standard_normal((F, n))
    noise[0, 3] = 0.0
    return X, (y - y.mean(1, keepdims=True)) / y.std(1, keepdims=True), noise


def covariance(X: FloatArray, theta: FloatArray, sigma2: float, noise: FloatArray) -> FloatArray:
    """Return sigma2 (phi + g I) + diag(v) [n, n], entry by entry."""
    D = (X[:, None] - X) ** 2
    correlations: FloatArray = np.exp(-(D @ theta)) + NUGGET * np.eye(len(X))
    return sigma2 * correlations + np.diag(noise)


def slow_loglik(
    X: FloatArray, y: FloatArray, noise: FloatArray, point: FloatArray, mean: Mean, marginal: bool
) -> float:
    """Return the log density without its constant, the trend estimated or integrated out."""
    K = covariance(X, np.exp(point[:-1]), float(np.exp(-point[-1])), noise)
    F, inverse = mean.columns(X[None])[0], np.linalg.inv(K)
    G = F.T @ inverse @ F
    r = y - F @ np.linalg.solve(G, F.T @ inverse @ y) if F.size else y
    density = multivariate_normal(np.zeros(len(y)), K).logpdf(r)
    constant = 0.5 * len(y) * np.log(2.0 * np.pi)
    extra = 0.5 * np.linalg.slogdet(G)[1] if marginal else 0.0
    return float(density + constant - extra)


CASES = [("zero", False), ("constant", False), ("linear", False), ("linear", True)]


@pytest.mark.parametrize(("name", "marginal"), CASES)
def test_value_and_derivatives_are_those_of_the_gaussian_density(name: str, marginal: bool) -> None:
    (X, y, noise), mean = some_runs(), get_mean(name)
    likelihood = NoisyLikelihood(X, y, KERNEL, NUGGET, noise, mean=mean, marginal=marginal)
    which = np.array([0, 1, 1])
    point = np.random.default_rng(0).normal(0.0, 1.0, (3, 3))
    at = likelihood.evaluate(which, point)
    for b, f in enumerate(which):
        expected = slow_loglik(X[f], y[f], noise[f], point[b], mean, marginal)
        assert at.value[b] == pytest.approx(expected, abs=1e-9)
    np.testing.assert_allclose(
        likelihood.evaluate(which, point, derivatives=False).value, at.value, rtol=1e-11
    )
    np.testing.assert_allclose(at.sigma2, np.exp(-point[:, -1]))
    step = 1e-5
    for p, e in enumerate(step * np.eye(3)):
        above, below = likelihood.evaluate(which, point + e), likelihood.evaluate(which, point - e)
        slope = (above.value - below.value) / (2.0 * step)
        np.testing.assert_allclose(at.gradient[:, p], slope, rtol=1e-6, atol=1e-6)
        curvature = (above.gradient - below.gradient) / (2.0 * step)
        np.testing.assert_allclose(at.hessian[:, p], curvature, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize(("name", "marginal"), CASES)
def test_the_profile_is_the_maximum_over_sigma2(name: str, marginal: bool) -> None:
    (X, y, noise), mean = some_runs(), get_mean(name)
    profile = ProfiledNoise(X, y, KERNEL, NUGGET, noise, mean=mean, marginal=marginal)
    assert profile.n_params == 2
    which, point = np.array([0, 1]), np.log([[3.0, 0.5], [8.0, 2.0]])
    at = profile.evaluate(which, point)
    for f in which:

        def minus(u: float, f: int = f) -> float:
            return -slow_loglik(X[f], y[f], noise[f], np.append(point[f], u), mean, marginal)

        u = minimize_scalar(minus, bounds=(-8.0, 8.0), method="bounded", options={"xatol": 1e-9})
        assert at.value[f] == pytest.approx(-u.fun, abs=1e-8)
        assert at.sigma2[f] == pytest.approx(np.exp(-u.x), rel=1e-4)
    step = 1e-4
    for p, e in enumerate(step * np.eye(2)):
        above, below = profile.evaluate(which, point + e), profile.evaluate(which, point - e)
        slope = (above.value - below.value) / (2.0 * step)
        np.testing.assert_allclose(at.gradient[:, p], slope, atol=1e-5)
        curvature = (above.gradient - below.gradient) / (2.0 * step)
        np.testing.assert_allclose(at.hessian[:, p], curvature, atol=1e-3)


@pytest.mark.parametrize("marginal", [False, True])
def test_without_noise_the_profile_is_the_closed_one(marginal: bool) -> None:
    X, y, noise = some_runs()
    mean = get_mean("constant")
    settings: dict[str, Any] = {"mean": mean, "marginal": marginal}
    plain = BatchLikelihood(X, y, KERNEL, NUGGET, **settings)
    noisy = ProfiledNoise(X, y, KERNEL, NUGGET, 1e-14 * noise, **settings)
    which, point = np.array([0, 1]), np.log([[3.0, 0.5], [8.0, 2.0]])
    a, b = plain.evaluate(which, point), noisy.evaluate(which, point)
    degrees = X.shape[1] - marginal
    # sigma2 = q / n there and q / (n - k) here; the closed form drops n/2 log n - n/2.
    constant = 0.5 * degrees * (np.log(degrees) - 1.0)
    np.testing.assert_allclose(b.value, a.value + constant, rtol=1e-7)
    np.testing.assert_allclose(b.gradient, a.gradient, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(b.hessian, a.hessian, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(b.sigma2 * degrees, a.sigma2 * X.shape[1], rtol=1e-6)


def test_replicates_and_their_mean_have_the_same_likelihood_up_to_a_constant() -> None:
    X, y, noise = (a[1] for a in some_runs(n=7))
    r = np.array([0.3, -0.2])  # two more runs at the inputs of run 0
    v = np.array([noise[0], 0.02, 0.05])
    values = np.array([y[0], *(y[0] + r)])
    weight = 1.0 / v
    merged_y, merged_v = y.copy(), noise.copy()
    merged_y[0], merged_v[0] = weight @ values / weight.sum(), 1.0 / weight.sum()
    more = np.concatenate([X, X[[0, 0]]])
    whole = NoisyLikelihood(
        more[None], np.append(y, y[0] + r)[None], KERNEL, 0.0, np.append(noise, v[1:])[None]
    )
    merged = NoisyLikelihood(X[None], merged_y[None], KERNEL, 0.0, merged_v[None])
    point = np.random.default_rng(1).normal(0.5, 1.0, (6, 3))
    which = np.zeros(6, dtype=np.int64)
    a, b = whole.evaluate(which, point), merged.evaluate(which, point)
    np.testing.assert_allclose(np.ptp(a.value - b.value), 0.0, atol=1e-8)
    np.testing.assert_allclose(a.gradient, b.gradient, atol=1e-6)


def test_a_run_that_says_nothing_is_as_good_as_none() -> None:
    X, y, noise = (a[1] for a in some_runs())
    noise = noise.copy()
    noise[0] = 1e14
    whole = ProfiledNoise(X[None], y[None], KERNEL, NUGGET, noise[None], mean=get_mean("constant"))
    rest = ProfiledNoise(
        X[None, 1:], y[None, 1:], KERNEL, NUGGET, noise[None, 1:], mean=get_mean("constant")
    )
    which, point = np.zeros(3, dtype=np.int64), np.log([[3.0, 0.5], [1.0, 1.0], [9.0, 0.1]])
    a, b = whole.evaluate(which, point), rest.evaluate(which, point)
    np.testing.assert_allclose(np.ptp(a.value - b.value), 0.0, atol=1e-6)
    np.testing.assert_allclose(a.sigma2, b.sigma2, rtol=1e-6)


def test_an_item_does_not_depend_on_its_company() -> None:
    X, y, noise = some_runs(F=3)
    profile = ProfiledNoise(X, y, KERNEL, NUGGET, noise)
    which = np.arange(200) % 3
    point = np.random.default_rng(2).normal(0.0, 1.0, (200, 2))
    together = profile.evaluate(which, point)
    for b in (0, 57, 199):
        alone = profile.evaluate(which[[b]], point[[b]])
        assert all((x[[b]] == z).all() for x, z in zip(together, alone, strict=True))


def test_the_process_is_conditioned_on_noisy_runs() -> None:
    X, y, noise = (a[1] for a in some_runs())
    theta = np.array([3.0, 0.5])
    sigma2 = sigma2_at(X, y, noise, theta, kernel=KERNEL, nugget=NUGGET)
    process = condition(X, y, theta, kernel=KERNEL, nugget=NUGGET, sigma2=sigma2, noise=noise)
    new = np.vstack([np.random.default_rng(3).random((4, 2)), X[:2]])
    mean, variance = process.predict(new)
    K = covariance(X, theta, sigma2, noise)
    k = sigma2 * np.exp(-(((new[:, None] - X) ** 2) @ theta))
    np.testing.assert_allclose(mean, k @ np.linalg.solve(K, y), rtol=1e-9)
    expected = sigma2 * (1.0 + NUGGET) - np.einsum("mn,mn->m", k, np.linalg.solve(K, k.T).T)
    np.testing.assert_allclose(sigma2 * variance, expected, rtol=1e-9)
    whole, first = (
        process,
        condition(
            X[:6], y[:6], theta, kernel=KERNEL, nugget=NUGGET, sigma2=sigma2, noise=noise[:6]
        ),
    )
    extended = first.extend(X[6:], y[6:], noise[6:])
    np.testing.assert_allclose(extended.alpha, whole.alpha, rtol=1e-9)


def test_leave_one_out_holds_twins_out_together() -> None:
    X, y, noise = (a[1] for a in some_runs())
    X = np.concatenate([X, X[[2]]])
    y, noise = np.append(y, y[2] + 0.1), np.append(noise, 0.01)
    theta = np.array([3.0, 0.5])
    kinds: dict[str, Any] = {"kernel": KERNEL, "nugget": NUGGET, "sigma2": 1.5}
    mean, variance = condition(X, y, theta, **kinds, noise=noise, mean=get_mean("constant")).loo()
    for i in (0, 2, 9):
        rest = np.array([k for k in range(10) if k not in ((2, 9) if i in (2, 9) else (i,))])
        left = condition(
            X[rest], y[rest], theta, **kinds, noise=noise[rest], mean=get_mean("constant")
        )
        expected = left.predict(X[[i]])
        assert mean[i] == pytest.approx(expected[0][0], rel=1e-8)
        assert 1.5 * variance[i] == pytest.approx(1.5 * expected[1][0] + noise[i], rel=1e-8)


def test_weights_of_responses_go_by_their_noise() -> None:
    y = np.array([0.0, 1.0, 3.0, 100.0])
    np.testing.assert_allclose(noise_weights(y, np.full(4, 0.7)), 0.25)
    weights = noise_weights(y, np.array([0.1, 0.1, 0.1, 1e12]))
    assert weights[3] < 1e-6
    np.testing.assert_allclose(weights[:3], 1 / 3, rtol=1e-5)
    between = noise_weights(y[:3], np.array([0.5, 2.0, 0.1]))
    t = 1.0 / between[0] / (1.0 / between[2] - 1.0 / between[0])  # (t + .5) / (.1 - .5)
    t = -0.4 * t - 0.5
    w = 1.0 / (t + np.array([0.5, 2.0, 0.1]))
    rest = y[:3] - w @ y[:3] / w.sum()
    assert w @ rest**2 == pytest.approx(2.0, rel=1e-6)  # Paule and Mandel's equation


def test_the_noise_of_a_transformed_response_is_that_of_the_delta_method() -> None:
    from pengp.model.transforms import get_transform

    y, sd = np.array([[1.0], [10.0], [30.0]]), np.array([[0.1], [0.2], [0.0]])
    scaler = ResponseScaler.from_data(y, (get_transform("log"),), sd)
    step = 1e-6
    slope = (scaler.transform(y + step) - scaler.transform(y - step)) / (2.0 * step)
    np.testing.assert_allclose(scaler.noise_variance(y, sd), (slope * sd) ** 2, rtol=1e-7)
