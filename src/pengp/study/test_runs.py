"""Reads the test runs of the piston-slap study."""

import csv
import hashlib
import math
import os
from pathlib import Path

import numpy as np

from pengp.exceptions import FileError, InputError
from pengp.study.task import TestRuns

#: The columns of the published table.
_NAMES = ["x1", "x2", "x3", "x4", "x5", "x6", "noise"]


def read_test_runs(path: str | os.PathLike[str]) -> TestRuns:
    """Read a CSV file with a header line and seven columns: x1 to x6 and the noise in dB."""
    path = Path(path)
    lines = _lines(path)
    if not lines:
        raise FileError(f"the test runs {path} are empty; they need a header and a line per run.")
    (_, header), *runs = lines
    _check_header(header, path)
    if not runs:
        raise FileError(f"the test runs {path} have a header but no runs below it.")
    values = np.array([_numbers(cells, header, line, path) for line, cells in runs])
    return TestRuns(values[:, :-1], values[:, -1])


def digest(runs: TestRuns) -> str:
    """Return a digest of the numbers in test runs, whatever the layout of their file."""
    values = np.column_stack([runs.X, runs.y]).astype("<f8")
    return hashlib.sha256(values.tobytes()).hexdigest()


def _lines(path: Path) -> list[tuple[int, list[str]]]:
    """Return the cells of each line that is not blank, with the number of the line."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file, strict=True)
            return [(reader.line_num, cells) for cells in reader if any(map(str.strip, cells))]
    except OSError as error:
        raise FileError(f"cannot read the test runs {path}: {error.strerror or error}.") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileError(f"the test runs {path} are not a CSV text file: {error}.") from error


def _check_header(header: list[str], path: Path) -> None:
    """Raise unless a header names seven columns, in the order of the training runs if it can."""
    if len(header) != len(_NAMES):
        raise InputError(
            f"the test runs {path} have {len(header)} columns; they need {len(_NAMES)}: "
            "six inputs and the noise, separated by commas."
        )
    if all(_is_number(name) for name in header):
        raise InputError(
            f"the test runs {path} have no header; the first line has to name the columns."
        )
    names = [name.strip().lower() for name in header]
    if names != _NAMES and sorted(names) == sorted(_NAMES):
        raise InputError(
            f"the columns of the test runs {path} are in another order than those of the training "
            f"runs, which is {', '.join(_NAMES)}."
        )


def _numbers(cells: list[str], header: list[str], line: int, path: Path) -> list[float]:
    """Return the numbers of a line."""
    if len(cells) != len(header):
        raise InputError(
            f"line {line} of the test runs {path} has {len(cells)} columns, the header "
            f"{len(header)}; correct that line."
        )
    for name, cell in zip(header, cells, strict=True):
        if not _is_number(cell) or not math.isfinite(float(cell)):
            raise InputError(
                f"line {line}, column {name.strip()!r} of the test runs {path} is {cell!r}, "
                "which is not a finite number; correct that line."
            )
    return [float(cell) for cell in cells]


def _is_number(text: str) -> bool:
    """Return whether a text is a number; 5_5, which Python reads as 55, is none."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text
