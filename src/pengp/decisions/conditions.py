"""Conditions such as "x1 + x2 <= 3", read as arithmetic and comparisons, never run as code."""

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pengp._core.arrays import BoolArray, FloatArray
from pengp.exceptions import InputError

_LONGEST = 1000
"""Characters of a condition."""

_MOST_PARTS = 200
"""Names, numbers and signs of a condition."""

_ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_SIGNS: dict[type, Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}
_COMPARISONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


@dataclass(frozen=True)
class Condition:
    """A condition on the inputs; made by `parse_condition`.

    Attributes
    ----------
    text : str
        As written.
    tree : ast.Compare
        Comparisons of arithmetic, one after the other, as in ``0 <= x1 - x2 < 3``.
    names : tuple of d strings
        Names of the inputs, in the order of their columns.
    quoted : mapping
        The names that stand for inputs in ``tree``.
    """

    text: str
    tree: ast.Compare
    names: tuple[str, ...]
    quoted: Mapping[str, str]

    def holds(self, X_raw: FloatArray) -> BoolArray:
        """Tell which rows of X_raw [m, d], in the user's units, satisfy it; nan never does."""
        columns = dict(zip(self.names, X_raw.T, strict=True))
        with np.errstate(all="ignore"):
            sides = [self._value(s, columns) for s in (self.tree.left, *self.tree.comparators)]
            met = np.ones(len(X_raw), dtype=bool)
            for sign, left, right in zip(self.tree.ops, sides[:-1], sides[1:], strict=True):
                met &= _COMPARISONS[type(sign)](left, right)
        return met

    def _value(self, node: ast.expr, columns: Mapping[str, FloatArray]) -> Any:
        """Return the value [m], or a number, of arithmetic that `_check` has allowed."""
        match node:
            case ast.Constant(value=float() | int() as value):
                return np.float64(value)
            case ast.Name(id=name):
                return columns[self.quoted.get(name, name)]
            case ast.UnaryOp(op=op, operand=inner):
                return _SIGNS[type(op)](self._value(inner, columns))
            case ast.BinOp(left=left, op=op, right=right):
                pair = self._value(left, columns), self._value(right, columns)
                return _ARITHMETIC[type(op)](*pair)
        raise AssertionError(node)


def parse_condition(text: str, names: Sequence[str]) -> Condition:
    """Read a comparison of arithmetic in the names of the inputs.

    Numbers, names, ``+ - * / **``, parentheses and ``< <= > >=`` are allowed, nothing else. A name
    that is no Python name, such as one with a blank, stands in backquotes: `` `pin offset` < 1 ``.
    """
    if len(text) > _LONGEST:
        raise InputError(f"the condition has {len(text)} characters; {_LONGEST} are allowed.")
    written, quoted = _unquoted(text, names)
    try:
        tree = ast.parse(written.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _wrong(text, "it cannot be read") from None
    if not isinstance(tree, ast.Compare):
        raise _wrong(text, "it compares nothing")
    if sum(1 for _ in ast.walk(tree)) > _MOST_PARTS:
        raise _wrong(text, "it is too long")
    for node in (tree.left, *tree.comparators):
        _check(node, text, {*names, *quoted})
    if not all(type(sign) in _COMPARISONS for sign in tree.ops):
        raise _wrong(text, "inputs can be compared by <, <=, > and >= only")
    return Condition(text, tree, tuple(names), quoted)


def _unquoted(text: str, names: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Return text in which names in backquotes are plain ones, and what those stand for."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        raise _wrong(text, "a backquote is not closed")
    quoted = {}
    for k in range(1, len(parts), 2):
        if parts[k] not in names:
            raise _unknown(text, parts[k], names)
        place = f"_input_{k}"
        while place in names:
            place += "_"
        quoted[place], parts[k] = parts[k], place
    return "".join(parts), quoted


def _check(node: ast.expr, text: str, names: set[str]) -> None:
    """Raise an InputError unless this is arithmetic of numbers and names."""
    match node:
        case ast.Constant(value=bool()):
            raise _wrong(text, f"{node.value!r} is not a number")
        case ast.Constant(value=float() | int()):
            if not np.isfinite(_as_float(node.value)):
                raise _wrong(text, "a number in it is not finite")
        case ast.Name(id=name):
            if name not in names:
                raise _unknown(text, name, sorted(n for n in names if not n.startswith("_input_")))
        case ast.UnaryOp(op=op, operand=inner) if type(op) in _SIGNS:
            _check(inner, text, names)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
            _check(left, text, names)
            _check(right, text, names)
        case _:
            raise _wrong(text, f"{ast.unparse(node)[:40]!r} is not arithmetic")


def _as_float(value: Any) -> float:
    """Return a number as a float, infinite if it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _unknown(text: str, name: str, names: Sequence[str]) -> InputError:
    """Return the error about a name that no input has."""
    return InputError(
        f"the condition {text!r} names {name!r}, but the inputs are: {', '.join(names)}; a name "
        "with blanks or signs stands in backquotes."
    )


def _wrong(text: str, why: str) -> InputError:
    """Return the error about a condition that is none."""
    shown = text if len(text) <= 60 else text[:57] + "..."
    return InputError(
        f"the condition {shown!r} cannot be used, because {why}; write arithmetic and a "
        "comparison, such as x1 + 2 * x2 <= 3."
    )
