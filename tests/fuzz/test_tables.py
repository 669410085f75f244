"""Tables of all kinds through the commands that read them: numbers or one sentence."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.commands import inside, make_folder, run
from tests.fuzz.inputs import counted, share
from tests.fuzz.tables import texts, workbooks
from tests.fuzz.test_commands import check_ending

TABLES = st.one_of(texts(), texts(), texts(), workbooks())
LINES = [
    ["predict", "pen.pengp", "{}", "--no-keep"],
    ["predict", "pen.pengp", "{}"],
    ["validate", "pen.pengp", "{}"],
    ["fit", "{}", "-y", "y", "--method", "penalized", "--starts", "1", "--folds", "2", "--force"],
    ["fit", "{}", "-y", "y", "--lambda", "0.1", "--starts", "1", "--force", "--decimal", ","],
    ["update", "pen.pengp", "{}", "-o", "updated.pengp"],
    ["next", "{}", "-y", "y", "--model", "pen.pengp"],
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tables")
    make_folder(place)
    return place


def check_numbers(output: str) -> None:
    """Assert that predictions are numbers, whatever separates them and marks their decimals."""
    header, *rows = output.splitlines()
    separator = next(mark for mark in ";\t|," if mark in header)
    for cell in (cell for row in rows for cell in row.split(separator)):
        assert cell in ("True", "False") or math.isfinite(float(cell.replace(",", "."))), output


def test_tables(folder: Path) -> None:
    @share(50, few=200)
    @given(counted(TABLES), st.sampled_from(LINES))
    def check(table: tuple[str, bytes], line: list[str]) -> None:
        ending, content = table
        (folder / f"table{ending}").write_bytes(content)
        code, output, messages = run([word.format(f"table{ending}") for word in line])
        check_ending(code, output, messages)
        if code == 0 and "--no-keep" in line:
            check_numbers(output)

    with inside(folder):
        check()


#: Tables that once ended otherwise than in numbers or a sentence.
ONCE: list[tuple[str, bytes, list[str]]] = [
    (".csv", b"x1,x2,y\n0,0,0\n1,1,,,", ["predict", "pen.pengp", "{}"]),
    (".csv", "x1,x2,y\n0,0,".encode("utf-16"), ["predict", "pen.pengp", "{}", "--no-keep"]),
]


@pytest.mark.parametrize(("ending", "content", "line"), ONCE)
def test_tables_that_once_failed(
    folder: Path, ending: str, content: bytes, line: list[str]
) -> None:
    (folder / f"once{ending}").write_bytes(content)
    with inside(folder):
        code, output, messages = run([word.format(f"once{ending}") for word in line])
    check_ending(code, output, messages)
    if code == 0 and "--no-keep" in line:
        check_numbers(output)
