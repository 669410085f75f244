"""Conditioning and prediction against the reference file, slow formulas, limits and refits.

`data/gppenalty.json` holds values computed with the authors' R package GPpenalty 1.0.1 on R 4.2 for
five data sets, nugget 1e-5; its DPE is the root of the paper's.
"""

import dataclasses
import json
import pickle
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pengp._core.arrays import FloatArray
from pengp.exceptions import InputError
from pengp.model import folded
from pengp.model.folded import batch_predict
from pengp.model.kernels import KERNELS
from pengp.model.means import MEANS
from pengp.model.posterior import Posterior, condition
from tests.problems import BASES, VANISHING, correlated

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "gppenalty.json").read_text())
BY_NAME = {record["name"]: record for record in REFERENCE}
G = 1e-5
SE = KERNELS["sqexp"]

each_kernel = pytest.mark.parametrize("kernel", KERNELS)
each_vanishing = pytest.mark.parametrize("kernel", VANISHING)
each_mean = pytest.mark.parametrize("mean", MEANS)
each_dataset = pytest.mark.parametrize("name", BY_NAME)


def correlation(A: FloatArray, B: FloatArray, theta: FloatArray, kernel: str) -> FloatArray:
    """Correlations pair by pair, without a nugget."""
    return np.array([[correlated(a, b, theta, kernel) for b in B] for a in A])


def slow_prediction(
    X: FloatArray,
    y: FloatArray,
    Z: FloatArray,
    theta: FloatArray,
    *,
    kernel: str = "sqexp",
    nugget: float = G,
    mean: str = "zero",
) -> tuple[FloatArray, FloatArray, float, FloatArray]:
    """Mean, scaled covariance, sigma2 and coefficients; the trend by Lagrange multipliers.

    The kriging system [[R, F], [F', 0]] has no estimated trend in it: its weights are the best
    linear unbiased ones.
    """
    n, m = len(X), len(Z)
    A = correlation(X, X, theta, kernel) + nugget * np.eye(n)
    C = correlation(Z, X, theta, kernel)
    F = BASES[mean](X)
    A = np.block([[A, F], [F.T, np.zeros((F.shape[1], F.shape[1]))]])
    C = np.column_stack([C, BASES[mean](Z)])
    padded = np.append(y, np.zeros(len(A) - n))
    weights = np.asarray(np.linalg.solve(A, padded), dtype=np.float64)
    cov = correlation(Z, Z, theta, kernel) + nugget * np.eye(m) - C @ np.linalg.solve(A, C.T)
    return C @ weights, cov, float(padded @ weights) / n, weights[n:]


def runs(
    n: int = 12, d: int = 3, m: int = 7, seed: int = 0
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """X, y (with a level that is not 0), new inputs and theta."""
    rng = np.random.default_rng(seed)
    X, Z = rng.random((n, d)), rng.random((m, d))
    y = 2.0 + np.sin(5 * X[:, 0]) + X[:, -1] ** 2 + 0.1 * rng.standard_normal(n)
    return X, y, Z, np.array([3.0, 0.7, 1.6, 0.2, 5.0])[:d]


def reference_arrays(name: str) -> tuple[FloatArray, FloatArray, FloatArray]:
    record = BY_NAME[name]
    X, y, Z = (np.array(record[key], dtype=np.float64) for key in ("x", "y", "x_test"))
    return X.reshape(len(y), -1), y, Z.reshape(len(Z), -1)


def full(theta: Any, d: int) -> FloatArray:
    return np.broadcast_to(np.asarray(theta, dtype=np.float64), (d,)).copy()


def close(actual: Any, expected: Any, tolerance: float = 1e-8) -> None:
    """Assert agreement relative to the largest expected magnitude."""
    largest = np.max(np.abs(expected))
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * largest)


# Conditioning and prediction


@each_dataset
def test_predictions_of_the_reference_package(name: str) -> None:
    X, y, Z = reference_arrays(name)
    for case in BY_NAME[name]["predictions"]:
        theta = full(case["theta"], X.shape[1])
        posterior = condition(X, y, theta, kernel=SE, nugget=G)
        close(posterior.sigma2, case["sigma2"])
        mean, cov = posterior.predict_cov(Z)
        close(mean, case["mean"])
        close(cov, case["scaled_cov"])
        mean, variance = posterior.predict(Z)
        close(mean, case["mean"])
        close(variance, np.diag(case["scaled_cov"]))


@each_dataset
def test_batched_predictions_of_the_reference_package(name: str) -> None:
    X, y, Z = reference_arrays(name)
    cases = BY_NAME[name]["predictions"]
    theta = np.array([full(case["theta"], X.shape[1]) for case in cases])
    X3, y3, Z3 = (np.repeat(a[None], len(cases), 0) for a in (X, y, Z))
    out = batch_predict(X3, y3, Z3, theta, kernel=SE, nugget=G)
    for b, case in enumerate(cases):
        close(out.sigma2[b], case["sigma2"])
        close(out.mean[b], case["mean"])
        close(out.scaled_cov[b], case["scaled_cov"])


def test_one_run_by_hand() -> None:
    # R = 1.25, r = exp(-4 * 0.25) = 1/e
    X, Z, g, r = np.array([[0.0]]), np.array([[0.5]]), 0.25, np.exp(-1.0)
    zero = condition(X, np.array([3.0]), np.array([4.0]), kernel=SE, nugget=g)
    assert zero.sigma2 == pytest.approx(9 / 1.25)
    assert zero.alpha == pytest.approx([3 / 1.25])
    close(zero.predict(Z), [[3 * r / 1.25], [1.25 - r**2 / 1.25]], 1e-14)
    constant = condition(
        X, np.array([3.0]), np.array([4.0]), kernel=SE, nugget=g, mean=MEANS["constant"]
    )
    assert (constant.level, constant.sigma2) == (3.0, 0.0)
    # the difference of two values of the process: 2 (1 + g) - 2 r
    close(constant.predict(Z), [[3.0], [2 * 1.25 - 2 * r]], 1e-14)


def test_two_runs_by_hand_with_a_constant_mean() -> None:
    # R = [[1.5, c], [c, 1.5]], symmetric: mu is the average, and (1, -1) is an eigenvector
    c = np.exp(-2.0)
    posterior = condition(
        np.array([[0.0], [1.0]]),
        np.array([1.0, 5.0]),
        np.array([2.0]),
        kernel=SE,
        nugget=0.5,
        mean=MEANS["constant"],
    )
    assert posterior.trend == pytest.approx([3.0])
    assert posterior.sigma2 == pytest.approx((2**2 + 2**2) / (1.5 - c) / 2)
    assert posterior.alpha == pytest.approx([-2 / (1.5 - c), 2 / (1.5 - c)])
    r = np.exp(-0.5)  # in the middle
    close(posterior.predict(np.array([[0.5]])), [[3.0], [1.5 + (1.5 + c) / 2 - 2 * r]], 1e-14)


@each_kernel
@each_mean
def test_prediction_equals_the_kriging_system(kernel: str, mean: str) -> None:
    X, y, Z, theta = runs()
    Z = np.concatenate([Z, X[:3]])
    expected, cov, sigma2, beta = slow_prediction(
        X, y, Z, theta, kernel=kernel, nugget=1e-3, mean=mean
    )
    posterior = condition(X, y, theta, kernel=KERNELS[kernel], nugget=1e-3, mean=MEANS[mean])
    assert posterior.trend == pytest.approx(beta, rel=1e-10)
    assert posterior.sigma2 == pytest.approx(sigma2, rel=1e-11)
    for got in (posterior.predict_mean(Z), posterior.predict(Z)[0], posterior.predict_cov(Z)[0]):
        close(got, expected, 1e-11)
    close(posterior.predict(Z)[1], np.diag(cov), 1e-11)
    close(posterior.predict_cov(Z)[1], cov, 1e-11)


def test_a_given_sigma2_is_kept_and_the_scaled_variance_does_not_know_it() -> None:
    X, y, Z, theta = runs()
    free = condition(X, y, theta, kernel=SE, nugget=G)
    given = condition(X, y, theta, kernel=SE, nugget=G, sigma2=7.5)
    assert given.sigma2 == 7.5
    np.testing.assert_array_equal(given.predict(Z), free.predict(Z))


def test_a_large_level_changes_nothing_with_a_constant_mean() -> None:
    X, y, Z, theta = runs()
    options: dict[str, Any] = {"kernel": SE, "nugget": G, "mean": MEANS["constant"]}
    y = np.round(y * 2**20) / 2**20  # so that adding the level is exact
    small = condition(X, y, theta, **options)
    large = condition(X, y + 2.0**30, theta, **options)
    assert large.sigma2 == pytest.approx(small.sigma2, rel=1e-12)
    close(large.predict(Z)[0] - 2.0**30, small.predict(Z)[0], 1e-6)
    batch = batch_predict(X[None], y[None] + 2.0**30, Z[None], theta[None], **options)
    assert batch.sigma2[0] == pytest.approx(small.sigma2, rel=1e-10)


@pytest.mark.parametrize("theta", [0.0, 1e-13])
def test_limit_of_small_theta(theta: float) -> None:
    # Appendix B: R^-1 = (I - J/(n + g))/g, mean n ybar/(n + g), covariance g (I + J/(g + n))
    X, y, Z, _ = runs(n=9, m=4)
    n, g = 9, 1e-3
    posterior = condition(X, y, full(theta, 3), kernel=SE, nugget=g)
    inverse = (np.eye(n) - np.ones((n, n)) / (n + g)) / g
    close(posterior.alpha, inverse @ y)
    assert posterior.sigma2 == pytest.approx(y @ inverse @ y / n, rel=1e-8)
    mean, cov = posterior.predict_cov(Z)
    close(mean, np.full(4, n * y.mean() / (n + g)))
    close(cov, g * (np.eye(4) + np.ones((4, 4)) / (g + n)))
    batch = batch_predict(X[None], y[None], Z[None], full(theta, 3)[None], kernel=SE, nugget=g)
    close(batch.mean[0], np.full(4, n * y.mean() / (n + g)))
    close(batch.scaled_cov[0], g * (np.eye(4) + np.ones((4, 4)) / (g + n)))


@each_vanishing
def test_limit_of_large_theta(kernel: str) -> None:
    X, y, Z, _ = runs(m=4)
    posterior = condition(X, y, full(1e9, 3), kernel=KERNELS[kernel], nugget=G)
    assert posterior.sigma2 == pytest.approx(y @ y / len(y) / (1 + G))
    mean, cov = posterior.predict_cov(Z)
    np.testing.assert_array_equal(mean, 0.0)
    np.testing.assert_array_equal(cov, (1 + G) * np.eye(4))
    close(posterior.predict_mean(X), y / (1 + G), 1e-6)  # and yet it interpolates


@each_kernel
@pytest.mark.parametrize("theta", [1e-3, 0.3, 30.0, 1000.0])
@pytest.mark.parametrize("nugget", [1e-8, 1e-5])
def test_at_a_run_the_mean_misses_by_the_nugget(kernel: str, theta: float, nugget: float) -> None:
    # r_i = R e_i - g e_i: the mean is y_i - g alpha_i, the variance 2 g - g^2 (R^-1)_ii
    X, y, _, _ = runs(n=40, d=5)
    posterior = condition(X, y, full(theta, 5), kernel=KERNELS[kernel], nugget=nugget)
    mean, variance = posterior.predict(X)
    np.testing.assert_allclose(mean, y - nugget * posterior.alpha, atol=1e-9)
    R = correlation(X, X, full(theta, 5), kernel) + nugget * np.eye(40)
    expected = 2 * nugget - nugget**2 * np.diag(np.linalg.inv(R))
    np.testing.assert_allclose(variance, expected, atol=1e-11)
    assert np.all(variance >= nugget)


@each_mean
def test_without_a_nugget_runs_are_interpolated_and_no_variance_is_negative(
    mean: str,
) -> None:
    X, y, Z, _ = runs(n=30, m=50)
    posterior = condition(X, y, full(5.0, 3), kernel=SE, nugget=0.0, mean=MEANS[mean])
    got, variance = posterior.predict(np.concatenate([X, X + 1e-9, Z]))
    np.testing.assert_allclose(got[:30], y, atol=1e-7)
    assert np.all(variance >= 0.0)
    assert np.all(variance[:60] < 1e-9)
    assert np.all(variance[60:] > 1e-9)
    assert np.all(np.diag(posterior.predict_cov(X)[1]) >= 0.0)


@each_vanishing
def test_far_away_the_prior_returns(kernel: str) -> None:
    X, y, _, theta = runs()
    posterior = condition(X, y, theta, kernel=KERNELS[kernel], nugget=G, mean=MEANS["constant"])
    Z = np.array([[1e4, 0.0, 1.0], [1e180, -1e300, 5.0], [-1.7e308, 1.7e308, 0.0]])
    R = correlation(X, X, theta, kernel) + G * np.eye(len(X))
    expected = 1 + G + 1 / np.linalg.inv(R).sum()
    mean, variance = posterior.predict(Z)
    np.testing.assert_array_equal(mean, posterior.trend[0])
    np.testing.assert_allclose(variance, expected, rtol=1e-9)
    np.testing.assert_allclose(np.diag(posterior.predict_cov(Z)[1]), expected, rtol=1e-9)


@each_mean
def test_many_points_at_once_equal_one_by_one(mean: str) -> None:
    X, y, Z, theta = runs(n=30, m=2500)
    posterior = condition(X, y, theta, kernel=SE, nugget=G, mean=MEANS[mean])
    means, variance = posterior.predict(Z)  # several chunks, by the inverse factor
    chosen = [0, 1, 1091, 1092, 1093, 2184, 2499]  # one at a time: triangular solves
    single = [posterior.predict(Z[i : i + 1]) for i in chosen]
    np.testing.assert_allclose(means[chosen], [m[0] for m, _ in single], rtol=1e-11)
    np.testing.assert_allclose(variance[chosen], [v[0] for _, v in single], rtol=0, atol=1e-13)
    np.testing.assert_allclose(posterior.predict_mean(Z), means, rtol=1e-13)
    slopes = posterior.mean_gradient(Z)
    close(slopes[chosen], [posterior.mean_gradient(Z[i : i + 1])[0] for i in chosen], 1e-9)


def test_no_new_inputs() -> None:
    X, y, _, theta = runs()
    posterior = condition(X, y, theta, kernel=SE, nugget=G)
    assert [len(a) for a in posterior.predict(np.empty((0, 3)))] == [0, 0]


def test_the_mean_alone_does_without_the_factor() -> None:
    X, y, Z, theta = runs()
    posterior = condition(X, y, theta, kernel=SE, nugget=G)
    blind = dataclasses.replace(posterior, L=np.full_like(posterior.L, np.nan))
    np.testing.assert_array_equal(blind.predict_mean(Z), posterior.predict_mean(Z))
    assert np.isnan(blind.predict(Z)[1]).all()


def test_memory_does_not_grow_with_the_number_of_points() -> None:
    X, y, Z, theta = runs(n=100, d=5, m=100_000)
    posterior = condition(X, y, theta, kernel=KERNELS["matern52"], nugget=G)
    tracemalloc.start()
    posterior.predict(Z)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * 8 * len(Z) + 4e6  # the two results and a few chunks; R(Z, X) takes 80 MB


def factorizes(R: FloatArray) -> bool:
    try:
        np.linalg.cholesky(R)
    except np.linalg.LinAlgError:
        return False
    return True


def test_runs_that_coincide_without_a_nugget_are_an_error() -> None:
    X, y, _, theta = runs()
    misled = False
    for i, j in zip(*np.triu_indices(len(y), 1), strict=True):
        twice = X.copy()
        twice[i] = twice[j]
        with pytest.raises(InputError, match=r"not positive definite.*larger nugget\.$"):
            condition(twice, y, theta, kernel=SE, nugget=0.0)
        assert np.isfinite(condition(twice, y, theta, kernel=SE, nugget=1e-8).alpha).all()
        misled |= factorizes(correlation(twice, twice, theta, "sqexp"))
    assert misled  # by rounding, some of these matrices do have a Cholesky factor


def test_pickle_keeps_every_prediction() -> None:
    X, y, Z, theta = runs()
    posterior = condition(X, y, theta, kernel=KERNELS["matern32"], nugget=G, mean=MEANS["constant"])
    again = pickle.loads(pickle.dumps(posterior))
    np.testing.assert_array_equal(again.predict(Z), posterior.predict(Z))
    assert again.sigma2 == posterior.sigma2


# Gradients


def differences(f: Callable[[FloatArray], FloatArray], Z: FloatArray, h: float) -> FloatArray:
    """Central differences [m, d] of f, which maps [m, d] to [m]."""
    steps = h * np.eye(Z.shape[1])
    return np.stack([(f(Z + step) - f(Z - step)) / (2 * h) for step in steps], axis=1)


@each_kernel
@each_mean
def test_gradients_equal_finite_differences(kernel: str, mean: str) -> None:
    X, y, Z, theta = runs()
    posterior = condition(X, y, theta, kernel=KERNELS[kernel], nugget=1e-3, mean=MEANS[mean])
    slopes = differences(lambda Z: posterior.predict(Z)[0], Z, 1e-5)
    close(posterior.mean_gradient(Z), slopes, 1e-7)
    variance = differences(lambda Z: posterior.predict(Z)[1], Z, 1e-5)
    close(posterior.variance_gradient(Z), variance, 1e-7)
    assert np.all(np.abs(slopes).max(0) > 1e-3)  # every input matters here


@each_kernel
def test_gradients_at_the_runs(kernel: str) -> None:
    X, y, _, theta = runs()
    posterior = condition(X, y, theta, kernel=KERNELS[kernel], nugget=1e-3)
    # Matern 3/2 is rough at a run: the differences err in proportion to the step there
    h, tolerance = (1e-7, 1e-5) if "matern32" in kernel else (1e-5, 1e-7)
    close(posterior.mean_gradient(X), differences(posterior.predict_mean, X, h), tolerance)
    variance = differences(lambda Z: posterior.predict(Z)[1], X, h)
    np.testing.assert_allclose(posterior.variance_gradient(X), variance, atol=1e-6)


# Samples


def test_samples_have_the_predictive_moments() -> None:
    X, y, Z, theta = runs(n=6, m=4)
    posterior = condition(
        X, y, theta, kernel=KERNELS["matern32"], nugget=1e-2, mean=MEANS["constant"]
    )
    mean, cov = posterior.predict_cov(Z)
    cov = posterior.sigma2 * cov
    N = 200_000
    draws = posterior.sample(Z, N, np.random.default_rng(1))
    sd = np.sqrt(np.diag(cov))
    assert np.all(np.abs(draws.mean(0) - mean) < 5 * sd / np.sqrt(N))
    assert np.all(np.abs(np.cov(draws.T) - cov) < 5 * np.sqrt(2 / N) * np.outer(sd, sd))


def test_samples_of_a_singular_covariance() -> None:
    X, y, Z, theta = runs(m=5)
    posterior = condition(X, y, theta, kernel=SE, nugget=0.0)
    Z = np.concatenate([Z, Z, X])  # every input twice, and the runs themselves
    draws = posterior.sample(Z, 50, np.random.RandomState(0))
    scale = np.sqrt(posterior.sigma2)
    np.testing.assert_allclose(draws[:, :5], draws[:, 5:10], atol=1e-6 * scale)
    np.testing.assert_allclose(draws[:, 10:], np.tile(y, (50, 1)), atol=1e-6 * scale)
    assert np.all(draws[:, :5].std(0) > 1e-5 * scale)


def test_samples_without_spread_and_with_a_seed() -> None:
    X, y, Z, theta = runs()
    posterior = condition(X, y, theta, kernel=SE, nugget=G, sigma2=0.0)
    draws = posterior.sample(Z, 3, np.random.default_rng(0))
    np.testing.assert_array_equal(draws, np.tile(posterior.predict_cov(Z)[0], (3, 1)))
    posterior = condition(X, y, theta, kernel=SE, nugget=G)
    a, b, c = (posterior.sample(Z, 3, np.random.default_rng(seed)) for seed in (4, 4, 5))
    np.testing.assert_array_equal(a, b)
    assert np.all(a != c)


# More runs


@each_kernel
@each_mean
@pytest.mark.parametrize("k", [1, 5])
def test_extending_equals_conditioning_on_everything(kernel: str, mean: str, k: int) -> None:
    X, y, Z, theta = runs()
    options: dict[str, Any] = {"kernel": KERNELS[kernel], "nugget": G, "mean": MEANS[mean]}
    first = condition(X[:-k], y[:-k], theta, **options)
    extended = first.extend(X[-k:], y[-k:])
    scratch = condition(X, y, theta, sigma2=first.sigma2, **options)
    assert extended.sigma2 == first.sigma2 != condition(X, y, theta, **options).sigma2
    for field in ("X", "y", "theta", "nugget", "L", "alpha", "trend", "basis_alpha"):
        if np.size(getattr(scratch, field)):
            close(getattr(extended, field), getattr(scratch, field), 1e-8)
    np.testing.assert_array_equal(extended.L[:-k, :-k], first.L)
    for got, expected in zip(extended.predict_cov(Z), scratch.predict_cov(Z), strict=True):
        close(got, expected, 1e-8)


def test_extending_by_a_known_input() -> None:
    X, y, _, theta = runs()
    with pytest.raises(InputError, match="not positive definite"):
        condition(X, y, theta, kernel=SE, nugget=0.0).extend(X[:1], y[:1])
    # with a nugget the mean of both responses counts; the mean moves to the midpoint
    posterior = condition(X, y, theta, kernel=SE, nugget=1e-6).extend(X[:1], y[:1] + 2.0)
    assert posterior.predict_mean(X[:1])[0] == pytest.approx(y[0] + 1.0, abs=1e-3)


# Folds in closed form


def refit(posterior: Posterior, test: list[int]) -> Posterior:
    rest = np.setdiff1d(np.arange(len(posterior.y)), test)
    return condition(
        posterior.X[rest],
        posterior.y[rest],
        posterior.theta,
        kernel=posterior.kernel,
        nugget=posterior.nugget,
        mean=posterior.mean,
    )


@each_kernel
@each_mean
def test_leave_one_out_equals_refits(kernel: str, mean: str) -> None:
    X, y, _, theta = runs()
    posterior = condition(
        X, y, theta, kernel=KERNELS[kernel], nugget=G, mean=MEANS[mean], sigma2=3.0
    )
    brute = np.array([refit(posterior, [i]).predict(X[i : i + 1]) for i in range(len(y))])
    means, variance = posterior.loo()
    close(means, brute[:, 0, 0])
    close(variance, brute[:, 1, 0])


@each_dataset
def test_fold_metrics_of_the_reference_package(name: str) -> None:
    X, y, _ = reference_arrays(name)
    labels = np.array(BY_NAME[name]["folds"])
    for case in BY_NAME[name]["fold_metrics"]:
        theta = full(case["theta"], X.shape[1])
        test = np.flatnonzero(labels == case["fold"])
        rest = np.flatnonzero(labels != case["fold"])
        batch = batch_predict(
            X[None, rest], y[None, rest], X[None, test], theta[None], kernel=SE, nugget=G
        )
        r = y[test] - batch.mean[0]
        dpe = r @ np.linalg.solve(batch.scaled_cov[0], r)
        assert r @ r == pytest.approx(case["pe"], rel=1e-8)
        assert np.sqrt(dpe) == pytest.approx(case["root_dpe"], rel=1e-8)
        assert dpe / batch.sigma2[0] == pytest.approx(case["md"], rel=1e-8)


def test_leaving_the_only_run_out_is_an_error() -> None:
    X, y, _, theta = runs(n=3)
    with pytest.raises(InputError, match="at least 2 runs"):
        condition(X[:1], y[:1], theta, kernel=SE, nugget=G).loo()


# Batches


def items(B: int, n: int, v: int, d: int, seed: int = 3) -> tuple[FloatArray, ...]:
    rng = np.random.default_rng(seed)
    theta = np.exp(rng.uniform(-3, 3, (B, d)))
    return rng.random((B, n, d)), rng.standard_normal((B, n)), rng.random((B, v, d)), theta


@each_kernel
@each_mean
def test_a_batch_equals_its_items(kernel: str, mean: str) -> None:
    X, y, Z, theta = items(5, 9, 3, 4)
    nugget = np.array([1e-5, 1e-3, 0.1, 1e-6, 1.0])
    out = batch_predict(X, y, Z, theta, kernel=KERNELS[kernel], nugget=nugget, mean=MEANS[mean])
    for b in range(5):
        expected, cov, sigma2, beta = slow_prediction(
            X[b], y[b], Z[b], theta[b], kernel=kernel, nugget=nugget[b], mean=mean
        )
        close(out.mean[b], expected, 1e-9)
        close(out.scaled_cov[b], cov, 1e-9)
        assert out.sigma2[b] == pytest.approx(sigma2, rel=1e-9)
        assert out.trend[b] == pytest.approx(beta, rel=1e-9)


@each_mean
@pytest.mark.parametrize("shape", [(9, 3, 6), (1, 1, 1), (2, 5, 3), (33, 8, 4)])
def test_an_item_does_not_depend_on_its_neighbours(
    shape: tuple[int, int, int], mean: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    B = 40
    options: dict[str, Any] = {"kernel": SE, "nugget": G, "mean": MEANS[mean]}
    data = items(B, *shape)
    whole = batch_predict(*data, **options)
    monkeypatch.setattr(folded, "_CHUNK_BYTES", 7 * 32 * (shape[0] + shape[1]) ** 2)
    chunked = batch_predict(*data, **options)
    order = np.random.default_rng(0).permutation(B)
    shuffled = batch_predict(*(a[order] for a in data), **options)
    alone = [batch_predict(*(a[b : b + 1] for a in data), **options) for b in range(B)]
    for field in ("mean", "scaled_cov", "sigma2", "trend"):
        expected = getattr(whole, field)
        np.testing.assert_array_equal(getattr(chunked, field), expected)
        np.testing.assert_array_equal(getattr(shuffled, field), expected[order])
        np.testing.assert_array_equal([getattr(a, field)[0] for a in alone], expected)


@each_mean
def test_a_bad_item_is_nan_and_alone(mean: str) -> None:
    options: dict[str, Any] = {"kernel": SE, "nugget": 0.0, "mean": MEANS[mean]}
    X, y, Z, theta = items(8, 6, 2, 2)
    theta[:] = 30.0
    good = batch_predict(X, y, Z, theta, **options)
    bad = [1, 4, 7]
    X, theta = X.copy(), theta.copy()
    X[1, 5] = X[1, 2]
    theta[4] = 0.0
    theta[7] = np.nan
    out = batch_predict(X, y, Z, theta, **options)
    rest = np.setdiff1d(np.arange(8), bad)
    for field in ("mean", "scaled_cov", "sigma2", "trend"):
        assert np.isnan(getattr(out, field)[bad]).all()
        assert np.isfinite(getattr(out, field)[rest]).all()
        np.testing.assert_array_equal(getattr(out, field)[rest], getattr(good, field)[rest])
    for b in range(8):
        if b in bad:
            with pytest.raises(InputError):
                condition(X[b], y[b], theta[b], **options)


def test_an_empty_batch() -> None:
    out = batch_predict(*(a[:0] for a in items(1, 4, 2, 3)), kernel=SE, nugget=G)
    assert out.mean.shape == (0, 2)
    assert out.scaled_cov.shape == (0, 2, 2)
