"""Displays of the effects of the inputs: shares of the variance, curves, and pairs of inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from pengp._core.arrays import FloatArray
from pengp._core.shown import Shown
from pengp.exceptions import InputError
from pengp.plots import drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from pengp.decisions.estimates import Curve
    from pengp.decisions.indices import Effects
    from pengp.decisions.surfaces import Surface

#: Inches of height for an input and for what surrounds the inputs.
_ROW, _AROUND = 0.5, 1.2
#: Room above the highest interval, in parts of the axis.
_ABOVE = 0.04
#: What each index is called, and its colour.
_KINDS = {
    "first": ("alone (first order)", drawing.BLUE),
    "total": ("with others (total)", drawing.VERMILLION),
    "shapley": ("fair share (Shapley)", drawing.GREEN),
}


@dataclass(eq=False, repr=False)
class EffectsDisplay(Shown):
    """Shares of the response's variance that the inputs explain, with intervals.

    Attributes
    ----------
    effects : Effects
        From `pengp.decisions.effects`.

    Examples
    --------
    >>> from pengp import PenalizedGPRegressor, load_piston_slap
    >>> from pengp.decisions import effects
    >>> from pengp.plots import EffectsDisplay
    >>> runs = load_piston_slap()
    >>> model = PenalizedGPRegressor(0.0578, random_state=0).fit(runs.X, runs.y)
    >>> shown = EffectsDisplay.from_effects(effects(model, n_draws=100)).plot()
    >>> shown.ax_.get_xlabel()
    'share of the variance of response, with 90 % intervals'
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
        above = (1.0, 1.0)  # from the right: long names may leave the axes less room than it needs
        drawing.legend(
            self.ax_, loc="lower right", bbox_to_anchor=above, borderaxespad=0.2, ncols=len(kinds)
        )
        return self


@dataclass(eq=False, repr=False)
class MainEffectsDisplay(Shown):
    """The mean response given one input, the others following their laws, with its interval.

    Attributes
    ----------
    names : tuple of d strings
        Names of the inputs.
    curves : tuple of d Curve
        Mean response and ends of its interval, in the response's unit.
    total : [d]
        Total indices, by which the inputs are ordered.
    level : float
        Probability of the intervals.
    response_name : str
        For labels.

    Examples
    --------
    >>> from pengp import PenalizedGPRegressor, load_piston_slap
    >>> from pengp.decisions import effects
    >>> from pengp.plots import MainEffectsDisplay
    >>> runs = load_piston_slap()
    >>> model = PenalizedGPRegressor(0.0578, random_state=0).fit(runs.X, runs.y)
    >>> shown = MainEffectsDisplay.from_effects(effects(model, n_draws=100)).plot()
    >>> len(shown.axes_)
    6
    """

    names: tuple[str, ...]
    curves: tuple[Curve, ...]
    total: FloatArray
    level: float
    response_name: str

    @classmethod
    def from_effects(cls, found: Effects) -> Self:
        """Take the curves from effects."""
        return cls(found.names, found.curves, found.total.mean, found.level, found.response)

    def plot(self, ax: Sequence[Axes] | None = None) -> Self:
        """Draw one curve an input, all on one scale of the response, the most important first.

        Whole numbers and levels have bars: there is nothing between them.

        Parameters
        ----------
        ax : sequence of d matplotlib axes, optional
            By default those of a new figure.
        """
        shown = drawing.panels(ax, len(self.names), 4, (2.4, 2.3), (0.6, 0.3))
        self.axes_: tuple[Axes, ...] = tuple(shown)
        self.figure_: Figure | SubFigure = self.axes_[0].figure
        low = min(curve.lower.min() for curve in self.curves)
        high = max(curve.upper.max() for curve in self.curves)
        for axes, p in zip(self.axes_, np.argsort(-self.total, kind="stable"), strict=True):
            _draw(axes, self.curves[p], low)
            axes.set_xlabel(self.names[p])
            axes.set_ylim(low, high + _ABOVE * (high - low))
        self.axes_[0].set_ylabel(f"mean {self.response_name}, {drawing.percent(self.level)} band")
        return self


def _draw(axes: Axes, curve: Curve, low: float) -> None:
    """Draw a curve with its band, or bars from the lower end with their intervals."""
    axis, mean, lower, upper = curve
    if not axis.is_finite:
        axes.fill_between(axis.x, lower, upper, color=drawing.BLUE, alpha=drawing.BAND)
        axes.plot(axis.x, mean, color=drawing.BLUE)
        return
    place = axis.x if axis.labels is None else np.arange(len(axis.x))
    axes.bar(place, mean - low, bottom=low, width=0.7, color=drawing.BLUE, alpha=drawing.BAND)
    reach = np.maximum([mean - lower, upper - mean], 0.0)
    axes.errorbar(place, mean, yerr=reach, fmt="o", color=drawing.BLUE, markersize=3)
    if axis.labels is not None:
        axes.set_xticks(place, [drawing.shortened(label) for label in axis.labels])


@dataclass(eq=False, repr=False)
class InteractionsDisplay(Shown):
    """What two inputs do together: the mean response given both, and what goes beyond each alone.

    Attributes
    ----------
    surfaces : tuple of Surface
        From `pengp.decisions.effects`.
    level : float
        Probability of the intervals.
    response_name : str
        For labels.

    Examples
    --------
    >>> from pengp import PenalizedGPRegressor, load_piston_slap
    >>> from pengp.decisions import effects
    >>> from pengp.plots import InteractionsDisplay
    >>> runs = load_piston_slap()
    >>> model = PenalizedGPRegressor(0.0578, random_state=0).fit(runs.X, runs.y)
    >>> found = effects(model, n_draws=100, pairs=[("x1", "x6")])
    >>> InteractionsDisplay.from_effects(found).plot().axes_[0].get_ylabel()
    'x6'
    """

    surfaces: tuple[Surface, ...]
    level: float
    response_name: str

    @classmethod
    def from_effects(cls, found: Effects) -> Self:
        """Take the surfaces from effects."""
        if not found.surfaces:
            raise InputError(
                "no two inputs explain together what each alone does not; name the pairs to be "
                "shown in effects(model, pairs=[...])."
            )
        return cls(found.surfaces, found.level, found.response)

    def plot(self, ax: Sequence[Axes] | None = None) -> Self:
        """Draw three panels a pair: mean response, interaction, half width of its interval.

        Parameters
        ----------
        ax : sequence of matplotlib axes, optional
            Three for each pair; by default those of a new figure.
        """
        shown = drawing.panels(ax, 3 * len(self.surfaces), 3, (3.1, 2.6), (0.3, 0.3))
        self.axes_: tuple[Axes, ...] = tuple(shown)
        self.figure_: Figure | SubFigure = self.axes_[0].figure
        for k, surface in enumerate(self.surfaces):
            mean, lower, upper = surface.interaction
            largest = float(np.abs(mean).max()) or 1.0
            half = 0.5 * (upper - lower)
            about = f"±, {drawing.percent(self.level)} interval"
            parts: tuple[tuple[FloatArray, str, dict[str, Any]], ...] = (
                (surface.joint.mean, f"mean {self.response_name}", {"cmap": "viridis"}),
                (mean, "interaction", {"cmap": "RdBu_r", "vmin": -largest, "vmax": largest}),
                (half, about, {"cmap": "Greys", "vmin": 0.0, "vmax": max(largest, half.max())}),
            )
            for panel, (values, title, colours) in zip(
                self.axes_[3 * k : 3 * k + 3], parts, strict=True
            ):
                _heat(panel, surface, values, colours)
                panel.set_title(title, fontsize=9)
        return self


def _heat(panel: Axes, surface: Surface, values: FloatArray, colours: dict[str, Any]) -> None:
    """Draw values [a, b] of a surface as colours, the first input to the right."""
    places = [
        axis.x if axis.labels is None else np.arange(len(axis.x), dtype=np.float64)
        for axis in surface.axes
    ]
    finite = any(axis.is_finite for axis in surface.axes)
    shading: Literal["nearest", "gouraud"] = "nearest" if finite else "gouraud"
    mesh = panel.pcolormesh(*places, values.T, shading=shading, **colours)
    panel.figure.colorbar(mesh, ax=panel)
    for axis, place, name, which in zip(surface.axes, places, surface.names, "xy", strict=True):
        getattr(panel, f"set_{which}label")(name)
        if axis.labels is not None:
            labels = [drawing.shortened(label) for label in axis.labels]
            getattr(panel, f"set_{which}ticks")(place, labels)
