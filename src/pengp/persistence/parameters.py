"""Constructor parameters as JSON: plain values, arrays, and the package's own objects by name."""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from pengp._core.registry import name_of
from pengp.bayes.priors import PRIORS
from pengp.choosing.folds import FoldPlan
from pengp.choosing.metrics import get_metric
from pengp.choosing.rules import get_rule
from pengp.estimators.records import RECORDS
from pengp.exceptions import InputError
from pengp.model.levels import Integer, Levels
from pengp.model.transforms import TRANSFORMS

_TYPES: dict[str, tuple[Any, type]] = {
    "f8": (np.float64, float),
    "i8": (np.int64, int),
    "b1": (np.bool_, bool),
    "text": (object, str),  # one long text must not make the others as long
}

#: The package's own records by kind, which is also the parameter that names one.
_BUILT_IN: dict[str, Mapping[str, Any]] = {
    **{kind: registry.built_in for kind, registry in RECORDS.items()},
    "prior": dict(PRIORS),
    "transform": {**TRANSFORMS.built_in, "integer": Integer(), "levels": Levels()},
}
#: Kinds of parameters that hold records, or several of them, under another name.
_KINDS = {
    "kernels": "kernel",
    "input_transforms": "transform",
    "response_transform": "transform",
    "scale": "transform",
}
#: How functions become records, for parameters of which a file keeps the name.
_LOOK_UP: dict[str, Callable[[Any], Any]] = {"metric": get_metric, "rule": get_rule}
#: Folds of a plan, over all repeats.
_MOST_FOLDS = 20_000


class NotBuiltInError(ValueError):
    """A file names a record that is not the package's own."""


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


def encode_record(kind: str, record: Any) -> str | dict[str, Any]:
    """Return the name of one of the package's kernels, means, transforms, ..., with its settings.

    Penalties have their settings in any case, as files of version 1 have; keyword-only settings
    are left out where they have their defaults.
    """
    name, built_in = name_of(record), _BUILT_IN[kind]
    if name not in built_in or type(record) is not type(built_in[name]):
        raise _refused(kind, record, f"use one of {', '.join(built_in)}")
    pairs = [(f, getattr(record, f.name)) for f in fields(record)]
    kept = {f.name: value for f, value in pairs if not f.kw_only or value != f.default}
    settings = {key: _encode(key, value) for key, value in kept.items()}
    return {"name": name, "settings": settings} if settings or kind == "penalty" else name


def decode_record(kind: str, encoded: Any) -> Any:
    """Return the package's kernel, mean, transform, ... of that name, with these settings."""
    match encoded:
        case str(name):
            settings: dict[str, Any] = {}
        case {"name": str(name), "settings": dict(settings)}:
            pass
        case _:
            raise ValueError(f"the {kind} is not what it should be.")
    cls = type(_built_in(kind, name))
    known = {field.name: field.kw_only for field in fields(cls)}
    if not {name for name in known if not known[name]} <= set(settings) <= set(known):
        raise ValueError(f"the settings of the {kind} are not its own.")
    return cls(**{key: _decode(value, 0) for key, value in settings.items()})


def _built_in(kind: str, name: str) -> Any:
    """Return the package's own record of that name; records of callers are code, not data."""
    known = _BUILT_IN[kind]
    if name not in known:
        raise NotBuiltInError(
            f"the {kind} {name[:40]!r}, which is none of pengp's own ({', '.join(known)})"
        )
    return known[name]


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
    if name in _LOOK_UP and callable(value):
        own, built_in = _LOOK_UP[name](value), _BUILT_IN[name]
        return own if built_in.get(own.name) is own else _free_name(name, own.name)
    if name == "cv" and not isinstance(value, str | FoldPlan):
        is_code = hasattr(value, "split") or isinstance(value, Iterator)
        return plan if is_code and plan is not None else value
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return None
    return value


def _free_name(parameter: str, name: str) -> str:
    """Return the name of the caller's own function, unless it would be taken for another one."""
    if name in _BUILT_IN[parameter]:
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
    if name in _LOOK_UP:
        return {name: value.name}
    kind = _KINDS.get(name, name)
    if isinstance(value, Mapping) and (name in _KINDS or name == "factors"):
        # Kernels map to weights, columns to transforms or levels: one of the two may be a record.
        names = ("", name) if kind in ("transform", "factors") else (name, "")
        pairs = [list(map(_encode, names, pair)) for pair in value.items()]
        return {"pairs": pairs}
    if kind in _BUILT_IN:
        return {kind: encode_record(kind, value)}
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
        case {"pairs": [*pairs]}:
            return {_decode(key, n): _decode(item, n) for key, item in pairs}
        case {"array": [*items], "type": str(kind), "shape": [*shape]}:
            return _decode_array(items, kind, shape)
        case {"folds": dict(record)}:
            return decode_plan(record, n)
        case {"metric": str(name)}:
            return _built_in("metric", name)
        case {"rule": str(name)}:
            return _built_in("rule", name)
        case {"kernel": record}:
            return decode_record("kernel", record)
        case {"penalty": record}:
            return decode_record("penalty", record)
        case {"mean": record}:
            return decode_record("mean", record)
        case {"prior": record}:
            return decode_record("prior", record)
        case {"transform": record}:
            return decode_record("transform", record)
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
