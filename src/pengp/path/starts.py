"""Where the search for maxima starts: which lambdas, and which points at each of them."""

import math
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from pengp._core.arrays import BoolArray, FloatArray, IntArray

_SPACING = 1.8
"""Distance of two anchors in log lambda."""

_RANDOM = (-5.0, 4.0)
"""Range of log theta of the random points, as far as the bounds allow it.

The authors end at 2.5, where responses that oscillate often are out of reach.
"""

_CANDIDATES, _FOR_EACH = 60, 6
"""Random candidates for starts, and how many at least for each of n_starts."""

_ALL_CHOSEN = 10
"""Starts at the smallest lambda up to which all are chosen; of more, every other is random."""

_BETWEEN = 0.18
"""Distance of two starts at one lambda, as a part of the range of a parameter."""

_ALONE, _ALONE_UNPENALIZED, _LESS = 2.5, 4.5, 2.0
"""Largest log theta of an input that starts alone, the same if lambda = 0, and how much lower a
second one is if there is one lambda only."""

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


class Starts(NamedTuple):
    """Starts of a search: fixed ones, and more to be chosen where the objective is high."""

    where: IntArray  # [S], indices of the lambdas of the fixed starts
    fixed: FloatArray  # [S, P], or [F, S, P] if each data set has its own: log parameters
    anchors: IntArray  # [A], indices of the lambdas at which more are to be chosen
    candidates: FloatArray  # [N, P]
    near: BoolArray  # [N, N], which candidates are too close to each other for both to be chosen
    wanted: IntArray  # [A], how many are to be chosen at each


def start_points(
    lams: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    n_theta: int,
    n_starts: int | FloatArray,
    rng: np.random.Generator,
) -> Starts:
    """Return the starts of a search whose likelihood is cheap.

    At the smallest lambda, where most maxima are, n_starts are the best of many random candidates.
    If it is the only one, these include each input alone and the corners of the box. On a path,
    each input alone starts at each anchor, the upper corner at the first and the lower at the last,
    and at the others there is one random point, to be at home everywhere, for each candidate that
    is chosen, to be quick. Thetas to start from take the place of all these.

    Parameters
    ----------
    lams : [L]
        Distinct, ascending.
    lower, upper : [P]
        Bounds on the log parameters.
    n_theta : int
        How many of the P parameters are thetas; one more is the nugget.
    n_starts : int or [S, n_theta]
        Number of starts at the smallest lambda, and of random and chosen ones at the other anchors
        together, at least one of each kind at each; or log thetas that start at each anchor.
    rng : numpy.random.Generator
        Source of the random points.
    """
    at, P = anchors(lams), len(lower)
    if not isinstance(n_starts, int):
        given = _with_nugget(n_starts, P)
        return _without_choice(np.repeat(at, len(given)), np.tile(given, (len(at), 1)))
    n_random, half = max(n_starts - _ALL_CHOSEN, 0) // 2, max(1, -(-n_starts // (2 * len(at))))

    def random(number: int) -> FloatArray:
        return _random_points(lower, upper, n_theta, number, rng)

    def each_alone(lam: float) -> FloatArray:
        return _with_nugget(_alone(lam, lower[:n_theta]), P)

    corners = _with_nugget(np.stack([upper, lower])[:, :n_theta], P)
    groups = [(at[:1].repeat(n_random), random(n_random))]
    points = random(max(_CANDIDATES, _FOR_EACH * n_starts))
    if len(at) == 1:
        alone = each_alone(lams[0])
        less = alone - _LESS * np.eye(n_theta, P)
        points = np.concatenate([alone, less, corners, points])
    else:
        groups += [(a.repeat(n_theta), each_alone(lams[a])) for a in at]
        groups += [(at[[0, -1]], corners), (np.tile(at[1:], half), random(half * (len(at) - 1)))]
    return Starts(
        where=np.concatenate([a for a, _ in groups]),
        fixed=np.concatenate([u for _, u in groups]),
        anchors=at,
        candidates=points,
        near=_near(points / np.maximum(upper - lower, 1e-9)),
        wanted=np.array([max(n_starts - n_random, 1)] + [half] * (len(at) - 1)),
    )


def few_start_points(
    lams: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    n_theta: int,
    n_starts: int | FloatArray,
    rng: np.random.Generator,
) -> Starts:
    """Return starts for large data sets, whose likelihood is dear and has fewer maxima.

    All are at the smallest lambda: one at theta = 1/2 for every input, the others random.
    """
    if not isinstance(n_starts, int):
        return fixed_starts(_with_nugget(n_starts, len(lower)))
    points = _random_points(lower, upper, n_theta, max(n_starts, 1), rng)
    points[0, :n_theta], points[0, n_theta:] = np.log(0.5), _NUGGET
    return fixed_starts(points)


def fixed_starts(points: FloatArray) -> Starts:
    """Return starts at these points [S, P] or [F, S, P] and the smallest lambda alone."""
    return _without_choice(np.zeros(points.shape[-2], dtype=np.int64), points)


def _without_choice(where: IntArray, fixed: FloatArray) -> Starts:
    """Return starts without candidates."""
    none = np.empty((0, fixed.shape[-1]))
    return Starts(where, fixed, where[:0], none, np.empty((0, 0), dtype=bool), where[:0])


def choose(score: FloatArray, near: BoolArray, counts: IntArray) -> tuple[IntArray, IntArray]:
    """Choose ``counts`` [G] candidates for the rows of scores [G, N], the best that are apart.

    One near a better one is chosen only when no other is left, one without a finite score never.

    Returns
    -------
    row, candidate : [M]
        The rows in order, the best candidate of each first.
    """
    bits = np.packbits(near, axis=-1, bitorder="little")
    rows: list[int] = []
    chosen: list[int] = []
    orders = np.argsort(-score, axis=-1, kind="stable").tolist()
    rest = zip(orders, score.tolist(), counts.tolist(), strict=True)
    for row, (order, values, count) in enumerate(rest):
        best: list[int] = []
        passed: list[int] = []
        covered = 0
        for k in order:
            if len(best) == count or not math.isfinite(values[k]):
                break
            if covered >> k & 1:
                passed.append(k)
            else:
                best.append(k)
                covered |= int.from_bytes(bits[k].tobytes(), "little")
        best += passed[: count - len(best)]
        rows += [row] * len(best)
        chosen += best
    return np.array(rows, dtype=np.int64), np.array(chosen, dtype=np.int64)


def _near(points: FloatArray) -> BoolArray:
    """Tell which points [N, P], scaled to a range of 1, are near each other [N, N]."""
    return np.less(cdist(points, points, "chebyshev"), _BETWEEN)


def _with_nugget(log_theta: FloatArray, n_params: int) -> FloatArray:
    """Append the log nugget to starts [S, n_theta] where it is a parameter."""
    if log_theta.shape[1] == n_params:
        return log_theta
    more = np.full((len(log_theta), n_params - log_theta.shape[1]), _NUGGET)
    return np.hstack([log_theta, more])


def _random_points(
    lower: FloatArray, upper: FloatArray, n_theta: int, n_starts: int, rng: np.random.Generator
) -> FloatArray:
    """Return a Latin hypercube [n_starts, P] over the range of the random starts."""
    P = len(lower)
    if n_starts == 0:
        return np.empty((0, P))
    levels = rng.permuted(np.tile(np.arange(n_starts), (P, 1)), axis=1).T
    cube = (levels + rng.random((n_starts, P))) / n_starts
    low, high = np.maximum(_RANDOM[0], lower), np.minimum(_RANDOM[1], upper)
    whole = (np.arange(P) >= n_theta) | (high - low < 1.0)
    low, high = np.where(whole, lower, low), np.where(whole, upper, high)
    return low + cube * (high - low)


def _alone(lam: float, lower: FloatArray) -> FloatArray:
    """Return points [d, d] with one active input each, less active the larger lambda is."""
    height = min(_ALONE, 0.5 - np.log(lam)) if lam > 0.0 else _ALONE_UNPENALIZED
    points, k = np.tile(lower + _OFF, (len(lower), 1)), np.arange(len(lower))
    points[k, k] = height
    return points
