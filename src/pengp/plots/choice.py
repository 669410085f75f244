"""Displays of the choice of lambda: the curve of cross-validation, and how stable the choice is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pengp._core.arrays import FloatArray, IntArray
from pengp._core.shown import Shown
from pengp.choosing.folds import DEFAULT_K
from pengp.choosing.metrics import FOLD_METRICS
from pengp.choosing.rules import RuleLike
from pengp.estimators.view import view_of
from pengp.exceptions import InputError
from pengp.plots import drawing
from pengp.plots.fitted import Estimator, table_of
from pengp.plots.lambda_axis import draw_lambda_axis, draw_lambda_line, lambda_positions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


@dataclass(eq=False, repr=False)
class CVCurveDisplay(Shown):
    """Cross-validation metric against lambda.

    Attributes
    ----------
    lams : [L]
        Values of lambda, ascending.
    values : [L, K]
        The metric for each lambda and split.
    mean, se : [L]
        C(lambda) and its standard error, `CVTable.mean_of` and `CVTable.se_of`.
    metric : str
        Name of the metric.
    greater_is_better : bool
        Its direction.
    best, one_se : float
        The lambda with the best mean, and the largest within a standard error of it.
    chosen : float
        The lambda of the estimator.
    response_name : str
        For labels.

    Examples
    --------
    >>> from pengp import PenalizedGPRegressorCV, load_piston_slap
    >>> from pengp.plots import CVCurveDisplay
    >>> runs = load_piston_slap()
    >>> model = PenalizedGPRegressorCV(cv=4, random_state=0).fit(runs.X, runs.y)
    >>> curve = CVCurveDisplay.from_estimator(model).plot()
    >>> curve.best, round(curve.one_se, 4)
    (0.0, 0.0046)
    """

    lams: FloatArray
    values: FloatArray
    mean: FloatArray
    se: FloatArray
    metric: str
    greater_is_better: bool
    best: float
    one_se: float
    chosen: float
    response_name: str = "response"

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        *,
        output: int = 0,
        metric: str | None = None,
        response_name: str | None = None,
    ) -> Self:
        """Read the curve off the table of folds of a fitted `PenalizedGPRegressorCV`.

        Parameters
        ----------
        estimator : PenalizedGPRegressorCV
            Fitted.
        output : int
            Which output.
        metric : str, optional
            A metric of the table, by default the one that chose lambda.
        response_name : str, optional
            For labels.
        """
        view = view_of(estimator, output, response_name=response_name)
        table, metric = table_of(view), metric or str(view.metric)
        mean, se, order = table.mean_of(metric), table.se_of(metric), np.argsort(table.lams)
        return cls(
            lams=table.lams[order],
            values=table.values[metric][order],
            mean=mean[order],
            se=se[order],
            metric=metric,
            greater_is_better=table.greater_is_better[metric],
            best=table.best(metric),
            one_se=table.one_se(metric),
            chosen=view.lam,
            response_name=view.response,
        )

    def plot(self, ax: Axes | None = None, *, log_metric: bool | None = None) -> Self:
        """Draw the mean with a band of one standard error, and mark the two choices of lambda.

        Parameters
        ----------
        ax : matplotlib axes, optional
            By default those of a new figure.
        log_metric : bool, optional
            Whether the metric's axis is logarithmic; by default if its mean is positive and spans
            more than a factor of 30.
        """
        self.ax_: Axes = drawing.one_axes(ax)
        self.figure_: Figure | SubFigure = self.ax_.figure
        draw_lambda_line(self.ax_, self.lams, self.mean, "mean", color=drawing.BLUE)
        self._draw_errors()
        self._mark(self.best, "best", marker="*", color=drawing.VERMILLION, markersize=12)
        one_se = {"marker": "s", "color": drawing.BLACK, "markersize": 6}
        self._mark(self.one_se, "one SE", markerfacecolor="white", **one_se)
        if self.chosen not in (self.best, self.one_se):
            self._mark(self.chosen, "chosen", marker="D", color=drawing.GREEN, markersize=6)
        draw_lambda_axis(self.ax_, lambda_positions(self.lams))
        if self._spans_decades() if log_metric is None else log_metric:
            self.ax_.set_yscale("log")
        label = FOLD_METRICS.label(self.metric)
        direction = "\n(higher is better)" if self.greater_is_better else ""
        self.ax_.set_ylabel(f"cross-validated {label}{direction}")
        drawing.legend(self.ax_)
        return self

    def _spans_decades(self) -> bool:
        """Tell whether the mean is easier to read on a logarithmic axis."""
        mean = self.mean[np.isfinite(self.mean)]
        return bool(mean.min() > 0.0 and mean.max() > 30.0 * mean.min())

    def _draw_errors(self) -> None:
        """Draw the band of one standard error, and how far from the best mean it reaches."""
        positions, zero = lambda_positions(self.lams).positions, self.lams == 0.0
        low, high = self.mean - self.se, self.mean + self.se
        band = r"$\pm$ 1 standard error"
        shade: dict[str, Any] = {"color": drawing.BLUE, "alpha": drawing.BAND}
        self.ax_.fill_between(
            positions[~zero], low[~zero], high[~zero], linewidth=0, label=band, **shade
        )
        self.ax_.vlines(positions[zero], low[zero], high[zero], linewidth=6, **shade)
        reach = (low if self.greater_is_better else high)[self.lams == self.best][0]
        if np.isfinite(reach):
            label = f"best mean ${'-' if self.greater_is_better else '+'}$ 1 SE"
            self.ax_.axhline(reach, color=drawing.GREY, linewidth=0.9, linestyle=":", label=label)

    def _mark(self, lam: float, label: str, **style: Any) -> None:
        """Mark the curve at one lambda."""
        here = self.lams == lam
        position, mean = lambda_positions(self.lams).positions[here][0], self.mean[here][0]
        words = rf"{label}, $\lambda$ = {lam:.3g}"
        self.ax_.plot(position, mean, label=words, linestyle="none", **style)


@dataclass(eq=False, repr=False)
class StabilityDisplay(Shown):
    """How often each lambda is chosen when the folds are dealt anew.

    Attributes
    ----------
    lams : [L]
        Values of lambda, ascending.
    counts : [L]
        Repeats of the folds that choose each.
    choices : [repeats]
        The lambda that each repeat alone would choose.
    chosen : float
        The lambda of the estimator, chosen from all repeats together.
    metric : str
        Name of the metric.
    response_name : str
        For labels.

    Examples
    --------
    >>> from pengp import PenalizedGPRegressorCV, load_piston_slap, random_folds
    >>> from pengp.plots import StabilityDisplay
    >>> runs = load_piston_slap()
    >>> folds = random_folds(12, 4, repeats=3, random_state=0)
    >>> model = PenalizedGPRegressorCV(cv=folds, random_state=0).fit(runs.X, runs.y)
    >>> shown = StabilityDisplay.from_estimator(model).plot()
    >>> int(shown.counts.sum())  # choices, one for each repeat
    3
    """

    lams: FloatArray
    counts: IntArray
    choices: FloatArray
    chosen: float
    metric: str
    response_name: str = "response"

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        *,
        output: int = 0,
        metric: str | None = None,
        rule: RuleLike | None = None,
        response_name: str | None = None,
    ) -> Self:
        """Let every repeat of the folds choose on its own.

        Parameters
        ----------
        estimator : PenalizedGPRegressorCV
            Fitted with repeated folds.
        output : int
            Which output.
        metric : str, optional
            A metric of the table, by default the one that chose lambda.
        rule : {"min", "1se"}, Rule or callable, optional
            By default the rule that chose lambda.
        response_name : str, optional
            For labels.
        """
        view = view_of(estimator, output, response_name=response_name)
        table, metric = table_of(view), metric or str(view.metric)
        if (plan := table.plan).repeats < 2:
            # Folds of one run each are always the same.
            k = plan.n_folds if 1 < plan.n_folds < plan.n else min(DEFAULT_K, plan.n - 1)
            raise InputError(
                "the folds were dealt only once, so there are no choices to compare; fit with "
                f"cv=random_folds({plan.n}, {k}, repeats=20) of pengp.choosing."
            )
        own_rule: RuleLike = getattr(view.estimator, "rule_", "1se") if rule is None else rule
        choices = table.stability(metric, own_rule)
        lams = np.unique(table.lams)
        counts = (lams[:, None] == choices).sum(axis=1)
        return cls(lams, counts, choices, view.lam, metric, view.response)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the counts as bars, and mark the lambda of the estimator."""
        self.ax_: Axes = drawing.one_axes(ax)
        self.figure_: Figure | SubFigure = self.ax_.figure
        axis, top = lambda_positions(self.lams), self.counts.max()
        width = 0.8 * np.diff(axis.positions).min(initial=0.6)
        some, chosen = self.counts > 0, self.lams == self.chosen
        style: dict[str, Any] = {"linestyle": "none", "marker": "v", "color": drawing.VERMILLION}
        self.ax_.bar(
            axis.positions[some],
            self.counts[some],
            width,
            color=drawing.SKY,
            edgecolor=drawing.BLUE,
            label=f"each of {len(self.choices)} repeats alone",
        )
        self.ax_.plot(
            axis.positions[chosen],
            self.counts[chosen] + 0.05 * top,
            label=rf"all repeats together, $\lambda$ = {self.chosen:.3g}",
            **style,
        )
        draw_lambda_axis(self.ax_, axis)
        self.ax_.set_xlim(axis.positions.min() - 1.5 * width, axis.positions.max() + 1.5 * width)
        self.ax_.set_ylim(0.0, 1.15 * top)
        self.ax_.locator_params(axis="y", integer=True)
        self.ax_.set_ylabel("repeats that choose it")
        drawing.legend_above(self.ax_, 2)
        return self
