"""What a further run is worth: criteria, each averaged over the processes of a fitted model.

A criterion takes processes and inputs [m, d] in the unit cube and returns a value each [m]; the run
with the largest one is proposed.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from scipy.special import logsumexp

from pengp._core.arrays import FloatArray
from pengp.decisions.improvement import (
    contour_improvement,
    log_improvement,
    log_target_improvement,
)
from pengp.decisions.processes import Processes, inner_precision
from pengp.model.posterior import Posterior

_CONTOUR_WIDTH = 2.0
"""Half width of the band about a threshold, in scales of the prediction (Ranjan et al., 2008)."""

_PIECE = 1 << 20
"""Elements of a covariance that are held at a time."""

Criterion: TypeAlias = Callable[[Processes, FloatArray], FloatArray]


def integrated_variance_fall(reference: FloatArray) -> Criterion:
    """Return the fall of the variance, averaged over reference points [q, d], by a run at x.

    For a process c(x, z)^2 / (v(x) + g), averaged over z, with c its covariance and v its variance
    (Binois, Huang, Gramacy and Ludkovski, 2019); theta and scale are kept.
    """

    def fall(processes: Processes, X: FloatArray) -> FloatArray:
        total = np.zeros(len(X))
        for w, process in zip(processes.weight, processes.components, strict=True):
            total += w * process.sigma2 * _fall(process, X, reference)
        return _inflation(processes) * total

    return fall


def _fall(process: Posterior, X: FloatArray, reference: FloatArray) -> FloatArray:
    """Return the fall of one process [m] at X [m, d], divided by sigma2."""
    Q, there = inner_precision(process), _known(process, reference)
    right = (there @ Q).T
    out, step = np.empty(len(X)), max(64, _PIECE // len(reference))
    for start in range(0, len(X), step):
        part = X[start : start + step]
        h = _known(process, part)
        c = _correlations(process, part, reference)
        c -= h @ right
        v = np.maximum(1.0 - np.vecdot(h @ Q, h), 0.0)
        out[start : start + step] = np.vecdot(c, c) / len(reference) / (v + process.next_ridge)
    return out


def _known(process: Posterior, X: FloatArray) -> FloatArray:
    """Return (r, f) [m, n + k]: correlations with the runs, basis functions of the mean."""
    r = _correlations(process, X, process.X)
    return np.hstack([r, process.mean.columns(X)]) if process.trend.size else r


def _correlations(process: Posterior, A: FloatArray, B: FloatArray) -> FloatArray:
    """Return the correlations [a, b] of A [a, d] and B [b, d], by matrix products."""
    found: FloatArray = process.kernel.across(A - 0.5, B - 0.5, process.theta)[0]
    return found


def vigf(processes: Processes, X: FloatArray) -> FloatArray:
    """Return the variance of (f(x) - y of the nearest run)^2: 4 v (m - y)^2 + 2 v^2.

    For a Gaussian process with mean m and variance v (Mohammadi and Challenor, 2022), averaged.
    """
    means, squares = processes.means_and_scales(X)
    nearest = processes.y[processes.square_distances(X, processes.X).argmin(1)]
    v = _inflation(processes) * squares
    return np.asarray(processes.weight @ (4.0 * v * (means - nearest) ** 2 + 2.0 * v * v))


def between_over_within(processes: Processes, X: FloatArray) -> FloatArray:
    """Return the variance between the processes' means over the mean variance within.

    The nugget, and the noise of a run, count as spread within: nothing is told apart below them.
    """
    means, squares = processes.means_and_scales(X)
    noise = np.array([p.sigma2 * p.next_ridge for p in processes.components])[:, None]
    between = processes.weight @ (means - processes.weight @ means) ** 2
    within = processes.weight @ (_inflation(processes) * squares + noise)
    return np.asarray(between / within)


def log_expected_improvement(
    sign: float = 1.0, target: float | None = None, best: float | None = None
) -> Criterion:
    """Return the logarithm of the expected improvement on the best run.

    Parameters
    ----------
    sign : float
        1 to minimise, -1 to maximise the response.
    target : float, optional
        Standardised value to come close to, instead.
    best : float, optional
        Standardised response to improve upon; by default that of the best run.
    """

    def value(processes: Processes, X: FloatArray) -> FloatArray:
        means, scales = _means_and_scales(processes, X)
        y = processes.y if best is None else np.array([best])
        if target is None:
            least = float((sign * y).min())
            each = np.log(scales) + log_improvement((least - sign * means) / scales, processes.df)
        else:
            least = max(float(np.abs(y - target).min()), np.finfo(float).eps)
            each = log_target_improvement(means, scales, target, least, processes.df)
        return np.asarray(logsumexp(each, axis=0, b=processes.weight[:, None]))

    return value


def expected_contour_improvement(value: float) -> Criterion:
    """Return the expected improvement for the contour at a standardised value."""

    def improvement(processes: Processes, X: FloatArray) -> FloatArray:
        means, scales = _means_and_scales(processes, X)
        found = contour_improvement(means, scales, value, processes.df, _CONTOUR_WIDTH)
        return np.asarray(processes.weight @ found)

    return improvement


def _means_and_scales(processes: Processes, X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return means and scales [M, m] at X [m, d], the latter above 0."""
    means, squares = processes.means_and_scales(X)
    return means, np.sqrt(np.maximum(squares, np.finfo(float).tiny))


def _inflation(processes: Processes) -> float:
    """Return variance over squared scale, 3 up to df = 2, where there is no variance."""
    return processes.inflation if np.isfinite(processes.inflation) else 3.0
