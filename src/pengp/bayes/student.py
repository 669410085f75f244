"""Student's t distribution with a whole number of degrees of freedom, or infinitely many."""

import numpy as np
from scipy.special import gammaln, ndtr

from pengp._core.arrays import FloatArray

_PIECE = 1 << 14
"""Elements that stay in a core's cache."""

_FARTHEST = 1e100
"""Arguments are brought into this range, so that their squares stay finite."""


def t_cdf(z: FloatArray, df: float) -> FloatArray:
    """Return F(z) to about 1e-16, from the finite sums of Abramowitz and Stegun, 26.7.3 and 26.7.4.

    With c = cos^2 = df / (df + z^2), F is 1/2 plus half of

        sin (1 + 1/2 c + 1 3/(2 4) c^2 + ...),  df / 2 terms, for an even df,
        2/pi (angle + sin cos (1 + 2/3 c + 2 4/(3 5) c^2 + ...)),  (df - 1) / 2 terms, else.

    Several times as fast as an incomplete beta function. An infinite df is the normal law.
    """
    if np.isinf(df):
        return np.asarray(ndtr(z))
    out = np.empty(z.shape)
    flat, target = z.reshape(-1), out.reshape(-1)
    for start in range(0, z.size, _PIECE):
        part = slice(start, start + _PIECE)
        target[part] = _t_cdf(flat[part], int(df))
    return out


def _t_cdf(z: FloatArray, df: int) -> FloatArray:
    """Return F(z) of a flat array."""
    z = np.clip(z, -_FARTHEST, _FARTHEST)
    root = np.sqrt(df + z * z)
    sine = z / root
    c = df / (root * root)
    odd = df % 2
    total = np.ones_like(c)
    for k in range(df - 2, 1, -2):  # Horner's rule, from the last ratio of two coefficients
        total *= c
        total *= (k - 1.0) / k
        total += 1.0
    total *= sine
    if odd:
        total *= np.sqrt(c) if df > 1 else 0.0
        total += np.arctan(z / np.sqrt(df))
        total *= 2.0 / np.pi
    total *= 0.5
    total += 0.5
    return np.clip(total, 0.0, 1.0, out=total)


def inflation(df: float) -> float:
    """Return the variance of a t over its squared scale, df / (df - 2); infinite up to df = 2."""
    if np.isinf(df):
        return 1.0
    return df / (df - 2.0) if df > 2.0 else np.inf


def t_log_density(z: FloatArray, df: float) -> FloatArray:
    """Return the logarithm of the density."""
    if np.isinf(df):
        return -0.5 * (z * z + np.log(2.0 * np.pi))
    constant = gammaln(0.5 * (df + 1.0)) - gammaln(0.5 * df) - 0.5 * np.log(df * np.pi)
    return constant - 0.5 * (df + 1.0) * np.log1p(z * z / df)
