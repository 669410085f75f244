"""Model files and reports as the commands write them: all of them or none."""

import datetime
import errno
import os
import shlex
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pengp._core.files import link_target, replacing, writing_to
from pengp.exceptions import FileError, InputError


def check_destination(path: Path, *inputs: str | Path) -> None:
    """Raise an error, before any work is done, if a file cannot be written or would be lost.

    Parameters
    ----------
    path : Path
        Where a file is to be written.
    inputs : str or Path
        Files that are read and must not be overwritten.
    """
    for other in inputs:
        if same_file(path, Path(other)):
            raise InputError(f"writing {path} would replace {other}; choose another name.")
    with writing_to(path):
        if link_target(path).is_dir():
            raise IsADirectoryError(errno.EISDIR, "is a directory")
        if path.exists() and not path.is_file():
            raise FileError(f"cannot write {path}: it is a device; choose a file.")
        tempfile.TemporaryFile(dir=path.parent).close()


def check_report(path: Path, *inputs: str | Path) -> None:
    """Raise an error, before any work is done, if a report cannot be written; see above."""
    check_destination(path, *inputs)
    if path.suffix.lower() == ".pdf":
        from pengp.report.pdf import chromium

        chromium()


def same_file(path: Path, other: Path) -> bool:
    """Return whether two names mean one file, which need not exist yet."""
    try:
        return path.samefile(other)
    except OSError:  # one of them is not there yet, or a link that leads to itself
        return os.path.realpath(path) == os.path.realpath(other)


def write_model(
    model: Any, info: Mapping[str, Any], path: Path, report: Path | None = None
) -> list[str]:
    """Write a model file and perhaps its report, whose sentences are returned.

    If one fails, neither appears.
    """
    from pengp.persistence import save

    if report is None:
        save(model, path, info=info)
        return []
    from pengp.report import write_report

    with replacing(report) as page:
        try:
            told = write_report(model, page, info=info, pdf=report.suffix.lower() == ".pdf")
        except FileError as error:  # the user knows the report by its own name
            raise FileError(str(error).replace(str(page), str(report))) from error
        save(model, path, info=info)
    return told


def command_line() -> str:
    """Return the command as it was typed."""
    return shlex.join(["pengp", *sys.argv[1:]])


def now() -> str:
    """Return the time in UTC, in ISO's form."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
