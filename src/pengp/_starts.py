"""Where the search for maxima starts: which lambdas, and which points at each of them."""

import numpy as np

from pengp._typing import FloatArray, IntArray

_SPACING = 1.8
"""Distance of two anchors in log lambda."""

_RANDOM = (-5.0, 2.5)
"""Range of log theta of the random starts, the authors' choice, as far as the bounds allow it."""

_ALONE, _ALONE_UNPENALIZED = 2.5, 4.5
"""log theta of an input that starts alone; both if lambda = 0 is the only one."""

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
    n_starts: int | FloatArray,
    rng: np.random.Generator,
) -> dict[int, FloatArray]:
    """Return the starts {index of lambda: log parameters [S, P]}.

    Each anchor has one start for each input alone; the first has one at the upper bounds and the
    last one at the lower. n_starts random ones, a Latin hypercube, are dealt out among the anchors,
    at least two to each.

    Parameters
    ----------
    lams : [L]
        Distinct, ascending.
    lower, upper : [P]
        Bounds on the log parameters; the points are not cut to them.
    n_theta : int
        How many of the P parameters are thetas; one more is the nugget.
    n_starts : int or [S, n_theta]
        Number of random starts, or the log thetas that take their place at every anchor.
    rng : numpy.random.Generator
        Source of the random starts.
    """
    at = anchors(lams)
    points = {}
    if isinstance(n_starts, int):
        dealt = _random_points(lower, upper, n_theta, max(2 * len(at), n_starts), rng)
        hands = [dealt[k :: len(at)] for k in range(len(at))]
    else:
        hands = [_with_nugget(n_starts, len(lower))] * len(at)
    for k, a in enumerate(at):
        groups = [hands[k], _alone(lams[a], lower, n_theta, only=len(at) == 1)]
        groups += [upper[None]] * (k == 0) + [lower[None]] * (k == len(at) - 1)
        points[int(a)] = np.concatenate(groups)
        points[int(a)][len(groups[0]) :, n_theta:] = _NUGGET
    return points


def few_start_points(
    lams: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    n_theta: int,
    n_starts: int | FloatArray,
    rng: np.random.Generator,
) -> dict[int, FloatArray]:
    """Return starts for large data sets, whose likelihood is dear and has fewer maxima.

    All are at the smallest lambda: one at theta = 1/2 for every input, the others random.
    """
    if not isinstance(n_starts, int):
        return {0: _with_nugget(n_starts, len(lower))}
    points = _random_points(lower, upper, n_theta, max(n_starts, 1), rng)
    points[0, :n_theta], points[0, n_theta:] = np.log(0.5), _NUGGET
    return {0: points}


def _with_nugget(log_theta: FloatArray, n_params: int) -> FloatArray:
    """Append the log nugget to starts [S, n_theta] where it is a parameter."""
    more = np.full((len(log_theta), n_params - log_theta.shape[1]), _NUGGET)
    return np.hstack([log_theta, more])


def _random_points(
    lower: FloatArray, upper: FloatArray, n_theta: int, n_starts: int, rng: np.random.Generator
) -> FloatArray:
    """Return a Latin hypercube [n_starts, P] over the range of the random starts."""
    P = len(lower)
    levels = rng.permuted(np.tile(np.arange(n_starts), (P, 1)), axis=1).T
    cube = (levels + rng.random((n_starts, P))) / max(n_starts, 1)
    low, high = np.maximum(_RANDOM[0], lower), np.minimum(_RANDOM[1], upper)
    whole = (np.arange(P) >= n_theta) | (high - low < 1.0)
    low, high = np.where(whole, lower, low), np.where(whole, upper, high)
    return low + cube * (high - low)


def _alone(lam: float, lower: FloatArray, n_theta: int, *, only: bool) -> FloatArray:
    """Return starts [S, P] with one active input each, less active the larger lambda is."""
    heights = [min(_ALONE, 0.5 - np.log(lam)) if lam > 0.0 else _ALONE_UNPENALIZED]
    if lam == 0.0 and only:
        heights.append(_ALONE)
    points = np.tile(lower + _OFF, (len(heights), n_theta, 1))
    k = np.arange(n_theta)
    points[:, k, k] = np.array(heights)[:, None]
    return points.reshape(-1, len(lower))
