"""Jackknife+ intervals: order statistics by hand, and from how many runs on they are finite."""

import numpy as np
import pytest

from pengp.choosing import jackknife_plus
from pengp.choosing.jackknife import rank
from pengp.exceptions import InputError


def test_ends_are_order_statistics_by_hand() -> None:
    means = np.array([[1.0, 2.0, 4.0, 3.0], [0.0, 0.0, 0.0, 0.0]])
    residuals = np.array([0.5, 3.0, 1.0, 0.2])
    # Sums 1.5, 5, 5, 3.2 and differences 0.5, -1, 3, 2.8; level 0.6 of 5 is the third of each.
    lower, upper = jackknife_plus(means, residuals, 0.6)
    assert lower.tolist() == [0.5, -1.0]
    assert upper.tolist() == [5.0, 1.0]
    lower, upper = jackknife_plus(means, residuals, 0.8)
    assert lower.tolist() == [-1.0, -3.0]
    assert upper.tolist() == [5.0, 3.0]


def test_nineteen_runs_are_needed_for_95_percent() -> None:
    assert [rank(n, 0.95) for n in (19, 20, 39, 40)] == [19, 20, 38, 39]
    with pytest.raises(InputError, match=r"at least 19 runs; 18 runs support .* at most 0\.947\."):
        rank(18, 0.95)
    assert rank(18, 0.947) == 18
    with pytest.raises(InputError, match="at least 9 runs"):
        rank(8, 0.9)
    assert rank(9, 0.9) == 9


def test_exchangeable_errors_are_covered_as_promised() -> None:
    # Means of n draws that leave out one: the coverage is at least 2 level - 1 and near the level.
    rng, n = np.random.default_rng(0), 19
    inside = 0
    for _ in range(2000):
        y = rng.standard_cauchy(n + 1)
        means = (y[:n].sum() - y[:n]) / (n - 1)
        lower, upper = jackknife_plus(means, np.abs(y[:n] - means), 0.9)
        inside += bool(lower <= y[n] <= upper)
    assert 0.8 <= inside / 2000 <= 1.0
    assert abs(inside / 2000 - 0.9) < 0.04
