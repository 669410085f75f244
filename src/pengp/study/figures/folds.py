"""Figures 4 and 5: repeated 4-fold cross-validation of the Forrester runs."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from pengp.plots.lambda_axis import (
    LambdaAxis,
    draw_lambda_axis,
    draw_lambda_line,
    lambda_positions,
)
from pengp.study.figures.style import COLOURS, MARKERS, letter, panels
from pengp.study.judges.base import METRICS
from pengp.study.report_rows import Rows

_FOLDS = "forrester/folds"
#: Ratio of ends up to which a logarithmic axis has ticks between the powers of ten.
_FEW_DECADES = 300.0


def figure_4(rows: Rows) -> Figure:
    """Draw C(lambda) of every draw for PE, MD and Score, the chosen lambdas below."""
    figure, axes = panels(2, 3, (9.0, 4.2), sharex=True, height_ratios=(4, 1))
    for k, method in enumerate(("pe", "md", "score")):
        curves = rows.grid(_FOLDS, method, "cv_mean", "repetition")
        _curves(axes[0, k], curves, COLOURS[method])
        axes[0, k].set_ylabel(f"{METRICS[method]}($\\lambda$), mean of 4 folds")
        letter(axes[0, k], k, METRICS[method])
        _chosen(axes[1, k], rows, method, lambda_positions(curves.index))
    axes[1, 0].set_ylabel("draws")
    return figure


def _curves(ax: Axes, curves: pd.DataFrame, colour: str) -> None:
    """Draw one line for each column; the axis is logarithmic if all values are positive."""
    lams = curves.index.to_numpy(dtype=float)
    for curve in curves.to_numpy().T:
        draw_lambda_line(ax, lams, curve, None, color=colour, alpha=0.6, linewidth=0.9)
    low, high = float(curves.to_numpy().min()), float(curves.to_numpy().max())
    if low > 0.0:
        ax.set_yscale("log")
    if 0.0 < high < _FEW_DECADES * low:
        ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.yaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_minor_formatter(NullFormatter())


def _chosen(ax: Axes, rows: Rows, method: str, axis: LambdaAxis) -> None:
    """Draw how many draws choose each lambda."""
    chosen = rows.by_repetition(_FOLDS, method, "chosen").value_counts()
    places = lambda_positions(np.concatenate([chosen.index, _grid(rows)])).positions
    ax.vlines(places[: len(chosen)], 0, chosen, color=COLOURS[method], linewidth=3)
    draw_lambda_axis(ax, axis)
    ax.set_ylim(0, max(int(chosen.max()), 1) * 1.15)
    ax.yaxis.set_major_locator(MaxNLocator(nbins=3, integer=True))


def _grid(rows: Rows) -> np.ndarray:
    """Return the grid of lambda."""
    return rows.grid(_FOLDS, "pe", "cv_mean", "repetition").index.to_numpy(dtype=float)


def figure_5(rows: Rows) -> Figure:
    """Draw DPE(lambda) and the mean theta of every draw, and what each metric chooses."""
    figure, axes = panels(1, 3, (9.0, 3.3))
    curves = rows.grid(_FOLDS, "dpe", "cv_mean", "repetition")
    theta = rows.grid(_FOLDS, "folds", "theta_mean", "repetition")
    axis = lambda_positions(curves.index)
    for ax, values, label in (
        (axes[0, 0], curves, r"DPE($\lambda$), mean of 4 folds"),
        (axes[0, 1], theta, r"$\hat\theta$, mean of 4 folds"),
    ):
        _curves(ax, values, COLOURS["dpe"])
        draw_lambda_axis(ax, axis)
        ax.set_ylabel(label)
    _choices(axes[0, 2], rows, axis)
    letter(axes[0, 0], 0, "DPE")
    letter(axes[0, 1], 1, r"$\hat\theta$ along $\lambda$")
    letter(axes[0, 2], 2, r"Selected $\lambda$")
    return figure


def _choices(ax: Axes, rows: Rows, axis: LambdaAxis) -> None:
    """Draw lambda* and lambda_1SE of each metric; the area of a point counts the draws."""
    grid, names = _grid(rows), []
    for k, (method, rule) in enumerate((m, r) for m in METRICS for r in ("", "_1se")):
        chosen = rows.by_repetition(_FOLDS, method + rule, "chosen").value_counts()
        places = lambda_positions(np.concatenate([chosen.index, grid])).positions[: len(chosen)]
        ax.scatter(
            places,
            np.full(len(chosen), -k),
            s=9.0 * chosen,
            marker=MARKERS[method],
            facecolor=COLOURS[method] if not rule else "white",
            edgecolor=COLOURS[method],
        )
        names.append(f"{METRICS[method]} {'1SE' if rule else ''}".strip())
    draw_lambda_axis(ax, axis)
    ax.set_yticks(-np.arange(len(names)), names)
    ax.set_ylim(-len(names) + 0.3, 0.7)
    ax.margins(x=0.12)
