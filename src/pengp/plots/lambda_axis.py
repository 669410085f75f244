"""The axis of lambda: logarithmic, with 0 on its own at the left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pengp._core.arrays import FloatArray
from pengp._core.checks import check_lams

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Share of the axis between 0 and the smallest positive lambda, and its least length in decades.
_GAP, _LEAST_GAP = 0.14, 0.25
#: Decades beyond which not each has a tick.
_MOST_DECADES = 7


class LambdaAxis(NamedTuple):
    """Where values of lambda go on an axis, and where its ticks are.

    See Also
    --------
    lambda_positions : Makes it.
    """

    positions: FloatArray  # [L], log10 of lambda; 0 left of the smallest positive one
    ticks: FloatArray  # [T]
    labels: tuple[str, ...]  # [T]


def lambda_positions(lams: ArrayLike) -> LambdaAxis:
    """Place values of lambda on a logarithmic axis that also has room for 0.

    Parameters
    ----------
    lams : [L]
        Values of lambda, each at least 0, in any order.

    Returns
    -------
    LambdaAxis
        positions [L] on a plain (linear) axis: log10(lambda), and for 0 a place to the left of
        all others; ticks [T] on that axis; their labels [T], of which the one at 0 is "0".

    Examples
    --------
    >>> from pengp.plots import lambda_positions
    >>> axis = lambda_positions([0.0, 0.01, 1.0])
    >>> axis.positions.round(2), axis.labels
    (array([-2.28, -2.  ,  0.  ]), ('0', '0.01', '0.1', '1'))
    """
    lams = check_lams(lams)
    positive = np.unique(lams[lams > 0.0])
    logs = np.log10(positive if len(positive) else [1.0])
    zero = logs[0] - max(_GAP * (logs[-1] - logs[0]), _LEAST_GAP)
    with np.errstate(divide="ignore"):
        positions = np.where(lams > 0.0, np.log10(lams), zero)
    values = _tick_values(positive)
    ticks, labels = np.log10(values), tuple(f"{value:g}" for value in values)
    if (lams == 0.0).any():
        ticks, labels = np.concatenate([[zero], ticks]), ("0", *labels)
    return LambdaAxis(positions, ticks, labels)


def _tick_values(positive: FloatArray) -> FloatArray:
    """Return round values for ticks inside the range of the positive lams, ascending."""
    if len(positive) < 2:
        return positive
    low, high = np.log10(positive[[0, -1]])
    decades = np.arange(np.floor(low), np.ceil(high) + 1.0)
    every = int(np.ceil((high - low) / _MOST_DECADES))
    for factors in ([1.0], [1.0, 3.0], [1.0, 2.0, 5.0]):
        values = np.outer(10.0 ** decades[decades % every == 0], factors).ravel()
        # A value of the grid may miss the round number by rounding.
        inside = (values > positive[0] * (1 - 1e-9)) & (values < positive[-1] * (1 + 1e-9))
        if inside.sum() >= 3:
            return values[inside]
    return positive[[0, -1]]


def draw_lambda_axis(ax: Axes, axis: LambdaAxis) -> None:
    """Put the ticks on the axes, and a break behind a 0 that stands beside other values."""
    ax.set_xticks(axis.ticks, axis.labels)
    ax.set_xlabel(r"$\lambda$")
    others = axis.positions[axis.positions > axis.positions.min()]
    if axis.labels[0] != "0" or not len(others):
        return
    middle = 0.5 * (axis.ticks[0] + others.min())
    apart = 0.012 * (others.max() - axis.ticks[0])
    ax.plot(
        [middle - apart, middle + apart],
        [0.0, 0.0],
        transform=ax.get_xaxis_transform(),
        clip_on=False,
        linestyle="none",
        marker=[(-0.5, -1.0), (0.5, 1.0)],
        markersize=6,
        color="black",
        markeredgewidth=0.8,
    )


def draw_lambda_line(
    ax: Axes, lams: FloatArray, values: FloatArray, label: str | None, **style: Any
) -> None:
    """Draw values [L] against ascending lams [L]; the value at 0 is a point of its own."""
    positions, zero = lambda_positions(lams).positions, lams == 0.0
    point = {"marker": "o", "markersize": 4, **style, "linestyle": "none", "markevery": 1}
    if (~zero).sum() > 1:
        ax.plot(positions[~zero], values[~zero], label=label, **style)
        ax.plot(positions[zero], values[zero], **point)
    else:
        ax.plot(positions, values, label=label, **point)
