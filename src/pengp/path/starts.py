"""Where the search for maxima starts: which lambdas, and which points at each of them."""

import math
from typing import NamedTuple

import numpy as np

from pengp._core.arrays import BoolArray, FloatArray, IntArray
from pengp.path import settings


def anchors(lams: FloatArray) -> IntArray:
    """Return the indices of the lambdas (ascending) at which starts run.

    The smallest, the largest, and between them some that are equally spaced in log lambda.
    """
    positive = np.flatnonzero(lams > 0.0)
    if len(positive) == 0:
        return np.zeros(1, dtype=np.int64)
    logs = np.log(lams[positive])
    spacing = settings.ANCHOR_SPACING
    wanted = np.arange(logs[-1], logs[0] + 0.5 * spacing, -spacing)
    nearest = positive[np.abs(logs[:, None] - wanted).argmin(0)]
    return np.unique(np.concatenate([[0], nearest, positive[-1:]]))


class Starts(NamedTuple):
    """Starts of a search: fixed ones, and more to be chosen where the objective is high."""

    where: IntArray  # [S], indices of the lambdas of the fixed starts
    fixed: FloatArray  # [S, P], or [F, S, P] if each data set has its own: log parameters
    anchors: IntArray  # [A], indices of the lambdas at which more are to be chosen
    candidates: FloatArray  # [N, P]
    scaled: FloatArray  # [N, P], the same with parameters of range 1
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
    n_random = max(n_starts - settings.ALL_CHOSEN, 0) // 2
    half = max(1, -(-n_starts // (2 * len(at))))

    def random(number: int) -> FloatArray:
        return _random_points(lower, upper, n_theta, number, rng)

    def each_alone(lam: float) -> FloatArray:
        return _with_nugget(_alone(lam, lower[:n_theta]), P)

    corners = _with_nugget(np.stack([upper, lower])[:, :n_theta], P)
    groups = [(at[:1].repeat(n_random), random(n_random))]
    points = random(settings.CANDIDATES_PER_START * max(n_starts, 1))
    if len(at) == 1:
        alone = each_alone(lams[0])
        less = alone - settings.ALONE_BELOW * np.eye(n_theta, P)
        points = np.concatenate([alone, less, corners, points])
    else:
        groups += [(a.repeat(n_theta), each_alone(lams[a])) for a in at]
        groups += [(at[[0, -1]], corners), (np.tile(at[1:], half), random(half * (len(at) - 1)))]
    return Starts(
        where=np.concatenate([a for a, _ in groups]),
        fixed=np.concatenate([u for _, u in groups]),
        anchors=at,
        candidates=points,
        scaled=points / np.maximum(upper - lower, 1e-9),
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
    points[0, :n_theta] = np.log(settings.START_THETA)
    points[0, n_theta:] = np.log(settings.START_NUGGET)
    return fixed_starts(points)


def fixed_starts(points: FloatArray) -> Starts:
    """Return starts at these points [S, P] or [F, S, P] and the smallest lambda alone."""
    return _without_choice(np.zeros(points.shape[-2], dtype=np.int64), points)


def _without_choice(where: IntArray, fixed: FloatArray) -> Starts:
    """Return starts without candidates."""
    none = np.empty((0, fixed.shape[-1]))
    return Starts(where, fixed, where[:0], none, none, where[:0])


def choose(
    objective: FloatArray, scaled: FloatArray, counts: IntArray
) -> tuple[IntArray, IntArray]:
    """Choose ``counts`` [G] candidates for each row of objectives [G, N]: the best that are apart.

    ``scaled`` [N, P] are the candidates, with parameters of range 1. One near a better one is
    chosen only when no other is left, one without a finite objective never.

    Returns
    -------
    row, candidate : [M]
        The rows in order, the best candidate of each first.
    """
    columns, near = np.ascontiguousarray(scaled.T), dict[int, BoolArray]()
    rows: list[int] = []
    chosen: list[int] = []
    orders = np.argsort(-objective, axis=-1, kind="stable").tolist()
    rest = zip(orders, objective.tolist(), counts.tolist(), strict=True)
    for row, (order, values, count) in enumerate(rest):
        best: list[int] = []
        passed: list[int] = []
        covered = np.zeros(len(scaled), dtype=bool)
        for k in order:
            if len(best) == count or not math.isfinite(values[k]):
                break
            if covered[k]:
                passed.append(k)
            else:
                best.append(k)
                if k not in near:
                    near[k] = _near(columns, k)
                covered |= near[k]
        best += passed[: count - len(best)]
        rows += [row] * len(best)
        chosen += best
    return np.array(rows, dtype=np.int64), np.array(chosen, dtype=np.int64)


def _near(columns: FloatArray, k: int) -> BoolArray:
    """Tell which of the points in columns [P, N] are near point k."""
    away = columns - columns[:, k : k + 1]
    return np.maximum.reduce(np.abs(away, out=away), axis=0) < settings.APART


def _with_nugget(log_theta: FloatArray, n_params: int) -> FloatArray:
    """Append the log nugget to starts [S, n_theta] where it is a parameter."""
    if log_theta.shape[1] == n_params:
        return log_theta
    more = np.full((len(log_theta), n_params - log_theta.shape[1]), np.log(settings.START_NUGGET))
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
    lowest, highest = settings.RANDOM_RANGE
    low, high = np.maximum(lowest, lower), np.minimum(highest, upper)
    whole = (np.arange(P) >= n_theta) | (high - low < 1.0)
    low, high = np.where(whole, lower, low), np.where(whole, upper, high)
    return low + cube * (high - low)


def _alone(lam: float, lower: FloatArray) -> FloatArray:
    """Return points [d, d] with one active input each, less active the larger lambda is."""
    active = settings.ALONE_UNPENALIZED
    if lam > 0.0:
        active = min(settings.ALONE, settings.ALONE_PENALIZED - np.log(lam))
    points, k = np.tile(lower + settings.OFF, (len(lower), 1)), np.arange(len(lower))
    points[k, k] = active
    return points
