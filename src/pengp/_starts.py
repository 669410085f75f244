"""Where the search for maxima starts: which lambdas, and which points at each of them."""

import numpy as np

from pengp._typing import FloatArray, IntArray

_SPACING = 1.8
"""Distance of two anchors in log lambda."""

_RANDOM = (-5.0, 2.5)
"""Range of log theta of the random starts, the authors' choice."""

_ALONE, _ALONE_UNPENALIZED = 2.5, 4.5
"""log theta of an input that starts alone, with and without a penalty."""

_OFF = 0.4
"""Distance from the lower bound at which the other inputs start then."""

_NUGGET = np.log(1e-5)
"""log nugget of the starts that are not random."""


def anchors(lams: FloatArray) -> IntArray:
    """Return the indices of the lambdas (ascending) at which starts run.

    The smallest, the largest, and between them one every 1.8 in log lambda.
    """
    positive = np.flatnonzero(lams > 0.0)
    if len(positive) == 0:
        return np.zeros(1, dtype=np.int64)
    logs = np.log(lams[positive])
    wanted = np.arange(logs[-1], logs[0] + 0.5 * _SPACING, -_SPACING)
    nearest = positive[np.abs(logs[:, None] - wanted).argmin(0)]
    return np.unique(np.concatenate([[0], nearest, positive[-1:]]))


def start_points(
    lams: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    n_theta: int,
    n_starts: int,
    rng: np.random.Generator,
) -> dict[int, FloatArray]:
    """Return the starts {index of lambda: log parameters [S, P]}.

    Each anchor has one start for each input alone; the first has one at the upper bounds and the
    last one at the lower; n_starts random ones (a Latin hypercube) are dealt out among them.

    Parameters
    ----------
    lams : [L]
        Distinct, ascending.
    lower, upper : [P]
        Bounds on the log parameters; the points are not cut to them.
    n_theta : int
        How many of the P parameters are thetas; one more is the nugget.
    n_starts : int
        Number of random starts.
    rng : numpy.random.Generator
        Source of the random starts.
    """
    levels = np.tile(np.arange(n_starts), (len(lower), 1))
    cube = (rng.permuted(levels, axis=1).T + rng.random((n_starts, len(lower)))) / max(n_starts, 1)
    low = np.where(np.arange(len(lower)) < n_theta, _RANDOM[0], lower)
    high = np.where(np.arange(len(lower)) < n_theta, _RANDOM[1], upper)
    random = low + cube * (high - low)
    at = anchors(lams)
    points = {}
    for k, a in enumerate(at):
        groups = [random[k :: len(at)], _alone(lams[a], lower, n_theta)]
        groups += [upper[None]] * (k == 0) + [lower[None]] * (k == len(at) - 1)
        points[int(a)] = np.concatenate(groups)
        points[int(a)][len(groups[0]) :, n_theta:] = _NUGGET
    return points


def _alone(lam: float, lower: FloatArray, n_theta: int) -> FloatArray:
    """Return starts [n_theta, P] with one active input each, less active the larger lambda is."""
    height = min(_ALONE, 0.5 - np.log(lam)) if lam > 0.0 else _ALONE_UNPENALIZED
    points = np.tile(lower + _OFF, (n_theta, 1))
    points[np.arange(n_theta), np.arange(n_theta)] = height
    return points
