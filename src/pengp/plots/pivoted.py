"""Display of the errors of test runs without the correlation between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from pengp._core.arrays import FloatArray, IntArray
from pengp._core.shown import Shown
from pengp.choosing.scores import half_width
from pengp.estimators.joint import joint_errors
from pengp.estimators.view import view_of
from pengp.plots import drawing
from pengp.plots.fitted import Estimator

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


@dataclass(eq=False, repr=False)
class PivotedErrorsDisplay(Shown):
    """Uncorrelated errors of test runs in the order of pivots (Bastos and O'Hagan 2009).

    Each run has the largest variance given those before it. Large errors at the beginning speak
    against the variance or the mean, at the end against the correlation.

    Attributes
    ----------
    order : [r]
        Test runs, from 0, in the order of pivots.
    errors : [r]
        Their pivoted errors, with variance 1 were the model right.
    lower, upper : [r]
        Central intervals of each error.
    level : float
        Level of the intervals.
    distance, expected, p_value : float
        Mahalanobis distance, its mean and its two-sided p value, were the model right.
    response_name : str
        For labels.

    Examples
    --------
    >>> import numpy as np
    >>> from pengp import PenalizedGPRegressor, get_function
    >>> from pengp.plots import PivotedErrorsDisplay
    >>> f = get_function("forrester")
    >>> X, X_test = np.linspace(0, 1, 8)[:, None], np.linspace(0.06, 0.94, 5)[:, None]
    >>> model = PenalizedGPRegressor(random_state=0).fit(X, f(X))
    >>> shown = PivotedErrorsDisplay.from_test_runs(model, X_test, f(X_test)).plot()
    >>> shown.errors.shape
    (5,)
    """

    order: IntArray
    errors: FloatArray
    lower: FloatArray
    upper: FloatArray
    level: float
    distance: float
    expected: float
    p_value: float
    response_name: str = "response"

    @classmethod
    def from_test_runs(
        cls,
        estimator: Estimator,
        X: Any,
        y: ArrayLike,
        *,
        output: int = 0,
        level: float = 0.95,
        response_name: str | None = None,
        noise_sd: ArrayLike | None = None,
    ) -> Self:
        """Judge test runs together.

        Parameters
        ----------
        estimator : BayesianGPRegressor, PenalizedGPRegressor or PenalizedGPRegressorCV
            Fitted to other runs.
        X : array or frame, shape [m, d]
            Inputs of the test runs.
        y : [m]
            Their responses.
        output : int
            Which output.
        level : float
            Level of the intervals.
        response_name : str, optional
            For labels.
        noise_sd : float or [m], optional
            Known standard deviations of the noise of y.
        """
        half_width(level)  # says so if the level is none
        view = view_of(estimator, output, response_name=response_name)
        places, seen = view.checked_runs(X, y)
        sd = None if noise_sd is None else np.broadcast_to(np.asarray(noise_sd, float), seen.shape)
        found = joint_errors(view, places, seen, level, sd)
        return cls(
            found.order,
            found.pivoted,
            found.lower,
            found.upper,
            level,
            found.distance,
            found.expected,
            found.p_value,
            view.response,
        )

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the errors in the order of pivots, with their bands."""
        self.ax_: Axes = drawing.one_axes(ax)
        self.figure_: Figure | SubFigure = self.ax_.figure
        place = np.arange(1.0, len(self.errors) + 1.0)
        self.ax_.fill_between(
            place,
            self.lower,
            self.upper,
            color=drawing.GREY,
            alpha=drawing.BAND,
            linewidth=0,
            label=f"{drawing.percent(self.level)} band of each",
        )
        self.ax_.axhline(0.0, color=drawing.GREY, linewidth=0.8)
        outside = (self.errors < self.lower) | (self.errors > self.upper)
        drawing.plot_points(self.ax_, place, self.errors, outside)
        for k in np.flatnonzero(outside):
            at = (float(place[k]), float(self.errors[k]))
            self.ax_.annotate(
                f" {self.order[k] + 1}", at, fontsize="small", color=drawing.VERMILLION
            )
        self.ax_.locator_params(axis="x", integer=True)
        self.ax_.set_xlabel("pivot: runs far from all others first")
        self.ax_.set_ylabel(f"uncorrelated error of {self.response_name}")
        drawing.legend_above(self.ax_, 1)
        return self
