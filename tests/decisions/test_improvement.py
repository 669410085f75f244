"""Expected improvements against quadrature where they do not underflow, and beyond."""

from collections.abc import Callable
from functools import partial
from operator import sub
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from pengp.decisions.improvement import (
    contour_improvement,
    log_improvement,
    log_target_improvement,
)

DFS = [3.0, 8.0, 12.0, 41.0, np.inf]


def law(df: float) -> Any:
    return stats.norm() if np.isinf(df) else stats.t(df)


def mean_of(function: Callable[[float], float], df: float, ends: tuple[float, float]) -> float:
    """E function(U), which is 0 outside the ends."""
    density = law(df).pdf
    value, _ = integrate.quad(
        lambda u: function(u) * density(u), *ends, epsabs=0.0, epsrel=1e-12, limit=500
    )
    return float(value)


@pytest.mark.parametrize("df", DFS)
def test_log_improvement_is_that_of_quadrature(df: float) -> None:
    z = np.array([-9.0, -4.0, -1.5, -1.0, -0.999, 0.0, 0.7, 3.0])
    found = log_improvement(z, df)
    expected = [np.log(mean_of(partial(sub, c), df, (-np.inf, c))) for c in z.tolist()]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10)


def test_normal_improvement_far_away_is_its_asymptotic_series() -> None:
    z = np.array([-30.0, -199.0, -201.0, -1e4, -1e8])
    assert (np.exp(-0.5 * z * z)[1:] == 0.0).all()  # the plain formula underflows
    # phi(z) / z^2 (1 - 3 / z^2 + 15 / z^4 - 105 / z^6 + 945 / z^8), by parts
    series = np.log1p(-3 / z**2 + 15 / z**4 - 105 / z**6 + 945 / z**8)
    expected = -0.5 * z * z - 0.5 * np.log(2 * np.pi) - 2.0 * np.log(-z) + series
    np.testing.assert_allclose(
        log_improvement(z, np.inf) + 0.5 * z * z, expected + 0.5 * z * z, rtol=1e-9
    )


@pytest.mark.parametrize("df", [8.0, 100.0])
def test_student_improvement_far_away_is_a_power(df: float) -> None:
    # The density tends to C |u|^-(df + 1), its double integral to C |z|^-(df - 1) / (df (df - 1)).
    z = np.array([-1e6, -1e8])
    log_c = stats.t(df).logpdf(0.0) + 0.5 * (df + 1.0) * np.log(df)
    expected = log_c - (df - 1.0) * np.log(-z) - np.log(df * (df - 1.0))
    np.testing.assert_allclose(log_improvement(z, df), expected, rtol=1e-9)


@pytest.mark.parametrize("df", DFS)
@pytest.mark.parametrize(("m", "best"), [(0.3, 0.5), (-2.0, 0.5), (4.0, 0.01), (-0.2, 2.0)])
def test_target_improvement_is_that_of_quadrature(df: float, m: float, best: float) -> None:
    s, target = 0.7, 0.1
    low, middle, high = ((target + step - m) / s for step in (-best, 0.0, best))
    expected = sum(
        mean_of(lambda u: best - abs(m + s * u - target), df, ends)
        for ends in ((low, middle), (middle, high))
    )
    found = log_target_improvement(np.array([m]), np.array([s]), target, best, df)
    np.testing.assert_allclose(found, np.log(expected), rtol=1e-6)


def test_narrow_target_is_the_density_times_its_square() -> None:
    m, s = np.array([0.4]), np.array([0.5])
    for best in (1e-5, 1e-12):
        expected = np.log(best**2 * stats.norm(0.4, 0.5).pdf(0.1))
        found = log_target_improvement(m, s, 0.1, best, np.inf)
        np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("df", DFS)
@pytest.mark.parametrize("m", [-3.0, 0.0, 0.9, 5.0])
def test_contour_improvement_is_that_of_quadrature(df: float, m: float) -> None:
    s, value, width = 0.8, 0.5, 2.0
    ends = (value - m) / s - width, (value - m) / s + width
    expected = mean_of(lambda u: (width * s) ** 2 - (m + s * u - value) ** 2, df, ends)
    found = contour_improvement(np.array([m]), np.array([s]), value, df, width)
    np.testing.assert_allclose(found, expected, rtol=1e-7)
