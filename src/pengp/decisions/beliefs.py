"""Processes once further runs are known, what is believed of these, and few that stand for all."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.decisions.candidates import Candidates, satisfied
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


def response_to_beat(
    processes: Processes, pool: Candidates, sign: float, target: float | None
) -> float:
    """Return the standardised response of the best run that meets the conditions of the pool.

    Where no run does, the best of the common means of the candidates.
    """
    met = satisfied(pool.conditions, processes, processes.X)
    y = processes.y[met] if met.any() else common_mean(processes, pool.X)
    return float(y[_score(y, sign, target).argmin()])


def _score(y: FloatArray, sign: float, target: float | None) -> FloatArray:
    """Return what is sought to be small of responses y [m]."""
    return sign * y if target is None else np.abs(y - target)


def no_better_than_the_best(
    sign: float, target: float | None, best: float | None = None
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
    best : float, optional
        Standardised response of the best run, if not all runs count.
    """

    def believed(processes: Processes, x: FloatArray) -> FloatArray:
        mean = common_mean(processes, x)
        y = processes.y if best is None else np.array([best])
        scores = _score(y, sign, target)
        better = _score(mean, sign, target) < scores.min()
        return np.where(better, y[int(scores.argmin())], mean)

    return believed
