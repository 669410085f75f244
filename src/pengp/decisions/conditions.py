"""Conditions such as "x1 + x2 <= 3", read as arithmetic and comparisons, never run as code."""

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pengp._core.arrays import BoolArray, FloatArray
from pengp.decisions.processes import Processes
from pengp.exceptions import InputError
from pengp.model.levels import Levels, levels_among

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
_LIKE, _UNLIKE = (ast.Eq, ast.In), (ast.NotEq, ast.NotIn)
"""Comparisons of a factor with levels."""


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
    among : tuple of float, or None
        Values of the one factor that is compared with its levels; None for arithmetic.
    """

    text: str
    tree: ast.Compare
    names: tuple[str, ...]
    quoted: Mapping[str, str]
    among: tuple[float, ...] | None = None

    def holds(self, X_raw: FloatArray) -> BoolArray:
        """Tell which rows of X_raw [m, d], in the user's units, satisfy it; nan never does."""
        columns = dict(zip(self.names, X_raw.T, strict=True))
        if self.among is not None:
            one = np.isin(self._value(self.tree.left, columns), self.among)
            return ~one if isinstance(self.tree.ops[0], _UNLIKE) else one
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


def levels_by_name(processes: Processes) -> dict[str, Levels]:
    """Return the levels of the inputs that are factors, by name."""
    return {processes.names[p]: one for p, one in levels_among(processes.transforms).items()}


def parse_condition(
    text: str, names: Sequence[str], levels: Mapping[str, Levels] | None = None
) -> Condition:
    """Read a comparison of arithmetic in the names of the inputs, or of a factor with its levels.

    Numbers, names, ``+ - * / **``, parentheses and ``< <= > >=`` are allowed, nothing else. A name
    that is no Python name, such as one with a blank, stands in backquotes: `` `pin offset` < 1 ``.
    A factor is compared by ``==``, ``!=``, ``in`` or ``not in``: ``material in (steel, brass)``.

    Parameters
    ----------
    text : str
        The condition.
    names : sequence of d strings
        Of the inputs.
    levels : mapping, optional
        Levels of the inputs that are factors, by name.
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
    factors = levels or {}
    named = [quoted.get(n.id, n.id) for n in ast.walk(tree) if isinstance(n, ast.Name)]
    factor = next((name for name in named if name in factors), None)
    if factor is not None:
        among = _levels_named(tree, text, factor, factors[factor], quoted)
        return Condition(text, tree, tuple(names), quoted, among)
    for node in (tree.left, *tree.comparators):
        _check(node, text, {*names, *quoted})
    if not all(type(sign) in _COMPARISONS for sign in tree.ops):
        raise _wrong(text, "inputs can be compared by <, <=, > and >= only")
    return Condition(text, tree, tuple(names), quoted)


def _levels_named(
    tree: ast.Compare, text: str, factor: str, levels: Levels, quoted: Mapping[str, str]
) -> tuple[float, ...]:
    """Return the values of the levels that a factor is compared with."""
    left, sign = tree.left, tree.ops[0]
    first = isinstance(left, ast.Name) and quoted.get(left.id, left.id) == factor
    if not first or len(tree.ops) > 1 or not isinstance(sign, (*_LIKE, *_UNLIKE)):
        raise InputError(
            f"{factor} in the condition {text!r} has levels, which have no order; write "
            f"{factor} == {levels.labels[0]}, or != or in, and other conditions by themselves."
        )
    right = tree.comparators[0]
    several = isinstance(sign, ast.In | ast.NotIn) and isinstance(
        right, ast.Tuple | ast.List | ast.Set
    )
    parts = right.elts if several else [right]  # type: ignore[attr-defined]
    of_label = dict(zip(levels.labels, levels.values, strict=True))
    found = []
    for part in parts:
        label = part.id if isinstance(part, ast.Name) else getattr(part, "value", None)
        label = f"{label:.15g}" if isinstance(label, int | float) else str(label)
        if label not in of_label:
            raise InputError(
                f"the condition {text!r} names {ast.unparse(part)[:40]!r}, which is none of the "
                f"levels of {factor}: {levels.listed}."
            )
        found.append(of_label[label])
    return tuple(found)


def parse_conditions(
    where: Any, names: Sequence[str], levels: Mapping[str, Levels]
) -> list[Condition]:
    """Return the conditions of one text or of a sequence of texts; see `parse_condition`."""
    texts = [where] if isinstance(where, str) else where
    if not isinstance(texts, Sequence) or not all(isinstance(text, str) for text in texts):
        raise InputError(f"where must be a condition such as 'x1 < 3', or several, not {where!r}.")
    return [parse_condition(text, names, levels) for text in texts]


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
