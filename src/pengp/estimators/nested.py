"""The surrogate at the end of a scikit-learn pipeline or inside a transformed target."""

import copy
from typing import Any

import numpy as np


def surrogate_in(estimator: Any) -> Any:
    """Return the estimator that a Pipeline ends in or a TransformedTargetRegressor holds.

    Inputs and response are then as that estimator was given them, after the steps before it; a
    step that says what it calls its columns gives the inputs their names. Anything else is returned
    as it is.
    """
    if hasattr(estimator, "regressor_"):
        return surrogate_in(estimator.regressor_)
    steps = getattr(estimator, "steps", None)
    if not steps:
        return estimator
    last = surrogate_in(steps[-1][1])
    names = None if hasattr(last, "feature_names_in_") else _names_after(estimator[:-1])
    if names is None or len(names) != getattr(last, "n_features_in_", None):
        return last
    named = copy.copy(last)
    named.feature_names_in_ = names
    return named


def _names_after(steps: Any) -> Any:
    """Return what the last of these steps calls its columns, None if nobody named them."""
    if not hasattr(steps, "feature_names_in_"):
        return None
    try:
        return np.asarray(steps.get_feature_names_out(), dtype=object)
    except (AttributeError, ValueError):  # a step that knows no names
        return None
