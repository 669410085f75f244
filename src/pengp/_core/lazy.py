"""Names of a package, and whole modules, that are loaded on first use."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any


def lazily(
    namespace: dict[str, Any], homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    namespace : dict
        The package's ``globals()``.
    homes : mapping of str to sequence of str
        For each of the package's modules the public names that live there.
    """
    package = namespace["__name__"]
    home_of = {name: home for home, names in homes.items() for name in names}

    def load(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        namespace[name] = getattr(import_module(f"{package}.{home_of[name]}"), name)
        return namespace[name]

    return load, lambda: sorted({*namespace, *home_of})


def defer(name: str) -> None:
    """Let a module be loaded when something of it is first used, not when it is imported.

    For a process that starts often and needs the module, which others import, seldom. A name that
    is imported *from* the module is a use of it.
    """
    if name in sys.modules:
        return
    stub = ModuleType(name)

    def load(attribute: str) -> Any:
        if sys.modules.get(name) is stub:
            del sys.modules[name]
        return getattr(import_module(name), attribute)

    stub.__dict__["__getattr__"] = load
    sys.modules[name] = stub
