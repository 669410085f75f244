"""The runs of a model file, their scaling and the names of the inputs, for every estimator."""

from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np

from pengp._core.arrays import FloatArray
from pengp._core.datasets import check_runs, check_values
from pengp.estimators.base import RawRuns, SurrogateMixin
from pengp.estimators.data import TrainingData
from pengp.estimators.surrogate import scale_inputs
from pengp.model.kernels import Kernel
from pengp.model.levels import levels_among
from pengp.model.scaling import InputScaler, ResponseScaler, Transforms
from pengp.persistence.container import Arrays
from pengp.persistence.parameters import decode_record, encode_record


class Runs(NamedTuple):
    """The runs of a file, as an estimator learns them."""

    data: TrainingData  # all of them
    n_fit: int  # how many were in ``fit``, the first ones
    batches: list[int]  # how many were learned together

    @property
    def first(self) -> TrainingData:
        """Those that were conditioned on first."""
        k = self.batches[0]
        data = self.data
        noise_sd = None if data.noise_sd is None else data.noise_sd[:k]
        first = data._replace(
            X_raw=data.X_raw[:k], y_raw=data.y_raw[:k], X=data.X[:k], y=data.y[:, :k]
        )
        return first._replace(noise_sd=noise_sd)

    @property
    def later(self) -> list[RawRuns]:
        """Those of each ``condition_on``, in the user's units."""
        ends, (X, y, sd) = pairwise(accumulate(self.batches)), self._raw
        return [RawRuns(X[i:j], y[i:j], None if sd is None else sd[i:j]) for i, j in ends]

    @property
    def _raw(self) -> RawRuns:
        """All of them, in the user's units."""
        return RawRuns(self.data.X_raw, self.data.y_raw, self.data.noise_sd)

    def check_levels(self, kernels: list[Kernel]) -> None:
        """Raise a ValueError if kernels know of other levels than the inputs."""
        levels = tuple(levels_among(self.data.inputs.transforms))
        if any(kernel.levels != levels for kernel in kernels):
            raise ValueError("the correlations know of other levels than the inputs.")


def to_header(model: SurrogateMixin, n_fit: int) -> dict[str, Any]:
    """Return the entries of the header."""
    names, surrogate = model._names(), model._surrogate
    return {
        "input_names": None if names is None else [str(name) for name in names],
        "one_output": model._one_output,
        "n_fit": n_fit,
        "batches": list(surrogate.batches),
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
    """Return the arrays `RUNS` of the schema, and those of `NOISE` if it is known."""
    surrogate = model._surrogate
    noise: Arrays = {} if surrogate.noise_sd is None else {"noise_sd": surrogate.noise_sd}
    return {
        "inputs": model.X_train_,
        "responses": surrogate.y_raw,
        "input_lower": surrogate.inputs.lower,
        "input_upper": surrogate.inputs.upper,
        **noise,
    }


def checked_n_fit(header: dict[str, Any], n: int) -> int:
    """Return the number of runs in ``fit``, of n in all, once the batches add up."""
    n_fit, batches = header["n_fit"], header["batches"]
    if any(type(count) is not int or count < 1 for count in (n_fit, *batches)):
        raise ValueError("the runs are not counted.")
    if sum(batches) != n or not 2 <= n_fit <= batches[0]:
        raise ValueError("the runs are other ones than those that were learned.")
    return int(n_fit)


def restore(estimator: Any, header: dict[str, Any], d: int) -> None:
    """Set the number of inputs and, if they have some, their names."""
    names = header["input_names"]
    estimator._one_output, estimator.n_features_in_ = header["one_output"], d
    if names is None:
        return
    if [type(name) for name in names] != [str] * d:
        raise ValueError("each input needs a name.")
    estimator.feature_names_in_ = np.array(names, dtype=object)


def decode(header: dict[str, Any], arrays: Arrays) -> Runs:
    """Return the runs, scaled as in ``fit``, from arrays and a header that were checked."""
    X_raw, y_raw, n_fit = arrays["inputs"], arrays["responses"], header["n_fit"]
    check_runs(len(X_raw))
    match header["transforms"]:
        case {"inputs": of_inputs, "responses": of_responses}:
            places = np.stack([arrays["input_lower"], arrays["input_upper"], *X_raw])
            inputs = _decode_inputs(arrays, n_fit, _decode(of_inputs, X_raw.shape[1], places))
            transforms = _decode(of_responses, y_raw.shape[1], y_raw)
        case _:
            raise ValueError("the transforms are not what they should be.")
    if any(transform.has_steps for transform in transforms):
        raise ValueError("a response has a transform that is for inputs.")
    noise_sd = arrays.get("noise_sd")
    in_fit = None if noise_sd is None else noise_sd[:n_fit]
    if in_fit is not None and not in_fit.any():
        raise ValueError("the noise is none.")
    response = ResponseScaler.from_data(y_raw[:n_fit], transforms, in_fit)
    X, y = scale_inputs(inputs, X_raw), np.ascontiguousarray(response.transform(y_raw).T)
    for output in y:
        check_values(X[:n_fit], output[:n_fit], "")
    data = TrainingData(X_raw, y_raw, X, y, inputs, response, noise_sd)
    return Runs(data, n_fit, header["batches"])


def _decode_inputs(arrays: Arrays, n_fit: int, transforms: Transforms) -> InputScaler:
    """Return the scaling of the inputs."""
    low, high, X_raw = arrays["input_lower"], arrays["input_upper"], arrays["inputs"][:n_fit]
    constant = (X_raw == X_raw[0]).all(0)
    if not ((low < high) | ((low == high) & constant)).all():
        raise ValueError("the lower end of an input is not below its upper end.")
    return InputScaler(low, high, constant, transforms)
