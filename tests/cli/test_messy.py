"""Messy tables, names, places and streams: commands do what is meant, or refuse and lose nothing.

What is refused is told in one sentence, and every file stays as it was.
"""

import io
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
from typer.testing import CliRunner, Result

from pengp import PenalizedGPRegressor, load, save
from pengp.cli import separated, writers
from pengp.cli.app import app
from pengp.cli.predict import CHUNK_ROWS
from pengp.cli.tables import TableWriter, read_table
from pengp.study.test_runs import read_test_runs
from tests.cli.kills import LATE, session, started, wait_until_gone

RUNS = "a,b,y\n0,3,1.5\n1,0,2.25\n2,2,0.5\n3,1,-1\n4,5,0.75\n5,4,3\n"
FIT = ["fit", "runs.csv", "-y", "y", "--method", "penalized", "--folds", "2", "--repeats", "1"]
NAMES = ["y_mean", "y_std", "y_lower", "y_upper"]
NEW = [*NAMES, "outside"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of y over a and b."""
    path = tmp_path_factory.mktemp("model") / "model.pengp"
    runs = pd.read_csv(io.StringIO(RUNS))
    fitted = PenalizedGPRegressor(random_state=0).fit(runs[["a", "b"]], runs["y"])
    save(fitted, path, info={"response": "y"})
    return path


@pytest.fixture
def here(tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with runs.csv, new.csv, bounds.csv and model.pengp."""
    (tmp_path / "model.pengp").write_bytes(model.read_bytes())
    (tmp_path / "runs.csv").write_text(RUNS)
    (tmp_path / "new.csv").write_text("a,b\n0.5,1.5\n2.5,3.5\n")
    (tmp_path / "bounds.csv").write_text("input,lower,upper\na,0,5\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str, stdin: str | None = None) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(app, arguments, input=stdin)


def contents() -> dict[str, bytes]:
    """Return all files of the working directory, hidden ones too."""
    return {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()}


def refusal(*arguments: str, code: int = 3, stdin: str | None = None) -> str:
    """Return the one sentence of a command that fails, and check that it has changed nothing."""
    before = contents()
    done = run(*arguments, stdin=stdin)
    assert (done.exit_code, done.stdout) == (code, "")
    assert contents() == before
    assert done.stderr.startswith("pengp: ")
    assert done.stderr.endswith(".\n")
    assert done.stderr.count("\n") == 1
    return done.stderr.removeprefix("pengp: ").strip()


def succeed(*arguments: str, stdin: str | None = None) -> None:
    """Run a command that succeeds."""
    done = run(*arguments, stdin=stdin)
    assert done.exit_code == 0, done.stderr


def shell(line: str) -> subprocess.CompletedProcess[str]:
    """Run ``pengp line`` in a shell, which may redirect or close streams."""
    script = f"exec {sys.executable} -m pengp {line}"
    return subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)


def sheet(path: str, rows: list[list[Any]]) -> None:
    """Write an Excel file row by row, each as long as it is and without a stored size."""
    book = openpyxl.Workbook(write_only=True)
    page = book.create_sheet()
    for row in rows:
        page.append(row)
    book.save(path)


# Places: what is read is not lost, and what cannot be written whole is not written.


def test_parquet_refuses_fractions_below_whole_numbers_and_does_not_cut_them(here: Path) -> None:
    sheet("long.xlsx", [["a", "b", "count"], *[[1.5, 2.5, 7]] * CHUNK_ROWS, [1.5, 2.5, 2.5]])
    assert refusal("predict", "model.pengp", "long.xlsx", "-o", "out.parquet") == (
        "out.parquet: a column holds values of several kinds, which a Parquet file cannot; "
        "write a .csv file instead."
    )


def test_parquet_takes_whole_numbers_below_fractions(here: Path) -> None:
    with TableWriter("t.parquet") as writer:
        writer.write(pd.DataFrame({"count": pd.Series([2.5, 7], dtype=object)}))
        writer.write(pd.DataFrame({"count": pd.Series([7, None], dtype=object)}))
    assert pd.read_parquet("t.parquet")["count"].fillna(-1.0).tolist() == [2.5, 7.0, 7.0, -1.0]


@pytest.mark.parametrize("report", ["m.x", "./m.x", "link.x"])
def test_the_report_does_not_replace_the_model(here: Path, report: str) -> None:
    Path("link.x").symlink_to("m.x")
    said = refusal(*FIT, "-o", "m.x", "--report", report)
    assert said == f"writing {Path(report)} would replace m.x; choose another name."
    said = refusal(*FIT, "--report", "runs.pengp")
    assert said == "writing runs.pengp would replace runs.pengp; choose another name."


@pytest.mark.parametrize("option", ["-o", "--report"])
@pytest.mark.parametrize("place", ["bounds.csv", "link"])
def test_fit_does_not_replace_its_bounds(here: Path, option: str, place: str) -> None:
    Path("link").symlink_to("bounds.csv")
    said = refusal(*FIT, "--bounds", "bounds.csv", "--bounds", "b=0:9", option, place)
    assert said == f"writing {place} would replace bounds.csv; choose another name."


def test_predictions_alone_do_not_replace_their_table_but_may_be_added_to_it(here: Path) -> None:
    Path("link.csv").symlink_to("new.csv")
    for place in ("new.csv", "./new.csv", "link.csv"):
        said = refusal("predict", "model.pengp", "new.csv", "--no-keep", "-o", place)
        assert said == f"--output {place} would replace the table; choose another name."
    succeed("predict", "model.pengp", "new.csv", "-o", "new.csv")
    table = read_table("new.csv")
    assert table.names == ["a", "b", *NEW]
    assert table.numbers(["a", "b"]).to_numpy().tolist() == [[0.5, 1.5], [2.5, 3.5]]


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.xlsx"])
def test_a_link_stays_a_link_to_the_file_that_is_written(here: Path, name: str) -> None:
    Path("archive").mkdir()
    Path(name).symlink_to(Path("archive") / "real")  # which is not there yet
    succeed("predict", "model.pengp", "new.csv", "-o", name)
    assert Path(name).is_symlink()
    assert [path.name for path in Path("archive").iterdir()] == ["real"]
    expected = load("model.pengp").predict(pd.read_csv("new.csv"))
    mean = read_table(name).numbers(["y_mean"])["y_mean"]
    np.testing.assert_allclose(mean, expected, rtol=1e-15)


@pytest.mark.parametrize("extension", ["csv", "parquet"])
def test_a_device_is_written_to_as_it_is(here: Path, extension: str) -> None:
    Path(f"null.{extension}").symlink_to(os.devnull)  # so that the format is what it says
    before = contents()
    succeed("predict", "model.pengp", "new.csv", "-o", f"null.{extension}")
    assert contents() == before
    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize("name", ["out.xls", "out.XLSM", "out.ods"])
def test_csv_is_not_written_under_the_name_of_a_spreadsheet(here: Path, name: str) -> None:
    words = f"{name}: this format cannot be written; choose .xlsx or .csv."
    assert refusal("predict", "model.pengp", "new.csv", "-o", name) == words
    assert refusal("design", "-n", "4", "-b", "a=0:1", "-o", name) == words


@pytest.mark.parametrize("byte", [b"x", b"\n"])
def test_results_of_a_study_do_not_replace_a_file_of_one_byte(here: Path, byte: bytes) -> None:
    Path("one").write_bytes(byte)
    said = refusal("study", "run", "forrester", "--size", "tiny", "--output", "one", code=4)
    assert said == "cannot use one: it is not a file of study results; choose another file."


# Processes: signals, closed streams, encodings.


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
@pytest.mark.parametrize(
    "command",
    [
        "predict model.pengp - -o out.csv",
        "fit runs.csv -y y --method penalized --repeats 2000 --jobs 2",
    ],
)
def test_a_signal_ends_a_command_in_order(
    here: Path, tmp_path_factory: pytest.TempPathFactory, command: str, number: int, code: int
) -> None:
    before, temporary = contents(), tmp_path_factory.mktemp("temporary")
    with started(*command.split(), temporary=temporary) as process:
        # It is at work when the table has been begun, or two workers have loaded what they need.
        while not (any(here.glob(".out.csv.*")) or len(session(process.pid, LATE)) > 2):
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(number)
        assert process.wait(timeout=60) == code
        assert process.communicate() == (b"", b"")
        assert wait_until_gone(process.pid, 5.0) == 0  # the workers' helper ends a little later
    assert contents() == before
    assert list(temporary.iterdir()) == []


def test_jobs_are_at_least_one(here: Path) -> None:
    before = contents()
    done = run(*FIT, "--jobs", "0")
    assert done.exit_code == 2
    assert "'--jobs'" in done.stderr
    assert contents() == before


def test_a_closed_input_is_told_in_one_sentence(here: Path) -> None:
    before = contents()
    done = shell("predict model.pengp - -o out.csv <&- >&-")
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr == (
        "pengp: cannot read standard input: it is closed; name a file instead of -.\n"
    )
    assert contents() == before


def test_a_command_works_without_output_and_error(here: Path) -> None:
    done = shell("predict model.pengp new.csv -o closed.csv >&- 2>&-")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    succeed("predict", "model.pengp", "new.csv", "-o", "open.csv")
    assert Path("closed.csv").read_bytes() == Path("open.csv").read_bytes()


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_on_a_full_disk_is_told_in_one_sentence(option: str) -> None:
    done = shell(f"{option} > /dev/full")
    assert done.returncode == 4
    assert done.stderr == (
        "pengp: cannot write standard output: No space left on device; choose another place.\n"
    )


def test_json_is_json_whatever_the_terminal(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["Größe µm", "温度 😀"]
    x = pd.DataFrame([[0.0, 3.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]], columns=names)
    save(PenalizedGPRegressor(random_state=0).fit(x, x[names[0]]), "m.pengp")
    monkeypatch.setenv("PYTHONIOENCODING", "ascii:strict")
    done = shell("info m.pengp --json")
    assert (done.returncode, done.stderr) == (0, "")
    assert [item["name"] for item in json.loads(done.stdout)["inputs"]] == names


# Text: tables, test runs, names and ranges.


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_decimals_have_one_mark(here: Path, delimiter: str) -> None:
    def table(*rows: str) -> str:
        return "\n".join(["a b", *rows, ""]).replace(" ", delimiter)

    for rows in (["0,5 1", "2 1.5"], ["1,234 0.5"], ["1.5 2", "3 1,234"]):
        said = refusal("predict", "model.pengp", "-", "-o", "out.csv", stdin=table(*rows))
        cells = " ".join(rows).split()
        comma, point = (next(c for c in cells if mark in c) for mark in ",.")
        assert said == (
            f"standard input: {comma!r} has a comma and {point!r} a point; write all decimals "
            "with the same mark, and no mark between thousands."
        )
    for rows in (["0,5 1,5", "2,5 3,5"], ["0.5 1.5", "2.5 3.5"]):
        succeed("predict", "model.pengp", "-", "-o", "out.csv", stdin=table(*rows))
        succeed("predict", "model.pengp", "new.csv", "-o", "expected.csv")
        out, expected = (read_table(f).numbers(["a", *NAMES]) for f in ("out.csv", "expected.csv"))
        pd.testing.assert_frame_equal(out, expected, check_exact=True)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_name_in_quotes_may_go_on_in_the_next_line(here: Path, delimiter: str, end: str) -> None:
    lines = [f'"temp{end}in, C"{delimiter}x2', f"1{delimiter}2", f"3{delimiter}4", ""]
    Path("t.csv").write_bytes(end.join(lines).encode())
    table = read_table("t.csv")
    assert table.names == [f"temp{end}in, C", "x2"]
    assert table.numbers(table.names).to_numpy().tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_inputs_with_a_comma_are_named_in_quotes(here: Path) -> None:
    Path("runs.csv").write_text(RUNS.replace("a,b,y", '"temp, C",x2,y'))
    succeed(*FIT, "--inputs", '"temp, C", x2', "-o", "m.pengp")
    assert list(load("m.pengp").feature_names_in_) == ["temp, C", "x2"]
    succeed(*FIT, "--inputs", '"temp, C"', "-o", "m.pengp", "--force")
    assert list(load("m.pengp").feature_names_in_) == ["temp, C"]


def test_a_last_line_of_blanks_is_no_row(here: Path) -> None:
    Path("t.csv").write_text("a,b\n0.5,1.5\n2.5,3.5\n , \t\n  \n")
    frame = read_table("t.csv").numbers(["a", "b"])
    assert frame.to_numpy().tolist() == [[0.5, 1.5], [2.5, 3.5]]
    Path("t.csv").write_text("a,b\n0.5,1.5\n , \n2.5,3.5\n")
    assert refusal("predict", "model.pengp", "t.csv").startswith("t.csv: row 2 is blank")


def test_a_column_that_resembles_no_other_is_told_with_those_there_are(here: Path) -> None:
    assert refusal("fit", "runs.csv", "-y", "strength") == (
        "runs.csv has no column 'strength'; its columns are: a, b, y."
    )
    assert refusal("fit", "new.csv", "-y", "B") == (
        "new.csv has no column 'B'; did you mean 'b'? Its columns are: a, b."
    )
    Path("t.csv").write_text("a|b|y\n1|2|3\n")
    assert refusal("fit", "t.csv", "-y", "strength") == (
        "t.csv has no column 'strength'; its columns are: a|b|y. Columns are separated by commas, "
        "semicolons or tabs."
    )


def test_a_broken_parquet_file_is_told_in_a_sentence_with_one_end(here: Path) -> None:
    Path("t.parquet").write_bytes(b"PAR1" + bytes(20))
    said = refusal("predict", "model.pengp", "t.parquet", code=4)
    assert said.startswith("t.parquet is not a Parquet file that can be read: ")
    assert not said.endswith("..")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("1,2,3,4,5_5,6,7", "line 3, column 'x5' of the test runs t.csv is '5_5', which is not a "
         "finite number; correct that line."),
        ("1,2,3", "line 3 of the test runs t.csv has 3 columns, the header 7; correct that line."),
    ],
)  # fmt: skip
def test_a_wrong_line_of_test_runs_is_to_be_corrected(here: Path, line: str, words: str) -> None:
    header = "x1,x2,x3,x4,x5,x6,noise\n"
    Path("t.csv").write_text(f"{header}1,2,3,4,5,6,7\n{line}\n")
    assert refusal("study", "run", "piston-slap", "--test-runs", "t.csv") == words
    Path("t.csv").write_text(f"{header}1,2,3,4,5.5,6,7\n , ,\t, , , ,\n")
    assert read_test_runs("t.csv").X.tolist() == [[1.0, 2.0, 3.0, 4.0, 5.5, 6.0]]


def test_the_name_of_an_input_may_be_longer_than_that_of_a_file(here: Path) -> None:
    name = "a" * 300
    Path("runs.csv").write_text(RUNS.replace("a,b", f"{name},b"))
    succeed(*FIT, "--bounds", f"{name}=-1:6", "-o", "m.pengp")
    assert np.asarray(load("m.pengp").input_bounds).tolist() == [[-1.0, 6.0], [0.0, 5.0]]


def test_a_range_has_a_width_and_the_name_of_an_input(here: Path) -> None:
    assert refusal(*FIT, "--bounds", "A=0:9") == (
        "--bounds A=0:9: there is no input 'A'; did you mean 'a'? The inputs are: a, b."
    )
    for option in ("a=-1e308:1e308", "a=0:inf", "a=nan:1"):
        words = f"--bounds {option}: the range of 'a' must have two finite ends."
        assert refusal(*FIT, "--bounds", option) == words
        assert refusal("design", "-n", "4", "--bounds", option, "-o", "out.csv") == words


# Excel files.


def test_an_excel_file_is_read_whole_whatever_size_it_claims(here: Path) -> None:
    pd.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6.5]}).to_excel("true.xlsx", index=False)
    with zipfile.ZipFile("true.xlsx") as true, zipfile.ZipFile("t.xlsx", "w") as changed:
        for name in true.namelist():
            content = true.read(name)
            if name.endswith("sheet1.xml"):
                assert b'<dimension ref="A1:B4"' in content
                content = content.replace(b'ref="A1:B4"', b'ref="A1:A2"')
            changed.writestr(name, content)
    frame = read_table("t.xlsx").numbers(["a", "b"])
    assert frame.to_dict("list") == {"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 6.5]}


def test_excel_rows_that_end_early_end_in_empty_cells(here: Path) -> None:
    sheet("t.xlsx", [["a", "b", "note"], [0.5, 1.5], [2.5, 3.5, "late"], []])
    succeed("predict", "model.pengp", "t.xlsx", "-o", "out.parquet")
    out = pd.read_parquet("out.parquet")
    assert out[["a", "b"]].to_numpy().tolist() == [[0.5, 1.5], [2.5, 3.5]]
    assert out["note"].fillna("-").tolist() == ["-", "late"]
    sheet("t.xlsx", [["a", "b"], [0.5, 1.5], [2.5]])
    assert "t.xlsx: row 2, column 'b' is empty" in refusal("predict", "model.pengp", "t.xlsx")


def test_blank_rows_above_the_names_of_an_excel_file_do_not_count(here: Path) -> None:
    sheet("t.xlsx", [[], [None, None], ["a", "b"], [0.5, 1.5], [2.5, "?"]])
    table = read_table("t.xlsx")
    assert table.names == ["a", "b"]
    assert table.numbers(["a"])["a"].tolist() == [0.5, 2.5]
    assert "row 2, column 'b' has no value" in refusal("predict", "model.pengp", "t.xlsx")


def test_text_in_a_csv_file_is_never_a_formula(here: Path) -> None:
    harmless = ["-1.5", "+2", "-1,5e-3", "-", "--", "- ", "5=6", "mail@home", "'=quoted"]
    formulas = ["=1+1", "@SUM(A1)", "-2+3+cmd|' /C calc'!D2", "+A1", "\t=1", " =A1"]
    frame = pd.DataFrame({"a": 1.5, "b": 2.5, "=note": [*harmless, *formulas]})
    frame.to_csv("notes.csv", index=False)
    done = run("predict", "model.pengp", "notes.csv", "-o", "out.csv")
    assert done.stderr == (
        "Note: 7 cells begin like a formula and got a ' in front, so that no spreadsheet computes "
        "it.\n"
    )
    out = read_table("out.csv")
    assert out.names == ["a", "b", "'=note", *NEW]
    marked = [f"'{text}" for text in formulas]
    assert out.raw(["'=note"])["'=note"].tolist() == [*harmless, *marked]


def test_text_in_an_excel_file_is_never_a_formula(here: Path) -> None:
    notes = ["=1+1", "=cmd|' /C calc'!A0"]
    pd.read_csv("new.csv").assign(**{"=note": notes}).to_csv("notes.csv", index=False)
    succeed("predict", "model.pengp", "notes.csv", "-o", "out.xlsx")
    page = openpyxl.load_workbook("out.xlsx").worksheets[0]
    cells = [cell for cells in page.iter_rows(min_col=3, max_col=3) for cell in cells]
    assert [cell.value for cell in cells] == ["=note", *notes]
    assert {cell.data_type for cell in cells} == {"s"}
    assert read_table("out.xlsx").raw(["=note"])["=note"].tolist() == notes


def test_a_control_character_is_told_before_an_excel_file_is_written(here: Path) -> None:
    Path("t.csv").write_text("a,b,note\n0.5,1.5,ok\n2.5,3.5,bell\x07\n")
    assert refusal("predict", "model.pengp", "t.csv", "-o", "out.xlsx") == (
        r"out.xlsx: 'bell\x07' has a control character, which an Excel file cannot hold; write a "
        ".csv file instead."
    )


def test_an_excel_file_has_an_end(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert writers._EXCEL_ROWS == 2**20  # as Excel has it, with the row of names
    monkeypatch.setattr(writers, "_EXCEL_ROWS", 5)
    with TableWriter("full.xlsx") as writer:
        for _ in range(2):
            writer.write(pd.DataFrame({"a": [0.5, 1.5], "b": [2.5, 3.5]}))
    assert read_table("full.xlsx").numbers(["a"])["a"].tolist() == [0.5, 1.5, 0.5, 1.5]
    Path("t.csv").write_text("a,b\n" + "0.5,1.5\n" * 5)
    assert refusal("predict", "model.pengp", "t.csv", "-o", "out.xlsx") == (
        "out.xlsx: an Excel sheet holds 4 rows below the names; write a .csv file instead."
    )


def test_marks_agree_between_response_and_inputs_and_between_pieces(here: Path) -> None:
    Path("t.tsv").write_text("a\tb\ty\n1,234\t2\t0.5\n2,345\t3\t0.7\n1,900\t5\t0.1\n")
    assert "has a comma and" in refusal("fit", "t.tsv", "-y", "y")
    text = "a;b\n" + "1,5;2\n" * CHUNK_ROWS + "1.5;2\n"
    said = refusal("predict", "model.pengp", "-", "-o", "out.csv", stdin=text)
    assert said.startswith("standard input: '1,5' has a comma and '1.5' a point;")


@pytest.mark.parametrize("names", ["", " ", "a,", '"a', "a\nb,c"])
def test_inputs_that_name_nothing_are_refused(here: Path, names: str) -> None:
    done = run(*FIT, "--inputs", names)
    assert done.exit_code == 3
    sentence = "write every name once, with commas between them."
    shown = " ".join(names.split("\n"))  # a message is one line
    assert done.stderr == f"pengp: --inputs {shown}: {sentence}\n"


# Extremes.


@pytest.mark.parametrize("command", ["fit", "report", "predict", "design", "validate"])
def test_a_link_that_leads_to_itself_is_told(here: Path, command: str) -> None:
    for one, other in (("loop.csv", "pool.csv"), ("pool.csv", "loop.csv")):
        Path(one).symlink_to(other)
    Path("f.png").symlink_to("f.png")
    arguments = {
        "fit": [*FIT, "-o", "loop.csv"],
        "report": ["report", "model.pengp", "-o", "loop.csv"],
        "predict": ["predict", "model.pengp", "new.csv", "-o", "loop.csv"],
        "design": ["design", "-n", "4", "-b", "a=0:1", "-o", "loop.csv"],
        "validate": ["validate", "model.pengp", "runs.csv", "--plot", "f.png"],
    }[command]
    place = arguments[-1]
    assert refusal(*arguments, code=4) == (
        f"cannot write {place}: it is a link that leads to itself; choose another place."
    )
    assert Path(place).is_symlink()


def test_a_whole_number_of_400_digits_is_no_number(here: Path) -> None:
    long = str(7 * 10**399)

    def book(rows: list[list[Any]]) -> None:
        sheet("short.xlsx", rows)
        with zipfile.ZipFile("short.xlsx") as short, zipfile.ZipFile("t.xlsx", "w") as changed:
            for name in short.namelist():
                changed.writestr(name, short.read(name).replace(b">77777<", f">{long}<".encode()))

    book([["a", "b"], [1.5, 2.5], [1.5, 77777]])
    said = refusal("predict", "model.pengp", "t.xlsx")
    assert said.startswith(f"t.xlsx: row 2, column 'b' holds '7{'0' * 36}...'; only finite numbers")
    book([["a", "b", "c"], [1.5, 2.5, 77777]])
    assert "which a Parquet file cannot" in refusal(
        "predict", "model.pengp", "t.xlsx", "-o", "out.parquet"
    )
    for output in ("out.csv", "out.xlsx"):
        succeed("predict", "model.pengp", "t.xlsx", "-o", output)
        assert read_table(output).raw(["c"])["c"].tolist() == [long]


@pytest.mark.parametrize("start", ["", "a,b\n1,2\n"])
def test_a_line_without_end_is_not_read_to_its_end(
    here: Path, monkeypatch: pytest.MonkeyPatch, start: str
) -> None:
    assert separated._LONGEST_LINE > 100 * 100_000  # a hundred characters in 100,000 columns
    monkeypatch.setattr(separated, "_LONGEST_LINE", 1000)
    Path("t.csv").write_text(start + "1" * 1001)
    assert refusal("predict", "model.pengp", "t.csv", code=4) == (
        "t.csv has a line of more than 1,000 characters and is no table; end each row with a line "
        "break."
    )
    line = "a,b" + " " * 996
    Path("t.csv").write_text(f"{line}\n1,2\n")  # as long as it may be
    succeed("predict", "model.pengp", "t.csv")


def test_a_table_of_100_000_columns_is_read_and_its_inputs_are_counted(here: Path) -> None:
    names = ["a", "b", *(f"c{k}" for k in range(100_000))]
    row = ",".join(["0.5"] * len(names))
    Path("t.csv").write_text("\n".join([",".join(names), row, row, ""]))
    started = time.monotonic()
    assert refusal("fit", "t.csv", "-y", "b") == (
        "t.csv has 100,001 inputs, and a model takes 500 at most; name those that matter: "
        "--inputs A,B,..."
    )
    succeed("predict", "model.pengp", "t.csv", "--no-keep", "-o", "out.csv")
    assert time.monotonic() - started < 30.0


# What is not overwritten, and what is left out.


def test_a_model_is_replaced_only_by_force(here: Path) -> None:
    for option in (["-o", "model.pengp"], ["-o", "./model.pengp"]):
        assert refusal(*FIT, *option) == (
            "model.pengp is there already; replace it with --force, or choose another name with "
            "--output."
        )
    before = Path("model.pengp").read_bytes()
    succeed(*FIT, "-o", "model.pengp", "--force")
    assert Path("model.pengp").read_bytes() != before
    succeed(*FIT)
    assert refusal(*FIT).startswith("runs.pengp is there already;")


def test_all_columns_of_text_are_named_at_once(here: Path) -> None:
    lines = RUNS.splitlines()
    cells = ["my note,material", *(f"ok,{m}" for m in ("Fe", "?", "Al", "Fe", "7", "Cu"))]
    Path("t.csv").write_text("".join(f"{c},{line}\n" for c, line in zip(cells, lines, strict=True)))
    fit = ["fit", "t.csv", "-y", "y", "--method", "penalized", "--folds", "2", "--repeats", "1"]
    assert refusal(*fit, "--seed", "1") == (
        "t.csv: the columns 'my note', 'material' hold text, and inputs are numbers; leave them "
        "out with --ignore 'my note' --ignore material, name the inputs: --inputs A,B,..., or name "
        "what has levels without an order, as in --factor 'my note'."
    )
    assert "the column 'material' holds text" in refusal(*fit, "--ignore", "my note")
    succeed(*fit, "--ignore", "my note", "--ignore", "material")
    succeed(*FIT)
    ours, plain = load("t.pengp"), load("runs.pengp")
    assert list(ours.feature_names_in_) == ["a", "b"]
    np.testing.assert_array_equal(ours.X_train_, plain.X_train_)


def test_what_is_said_of_a_table_holds_for_every_command(here: Path) -> None:
    rows = [[x.replace(".", ",") for x in line.split(",")] for line in RUNS.splitlines()]
    made = openpyxl.Workbook()
    made.create_sheet("runs")
    for k, row in enumerate(rows):
        made["runs"].append([*row, "note" if k == 0 else "fine"])
    made.save("book.xlsx")
    told = ["--sheet", "runs", "--decimal", ",", "--ignore", "note"]
    succeed(
        "fit",
        "book.xlsx",
        "-y",
        "y",
        "--method",
        "penalized",
        "--folds",
        "2",
        "--repeats",
        "1",
        *told,
    )
    succeed(*FIT)
    np.testing.assert_array_equal(load("book.pengp").y_train_, load("runs.pengp").y_train_)
    succeed("validate", "model.pengp", "book.xlsx", *told)
    succeed("predict", "model.pengp", "book.xlsx", "-o", "out.csv", *told)
    assert read_table("out.csv").names[:4] == ["a", "b", "y", "y_mean"]
    Path("more.csv").write_text("a;b;y\n1.500;2;9\n".replace(".", ","))
    assert "which is 1500 or 1.500" in refusal("update", "model.pengp", "more.csv")
    succeed("update", "model.pengp", "more.csv", "--decimal", ",")
    assert load("model.pengp").X_train_[-1].tolist() == [1.5, 2.0]
    Path("bounds.csv").write_text("input;lower;upper\na;0;1,500\n")
    assert "which is 1500 or 1.500" in refusal("design", "-n", "3", "-b", "bounds.csv")
    succeed("design", "-n", "3", "-b", "bounds.csv", "--thousands", ",", "-o", "out.csv")
    assert read_table("out.csv").numbers(["a"])["a"].max() > 1000.0
