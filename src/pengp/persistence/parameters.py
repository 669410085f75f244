"""Constructor parameters as JSON: plain values, arrays, and the package's own objects by name."""

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from pengp.choosing.folds import FoldPlan
from pengp.choosing.metrics import FOLD_METRICS, FoldMetric, get_metric
from pengp.choosing.rules import one_se_index
from pengp.exceptions import InputError
from pengp.model.kernels import Kernel, Matern32, Matern52, SquaredExponential
from pengp.path.penalties import SCAD, Lasso, NoPenalty, Penalty, Ridge

_KERNELS: dict[str, type[Kernel]] = {
    "sqexp": SquaredExponential,
    "matern52": Matern52,
    "matern32": Matern32,
}
_PENALTIES: dict[str, Any] = {  # all of them are dataclasses
    "none": NoPenalty,
    "lasso": Lasso,
    "ridge": Ridge,
    "scad": SCAD,
}
_METRICS = ("pe", "md", "score", "dpe", "root_dpe", "scaled_score")
_RULES = ("min", "1se")
_TYPES: dict[str, tuple[Any, type]] = {
    "f8": (np.float64, float),
    "i8": (np.int64, int),
    "b1": (np.bool_, bool),
    "text": (object, str),  # one long text must not make the others as long
}

#: Folds of a plan, over all repeats.
_MOST_FOLDS = 20_000


def checked_json(value: Any, what: str) -> Any:
    """Return the value if it comes back from JSON as it was."""
    try:
        same = json.loads(json.dumps(value, allow_nan=False)) == value
    except (RecursionError, TypeError, ValueError):
        same = False
    if not same:
        raise InputError(
            f"{what} must hold only what JSON can: text, finite numbers, true, false, None, lists, "
            "and dicts with text as keys."
        )
    return value


def encode_kernel(kernel: Any) -> str:
    """Return the name of a kernel of the package."""
    name = str(getattr(kernel, "name", ""))
    if type(kernel) is not _KERNELS.get(name):
        raise _refused("kernel", kernel, f"use one of {', '.join(_KERNELS)}")
    return name


def decode_kernel(name: str) -> Kernel:
    """Return the kernel of that name."""
    return _KERNELS[name]()


def encode_penalty(penalty: Any) -> dict[str, Any]:
    """Return the name and settings of a penalty of the package."""
    name = str(getattr(penalty, "name", ""))
    if type(penalty) is not _PENALTIES.get(name):
        raise _refused("penalty", penalty, f"use one of {', '.join(_PENALTIES)}")
    settings = {key: _encode(key, value) for key, value in asdict(penalty).items()}
    return {"name": name, "settings": settings}


def decode_penalty(record: dict[str, Any]) -> Penalty:
    """Return the penalty of a record."""
    cls = _PENALTIES[record["name"]]
    if set(record["settings"]) != {field.name for field in fields(cls)}:
        raise ValueError("the settings of the penalty are not its own.")
    penalty: Penalty = cls(**{key: _decode(v, 0) for key, v in record["settings"].items()})
    return penalty


def encode_plan(plan: FoldPlan) -> dict[str, Any]:
    """Return the record of a fold plan."""
    if len(plan) > _MOST_FOLDS:
        raise InputError(
            f"the plan has {len(plan):,} folds, more than the {_MOST_FOLDS:,} that a model file "
            "may hold; use fewer repeats."
        )
    return {**plan.to_dict(), "settings": checked_json(plan.settings, "the settings of the folds")}


def decode_plan(record: dict[str, Any], n: int) -> FoldPlan:
    """Return the fold plan of a record, for n runs; its size bounds what it costs to check."""
    if type(record["n"]) is not int or record["n"] != n:
        raise ValueError("the folds are for another number of runs.")
    if len(record["test"]) > _MOST_FOLDS:
        raise ValueError("there are more folds than a model file may hold.")
    return FoldPlan.from_dict(record)


def encode_parameters(parameters: dict[str, Any], n: int, plan: FoldPlan | None) -> dict[str, Any]:
    """Return constructor parameters as JSON.

    Parameters
    ----------
    parameters : dict
        By name, from ``get_params``.
    n : int
        Number of runs in ``fit``.
    plan : FoldPlan, optional
        The folds that were used, which take the place of a splitter.
    """
    encoded = {}
    for name, value in parameters.items():
        kept = _stand_in(name, value, plan)
        if isinstance(kept, FoldPlan) and kept.n != n:
            raise InputError(
                f"the parameter {name} holds folds for {kept.n} runs, but the model was fitted to "
                f"{n}; give it folds for these with set_params."
            )
        encoded[name] = _encode(name, kept)
    return encoded


def decode_parameters(encoded: dict[str, Any], n: int) -> dict[str, Any]:
    """Return constructor parameters from JSON, for a model that was fitted to n runs."""
    return {name: _decode(value, n) for name, value in encoded.items()}


def _stand_in(name: str, value: Any, plan: FoldPlan | None) -> Any:
    """Return what is kept of a parameter: itself, or for code that only ``fit`` needs its trace."""
    if name == "metric" and callable(value):
        own = get_metric(value)
        built_in = own.name in _METRICS and FOLD_METRICS.get(own.name) is value
        return value if built_in else _free_name(name, own.name, _METRICS)
    if name == "rule" and callable(value) and value is not one_se_index:
        return _free_name(name, getattr(value, "__name__", type(value).__name__), _RULES)
    if name == "cv" and not isinstance(value, str | FoldPlan):
        is_code = hasattr(value, "split") or isinstance(value, Iterator)
        return plan if is_code and plan is not None else value
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return None
    return value


def _free_name(parameter: str, name: str, taken: tuple[str, ...]) -> str:
    """Return the name of the caller's own function, unless it would be taken for another one."""
    if name in taken:
        raise InputError(
            f"the {parameter} is a function of your own that is called {name!r} like one of "
            "pengp's, so that its name cannot stand for it in a model file; rename it."
        )
    return name


def _encode(name: str, value: Any) -> Any:
    """Return one parameter as JSON; what JSON does not have is an object with a tag."""
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float and math.isfinite(value):
        return value
    if type(value) in (tuple, list):
        items = [_encode(name, item) for item in value]
        return {"tuple": items} if type(value) is tuple else items
    if isinstance(value, FoldPlan):
        return {"folds": encode_plan(value)}
    if isinstance(value, FoldMetric):
        return {"metric": value.name}
    if value is one_se_index:
        return {"rule": "1se"}
    if name == "kernel":
        return {"kernel": encode_kernel(value)}
    if name == "penalty":
        return {"penalty": encode_penalty(value)}
    return _encode_array(name, value)


def _encode_array(name: str, value: Any) -> dict[str, Any]:
    """Return an array, or a number of NumPy, as JSON."""
    a = np.asarray(value)
    kind = {"f": "f8", "i": "i8", "u": "i8", "b": "b1"}.get(a.dtype.kind, "text")
    is_text = kind == "text" and all(type(item) is str for item in a.ravel().tolist())
    if not hasattr(value, "__array__") or (kind == "text" and not is_text):
        raise _refused(name, value)
    exact = a.astype(_TYPES[kind][0])
    if not np.array_equal(exact, a) or (kind == "f8" and not np.isfinite(exact).all()):
        raise _refused(name, value)
    return {"array": exact.ravel().tolist(), "type": kind, "shape": list(a.shape)}


def _decode(value: Any, n: int) -> Any:
    """Return one parameter from JSON; the reverse of `_encode`."""
    if isinstance(value, list):
        return [_decode(item, n) for item in value]
    match value:
        case {"tuple": [*items]}:
            return tuple(_decode(item, n) for item in items)
        case {"array": [*items], "type": str(kind), "shape": [*shape]}:
            return _decode_array(items, kind, shape)
        case {"folds": dict(record)}:
            return decode_plan(record, n)
        case {"kernel": str(name)}:
            return decode_kernel(name)
        case {"penalty": dict(record)}:
            return decode_penalty(record)
        case {"metric": str(name)} if name in _METRICS:
            return FOLD_METRICS[name]
        case {"rule": "1se"}:
            return one_se_index
        case dict():
            raise ValueError("a parameter is of an unknown kind.")
    return value


def _decode_array(items: list[Any], kind: str, shape: list[Any]) -> Any:
    """Return an array, or a number of NumPy if the shape is empty."""
    dtype, allowed = _TYPES[kind]
    sound = all(type(item) is allowed for item in items)
    if not sound or any(type(size) is not int or size < 0 for size in shape):
        raise ValueError("the array of a parameter is not what it should be.")
    return np.array(items, dtype=dtype).reshape(shape)[()]


def _refused(name: str, value: Any, advice: str = "") -> InputError:
    """Return the error for a parameter that no model file can hold."""
    what = str(value) if isinstance(value, float) else f"a {type(value).__name__}"
    return InputError(
        f"the parameter {name} is {what}, but a model file holds no code, only text and finite "
        f"numbers; {advice or f'set it to a plain value, list or array: set_params({name}=...)'}."
    )
