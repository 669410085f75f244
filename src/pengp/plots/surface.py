"""Displays of the surrogate itself: along one input, and over two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pengp._core.arrays import FloatArray
from pengp._core.checks import check_count
from pengp._core.shown import Shown
from pengp.estimators.scales import column_list
from pengp.estimators.view import view_of
from pengp.exceptions import InputError
from pengp.plots import drawing
from pengp.plots.fitted import (
    MOST_ON_LINE,
    MOST_ON_SIDE,
    Estimator,
    Point,
    distance_from,
    most_active,
    point_at,
    varying_index,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


@dataclass(eq=False, repr=False)
class SliceDisplay(Shown):
    """Prediction along one input, the others held.

    Attributes
    ----------
    input : int
        Number of the input that moves.
    input_name, response_name : str
        For labels.
    grid : [G]
        Its values, ascending: equally spaced over its range, and those of the runs.
    mean, lower, upper : [G]
        Predictive mean, and ends of the prediction intervals.
    level : float
        Level of the intervals.
    at : [d]
        Where the other inputs are held.
    runs_x, runs_y : [n]
        The input and the response of the runs.
    runs_distance : [n]
        How far each run is from the slice, from 0 (on it) to 1: 1 - phi(s)^2 with s the sum over
        the other inputs of theta_p (x_p - at_p)^2, the share of the response's variance at the run
        that is left when it is known at the run's projection onto the slice.
    log : (bool, bool)
        Whether input and response are modelled, and drawn, on logarithmic scales.

    Examples
    --------
    >>> from pengp import PenalizedGPRegressor, load_piston_slap
    >>> from pengp.plots import SliceDisplay
    >>> runs = load_piston_slap()
    >>> model = PenalizedGPRegressor(0.0578, random_state=0).fit(runs.X, runs.y)
    >>> shown = SliceDisplay.from_estimator(model, input="pin offset", input_names=runs.input_names)
    >>> shown.plot().ax_.get_xlabel()
    'pin offset'
    """

    input: int
    input_name: str
    response_name: str
    grid: FloatArray
    mean: FloatArray
    lower: FloatArray
    upper: FloatArray
    level: float
    at: FloatArray
    runs_x: FloatArray
    runs_y: FloatArray
    runs_distance: FloatArray
    log: tuple[bool, bool] = (False, False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        *,
        input: int | str | None = None,
        output: int = 0,
        at: Point = None,
        level: float = 0.95,
        grid_size: int = 201,
        input_names: Sequence[str] | None = None,
        response_name: str | None = None,
    ) -> Self:
        """Predict along one input.

        Parameters
        ----------
        estimator : BayesianGPRegressor, PenalizedGPRegressor or PenalizedGPRegressorCV
            Fitted.
        input : int or str, optional
            Number or name of the input that moves, by default the one with the largest theta.
        output : int
            Which output.
        at : mapping of names to values, or array [d], optional
            Where the other inputs are held; what is not given is held at the mean of the runs.
        level : float
            Level of the prediction intervals.
        grid_size : int
            Points over the range of the input, equally spaced on its scale; the values of the
            runs are added.
        input_names : sequence of d strings, optional
            By default those of the frame that was fitted, else x1 to xd.
        response_name : str, optional
            For labels.
        """
        view = view_of(estimator, output, input_names, response_name)
        p = most_active(view, 1)[0] if input is None else varying_index(view, input)
        place = point_at(view, at)
        low, high = (end[p] for end in view.ranges)
        size = check_count(grid_size, "grid_size", 2, MOST_ON_LINE)
        values = [view.grid(p, low, high, size), view.X[:, p], place[p : p + 1]]
        grid = np.unique(np.concatenate(values))
        points = np.tile(place, (len(grid), 1))
        points[:, p] = grid
        mean, lower, upper = view.predict(points, level)
        return cls(
            input=p,
            input_name=view.names[p],
            response_name=view.response,
            grid=grid,
            mean=mean,
            lower=lower,
            upper=upper,
            level=level,
            at=place,
            runs_x=view.X[:, p],
            runs_y=view.y,
            runs_distance=distance_from(view, place, [p]),
            log=(view.on_log_axis(p), view.on_log_axis(None)),
        )

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw mean and intervals, and the runs, the fainter the farther from the slice."""
        self.ax_: Axes = drawing.one_axes(ax)
        self.figure_: Figure | SubFigure = self.ax_.figure
        self.ax_.fill_between(
            self.grid,
            self.lower,
            self.upper,
            color=drawing.BLUE,
            alpha=drawing.BAND,
            linewidth=0,
            label=f"{drawing.percent(self.level)} interval",
        )
        self.ax_.plot(self.grid, self.mean, color=drawing.BLUE, label="mean")
        several = len(self.at) > 1
        drawing.scatter_runs(
            self.ax_,
            self.runs_x,
            self.runs_y,
            self.runs_distance,
            s=22,
            color=drawing.BLACK,
            label="runs (faint: far from the slice)" if several else "runs",
        )
        self.ax_.set_xlabel(self.input_name)
        self.ax_.set_ylabel(self.response_name)
        drawing.log_axes(self.ax_, self.log)
        drawing.legend_above(self.ax_, 3)
        return self


@dataclass(eq=False, repr=False)
class ContourDisplay(Shown):
    """Prediction over two inputs, the others held.

    Attributes
    ----------
    inputs : (int, int)
        Numbers of the inputs on the horizontal and the vertical axis.
    input_names : (str, str)
        Their names.
    response_name : str
        For labels.
    x : [G1]
        Values of the first input, ascending.
    y : [G2]
        Values of the second input, ascending.
    mean : [G2, G1]
        Predictive mean; a row for each value of y.
    width : [G2, G1]
        Upper less lower end of the prediction intervals.
    level : float
        Level of the intervals.
    at : [d]
        Where the other inputs are held.
    runs_x, runs_y : [n]
        The two inputs of the runs.
    runs_distance : [n]
        How far each run is from the slice, as in `SliceDisplay`.
    log : (bool, bool)
        Whether the two inputs are modelled, and drawn, on logarithmic scales.

    Examples
    --------
    >>> from pengp import PenalizedGPRegressor, load_piston_slap
    >>> from pengp.plots import ContourDisplay
    >>> runs = load_piston_slap()
    >>> model = PenalizedGPRegressor(0.0578, random_state=0).fit(runs.X, runs.y)
    >>> shown = ContourDisplay.from_estimator(model, inputs=(0, 5), input_names=runs.input_names)
    >>> len(shown.plot().axes_)  # the prediction, and the width of its interval
    2
    """

    inputs: tuple[int, int]
    input_names: tuple[str, str]
    response_name: str
    x: FloatArray
    y: FloatArray
    mean: FloatArray
    width: FloatArray
    level: float
    at: FloatArray
    runs_x: FloatArray
    runs_y: FloatArray
    runs_distance: FloatArray
    log: tuple[bool, bool] = (False, False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        *,
        inputs: tuple[int | str, int | str] | None = None,
        output: int = 0,
        at: Point = None,
        level: float = 0.95,
        grid_size: int = 61,
        input_names: Sequence[str] | None = None,
        response_name: str | None = None,
    ) -> Self:
        """Predict over two inputs.

        Parameters
        ----------
        estimator : BayesianGPRegressor, PenalizedGPRegressor or PenalizedGPRegressorCV
            Fitted.
        inputs : two of int or str, optional
            Numbers or names of the inputs, by default the two with the largest theta.
        output : int
            Which output.
        at : mapping of names to values, or array [d], optional
            Where the other inputs are held; what is not given is held at the mean of the runs.
        level : float
            Level of the prediction intervals.
        grid_size : int
            Points over the range of each input.
        input_names : sequence of d strings, optional
            By default those of the frame that was fitted, else x1 to xd.
        response_name : str, optional
            For labels.
        """
        view = view_of(estimator, output, input_names, response_name)
        if inputs is None:
            both = most_active(view, 2)
        else:
            both = [varying_index(view, which) for which in column_list(inputs, "inputs")]
        if len(both) != 2 or both[0] == both[1]:
            raise InputError(f"inputs must be two different ones, not {inputs!r}.")
        place, ends = point_at(view, at), view.ranges
        size = check_count(grid_size, "grid_size", 2, MOST_ON_SIDE)
        x, y = (view.grid(p, ends[0][p], ends[1][p], size) for p in both)
        points = np.tile(place, (size, size, 1))
        points[..., both[0]], points[..., both[1]] = x, y[:, None]
        predicted = view.predict(points.reshape(-1, len(place)), level)
        mean, lower, upper = (a.reshape(size, size) for a in predicted)
        return cls(
            inputs=(both[0], both[1]),
            input_names=(view.names[both[0]], view.names[both[1]]),
            response_name=view.response,
            x=x,
            y=y,
            mean=mean,
            width=upper - lower,
            level=level,
            at=place,
            runs_x=view.X[:, both[0]],
            runs_y=view.X[:, both[1]],
            runs_distance=distance_from(view, place, both),
            log=(view.on_log_axis(both[0]), view.on_log_axis(both[1])),
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw the mean and the width of the intervals side by side.

        Parameters
        ----------
        ax : two matplotlib axes, optional
            By default those of a new figure.
        """
        self.axes_: tuple[Axes, Axes] = drawing.two_axes(ax)
        self.figure_: Figure | SubFigure = self.axes_[0].figure
        width = f"width of {drawing.percent(self.level)} interval,\n{self.response_name}"
        panels = ((self.mean, "viridis", self.response_name), (self.width, "cividis", width))
        for axes, (values, colours, label) in zip(self.axes_, panels, strict=True):
            filled = axes.contourf(self.x, self.y, values, levels=12, cmap=colours)
            self.figure_.colorbar(filled, ax=axes, label=label)
            drawing.scatter_runs(
                axes,
                self.runs_x,
                self.runs_y,
                self.runs_distance,
                s=26,
                color="white",
                edgecolors="black",
                linewidths=0.8,
                clip_on=False,
                zorder=3,
            )
            axes.set_xlabel(self.input_names[0])
            axes.set_ylabel(self.input_names[1])
            drawing.log_axes(axes, self.log)
        return self
