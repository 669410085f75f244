"""Correlations against closed forms, finite differences and their values at s = 0."""

from typing import Any

import numpy as np
import pytest

from pengp.exceptions import InputError
from pengp.model.kernels import KERNELS, Matern32, get_kernel
from tests.problems import CORRELATIONS

each_kernel = pytest.mark.parametrize("name", KERNELS)


def test_the_tests_know_every_kernel() -> None:
    assert set(KERNELS) == set(CORRELATIONS) == {"sqexp", "matern52", "matern32"}


@each_kernel
def test_phi_is_the_correlation_of_the_distance(name: str) -> None:
    h = np.concatenate([[0.0], np.geomspace(1e-6, 30.0, 60)])
    assert np.allclose(KERNELS[name].phi(h**2), CORRELATIONS[name](h), rtol=1e-13, atol=0.0)


@each_kernel
def test_phi_is_one_at_zero_and_falls_to_zero(name: str) -> None:
    kernel = KERNELS[name]
    s = np.concatenate([[0.0], np.geomspace(1e-8, 1e4, 200)])
    phi = kernel.phi(s)
    assert phi[0] == 1.0
    assert (np.diff(phi) <= 0.0).all()
    assert phi[-1] < 1e-40


@each_kernel
def test_derivatives_against_finite_differences(name: str) -> None:
    kernel = KERNELS[name]
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
    kernel, zero = KERNELS[name], np.zeros(3)
    d1, d2 = kernel.derivatives(zero, kernel.phi(zero))
    assert np.allclose(d1, first, rtol=1e-15)
    assert (d2 == second).all() or np.allclose(d2, second, rtol=1e-15)


def test_first_derivatives_at_zero_are_right_sided_difference_quotients() -> None:
    for kernel, h, tolerance in ((k, 1e-8, 2e-4) for k in KERNELS.values()):
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
    phi = KERNELS[name].phi(s)
    first, second = KERNELS[name].derivatives(s, phi)
    assert phi.shape == first.shape == second.shape == (2, 3, 4)
    assert phi[1, 2, 3] == KERNELS[name].phi(s[1, 2, 3:])[0]


@each_kernel
def test_phi_takes_numbers_and_whole_numbers(name: str) -> None:
    phi: Any = KERNELS[name].phi
    expected = phi(np.array([0.0, 1.0, 2.0]))
    np.testing.assert_array_equal(phi(np.arange(3)), expected)
    assert phi(np.array(1.0)) == expected[1]


def test_get_kernel_takes_names_and_objects() -> None:
    assert get_kernel("matern52") is KERNELS["matern52"]
    own = Matern32()
    assert get_kernel(own) is own
    with pytest.raises(InputError, match=r"kernel='rbf' is unknown.*sqexp, matern52, matern32"):
        get_kernel("rbf")
