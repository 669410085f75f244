"""Inputs with levels as users give them, texts or numbers, and as arrays of numbers hold them."""

import itertools
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.estimators.scales import column_label, column_list, column_number
from pengp.exceptions import InputError
from pengp.model.levels import Levels

#: Kinds of columns of a frame that are factors.
_TEXTS = ("category", "string", "str")


def find_levels(X: Any, factors: Any) -> dict[int, Levels]:
    """Return the levels of the inputs that are factors, by the numbers of their columns.

    Parameters
    ----------
    X : array or frame, shape [n, d]
        Inputs as given to ``fit``.
    factors : sequence of names or numbers of columns, or mapping from them to levels, optional
        As given to an estimator. Columns of a frame that hold categories or texts are factors too.
    """
    columns = column_list(factors, "factors")
    if not columns and not _texts(X):
        return {}
    if np.ndim(X) != 2:  # the estimator has the words for it
        return {}
    names, d = _names(X), np.shape(X)[1]
    given = factors if isinstance(factors, Mapping) else {}
    asked = {column_number(c, names, d, "factors"): given.get(c) for c in columns}
    asked = dict.fromkeys(_texts(X)) | asked
    return {p: _levels(_column(X, p), asked[p], column_label(p, names)) for p in sorted(asked)}


def _names(X: Any) -> list[str] | None:
    """Return the names of the columns of a frame, None for an array."""
    return [str(name) for name in X.columns] if hasattr(X, "columns") else None


def _texts(X: Any) -> list[int]:
    """Return the numbers of a frame's columns that hold categories or texts alone."""
    if not hasattr(X, "iloc"):
        return []
    kinds = [str(kind) for kind in X.dtypes]
    return [p for p, kind in enumerate(kinds) if kind in _TEXTS or _is_text(kind, X.iloc[:, p])]


def _is_text(kind: str, column: Any) -> bool:
    """Tell whether a column of objects holds texts alone, as far as it is filled."""
    filled = [value for value in column if not _is_missing(value)] if kind == "object" else []
    return bool(filled) and all(type(value) is str for value in filled)


def _is_missing(value: Any) -> bool:
    """Tell whether a cell holds nothing; pandas' NA has no truth value that could be asked for."""
    return value is None or str(value) in ("", "<NA>") or bool(value != value)


def _column(X: Any, p: int) -> list[Any]:
    """Return the values of column p of an array or frame."""
    values: list[Any] = list(X.iloc[:, p]) if hasattr(X, "iloc") else [row[p] for row in X]
    return values


def _levels(column: Sequence[Any], known: Any, label: str) -> Levels:
    """Return the levels that a column takes, or those that are known; checked."""
    _check_filled(column, label)
    try:
        values = list(dict.fromkeys(column if known is None else known))
    except TypeError:
        raise InputError(
            f"factors gives {label} the levels {known!r}; give a list of texts or numbers."
        ) from None
    if all(isinstance(value, numbers.Real) for value in values):
        ordered = sorted(float(value) for value in values)
        levels = Levels(tuple(map(_label, ordered)), tuple(ordered))
    else:
        texts = [str(value) for value in values]
        levels = levels_of(sorted(set(texts)) if known is None else list(dict.fromkeys(texts)))
    taken, n = len(set(column)), len(column)
    if 2 * taken > n and taken > 1:
        raise InputError(
            f"{label} of X has {taken} levels in {n} runs, more than one for every two runs, which "
            "says nothing about how alike they are; leave it out, join levels, or add runs."
        )
    return levels


def levels_of(labels: Sequence[str]) -> Levels:
    """Return levels with these labels [L], each once.

    A label that reads as a number has that number as its value, so that a column of numbers means
    the same levels; the others have the whole numbers from 0 that are free, in their order.
    """
    value_of: dict[float, str] = {}
    for label in labels:
        if (number := _number(label)) is not None:
            value_of.setdefault(number, label)
    free = (float(k) for k in itertools.count() if float(k) not in value_of)
    placed = {label: value for value, label in value_of.items()}
    placed |= {label: next(free) for label in labels if label not in placed}
    ordered = sorted(placed, key=lambda label: placed[label])
    return Levels(tuple(ordered), tuple(placed[label] for label in ordered))


def _number(text: str) -> float | None:
    """Return the finite number that a text is, None if it is none."""
    try:
        found = float(text)
    except ValueError:
        return None
    return found if np.isfinite(found) and "_" not in text else None


def _label(level: Any) -> str:
    """Return what a level is called."""
    return f"{level:.15g}" if isinstance(level, numbers.Real) else str(level)


def _check_filled(column: Sequence[Any], label: str) -> None:
    """Raise an InputError if a level is missing."""
    for i, value in enumerate(column):
        if _is_missing(value):
            raise InputError(f"X has no level in row {i}, {label}; fill it in or remove that run.")


def as_numbers(X: Any, levels: Mapping[int, Levels], names: Sequence[str] | None) -> Any:
    """Return X with the values of levels for their labels.

    Parameters
    ----------
    X : array or frame, shape [m, d]
        Inputs; arrays of numbers hold the values already.
    levels : mapping
        From `find_levels`.
    names : sequence of d strings, optional
        Names of the inputs in ``fit``. A frame with other ones is returned as it is, for the
        estimator to refuse.
    """
    is_frame = hasattr(X, "iloc")
    if not levels or np.ndim(X) != 2 or max(levels) >= np.shape(X)[1]:
        return X
    if is_frame and names is not None and _names(X) != [str(name) for name in names]:
        return X
    coded = X.copy() if is_frame else np.array(X, dtype=object)
    for p, known in levels.items():
        values = _values(_column(X, p), known, column_label(p, names))
        if is_frame:
            coded[X.columns[p]] = values
        else:
            coded[:, p] = values
    return coded


def _values(column: Sequence[Any], known: Levels, label: str) -> FloatArray:
    """Return the values [m] of a column of levels, or raise an InputError about the first other."""
    _check_filled(column, label)
    of_label = dict(zip(known.labels, known.values, strict=True))
    found = np.empty(len(column))
    for i, level in enumerate(column):
        value = of_label.get(str(level), np.nan)
        if np.isnan(value) and isinstance(level, numbers.Real):
            value = float(level)
        if value not in known.values:
            raise InputError(
                f"X has {_label(level)!r} in row {i}, {label}, which is none of its levels "
                f"{known.listed}; correct it, or fit with runs of that level."
            )
        found[i] = value
    return found
