"""Latin hypercube designs in the unit cube: random, maximin and sliced.

A design is first a matrix of integer levels [n, d], each column a permutation of 0, ..., n - 1,
and then one point a cell: drawn uniformly within it for random and sliced designs (McKay, Beckman
and Conover, 1979, Technometrics 21, 239-245), its centre for maximin designs.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist, pdist, squareform

from pengp._core.arrays import FloatArray, IntArray, RandomState, as_floats
from pengp._core.checks import as_generator, check_choice, check_count
from pengp._core.datasets import MOST_INPUTS, check_inputs, check_runs
from pengp._core.sobol import sobol_points
from pengp.exceptions import InputError

_TRIALS = 2500  # points and columns tried by the maximin search
_CANDIDATES = 2048  # points from which a continued design is chosen
_WORK = 25_000_000  # fewer trials for more than 100 points, which cost about n^2 each
_MOST_SEARCHED = 3_000  # points of a maximin design that is searched, with several [n, n] in memory
_MOST_NUMBERS = 10_000_000  # of a design
_MOST_CONTINUED = 1_000  # points that continue a design


def latin_hypercube(
    n: int,
    d: int,
    *,
    method: Literal["random", "maximin", "sliced"] = "random",
    slices: int | None = None,
    random_state: RandomState = None,
) -> FloatArray:
    """Draw a Latin hypercube design of n points in [0, 1]^d.

    Parameters
    ----------
    n, d : int
        Number of points and of inputs.
    method : {"random", "maximin", "sliced"}
        "random" draws independent permutations. "maximin" searches for a large smallest distance
        between points [1]_ [2]_. "sliced" splits the design into `slices` blocks of consecutive
        rows, each itself a Latin hypercube of n / slices points [3]_.
    slices : int, optional
        Number of slices, a divisor of n; for "sliced" only.
    random_state : int, Generator, RandomState or None
        Source of randomness; an int gives the same design every time.

    Returns
    -------
    ndarray [n, d]
        Each column has exactly one point in each of the n intervals [i / n, (i + 1) / n).

    References
    ----------
    .. [1] Morris and Mitchell (1995), Journal of Statistical Planning and Inference 43, 381-402.
    .. [2] Jin, Chen and Sudjianto (2005), Journal of Statistical Planning and Inference 134,
       268-287.
    .. [3] Qian (2012), Journal of the American Statistical Association 107, 393-399.

    Examples
    --------
    >>> from pengp import latin_hypercube
    >>> U = latin_hypercube(4, 2, random_state=0)
    >>> sorted((4 * U[:, 0]).astype(int).tolist())  # one point in each quarter
    [0, 1, 2, 3]
    >>> latin_hypercube(12, 6, method="maximin", random_state=0).shape
    (12, 6)
    """
    check_choice(method, "method", ("random", "maximin", "sliced"))
    d = check_count(d, "d", 1, MOST_INPUTS)
    n = check_count(n, "n", 1, _MOST_NUMBERS // d)
    if method != "sliced" and slices is not None:
        raise InputError(f"slices goes with method='sliced' only, got method={method!r}")
    rng = as_generator(random_state)
    if method == "maximin":
        return (_maximin_levels(n, d, rng) + 0.5) / n
    levels = _sliced_levels(n, d, _checked_slices(n, slices) if method == "sliced" else 1, rng)
    return (levels + rng.random((n, d))) / n


def continue_design(U: ArrayLike, k: int, *, random_state: RandomState = None) -> FloatArray:
    """Return k points [k, d] of [0, 1]^d that fill the gaps of a design U [n, d].

    One after the other, the point that is farthest from all others, of a few thousand that are
    spread evenly over the cube; its first points are those of any larger k.

    Parameters
    ----------
    U : array_like [n, d]
        Points of the design.
    k : int
        Number of points.
    random_state : int, Generator, RandomState or None
        Source of randomness; an int gives the same points every time.

    Examples
    --------
    >>> from pengp.datasets import continue_design
    >>> continue_design([[0.1, 0.1], [0.1, 0.9], [0.9, 0.1]], 1, random_state=0).round(0)
    array([[1., 1.]])
    """
    known, k = as_floats(U, "U"), check_count(k, "k", 1, _MOST_CONTINUED)
    if known.ndim != 2 or not known.size:
        raise InputError(f"U must have shape [n, d], got {known.shape}")
    check_runs(len(known))
    check_inputs(known.shape[1])
    rng = as_generator(random_state)
    d = known.shape[1]
    spread = sobol_points(max(_CANDIDATES, 1 << (4 * k - 1).bit_length()), d)
    candidates = (spread + rng.random(d)) % 1.0
    nearest = cdist(candidates, known, "sqeuclidean").min(axis=1)
    chosen = np.empty((k, d))
    for i in range(k):
        chosen[i] = candidates[np.argmax(nearest)]
        np.minimum(nearest, ((candidates - chosen[i]) ** 2).sum(axis=1), out=nearest)
    return chosen


def scale_design(U: ArrayLike, bounds: ArrayLike) -> FloatArray:
    """Scale a design from the unit cube to a box.

    Parameters
    ----------
    U : array_like [n, d]
        Points in [0, 1]^d.
    bounds : array_like [d, 2]
        Lower and upper end of every input.

    Returns
    -------
    ndarray [n, d]
        Points in the box.

    Examples
    --------
    >>> from pengp import scale_design
    >>> scale_design([[0.0, 0.5], [1.0, 0.25]], [[10.0, 20.0], [-1.0, 1.0]])
    array([[10. ,  0. ],
           [20. , -0.5]])
    """
    points, box = as_floats(U, "U"), as_floats(bounds, "bounds")
    if points.ndim != 2:
        raise InputError(f"U must have shape [n, d], got {points.shape}")
    if box.shape != (points.shape[1], 2):
        raise InputError(f"bounds must have shape ({points.shape[1]}, 2), got {box.shape}")
    low, high = box.T
    if not np.all(np.isfinite(box)) or np.any(low >= high):
        raise InputError(f"bounds must be finite with lower < upper, got {box.tolist()}")
    with np.errstate(over="ignore"):
        width = high - low
    if np.isinf(width).any():
        p = int(np.argmax(width))
        raise InputError(
            f"the range of input {p} (counted from 0), {low[p]} to {high[p]}, is wider than the "
            "largest double; use a smaller unit or narrower bounds"
        )
    if not np.all((points >= 0) & (points <= 1)):
        raise InputError("U must lie in the unit cube; some entries are below 0, above 1 or NaN")
    scaled: FloatArray = low + points * width
    return scaled


def _checked_slices(n: int, slices: int | None) -> int:
    """Return the number of slices if it divides n."""
    if slices is None:
        raise InputError("method='sliced' needs slices, the number of slices")
    slices = check_count(slices, "slices", 1, n)
    if n % slices:
        raise InputError(f"slices must divide n, got n={n} and slices={slices}")
    return slices


def _sliced_levels(n: int, d: int, slices: int, rng: np.random.Generator) -> IntArray:
    """Levels [n, d] of a sliced design after Qian (2012); one slice is a plain Latin hypercube.

    In each column the n levels form n / slices blocks of consecutive levels. Every slice takes one
    level from every block, in random order.
    """
    blocks = np.tile(np.arange(n).reshape(n // slices, slices), (d, 1, 1))
    shares = rng.permuted(blocks, axis=2).swapaxes(1, 2)  # [d, slices, n / slices]
    levels: IntArray = rng.permuted(shares, axis=2).reshape(d, n).T
    return levels


def _maximin_levels(n: int, d: int, rng: np.random.Generator) -> IntArray:
    """Levels [n, d] with a large smallest distance, by an iterated local search.

    The best design so far is disturbed by two random exchanges and improved again, until a fixed
    number of trials is spent.
    """
    best = _sliced_levels(n, d, 1, rng)
    if n < 3 or d == 1 or n > _MOST_SEARCHED:  # any is as good, or there are too many
        return best
    trials = _descend(best, rng, min(_TRIALS, _WORK // n**2))
    while trials > 0:
        levels = best.copy()
        for k in rng.integers(d, size=2):
            rows = rng.integers(n, size=2)
            levels[rows, k] = levels[rows[::-1], k]
        trials = _descend(levels, rng, trials)
        if _quality(levels) >= _quality(best):
            best = levels
    return best


def _descend(levels: IntArray, rng: np.random.Generator, trials: int) -> int:
    """Lower phi_p = (sum_{i<j} dist_ij^-p)^(1/p) of `levels` in place; return the trials left.

    A trial takes one of the two closest points and a column, and makes that point's best exchange
    there. The search ends when no such exchange helps.
    """
    while trials > 0:
        dist2 = squareform(pdist(levels, "sqeuclidean"))
        np.fill_diagonal(dist2, np.inf)
        terms = _phi_terms(dist2)
        pair = np.unravel_index(np.argmin(dist2), dist2.shape)
        for i, k in ((int(i), int(k)) for i in pair for k in rng.permutation(levels.shape[1])):
            trials -= 1
            j = _best_partner(levels[:, k], dist2, terms, i)
            if j != i:
                levels[[i, j], k] = levels[[j, i], k]
                break
        else:
            break
    return trials


def _best_partner(column: IntArray, dist2: FloatArray, terms: FloatArray, i: int) -> int:
    """Row whose entry of `column` [n] is best exchanged with row i's; i itself if none helps.

    `terms` are the phi_p terms of `dist2`, both [n, n]. Below, row j of an array stands for the
    design with i and j exchanged: distances to i and to j change, the distance between these two
    does not (Jin, Chen and Sudjianto, 2005).
    """
    gap = np.subtract.outer(column, column) ** 2
    from_i = dist2[i] + gap - gap[i]
    from_j = dist2 + gap[i] - gap
    np.fill_diagonal(from_i, np.inf)
    from_j[:, i] = np.inf
    sums = terms.sum(axis=1)
    change = (_phi_terms(from_i) + _phi_terms(from_j)).sum(axis=1) - sums - sums[i] + 2 * terms[i]
    j = int(np.argmin(change))
    return j if change[j] < -1e-9 * sums.sum() else i


def _phi_terms(dist2: FloatArray) -> FloatArray:
    """dist^-p with p = 16, as three squarings of 1 / dist^2."""
    terms: FloatArray = (((1 / dist2) ** 2) ** 2) ** 2
    return terms


def _quality(levels: IntArray) -> tuple[float, float]:
    """Smallest squared distance of levels [n, d] and minus phi_p^p; larger is better."""
    dist2 = pdist(levels, "sqeuclidean")
    return float(dist2.min()), -float(_phi_terms(dist2).sum())
