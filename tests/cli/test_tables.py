"""Tables: every format reads back to the bits, and every bad cell is named by row and column."""

import contextlib
import errno
import gc
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from pengp.cli.tables import TableWriter, iter_tables, read_table
from pengp.exceptions import FileError, InputError
from tests.cli.commands import tiny_disk

AWKWARD = [0.1, -1 / 3, 1e-300, 1.7976931348623157e308, 5e-324, 123456789.123456789]


def written(directory: Path, content: str | bytes, name: str = "runs.csv") -> Path:
    """Write a file and return its path."""
    path = directory / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def complaint(path: Path, *columns: str) -> str:
    """Return the message about a table that cannot be read as numbers."""
    with pytest.raises(InputError) as caught:
        numbers_of(path, columns)
    return str(caught.value)


def numbers_of(path: Path, columns: Sequence[str] = (), chunk_rows: int = 50) -> pd.DataFrame:
    """Read columns, by default all, as numbers."""
    pieces = iter_tables(path, chunk_rows=chunk_rows)
    return pd.concat([piece.numbers(columns or piece.names) for piece in pieces])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a,b\n1,2.5\n-3e2,4\n", "t.csv"),
        ("a;b\n1;2,5\n-3e2;4\n", "t.csv"),
        ("a;b\n1;2.5\n-3e2;4\n", "t.csv"),
        ("a\tb\n1\t2.5\n-3e2\t4\n", "t.csv"),
        ("a\tb\n1\t2.5\n-3e2\t4\n", "t.tsv"),
        ("a,b\r\n1,2.5\r\n-3e2,4\r\n", "t.csv"),
        ("a,b\r1,2.5\r-3e2,4\r", "t.csv"),
        ("\n\na,b\n1,2.5\n-3e2,4\n\n\n", "t.csv"),
        ('"a","b"\n"1","2.5"\n" -3e2 "," 4"\n', "t.txt"),
        ("a,b\n1,2.5,,\n-3e2,4,\n,\n", "t.csv"),
    ],
    ids=["comma", "decimal-comma", "semicolon", "tab", "tsv", "crlf", "cr", "blank-lines",
         "quoted", "trailing-commas"],
)  # fmt: skip
def test_separated_values_are_read_however_they_are_separated(
    tmp_path: Path, text: str, name: str
) -> None:
    frame = read_table(written(tmp_path, text, name)).numbers(["b", "a"])
    assert list(frame.columns) == ["b", "a"]
    assert frame.to_numpy().tolist() == [[2.5, 1.0], [4.0, -300.0]]
    assert list(frame.index) == [1, 2]


def test_a_name_with_a_delimiter_in_quotes_does_not_mislead(tmp_path: Path) -> None:
    table = read_table(written(tmp_path, '"a;b;c",d\n1,2\n'))
    assert table.names == ["a;b;c", "d"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_column_names_survive_the_encodings_of_spreadsheets(tmp_path: Path, encoding: str) -> None:
    path = written(tmp_path, "Größe µm,y\n1,2\n".encode(encoding))
    assert read_table(path).names == ["Größe µm", "y"]


@pytest.mark.parametrize("extension", ["csv", "tsv", "parquet"])
def test_numbers_read_back_to_the_same_bits_piece_by_piece(tmp_path: Path, extension: str) -> None:
    frame = pd.DataFrame({"a": AWKWARD, "b b": AWKWARD[::-1]})
    with TableWriter(tmp_path / f"t.{extension}") as writer:
        writer.write(frame[:4])
        writer.write(frame[4:])
    pieces = list(iter_tables(tmp_path / f"t.{extension}", chunk_rows=4))
    assert [piece.first_row for piece in pieces] == [1, 5]
    back = pd.concat([piece.numbers(["a", "b b"]) for piece in pieces])
    np.testing.assert_array_equal(back.to_numpy(), frame.to_numpy())
    assert list(back.index) == [1, 2, 3, 4, 5, 6]


def test_excel_files_are_written_and_read(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [1.5, 2.0], "label": ["p", "q"]})
    with TableWriter(tmp_path / "t.xlsx") as writer:
        writer.write(frame[:1])
        writer.write(frame[1:])
    table = read_table(tmp_path / "t.xlsx")
    assert table.numbers(["x"])["x"].tolist() == [1.5, 2.0]
    assert table.raw(["label"])["label"].tolist() == ["p", "q"]
    assert "row 1, column 'label' holds 'p'" in complaint(tmp_path / "t.xlsx", "label")


def test_excel_cells_that_are_no_numbers_are_named(tmp_path: Path) -> None:
    for cell, words in ((None, "is empty"), (True, "holds 'True'"), ("1,5", "holds '1,5'")):
        frame = pd.DataFrame({"x": pd.Series([1.0, cell], dtype=object), "y": [1.0, 2.0]})
        with TableWriter(tmp_path / "t.xlsx") as writer:
            writer.write(frame)
        assert f"t.xlsx: row 2, column 'x' {words}" in complaint(tmp_path / "t.xlsx")


def test_parquet_nulls_are_named_and_a_stored_index_is_no_column(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [1.0, None], "k": pd.array([None, 2], dtype="Int64")}, index=[7, 8])
    frame.to_parquet(tmp_path / "t.parquet", index=True)
    assert read_table(tmp_path / "t.parquet").names == ["x", "k"]
    assert "row 2, column 'x' has no value" in complaint(tmp_path / "t.parquet", "x")
    assert "row 1, column 'k' is empty" in complaint(tmp_path / "t.parquet", "k")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("1,2\n3,\n", "runs.csv: row 2, column 'b' is empty"),
        ("1,2\n,4\n", "row 2, column 'a' is empty"),
        ("1,2\n3,NA\n", "row 2, column 'b' has no value, only 'NA'"),
        ("1,2\n3,nan\n", "row 2, column 'b' has no value, only 'nan'"),
        ("1,2\n3,abc\n", "row 2, column 'b' holds 'abc', which is not a number"),
        ("1,2\n3,-inf\n", "row 2, column 'b' holds '-inf'; only finite numbers"),
        ("1,2\n3,1e999\n", "row 2, column 'b' holds '1e999'; only finite numbers"),
        ("1,2\n3,1_000\n", "row 2, column 'b' holds '1_000', which is not a number"),
        ("1,2\n3,\0\n", "row 2, column 'b' holds '\\x00', which is not a number"),
        ("1,2\n3\n", "row 2 has 1 values, but the header names 2 columns"),
        ("1,2\n3,4,5\n", "row 2 has 3 values, but the header names 2 columns"),
        ("1,2\n\n3,4\n", "row 2 is blank"),
    ],
)
def test_a_bad_cell_is_named_by_row_and_column(tmp_path: Path, body: str, words: str) -> None:
    message = complaint(written(tmp_path, "a,b\n" + body))
    assert words in message
    assert "rows are counted from 1 below the header" in message
    assert message.count("\n") == 0


def test_rows_of_later_pieces_keep_their_numbers(tmp_path: Path) -> None:
    path = written(tmp_path, "a\n" + "1\n" * 9 + "x\n")
    with pytest.raises(InputError, match="row 10, column 'a' holds 'x'"):
        numbers_of(path, ["a"], chunk_rows=4)


def test_a_thousands_point_with_a_decimal_comma_is_not_guessed(tmp_path: Path) -> None:
    assert "holds '1.234,5'" in complaint(written(tmp_path, "a;b\n1.234,5;2\n"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "runs.csv is empty"),
        ("\n \n", "runs.csv is empty"),
        ("a,b\n", "runs.csv has a header but no rows"),
        ("a,b,a\n1,2,3\n", "columns 1 and 3 are both named 'a'"),
        (",a\n0,2\n", "column 1 has no name"),
    ],
)
def test_a_table_without_usable_names_or_rows_is_refused(
    tmp_path: Path, content: str, words: str
) -> None:
    assert words in complaint(written(tmp_path, content))


def test_a_wrong_name_suggests_the_closest(tmp_path: Path) -> None:
    path = written(tmp_path, "Speed,load,noise\n1,2,3\n")
    assert complaint(path, "nosie") == (
        "runs.csv has no column 'nosie'; did you mean 'noise'? Its columns are: Speed, load, noise."
    )
    assert "did you mean 'Speed'?" in complaint(path, "speed")
    assert "did you mean" not in complaint(path, "qqq")


@pytest.mark.parametrize("name", ["runs.csv", "runs.xlsx", "runs.parquet", "runs.tsv"])
@pytest.mark.parametrize("content", [b"\x00\x01\xff" * 500, b"PK\x03\x04 broken", b"\xff\xfe\x00"])
def test_a_file_that_is_not_what_it_is_called_gives_one_sentence(
    tmp_path: Path, name: str, content: bytes
) -> None:
    with pytest.raises(InputError) as caught:
        read_table(written(tmp_path, content, name))
    assert name in str(caught.value)
    assert str(caught.value).count("\n") == 0


@pytest.mark.parametrize("name", ["no.csv", "no.xlsx", "no.parquet"])
def test_a_file_that_is_not_there_is_a_file_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileError, match="there is no such file"):
        read_table(tmp_path / name)
    (tmp_path / name).mkdir()
    with pytest.raises(FileError, match="it is a directory"):
        read_table(tmp_path / name)


def test_an_old_excel_file_is_refused_with_advice(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"save it as \.xlsx or \.csv first"):
        read_table(written(tmp_path, "", "runs.xls"))


def test_standard_input_is_read_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = SimpleNamespace(buffer=io.BytesIO("ü;b\n1,5;2\n3;4\n".encode("cp1252")))
    monkeypatch.setattr(sys, "stdin", stdin)
    pieces = list(iter_tables("-", chunk_rows=1))
    assert [piece.numbers(["ü"])["ü"].tolist() for piece in pieces] == [[1.5], [3.0]]
    assert pieces[0].source == "standard input"


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [("t.parquet", "pyarrow", "formats"), ("t.xlsx", "openpyxl", "cli")],
)
def test_a_missing_package_is_named_with_its_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, package: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    advice = rf'{name} needs {package}; install it with: pip install "pengp\[{extra}\]"'
    with pytest.raises(InputError, match=advice):
        read_table(written(tmp_path, b"", name))
    with pytest.raises(InputError, match=advice), TableWriter(tmp_path / f"new-{name}"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("extension", ["csv", "parquet", "xlsx"])
def test_an_error_while_writing_leaves_the_old_file(tmp_path: Path, extension: str) -> None:
    path = written(tmp_path, "old", f"t.{extension}")
    with contextlib.suppress(KeyboardInterrupt), TableWriter(path) as writer:
        writer.write(pd.DataFrame({"a": [1.0]}))
        raise KeyboardInterrupt
    assert [p.read_bytes() for p in tmp_path.iterdir()] == [b"old"]


def test_a_device_is_written_to_and_not_replaced() -> None:
    with TableWriter(os.devnull) as writer:
        writer.write(pd.DataFrame({"a": [1.0]}))
    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize(
    ("call", "number"), [("/dev/full", errno.ENOSPC), ("missing/t.csv", errno.ENOENT)]
)
def test_what_cannot_be_written_is_a_file_error(tmp_path: Path, call: str, number: int) -> None:
    with pytest.raises(FileError) as caught, TableWriter(tmp_path / call) as writer:
        writer.write(pd.DataFrame({"a": np.arange(10_000.0)}))
    assert isinstance(caught.value.__cause__, OSError)
    assert caught.value.__cause__.errno == number


@pytest.mark.parametrize("extension", ["csv", "tsv", "parquet", "xlsx"])
def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"t.{extension}"
    rows = pd.DataFrame({"a": np.random.default_rng(0).random(10_000)})
    with tiny_disk(20_000), pytest.raises(FileError, match=f"cannot write .*t.{extension}: "):
        write_thrice(path, rows)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("full", ["sheet", "workbook"])
def test_a_full_disk_under_a_workbook_is_told_once_and_frees_its_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: str
) -> None:
    made = list[io.BytesIO]()

    class Kept(io.BytesIO):
        def __init__(self) -> None:
            super().__init__()
            made.append(self)

    monkeypatch.setattr(io, "BytesIO", Kept)
    if full == "workbook":
        (tmp_path / "t.xlsx").symlink_to("/dev/full")
    rows = pd.DataFrame({"a": np.random.default_rng(0).random(3_000)})
    disk = tiny_disk(120_000) if full == "sheet" else contextlib.nullcontext()
    with disk, pytest.raises(FileError, match="cannot write ") as caught:
        write_thrice(tmp_path / "t.xlsx", rows)
    for memory in made:
        memory.close()  # which a view that the error keeps alive would forbid
    del caught
    gc.collect()  # an archive that is forgotten would complain, which fails the test


def write_thrice(path: Path, rows: pd.DataFrame) -> None:
    """Write a table three times below itself."""
    with TableWriter(path) as writer:
        for _ in range(3):
            writer.write(rows)
