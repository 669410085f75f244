"""Points of the Sobol sequence are scipy's, to the bit."""

import numpy as np
import pytest
from scipy.stats import qmc

from pengp._core.sobol import sobol_points


@pytest.mark.parametrize("d", [1, 2, 5, 16, 17, 30])  # beyond 16 they are scipy's own
@pytest.mark.parametrize("size", [1, 2, 128, 4096])
def test_the_points_are_those_of_scipy(size: int, d: int) -> None:
    expected = qmc.Sobol(d, scramble=False).random(size)
    np.testing.assert_array_equal(sobol_points(size, d), expected)


def test_no_points_can_be_asked_for() -> None:
    assert sobol_points(0, 3).shape == (0, 3)
