"""Laws of inputs that take whole numbers or levels: finitely many values, each with its weight.

Levels are written with their weights, as ``steel:0.7,brass:0.3``, or without as ``steel,brass`` if
they are equally frequent. Whole numbers are written so too, ``3:0.7,4:0.3``, or by a law of numbers
that is rounded, as ``normal:4,1``; ``uniform:1,5`` has each from 1 to 5 equally often.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from pengp._core.arrays import NO_NUMBERS, FloatArray
from pengp.decisions.families import Law, as_law
from pengp.exceptions import InputError
from pengp.model.levels import Levels

MOST_VALUES = 512
"""Whole numbers that are summed over; more are taken for a continuous input."""

_TAIL = 1e-15
"""Probability from which on a value counts."""


@dataclass(frozen=True, eq=False)
class FiniteLaw:
    """The law of an input with L values.

    Attributes
    ----------
    text : str
        How it is written.
    values : [L]
        Ascending, in the user's units; of levels the values that stand for them.
    weights : [L]
        Probabilities, above 0.
    labels : tuple of L strings, or None
        What levels are called; None for whole numbers.
    """

    text: str
    values: FloatArray
    weights: FloatArray
    labels: tuple[str, ...] | None

    def outside(self, lower: float, upper: float) -> float:
        """Return the probability below lower or above upper."""
        return float(self.weights[(self.values < lower) | (self.values > upper)].sum())


def law_of_levels(given: Any, levels: Levels, name: str) -> FiniteLaw:
    """Return the law of a factor: all levels equally often if none is given.

    Parameters
    ----------
    given : text, mapping from levels to weights, or None
        As given by the user.
    levels : Levels
        Of the input.
    name : str
        What it is called.
    """
    if given is None:
        given = dict.fromkeys(levels.labels, 1.0)
    elif isinstance(given, str):
        given = _weights(given, levels.labels, name)
    if not isinstance(given, Mapping):
        raise InputError(
            f"{name} has levels; its law must be text such as "
            f"'{_example(levels.labels)}' or a mapping from levels to weights."
        )
    found = {_label(level): weight for level, weight in given.items()}
    unknown = [label for label in found if label not in levels.labels]
    if unknown:
        raise InputError(
            f"the law of {name} names {unknown[0]!r}, which is none of its levels {levels.listed}."
        )
    of_label = dict(zip(levels.labels, levels.values, strict=True))
    values, weights = _sound([of_label[label] for label in found], list(found.values()), name)
    labels = tuple(levels.label_of(value) for value in values)
    return FiniteLaw(_written(labels, weights), values, weights, labels)


def law_of_whole_numbers(given: Any, lower: float, upper: float, name: str) -> FiniteLaw | Law:
    """Return the law of an input of whole numbers: all of its range equally often if none is given.

    A law of more than 512 values stays continuous.

    Parameters
    ----------
    given : text, law of scipy.stats, mapping from whole numbers to weights, or None
        As given by the user.
    lower, upper : float
        Ends of the input's range.
    name : str
        What it is called.
    """
    if isinstance(given, str) and _is_number(given.replace(",", ":").split(":")[0]):
        given = _weights(given, (), name)
    if isinstance(given, Mapping):
        numbers = [float(value) for value in given]
        if any(value != np.rint(value) for value in numbers):
            raise InputError(f"the law of {name} names values that are no whole numbers.")
        values, weights = _sound(numbers, list(given.values()), name)
        return FiniteLaw(_written([f"{v:g}" for v in values], weights), values, weights, None)
    if isinstance(getattr(given, "dist", None), stats.rv_discrete):
        values = np.arange(given.ppf(_TAIL), given.isf(_TAIL) + 1.0)
        text = (
            f"{given.dist.name}:{','.join(f'{v:g}' for v in (*given.args, *given.kwds.values()))}"
        )
        return _rounded(text, values, given.pmf(values))
    law = (
        Law(f"uniform:{lower:g},{upper:g}", stats.uniform(lower, upper - lower))
        if given is None
        else as_law(given)
    )
    return _of_numbers(law, name)


def _of_numbers(law: Law, name: str) -> FiniteLaw | Law:
    """Return a continuous law rounded to whole numbers; a uniform one has its ends in full."""
    if law.family == "uniform":
        low, high = law.dist.support()
        values = np.arange(np.ceil(low), np.floor(high) + 1.0)
        if not len(values):
            raise InputError(f"there is no whole number in the law {law.text} of {name}.")
        return (
            law if len(values) > MOST_VALUES else _rounded(law.text, values, np.ones(len(values)))
        )
    ends = np.rint([law.dist.ppf(_TAIL), law.dist.isf(_TAIL)])
    if ends[1] - ends[0] >= MOST_VALUES:
        return law
    values = np.arange(ends[0], ends[1] + 1.0)
    below, above = (
        law.dist.cdf(values + 0.5) - law.dist.cdf(values - 0.5),
        law.dist.sf(values - 0.5) - law.dist.sf(values + 0.5),
    )
    return _rounded(law.text, values, np.where(values < law.dist.median(), below, above))


def _rounded(text: str, values: FloatArray, weights: FloatArray) -> FiniteLaw:
    """Return a law of whole numbers without those that hardly occur."""
    kept = weights > _TAIL * weights.max()
    return FiniteLaw(text, values[kept], weights[kept] / weights[kept].sum(), None)


def _weights(text: str, labels: Sequence[str], name: str) -> dict[str, float]:
    """Return the weights that ``steel:0.7,brass:0.3`` or ``steel,brass`` gives."""
    found: dict[str, float] = {}
    given = []
    for part in text.split(","):
        label, colon, weight = part.strip().rpartition(":")
        if part.strip() in labels or not colon:
            label, weight = part.strip(), ""
        if label in found:
            raise InputError(f"the law {text!r} of {name} names {label!r} twice.")
        if weight and not _is_number(weight):
            raise InputError(f"{weight!r} in the law {text!r} of {name} is no weight.")
        found[label] = float(weight) if weight else 1.0
        given.append(bool(weight))
    if any(given) != all(given):
        raise InputError(f"the law {text!r} of {name} must give all weights or none.")
    return found


def _sound(values: list[float], weights: list[Any], name: str) -> tuple[FloatArray, FloatArray]:
    """Return values and probabilities, ascending, of weights that are checked."""
    try:
        found = np.asarray(weights, dtype=np.float64)
    except NO_NUMBERS:
        found = np.full(len(values), np.nan)
    if not len(values) or not np.isfinite(found).all() or (found < 0.0).any() or not found.any():
        raise InputError(
            f"the weights in the law of {name} must be numbers from 0 up, one of them above 0."
        )
    order = np.argsort(values)
    order = order[found[order] > 0.0]
    return np.asarray(values, dtype=np.float64)[order], found[order] / found.sum()


def _written(labels: Sequence[str], weights: FloatArray) -> str:
    """Return a law as text."""
    if np.ptp(weights) == 0.0:
        return ",".join(labels)
    return ",".join(f"{label}:{weight:.4g}" for label, weight in zip(labels, weights, strict=True))


def _example(labels: Sequence[str]) -> str:
    """Return a law of the first two levels."""
    return ",".join(f"{label}:{weight}" for label, weight in zip(labels, (0.7, 0.3), strict=False))


def _label(level: Any) -> str:
    """Return what a level is called that a user names."""
    return level if isinstance(level, str) else f"{level:.15g}"


def _is_number(text: str) -> bool:
    """Tell whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
