"""Unit-cube and response scaling: values by hand, inverses, and units from 1e-300 to 1e308."""

from typing import Any

import numpy as np
import pytest

from pengp.exceptions import InputError
from pengp.model.scaling import InputScaler, ResponseScaler

X = np.array([[2.0, -10.0, 5.0], [4.0, 30.0, 5.0], [3.0, 0.0, 5.0]])


def test_inputs_by_hand() -> None:
    scaler = InputScaler.from_data(X)
    expected = [[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.5, 0.25, 0.0]]
    assert np.array_equal(scaler.transform(X), expected)
    assert np.array_equal(scaler.width, [2.0, 40.0, 1.0])
    assert np.array_equal(scaler.constant, [False, False, True])
    assert np.array_equal(scaler.transform([[5.0, -20.0, 5.0]]), [[1.5, -0.25, 0.0]])


def test_declared_bounds_replace_the_data_range() -> None:
    scaler = InputScaler.from_data(X, [[0, 10], [-20, 60], [4, 8]])
    assert np.allclose(scaler.transform(X)[2], [0.3, 0.25, 0.25], rtol=1e-15)
    assert np.array_equal(scaler.constant, [False, False, True])
    assert np.array_equal(scaler.width, [10.0, 80.0, 4.0])


def test_a_column_without_scale_is_ignored_and_returns_its_value() -> None:
    scaler = InputScaler.from_data(X)
    assert scaler.transform([[2.0, 0.0, 1e300]])[0, 2] == 0.0
    assert np.array_equal(scaler.inverse(scaler.transform(X))[:, 2], [5.0, 5.0, 5.0])


def test_transform_has_the_bits_of_the_plain_formula() -> None:
    rng = np.random.default_rng(3)
    data = rng.normal(size=(40, 5)) * 10.0 ** np.arange(-6, 9, 3)
    plain = (data - data.min(axis=0)) / (data.max(axis=0) - data.min(axis=0))
    assert np.array_equal(InputScaler.from_data(data).transform(data), plain)


def test_inverse_undoes_transform() -> None:
    rng = np.random.default_rng(4)
    data = rng.normal(size=(30, 3)) * [1e-3, 1.0, 1e5] + [0.1, -7.0, 1e5]
    scaler = InputScaler.from_data(data)
    back = scaler.inverse(scaler.transform(data))
    np.testing.assert_allclose(back, data, rtol=1e-13, atol=1e-16)


def test_inverse_returns_the_ends_exactly() -> None:
    data = np.random.default_rng(5).normal(size=(2, 50))
    low, high = data.min(axis=0), data.max(axis=0)
    assert np.any(low + (high - low) != high)  # the plain formula does not
    ends = InputScaler.from_data(data).inverse([[0.0] * 50, [1.0] * 50])
    assert np.array_equal(ends, [low, high])


@pytest.mark.parametrize("unit", [1e-300, 1e-160, 1e160, 1e300, 1e308])
def test_units_do_not_matter(unit: float) -> None:
    base = np.array([[-1.0], [0.5], [1.0]])
    scaler = InputScaler.from_data(base * unit)
    np.testing.assert_allclose(scaler.transform(base * unit), [[0.0], [0.75], [1.0]], rtol=1e-15)
    np.testing.assert_allclose(scaler.inverse([[0.75]]), [[0.5 * unit]], rtol=1e-15)
    # width 2 * unit overflows for 1e308; the lengthscale width / sqrt(16) does not.
    np.testing.assert_allclose(scaler.lengthscale([16.0]), [0.5 * unit], rtol=1e-15)
    assert np.isfinite(scaler.width).all()


def test_subnormal_range() -> None:
    data = np.array([[0.0], [1e-320], [4e-320]])
    scaled = InputScaler.from_data(data).transform(data)
    np.testing.assert_allclose(scaled, [[0.0], [0.25], [1.0]], atol=1e-3)


def test_points_far_outside_keep_finite_squared_differences() -> None:
    scaler = InputScaler.from_data([[0.0], [1e-300]])
    scaled = scaler.transform([[1e300], [-1e300]])
    assert np.isfinite((scaled[0] - scaled[1]) ** 2 * 1000.0).all()
    assert scaled[0, 0] > 1e100
    assert scaled[1, 0] < -1e100


def test_lengthscale_is_the_distance_at_which_theta_dx2_is_one() -> None:
    scaler = InputScaler.from_data(X)
    theta = np.array([4.0, 0.25, 100.0])
    length = scaler.lengthscale(theta)
    assert np.allclose(length[:2], [1.0, 80.0], rtol=1e-15)
    moved = scaler.transform(X[:1] + length) - scaler.transform(X[:1])
    np.testing.assert_allclose((theta * moved**2)[0, :2], 1.0, rtol=1e-12)
    assert length[2] == 0.1  # a column without scale counts as of width 1
    assert scaler.lengthscale([0.0, 1.0, 1.0])[0] == np.inf
    np.testing.assert_allclose(scaler.lengthscale([[4.0], [1.0]])[:, 1], [20.0, 40.0])


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ([[0, 1], [0, 1]], r"shape \(2, 2\)"),
        ([[0, 1], [3, 3], [0, 1]], "input 1"),
        ([[0, 1], [0, 1], [2, 1]], "input 2"),
        ([[0, np.inf], [0, 1], [0, 1]], "input 0"),
        ([["a", 1], [0, 1], [0, 1]], "numbers"),
    ],
)
def test_faulty_bounds_are_named(bounds: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        InputScaler.from_data(X, bounds)


def test_response_by_hand() -> None:
    scaler = ResponseScaler.from_data([1.0, 2.0, 3.0, 6.0])
    # mean 3, squares 4 + 1 + 0 + 9 = 14, ddof = 1
    assert scaler.mean == 3.0
    assert scaler.sd == pytest.approx(np.sqrt(14.0 / 3.0), rel=1e-15)
    assert not scaler.constant
    np.testing.assert_allclose(scaler.transform([6.0]), [3.0 / np.sqrt(14.0 / 3.0)], rtol=1e-15)
    np.testing.assert_allclose(scaler.inverse([0.0, 1.0]), [3.0, 3.0 + np.sqrt(14 / 3)])
    np.testing.assert_allclose(scaler.inverse_std([2.0]), [2.0 * np.sqrt(14 / 3)])
    np.testing.assert_allclose(scaler.inverse_cov([[1.0, 0.5]]), [[14 / 3, 7 / 3]])


def test_outputs_are_scaled_one_by_one() -> None:
    Y = np.random.default_rng(1).normal(size=(9, 3)) * [1e-5, 1.0, 1e7] + [1.0, 0.0, -1e7]
    joint = ResponseScaler.from_data(Y)
    for q in range(3):
        single = ResponseScaler.from_data(Y[:, q])
        assert np.array_equal(joint.transform(Y)[:, q], single.transform(Y[:, q]))
    standard = joint.transform(Y)
    np.testing.assert_allclose(standard.mean(axis=0), 0.0, atol=1e-10)
    np.testing.assert_allclose(standard.std(axis=0, ddof=1), 1.0, rtol=1e-10)
    np.testing.assert_allclose(joint.inverse(standard), Y, rtol=1e-13, atol=1e-16)
    cov = np.ones((2, 2, 3))
    np.testing.assert_allclose(joint.inverse_cov(cov)[0, 1], Y.var(axis=0, ddof=1), rtol=1e-12)


def test_constant_response_is_flagged_and_keeps_its_value() -> None:
    scaler = ResponseScaler.from_data(np.column_stack([np.full(7, 0.1), np.arange(7.0)]))
    assert np.array_equal(scaler.constant, [True, False])
    assert scaler.mean[0] == 0.1
    assert scaler.sd[0] == 1.0
    assert scaler.transform([[0.1, 3.0]])[0, 0] == 0.0
    assert ResponseScaler.from_data([3.0]).constant


@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1e200, 1e300])
def test_response_units_do_not_matter(unit: float) -> None:
    base = np.array([1.0, 2.0, 3.0, 6.0])
    scaler, plain = ResponseScaler.from_data(base * unit), ResponseScaler.from_data(base)
    np.testing.assert_allclose(scaler.sd, np.sqrt(14.0 / 3.0) * unit, rtol=1e-14)
    np.testing.assert_allclose(scaler.transform(base * unit), plain.transform(base), rtol=1e-14)
    np.testing.assert_allclose(scaler.inverse(plain.transform(base)), base * unit, rtol=1e-14)


def test_covariance_overflows_only_where_the_result_does() -> None:
    scaler = ResponseScaler.from_data(np.array([-1.0, 1.0]) * 1e200 / np.sqrt(2.0))
    np.testing.assert_allclose(scaler.inverse_cov([1e-250]), [1e150], rtol=1e-14)
    assert scaler.inverse_cov([1.0])[0] == np.inf
    assert scaler.inverse_cov([0.0])[0] == 0.0
