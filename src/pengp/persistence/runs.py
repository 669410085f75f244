"""The runs of a model file, their scaling and the names of the inputs, for every estimator."""

from typing import Any

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.bayes.mixture import ProcessMixture
from pengp.estimators.base import SurrogateMixin
from pengp.estimators.surrogate import Surrogate
from pengp.model.kernels import Kernel
from pengp.model.levels import levels_among
from pengp.model.posterior import Posterior
from pengp.model.scaling import InputScaler, ResponseScaler, Transforms
from pengp.persistence.container import Arrays
from pengp.persistence.parameters import decode_record, encode_record


def to_header(model: SurrogateMixin) -> dict[str, Any]:
    """Return the entries of the header."""
    names, surrogate = model._names(), model._surrogate
    return {
        "input_names": None if names is None else [str(name) for name in names],
        "one_output": model._one_output,
        "transforms": {
            "inputs": _encode(surrogate.inputs.transforms),
            "responses": _encode(surrogate.response.transforms),
        },
    }


def _encode(transforms: Transforms) -> list[Any]:
    """Return the records of transforms; their powers are known."""
    return [encode_record("transform", transform) for transform in transforms]


def _decode(records: Any, size: int, values: FloatArray) -> Transforms:
    """Return the transforms of columns, none or ``size``, in whose domains values [m, size] lie."""
    if not isinstance(records, list) or len(records) not in (0, size):
        raise ValueError("each column needs a transform, or none does.")
    transforms = tuple(decode_record("transform", record) for record in records)
    for transform, column in zip(transforms, values.T, strict=False):
        if transform.candidates() != (transform,) or not transform.accepts(column).all():
            raise ValueError("a column is not what its transform needs.")
    return transforms


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


def _kernels(process: Posterior | ProcessMixture) -> list[Kernel]:
    """Return the kernels of a process or of a mixture."""
    if isinstance(process, Posterior):
        return [process.kernel]
    return [member.kernel for member in process.members]


def surrogate(
    posteriors: tuple[Any, ...], header: dict[str, Any], arrays: Arrays
) -> Surrogate[Any]:
    """Return the surrogate of all outputs."""
    lower, upper, y_raw = arrays["input_lower"], arrays["input_upper"], arrays["responses"]
    match header["transforms"]:
        case {"inputs": inputs, "responses": responses}:
            places = np.stack([lower, upper, *arrays["inputs"]])
            of_inputs = _decode(inputs, len(lower), places)
            of_responses = _decode(responses, y_raw.shape[1], y_raw)
        case _:
            raise ValueError("the transforms are not what they should be.")
    if any(transform.has_steps for transform in of_responses):
        raise ValueError("a response has a transform that is for inputs.")
    levels = tuple(levels_among(of_inputs))
    if any(kernel.levels != levels for process in posteriors for kernel in _kernels(process)):
        raise ValueError("the correlations know of other levels than the inputs.")
    constant, mean = arrays["input_constant"], arrays["response_mean"]
    scaler = ResponseScaler(mean, arrays["response_sd"], arrays["response_constant"], of_responses)
    return Surrogate(InputScaler(lower, upper, constant, of_inputs), scaler, posteriors, y_raw)
