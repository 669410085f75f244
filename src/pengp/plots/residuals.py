"""Display of standardised residuals: against the prediction, and against normal quantiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import stats

from pengp._core.arrays import FloatArray, IntArray
from pengp.choosing.scores import half_width
from pengp.plots import drawing
from pengp.plots.predictions import LEAVE_ONE_OUT, OfPredictions, Predictions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


@dataclass(eq=False, repr=False)
class ResidualsDisplay(OfPredictions):
    """Standardised residuals, about standard normal for a sound surrogate.

    Attributes
    ----------
    standardized : [n]
        (observed - predicted) / standard deviation, in the order of the runs; of laws that are not
        normal, those of an average or of a transformed response, the normal quantiles of their
        probabilities of a smaller response.
    fitted : [n]
        Predictive means, in the order of the runs.
    order : [n]
        Runs by ascending residual: ``standardized[order]`` belongs to the next three.
    quantiles : [n]
        Medians of the ascending values of n standard normal draws.
    envelope_lower, envelope_upper : [n]
        Central intervals of these values, each by itself: the i-th smallest of n uniform draws
        follows a Beta(i, n + 1 - i) distribution. Where folds hold out each of m runs several
        times, i and n + 1 - i are taken (m + 1) / (n + 1) times, as for m draws.
    level : float
        Level of the envelope.
    source : {"leave-one-out", "held-out", "validation"}
        Whether each run was predicted from all others with theta kept, by fits that did not know
        it, or a validation set was.
    response_name : str
        For labels.

    Examples
    --------
    >>> from pengp.plots import ResidualsDisplay
    >>> observed, mean, std = [55.2, 59.0, 57.1], [55.0, 57.0, 57.3], [0.5, 1.0, 0.7]
    >>> shown = ResidualsDisplay.from_predictions(observed, mean, std).plot()
    >>> shown.standardized.round(2)
    array([ 0.4 ,  2.  , -0.29])
    """

    standardized: FloatArray
    fitted: FloatArray
    order: IntArray
    quantiles: FloatArray
    envelope_lower: FloatArray
    envelope_upper: FloatArray
    level: float
    source: str = LEAVE_ONE_OUT
    response_name: str = "response"

    @classmethod
    def _of(cls, given: Predictions, level: float, source: str, response_name: str) -> Self:
        """Put residuals in order, beside the order statistics of normal draws."""
        half_width(level)  # says so if the level is none
        standardized = given.standardized()
        n = len(standardized)
        ranks = np.arange(1, n + 1) * ((given.different + 1) / (n + 1))
        share = 0.5 * (1.0 - level)
        lower, median, upper = (
            np.asarray(stats.norm.ppf(stats.beta.ppf(p, ranks, given.different + 1 - ranks)))
            for p in (share, 0.5, 1.0 - share)
        )
        order = np.argsort(standardized, kind="stable")
        return cls(
            standardized, given.mean, order, median, lower, upper, level, source, response_name
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw residuals against predictions and, beside it, against normal quantiles.

        Parameters
        ----------
        ax : two matplotlib axes, optional
            By default those of a new figure.
        """
        self.axes_: tuple[Axes, Axes] = drawing.two_axes(ax)
        self.figure_: Figure | SubFigure = self.axes_[0].figure
        self._draw_against_predictions(self.axes_[0])
        self._draw_against_quantiles(self.axes_[1])
        return self

    def _draw_against_predictions(self, ax: Axes) -> None:
        """Draw the first panel."""
        z = half_width(self.level)
        for height, line in ((0.0, "-"), (z, ":"), (-z, ":")):
            ax.axhline(height, color=drawing.GREY, linewidth=0.8, linestyle=line)
        drawing.plot_points(ax, self.fitted, self.standardized, np.abs(self.standardized) > z)
        ax.set_xlabel(f"predicted {self.response_name}")
        ax.set_ylabel(f"standardised {self.source} residual")

    def _draw_against_quantiles(self, ax: Axes) -> None:
        """Draw the second panel."""
        ordered = self.standardized[self.order]
        ax.fill_between(
            self.quantiles,
            self.envelope_lower,
            self.envelope_upper,
            color=drawing.GREY,
            alpha=drawing.BAND,
            linewidth=0,
            label=f"pointwise {drawing.percent(self.level)} envelope",
        )
        ax.axline((0.0, 0.0), slope=1.0, color=drawing.GREY, linewidth=0.8)
        outside = (ordered < self.envelope_lower) | (ordered > self.envelope_upper)
        drawing.plot_points(ax, self.quantiles, ordered, outside)
        ax.set_xlabel("normal quantile")
        ax.set_ylabel("ordered residual")
        drawing.legend_above(ax, 1)
