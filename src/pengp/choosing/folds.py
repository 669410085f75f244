"""Makers of fold plans: random, leave-one-out, given, stratified, space-filling, any splitter.

Every plan is made once from a seed and carries it: the same seed gives the same plan everywhere.
"""

import numbers
from collections.abc import Iterable, Sequence
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from pengp._core.arrays import NO_NUMBERS, FloatArray, RandomState
from pengp._core.checks import as_seed, check_count
from pengp._core.datasets import check_runs
from pengp.choosing.plan import FoldPlan, from_labels, from_pairs
from pengp.choosing.slices import maximin_slices
from pengp.exceptions import InputError

__all__ = [
    "FoldPlan",
    "FoldsLike",
    "Splitter",
    "from_splitter",
    "given_folds",
    "leave_one_out",
    "make_folds",
    "random_folds",
    "space_filling_folds",
    "stratified_folds",
]

#: Folds made where `make_folds` is told a kind but no number.
DEFAULT_K = 5
#: Up to so many runs, folds are repeated more often: that is cheap and steadies the choice.
_FEW_RUNS = 30
_MANY_REPEATS, _SOME_REPEATS = 10, 3


class Splitter(Protocol):
    """What is asked of a scikit-learn splitter."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterable[tuple[Any, Any]]:
        """Yield pairs of training and test indices."""


#: Everything `make_folds` understands.
FoldsLike: TypeAlias = (
    int | str | FoldPlan | Splitter | Sequence[Any] | Iterable[tuple[Any, Any]] | ArrayLike | None
)

_MOST_REPEATS, _MOST_LABELS = 10_000, 1_000_000
"""Repeats of a plan, and runs in all of them together."""


def default_repeats(n: int) -> int:
    """Return how often n runs are dealt into folds where nobody says it."""
    return _MANY_REPEATS if n <= _FEW_RUNS else _SOME_REPEATS


def random_folds(n: int, k: int, *, repeats: int = 1, random_state: RandomState = None) -> FoldPlan:
    """Deal `n` runs at random into `k` folds whose sizes differ by at most one, `repeats` times.

    Examples
    --------
    >>> from pengp import random_folds
    >>> plan = random_folds(12, 4, repeats=20, random_state=0)
    >>> len(list(plan)), [test.size for _, test in plan][:4]
    (80, [3, 3, 3, 3])
    """
    _check_k(n, k)
    seed, rng = _seeded(random_state)
    labels = [rng.permutation(np.arange(n) % k) for _ in range(_check_repeats(repeats, n))]
    return from_labels(np.array(labels), "random", {"k": int(k), "seed": seed})


def leave_one_out(n: int) -> FoldPlan:
    """Each of `n` runs is a fold of its own (the paper's n-fold cross-validation).

    Examples
    --------
    >>> from pengp import leave_one_out
    >>> [test.tolist() for train, test in leave_one_out(3)]
    [[0], [1], [2]]
    """
    check_runs(check_count(n, "n", 2))
    return from_labels(np.arange(n)[None], "leave-one-out", {})


def given_folds(labels: ArrayLike) -> FoldPlan:
    """Folds from the caller's labels.

    Parameters
    ----------
    labels : array, shape [n] or [repeats, n]
        Any values that can be sorted; equal labels are held out together, in the labels' order.

    Examples
    --------
    >>> from pengp.choosing import given_folds
    >>> [test.tolist() for _, test in given_folds(["a", "b", "a", "b"])]
    [[0, 2], [1, 3]]
    """
    try:
        rows = np.atleast_2d(np.asarray(labels))
    except ValueError as error:
        raise InputError("fold labels must have as many values in every repeat.") from error
    if rows.ndim > 2 or rows.size == 0 or (rows.dtype.kind == "f" and np.isnan(rows).any()):
        raise InputError(
            "fold labels must be one value for each run, shape [n] or [repeats, n], none missing."
        )
    try:
        codes = np.array([np.unique(row, return_inverse=True)[1] for row in rows])
    except TypeError as error:
        raise InputError("fold labels must be of one type, all numbers or all strings.") from error
    counts = codes.max(axis=1) + 1
    if counts.min() < 2 or counts.min() != counts.max():
        raise InputError(
            f"fold labels must name at least 2 folds, the same number in every repeat; they name "
            f"{counts.tolist()}."
        )
    return from_labels(codes, "given", {})


def from_splitter(
    splitter: Splitter, X: ArrayLike, y: ArrayLike | None = None, groups: ArrayLike | None = None
) -> FoldPlan:
    """Run a scikit-learn splitter once on X [n, d], y [n], groups [n] and keep what it gives.

    Held-out sets may overlap or leave runs out (ShuffleSplit), training sets may be smaller than
    the rest (TimeSeriesSplit); passes that each hold out every run once are counted as repeats.

    Examples
    --------
    >>> from sklearn.model_selection import KFold
    >>> from pengp import load_piston_slap
    >>> from pengp.choosing import from_splitter
    >>> runs = load_piston_slap()
    >>> [test.tolist() for _, test in from_splitter(KFold(3), runs.X, runs.y)]
    [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    """
    name = type(splitter).__name__
    try:
        pairs = list(splitter.split(X, y, groups))
    except (AttributeError, TypeError, ValueError) as error:
        raise InputError(f"the splitter {name} cannot split these data: {error}") from error
    return from_pairs(pairs, _count_runs(X), "splitter", {"splitter": name})


def stratified_folds(
    y: ArrayLike, k: int, *, repeats: int = 1, random_state: RandomState = None
) -> FoldPlan:
    """Folds that each span the range of the response y [n] or [n, 1].

    The runs are sorted by response and cut into blocks of `k`; the runs of a block go to different
    folds at random, so the sizes of the folds differ by at most one.

    Examples
    --------
    >>> import numpy as np
    >>> from pengp import stratified_folds
    >>> y = np.arange(6.0)
    >>> [y[test].tolist() for _, test in stratified_folds(y, 2, random_state=0)]
    [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]]
    """
    y = _numbers(y, "a response")
    y = y[:, 0] if y.shape[1:] == (1,) else y
    if y.ndim != 1:
        raise InputError(
            f"stratified folds need one response, shape [n], not {y.shape}; use another kind of "
            "folds for several outputs."
        )
    _check_k(len(y), k)
    seed, rng = _seeded(random_state)
    labels = np.empty((_check_repeats(repeats, len(y)), len(y)), dtype=np.int64)
    order = np.argsort(y, kind="stable")
    for row in labels:
        for start in range(0, len(y), k):
            block = order[start : start + k]
            row[block] = rng.permutation(k)[: len(block)]
    return from_labels(labels, "stratified", {"k": int(k), "seed": seed})


def space_filling_folds(
    X: ArrayLike, k: int, *, repeats: int = 1, random_state: RandomState = None
) -> FoldPlan:
    """Folds that each spread over the input space (maximin-sliced).

    The smallest distance within a fold is made large: pairs of runs of different folds are swapped
    while that lowers phi_p = sum over within-fold pairs of distance^-p, from several random starts.
    Columns of X [n, d] are brought to the unit interval first, so units do not matter; sizes differ
    by at most one.

    Examples
    --------
    >>> import numpy as np
    >>> from pengp import space_filling_folds
    >>> X = np.linspace(0, 1, 6)[:, None]
    >>> [test.tolist() for _, test in space_filling_folds(X, 2, random_state=0)]
    [[1, 3, 5], [0, 2, 4]]
    """
    X = _numbers(X, "inputs")
    if X.ndim != 2:
        raise InputError(f"space-filling folds need inputs of shape [n, d], not {X.shape}.")
    _check_k(len(X), k)
    seed, rng = _seeded(random_state)
    labels = [maximin_slices(X, k, rng) for _ in range(_check_repeats(repeats, len(X)))]
    return from_labels(np.array(labels), "space-filling", {"k": int(k), "seed": seed})


def make_folds(
    cv: FoldsLike,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    random_state: RandomState = None,
    repeats: int = 1,
    groups: ArrayLike | None = None,
) -> FoldPlan:
    """Resolve what a caller may pass as `cv` to a plan for X [n, d] and y [n].

    Parameters
    ----------
    cv : int, str, FoldPlan, array, splitter or iterable of pairs
        A number of random folds (None: 5); "loo"; "random", "stratified" or "space-filling",
        5 folds or as many as in "space-filling:4"; a plan; fold labels [n] or [repeats, n];
        a scikit-learn splitter; (train, test) index pairs, each a tuple.
    random_state : int, Generator, RandomState or None
        Seeds the kinds that draw; the plan keeps the seed that was used.
    repeats : int
        Number of independent passes of the kinds that draw.
    groups : array, shape [n], optional
        Handed to a splitter.

    Examples
    --------
    >>> from pengp import load_piston_slap, make_folds
    >>> runs = load_piston_slap()
    >>> make_folds("space-filling:4", runs.X, runs.y, random_state=0).kind
    'space-filling'
    >>> make_folds("loo", runs.X, runs.y).get_n_splits()
    12
    """
    n = _count_runs(X)
    if cv is None or (isinstance(cv, numbers.Integral) and not isinstance(cv, bool)):
        k = DEFAULT_K if cv is None else int(cv)
        return random_folds(n, k, repeats=repeats, random_state=random_state)
    if isinstance(cv, str):
        return _named_folds(cv, X, y, repeats, random_state)
    plan = _given_plan(cv, X, y, groups)
    plan.check_size(n)
    return plan


def _named_folds(
    cv: str, X: ArrayLike, y: ArrayLike | None, repeats: int, random_state: RandomState
) -> FoldPlan:
    """Make the plan of a name such as "loo", "stratified" or "space-filling:4"."""
    name, _, number = cv.partition(":")
    k = int(number) if number.isdecimal() else DEFAULT_K
    if cv in ("loo", "leave-one-out"):
        return leave_one_out(_count_runs(X))
    if (":" in cv) == number.isdecimal():
        if name == "random":
            return random_folds(_count_runs(X), k, repeats=repeats, random_state=random_state)
        if name == "space-filling":
            return space_filling_folds(X, k, repeats=repeats, random_state=random_state)
        if name == "stratified" and y is not None:
            return stratified_folds(y, k, repeats=repeats, random_state=random_state)
    raise InputError(
        f"unknown folds {cv!r}; use a number, 'loo', 'random', 'space-filling' or (with a response)"
        " 'stratified', the last three also with a number of folds as in 'space-filling:4'."
    )


def _given_plan(cv: Any, X: ArrayLike, y: ArrayLike | None, groups: ArrayLike | None) -> FoldPlan:
    """Return the plan that the caller brought as a plan, a splitter, index pairs or labels."""
    if isinstance(cv, FoldPlan):
        return cv
    if callable(getattr(cv, "split", None)):
        return from_splitter(cast(Splitter, cv), X, y, groups)
    if isinstance(cv, bool) or not isinstance(cv, Iterable):
        raise InputError(
            f"cv={cv!r} is not understood; use a number of folds, a name such as 'loo', fold "
            "labels, a fold plan or a scikit-learn splitter."
        )
    items = np.atleast_1d(cv) if isinstance(cv, np.ndarray) else list(cv)
    if len(items) and all(isinstance(item, tuple) and len(item) == 2 for item in items):
        return from_pairs(cast(list[tuple[Any, Any]], items), _count_runs(X), "given", {})
    return given_folds(cast(ArrayLike, items))


def _count_runs(X: ArrayLike) -> int:
    """Return the number of rows of X [n, d], or raise an InputError."""
    shape = np.shape(X)
    if not shape:
        raise InputError(f"folds need inputs of shape [n, d], not the single value {X!r}.")
    return shape[0]


def _numbers(values: ArrayLike, what: str) -> FloatArray:
    """Return values [n, ...] as floats, or raise an InputError."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except NO_NUMBERS as error:
        raise InputError(f"these folds need {what} of numbers: {error}.") from error
    if not array.ndim or not np.isfinite(array).all():
        raise InputError(f"these folds need {what} of finite numbers, one for each run.")
    return array


def _seeded(random_state: RandomState) -> tuple[int, np.random.Generator]:
    """Integer seed to keep with the plan, and the generator it starts."""
    seed = as_seed(random_state)
    return seed, np.random.default_rng(seed)


def _check_k(n: int, k: int) -> None:
    """Raise an InputError unless n runs can be dealt into k folds."""
    if not isinstance(n, numbers.Integral) or n < 2:
        raise InputError(f"cross-validation needs at least 2 runs, but the data have {n!r}.")
    check_runs(n)
    if not isinstance(k, numbers.Integral) or k < 2:
        raise InputError(f"cross-validation needs at least 2 folds of a whole number, not {k!r}.")
    if n < k:
        raise InputError(
            f"{k} folds were asked for but there are only {n} runs; use at most {n} folds."
        )


def _check_repeats(repeats: int, n: int) -> int:
    """Return `repeats` if so many plans of n runs can be held, else raise an InputError."""
    return check_count(repeats, "repeats", 1, min(_MOST_REPEATS, _MOST_LABELS // n))
