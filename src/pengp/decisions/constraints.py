"""Constraints on the response such as ``y < 60``: read by their grammar, never evaluated."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from pengp._core.arrays import BoolArray, FloatArray
from pengp.exceptions import InputError

_FORM = re.compile(r"\s*(?P<name>.*?)\s*(?P<sign><=|>=|<|>)\s*(?P<limit>[^<>=]+?)\s*")

_SIGNS = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}


@dataclass(frozen=True)
class Constraint:
    """What the response is to be.

    Attributes
    ----------
    name : str
        The response.
    sign : {"<", "<=", ">", ">="}
        How it is compared.
    limit : float
        With what.
    """

    name: str
    sign: str
    limit: float

    def holds(self, values: FloatArray) -> BoolArray:
        """Tell where values of the response, of any shape, meet the constraint."""
        return np.asarray(_SIGNS[self.sign](values, self.limit))

    def __str__(self) -> str:
        return f"{self.name} {self.sign} {self.limit:g}"


def constrained(text: str) -> str | None:
    """Return the name of the response that a constraint is about; None if it cannot be read."""
    found = _FORM.fullmatch(text)
    return None if found is None else found["name"]


def parse_constraint(text: Any, response: str) -> Constraint:
    """Return the constraint that is written as a name, a sign and a number."""
    found = _FORM.fullmatch(text) if isinstance(text, str) else None
    form = f"write a name, <, <=, > or >=, and a number, such as {response} < 60"
    if found is None:
        raise InputError(f"the constraint {text!r} cannot be read; {form}.")
    try:
        limit = float(found["limit"])
    except ValueError:
        limit = np.nan
    if not np.isfinite(limit):
        raise InputError(f"{found['limit']!r} in the constraint {text!r} is no number; {form}.")
    if found["name"] != response:
        raise InputError(
            f"the constraint {text!r} is about {found['name']!r}, but the response is {response!r}."
        )
    return Constraint(response, found["sign"], limit)
