"""Displays of what a Bayesian average says: which inputs matter, and its explanations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pengp._core.arrays import BoolArray, FloatArray
from pengp._core.shown import Shown
from pengp.estimators.view import view_of
from pengp.model.kernels import KERNELS
from pengp.plots import drawing
from pengp.plots.fitted import Estimator

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

#: Lengthscales that are shown, in ranges of the input, and the number of bins between them.
_SHOWN, _BINS = (0.03, 100.0), 40
#: Inches of height for a row and for what surrounds the rows.
_ROW, _AROUND = 0.42, 1.3


@dataclass(eq=False, repr=False)
class ActivityDisplay(Shown):
    """Posterior probability that each input matters, and the distribution of its lengthscale.

    Attributes
    ----------
    names : tuple of d strings
        Names of the inputs.
    probability : [d]
        Posterior probability that the input changes the response by a tenth of its standard
        deviation or more; 0 for a constant input.
    change : [d, 3]
        5 %, 50 % and 95 % quantiles of the change of the response from end to end of the input, in
        standard deviations of the response.
    lengthscale : [d, 3]
        The same quantiles of the lengthscale, in the input's unit; infinite for a constant input.
    width : [d]
        Range of each input.
    edges : [B + 1]
        Ends of bins of lengthscale / range, ascending.
    share : [d, B]
        Posterior probability of each bin; what lies outside the edges is in the first or last one.
    order : [d]
        Inputs, the one that moves the response most first.
    response_name : str
        For labels.

    Examples
    --------
    >>> from pengp import BayesianGPRegressor, load_piston_slap
    >>> from pengp.plots import ActivityDisplay
    >>> runs = load_piston_slap()
    >>> model = BayesianGPRegressor(random_state=0).fit(runs.X, runs.y)
    >>> shown = ActivityDisplay.from_estimator(model, input_names=runs.input_names).plot()
    >>> shown.names[shown.order[0]]  # what moves the response most
    'cylinder liner'
    """

    names: tuple[str, ...]
    probability: FloatArray
    change: FloatArray
    lengthscale: FloatArray
    width: FloatArray
    edges: FloatArray
    share: FloatArray
    order: tuple[int, ...]
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
        """Read the posterior off an average.

        Parameters
        ----------
        estimator : BayesianGPRegressor
            Fitted.
        output : int
            Which output.
        input_names : sequence of d strings, optional
            By default those of the frame that was fitted, else x1 to xd.
        response_name : str, optional
            For labels.
        """
        view = view_of(estimator, output, input_names, response_name)
        found, average = view.average.activity, view.average
        edges = np.geomspace(*_SHOWN, _BINS + 1)
        draws, weight = average.lengthscale_draws()
        relative = np.clip(draws / average.inputs.width, *edges[[0, -1]])
        counts = [np.histogram(column, edges, weights=weight)[0] for column in relative.T]
        return cls(
            names=view.names,
            probability=found.probability,
            change=found.change,
            lengthscale=found.lengthscale,
            width=average.inputs.width,
            edges=edges,
            share=np.where(view.constant[:, None], 0.0, counts),
            order=tuple(np.argsort(-view.importance, kind="stable").tolist()),
            response_name=view.response,
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw the probabilities and, beside them, the distributions of the lengthscales.

        Parameters
        ----------
        ax : two matplotlib axes, optional
            By default those of a new figure.
        """
        rows = np.arange(len(self.names))
        size = (8.4, _AROUND + _ROW * len(rows))
        self.axes_: tuple[Axes, Axes] = drawing.two_axes(ax, size)
        self.figure_: Figure | SubFigure = self.axes_[0].figure
        order, (left, right) = list(self.order), self.axes_
        left.barh(rows, self.probability[order], height=0.55, color=drawing.BLUE)
        left.set_xlim(0.0, 1.0)
        left.set_xlabel("posterior probability that it matters")
        for row, p in enumerate(order):
            self._draw_distribution(right, row, p)
        right.axvline(1.0, color=drawing.GREY, linewidth=0.8, linestyle=":")
        right.set_xscale("log")
        right.set_xlim(*self.edges[[0, -1]])
        right.set_xlabel("lengthscale, in ranges of the input; 100 and more at the end")
        for axes in self.axes_:
            axes.set_yticks(rows, [self.names[p] for p in order] if axes is left else [])
            axes.set_ylim(len(rows) - 0.4, -0.6)
        return self

    def _draw_distribution(self, ax: Axes, row: int, p: int) -> None:
        """Draw the distribution of one lengthscale, its median and its central 90 %."""
        low, middle, high = np.clip(self.lengthscale[p] / self.width[p], *self.edges[[0, -1]])
        height = 0.42 * self.share[p] / max(self.share[p].max(), np.finfo(float).tiny)
        for sign in (-1.0, 1.0):
            ax.stairs(
                row + sign * height, self.edges, baseline=row, fill=True,
                color=drawing.BLUE, alpha=2.0 * drawing.BAND,
            )  # fmt: skip
        if self.share[p].any():
            ax.plot([low, high], [row, row], color=drawing.BLACK, linewidth=1.2)
            ax.plot([middle], [row], "o", color=drawing.BLACK, markersize=5)


@dataclass(eq=False, repr=False)
class ExplanationsDisplay(Shown):
    """The explanations in an average, with their posterior weights, and those of the kernels.

    Attributes
    ----------
    names : tuple of d strings
        Names of the inputs.
    kernels : tuple of K strings
        Names of the kernels.
    kernel_weight, kernel_prior : [K]
        Their posterior and their prior probabilities.
    kernel : tuple of M strings
        Kernel of each explanation, the weightiest first.
    weight : [M]
        Posterior weights of the explanations.
    theta : [M, d]
        Where they lie, for inputs in the unit cube.
    lengthscale : [M, d]
        The same as lengthscales in the inputs' units; infinite for a constant input.
    matters : [M, d]
        Whether the input matters there, as in `ActivityDisplay`.
    response_name : str
        For labels.

    Examples
    --------
    >>> from pengp import BayesianGPRegressor, load_piston_slap
    >>> from pengp.plots import ExplanationsDisplay
    >>> runs = load_piston_slap()
    >>> model = BayesianGPRegressor(random_state=0).fit(runs.X, runs.y)
    >>> shown = ExplanationsDisplay.from_estimator(model, input_names=runs.input_names).plot()
    >>> round(float(shown.weight.sum()), 6)
    1.0
    """

    names: tuple[str, ...]
    kernels: tuple[str, ...]
    kernel_weight: FloatArray
    kernel_prior: FloatArray
    kernel: tuple[str, ...]
    weight: FloatArray
    theta: FloatArray
    lengthscale: FloatArray
    matters: BoolArray
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
        """Read the explanations off an average.

        Parameters
        ----------
        estimator : BayesianGPRegressor
            Fitted.
        output : int
            Which output.
        input_names : sequence of d strings, optional
            By default those of the frame that was fitted, else x1 to xd.
        response_name : str, optional
            For labels.
        """
        view = view_of(estimator, output, input_names, response_name)
        found, average = view.average.explanations, view.average
        names = tuple(average.kernel_weights)
        return cls(
            names=view.names,
            kernels=names,
            kernel_weight=np.array([average.kernel_weights[name] for name in names]),
            kernel_prior=np.array([average.prior_kernel_weights[name] for name in names]),
            kernel=tuple(one.kernel for one in found),
            weight=np.array([one.weight for one in found]),
            theta=np.array([one.theta for one in found]),
            lengthscale=np.array([one.lengthscale for one in found]),
            matters=np.array([one.matters for one in found]),
            response_name=view.response,
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw the kernels' probabilities and, beside them, theta of each explanation.

        Parameters
        ----------
        ax : two matplotlib axes, optional
            By default those of a new figure.
        """
        self.axes_: tuple[Axes, Axes] = drawing.two_axes(ax, (9.4, 3.6))
        self.figure_: Figure | SubFigure = self.axes_[0].figure
        self._draw_kernels(self.axes_[0])
        self._draw_explanations(self.axes_[1])
        return self

    def _draw_kernels(self, ax: Axes) -> None:
        """Draw the first panel."""
        rows = np.arange(len(self.kernels))
        ax.barh(rows, self.kernel_weight, height=0.55, color=drawing.BLUE, label="after the runs")
        style: dict[str, Any] = {"marker": "|", "markersize": 11, "linestyle": "none"}
        ax.plot(self.kernel_prior, rows, color=drawing.BLACK, label="before", **style)
        ax.set_yticks(rows, [label_of(name) for name in self.kernels])
        ax.set_ylim(len(rows) - 0.5, -0.5)
        ax.set_xlim(0.0, 1.0)
        ax.set_xlabel("probability of the kernel")
        drawing.legend_above(ax, 2)

    def _draw_explanations(self, ax: Axes) -> None:
        """Draw the second panel."""
        places = np.arange(len(self.names))
        for k, (name, weight) in enumerate(zip(self.kernel, self.weight, strict=True)):
            style = {**drawing.line_style(k, len(places)), "markevery": 1}
            faint = max(0.25, min(1.0, 2.0 * float(weight)))
            label = f"{drawing.percent(round(float(weight), 3))}  {label_of(name)}"
            ax.plot(places, self.theta[k], label=label, alpha=faint, **style)
        ax.set_yscale("log")
        ax.set_ylabel(r"$\theta$")
        ax.set_xticks(places, self.names, rotation=30, ha="right")
        drawing.legend_above(ax, 1)


def label_of(kernel: str) -> str:
    """Return what readers call a kernel, its name if it is the user's own."""
    return KERNELS.label(kernel) if kernel in KERNELS else kernel
