"""How the report's figures look and how they are saved: the same rows give the same bytes."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pengp._core.arrays import FloatArray
from pengp.plots.drawing import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION

#: One colour for each method, in every figure.
COLOURS = {
    "mle": GREY,
    "mle_nugget": SKY,
    "pe": ORANGE,
    "md": PURPLE,
    "score": VERMILLION,
    "dpe": BLUE,
    "dpe_1se": GREEN,
}
#: One marker for each metric, so that they can be told apart without colour.
MARKERS = {"pe": "o", "md": "s", "score": "D", "dpe": "^"}
DOTS_PER_INCH = 200
_STYLE: dict[str, Any] = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "figure.dpi": 100,
    "font.size": 8.5,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.5,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "svg.hashsalt": "pengp",
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
}


@contextmanager
def style() -> Iterator[None]:
    """Apply the look of the figures, whatever the user's own settings are."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(cast(Any, _STYLE))
        yield


def panels(
    rows: int, columns: int, size: tuple[float, float], **options: Any
) -> tuple[Figure, Any]:
    """Return a new figure of a size in inches and its axes [rows, columns]."""
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def letter(ax: Axes, k: int, title: str) -> None:
    """Title the k-th panel: its letter and what it shows."""
    ax.set_title(f"({chr(ord('a') + k)}) {title}", loc="left")


def spread(n: int) -> FloatArray:
    """Return n offsets [n] in (-1, 1) that scatter points evenly and always the same way."""
    golden = 0.5 * (np.sqrt(5.0) - 1.0)
    return 2.0 * ((np.arange(n) + 0.5) * golden % 1.0) - 1.0


def settle(figure: Figure) -> None:
    """Lay a figure out once, for all images that are made of it."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


def image(figure: Figure, kind: str) -> bytes:
    """Return a figure as "svg" or "png", without a date or the name of a program's version."""
    target = io.BytesIO()
    nothing = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}[kind]
    figure.savefig(target, format=kind, dpi=DOTS_PER_INCH, metadata=nothing, facecolor="white")
    return target.getvalue()
