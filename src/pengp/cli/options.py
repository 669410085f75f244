"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="Model file from pengp fit.")]

InputsOption = Annotated[
    str | None,
    typer.Option(
        "--inputs",
        "-x",
        metavar="A,B,...",
        help="Columns that are the inputs.",
        show_default="all others",
    ),
]

LevelOption = Annotated[
    float, typer.Option("--level", help="Probability that an interval is to hold the response.")
]

TableOption = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Table to write, .csv, .tsv, .parquet or .xlsx; - for CSV on stdout.",
    ),
]

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]

JsonOfOneOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]

JsonSummaryOption = Annotated[
    bool, typer.Option("--json", help="Print a summary as JSON; goes with --output.")
]
