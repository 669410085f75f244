"""Whole numbers and factors on the command line: ``--integer x4``, ``--factor material``."""

import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pengp.cli.headers import unknown_column
from pengp.cli.printing import note, number
from pengp.exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd

    from pengp._core.arrays import FloatArray
    from pengp.cli.runs import Runs
    from pengp.cli.tables import Table
    from pengp.estimators.view import FittedView
    from pengp.model.levels import Levels

#: Values of an input that may be whole numbers by nature, if there are so few.
_FEW_VALUES = 10

IntegerOption = Annotated[
    list[str] | None,
    typer.Option(
        "--integer",
        metavar="NAME",
        help="Input that takes whole numbers only; may be repeated.",
    ),
]
FactorOption = Annotated[
    list[str] | None,
    typer.Option(
        "--factor",
        metavar="NAME",
        help="Input whose values, texts or numbers, have no order; may be repeated.",
    ),
]


def find_levels(
    table: "Table", factors: Sequence[str], names: Sequence[str]
) -> "dict[str, Levels]":
    """Return the levels that factors take in a table whose inputs have these names."""
    from pengp.estimators.factors import levels_of
    from pengp.model.levels import Levels

    found = {}
    for name in factors:
        if name not in names:
            raise unknown_column(name, names, table.source)
        if table.is_text(name):
            found[name] = levels_of(sorted(set(_texts(table, name))))
        else:
            values = sorted(set(table.numbers([name])[name].tolist()))
            found[name] = Levels(tuple(f"{value:.15g}" for value in values), tuple(values))
    return found


def read_inputs(
    table: "Table", names: Sequence[str], levels: "Mapping[str, Levels]"
) -> "pd.DataFrame":
    """Return inputs as numbers, in this order: texts that are levels by their values."""
    texts = [name for name in names if name in levels and levels[name].are_texts]
    frame = table.numbers([name for name in names if name not in texts])
    for name in texts:
        frame[name] = _values(table, name, levels[name])
    return frame[list(names)]


def _texts(table: "Table", name: str) -> list[str]:
    """Return the cells of a column of texts, or raise an InputError about one that is empty."""
    cells = table.raw([name])[name]
    found = ["" if cell is None else str(cell).strip() for cell in cells]
    if "" in found:
        raise InputError(
            f"{table.source}: row {cells.index[found.index('')]}, column {name!r} is empty (rows "
            "are counted from 1 below the header); fill it in or delete that row."
        )
    return found


def _values(table: "Table", name: str, levels: "Levels") -> list[float]:
    """Return the values of the levels in a column, or raise an InputError about an unknown one."""
    known, found = dict(zip(levels.labels, levels.values, strict=True)), _texts(table, name)
    for row, text in zip(table.rows, found, strict=True):
        if text not in known:
            raise InputError(
                f"{table.source}: row {row}, column {name!r} holds {text!r}, which is none of its "
                f"levels {levels.listed} (rows are counted from 1 below the header); correct it, "
                "or fit a model with runs of that level."
            )
    return [known[text] for text in found]


def levels_in(view: "FittedView") -> "dict[str, Levels]":
    """Return the levels of a model's factors, by name."""
    from pengp.model.levels import levels_among

    return {view.names[p]: found for p, found in levels_among(view.input_transforms).items()}


def level_settings(runs: "Runs", integers: Sequence[str]) -> dict[str, Any]:
    """Return the estimators' parameters integer_inputs and factors."""
    for name in integers:
        if name not in runs.names:
            raise unknown_column(name, runs.names, runs.source)
        values = runs.X[name].to_numpy()
        fraction = values != values.round()
        if fraction.any():
            i = int(fraction.argmax())
            raise InputError(
                f"{runs.source}: row {runs.X.index[i]}, column {name!r} holds {values[i]:g}, which "
                "is no whole number (rows are counted from 1 below the header); correct that row, "
                f"or leave out --integer {shlex.quote(name)}."
            )
    factors = {
        name: list(levels.labels if levels.are_texts else levels.values)
        for name, levels in runs.levels.items()
    }
    return {"integer_inputs": list(integers) or None, "factors": factors or None}


def note_whole(runs: "Runs", integers: Sequence[str]) -> None:
    """Say which inputs take a few whole numbers in a row and no other, though nobody told."""
    found = []
    for name in runs.names:
        values = runs.X[name].unique()
        few = 2 <= len(values) <= min(_FEW_VALUES, len(runs.X) // 2)
        in_a_row = values.max() - values.min() == len(values) - 1
        if (
            name not in (*integers, *runs.levels)
            and few
            and in_a_row
            and (values == values.round()).all()
        ):
            found.append(name)
    if found:
        options = " ".join(f"--integer {shlex.quote(name)}" for name in found)
        takes = "takes" if len(found) == 1 else "take"
        note(
            f"{', '.join(found)} {takes} few whole numbers and nothing in between; if nothing else "
            f"is possible, say so: {options}"
        )


def extent(view: "FittedView", p: int) -> str:
    """Return the range of input p in the runs, or how many levels it has."""
    from pengp.model.levels import Integer, Levels

    transform, values = view.input_transforms[p], view.X[:, p]
    if isinstance(transform, Levels):
        count = len(transform.labels)
        return f"{count} level{'s' * (count > 1)}: {transform.listed}"
    whole = ", whole numbers" if isinstance(transform, Integer) else ""
    return f"{number(values.min())} to {number(values.max())}{whole}"


def read_levels(options: Sequence[str], taken: Collection[str]) -> dict[str, list[str]]:
    """Return the levels that ``NAME=A,B,...`` lists, by name; ``taken`` are those with ranges."""
    found: dict[str, list[str]] = {}
    for option in options:
        name, _, texts = option.partition("=")
        labels = [label.strip() for label in texts.split(",")]
        if not name.strip() or len(labels) < 2 or "" in labels or len(set(labels)) < len(labels):
            raise InputError(
                f"--factor {option}: write NAME=A,B,... with two levels or more, each once."
            )
        if name.strip() in (*taken, *found):
            raise InputError(f"--factor {option}: {name.strip()!r} is there already.")
        found[name.strip()] = labels
    return found


def check_whole(integers: Sequence[str], ranges: Mapping[str, tuple[float, float]]) -> None:
    """Raise an InputError unless these inputs are there, with whole numbers as ends."""
    for name in integers:
        if name not in ranges:
            raise InputError(
                f"--integer {name}: there is no such input; there are {', '.join(ranges)}."
            )
        if not all(end.is_integer() and abs(end) < 2.0**53 for end in ranges[name]):
            low, high = ranges[name]
            raise InputError(
                f"--integer {name}: its range {low:g} to {high:g} must have whole numbers as ends."
            )


def labels_at(u: "FloatArray", labels: Sequence[str]) -> list[str]:
    """Return a label for each of u [n] between 0 and 1, all equally often if u is even."""
    return [labels[min(int(one * len(labels)), len(labels) - 1)] for one in u]
