"""The record of a fold plan: which runs are held out together, from labels or from pairs."""

import numbers
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pengp._core.arrays import IntArray
from pengp.exceptions import InputError


@dataclass(frozen=True, eq=False)
class FoldPlan:
    """A list of held-out sets; iterating gives (train, test) index pairs as a splitter does.

    Attributes
    ----------
    n : int
        Number of runs.
    test : tuple of IntArray
        Sorted indices of each held-out set, repeat by repeat.
    repeats : int
        Number of equally long blocks in `test`, each one pass over its folds.
    kind : str
        How the plan was made: "random", "space-filling", ...
    settings : dict
        What it was made from (k, seed, ...), ready for JSON.
    train : tuple of IntArray, optional
        Indices to train on where they are not the complement of the held-out set.

    Examples
    --------
    >>> from pengp.choosing import random_folds
    >>> plan = random_folds(6, 3, random_state=0)
    >>> for train, test in plan:
    ...     print(train, test)
    [1 2 3 5] [0 4]
    [0 1 2 4] [3 5]
    [0 3 4 5] [1 2]
    """

    n: int
    test: tuple[IntArray, ...] = field(repr=False)
    repeats: int = 1
    kind: str = "given"
    settings: dict[str, Any] = field(default_factory=dict)
    train: tuple[IntArray, ...] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Refuse a plan that cannot be run."""
        if not self.test or self.repeats < 1 or len(self.test) % self.repeats:
            raise InputError(
                f"a fold plan needs at least one fold and whole repeats, not {len(self.test)} "
                f"folds in {self.repeats} repeats."
            )
        none = np.empty(0, dtype=np.int64)
        for k, test in enumerate(self.test):
            train = none if self.train is None else self.train[k]
            left = self.n - len(test) if self.train is None else len(train)
            if not len(test) or left < 1 or not _are_apart(train, test, self.n):
                raise InputError(
                    f"fold {k} (counted from 0) must train on some runs and hold out some others, "
                    f"each an index from 0 to {self.n - 1} that occurs once."
                )

    def __len__(self) -> int:
        """Count the (train, test) pairs over all repeats."""
        return len(self.test)

    def __iter__(self) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield (train, test) index pairs, repeat by repeat."""
        for k, test in enumerate(self.test):
            yield (_complement(test, self.n) if self.train is None else self.train[k]), test

    def split(
        self, X: Any = None, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield (train, test) index pairs; X, when given, must have the plan's number of rows."""
        if X is not None:
            self.check_size(len(X))
        return iter(self)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Count the (train, test) pairs over all repeats."""
        return len(self)

    def check_size(self, n: int) -> None:
        """Raise an InputError unless the plan was made for `n` runs."""
        if n != self.n:
            raise InputError(
                f"the fold plan was made for {self.n} runs but the data have {n}; make a new plan."
            )

    def repeat(self, r: int) -> "FoldPlan":
        """Return repeat `r` (counted from 0) as a plan of its own."""
        if not isinstance(r, numbers.Integral) or not 0 <= r < self.repeats:
            raise InputError(f"repeat {r!r} does not exist; this plan has 0 to {self.repeats - 1}.")
        K = self.n_folds
        block = slice(r * K, (r + 1) * K)
        train = None if self.train is None else self.train[block]
        settings = {**self.settings, "repeat": r}
        return FoldPlan(self.n, self.test[block], 1, self.kind, settings, train)

    @property
    def n_folds(self) -> int:
        """Number of folds in one repeat."""
        return len(self.test) // self.repeats

    @property
    def labels(self) -> IntArray:
        """Fold of every run in every repeat [repeats, n], 0 to K-1.

        An InputError where the held-out sets of a repeat overlap or leave a run out.
        """
        labels = np.full((self.repeats, self.n), -1, dtype=np.int64)
        for k, test in enumerate(self.test):
            labels[k // self.n_folds, test] = k % self.n_folds
        if np.any(labels < 0) or sum(map(len, self.test)) != labels.size:
            raise InputError("the held-out sets of this plan do not partition the runs.")
        return labels

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain lists and numbers, ready for JSON."""
        train = None if self.train is None else [index.tolist() for index in self.train]
        return {
            "n": self.n,
            "test": [index.tolist() for index in self.test],
            "repeats": self.repeats,
            "kind": self.kind,
            "settings": dict(self.settings),
            "train": train,
        }

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> "FoldPlan":
        """Rebuild a plan from `to_dict`."""
        try:
            test, train = index_arrays(record["test"]), record.get("train")
            return cls(
                n=int(record["n"]),
                test=test,
                repeats=int(record["repeats"]),
                kind=str(record["kind"]),
                settings=dict(record["settings"]),
                train=None if train is None else index_arrays(train),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                f"this is not a stored fold plan ({error!r}); make one with FoldPlan.to_dict."
            ) from error


def from_labels(labels: IntArray, kind: str, settings: dict[str, Any]) -> FoldPlan:
    """Plan of labels [repeats, n] that run from 0 to K-1 in every row."""
    test: list[IntArray] = []
    for row in labels:
        ends = np.cumsum(np.bincount(row))[:-1]
        test += np.split(np.argsort(row, kind="stable"), ends)
    return FoldPlan(labels.shape[1], index_arrays(test), len(labels), kind, settings)


def from_pairs(
    pairs: list[tuple[Any, Any]], n: int, kind: str, settings: dict[str, Any]
) -> FoldPlan:
    """Plan of explicit (train, test) index pairs for n runs."""
    if not pairs:
        raise InputError("the splitter gave no folds; ask it for at least one.")
    train, test = (index_arrays(sets) for sets in zip(*pairs, strict=True))
    whole = all(len(a) + len(b) == n for a, b in zip(train, test, strict=True))
    plan = FoldPlan(n, test, 1, kind, settings, train)
    return FoldPlan(n, test, _count_repeats(test, n), kind, settings) if whole else plan


def _count_repeats(test: tuple[IntArray, ...], n: int) -> int:
    """Count the passes if the sets come as equal blocks that each cover all n runs once."""
    ends = np.flatnonzero(np.cumsum([len(index) for index in test]) == n) + 1
    if not len(ends) or len(test) % ends[0]:
        return 1
    blocks = [test[i : i + ends[0]] for i in range(0, len(test), ends[0])]
    whole = all(np.array_equal(np.sort(np.concatenate(b)), np.arange(n)) for b in blocks)
    return len(blocks) if whole else 1


def index_arrays(sets: Iterable[ArrayLike]) -> tuple[IntArray, ...]:
    """Return each set of indices as a sorted integer array, or raise an InputError."""
    try:
        arrays = [np.asarray(index) for index in sets]
    except ValueError:  # lists of different lengths in one set
        arrays = [np.empty(())]
    if any(a.ndim != 1 or (a.size and a.dtype.kind not in "iu") for a in arrays):
        raise InputError("the runs of a fold must be a list of whole numbers, counted from 0.")
    return tuple(np.sort(a).astype(np.int64) for a in arrays)


def _complement(test: IntArray, n: int) -> IntArray:
    """Return the indices from 0 to n - 1 that are not held out, in order."""
    rest = np.ones(n, dtype=np.bool_)
    rest[test] = False
    return np.flatnonzero(rest)


def _are_apart(train: IntArray, test: IntArray, n: int) -> bool:
    """Whether the two sets together hold no index twice or outside 0 to n - 1."""
    both = np.concatenate([train, test])
    return bool(np.all((both >= 0) & (both < n))) and len(np.unique(both)) == len(both)
