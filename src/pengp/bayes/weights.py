"""Importance weights: effective size, tempering, error of their mean, and the Pareto shape."""

import numpy as np
from scipy.special import logsumexp

from pengp._core.arrays import FloatArray

_STEPS = 40
"""Bisections of a tempering exponent."""


def normalised(log_weights: FloatArray) -> FloatArray:
    """Return weights [..., N] that sum to 1 along the last axis."""
    weights = np.exp(log_weights - log_weights.max(-1, keepdims=True))
    total: FloatArray = weights / weights.sum(-1, keepdims=True)
    return total


def effective_size(weights: FloatArray) -> FloatArray:
    """Return (sum w)^2 / sum w^2 along the last axis of weights [..., N] (Kish 1965)."""
    return np.asarray(weights.sum(-1) ** 2 / (weights * weights).sum(-1))


def tempered(log_weights: FloatArray, least: float) -> FloatArray:
    """Return weights ~ w^t [N] that sum to 1, t the largest up to 1 with ``least`` effective size.

    Where even equal weights have less, they are all but equal; where all are 0, they are equal.
    """
    if np.isneginf(log_weights.max()):
        return np.full(len(log_weights), 1.0 / len(log_weights))
    weights = normalised(log_weights)
    if effective_size(weights) >= least:
        return weights
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        if effective_size(normalised(middle * log_weights)) >= least:
            low = middle
        else:
            high = middle
    return normalised(low * np.maximum(log_weights, -1e300))


def log_mean(log_weights: FloatArray) -> tuple[float, float]:
    """Return the logarithm of the mean of the weights [N], and its Monte Carlo standard error.

    The error is that of the mean divided by the mean.
    """
    N = len(log_weights)
    weights = normalised(log_weights)
    value = float(logsumexp(log_weights)) - float(np.log(N))
    return value, float(np.sqrt(((weights - 1.0 / N) ** 2).sum()))


def pareto_shape(log_weights: FloatArray) -> float:
    """Return the shape k of the generalised Pareto distribution of the largest weights.

    As in Vehtari, Simpson, Gelman, Yao and Gabry (2024): the tail is the largest
    min(N / 5, 3 sqrt(N)) weights. Above 0.7 the mean of the weights, and all that is computed from
    them, cannot be trusted. Below five tail weights it is inf; for equal weights -inf.
    """
    N = len(log_weights)
    size = int(min(0.2 * N, 3.0 * np.sqrt(N)))
    if size < 5:
        return np.inf
    largest = np.sort(np.exp(log_weights - log_weights.max()))[-size - 1 :]
    excess = largest[1:] - largest[0]
    if excess[size // 4] <= 0.0:
        return -np.inf
    return generalised_pareto_shape(excess)


def generalised_pareto_shape(x: FloatArray) -> float:
    """Return the shape of a generalised Pareto distribution from ascending positive x [n].

    Zhang and Stephens (2009), drawn towards 0.5 with the weight of 10 observations as in PSIS. b is
    averaged over a grid with its profile likelihood n (log(-b / k) - k - 1), k(b) being the mean of
    log(1 - b x).
    """
    n = len(x)
    m = 30 + int(np.sqrt(n))
    spread = 3.0 * x[int(n / 4 + 0.5) - 1]
    b = 1.0 / x[-1] + (1.0 - np.sqrt(m / (np.arange(1, m + 1) - 0.5))) / spread
    k = np.log1p(-b[:, None] * x).mean(1)
    profile = n * (np.log(-b / k) - k - 1.0)
    shape = np.log1p(-(normalised(profile) @ b) * x).mean()
    return float((n * shape + 10.0 * 0.5) / (n + 10.0))
