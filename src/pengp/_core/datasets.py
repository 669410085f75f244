"""Data sets as a caller passes them: arrays of numbers, runs and responses that can be fitted."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pengp._core.arrays import ArrayOrArrays, BoolArray, FloatArray, IntArray, as_floats
from pengp._core.checks import warn
from pengp.exceptions import InputError

_LARGEST = 1e100
"""Responses beyond this, or below its inverse, would overflow or vanish when squared."""

_MOST_RUNS = 10_000
"""Runs of an exact fit: a matrix of so many rows takes 0.8 GB, and a fit a dozen of them."""

MOST_INPUTS = 500
"""Inputs of a model: a penalized fit to 20 runs of so many takes 16 s, of twice as many minutes."""

_GIGABYTE = 125_000_000
"""Numbers in a gigabyte."""

_MOST_DRAWN = 25_000_000
"""Numbers that are drawn at once, of 0.2 GB, which are held several times."""

_CUBE_SLACK = 1e-9
"""How far round-off may carry a scaled input out of the unit cube."""


class DataSets(NamedTuple):
    """F data sets, in the order of their leading shape."""

    X: list[FloatArray]  # F arrays [n_f, d]
    y: list[FloatArray]  # F arrays [n_f]
    shape: tuple[int, ...]  # leading shape, with F entries
    noise: list[FloatArray] | None = None  # F arrays [n_f], known variances of y

    def noise_of(self, members: Sequence[int] | IntArray) -> FloatArray | None:
        """Return the known variances [len(members), n] of data sets of one size."""
        return None if self.noise is None else np.stack([self.noise[f] for f in members])

    def label(self, f: int) -> str:
        """Return words that name data set f in a message."""
        return "" if not self.shape else f" of data set {f}"


def as_datasets(X: ArrayOrArrays, y: ArrayOrArrays) -> DataSets:
    """Return the data sets in X [..., n, d] and y [..., n], or in two equally long lists."""
    sets_of_X = _list_of_sets(X)
    if sets_of_X is not None:
        if not isinstance(y, list | tuple | np.ndarray) or len(y) != len(sets_of_X):
            raise InputError("X is a list of data sets, so y must be a list of as many responses.")
        sets = [as_datasets(a, b) for a, b in zip(sets_of_X, y, strict=True)]
        if any(s.shape for s in sets) or len({s.X[0].shape[1] for s in sets}) > 1:
            raise InputError("each X of a list must be [n, d] with the same d, each y [n].")
        return DataSets([s.X[0] for s in sets], [s.y[0] for s in sets], (len(sets),))
    inputs, response = as_floats(X, "X"), as_floats(y, "y")
    if inputs.ndim < 2:
        raise InputError(f"X must have shape [n, d], but has {inputs.ndim} axis; use X[:, None].")
    if response.ndim < 1 or response.shape[-1] != inputs.shape[-2]:
        raise InputError(f"X has shape {inputs.shape} but y has {response.shape}: runs must match.")
    try:
        shape = np.broadcast_shapes(inputs.shape[:-2], response.shape[:-1])
    except ValueError:
        raise InputError(
            f"the leading axes of X {inputs.shape} and y {response.shape} do not fit together."
        ) from None
    n, d = inputs.shape[-2:]
    if n < 2 or d < 1:
        raise InputError(f"X has shape {inputs.shape}; at least 2 runs and 1 input are needed.")
    if 0 in shape:
        raise InputError(f"X has shape {inputs.shape}; at least one data set is needed.")
    flat_X = np.broadcast_to(inputs, (*shape, n, d)).reshape(-1, n, d)
    flat_y = np.broadcast_to(response, (*shape, n)).reshape(-1, n)
    return DataSets(list(flat_X), list(flat_y), shape)


def _list_of_sets(X: ArrayOrArrays) -> Sequence[ArrayLike] | None:
    """Return X if it is a list of data sets, None if it is one array."""
    if not isinstance(X, list | tuple) or len(X) == 0:
        return None
    try:
        return X if np.ndim(X[0]) == 2 else None
    except ValueError:
        raise InputError("X must be [n, d] in each data set, but the first is ragged.") from None


def check_datasets(data: DataSets, *, nugget: float | None) -> None:
    """Raise or warn about data that cannot, or can hardly, be fitted."""
    for f, (X, y) in enumerate(zip(data.X, data.y, strict=True)):
        where = data.label(f)
        check_runs(len(X))
        check_inputs(X.shape[1])
        check_values(X, y, where)
        check_duplicates(X, y, nugget, where=where)
        if constant_columns(X).any():
            column = int(np.flatnonzero(constant_columns(X))[0])
            warn(f"column {column} of X{where} is constant and is ignored.")


def check_runs(n: int) -> None:
    """Raise an InputError if n runs are too many to be fitted exactly, before memory is taken."""
    if n > _MOST_RUNS:
        raise InputError(
            f"{n:,} runs are too many for an exact fit: each of its matrices would take about "
            f"{(n * n + _GIGABYTE // 2) // _GIGABYTE:,} GB; fit at most {_MOST_RUNS:,} of them."
        )


def check_inputs(d: int) -> None:
    """Raise an InputError if d inputs are too many, before memory is taken."""
    if d > MOST_INPUTS:
        raise InputError(
            f"{d:,} inputs are too many: each has a theta, and a model takes {MOST_INPUTS:,} at "
            "most; leave out those that do not matter."
        )


def check_points(m: int, q: int = 1) -> None:
    """Raise an InputError if a covariance of m points and q outputs takes too much memory."""
    if q * m * m > _MOST_RUNS**2:
        raise InputError(
            f"the joint distribution of {m:,} points takes matrices of about "
            f"{8e-9 * q * m * m:.0f} GB; ask for at most {int(_MOST_RUNS / q**0.5):,} at a time."
        )


def most_draws(size: int) -> int:
    """Return how many joint draws of ``size`` numbers fit into about 1 GB with their copies."""
    return max(1, _MOST_DRAWN // size)


def check_response(y: FloatArray, where: str = "") -> None:
    """Raise an InputError if squares of responses y [...] would overflow or vanish."""
    size = np.abs(y).max(initial=0.0)
    if size > _LARGEST or 0.0 < size < 1.0 / _LARGEST:
        raise InputError(f"y{where} is of the order of {size:.0e}; standardise it first.")


def check_values(X: FloatArray, y: FloatArray, where: str) -> None:
    """Check sizes, finiteness and the unit cube."""
    if not np.isfinite(X).all():
        i, j = np.argwhere(~np.isfinite(X))[0]
        raise InputError(
            f"X{where} has {X[i, j]} in row {i}, column {j}; remove or repair that run."
        )
    if not np.isfinite(y).all():
        i = int(np.flatnonzero(~np.isfinite(y))[0])
        raise InputError(f"y{where} has {y[i]} in row {i}; remove or repair that run.")
    check_response(y, where)
    if (np.abs(X - 0.5) > 0.5 + _CUBE_SLACK).any():
        i, j = np.argwhere(np.abs(X - 0.5) > 0.5 + _CUBE_SLACK)[0]
        raise InputError(
            f"X{where} must lie in the unit cube, but row {i}, column {j} is {X[i, j]:g}; scale it "
            "first, for example with pengp.model.InputScaler."
        )


def check_duplicates(
    X: FloatArray,
    y: FloatArray,
    nugget: float | None,
    *,
    where: str = "",
    known: int = 0,
    estimated: str = "estimate",
) -> None:
    """Raise an InputError if runs X [n, d] coincide that a deterministic model cannot tell apart.

    With an estimated nugget (None) their responses y [n] or [n, q] may differ. ``where`` names the
    data set; the first ``known`` runs are those of an earlier fit; ``estimated`` is the nugget that
    the caller would have to ask for.
    """
    found = None if nugget is None else find_duplicates(X, y)
    if found is None:
        return
    i, j, differ = found
    rows = f"rows {i} and {j} of X{where}"
    if j >= known > 0:
        first = f"row {i} of the known runs" if i < known else f"row {i - known} of X"
        rows = f"{first} and row {j - known} of X"
    if differ is not None:
        raise InputError(
            f"{rows} have the same inputs but different responses, {differ[0]:.9g} and "
            f"{differ[1]:.9g}; remove one, give their standard deviations to fit as noise_sd, or "
            f"use nugget={estimated!r}."
        )
    if nugget == 0.0:
        raise InputError(
            f"{rows} have the same inputs, which makes the correlation matrix singular with "
            "nugget=0; remove one, or use nugget=1e-5."
        )


def find_duplicates(
    X: FloatArray, y: FloatArray
) -> tuple[int, int, tuple[float, float] | None] | None:
    """Return two equal rows of X [n, d], and two responses of theirs that differ.

    Rows with different responses y [n] or [n, q] are looked for first; None if no rows are equal.
    """
    seen: dict[bytes, int] = {}
    equal = None
    responses = y.reshape(len(X), -1)
    for j, row in enumerate(X + 0.0):  # -0.0 becomes 0.0, which it equals
        i = seen.setdefault(row.tobytes(), j)
        if i == j:
            continue
        differ = np.flatnonzero(responses[i] != responses[j])
        if len(differ):
            k = differ[0]
            return i, j, (float(responses[i, k]), float(responses[j, k]))
        if equal is None:
            equal = i, j, None
    return equal


def constant_columns(X: FloatArray) -> BoolArray:
    """Tell which columns [d] of X [n, d] hold one value only."""
    return (X[0] == X).all(0)


def is_constant(y: FloatArray) -> bool:
    """Tell whether all responses are equal."""
    return bool((y == y[0]).all())
