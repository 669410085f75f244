"""What surrounds a model: steps of a pipeline that scale inputs, and transforms of the response."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.exceptions import InputError

_LINEAR = 1e-9
"""Difference, relative to the range, up to which a step before the model counts as a scaling."""


def after(first: Any, then: Any) -> Callable[[FloatArray], FloatArray]:
    """Return one map after another, which may be None."""
    return first if then is None else lambda values: then(first(values))


def undoing(model: Any, inner: Any) -> Callable[[FloatArray], FloatArray]:
    """Return the way back from the regressor's response to that of a TransformedTargetRegressor."""

    def undo(values: FloatArray) -> FloatArray:
        flat = np.asarray(values, dtype=np.float64).reshape(-1, 1)
        return np.asarray(model.transformer_.inverse_transform(flat)).reshape(values.shape)

    return undo if inner is None else after(undo, inner)


def before(step: Any, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the ends [d] that a step, which scales each input for itself, takes to these."""
    d = len(lower)
    if getattr(step, "n_features_in_", d) != d:
        raise not_a_scaling()
    origin = _through(step, np.zeros((1, d)))[0]
    slopes = _through(step, np.eye(d)) - origin
    probe = np.random.default_rng(0).standard_normal((5, d))
    straight = np.diagonal(slopes)
    expected = origin + probe * straight
    size = np.abs(expected).max(initial=1.0)
    if np.abs(_through(step, probe) - expected).max() > _LINEAR * size or not straight.all():
        raise not_a_scaling()
    ends = (lower - origin) / straight, (upper - origin) / straight
    if (straight < 0.0).any():
        raise not_a_scaling()
    return ends


def _through(step: Any, X: FloatArray) -> FloatArray:
    """Return a pipeline's first steps applied to X [m, d], whether it has names or not."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        return np.asarray(step.transform(X), dtype=np.float64)


def not_a_scaling() -> InputError:
    """Return the error about steps that mix or bend inputs."""
    return InputError(
        "the steps before the model must scale each input for itself, as StandardScaler does; "
        "apply the others to the runs first, and give the model alone."
    )
