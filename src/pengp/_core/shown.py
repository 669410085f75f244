"""Records that a prompt shows in one line, and a notebook as a table as well."""

from collections.abc import Iterable, Mapping
from html import escape
from numbers import Real
from typing import Any


class Shown:
    """A record that says in one line what it holds; a dataclass needs ``repr=False`` beside it."""

    def _in_short(self) -> str:
        """Return what stands between the brackets."""
        raise NotImplementedError

    def _rows(self) -> Iterable[Mapping[str, Any]]:
        """Return the rows of the table, alike in their keys; by default there is none."""
        return ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._in_short()})"

    def _repr_html_(self) -> str:
        """Return the line and the table for notebooks."""
        return f"<p>{escape(repr(self))}</p>{_table(list(self._rows()))}"


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
