"""Inputs that hold levels: any two of them are equally correlated, whatever their codes."""

from dataclasses import replace

import numpy as np
import pytest

from pengp._core.arrays import FloatArray
from pengp.model.elementary import Log, Sqrt, Transform
from pengp.model.kernels import KERNELS, KernelName, RadialKernel, correlation
from pengp.model.large import LargeLikelihood
from pengp.model.levels import Integer, Levels
from pengp.model.likelihood import BatchLikelihood
from pengp.model.means import ZERO
from pengp.model.posterior import condition
from pengp.path.grids import kkt_bound

each_kernel = pytest.mark.parametrize("name", KERNELS)
THETA = np.array([3.0, 0.7, 1.4])


def runs(n: int = 12) -> tuple[FloatArray, FloatArray]:
    """Return inputs [n, 3], of which the second takes three levels, and responses [n]."""
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(n, 3))
    X[:, 1] = np.arange(n) % 3 / 2.0
    y = np.sin(5.0 * X[:, 0]) + np.array([0.3, -0.8, 0.5])[(2.0 * X[:, 1]).astype(int)] + X[:, 2]
    return X, y - y.mean()


def one_hot(X: FloatArray) -> FloatArray:
    """Return X with the levels as three columns whose squared differences sum to 0 or 1."""
    places = (X[:, [1]] == np.array([0.0, 0.5, 1.0])) / np.sqrt(2.0)
    return np.column_stack([X[:, 0], places, X[:, 2]])


def test_any_two_levels_have_the_correlation_that_their_theta_says() -> None:
    X = np.array([[0.0, 0.4], [0.5, 0.4], [1.0, 0.4]])
    theta = np.array([0.7, 2.0])
    a5, a3 = np.sqrt(5.0 * 0.7), np.sqrt(3.0 * 0.7)
    matern52 = (1.0 + a5 + a5**2 / 3.0) * np.exp(-a5)
    matern32 = (1.0 + a3) * np.exp(-a3)
    by_hand = {
        "sqexp": np.exp(-0.7),
        "matern52": matern52,
        "matern32": matern32,
        "matern52_product": matern52,
        "matern32_product": matern32,
        "matern52_additive": (8.0 + matern52) / 9.0,
    }
    assert set(by_hand) == set(KERNELS)
    for name, value in by_hand.items():
        R = correlation(X, theta, kernel=replace(KERNELS[name], levels=(0,)), nugget=0.0)
        assert np.allclose(R, np.where(np.eye(3), 1.0, value), rtol=1e-14), name
        ordered = correlation(X, theta, kernel=KERNELS[name], nugget=0.0)
        assert ordered[0, 1] > ordered[0, 2] + 0.01  # as numbers, the codes would matter


@pytest.mark.parametrize("name", [n for n, k in KERNELS.items() if isinstance(k, RadialKernel)])
def test_levels_equal_indicator_columns_that_share_one_theta(name: KernelName) -> None:
    X, _ = runs()
    ours = correlation(X, THETA, kernel=replace(KERNELS[name], levels=(1,)))
    shared = correlation(one_hot(X), THETA[[0, 1, 1, 1, 2]], kernel=name)
    assert np.allclose(ours, shared, rtol=1e-13, atol=1e-15)


@each_kernel
@pytest.mark.parametrize("isotropic", [False, True], ids=["aniso", "iso"])
def test_likelihoods_have_the_correlations_and_their_derivatives(
    name: str, isotropic: bool
) -> None:
    (X, y), kernel = runs(), replace(KERNELS[name], levels=(1,))
    small = BatchLikelihood(X[None], y[None], kernel, 1e-3, isotropic=isotropic)
    large = LargeLikelihood(X[None], y[None], kernel, 1e-3, isotropic=isotropic)
    u = np.log(THETA[: small.n_theta])[None]
    R = correlation(X, np.exp(u[0]), kernel=kernel, nugget=1e-3)
    slow = -6.0 * np.log(y @ np.linalg.solve(R, y)) - 0.5 * np.linalg.slogdet(R)[1]
    at, other = small.evaluate(np.array([0]), u), large.evaluate(np.array([0]), u)
    assert at.value[0] == pytest.approx(slow, rel=1e-10)
    assert other.value[0] == pytest.approx(slow, rel=1e-10)
    assert np.allclose(other.gradient, at.gradient, rtol=1e-8, atol=1e-9)
    plain = small.evaluate(np.array([0]), u, derivatives=False)
    assert plain.value[0] == pytest.approx(slow, rel=1e-10)
    for p, step in enumerate(1e-5 * np.eye(small.n_theta)):
        up, down = (small.evaluate(np.array([0]), u + s) for s in (step, -step))
        assert at.gradient[0, p] == pytest.approx((up.value - down.value)[0] / 2e-5, abs=1e-6)
        slopes = (up.gradient - down.gradient)[0] / 2e-5
        assert np.allclose(at.hessian[0, p], slopes, rtol=1e-5, atol=1e-6)


@each_kernel
def test_predictions_are_those_of_the_matrix_formula_and_flat_in_a_level(name: str) -> None:
    (X, y), kernel = runs(), replace(KERNELS[name], levels=(1,))
    process = condition(X, y, THETA, kernel=kernel, nugget=1e-4)
    new = np.array([[0.2, 0.5, 0.9], [0.7, 1.0, 0.1]])
    R, r = (correlation(X, THETA, at, kernel=kernel, nugget=1e-4) for at in (None, new))
    mean, variance = process.predict(new)
    assert np.allclose(mean, r @ np.linalg.solve(R, y), rtol=1e-9)
    assert np.allclose(variance, 1.0001 - np.sum(r * np.linalg.solve(R, r.T).T, 1), rtol=1e-8)
    gradient = process.mean_gradient(new)
    assert (gradient[:, 1] == 0.0).all()
    for p in (0, 2):
        step = 1e-6 * np.eye(3)[p]
        slopes = (process.predict_mean(new + step) - process.predict_mean(new - step)) / 2e-6
        assert np.allclose(gradient[:, p], slopes, rtol=1e-6, atol=1e-7)


@each_kernel
def test_other_codes_of_the_levels_change_nothing(name: str) -> None:
    (X, y), kernel = runs(), replace(KERNELS[name], levels=(1,))
    other = X.copy()
    other[:, 1] = np.array([1.0, 0.0, 0.5])[(2.0 * X[:, 1]).astype(int)]
    assert (correlation(X, THETA, kernel=kernel) == correlation(other, THETA, kernel=kernel)).all()
    alone = [
        kkt_bound(Z[:, [1]], y, replace(kernel, levels=(0,)), False, 1e-3, ZERO) for Z in (X, other)
    ]
    assert alone[0] == pytest.approx(alone[1], rel=1e-12)
    ordered = [kkt_bound(Z[:, [1]], y, KERNELS[name], False, 1e-3, ZERO) for Z in (X, other)]
    assert abs(ordered[0] / ordered[1] - 1.0) > 1e-3


@pytest.mark.parametrize(
    ("transform", "ends", "values"),
    [
        (Integer(), (1.0, 5.0), [1, 2, 3, 4, 5]),
        (Integer(), (0.5, 3.5), [1, 2, 3]),  # bounds that are no whole numbers
        (Levels(("a", "b", "c"), (0.0, 1.0, 2.0)), (0.0, 2.0), [0, 1, 2]),
        (Levels(("2", "9"), (2.0, 9.0)), (-1.0, 50.0), [2, 9]),
    ],
)
def test_steps_are_equally_frequent(
    transform: Transform, ends: tuple[float, float], values: list[float]
) -> None:
    u = (np.arange(3000) + 0.5) / 3000
    found, counts = np.unique(transform.spread(u, *ends), return_counts=True)
    assert found.tolist() == values
    assert np.ptp(counts) <= 1
    assert transform.spread(np.array([0.0, 1.0]), *ends).tolist() == [values[0], values[-1]]


def test_whole_numbers_are_as_frequent_as_their_scale_is_wide() -> None:
    u = (np.arange(100_000) + 0.5) / 100_000
    _, counts = np.unique(Integer(Log()).spread(u, 1.0, 4.0), return_counts=True)
    edges = np.log([0.5, 1.5, 2.5, 3.5, 4.5])
    np.testing.assert_allclose(counts / 100_000, np.diff(edges) / np.log(9.0), atol=2e-5)
    # A root has no half a step below 0.
    found = Integer(Sqrt()).spread(np.array([0.0, 0.01, 1.0]), 0.0, 4.0)
    assert found.tolist() == [0.0, 0.0, 4.0]
