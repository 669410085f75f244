"""Registries: records by name, which commands, model files, plots and reports read."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

from pengp.exceptions import InputError


class Record(Protocol):
    """What a registry holds."""

    @property
    def name(self) -> str:
        """Key in the registry, choice on the command line and name in a model file."""
        ...

    @property
    def label(self) -> str:
        """What plots and reports call it."""
        ...


R = TypeVar("R", bound=Record)


class Registry(dict[str, R]):
    """Records of one kind by name.

    Attributes
    ----------
    kind : str
        What a record is, which is also the parameter that names one.
    built_in : mapping
        The records that the registry was made with; model files resolve these names alone.
    """

    def __init__(self, kind: str, *records: R) -> None:
        super().__init__((record.name, record) for record in records)
        self.kind = kind
        self.built_in: Mapping[str, R] = MappingProxyType(dict(self))

    def register(self, record: R) -> None:
        """Make a record of your own known by its name; an older one of yours is replaced."""
        if record.name in self.built_in:
            raise InputError(
                f"the {self.kind} {record.name!r} is pengp's own; give yours another name."
            )
        self[record.name] = record

    def look_up(self, name: object, alternative: str) -> R:
        """Return the record of that name, or say which names there are and what else would do."""
        if isinstance(name, str) and name in self:
            return self[name]
        raise InputError(
            f"{self.kind}={name!r} is unknown; use one of {', '.join(self)}, or {alternative}."
        )

    def label(self, setting: Any) -> str:
        """Return what to call a record or function, or the record of that name if it is known."""
        record = self.get(setting, setting) if isinstance(setting, str) else setting
        return str(getattr(record, "label", name_of(record)))


def name_of(setting: Any) -> str:
    """Return the name of a record or a function; a name stands for itself."""
    if isinstance(setting, str):
        return setting
    kind = type(setting).__name__
    return str(getattr(setting, "name", getattr(setting, "__name__", kind)))
