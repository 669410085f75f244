"""Tables as people and programs write them, and as they should not: bytes of a file."""

import io
from typing import Any

import pandas as pd
from hypothesis import strategies as st

NAMES = ["x1", "x2", "y", "y", "", " x1 ", "x1", "=1+1", "\x1b[31m", "ü", "a,b", '"', "nan", "1"]
CELLS = [
    *("", " ", "nan", "NaN", "NA", "inf", "-inf", "1e999", "1e-320", "1e308", "-0", "0x10", "TRUE"),
    *("1,5", "1.5", "1,113", "1.113,5", "1 000", "1'000", "1_000", "9" * 400),
    *("\u0663", "\uff11\uff12", "\u00bd"),
    *("=1+1", "@cmd", "+1", "-", "x", "ü", "\x00", "\x1b[2J", '"', '""', "a\nb", "2026-01-31"),
    *("12%", "$5", "1e", ".", "--1", "1;2", "\u2212" + "1", "\u00a05", "True", "None", "None "),
]
ENCODINGS = ["utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252", "utf-32"]


@st.composite
def grids(draw: st.DrawFn) -> list[list[str]]:
    """Return rows of cells, the first with names; most of the cells are numbers."""
    width = draw(st.sampled_from([3, 3, 3, 4, 2, 1]))
    names = draw(st.one_of(*[st.just(["x1", "x2", "y", "note"][:width])] * 4, _row(NAMES, width)))
    numbers = st.floats(-10, 10).map(lambda v: f"{v:.6g}")
    hostile = st.one_of(st.sampled_from(CELLS), st.text(max_size=3))
    rate = draw(st.sampled_from([0, 0, 0, 1, 4]))
    rows = [names]
    for _ in range(9 - draw(st.integers(0, 9))):
        cells = [draw(hostile if draw(st.integers(0, 9)) < rate else numbers) for _ in range(width)]
        if draw(st.integers(0, 29)) == 0:
            cells = cells[: draw(st.integers(0, width))] + ["1"] * draw(st.integers(0, 3))
        rows.append(cells)
    return rows


def _row(pool: list[str], width: int) -> st.SearchStrategy[list[str]]:
    """Return a row of cells from a pool."""
    return st.lists(st.sampled_from(pool), min_size=width, max_size=width)


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, bytes]:
    """Return the ending and the bytes of a text table, in some dialect and encoding."""
    rows = draw(grids())
    if draw(st.booleans()):
        return ".csv", "\n".join(",".join(row) for row in [*rows, []]).encode(errors="replace")
    mark = draw(st.sampled_from([",", ",", ";", "\t", "|", " "]))
    quote = draw(st.booleans())
    cell = (lambda c: '"' + c.replace('"', '""') + '"') if quote else str
    end = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
    text = end.join(mark.join(map(cell, row)) for row in rows)
    text = draw(st.sampled_from(["", "", "\n\n", "# note\n", "sep=;\n"])) + text
    text += draw(st.sampled_from([end, end, "", end * 3, mark * 3]))
    content = text.encode(draw(st.sampled_from(ENCODINGS)), errors="replace")
    cut = draw(st.integers(0, 19))
    content = content[: len(content) // 2] if cut == 0 else content
    content = content + draw(st.binary(max_size=4)) if cut == 1 else content
    return draw(st.sampled_from([".csv", ".csv", ".tsv", ".txt"])), content


@st.composite
def workbooks(draw: st.DrawFn) -> tuple[str, bytes]:
    """Return the ending and the bytes of an Excel table, whose cells may be numbers or texts."""
    from openpyxl.utils.exceptions import IllegalCharacterError

    names, *rows = draw(grids())
    frame = pd.DataFrame(
        [(row + [""] * len(names))[: len(names)] for row in rows], columns=pd.Index(names)
    )
    if draw(st.booleans()):
        frame = frame.map(_as_number)
    buffer = io.BytesIO()
    try:
        frame.to_excel(buffer, index=False, engine="openpyxl")
    except IllegalCharacterError:  # no such workbook can be written
        return ".xlsx", b"PK"
    content = buffer.getvalue()
    if draw(st.integers(0, 9)) == 0:
        at = draw(st.integers(0, len(content) - 1))
        content = content[:at] + draw(st.binary(max_size=3)) + content[at + 2 :]
    return ".xlsx", content


def _as_number(cell: str) -> Any:
    """Return a number where a cell is one."""
    try:
        return float(cell)
    except ValueError:
        return cell
