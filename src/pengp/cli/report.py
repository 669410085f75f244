"""The command `pengp report`: a model as a page to look at and to hand on."""

from pathlib import Path
from typing import Annotated

import typer

from pengp.cli.options import ModelFile
from pengp.cli.printing import paragraph, show, show_json
from pengp.cli.waiting import working


def report(
    model: ModelFile,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Page to write, .html, or .pdf where there is a Chromium to print it.",
            show_default="the model's name with .html, in this directory",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Write a report on a model: one HTML page that needs no network."""
    from pengp.cli.files import check_report
    from pengp.persistence import load, read_info

    place = output or Path(f"{model.stem}.html")
    check_report(place, model)
    about, fitted = read_info(model), load(model)
    from pengp.report import write_report

    with working("Writing the report ...", quiet=as_json):
        told = write_report(fitted, place, info=about["info"])
    if as_json:
        show_json({"report": str(place), "bytes": place.stat().st_size, "beside": told})
    else:
        show("".join(f"{paragraph(line)}\n" for line in (f"Report written to {place}", *told)))
