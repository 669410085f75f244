"""What the user may say about a table: marks in numbers, the sheet, columns to leave out."""

from pathlib import Path

import openpyxl
import pandas as pd
import pytest

from pengp.cli.reading import Reading
from pengp.cli.tables import iter_tables, read_table
from pengp.exceptions import InputError


def values(path: Path, reading: Reading | None = None) -> list[list[float]]:
    """Return all numbers of a table, row by row."""
    table = read_table(path, reading)
    return table.numbers(table.names).to_numpy().tolist()


def said(path: Path, reading: Reading | None = None) -> str:
    """Return the sentence about a table that is refused."""
    with pytest.raises(InputError) as caught:
        values(path, reading)
    assert str(caught.value).endswith(".")
    assert str(caught.value).count("\n") == 0
    return str(caught.value)


def table(directory: Path, text: str, name: str = "t.csv") -> Path:
    """Write a table."""
    (directory / name).write_text(text)
    return directory / name


# Marks in numbers.


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_a_comma_that_may_stand_between_thousands_is_not_guessed(
    tmp_path: Path, delimiter: str
) -> None:
    path = table(tmp_path, "rpm y\n936 226\n1,113 114\n2,250 87\n".replace(" ", delimiter))
    assert said(path) == (
        "t.csv: row 2, column 'rpm' holds '1,113', which is 1113 or 1.113 (rows are counted from 1 "
        "below the header); say with --thousands , or --decimal , which it is."
    )
    rest = [226.0, 114.0, 87.0]
    for reading, rpm in (
        (Reading(thousands=","), [936.0, 1113.0, 2250.0]),
        (Reading(decimal=","), [936.0, 1.113, 2.25]),
        (Reading(decimal=".", thousands=","), [936.0, 1113.0, 2250.0]),
        (Reading(decimal=",", thousands="."), [936.0, 1.113, 2.25]),
    ):
        assert values(path, reading) == [list(row) for row in zip(rpm, rest, strict=True)]
    assert "row 2, column 'rpm' holds '1,113'; write it without a comma" in said(
        path, Reading(decimal=".")
    )


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_a_point_that_may_stand_between_thousands_is_not_guessed(
    tmp_path: Path, delimiter: str
) -> None:
    path = table(tmp_path, "rpm y\n936 226\n1.113 114\n1.200 50".replace(" ", delimiter))
    assert said(path) == (
        "t.csv: row 2, column 'rpm' holds '1.113', which is 1113 or 1.113 (rows are counted from 1 "
        "below the header); say with --thousands . or --decimal . which it is."
    )
    rest = [226.0, 114.0, 50.0]
    for reading, rpm in (
        (Reading(thousands="."), [936.0, 1113.0, 1200.0]),
        (Reading(decimal="."), [936.0, 1.113, 1.2]),
    ):
        assert values(path, reading) == [list(row) for row in zip(rpm, rest, strict=True)]


@pytest.mark.parametrize(
    "cells",
    [
        ["1.113", "2.250", "3.005"],  # nothing without a point
        ["936", "1.113", "1.25"],
        ["936", "1.113", "0.250"],
        ["936", "1.113", "936.0"],
        ["1500", "1.113", "936"],  # which has no mark between its thousands
        ["12", "1.113", "936"],
        ["0", "1.113", "936"],
        ["100", "133.333", "166.667"],  # steps of a third
        ["100", "1e2", "1.113"],
    ],
)
@pytest.mark.parametrize("witness", ["7", "1.113", "2.250"])
def test_a_point_that_stands_before_decimals_is_never_doubted(
    tmp_path: Path, cells: list[str], witness: str
) -> None:
    path = table(tmp_path, "a;b\n" + "".join(f"{cell};{witness}\n" for cell in cells))
    assert values(path) == [[float(cell), float(witness)] for cell in cells]


def test_a_point_before_decimals_in_another_column_tells(tmp_path: Path) -> None:
    path = table(tmp_path, "rpm;y\n936;0.5\n1.113;114\n")
    assert values(path) == [[936.0, 0.5], [1.113, 114.0]]


@pytest.mark.parametrize(
    "witness", ["0,5", "1,25", "0,125", "1,2345", "-,5", "1,5e3", "12,", "1234,567"]
)
@pytest.mark.parametrize("place", ["before", "after", "other column"])
def test_a_comma_that_stands_before_decimals_somewhere_does_so_everywhere(
    tmp_path: Path, witness: str, place: str
) -> None:
    cells = {"before": [witness, "1,113"], "after": ["1,113", witness]}.get(place, ["1,113"] * 2)
    other = witness if place == "other column" else "7"
    path = table(tmp_path, f"a;b\n{cells[0]};{other}\n{cells[1]};8\n")
    number = float(witness.replace(",", "."))
    known = {"1,113": 1.113, witness: number, "7": 7.0}
    assert values(path) == [[known[cells[0]], known[other]], [known[cells[1]], 8.0]]
    # Also where the column that tells is not asked for, or was met in an earlier piece.
    assert read_table(path).numbers(["a"])["a"].tolist() == [known[cell] for cell in cells]
    if place == "before":
        pieces = iter_tables(path, chunk_rows=1)
        assert [p.numbers(["a"])["a"].tolist() for p in pieces] == [[number], [1.113]]


def test_a_comma_in_a_text_says_nothing_about_numbers(tmp_path: Path) -> None:
    path = table(tmp_path, "note\ta\nnew, 1\t936\n0,5 mm\t1,113\n")
    with pytest.raises(InputError, match=r"which is 1113 or 1\.113"):
        read_table(path).numbers(["a"])


@pytest.mark.parametrize(
    ("cell", "reading", "number"),
    [
        ("1.234.567,5", Reading(thousands="."), 1234567.5),
        ("-1,234.5e2", Reading(thousands=","), -123450.0),
        ("1 234,5", Reading(thousands=" "), 1234.5),
        ("1\u202f234.5", Reading(thousands=" "), 1234.5),
        ("1'234.5", Reading(thousands="'"), 1234.5),
        ("+12,345,678", Reading(thousands=","), 12345678.0),
        ("1234.5", Reading(thousands=","), 1234.5),
        ("1e-3", Reading(thousands=","), 1e-3),
        ("12,5", Reading(thousands=","), None),
        ("1,2345", Reading(thousands=","), None),
        ("1234,567", Reading(thousands=","), None),
        (",123", Reading(thousands=","), None),
        ("0.123,456", Reading(thousands=","), None),
        ("1.5", Reading(decimal=","), None),
        ("1,5", Reading(decimal="."), None),
        ("1 234", Reading(), None),
    ],
)  # fmt: skip
def test_marks_that_are_told_are_the_only_ones(
    tmp_path: Path, cell: str, reading: Reading, number: float | None
) -> None:
    (tmp_path / "t.csv").write_text(f"a\tb\n{cell}\t2\n", encoding="utf-8")
    if number is None:
        assert "row 1, column 'a' holds" in said(tmp_path / "t.csv", reading)
    else:
        assert values(tmp_path / "t.csv", reading) == [[number, 2.0]]


def test_thousands_in_quotes_can_be_told_in_a_table_with_commas(tmp_path: Path) -> None:
    path = table(tmp_path, 'a,b\n"1,113",2.5\n936,0.5\n')
    assert "say with --thousands , or --decimal , what the comma means" in said(path)
    assert values(path, Reading(thousands=",")) == [[1113.0, 2.5], [936.0, 0.5]]


@pytest.mark.parametrize(
    ("decimal", "thousands", "words"),
    [
        ("x", None, "--decimal x: the decimal mark is a point or a comma."),
        (None, "_", "--thousands _: the mark between thousands is"),
        (",", ",", "--decimal , --thousands ,: one mark cannot mean both."),
    ],
)
def test_marks_are_marks(decimal: str | None, thousands: str | None, words: str) -> None:
    with pytest.raises(InputError) as caught:
        Reading(decimal, thousands)
    assert str(caught.value).startswith(words)


# Sheets, titles and columns to leave out.


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A workbook of two sheets, with titles above the names."""
    made = openpyxl.Workbook()
    first = made.active
    assert first is not None
    first.title = "summary"
    for row in (["Pump, series 7"], ["measured", "2024-05-01"], [], ["rpm", "load", "note"],
                [936, 2.5, "ok"], [1113, 3.5, "late"]):  # fmt: skip
        first.append(row)
    second = made.create_sheet("tests")
    for numbers in (["a", "b"], [1, 2], [3, 4.5]):
        second.append(numbers)
    made.save(tmp_path / "b.xlsx")
    return tmp_path / "b.xlsx"


def test_sheets_are_chosen_by_name_or_number(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("tests", "2"):
        assert values(book, Reading(sheet=name)) == [[1.0, 2.0], [3.0, 4.5]]
    assert capsys.readouterr().err == ""
    assert read_table(book).names == ["rpm", "load", "note"]
    assert "b.xlsx has the sheets 'summary', 'tests'; the first is read" in capsys.readouterr().err
    for name in ("3", "0", "Tests"):
        assert said(book, Reading(sheet=name)) == (
            f"b.xlsx has no sheet {name!r}; its sheets are: 'summary', 'tests'."
        )
    path = table(book.parent, "a,b\n1,2\n")
    assert said(path, Reading(sheet="1")).startswith("--sheet goes with Excel files")


def test_titles_above_the_names_are_found_and_told(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = read_table(book, Reading(sheet="1")).numbers(["rpm", "load"])
    assert frame.to_numpy().tolist() == [[936.0, 2.5], [1113.0, 3.5]]
    assert list(frame.index) == [1, 2]
    assert capsys.readouterr().err == (
        "Note: b.xlsx: 2 rows stand above the names of the columns (rpm, load, note) and are not "
        "read.\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "Pump series 7\na;b;c\n1;2,5;3\n4;5;6\n",
        "Pump, series 7\n\na;b;c\n1;2,5;3\n4;5;6\n",
        "Pump, series 7;;\nmade by;me;\na;b;c\n1;2,5;3\n4;5;6\n",
        "Pump series 7,,\na,b,c\n1,2.5,3\n4,5,6\n",
        "Pump; series 7\nof May\na\tb\tc\n1\t2.5\t3\n4\t5\t6\n",
    ],
)
def test_titles_do_not_hide_the_mark_between_columns(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert values(table(tmp_path, text)) == [[1.0, 2.5, 3.0], [4.0, 5.0, 6.0]]
    assert "above the names of the columns (a, b, c)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a\n1\n2\n", ["a"]),
        ("name;b\nx, y;1\n3, z;2\n", ["name", "b"]),
        ("name,kind\nfoo,bar\nbaz,qux\n", ["name", "kind"]),
        ("x,y\nmm,N\n1,2\n", ["x", "y"]),
        ("1,2\n3,4\n", ["1", "2"]),
        ("a,b\n1,2\nx,y\n3,4\n", ["a", "b"]),
    ],
)
def test_the_first_row_is_the_header_of_an_ordinary_table(
    tmp_path: Path, text: str, names: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert read_table(table(tmp_path, text)).names == names
    assert capsys.readouterr().err == ""


def test_ignored_columns_are_as_if_they_were_not_there(tmp_path: Path) -> None:
    path = table(tmp_path, ",a,note,b,note\n0,1,x,2,y\n1,3,x,4,y\n")
    assert "column 1 has no name" in said(path)
    assert "columns 3 and 5 are both named 'note'" in said(path, Reading(ignore=[""]))
    assert values(path, Reading(ignore=["", "note"])) == [[1.0, 2.0], [3.0, 4.0]]
    assert "t.csv has no column 'nite'; did you mean 'note'?" in said(
        path, Reading(ignore=["nite"])
    )
    assert "all columns" in said(path, Reading(ignore=["", "note", "a", "b"]))
    with pytest.raises(InputError, match="'a' is needed; do not give --ignore a"):
        read_table(path, Reading(ignore=["", "note", "a"])).numbers(["a"])


@pytest.mark.parametrize("extension", ["xlsx", "parquet"])
def test_columns_of_every_format_are_ignored(tmp_path: Path, extension: str) -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0], "note": ["x", "y"], "b": [3.0, 4.0]})
    path = tmp_path / f"t.{extension}"
    frame.to_parquet(path) if extension == "parquet" else frame.to_excel(path, index=False)
    assert values(path, Reading(ignore=["note"])) == [[1.0, 3.0], [2.0, 4.0]]
