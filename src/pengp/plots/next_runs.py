"""Display of proposed runs among those that there are, in the pairs of inputs that matter."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pengp._core.shown import Shown
from pengp.exceptions import InputError
from pengp.model.levels import levels_among
from pengp.plots import drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from pengp.decisions.proposals import NextRuns

#: Inches of a panel, and panels beside each other.
_PANEL, _BESIDE = 2.7, 3


@dataclass(eq=False, repr=False)
class NextRunsDisplay(Shown):
    """Proposed, planned and known runs in the pairs of the inputs that matter most.

    Attributes
    ----------
    found : NextRuns
        From `pengp.decisions.next_runs`.
    pairs : list of (int, int)
        Numbers of the inputs of each panel.

    Examples
    --------
    >>> from pengp import PenalizedGPRegressor, load_piston_slap
    >>> from pengp.decisions import next_runs
    >>> from pengp.plots import NextRunsDisplay
    >>> runs = load_piston_slap()
    >>> model = PenalizedGPRegressor(0.0578, random_state=0).fit(runs.X, runs.y)
    >>> shown = NextRunsDisplay.from_next_runs(next_runs(model, 2, random_state=0)).plot()
    >>> len(shown.axes_)  # pairs of the inputs that matter most
    3
    """

    found: NextRuns
    pairs: list[tuple[int, int]]

    @classmethod
    def from_next_runs(cls, found: NextRuns, *, most: int = 3) -> Self:
        """Take runs that were proposed, and the pairs of so many inputs."""
        if most < 2:
            raise InputError(f"most={most} inputs have no pairs; show 2 or more.")
        order = np.argsort(-found.importance, kind="stable")[:most]
        shown = sorted(int(p) for p in order if found.importance[p] > 0.0)
        return cls(found, list(itertools.combinations(shown, 2)) or [(shown[0], shown[0])])

    def plot(self, ax: Any = None) -> Self:
        """Draw a panel for each pair, the proposed runs by their number.

        Parameters
        ----------
        ax : sequence of matplotlib axes, optional
            As many as there are pairs; by default those of a new figure.
        """
        self.axes_: list[Axes] = self._axes(ax)
        self.figure_: Figure | SubFigure = self.axes_[0].figure
        kinds = (
            (self.found.runs, "o", drawing.GREY, "runs"),
            (self.found.planned, "s", drawing.BLUE, "planned"),
            (self.found.X, "D", drawing.VERMILLION, f"proposed for {self.found.goal}"),
        )
        for (p, q), panel in zip(self.pairs, self.axes_, strict=True):
            for X, marker, colour, label in kinds:
                if len(X):
                    panel.plot(X[:, p], X[:, q], marker, color=colour, markersize=5, label=label)
            for k, x in enumerate(self.found.X):
                panel.annotate(
                    str(k + 1), (x[p], x[q]), xytext=(4, 3), textcoords="offset points", fontsize=8
                )
            panel.set_xlabel(self.found.names[p])
            panel.set_ylabel(self.found.names[q])
            for number, ticks in ((p, panel.set_xticks), (q, panel.set_yticks)):
                levels = levels_among(self.found.transforms).get(number)
                if levels is not None:
                    ticks(levels.values, [drawing.shortened(label) for label in levels.labels])
        drawing.legend_above(self.axes_[0], 1)
        return self

    def _axes(self, ax: Any) -> list[Axes]:
        """Return the caller's axes, or those of a new figure."""
        count = len(self.pairs)
        if ax is not None:
            given = list(np.ravel(np.asarray(ax, dtype=object)))
            if len(given) != count:
                raise InputError(f"this display has {count} panels; ax must hold {count} axes.")
            return given
        return drawing.panels(count, _BESIDE, (_PANEL, _PANEL), (0.3, 0.5))
