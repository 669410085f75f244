"""Records of options: a parameter of a command whose type is a dataclass stands for its fields."""

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that takes the fields of its records, each an option, in their place."""
    parameters = inspect.signature(command).parameters
    records: dict[str, Any] = {
        name: parameter.annotation
        for name, parameter in parameters.items()
        if is_dataclass(parameter.annotation)
    }
    options = [
        option.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in parameters.items()
        for option in (
            inspect.signature(records[name]).parameters.values() if name in records else [parameter]
        )
    ]

    @wraps(command)
    def with_options(**given: Any) -> None:
        for name, record in records.items():
            given[name] = record(**{field.name: given.pop(field.name) for field in fields(record)})
        command(**given)

    with_options.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]  # read by inspect
    return with_options
