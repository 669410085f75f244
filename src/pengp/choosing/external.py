"""What held-out runs say about sigma2 and about the model, where theta is the true one."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc

from pengp._core.arrays import FloatArray
from pengp.choosing.metrics import FoldParts
from pengp.exceptions import InputError


def external_sigma2(r: ArrayLike, R: ArrayLike) -> FloatArray:
    """Return DPE / n_v, an estimate of sigma2 from held-out runs (Section 3).

    With the true theta it has no bias: DPE = r' R^-1 r is sigma2 times chi-squared with n_v degrees
    of freedom.

    Parameters
    ----------
    r : array-like [..., v]
        Residuals y_k - mu_k of the held-out runs.
    R : array-like [..., v, v]
        Their scaled predictive covariance R_theta(X_k | D_-k).

    Returns
    -------
    ndarray [...]

    Examples
    --------
    >>> from pengp.choosing import external_sigma2
    >>> round(float(external_sigma2([0.5, -0.2], [[1.0, 0.3], [0.3, 1.0]])), 4)
    0.1923
    """
    parts = FoldParts.from_arrays(r, R, 1.0)
    return np.asarray(parts.quadratic / parts.r.shape[-1])


def mahalanobis_p_value(r: ArrayLike, R: ArrayLike, sigma2: ArrayLike) -> FloatArray:
    """Return the probability of a Mahalanobis distance as large as that of held-out runs.

    With the true theta and sigma2 the distance r' R^-1 r / sigma2 is chi-squared with n_v degrees
    of freedom (Section 2).

    Parameters
    ----------
    r, R
        As for `external_sigma2`.
    sigma2 : array-like [...]
        Scale.

    Returns
    -------
    ndarray [...]

    Examples
    --------
    Errors of three standard deviations in two runs that agree are hardly chance:

    >>> from pengp.choosing import mahalanobis_p_value
    >>> round(float(mahalanobis_p_value([3.0, 3.0], [[1.0, 0.3], [0.3, 1.0]], 1.0)), 4)
    0.001
    """
    parts = FoldParts.from_arrays(r, R, sigma2)
    if not ((parts.sigma2 > 0.0) & np.isfinite(parts.sigma2)).all():
        raise InputError("sigma2 must be finite and above 0.")
    with np.errstate(over="ignore"):
        distance = parts.quadratic / parts.sigma2
    return np.asarray(chdtrc(parts.r.shape[-1], distance))
