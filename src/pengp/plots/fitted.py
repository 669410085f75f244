"""What displays ask of a fitted model's view: its table of folds, and where to cut through it."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from pengp._core.arrays import FloatArray, as_floats
from pengp._core.checks import check_number
from pengp.choosing.crossval import CVTable
from pengp.estimators import (
    BayesianGPRegressor,
    PenalizedGPRegressor,
    PenalizedGPRegressorCV,
)
from pengp.estimators.view import FittedView
from pengp.exceptions import InputError

#: What a display is made from: a fitted estimator, or a view of one output.
Estimator: TypeAlias = (
    BayesianGPRegressor | PenalizedGPRegressor | PenalizedGPRegressorCV | FittedView
)
#: A point of the input space: values by name, the others in the middle, or all d of them.
Point: TypeAlias = Mapping[str, float] | ArrayLike | None

#: Points along a line, and along a side of a square, at which a model may be asked.
MOST_ON_LINE, MOST_ON_SIDE = 100_000, 1_000
#: The largest number.
_LARGEST = float(np.finfo(np.float64).max)


def table_of(view: FittedView) -> CVTable:
    """Return the table of folds, or say why there is none."""
    if view.table is not None:
        return view.table
    view.check_penalized()
    if view.is_selected:
        raise InputError(
            f"{view.response} was not cross-validated, because it is constant or has too "
            "few runs; this display needs the table of folds, cv_table_."
        )
    raise InputError(
        f"this display needs the table of folds, cv_table_, which a "
        f"{type(view.estimator).__name__} does not have; fit a PenalizedGPRegressorCV."
    )


def varying_index(view: FittedView, which: int | str) -> int:
    """Return the number of an input along which the surrogate can be drawn."""
    p = view.input_index(which)
    low, high = view.ranges
    if low[p] == high[p]:
        raise InputError(
            f"input {view.names[p]!r} has the same value, {low[p]:g}, in all runs; "
            "choose an input that varies."
        )
    return p


def most_active(view: FittedView, count: int) -> list[int]:
    """Return the numbers of the varying inputs that matter most, in column order."""
    low, high = view.ranges
    varying = np.flatnonzero((low < high) & ~view.constant)
    if len(varying) < count:
        raise InputError(
            f"this display needs {count} inputs that vary, but there is {len(varying)}."
        )
    order = np.argsort(-view.importance[varying], kind="stable")
    return sorted(varying[order[:count]].tolist())


def point_at(view: FittedView, at: Point) -> FloatArray:
    """Return the point [d] that a caller describes; by default the middle of the runs."""
    middle = view.middle
    if at is None:
        return middle
    if isinstance(at, Mapping):
        for name, value in at.items():
            middle[view.input_index(name)] = check_number(
                value, f"at[{name!r}]", -_LARGEST, _LARGEST
            )
    else:
        middle = as_floats(at, "at")
    if middle.shape != view.X.shape[1:] or not np.isfinite(middle).all():
        raise InputError(
            f"at must be finite values by name of input, or all {view.X.shape[1]} of them."
        )
    return middle


def distance_from(view: FittedView, at: FloatArray, free: Sequence[int]) -> FloatArray:
    """Return how far each run [n] is from the slice through ``at`` [d]: 0 on it, up to 1.

    1 - r^2 with r the correlation of the run and its projection onto the slice: the share of
    the response's variance at the run that is left when it is known at the projection; of an
    average, the mean of r^2 over its processes. Inputs that do not matter do not count.
    """
    scale = view.estimator._surrogate.scale
    steps = (scale(view.X) - scale(at[None]))[None]
    steps[..., list(free)] = 0.0
    known = np.zeros(len(view.X))
    for kernel, theta, weight in view.processes:
        shape = len(theta), *steps.shape[1:]
        origin = np.zeros((len(theta), 1, len(at)))
        r = kernel.pairwise(np.broadcast_to(steps, shape), origin, theta)[..., 0]
        known += weight @ r**2
    return np.maximum(1.0 - known, 0.0)
