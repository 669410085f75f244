"""Display of proposed runs among those that there are, in the pairs of inputs that matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from pengp._core.shown import Shown
from pengp.plots import drawing
from pengp.plots.pairs import label_pair, pairs_of

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
        return cls(found, pairs_of(found.importance, most))

    def plot(self, ax: Any = None) -> Self:
        """Draw a panel for each pair, the proposed runs by their number.

        Parameters
        ----------
        ax : sequence of matplotlib axes, optional
            As many as there are pairs; by default those of a new figure.
        """
        count, around = len(self.pairs), (0.3, 0.5)
        self.axes_: list[Axes] = drawing.panels(ax, count, _BESIDE, (_PANEL, _PANEL), around)
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
            label_pair(panel, (p, q), self.found.names, self.found.transforms)
        drawing.legend_above(self.axes_[0], 1)
        return self
