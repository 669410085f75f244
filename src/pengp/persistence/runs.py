"""The runs of a model file, their scaling and the names of the inputs, for every estimator."""

from typing import Any

import numpy as np

from pengp.estimators.base import SurrogateMixin
from pengp.estimators.surrogate import Surrogate
from pengp.model.scaling import InputScaler, ResponseScaler
from pengp.persistence.container import Arrays


def to_header(model: SurrogateMixin) -> dict[str, Any]:
    """Return the entries of the header."""
    names = model._names()
    return {
        "input_names": None if names is None else [str(name) for name in names],
        "one_output": model._one_output,
    }


def to_arrays(model: SurrogateMixin) -> Arrays:
    """Return the arrays `RUNS` of the schema."""
    surrogate = model._surrogate
    return {
        "inputs": model.X_train_,
        "responses": surrogate.y_raw,
        "scaled_inputs": surrogate.posteriors[0].X,
        "input_lower": surrogate.inputs.lower,
        "input_upper": surrogate.inputs.upper,
        "input_constant": surrogate.inputs.constant,
        "response_mean": surrogate.response.mean,
        "response_sd": surrogate.response.sd,
        "response_constant": surrogate.response.constant,
    }


def restore(estimator: Any, header: dict[str, Any], arrays: Arrays) -> None:
    """Set the runs, the number of inputs and, if they have some, their names."""
    y_raw, d, names = arrays["responses"], len(arrays["input_lower"]), header["input_names"]
    estimator._one_output, estimator.n_features_in_ = header["one_output"], d
    estimator.X_train_ = arrays["inputs"]
    estimator.y_train_ = y_raw[:, 0] if header["one_output"] else y_raw
    if names is None:
        return
    if [type(name) for name in names] != [str] * d:
        raise ValueError("each input needs a name.")
    estimator.feature_names_in_ = np.array(names, dtype=object)


def surrogate(posteriors: tuple[Any, ...], arrays: Arrays) -> Surrogate[Any]:
    """Return the surrogate of all outputs."""
    inputs = InputScaler(arrays["input_lower"], arrays["input_upper"], arrays["input_constant"])
    response = ResponseScaler(
        arrays["response_mean"], arrays["response_sd"], arrays["response_constant"]
    )
    return Surrogate(inputs, response, posteriors, arrays["responses"])
