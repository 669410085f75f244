"""Figures 4 and 5: repeated 4-fold cross-validation of the Forrester runs."""

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from pengp.plots.drawing import BLACK
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
#: Area of a point for one draw, in square points.
_AREA = 9.0


def figure_4(rows: Rows) -> Figure:
    """Draw C(lambda) of every draw for PE, MD and Score, each draw's lambda* as a circle below."""
    figure, axes = panels(2, 3, (9.4, 5.0), sharex=True, height_ratios=(3, 2))
    for k, method in enumerate(("pe", "md", "score")):
        curves = rows.grid(_FOLDS, method, "cv_mean", "repetition")
        colours = _colours(curves.shape[1])
        _curves(axes[0, k], curves, colours)
        axes[0, k].set_ylabel(f"{METRICS[method]}($\\lambda$), mean of 4 folds")
        letter(axes[0, k], k, METRICS[method])
        _circles(axes[1, k], rows, method, colours)
        draw_lambda_axis(axes[1, k], lambda_positions(curves.index))
    axes[1, 0].set_ylabel(r"$\lambda^*$, a circle a draw")
    return figure


def _colours(draws: int) -> list[Any]:
    """Return one colour for each draw."""
    return [colormaps["turbo"](0.04 + 0.92 * k / max(draws - 1, 1)) for k in range(draws)]


def _circles(ax: Axes, rows: Rows, method: str, colours: list[Any]) -> None:
    """Draw the lambda* of each draw as a circle of its colour, equal ones above each other."""
    chosen, height = rows.by_repetition(_FOLDS, method, "chosen"), Counter[float]()
    places = lambda_positions(np.concatenate([chosen, _grid(rows)])).positions[: len(chosen)]
    for lam, place, colour in zip(chosen.tolist(), places, colours, strict=False):
        height[lam] += 1
        ax.plot(place, height[lam], "o", color=colour, markeredgecolor=BLACK, markersize=5)
    ax.set_ylim(0.2, max(*height.values(), 4) + 0.8)
    ax.yaxis.set_major_locator(MaxNLocator(nbins=4, integer=True))


def _curves(ax: Axes, curves: pd.DataFrame, colours: list[Any]) -> None:
    """Draw one line for each column; the axis is logarithmic if all values are positive."""
    lams = curves.index.to_numpy(dtype=float)
    for curve, colour in zip(curves.to_numpy().T, colours, strict=True):
        draw_lambda_line(ax, lams, curve, None, color=colour, alpha=0.8, linewidth=0.9)
    low, high = float(curves.to_numpy().min()), float(curves.to_numpy().max())
    if low > 0.0:
        ax.set_yscale("log")
    if 0.0 < high < _FEW_DECADES * low:
        ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.yaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_minor_formatter(NullFormatter())


def _grid(rows: Rows) -> np.ndarray:
    """Return the grid of lambda."""
    return rows.grid(_FOLDS, "pe", "cv_mean", "repetition").index.to_numpy(dtype=float)


def figure_5(rows: Rows) -> Figure:
    """Draw DPE(lambda) and the mean theta of every draw, and what each metric chooses."""
    figure, axes = panels(1, 3, (9.4, 3.9))
    curves = rows.grid(_FOLDS, "dpe", "cv_mean", "repetition")
    theta = rows.grid(_FOLDS, "folds", "theta_mean", "repetition")
    axis = lambda_positions(curves.index)
    for ax, values, label in (
        (axes[0, 0], curves, r"DPE($\lambda$), mean of 4 folds"),
        (axes[0, 1], theta, r"$\hat\theta$, mean of 4 folds"),
    ):
        _curves(ax, values, _colours(values.shape[1]))
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
            s=_AREA * chosen,
            marker=MARKERS[method],
            facecolor=COLOURS[method] if not rule else "white",
            edgecolor=COLOURS[method],
        )
        names.append(f"{METRICS[method]} {'1SE' if rule else ''}".strip())
    draw_lambda_axis(ax, axis)
    ax.set_yticks(-np.arange(len(names)), names)
    ax.set_ylim(-len(names) + 0.3, 0.7)
    ax.margins(x=0.12)
    sizes = [
        ax.scatter([], [], s=_AREA * k, color="white", edgecolor=BLACK, label=str(k))
        for k in (1, 5, 20)
    ]
    ax.legend(
        handles=sizes,
        title="draws (filled: λ*, open: 1SE)",
        loc="upper center",
        bbox_to_anchor=(0.45, -0.2),
        ncols=3,
        title_fontsize=7.5,
    )
