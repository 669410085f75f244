"""Expected improvements of a normal or Student t prediction, by logarithms where they underflow.

All take the standard law: Student's t with df degrees of freedom, normal for an infinite df.
"""

import numpy as np
from scipy.special import betaln, erfcx, hyp2f1, ndtr

from pengp._core.arrays import FloatArray
from pengp.bayes.student import t_cdf, t_log_density

_FAR = 200.0
"""From here on 1 - sqrt(pi / 2) z erfcx(z / sqrt2) is known better by its series."""

_NARROW = 1e-3
"""Half widths of a target, in scales, below which the density is constant across it."""

_HALF_LOG_2PI = 0.5 * np.log(2.0 * np.pi)


def cdf(z: FloatArray, df: float) -> FloatArray:
    """Return the probability below z."""
    return np.asarray(ndtr(z)) if np.isinf(df) else t_cdf(z, int(df))


def log_density(z: FloatArray, df: float) -> FloatArray:
    """Return the logarithm of the density at z."""
    return -0.5 * z * z - _HALF_LOG_2PI if np.isinf(df) else t_log_density(z, df)


def log_improvement(z: FloatArray, df: float) -> FloatArray:
    """Return log E max(z - U, 0) for U of the standard law.

    For the normal law log(phi(z) + z Phi(z)), which for z below -1 is
    -z^2 / 2 - log(2 pi) / 2 + log(1 - sqrt(pi / 2) |z| erfcx(|z| / sqrt2)) (Ament, Daulton,
    Eriksson, Balandat and Bakshy, 2023). For Student's t, z T(z) + (df + z^2) / (df - 1) t(z);
    below -1, with x = df / (df + z^2) and T by Gauss's hypergeometric function,
    x^((df - 1) / 2) / (sqrt(df) B(df / 2, 1 / 2)) [df / (df - 1) - (1 - x) F(x)].
    """
    low = z < -1.0
    out = np.empty(z.shape)
    far, near = z[low], z[~low]
    if np.isinf(df):
        out[~low] = np.log(np.exp(log_density(near, df)) + near * ndtr(near))
        out[low] = -0.5 * far * far - _HALF_LOG_2PI + _log_normal_rest(-far)
        return out
    tail = (df + near * near) / (df - 1.0) * np.exp(log_density(near, df))
    out[~low] = np.log(near * t_cdf(near, int(df)) + tail)
    x = df / (df + far * far)
    inner = df / (df - 1.0) - (1.0 - x) * hyp2f1(0.5 * df + 0.5, 1.0, 0.5 * df + 1.0, x)
    out[low] = 0.5 * (df - 1.0) * np.log(x) - 0.5 * np.log(df) - betaln(0.5 * df, 0.5)
    out[low] += np.log(np.maximum(inner, np.finfo(float).tiny))
    return out


def _log_normal_rest(z: FloatArray) -> FloatArray:
    """Return log(1 - sqrt(pi / 2) z erfcx(z / sqrt2)) for z above 1."""
    product = np.sqrt(0.5 * np.pi) * z * erfcx(z / np.sqrt(2.0))
    with np.errstate(divide="ignore"):
        rest = np.log1p(-np.minimum(product, 1.0))
    q = 1.0 / (z * z)  # 1 / z^2 - 3 / z^4 + 15 / z^6 far away
    return np.where(z < _FAR, rest, -2.0 * np.log(z) + np.log1p(-3.0 * q * (1.0 - 5.0 * q)))


def log_target_improvement(
    m: FloatArray, s: FloatArray, target: float, best: float, df: float
) -> FloatArray:
    """Return log E max(best - |f - target|, 0) for f = m + s U, best above 0.

    The tent is (c - f)+ - 2 (t - f)+ + (a - f)+ with c = t + best and a = t - best; mirrored so
    that m lies above the target, no term is small beside the others' difference.
    """
    away = np.abs(m - target)
    parts = [log_improvement((end - away) / s, df) for end in (best, 0.0, -best)]
    with np.errstate(divide="ignore", invalid="ignore"):
        second = -2.0 * np.exp(parts[1] - parts[0]) + np.exp(parts[2] - parts[0])
        tent = np.log(s) + parts[0] + np.log1p(second)
    narrow = 2.0 * np.log(best / s) + np.log(s) + log_density(away / s, df)
    return np.where((best < _NARROW * s) | ~np.isfinite(tent), narrow, tent)


def contour_improvement(
    m: FloatArray, s: FloatArray, value: float, df: float, width: float
) -> FloatArray:
    """Return E max((width s)^2 - (f - value)^2, 0) for f = m + s U.

    Ranjan, Bingham and Michailidis (2008); for Student's t by its truncated moments: the integral
    of u^2 t(u) is (df T(u) - u (df + u^2) t(u)) / (df - 2).
    """
    centre = (value - m) / s
    low, high = centre - width, centre + width
    zeroth = cdf(high, df) - cdf(low, df)
    first, second = (_moment(high, k, df) - _moment(low, k, df) for k in (1, 2))
    inside = (width**2 - centre**2) * zeroth + 2.0 * centre * first - second
    return s * s * np.maximum(inside, 0.0)


def _moment(u: FloatArray, k: int, df: float) -> FloatArray:
    """Return the integral of the k-th power, 1 or 2, times the density up to u."""
    density = np.exp(log_density(u, df))
    if np.isinf(df):
        return -density if k == 1 else cdf(u, df) - u * density
    edge = (df + u * u) * density
    return -edge / (df - 1.0) if k == 1 else (df * cdf(u, df) - u * edge) / (df - 2.0)
