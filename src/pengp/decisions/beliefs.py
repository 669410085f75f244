"""Processes once further runs are known, what is believed of these, and few that stand for all."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.decisions.processes import Processes


def conditioned(processes: Processes, X: FloatArray, y: FloatArray) -> Processes:
    """Return the processes that also know responses y [k] at X [k, d].

    Weights, theta, scales and degrees of freedom are kept: the responses are beliefs.
    """
    components = tuple(process.extend(X, y) for process in processes.components)
    return replace(processes, components=components)


def thinned(processes: Processes, size: int, rng: np.random.Generator) -> Processes:
    """Return about so many processes that stand for all, each as often as its weight says."""
    if len(processes.weight) <= size:
        return processes
    few, counts = np.unique(processes.choose(size, rng), return_counts=True)
    components = tuple(processes.components[j] for j in few)
    return replace(processes, components=components, weight=counts / size)


def common_mean(processes: Processes, x: FloatArray) -> FloatArray:
    """Return the common mean [k] at x [k, d]: a believer's responses."""
    return np.asarray(processes.weight @ processes.means(x))


def no_better_than_the_best(
    sign: float, target: float | None
) -> Callable[[Processes, FloatArray], FloatArray]:
    """Return what is believed of planned runs while an optimum is sought.

    The common mean, but the response of the best run where that would be better: so improvements on
    the best run that there is keep being sought (constant liar), and no mean is torn far from its
    prediction.

    Parameters
    ----------
    sign : float
        1 to minimise, -1 to maximise the response.
    target : float or None
        Standardised value to come close to, instead.
    """

    def score(y: FloatArray) -> FloatArray:
        return sign * y if target is None else np.abs(y - target)

    def believed(processes: Processes, x: FloatArray) -> FloatArray:
        mean, y = common_mean(processes, x), processes.y
        best = y[int(score(y).argmin())]
        return np.where(score(mean) < score(best), best, mean)

    return believed
