"""Displays of the effects of the inputs: shares of the variance, and main-effect curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.exceptions import InputError
from pengp.plots import drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from pengp.decisions.indices import Effects, Estimate

#: Inches of height for an input and for what surrounds the inputs.
_ROW, _AROUND = 0.5, 1.2
#: What each index is called, and its colour.
_KINDS = {
    "first": ("alone (first order)", drawing.BLUE),
    "total": ("with others (total)", drawing.VERMILLION),
    "shapley": ("fair share (Shapley)", drawing.GREEN),
}


@dataclass(eq=False)
class EffectsDisplay:
    """Shares of the response's variance that the inputs explain, with intervals.

    Attributes
    ----------
    effects : Effects
        From `pengp.decisions.effects`.
    """

    effects: Effects

    @classmethod
    def from_effects(cls, found: Effects) -> Self:
        """Take the shares from effects."""
        return cls(found)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw bars with intervals, the input with the largest total index on top.

        Parameters
        ----------
        ax : matplotlib axes, optional
            By default those of a new figure.
        """
        found, order = self.effects, self.effects.order()
        self.ax_: Axes = drawing.one_axes(ax, (6.2, _AROUND + _ROW * len(order)))
        self.figure_: Figure | SubFigure = self.ax_.figure
        kinds = [kind for kind in _KINDS if getattr(found, kind) is not None]
        for k, kind in enumerate(kinds):
            mean, lower, upper = (part[order] for part in getattr(found, kind))
            place = np.arange(len(order)) + 0.26 * (k - 0.5 * (len(kinds) - 1))
            reach = np.maximum([mean - lower, upper - mean], 0.0)
            label, colour = _KINDS[kind]
            self.ax_.barh(place, mean, height=0.24, color=colour, alpha=0.75, label=label)
            self.ax_.errorbar(
                mean, place, xerr=reach, fmt="none", ecolor=drawing.BLACK, elinewidth=1.0
            )
        self.ax_.set_yticks(range(len(order)), [found.names[p] for p in order])
        self.ax_.set_ylim(len(order) - 0.5, -0.5)
        self.ax_.set_xlim(0.0, 1.0)
        share = drawing.percent(found.level)
        self.ax_.set_xlabel(f"share of the variance of {found.response}, with {share} intervals")
        drawing.legend_above(self.ax_, len(kinds))
        return self


@dataclass(eq=False)
class MainEffectsDisplay:
    """The mean response given one input, the others following their laws, with its interval.

    Attributes
    ----------
    names : tuple of d strings
        Names of the inputs.
    x : [d, m]
        Values of each input, in its unit.
    curves : Estimate, [d, m]
        Mean response and ends of its interval, in the response's unit.
    total : [d]
        Total indices, by which the inputs are ordered.
    level : float
        Probability of the intervals.
    response_name : str
        For labels.
    """

    names: tuple[str, ...]
    x: FloatArray
    curves: Estimate
    total: FloatArray
    level: float
    response_name: str

    @classmethod
    def from_effects(cls, found: Effects) -> Self:
        """Take the curves from effects."""
        return cls(
            found.names, found.x, found.curves, found.total.mean, found.level, found.response
        )

    def plot(self, ax: Sequence[Axes] | None = None) -> Self:
        """Draw one curve an input, all on one scale of the response, the most important first.

        Parameters
        ----------
        ax : sequence of d matplotlib axes, optional
            By default those of a new figure.
        """
        d = len(self.names)
        given = tuple(np.ravel(np.asarray(ax, dtype=object)))
        if ax is not None and len(given) != d:
            raise InputError(f"there are {d} inputs; ax must hold {d} axes.")
        self.axes_: tuple[Axes, ...] = self._axes(d) if ax is None else given
        self.figure_: Figure | SubFigure = self.axes_[0].figure
        for axes, p in zip(self.axes_, np.argsort(-self.total, kind="stable"), strict=True):
            mean, lower, upper = (part[p] for part in self.curves)
            axes.fill_between(self.x[p], lower, upper, color=drawing.BLUE, alpha=drawing.BAND)
            axes.plot(self.x[p], mean, color=drawing.BLUE)
            axes.set_xlabel(self.names[p])
            axes.set_ylim(self.curves.lower.min(), self.curves.upper.max())
        self.axes_[0].set_ylabel(f"mean {self.response_name}, {drawing.percent(self.level)} band")
        return self

    @staticmethod
    def _axes(d: int) -> tuple[Axes, ...]:
        """Return d axes in rows of up to four."""
        plt, columns = drawing.pyplot(), min(d, 4)
        rows = -(-d // columns)
        size = (2.4 * columns + 0.6, 2.3 * rows + 0.3)
        with plt.rc_context({"axes.spines.top": False, "axes.spines.right": False}):
            grid = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)[1]
        for spare in grid.ravel()[d:]:
            spare.set_axis_off()
        return tuple(grid.ravel()[:d])
