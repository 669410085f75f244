"""The shipped runs against the published table's own structure and estimates."""

import numpy as np
import pytest

from pengp.datasets import load_piston_slap


def test_first_and_last_run_are_those_printed() -> None:
    data = load_piston_slap()
    assert data.X.shape == (12, 6)
    np.testing.assert_array_equal(data.X[0], [71, 16.8, 21.0, 2, 1, 0.98])
    np.testing.assert_array_equal(data.X[-1], [57, 15.6, 23.4, 3, 1, 0.66])
    assert data.y[0] == 56.75
    assert data.y[-1] == 59.64


def test_the_design_is_balanced() -> None:
    # Six equally spaced levels twice each, or three levels four times: a mistyped entry breaks it.
    for column in load_piston_slap().X.T:
        levels, counts = np.unique(column, return_counts=True)
        assert set(counts) == {12 // len(levels)}
        np.testing.assert_allclose(np.diff(levels), (levels[-1] - levels[0]) / (len(levels) - 1))


@pytest.mark.parametrize(
    ("theta", "sigma2"),
    [
        ([4.067, 0.001, 0.588, 0.001, 0.001, 2.751], 1.151),
        ([3.728, 0.001, 0.532, 0.001, 0.001, 2.550], 1.241),
        ([0.387, 0.001, 0.001, 0.906, 0.019, 0.428], 5.382),
        ([1.453] * 6, 1.177),
    ],
)
def test_runs_give_the_published_variance_estimates(theta: list[float], sigma2: float) -> None:
    # y' R^-1 y / n with R the squared exponential correlation and nugget 1e-5, scaled inputs.
    data = load_piston_slap()
    low, high = data.X.min(axis=0), data.X.max(axis=0)
    X = (data.X - low) / (high - low)
    y = (data.y - data.y.mean()) / data.y.std(ddof=1)
    R = np.exp(-np.sum(theta * (X[:, None, :] - X) ** 2, axis=2)) + 1e-5 * np.eye(12)
    assert y @ np.linalg.solve(R, y) / 12 == pytest.approx(sigma2, rel=5e-3)


def test_columns_and_response_are_named() -> None:
    data = load_piston_slap()
    assert data.input_names == (
        "cylinder liner",
        "location of peak pressure",
        "skirt length",
        "skirt profile",
        "skirt ovality",
        "pin offset",
    )
    assert (data.response_name, data.unit) == ("piston slap noise", "dB")
    assert "Li and Sudjianto (2005)" in data.reference


def test_changing_one_copy_leaves_the_next_untouched() -> None:
    load_piston_slap().X[:] = 0.0
    assert load_piston_slap().X[0, 0] == 71.0
