"""What is told of a number or a curve: posterior means, ends of intervals, and where they are."""

from typing import NamedTuple

import numpy as np

from pengp._core.arrays import FloatArray
from pengp._core.shown import shown
from pengp.decisions.discrete import FiniteLaw
from pengp.decisions.laws import Line

#: Functions that are drawn at most: `propagate` takes about 1.5 GB for so many.
MOST_DRAWS = 25_000


@shown
class Estimate(NamedTuple):
    """Posterior means and ends of intervals, arrays of one shape.

    See Also
    --------
    effects : Its shares are such.
    propagate : Its moments and quantiles are such.
    """

    mean: FloatArray
    lower: FloatArray
    upper: FloatArray


def estimate_of(draws: FloatArray, level: float) -> Estimate:
    """Return means and central intervals of that level over draws [D, ...]."""
    ends = np.quantile(draws, [0.5 - 0.5 * level, 0.5 + 0.5 * level], axis=0)
    return Estimate(draws.mean(0), ends[0], ends[1])


@shown
class Axis(NamedTuple):
    """Values of one input at which something is told.

    See Also
    --------
    effects : Its curves and surfaces have axes.
    """

    x: FloatArray
    """Values [m], in the input's unit; of levels the values that stand for them."""
    labels: tuple[str, ...] | None
    """What m levels are called; None for numbers."""
    is_finite: bool
    """Whether the input takes these values alone, so that nothing lies between them."""

    @property
    def values(self) -> list[str] | list[float]:
        """The values as a user writes them."""
        return self.x.tolist() if self.labels is None else list(self.labels)


@shown
class Curve(NamedTuple):
    """The mean response given one input, and the ends of its interval.

    See Also
    --------
    effects : Its ``curves`` are such.
    """

    axis: Axis
    mean: FloatArray
    lower: FloatArray
    upper: FloatArray


def axis_of(line: Line, x: FloatArray) -> Axis:
    """Return the axis of values x [m] of the unit cube of an input with this law."""
    law = line.law
    if not isinstance(law, FiniteLaw):
        return Axis(line.scaler.inverse(x[:, None])[:, 0], None, is_finite=False)
    place = np.searchsorted(line.edges, x)
    labels = None if law.labels is None else tuple(law.labels[k] for k in place)
    return Axis(law.values[place], labels, is_finite=True)
