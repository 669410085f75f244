"""Display of the path theta-hat(lambda)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from pengp._core.arrays import FloatArray
from pengp._core.shown import Shown
from pengp.estimators.view import view_of
from pengp.plots import drawing
from pengp.plots.fitted import Estimator
from pengp.plots.lambda_axis import draw_lambda_axis, draw_lambda_line, lambda_positions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

#: Inputs that fit beside the axes in one column of the legend.
_LEGEND_ROWS = 15
#: Share of the axis below which the labels of two choices go one above the other.
_CLOSE = 0.25


@dataclass(eq=False, repr=False)
class ThetaPathDisplay(Shown):
    """Estimates of theta, from all runs, against lambda.

    Attributes
    ----------
    lams : [L]
        Values of lambda, ascending.
    theta : [L, d]
        Estimates, for inputs in the unit cube; equal columns for an isotropic kernel.
    names : tuple of d strings
        Names of the inputs.
    chosen : float
        The lambda of the estimator.
    best, one_se : float or None
        Choices of cross-validation; None where there was none.
    theta_bounds : (float, float)
        Range of every theta; an input at the lower end is inactive.
    isotropic : bool
        Whether all inputs share one theta.
    response_name : str
        For labels.

    Examples
    --------
    >>> from pengp import PenalizedGPRegressorCV, load_piston_slap
    >>> from pengp.plots import ThetaPathDisplay
    >>> runs = load_piston_slap()
    >>> model = PenalizedGPRegressorCV(cv=4, random_state=0).fit(runs.X, runs.y)
    >>> shown = ThetaPathDisplay.from_estimator(model, input_names=runs.input_names).plot()
    >>> shown.theta.shape, shown.theta[0].round(1)  # lambda = 0
    ((41, 6), array([4.1, 0. , 0.6, 0. , 0. , 2.8]))
    """

    lams: FloatArray
    theta: FloatArray
    names: tuple[str, ...]
    chosen: float
    best: float | None
    one_se: float | None
    theta_bounds: tuple[float, float]
    isotropic: bool = False
    response_name: str = "response"

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        *,
        output: int = 0,
        input_names: Sequence[str] | None = None,
        response_name: str | None = None,
    ) -> Self:
        """Read the path off a fitted estimator.

        Parameters
        ----------
        estimator : PenalizedGPRegressor or PenalizedGPRegressorCV
            Fitted; the former has one lambda only.
        output : int
            Which output.
        input_names : sequence of d strings, optional
            By default those of the frame that was fitted, else x1 to xd.
        response_name : str, optional
            For labels.
        """
        view = view_of(estimator, output, input_names, response_name)
        path, table, metric = view.path, view.table, str(view.metric)
        order = np.argsort(path.lams)
        return cls(
            lams=path.lams[order],
            theta=view.own(path.theta)[order],
            names=view.names,
            chosen=view.lam,
            best=None if table is None else table.best(metric),
            one_se=None if table is None else table.one_se(metric),
            theta_bounds=view.bounds,
            isotropic=bool(view.estimator.isotropic),
            response_name=view.response,
        )

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw one line for each input, and mark the choices of lambda."""
        self.ax_: Axes = drawing.one_axes(ax, (6.4, 3.6))
        self.figure_: Figure | SubFigure = self.ax_.figure
        axis = lambda_positions(self.lams)
        lines = [("all inputs", self.theta[:, 0])]
        if not self.isotropic:
            lines = list(zip(self.names, self.theta.T, strict=True))
        points = int((self.lams > 0.0).sum())
        for k, (name, theta) in enumerate(lines):
            # matplotlib leaves a label that begins with an underscore out of the legend.
            label = f" {name}" if name.startswith("_") else name
            draw_lambda_line(self.ax_, self.lams, theta, label, **drawing.line_style(k, points))
        self._draw_bounds()
        self._mark_choices(axis.positions)
        self.ax_.set_yscale("log")
        draw_lambda_axis(self.ax_, axis)
        self.ax_.set_ylabel(r"$\hat\theta(\lambda)$")
        columns = -(-len(lines) // _LEGEND_ROWS)
        drawing.legend(self.ax_, loc="upper left", bbox_to_anchor=(1.0, 1.0), ncols=columns)
        return self

    def _draw_bounds(self) -> None:
        """Draw the bounds of theta, and say what the lower one means."""
        for bound in self.theta_bounds:
            self.ax_.axhline(bound, color=drawing.GREY, linewidth=0.6, zorder=0)
        self.ax_.annotate(
            "inactive",
            (1.0, self.theta_bounds[0]),
            (4, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            fontsize="small",
            color=drawing.GREY,
        )

    def _mark_choices(self, positions: FloatArray) -> None:
        """Draw a labelled vertical line at each distinct choice of lambda."""
        words: dict[float, list[str]] = {}
        for lam, word in ((self.best, "best"), (self.one_se, "one SE"), (self.chosen, "chosen")):
            if lam is not None:
                words.setdefault(lam, []).append(word)
        row, before = 0, -np.inf
        for lam, labels in sorted(words.items()):
            place = positions[self.lams == lam][0]
            row = row + 1 if place - before < _CLOSE * np.ptp(positions) else 0
            before = place
            line = "-" if lam == self.chosen else ":"
            self.ax_.axvline(place, color=drawing.GREY, linewidth=0.9, linestyle=line, zorder=0)
            self.ax_.annotate(
                ", ".join(labels),
                (place, 1.0),
                (2, 2 + 11 * row),
                xycoords=("data", "axes fraction"),
                textcoords="offset points",
                fontsize="small",
                color=drawing.GREY,
            )
