"""Figures 6, 7 and that of Appendix E: methods compared on test runs."""

from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pengp._core.arrays import FloatArray
from pengp.plots.drawing import BLACK, GREY
from pengp.study.figures.style import COLOURS, letter, panels, spread
from pengp.study.judges.base import SCORES, signed
from pengp.study.judges.piston import METHODS as DRAW_METHODS
from pengp.study.judges.piston import against_mle
from pengp.study.judges.simulation import METHODS, relative
from pengp.study.report_rows import MissingRowsError, Rows

_TITLES = {
    "lim": "Lim Nonpolynomial",
    "franke": "Franke",
    "piston": "Piston Simulation",
    "borehole": "Borehole",
}
_SHORT = {"mle": "MLE", "mle_nugget": r"MLE $\hat g$"} | {
    m: name for m, name in METHODS.items() if not m.startswith("mle")
}
_MEAN: dict[str, Any] = {
    "marker": "D",
    "color": "white",
    "markeredgecolor": BLACK,
    "markersize": 4,
    "linestyle": "none",
}
_TICKS = np.array([-1.0, -0.5, -0.1, 0.0, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0])


def signed_root(values: FloatArray) -> FloatArray:
    """Return sign(x) sqrt(|x|), the scale of Figure 6."""
    return np.sign(values) * np.sqrt(np.abs(values))


def figure_6(rows: Rows, study: str) -> Figure:
    """Draw box plots of the relative differences to pMLE*."""
    present = [f for f in _TITLES if rows.has(f"{study}/{f}")]
    if not present:
        raise MissingRowsError(f"no rows of {study}")
    figure, axes = panels(2, 4, (11.0, 6.0))
    for i, (score, name) in enumerate(SCORES.items()):
        for j, (function, title) in enumerate(_TITLES.items()):
            ax = axes[i, j]
            letter(ax, 4 * i + j, title)
            if function in present:
                _boxes(ax, rows, study, function, score)
            else:
                ax.text(0.5, 0.5, "no rows", ha="center", va="center", transform=ax.transAxes)
        axes[i, 0].set_ylabel(f"{name} relative to pMLE*")
    marks = [
        Line2D([], [], color=BLACK, linewidth=1.6, label="median"),
        Line2D([], [], label="mean", **_MEAN),
    ]
    figure.legend(handles=marks, loc="outside lower center", ncols=2)
    return figure


def _boxes(ax: Axes, rows: Rows, study: str, function: str, score: str) -> None:
    """Draw one box for each method, on the signed square-root scale."""
    found = relative(rows, function, score, study)
    values = [signed_root(found[m].to_numpy()) for m in METHODS]
    boxes = ax.boxplot(
        values,
        patch_artist=True,
        widths=0.65,
        medianprops={"color": BLACK, "linewidth": 1.6},
        flierprops={"marker": ".", "markersize": 3, "markeredgecolor": GREY},
    )
    for box, method in zip(boxes["boxes"], METHODS, strict=True):
        box.set(facecolor=COLOURS[method], alpha=0.6)
    means = signed_root(found[list(METHODS)].mean().to_numpy())
    places = np.arange(1, len(METHODS) + 1)
    ax.plot(places, means, zorder=3, **_MEAN)
    ax.axhline(0.0, color=GREY, linestyle="--", linewidth=0.9, zorder=0)
    ax.set_xticks(places, list(_SHORT.values()), rotation=45, ha="right")
    low, high = ax.get_ylim()
    shown = _TICKS[(signed_root(_TICKS) >= low) & (signed_root(_TICKS) <= high)]
    ax.set_yticks(signed_root(shown), [signed(f"{tick:g}") for tick in shown])


def piston_figure(rows: Rows, part: str, printed: dict[str, str]) -> Figure:
    """Draw the relative difference to the MLE of each draw of folds.

    ``printed`` holds the scores of the MLE that the paper prints.
    """
    figure, axes = panels(1, 2, (8.4, 3.6))
    for k, (score, name) in enumerate(SCORES.items()):
        ax, labels = axes[0, k], []
        for place, method in enumerate(DRAW_METHODS):
            change = 100.0 * against_mle(rows, part, method, score, enough=False)
            ax.scatter(
                place + 0.28 * spread(len(change)),
                change,
                s=14,
                color=COLOURS[method],
                edgecolor=BLACK,
                linewidth=0.3,
                alpha=0.75,
                zorder=3,
            )
            better, worse = int((change < 0.0).sum()), int((change > 0.0).sum())
            labels.append(f"{DRAW_METHODS[method]}\n{better} better, {worse} worse")
            ax.hlines(change.median(), place - 0.36, place + 0.36, color=BLACK, zorder=4)
        ax.axhline(0.0, color=GREY, linestyle="--", zorder=1)
        ax.set_xticks(range(len(DRAW_METHODS)), labels)
        ax.set_xlim(-0.6, len(DRAW_METHODS) - 0.4)
        ax.set_ylabel(f"{name} relative to the MLE (%)")
        baseline = rows.along_lam(f"{part}-test", "pmle", score).iloc[0]
        letter(ax, k, f"{name}, MLE {baseline:.3f} (paper {printed[score]})")
    return figure


figure_7 = partial(
    piston_figure, part="piston-slap/isotropic", printed={"rmse": "0.879", "crps": "0.505"}
)
figure_appendix = partial(
    piston_figure, part="piston-slap/anisotropic", printed={"rmse": "0.767", "crps": "0.500"}
)
