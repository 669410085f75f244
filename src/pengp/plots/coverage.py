"""Display of how often prediction intervals hold what was observed, level by level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy import stats

from pengp._core.arrays import FloatArray
from pengp.choosing.scores import half_width
from pengp.plots import drawing
from pengp.plots.predictions import LEAVE_ONE_OUT, OfPredictions, Predictions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


@dataclass(eq=False, repr=False)
class CoverageDisplay(OfPredictions):
    """Empirical against nominal coverage of central prediction intervals.

    Attributes
    ----------
    levels : [99]
        Nominal levels, 0.01 to 0.99.
    coverage : [99]
        Share of the observed responses inside their intervals, ends included.
    band_lower, band_upper : [99]
        Central interval of that share, level by level, if the intervals were right: quantiles of a
        Binomial(n, level) count, divided by n.
    n : int
        Number of runs; one that folds hold out several times counts once, and the band is then
        rather too wide.
    level : float
        Level of the band.
    source : {"leave-one-out", "held-out", "validation"}
        Whether each run was predicted from all others with theta kept, by fits that did not know
        it, or a validation set was.
    response_name : str
        For labels.

    Examples
    --------
    >>> from pengp import PenalizedGPRegressor, load_piston_slap
    >>> from pengp.plots import CoverageDisplay
    >>> runs = load_piston_slap()
    >>> model = PenalizedGPRegressor(0.0578, random_state=0).fit(runs.X, runs.y)
    >>> shown = CoverageDisplay.from_held_out(model).plot()  # runs predicted by fits without them
    >>> shown.ax_.get_xlabel()
    'nominal level of the interval (%)'
    """

    levels: FloatArray
    coverage: FloatArray
    band_lower: FloatArray
    band_upper: FloatArray
    n: int
    level: float
    source: str = LEAVE_ONE_OUT
    response_name: str = "response"

    @classmethod
    def _of(cls, given: Predictions, level: float, source: str, response_name: str) -> Self:
        """Count at each level."""
        half_width(level)  # says so if the level is none
        levels, n = np.arange(1, 100) / 100.0, given.different
        inside = np.abs(2.0 * given.probability_below() - 1.0) <= levels[:, None]
        share = 0.5 * (1.0 - level)
        lower, upper = (np.asarray(stats.binom.ppf(p, n, levels)) / n for p in (share, 1.0 - share))
        return cls(levels, inside.mean(axis=1), lower, upper, n, level, source, response_name)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw empirical against nominal coverage, with the band of chance."""
        self.ax_: Axes = drawing.one_axes(ax, (4.4, 4.2))
        self.figure_: Figure | SubFigure = self.ax_.figure
        levels = 100.0 * self.levels
        self.ax_.fill_between(
            levels,
            100.0 * self.band_lower,
            100.0 * self.band_upper,
            step="mid",
            color=drawing.GREY,
            alpha=drawing.BAND,
            linewidth=0,
            label=f"{drawing.percent(self.level)} band of chance, n = {self.n}",
        )
        self.ax_.axline((0.0, 0.0), slope=1.0, color=drawing.GREY, linewidth=0.8)
        self.ax_.step(
            levels, 100.0 * self.coverage, where="mid", color=drawing.BLUE, label="observed"
        )
        self.ax_.set_xlim(0.0, 100.0)
        self.ax_.set_ylim(-2.0, 102.0)
        self.ax_.set_xlabel("nominal level of the interval (%)")
        self.ax_.set_ylabel(f"{self.source} coverage (%)")
        drawing.legend_above(self.ax_, 2)
        return self
