"""The figure of the study of methods: every way to fit against maximum likelihood, in halves."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pengp.plots.drawing import BLACK, BLUE, GREY, ORANGE
from pengp.study.figures.style import letter, panels
from pengp.study.methods.catalogue import LABELS
from pengp.study.methods.summary import (
    HALVES,
    by_function,
    by_response,
    function_halves,
    over,
    simulator_halves,
)
from pengp.study.report_rows import MissingRowsError, Rows

_GROUPS: dict[str, Callable[[Rows], pd.DataFrame]] = {
    "test functions": by_function,
    "real simulators": by_response,
}
#: Marker, colour and place beside the line of each half.
_LOOKS = {HALVES[0]: ("o", BLUE, 0.16), HALVES[1]: ("D", ORANGE, -0.16)}


def figure_methods(rows: Rows) -> Figure:
    """Draw CRPS relative to maximum likelihood, and coverage, by method and half."""
    found = {title: table for title, make in _GROUPS.items() if len(table := _table(make, rows))}
    if not found:
        raise MissingRowsError("no rows of methods")
    present = {m for table in found.values() for m in table["method"]}
    methods = [m for m in LABELS if m in present]
    figure, axes = panels(1, 2 * len(found), (4.2 * len(found) + 1.6, 0.27 * len(methods) + 1.4))
    for k, (title, table) in enumerate(found.items()):
        left, right = axes[0, 2 * k], axes[0, 2 * k + 1]
        _draw(left, table, methods, "crps", errors=True)
        _draw(right, table, methods, "coverage", errors=False)
        letter(left, 2 * k, f"CRPS, {title}")
        letter(right, 2 * k + 1, f"coverage, {title}")
        left.set_xlabel("100 log ratio to the MLE")
        left.axvline(0.0, color=GREY, linestyle="--", linewidth=0.9, zorder=0)
        right.set_xlabel("of 95 % intervals")
        right.axvline(0.95, color=GREY, linestyle="--", linewidth=0.9, zorder=0)
    for ax in axes[0, 1:]:
        ax.tick_params(labelleft=False)
    axes[0, 0].legend(loc="upper left")
    return figure


def _table(make: Callable[[Rows], pd.DataFrame], rows: Rows) -> pd.DataFrame:
    """Return means over each half of the problems, below each other; nothing without rows."""
    try:
        table = make(rows)
    except MissingRowsError:
        return pd.DataFrame()
    names: Mapping[str, Sequence[str]] = (
        function_halves() if make is by_function else simulator_halves(table)
    )
    parts = [over(table, names[half]) for half in _LOOKS]
    for half, part in zip(_LOOKS, parts, strict=True):
        part["half"] = half
    return pd.concat(parts, ignore_index=True)


def _draw(
    ax: Axes, table: pd.DataFrame, methods: Sequence[str], score: str, *, errors: bool
) -> None:
    """Draw one point a method and half, with two standard errors either side."""
    for half, (marker, colour, beside) in _LOOKS.items():
        mine = table[table["half"] == half].set_index("method")
        if not len(mine):
            continue
        at = [k for k, method in enumerate(methods) if method in mine.index]
        lines = mine.loc[[methods[k] for k in at]]
        ax.errorbar(
            lines[score],
            -np.array(at, dtype=float) + beside,
            xerr=2.0 * lines[f"{score} SE"] if errors else None,
            fmt=marker,
            color=colour,
            markeredgecolor=BLACK,
            markeredgewidth=0.4,
            markersize=4.5,
            elinewidth=1.0,
            label=half,
        )
    ax.set_yticks(-np.arange(len(methods)), [LABELS[method] for method in methods])
    ax.set_ylim(-len(methods) + 0.4, 0.6)
