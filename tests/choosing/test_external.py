"""What held-out runs say about sigma2 and the model, by hand."""

import numpy as np
import pytest
from scipy.stats import chi2

from pengp.choosing import external_sigma2, get_metric, mahalanobis_p_value

R = np.array([[2.0, 0.5], [0.5, 1.0]])
r = np.array([1.0, -2.0])


def test_the_external_estimate_is_dpe_for_each_run() -> None:
    # R^-1 = [[1, -.5], [-.5, 2]] / 1.75, so r' R^-1 r = (1 + 2 + 8) / 1.75.
    assert external_sigma2(r, R) == pytest.approx(11.0 / 1.75 / 2.0)
    assert 2.0 * external_sigma2(r, R) == pytest.approx(get_metric("dpe")(r, R, 3.0))


def test_the_p_value_is_the_tail_of_chi_squared() -> None:
    found = mahalanobis_p_value(np.stack([r, 0.0 * r]), R, [3.0, 3.0])
    assert found == pytest.approx([chi2(2).sf(11.0 / 1.75 / 3.0), 1.0])
