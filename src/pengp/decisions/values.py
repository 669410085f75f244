"""Values that inputs take: whole numbers and levels, in the unit cube and as users write them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pengp._core.arrays import NO_NUMBERS, FloatArray
from pengp.decisions.processes import Processes
from pengp.estimators.factors import as_numbers
from pengp.exceptions import InputError
from pengp.model.elementary import Transform
from pengp.model.levels import Integer, Levels, levels_among

Value = float | int | str
"""A number, a whole number, or the name of a level."""


def stepped(processes: Processes) -> dict[int, FloatArray]:
    """Return the values that inputs of whole numbers or levels take, by the inputs' numbers.

    They are in the unit cube, ascending; inputs that were constant are left out.
    """
    found = {}
    for p, transform in enumerate(processes.each_transform):
        if processes.constant[p] or not transform.has_steps:
            continue
        raw = _values(transform, processes.lower[p], processes.upper[p])
        X = np.tile(processes.lower, (len(raw), 1))
        X[:, p] = raw
        found[p] = processes.to_unit(X)[:, p]
    return found


def _values(transform: Transform, lower: float, upper: float) -> FloatArray:
    """Return the values of an input with steps, in the user's units."""
    if isinstance(transform, Levels):
        return np.asarray(transform.values)
    return np.arange(np.ceil(lower), np.floor(upper) + 1.0)


def snapped(processes: Processes, X: FloatArray) -> FloatArray:
    """Return points X [m, d] of the unit cube as runs can take them.

    Constant inputs are at 0, whole numbers and levels at the nearest value.
    """
    found = np.where(processes.constant, 0.0, np.clip(X, 0.0, 1.0))
    for p, values in stepped(processes).items():
        found[:, p] = values[np.abs(found[:, p, None] - values).argmin(axis=1)]
    return found


def evenly(processes: Processes, U: FloatArray) -> FloatArray:
    """Return points U [m, d], even over the unit cube, with whole numbers and levels as frequent.

    Constant inputs are at 0.
    """
    found = np.where(processes.constant, 0.0, np.clip(U, 0.0, 1.0))
    for p, values in stepped(processes).items():
        place = np.minimum((U[:, p] * len(values)).astype(np.int64), len(values) - 1)
        found[:, p] = values[place]
    return found


def given_points(points: Any, processes: Processes, word: str) -> FloatArray:
    """Return points [m, d] that a user gave, none if None, in the user's units.

    Parameters
    ----------
    points : array or frame, shape [m, d]
        Levels by name or by the values that stand for them.
    processes : Processes
        Whose inputs these are.
    word : str
        What the points are called.
    """
    if points is None:
        return np.empty((0, processes.d))
    if hasattr(points, "columns"):
        missing = [name for name in processes.names if name not in list(points.columns)]
        if missing:
            there = ", ".join(processes.names)
            raise InputError(f"{word} has no column {missing[0]!r}; the inputs are {there}.")
        points = points[list(processes.names)]
    levels = levels_among(processes.transforms)
    coded = as_numbers(points, levels, processes.names)
    try:
        X = np.asarray(coded, dtype=np.float64)
    except NO_NUMBERS:
        X = np.empty(0)
    if X.ndim != 2 or X.shape[1] != processes.d or not np.isfinite(X).all():
        raise InputError(
            f"{word} must be finite numbers of shape [m, {processes.d}], a column for each input."
        )
    for p, transform in enumerate(processes.each_transform):
        if isinstance(transform, Integer) and (X[:, p] != np.rint(X[:, p])).any():
            raise InputError(
                f"{word} has fractions in {processes.names[p]}, which takes whole numbers."
            )
        if not transform.accepts(X[:, p]).all():
            raise InputError(
                f"{word} has values of {processes.names[p]} that are not {transform.domain}."
            )
    return X


def written(transforms: Sequence[Transform], X_raw: FloatArray) -> list[list[Value]]:
    """Return inputs X_raw [m, d] as a user writes them: numbers, whole numbers, names of levels.

    Parameters
    ----------
    transforms : sequence of d Transform
        Of the inputs; empty for none at all.
    X_raw : [m, d]
        In the user's units.
    """
    columns = []
    for p, column in enumerate(np.asarray(X_raw).T.tolist()):
        transform = transforms[p] if transforms else None
        columns.append([_written(value, transform) for value in column])
    return [list(row) for row in zip(*columns, strict=True)]


def _written(value: float, transform: Transform | None) -> Value:
    """Return one value as a user writes it."""
    if isinstance(transform, Levels):
        label = transform.label_of(value)
        return label if transform.are_texts else value
    return round(value) if isinstance(transform, Integer) else value
