"""Correlations against closed forms, finite differences and their values at s = 0."""

from typing import Any

import numpy as np
import pytest

from pengp._core.arrays import FloatArray
from pengp.exceptions import InputError
from pengp.model.kernels import (
    KERNELS,
    KernelName,
    Matern32,
    RadialKernel,
    correlation,
    get_kernel,
)
from pengp.model.products import ProductKernel
from pengp.model.profile import profile_loglik
from tests.problems import CORRELATIONS

RADIAL = {name: k for name, k in KERNELS.items() if isinstance(k, RadialKernel)}
PRODUCTS = {name: k for name, k in KERNELS.items() if isinstance(k, ProductKernel)}
DAMPED = [name for name, k in PRODUCTS.items() if k.damped]
each_kernel = pytest.mark.parametrize("name", RADIAL)
each_product = pytest.mark.parametrize("name", PRODUCTS)
each_damped = pytest.mark.parametrize("name", DAMPED)


def test_the_tests_know_every_kernel() -> None:
    assert set(RADIAL) == set(CORRELATIONS) == {"sqexp", "matern52", "matern32"}
    assert set(PRODUCTS) == {"matern52_product", "matern32_product", "matern52_additive"}
    assert set(KERNELS) == {*RADIAL, *PRODUCTS}


@each_kernel
def test_phi_is_the_correlation_of_the_distance(name: str) -> None:
    h = np.concatenate([[0.0], np.geomspace(1e-6, 30.0, 60)])
    assert np.allclose(RADIAL[name].phi(h**2), CORRELATIONS[name](h), rtol=1e-13, atol=0.0)


@each_kernel
def test_phi_is_one_at_zero_and_falls_to_zero(name: str) -> None:
    kernel = RADIAL[name]
    s = np.concatenate([[0.0], np.geomspace(1e-8, 1e4, 200)])
    phi = kernel.phi(s)
    assert phi[0] == 1.0
    assert (np.diff(phi) <= 0.0).all()
    assert phi[-1] < 1e-40


@each_kernel
def test_derivatives_against_finite_differences(name: str) -> None:
    kernel = RADIAL[name]
    s = np.geomspace(1e-3, 20.0, 40)
    h = 1e-5 * s
    first, second = kernel.derivatives(s, kernel.phi(s))
    numeric = (kernel.phi(s + h) - kernel.phi(s - h)) / (2.0 * h)
    slopes = [kernel.derivatives(t, kernel.phi(t))[0] for t in (s + h, s - h)]
    assert np.allclose(first, numeric, rtol=1e-6, atol=1e-10)
    assert np.allclose(second, (slopes[0] - slopes[1]) / (2.0 * h), rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [("sqexp", -1.0, 1.0), ("matern52", -5.0 / 6.0, 25.0 / 12.0), ("matern32", -1.5, np.inf)],
)
def test_derivatives_at_zero(name: str, first: float, second: float) -> None:
    kernel, zero = RADIAL[name], np.zeros(3)
    d1, d2 = kernel.derivatives(zero, kernel.phi(zero))
    assert np.allclose(d1, first, rtol=1e-15)
    assert (d2 == second).all() or np.allclose(d2, second, rtol=1e-15)


def test_first_derivatives_at_zero_are_right_sided_difference_quotients() -> None:
    for kernel, h, tolerance in ((k, 1e-8, 2e-4) for k in RADIAL.values()):
        quotient = (kernel.phi(np.array([h]))[0] - 1.0) / h
        slope = kernel.derivatives(np.zeros(1), np.ones(1))[0][0]
        assert quotient == pytest.approx(slope, rel=tolerance)


def test_matern32_curvature_grows_like_one_over_the_root_of_s() -> None:
    s = np.array([1e-10, 1e-12])
    second = Matern32().derivatives(s, Matern32().phi(s))[1]
    assert np.allclose(second, 2.25 / np.sqrt(3.0 * s), rtol=1e-4)


@each_kernel
def test_shapes_are_kept(name: str) -> None:
    s = np.linspace(0.1, 3.0, 24).reshape(2, 3, 4)
    phi = RADIAL[name].phi(s)
    first, second = RADIAL[name].derivatives(s, phi)
    assert phi.shape == first.shape == second.shape == (2, 3, 4)
    assert phi[1, 2, 3] == RADIAL[name].phi(s[1, 2, 3:])[0]


@each_kernel
def test_phi_takes_numbers_and_whole_numbers(name: str) -> None:
    phi: Any = RADIAL[name].phi
    expected = phi(np.array([0.0, 1.0, 2.0]))
    np.testing.assert_array_equal(phi(np.arange(3)), expected)
    assert phi(np.array(1.0)) == expected[1]


def test_get_kernel_takes_names_and_objects() -> None:
    assert get_kernel("matern52") is KERNELS["matern52"]
    own = Matern32()
    assert get_kernel(own) is own
    with pytest.raises(InputError, match=r"kernel='rbf' is unknown.*sqexp, matern52, matern32"):
        get_kernel("rbf")


@each_damped
def test_the_factor_of_one_input_is_the_radial_correlation(name: KernelName) -> None:
    x = np.linspace(0.0, 1.0, 12)[:, None]
    radial, theta = name.removesuffix("_product"), 7.3
    R = correlation(x, theta, kernel=name, nugget=0.0)
    alone = correlation(x, theta, kernel=KERNELS[radial], nugget=0.0)
    np.testing.assert_allclose(R, alone, rtol=1e-14)
    np.testing.assert_allclose(
        R, CORRELATIONS[radial](np.sqrt(theta) * np.abs(x - x.T)), rtol=1e-13
    )


def test_a_product_by_hand() -> None:
    # a = sqrt(5) * (0.3, 0.4) and sqrt(3) * (0.3, 0.4), theta = (4, 1), steps (0.15, 0.4)
    X, theta = [[0.0, 0.0], [0.15, 0.4]], [4.0, 1.0]
    a, b = 5**0.5 * 0.3, 5**0.5 * 0.4
    expected = (1 + a + a**2 / 3) * (1 + b + b**2 / 3) * np.exp(-a - b)
    assert correlation(X, theta, kernel="matern52_product")[0, 1] == pytest.approx(expected)
    a, b = 3**0.5 * 0.3, 3**0.5 * 0.4
    expected = (1 + a) * (1 + b) * np.exp(-a - b)
    assert correlation(X, theta, kernel="matern32_product")[0, 1] == pytest.approx(expected)
    radial = correlation(X, theta, kernel="matern32")[0, 1]
    assert abs(radial - expected) > 0.01  # another correlation than that of the distance


@each_product
def test_log_derivatives_against_finite_differences(name: str) -> None:
    kernel, t = PRODUCTS[name], np.geomspace(1e-3, 20.0, 40)
    h = 1e-5 * t

    def log_m(t: FloatArray) -> FloatArray:
        a = kernel.distance(t)
        return np.log(kernel.factor(a)) - (a if kernel.damped else 0.0)

    def slope(t: FloatArray) -> FloatArray:
        return kernel.log_derivatives(kernel.distance(t))[0]

    first, second = kernel.log_derivatives(kernel.distance(t))
    np.testing.assert_allclose(first, (log_m(t + h) - log_m(t - h)) / (2 * h), rtol=1e-7)
    np.testing.assert_allclose(second, (slope(t + h) - slope(t - h)) / (2 * h), rtol=1e-7)


@pytest.mark.parametrize(
    ("name", "slope"),
    [("matern52_product", -5 / 6), ("matern32_product", -1.5), ("matern52_additive", -5 / 54)],
)
def test_products_at_zero(name: KernelName, slope: float) -> None:
    assert PRODUCTS[name].slope_at_zero() == pytest.approx(slope, rel=1e-15)
    first, second = PRODUCTS[name].log_derivatives(np.zeros(1))
    assert first[0] == pytest.approx(slope, rel=1e-15)
    assert np.isfinite(second).all()
    R = correlation([[0.2, 0.1]] * 2, [3.0, 4.0], kernel=name, nugget=0.0)
    np.testing.assert_array_equal(R, 1.0)


@each_product
def test_slopes_across_equal_differences(name: str) -> None:
    rng = np.random.default_rng(0)
    X, Z, theta, w = rng.random((7, 3)), rng.random((4, 3)), rng.random(3) * 5, rng.random(7)
    Z[0, 1] = X[2, 1]  # a shared coordinate
    kernel = KERNELS[name]
    r, kept = kernel.across(Z, X, theta)
    slopes = kernel.across_slopes(w, Z, X, theta, r, kept)
    h = 1e-6
    for p, step in enumerate(h * np.eye(3)):
        up, down = (kernel.across(Z + e, X, theta)[0] for e in (step, -step))
        np.testing.assert_allclose(slopes[:, p], (w * (up - down)).sum(1) / (2 * h), rtol=1e-5)


@each_damped
def test_many_inputs_far_apart_are_uncorrelated(name: KernelName) -> None:
    d = 400
    R = correlation([[0.0] * d, [1.0] * d], np.full(d, 1e3), kernel=name, nugget=0.0)
    np.testing.assert_array_equal(R, np.eye(2))
    at = profile_loglik([[0.0] * d, [1.0] * d], [1.0, -1.0], np.full(d, 1e3), kernel=name)
    assert float(at.sigma2) == pytest.approx(1.0, rel=1e-4)


def test_a_nearly_additive_correlation_is_a_sum_over_sets_of_inputs() -> None:
    rng = np.random.default_rng(2)
    X, theta, c = rng.random((5, 3)), np.array([2.0, 0.3, 9.0]), 8.0
    k = [correlation(X[:, [p]], theta[p], kernel="matern52", nugget=0.0) for p in range(3)]
    by_hand = c**3 + c**2 * (k[0] + k[1] + k[2])
    by_hand = by_hand + c * (k[0] * k[1] + k[0] * k[2] + k[1] * k[2]) + k[0] * k[1] * k[2]
    R = correlation(X, theta, kernel="matern52_additive", nugget=0.0)
    np.testing.assert_allclose(R, by_hand / 9.0**3, rtol=1e-14)


def test_a_nearly_additive_correlation_has_a_limit_far_away() -> None:
    R = correlation([[0.0] * 400, [1.0] * 400], 1e6, kernel="matern52_additive", nugget=0.0)
    assert R[0, 1] == pytest.approx((8 / 9) ** 400, rel=1e-12)
