"""A check that refuses what NumPy would turn into floats, but is no real number."""

import re
from collections.abc import Iterator

import numpy as np

from pengp.exceptions import InputError

_DATES = re.compile("date|time|duration|period", re.IGNORECASE)
"""What the kinds of dates and times have in their names, whoever defines them."""


def check_real(values: object, name: str) -> None:
    """Raise an InputError about what NumPy would make a float of, but is no real number.

    These are dates and times, complex numbers, and what a mask hides.
    """
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
