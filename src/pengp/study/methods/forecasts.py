"""Forecasts of test runs and their scores: normal and Student laws and mixtures of them."""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from pengp._core.arrays import FloatArray
from pengp.bayes.law import MixtureLaw
from pengp.choosing import coverage, crps_normal_values, interval_score, rmse
from pengp.choosing.scores import normal_interval

#: Level of the intervals.
LEVEL = 0.95
#: Halvings of a bracket in which a quantile of a mixture lies.
_HALVINGS = 60


class Forecast(NamedTuple):
    """What a method says of m test runs, and its CRPS."""

    mean: FloatArray  # [m]
    lower: FloatArray  # [m], ends of the central 95 % interval
    upper: FloatArray  # [m]
    crps: FloatArray  # [m]


def scores(forecast: Forecast, y: FloatArray) -> dict[str, float]:
    """Return the scores of a forecast of y [m]; all are better the smaller, but coverage."""
    return {
        "rmse": rmse(y, forecast.mean),
        "crps": float(forecast.crps.mean()),
        "coverage": coverage(y, forecast.lower, forecast.upper),
        "interval_score": interval_score(y, forecast.lower, forecast.upper, level=LEVEL),
    }


def normal(mean: FloatArray, std: FloatArray, y: FloatArray) -> Forecast:
    """Return the forecast of normal laws, mean and std [m], of y [m]."""
    lower, upper = normal_interval(mean, std, LEVEL)
    return Forecast(mean, lower, upper, crps_normal_values(y, mean, std))


def mixture(law: MixtureLaw, y: FloatArray) -> Forecast:
    """Return the forecast of mixtures of Student t's of y [m]."""
    lower, upper = law.interval(LEVEL).T
    return Forecast(law.mean(), lower, upper, law.crps(y))


def normal_mixture(
    weight: FloatArray, mean: FloatArray, std: FloatArray, y: FloatArray
) -> Forecast:
    """Return the forecast of mixtures of K normal laws of y [m].

    With A(e, s) = E|e + s Z| the CRPS is sum_k w_k A(y - mean_k, std_k) less half of
    sum_kl w_k w_l A(mean_k - mean_l, sqrt(std_k^2 + std_l^2)) (Grimit et al. 2006).

    Parameters
    ----------
    weight : [K]
        Adding up to 1.
    mean, std : [K, m]
        Of the components.
    y : [m]
        Responses.
    """
    crps = weight @ _mean_absolute(y - mean, std)
    for w, a, s in zip(weight, mean, std, strict=True):
        crps -= 0.5 * w * (weight @ _mean_absolute(a - mean, np.hypot(s, std)))
    lower, upper = (_quantile(weight, mean, std, 0.5 + 0.5 * sign * LEVEL) for sign in (-1, 1))
    return Forecast(weight @ mean, lower, upper, crps)


def _mean_absolute(e: FloatArray, s: FloatArray) -> FloatArray:
    """Return E|e + s Z| for a standard normal Z."""
    z = e / s
    return e * (2.0 * ndtr(z) - 1.0) + 2.0 * s * np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi)


def _quantile(weight: FloatArray, mean: FloatArray, std: FloatArray, p: float) -> FloatArray:
    """Return the quantiles [m] of order p of mixtures, by halving a bracket."""
    ends = mean + ndtri(p) * std
    low, high = ends.min(0), ends.max(0)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        below = weight @ ndtr((middle - mean) / std) < p
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return 0.5 * (low + high)
