"""Display of predictions against what was observed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pengp._core.arrays import BoolArray, FloatArray
from pengp.plots import drawing
from pengp.plots.predictions import HELD_OUT, LEAVE_ONE_OUT, OfPredictions, Predictions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


@dataclass(eq=False, repr=False)
class LeaveOneOutDisplay(OfPredictions):
    """Predicted against observed responses, with intervals.

    Attributes
    ----------
    observed, mean, std : [n]
        Observed responses, and predictive means and standard deviations.
    lower, upper : [n]
        Ends of the prediction intervals.
    inside : [n]
        Whether the interval holds the observed response, ends included.
    level : float
        Level of the intervals.
    source : {"leave-one-out", "held-out", "validation"}
        Whether each run was predicted from all others with theta kept, by fits that did not know
        it, or a validation set was.
    response_name : str
        For labels.

    Examples
    --------
    >>> from pengp import PenalizedGPRegressor, load_piston_slap
    >>> from pengp.plots import LeaveOneOutDisplay
    >>> runs = load_piston_slap()
    >>> model = PenalizedGPRegressor(0.0578, random_state=0).fit(runs.X, runs.y)
    >>> shown = LeaveOneOutDisplay.from_estimator(model).plot()
    >>> shown.ax_.get_xlabel()
    'observed response'
    """

    observed: FloatArray
    mean: FloatArray
    std: FloatArray
    lower: FloatArray
    upper: FloatArray
    inside: BoolArray
    level: float
    source: str = LEAVE_ONE_OUT
    response_name: str = "response"

    @classmethod
    def _of(cls, given: Predictions, level: float, source: str, response_name: str) -> Self:
        """Add intervals to predictions."""
        lower, upper = given.interval(level)
        inside = (lower <= given.observed) & (given.observed <= upper)
        return cls(*given[:3], lower, upper, inside, level, source, response_name)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw predictions with intervals; those that miss their response look different."""
        self.ax_: Axes = drawing.one_axes(ax, (4.4, 4.2))
        self.figure_: Figure | SubFigure = self.ax_.figure
        low = float(min(self.observed.min(), self.lower.min()))
        high = float(max(self.observed.max(), self.upper.max()))
        room = 0.04 * (high - low) or 1.0
        self.ax_.axline((low, low), slope=1.0, color=drawing.GREY, linewidth=0.8)
        word = f"its {drawing.percent(self.level)} interval"
        inside: dict[str, Any] = {"fmt": "o", "color": drawing.BLUE, "markersize": 5}
        outside: dict[str, Any] = {"fmt": "X", "color": drawing.VERMILLION, "markersize": 7}
        self._draw(self.inside, f"in {word}", **inside)
        self._draw(~self.inside, f"outside {word}", **outside)
        self.ax_.set_xlim(low - room, high + room)
        self.ax_.set_ylim(low - room, high + room)
        self.ax_.set_box_aspect(1.0)
        self.ax_.set_xlabel(f"observed {self.response_name}")
        how = {LEAVE_ONE_OUT: " from all other runs", HELD_OUT: " by fits without the run"}
        self.ax_.set_ylabel(f"predicted{how.get(self.source, '')}")
        drawing.legend_above(self.ax_, 1)
        return self

    def _draw(self, mine: BoolArray, label: str, **style: Any) -> None:
        """Draw some of the predictions [n], with error bars."""
        if not mine.any():
            return
        self.ax_.errorbar(
            self.observed[mine],
            self.mean[mine],
            np.stack([self.mean - self.lower, self.upper - self.mean])[:, mine],
            label=f"{label} ({mine.sum()} of {len(mine)})",
            elinewidth=1.0,
            **style,
        )
