"""Records that a prompt shows in one line, and a notebook as a table as well."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from html import escape
from itertools import groupby
from numbers import Real
from typing import Any, TypeVar

import numpy as np

Record = TypeVar("Record")

#: Letters from which on a text is not shown among the fields.
_LONG = 40


class Shown:
    """A record that says in one line what it holds; a dataclass needs ``repr=False`` beside it."""

    def _in_short(self) -> str:
        """Return what stands between the brackets: by default the fields, arrays by their shape."""
        return ", ".join(_fields_in_short(self))

    def _rows(self) -> Iterable[Mapping[str, Any]]:
        """Return the rows of the table, alike in their keys; by default there is none."""
        return ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._in_short()})"

    def _repr_html_(self) -> str:
        """Return the line and the table for notebooks."""
        return f"<p>{escape(repr(self))}</p>{_table(list(self._rows()))}"


def shown(record: type[Record]) -> type[Record]:
    """Show a named tuple, which cannot derive from `Shown`, as `Shown` does."""
    for name in ("_in_short", "_rows", "__repr__", "_repr_html_"):
        if name == "__repr__" or name not in vars(record):
            setattr(record, name, vars(Shown)[name])
    return record


def _fields_in_short(record: Any) -> Iterator[str]:
    """Yield name=value, or names and the shape that their arrays share."""
    names = getattr(record, "_fields", None) or [f.name for f in fields(record) if f.repr]
    kinds = [(name, _kind(getattr(record, name))) for name in names]
    for (kind, is_value), group in groupby(kinds, key=lambda pair: pair[1]):
        members = [name for name, _ in group]
        if is_value:
            yield from (f"{name}={kind}" for name in members)
        else:
            yield f"{', '.join(members)} {kind}"


def _kind(value: Any) -> tuple[str, bool]:
    """Return a short value and True, or what kind of value it is and False."""
    if isinstance(value, np.ndarray):
        if value.ndim:
            return str(list(value.shape)), False
        value = value.item()
    if isinstance(value, bool | np.bool | str | None):
        return repr(value) if len(str(value)) < _LONG else "...", True
    if isinstance(value, Real):
        return f"{float(value):.4g}", True
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return f"[{len(value)}]", False
    return type(value).__name__, False


def named(names: Iterable[str], values: Iterable[Any]) -> dict[str, Any]:
    """Return a row's cells by name."""
    return dict(zip(names, values, strict=True))


def _table(rows: list[Mapping[str, Any]]) -> str:
    """Return rows as a table, numbers to four digits."""
    if not rows:
        return ""
    head = "".join(f"<th>{escape(str(name))}</th>" for name in rows[0])
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(_cell(value))}</td>' for value in row.values())}</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    return f"{float(value):.4g}" if isinstance(value, Real) else str(value)
