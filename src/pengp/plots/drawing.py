"""How displays look: colours, line styles, and axes to draw on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pengp._core.arrays import BoolArray, FloatArray
from pengp.exceptions import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Okabe and Ito's palette, safe for colour-blind readers; its yellow is too faint on white.
BLUE, VERMILLION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, BLACK = "#E69F00", "#56B4E9", "#000000"
PALETTE = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK)
GREY = "#767676"
#: So that lines can be told apart in print without colour.
_LINES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (9, 3)))
#: Opacity of intervals and bands.
BAND = 0.18
#: Opacity of the faintest run.
_FAINT = 0.12
#: One more than there are colours, so that colour and marker do not repeat together.
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")
#: Points of a line from one marker to the next.
_MARK_EVERY = 6


def pyplot() -> Any:
    """Return matplotlib.pyplot, or say how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "drawing needs matplotlib; install it: pip install 'pengp[plot]'."
        ) from error
    return plt


def one_axes(ax: Axes | None, size: tuple[float, float] = (5.2, 3.5)) -> Axes:
    """Return the caller's axes, or those of a new figure of that size in inches."""
    if ax is not None:
        return ax
    plt = pyplot()
    with plt.rc_context({"axes.spines.top": False, "axes.spines.right": False}):
        return plt.subplots(figsize=size, layout="constrained")[1]


def two_axes(ax: Any, size: tuple[float, float] = (8.4, 3.5)) -> tuple[Axes, Axes]:
    """Return the caller's two axes, or those of a new figure of that size in inches."""
    if ax is not None:
        both = np.ravel(np.asarray(ax, dtype=object))
        if len(both) != 2:
            raise InputError(f"this display has two panels; ax must hold 2 axes, not {len(both)}.")
        return both[0], both[1]
    plt = pyplot()
    with plt.rc_context({"axes.spines.top": False, "axes.spines.right": False}):
        first, second = plt.subplots(1, 2, figsize=size, layout="constrained")[1]
    return first, second


def panels(
    ax: Any, count: int, columns: int, size: tuple[float, float], around: tuple[float, float]
) -> list[Axes]:
    """Return the caller's axes, or those of a new figure, each of that size in inches.

    There are ``count`` of them, so many ``columns`` beside each other.
    """
    if ax is not None:
        given = list(np.ravel(np.asarray(ax, dtype=object)))
        if len(given) != count:
            raise InputError(f"this display has {count} panels; ax must hold {count} axes.")
        return given
    plt, columns = pyplot(), min(count, columns)
    rows = -(-count // columns)
    whole = (size[0] * columns + around[0], size[1] * rows + around[1])
    with plt.rc_context({"axes.spines.top": False, "axes.spines.right": False}):
        grid = plt.subplots(rows, columns, figsize=whole, layout="constrained", squeeze=False)[1]
    for spare in grid.ravel()[count:]:
        spare.remove()
    return list(grid.ravel()[:count])


def shortened(label: str, most: int = 12) -> str:
    """Return a label of so many characters at most."""
    return label if len(label) <= most else label[: most - 1] + "…"


def legend(ax: Axes, **where: Any) -> None:
    """Add a plain legend to the axes."""
    ax.legend(frameon=False, fontsize="small", **where)


def legend_above(ax: Axes, columns: int) -> None:
    """Add a plain legend above the axes, where it hides nothing."""
    legend(ax, loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2, ncols=columns)


def log_axes(ax: Axes, log: tuple[bool, bool]) -> None:
    """Make the horizontal and the vertical axis logarithmic, if that is wanted."""
    for wanted, scale in zip(log, (ax.set_xscale, ax.set_yscale), strict=True):
        if wanted:
            scale("log")


def line_style(k: int, points: int) -> dict[str, Any]:
    """Return colour, dashes and markers of the k-th of several lines with that many points.

    Markers are staggered, so that lines on top of each other can be told apart.
    """
    every = max(1, min(points, _MARK_EVERY))
    return {
        "color": PALETTE[k % len(PALETTE)],
        "linestyle": _LINES[k % len(_LINES)],
        "marker": _MARKERS[k % len(_MARKERS)],
        "markevery": (k % every, every),
        "markersize": 4,
    }


def scatter_runs(ax: Axes, x: Any, y: Any, distance: Any, **style: Any) -> None:
    """Draw runs x, y [n], the fainter the larger their distance [n] in [0, 1]."""
    opacity = np.maximum(1.0 - np.asarray(distance), _FAINT)
    far_first = np.argsort(opacity, kind="stable")
    style["alpha"] = opacity[far_first]
    ax.scatter(x[far_first], y[far_first], **style)


def plot_points(ax: Axes, x: FloatArray, y: FloatArray, outside: BoolArray) -> None:
    """Draw points x, y [n]; those ``outside`` [n] of what is expected look different."""
    ax.plot(x[~outside], y[~outside], "o", color=BLUE, markersize=5)
    ax.plot(x[outside], y[outside], "X", color=VERMILLION, markersize=7)


def percent(level: float) -> str:
    """Return a level such as 0.95 as '95 %'."""
    return f"{100.0 * level:.4g} %"
