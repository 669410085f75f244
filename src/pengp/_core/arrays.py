"""Types of arrays, and what a caller passes as arrays of real numbers."""

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pengp.exceptions import InputError

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None

ArrayOrArrays: TypeAlias = ArrayLike | Sequence[ArrayLike]

NO_NUMBERS = (TypeError, ValueError, OverflowError)
"""What NumPy raises of values that are no numbers, or whole numbers beyond the largest float."""

_DATES = re.compile("date|time|duration|period", re.IGNORECASE)
"""What the kinds of dates and times have in their names, whoever defines them."""


def as_floats(values: ArrayOrArrays, name: str) -> FloatArray:
    """Return a float array, or say why it is none."""
    check_real(values, name)
    try:
        return np.asarray(values, dtype=np.float64)
    except NO_NUMBERS:
        raise InputError(f"{name} must be a numeric array without gaps or text.") from None


def check_sizes(values: FloatArray, name: str, most: float, least: float | None = None) -> None:
    """Raise an InputError unless all values are from ``least``, by default -most, to ``most``."""
    low = -most if least is None else least
    if not ((values >= low) & (values <= most)).all():
        raise InputError(f"{name} must be finite, from {low:g} to {most:g}.")


def check_real(values: object, name: str) -> None:
    """Raise an InputError about what NumPy would make a float of, but is no real number.

    These are dates and times, complex numbers, and what a mask hides.
    """
    if type(values) is np.ndarray and values.dtype.kind in "fiub":
        return
    parts = values if isinstance(values, list | tuple) else [values]
    masks = [np.ma.getmaskarray(a) for a in parts if isinstance(a, np.ma.MaskedArray)]
    masked = sum(int(np.count_nonzero(mask)) for mask in masks)
    if masked:
        raise InputError(
            f"{name} has masked values, {masked} in all; remove those runs or fill them in, then "
            "pass a plain array."
        )
    for kind, where in _kinds(values):
        if _DATES.search(kind):
            raise InputError(
                f"{name} holds dates or times{where}; give them as numbers, such as days since the "
                "first."
            )
        if "complex" in kind:
            raise InputError(
                f"Complex data not supported: {name} has complex numbers{where}; give real ones."
            )


def _kinds(values: object) -> Iterator[tuple[str, str]]:
    """Yield words for the kinds of number in an array, a frame or a list, and where each is."""
    if isinstance(values, list | tuple):
        try:
            values = np.asarray(values)
        except ValueError:  # ragged, which is said elsewhere
            return
    if hasattr(values, "columns"):
        kinds = [str(kind) for kind in getattr(values, "dtypes", ())]
        yield from zip(kinds, (f" in column {name!r}" for name in values.columns), strict=False)
    else:
        kinds = [str(getattr(values, "dtype", ""))]
        yield kinds[0], ""
    if any(kind.lower() == "object" for kind in kinds):
        elements = np.asarray(values, dtype=object).ravel()
        yield from ((_word(kind), "") for kind in set(map(type, elements)))


def _word(kind: type) -> str:
    """Return words for the kind of an element."""
    return " ".join(base.__name__.lower() for base in kind.__mro__)
