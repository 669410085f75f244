"""The command `pengp predict`: predictions and intervals for the rows of a table."""

import contextlib
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from pengp.cli.files import same_file
from pengp.cli.levels import levels_in, read_inputs
from pengp.cli.models import (
    Extrapolation,
    check_inputs,
    check_level,
    interval_all,
    open_model,
    other_choice,
    predict_all,
)
from pengp.cli.options import JsonSummaryOption, LevelOption, ModelFile, TableOption
from pengp.cli.printing import note, paragraph, show, show_json
from pengp.cli.reading import Reading
from pengp.cli.rows import Dialect
from pengp.cli.tables import Table, TableWriter, iter_tables
from pengp.cli.waiting import working
from pengp.exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd

    from pengp.estimators.view import FittedView

#: Rows predicted at a time: the estimators' own block, so that the pieces have the bits of a whole.
CHUNK_ROWS = 1 << 14
_BINARY = (".parquet", ".pq", ".xlsx")


class Intervals(StrEnum):
    """Where intervals come from."""

    MODEL = "model"
    JACKKNIFE = "jackknife+"


class _Kind(NamedTuple):
    """Which intervals are wanted."""

    level: float
    intervals: str


NewTable = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="Table with the inputs, in any order and among other columns; - for CSV on stdin.",
    ),
]
IntervalsOption = Annotated[
    Intervals,
    typer.Option(
        help="Where intervals come from: the model's own laws, or the errors at runs that were "
        "left out (jackknife+, from 19 runs on for 0.95)."
    ),
]
OtherLambdaOption = Annotated[
    float | None,
    typer.Option(
        "--lambda",
        min=0.0,
        help="Predict at another lambda that was tried, the nearest one; for models of "
        "--method penalized.",
    ),
]
ModeOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="K",
        help="Predict by another explanation, number K of the modes that pengp info lists; for "
        "models of --method penalized.",
    ),
]
KeepOption = Annotated[
    bool,
    typer.Option("--keep/--no-keep", help="Write the columns of the table before predictions."),
]


def predict(
    model: ModelFile,
    new: NewTable,
    *,
    output: TableOption = "-",
    level: LevelOption = 0.95,
    intervals: IntervalsOption = Intervals.MODEL,
    lam: OtherLambdaOption = None,
    mode: ModeOption = None,
    keep: KeepOption = True,
    reading: Reading,
    as_json: JsonSummaryOption = False,
) -> None:
    """Predict the response for every row of a table.

    For a response y the new columns are y_mean, y_std, y_lower and y_upper: the prediction, its
    standard deviation and the ends of its interval; outside says whether the row lies outside the
    range of the runs, or the bounds given to fit. Separators, decimal commas and encoding are
    those of the table. Tables of any length are read and written piece by piece.
    """
    check_level(level)
    _check_output(output, model, None if keep else new, as_json=as_json)
    views, kind = other_choice(open_model(model, new), lam, mode), _Kind(level, intervals.value)
    outside = Extrapolation(views[0])
    with contextlib.ExitStack() as stack:
        if output != "-":
            stack.enter_context(working(f"Predicting {new} ...", quiet=as_json))
        writer = stack.enter_context(TableWriter(output))
        tables = stack.enter_context(
            contextlib.closing(iter_tables(new, reading, chunk_rows=CHUNK_ROWS))
        )
        for frame, dialect in _predicted(views, tables, output, kind, keep, outside):
            writer.write(frame, _named(dialect, new, output))
    if sentence := outside.sentence():
        note(sentence)
    if intervals is Intervals.JACKKNIFE:
        note(
            f"jackknife+ intervals cover at least {100 * max(2 * level - 1, 0):.3g} % of new runs "
            "if these and the runs of the fit were drawn at random alike and the fit was repeated "
            f"as a whole; of a design nothing is proved, though {100 * level:.3g} % is about "
            "reached."
        )
    if as_json:
        columns = prediction_columns(views)
        made = {"output": output, "rows": outside.rows, "level": level, "columns": columns}
        made |= {"intervals": intervals.value}
        show_json({**made, "outside": outside.record()})
    elif output != "-":
        show(paragraph(f"{outside.rows:,} predictions written to {output}.") + "\n")


def _check_output(output: str, model: Path, table: str | None, *, as_json: bool) -> None:
    """Raise an InputError if the output would replace the model or a table, or mix with JSON."""
    if output == "-":
        if as_json:
            raise InputError(
                "--json needs --output FILE; without it the predictions go to standard output."
            )
        return
    if same_file(Path(output), model):
        raise InputError(f"--output {output} would replace the model; choose another name.")
    if table is not None and same_file(Path(output), Path(table)):
        raise InputError(f"--output {output} would replace the table; choose another name.")


def prediction_columns(views: "list[FittedView]") -> list[str]:
    """Return the names of the new columns, four for each response, and that of the last one."""
    what = ("mean", "std", "lower", "upper")
    return [*(f"{view.response}_{word}" for view in views for word in what), "outside"]


def _named(dialect: Dialect, new: str, output: str) -> Dialect:
    """Return the dialect to write: tabs of a .tsv file do not go into one with another name."""
    if output == "-" or Path(new).suffix.lower() not in (".tsv", ".tab"):
        return dialect
    return dialect._replace(delimiter=";" if dialect.decimal == "," else ",")


def _predicted(
    views: "list[FittedView]",
    tables: Iterator[Table],
    output: str,
    kind: _Kind,
    keep: bool,
    outside: Extrapolation,
) -> Iterator[tuple["pd.DataFrame", Dialect]]:
    """Yield the rows to write, piece by piece, and how the table was written."""
    import pandas as pd

    dialect, levels = None, levels_in(views[0])
    for table in tables:
        X = read_inputs(table, views[0].names, levels)
        check_inputs(views[0], X, table.source)
        dialect = dialect or table.written()
        predictions = _predictions(views, X, kind).assign(outside=outside.count(X))
        if not keep:
            yield predictions, dialect
            continue
        as_numbers = table.written() != dialect or Path(output).suffix.lower() in _BINARY
        numbers = X[[name for name in X if not (name in levels and levels[name].are_texts)]]
        carried = _carried(table, numbers if as_numbers else None, list(predictions.columns))
        yield pd.concat([carried, predictions], axis=1), dialect


def _predictions(views: "list[FittedView]", X: "pd.DataFrame", kind: _Kind) -> "pd.DataFrame":
    """Return the new columns for the inputs X [m, d]."""
    import numpy as np
    import pandas as pd

    predicted = (*predict_all(views, X), *interval_all(views, X, *kind))
    values = np.stack(predicted, axis=-1).reshape(len(X), -1)
    names = pd.Index(prediction_columns(views)[:-1])
    return pd.DataFrame(values, index=X.index, columns=names)


def _carried(table: Table, numbers: "pd.DataFrame | None", taken: list[str]) -> "pd.DataFrame":
    """Return the table's columns as they were read, but inputs as numbers where given.

    A column whose name is taken by a prediction gets another one.
    """
    frame = table.raw(table.names)
    if numbers is not None:
        for name in numbers:
            frame[name] = numbers[name]
    renamed = {}
    for name in table.names:
        if name in taken:
            renamed[name] = f"{name}_given"
            while renamed[name] in (*table.names, *taken):
                renamed[name] += "_given"
    if renamed and table.first_row == 1:
        pairs = ", ".join(f"{old} is now {new}" for old, new in renamed.items())
        note(f"{table.source} has columns named like the predictions; renamed: {pairs}.")
    return frame.rename(columns=renamed)
