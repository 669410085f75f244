"""Inputs that are no plain numbers: whole numbers, and levels without an order."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from pengp._core.arrays import BoolArray, FloatArray
from pengp.exceptions import InputError
from pengp.model.elementary import Identity, Transform

#: Levels that a sentence names.
_MOST_NAMES = 12


@dataclass(frozen=True)
class Integer(Transform):
    """z = t(x rounded), so that the surrogate is constant between whole numbers.

    Parameters
    ----------
    scale : Transform
        t, by default none.
    """

    scale: Transform = field(default_factory=Identity)
    name: ClassVar[str] = "integer"
    label: ClassVar[str] = "whole number"
    has_steps: ClassVar[bool] = True

    def __post_init__(self) -> None:
        scale: object = self.scale  # a file may hold anything
        if not isinstance(scale, Transform) or scale.has_steps:
            raise InputError("Integer takes a transform without steps, such as Log10().")

    @property
    def is_logarithm(self) -> bool:  # type: ignore[override]  # that of its scale
        """Whether t is a logarithm."""
        return self.scale.is_logarithm

    @property
    def domain(self) -> str:
        """Where x may lie."""
        return self.scale.domain

    def accepts(self, x: FloatArray) -> BoolArray:
        """Accept what t takes when rounded."""
        return self.scale.accepts(np.rint(x))

    def forward(self, x: FloatArray) -> FloatArray:
        """Return t(x rounded)."""
        return self.scale.forward(np.rint(x))

    def inverse(self, z: FloatArray) -> FloatArray:
        """Return the nearest whole number."""
        return np.rint(self.scale.inverse(z))

    def spread(self, u: FloatArray, low: float, high: float) -> FloatArray:
        """Return whole numbers from low to high, half a step more at the ends before rounding.

        So those at the ends are as frequent as others, as far as t is defined beyond them.
        """
        first, last = np.ceil(low), np.floor(high)
        wider = np.array([first - 0.5, last + 0.5])
        ends = np.where(self.scale.accepts(wider), wider, [first, last])
        x = self.scale.spread(u, float(ends[0]), float(ends[1]))
        return np.clip(np.rint(x), first, last)

    def slope(self, x: FloatArray) -> FloatArray:
        """Return 0: what is rounded has no slope but in steps."""
        return np.zeros(np.shape(x))

    def of(self, name: str) -> str:
        """Return what t makes of the name."""
        return self.scale.of(name)


@dataclass(frozen=True)
class Levels(Transform):
    """z = the number of a level, from 0; the correlation asks only whether two are the same.

    Parameters
    ----------
    labels : tuple of L strings
        What the levels are called.
    values : tuple of L floats
        Increasing; how arrays of numbers write them: as they are, or for texts that are no numbers
        0, 1, ...
    """

    labels: tuple[str, ...] = ()
    values: tuple[float, ...] = ()
    name: ClassVar[str] = "levels"
    label: ClassVar[str] = "levels"
    has_steps: ClassVar[bool] = True

    def __post_init__(self) -> None:
        kinds = {type(label) for label in self.labels}, {type(value) for value in self.values}
        sound = len(set(self.labels)) == len(self.values) and kinds in (
            ({str}, {float}),
            (set(),) * 2,
        )
        if not sound or not (np.diff(self.values) > 0.0).all():
            raise InputError("Levels needs a label and a value for each level, values increasing.")

    @property
    def domain(self) -> str:
        """The levels in words."""
        return f"among its levels {self.listed}"

    @property
    def are_texts(self) -> bool:
        """Whether values are places of texts, not the levels themselves."""
        return self.labels != tuple(f"{value:.15g}" for value in self.values)

    @property
    def listed(self) -> str:
        """The labels with commas between them, the first ones if there are many."""
        more = len(self.labels) - _MOST_NAMES
        return ", ".join(self.labels[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")

    def accepts(self, x: FloatArray) -> BoolArray:
        """Accept the values of levels."""
        return np.isin(x, self.values)

    def forward(self, x: FloatArray) -> FloatArray:
        """Return the numbers of the levels."""
        return np.searchsorted(self.values, x).astype(np.float64)

    def inverse(self, z: FloatArray) -> FloatArray:
        """Return the value of the nearest level."""
        k = np.clip(np.rint(z), 0, len(self.values) - 1).astype(np.int64)
        return np.asarray(self.values)[k]

    def spread(self, u: FloatArray, low: float, high: float) -> FloatArray:
        """Return the values of levels, all equally frequent, whatever low and high are."""
        k = np.minimum(np.floor(u * len(self.values)), len(self.values) - 1).astype(np.int64)
        return np.asarray(self.values)[k]

    def slope(self, x: FloatArray) -> FloatArray:
        """Return 0."""
        return np.zeros(np.shape(x))

    def of(self, name: str) -> str:
        """Return the name."""
        return name

    def label_of(self, value: float) -> str:
        """Return what the level with this value is called."""
        return self.labels[self.values.index(float(value))]


def levels_among(transforms: Sequence[Transform]) -> dict[int, Levels]:
    """Return the levels of the inputs that hold some, by the numbers of the inputs."""
    return {p: found for p, found in enumerate(transforms) if isinstance(found, Levels)}
