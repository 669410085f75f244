"""Writes the report of a results file: figures, tables, and one page that holds them all."""

import os
import tempfile
from pathlib import Path

import pandas as pd

from pengp._core.files import writing_to
from pengp.study.claims import Judged, judge
from pengp.study.figures.catalogue import FIGURES, draw
from pengp.study.page import Contents, render
from pengp.study.report_rows import Rows
from pengp.study.store import Store
from pengp.study.tables import TABLES, make

_PAGE = "index.html"


def write_report(store_path: str | os.PathLike[str], out_dir: str | os.PathLike[str]) -> Path:
    """Write the report of a results file and return the path of its page.

    Everything is computed from the rows in the file. All files are complete before the first one
    takes its place; those of an earlier report are replaced, or removed where the rows for them
    are missing now, and other files in the directory are left alone.

    Parameters
    ----------
    store_path : path-like
        Results that `pengp study run` wrote.
    out_dir : path-like
        Directory for ``index.html``, ``figures/*.svg``, ``figures/*.png``, ``tables/*.csv``; it is
        made if there is none.

    Returns
    -------
    Path
        Of ``index.html``, which needs none of the other files.

    Examples
    --------
    >>> from pengp.study import Store, get_study, run_studies, write_report
    >>> with Store.open("reported.sqlite", "w") as store:
    ...     done = run_studies([get_study("limits")], store, "tiny")
    >>> write_report("reported.sqlite", "verdicts").name
    'index.html'
    """
    contents = _contents(Path(store_path))
    files = _files(contents)
    target = Path(out_dir)
    with writing_to(target):
        target.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".report-", dir=target) as folder:
            for name, content in files.items():
                (Path(folder) / name).parent.mkdir(exist_ok=True)
                (Path(folder) / name).write_bytes(content)
            for name in files:  # the page is the last
                (target / name).parent.mkdir(exist_ok=True)
                (Path(folder) / name).replace(target / name)
        for name in _names() - files.keys():
            (target / name).unlink(missing_ok=True)
    return target / _PAGE


def _contents(path: Path) -> Contents:
    """Read a results file and work out all that the report says."""
    with Store.open(path) as store:
        rows = Rows(store.rows())
        failures, metadata = store.failures(), store.metadata()
    return Contents(
        rows=rows,
        judged=judge(rows),
        figures=draw(rows),
        tables=make(rows),
        failures=failures,
        metadata=metadata,
        source=path.name,
    )


def _files(contents: Contents) -> dict[str, bytes]:
    """Return the report's files by name, the page last."""
    files: dict[str, bytes] = {}
    for drawn in contents.figures:
        if not drawn.missing:
            files[f"figures/{drawn.figure.name}.svg"] = drawn.svg
            files[f"figures/{drawn.figure.name}.png"] = drawn.png
    for made in contents.tables:
        if made.frame is not None:
            files[f"tables/{made.table.name}.csv"] = _csv(made.frame)
    files["tables/claims.csv"] = _csv(_claims(contents.judged))
    files[_PAGE] = render(contents).encode()
    return files


def _names() -> set[str]:
    """Return the names of all files that a report can have."""
    figures = {f"figures/{figure.name}.{kind}" for figure in FIGURES for kind in ("svg", "png")}
    tables = {f"tables/{table.name}.csv" for table in TABLES}
    return figures | tables | {"tables/claims.csv", _PAGE}


def _claims(judged: list[Judged]) -> pd.DataFrame:
    """Return the claims and verdicts as a table."""
    return pd.DataFrame(
        {
            "claim": claim.id,
            "study": claim.study,
            "where": claim.where,
            "paper": claim.paper,
            "test": claim.test,
            "status": verdict.status,
            "found": verdict.found,
            "details": verdict.details.strip(),
        }
        for claim, verdict in judged
    )


def _csv(frame: pd.DataFrame) -> bytes:
    """Return a table as CSV, numbers in full."""
    return frame.to_csv(index=False, lineterminator="\n").encode()
