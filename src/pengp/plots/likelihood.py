"""Display of the likelihood along a line through the estimate: one input's theta, or the ray."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pengp._core.arrays import FloatArray
from pengp._core.checks import check_count
from pengp._core.shown import Shown
from pengp.estimators.view import view_of
from pengp.plots import drawing
from pengp.plots.fitted import MOST_ON_LINE, Estimator
from pengp.plots.lines import Runs, line_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


@dataclass(eq=False, repr=False)
class ProfileLikelihoodDisplay(Shown):
    """Profile log likelihood along a line through the estimate, the nugget kept.

    The line changes the theta of one input and keeps the others, or follows the ray c theta-hat,
    c > 0, cut to the bounds of theta; where all inputs share one theta, the ray is that theta.

    Attributes
    ----------
    grid : [G]
        Where on the line, ascending: theta of the input, c of the ray, or the shared theta.
    theta : [G, d]
        The points of the line.
    loglik, objective : [G]
        log L there, -inf where R is singular, and the penalized Q = log L - n p_lambda.
    estimate : float
        Where on the line the estimate is; it is one of the grid.
    theta_hat : [d]
        The estimate.
    loglik_hat, objective_hat : float
        log L and Q at the estimate.
    flat : (float, float)
        Where log L is within 1e-4 of its maximum along the line; at an end of the grid it may go
        on beyond it.
    mode_theta : [M, d]
        All maxima of Q that were found, the estimate first.
    mode_loglik, mode_objective : [M]
        log L and Q at each.
    mode_positions : [M]
        Where each is nearest to the line, by least squares in log theta. Unless all inputs share
        one theta, only the estimate is on the line.
    lam : float
        The lambda of the estimate.
    input : int or None
        Which input; None for the ray.
    shared : bool
        Whether all inputs share one theta.
    input_name : str or None
        Name of that input.

    Examples
    --------
    >>> from pengp import PenalizedGPRegressor, load_piston_slap
    >>> from pengp.plots import ProfileLikelihoodDisplay
    >>> runs = load_piston_slap()
    >>> model = PenalizedGPRegressor(isotropic=True, random_state=0).fit(runs.X, runs.y)
    >>> shown = ProfileLikelihoodDisplay.from_estimator(model).plot()
    >>> [round(end, 1) for end in shown.flat]  # the runs do not determine theta
    [10.3, 1000.0]
    """

    grid: FloatArray
    theta: FloatArray
    loglik: FloatArray
    objective: FloatArray
    estimate: float
    theta_hat: FloatArray
    loglik_hat: float
    objective_hat: float
    flat: tuple[float, float]
    mode_theta: FloatArray
    mode_loglik: FloatArray
    mode_objective: FloatArray
    mode_positions: FloatArray
    lam: float
    input: int | None
    shared: bool
    input_name: str | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        *,
        input: int | str | None = None,
        output: int = 0,
        grid_size: int = 201,
        input_names: Sequence[str] | None = None,
    ) -> Self:
        """Evaluate the likelihood of the runs in ``fit`` along one line.

        Parameters
        ----------
        estimator : PenalizedGPRegressor or PenalizedGPRegressorCV
            Fitted.
        input : int or str, optional
            Number or name of the input whose theta changes; by default all change, along the ray.
        output : int
            Which output.
        grid_size : int
            Points on the line, equally spaced in logarithm; the estimate is added.
        input_names : sequence of d strings, optional
            By default those of the frame that was fitted, else x1 to xd.
        """
        view = view_of(estimator, output, input_names)
        runs = Runs.of(view)
        line = line_of(view, runs, input)
        grid = np.geomspace(*line.ends, check_count(grid_size, "grid_size", 2, MOST_ON_LINE))
        grid = np.unique(np.concatenate([grid, [line.estimate]]))
        loglik = runs.loglik(line.theta(grid))
        modes = np.array([mode.theta for mode in view.modes])
        logliks, objectives = np.array([(m.loglik, m.objective) for m in view.modes]).T
        return cls(
            grid=grid,
            theta=line.theta(grid),
            loglik=loglik,
            objective=loglik - runs.penalty(line.theta(grid), view.lam),
            estimate=line.estimate,
            theta_hat=view.theta,
            loglik_hat=float(logliks[0]),
            objective_hat=float(objectives[0]),
            flat=line.flat,
            mode_theta=modes,
            mode_loglik=logliks,
            mode_objective=objectives,
            mode_positions=line.position(modes),
            lam=view.lam,
            input=line.input,
            shared=line.shared,
            input_name=None if line.input is None else view.names[line.input],
        )

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw log L and Q, shade the flat stretch, mark the estimate and the other maxima."""
        self.ax_: Axes = drawing.one_axes(ax)
        self.figure_: Figure | SubFigure = self.ax_.figure
        usable = np.isfinite(self.loglik)
        grid, loglik, objective = (a[usable] for a in (self.grid, self.loglik, self.objective))
        self.ax_.axvspan(*self.flat, color=drawing.ORANGE, alpha=0.3, label=r"$\log L$ is flat")
        self.ax_.plot(grid, loglik, color=drawing.BLUE, label=r"$\log L$")
        red: dict[str, Any] = {"color": drawing.VERMILLION, "linestyle": "--"}
        self.ax_.plot(grid, objective, label=r"$Q$", **red)
        self._mark_maxima()
        self.ax_.set_xscale("log")
        self.ax_.margins(x=0.0)
        heights = np.concatenate([loglik, self.mode_loglik])
        room = 0.06 * np.ptp(heights) or 1.0
        self.ax_.set_ylim(heights.min() - room, heights.max() + room)
        self.ax_.set_xlabel(self._axis_label())
        self.ax_.set_ylabel("profile log likelihood")
        drawing.legend_above(self.ax_, 3)
        return self

    def _axis_label(self) -> str:
        """Return words for what changes along the line."""
        if self.shared:
            return r"$\theta$"
        if self.input_name is None:
            return r"$c$, on the ray $c\,\hat\theta$"
        return rf"$\theta$ of {self.input_name}"

    def _mark_maxima(self) -> None:
        """Mark the estimate and the other maxima of Q, at the height of log L."""
        style: dict[str, Any] = {"linestyle": "none", "color": drawing.BLACK, "clip_on": False}
        self.ax_.plot(self.estimate, self.loglik_hat, marker="o", label="estimate", **style)
        if len(self.mode_loglik) == 1:
            return
        self.ax_.plot(
            self.mode_positions[1:],
            self.mode_loglik[1:],
            marker="D",
            markersize=5,
            markerfacecolor="none",
            label=f"other maxima{'' if self.shared else ', off this line'}",
            **style,
        )
