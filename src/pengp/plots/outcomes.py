"""Displays of what comes out of a surrogate: its optimum, and the law of the response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pengp._core.shown import Shown
from pengp.plots import drawing
from pengp.plots.pairs import label_pair, pairs_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from pengp.decisions.optima import Optimum
    from pengp.decisions.propagation import Propagation

#: Inches of a panel, and panels beside each other.
_PANEL, _BESIDE = 2.9, 3
#: Opacity of a place that has the optimum for certain.
_SURE = 0.5
#: Places whose probabilities are written, so that they do not hide each other.
_LABELLED = 3


@dataclass(eq=False, repr=False)
class OptimumDisplay(Shown):
    """Where the optimum may lie, in the pairs of the inputs that matter most.

    Attributes
    ----------
    found : Optimum
        From `pengp.decisions.optimum`.
    pairs : list of (int, int)
        Numbers of the inputs of each panel.

    Examples
    --------
    >>> from pengp import PenalizedGPRegressor, load_piston_slap
    >>> from pengp.decisions import optimum
    >>> from pengp.plots import OptimumDisplay
    >>> runs = load_piston_slap()
    >>> model = PenalizedGPRegressor(0.0578, random_state=0).fit(runs.X, runs.y)
    >>> shown = OptimumDisplay.from_optimum(optimum(model)).plot()
    >>> len(shown.axes_)  # pairs of the inputs that matter most
    3
    """

    found: Optimum
    pairs: list[tuple[int, int]]

    @classmethod
    def from_optimum(cls, found: Optimum, *, most: int = 3) -> Self:
        """Take an optimum, and the pairs of so many inputs."""
        return cls(found, pairs_of(found.importance, most))

    def plot(self, ax: Any = None) -> Self:
        """Draw a panel for each pair: places, the darker the more probable, and the optimum.

        The three most probable places have their probability.

        Parameters
        ----------
        ax : sequence of matplotlib axes, optional
            As many as there are pairs; by default those of a new figure.
        """
        count, around = len(self.pairs), (0.3, 0.6)
        self.axes_: list[Axes] = drawing.panels(ax, count, _BESIDE, (_PANEL, _PANEL), around)
        self.figure_: Figure | SubFigure = self.axes_[0].figure
        for (p, q), panel in zip(self.pairs, self.axes_, strict=True):
            self._draw(panel, p, q)
        found = self.found
        word = "largest" if found.maximize else "smallest"
        ends = f"{drawing.percent(found.level)} interval {found.lower:.4g} to {found.upper:.4g}"
        title = f"{word} {found.response} {found.mean:.4g}, {ends}"
        self.axes_[0].set_title(title, fontsize=9, loc="left")
        return self

    def _draw(self, panel: Axes, p: int, q: int) -> None:
        """Draw the places in inputs p and q with their probabilities."""
        found, both = self.found, [p, q]
        for place in found.places:
            x, y = place.lower[both]
            width, height = place.upper[both] - place.lower[both]
            xs, ys = [x, x + width, x + width, x], [y, y, y + height, y + height]
            panel.fill(xs, ys, color=drawing.BLUE, alpha=_SURE * place.probability)
            panel.plot(*place.x[both], "o", color=drawing.BLUE, markersize=4)
        for place in found.places[:_LABELLED]:
            panel.annotate(
                f"{100.0 * place.probability:.0f} %",
                (place.x[p], place.x[q]),
                xytext=(4, 3),
                textcoords="offset points",
                fontsize=8,
            )
        panel.plot(*found.x[both], "*", color=drawing.VERMILLION, markersize=10)
        label_pair(panel, (p, q), found.names, found.transforms)


@dataclass(eq=False, repr=False)
class PropagationDisplay(Shown):
    """The law of the response under the laws of the inputs, and how well it is known.

    Attributes
    ----------
    found : Propagation
        From `pengp.decisions.propagate`; its quantiles are drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from pengp import PenalizedGPRegressor, load_piston_slap
    >>> from pengp.decisions import propagate
    >>> from pengp.plots import PropagationDisplay
    >>> runs = load_piston_slap()
    >>> model = PenalizedGPRegressor(0.0578, random_state=0).fit(runs.X, runs.y)
    >>> found = propagate(model, quantiles=np.linspace(0.01, 0.99, 50), n_draws=100)
    >>> PropagationDisplay.from_propagation(found).plot().ax_.get_ylabel()
    'probability of less'
    """

    found: Propagation

    @classmethod
    def from_propagation(cls, found: Propagation) -> Self:
        """Take the law of a response."""
        return cls(found)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the distribution function with its band, the mean, and the limit of a constraint.

        Parameters
        ----------
        ax : matplotlib axes, optional
            By default those of a new figure.
        """
        found = self.found
        self.ax_: Axes = drawing.one_axes(ax)
        self.figure_: Figure | SubFigure = self.ax_.figure
        order = np.argsort(found.levels, kind="stable")
        mean, lower, upper = (part[order] for part in found.quantiles)
        levels, share = found.levels[order], drawing.percent(found.level)
        self.ax_.fill_betweenx(
            levels, lower, upper, color=drawing.BLUE, alpha=drawing.BAND, label=f"{share} interval"
        )
        self.ax_.plot(mean, levels, color=drawing.BLUE, label="distribution")
        self.ax_.axvline(float(found.mean.mean), color=drawing.GREY, linestyle="--", label="mean")
        if found.constraint is not None:
            limit, label = found.constraint.limit, str(found.constraint)
            self.ax_.axvline(limit, color=drawing.VERMILLION, linestyle=":", label=label)
        self.ax_.set_ylim(0.0, 1.0)
        self.ax_.set_xlabel(found.response)
        self.ax_.set_ylabel("probability of less")
        drawing.legend_above(self.ax_, 2)
        return self
