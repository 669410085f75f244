"""`pengp predict`: the model's numbers to the bit, any table, and nothing half-written."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner, Result

from pengp import BayesianGPRegressor, PenalizedGPRegressor, load, save
from pengp.cli.app import app
from pengp.cli.predict import CHUNK_ROWS
from tests.cli.commands import INPUTS, UNMEASURED, model_file, pengp, piston_runs

NEW = ["noise_mean", "noise_std", "noise_lower", "noise_upper", "outside"]


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return model_file(tmp_path_factory.mktemp("fitted"))


@pytest.fixture
def here(fitted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with model.pengp and the piston-slap runs without response, new.csv."""
    shutil.copy(fitted, tmp_path)
    runs = piston_runs(dtype=str)
    runs[INPUTS].to_csv(tmp_path / "new.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def invoke(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, ["predict", *arguments], input=stdin)


def some_inputs(m: int, seed: int = 0) -> pd.DataFrame:
    """Inputs within the range of the runs."""
    runs = piston_runs()[INPUTS]
    values = np.random.default_rng(seed).uniform(runs.min(), runs.max(), (m, 6))
    return pd.DataFrame(values, columns=INPUTS)


def read(path: Path | str, sep: str = ",") -> pd.DataFrame:
    """Read a table whose numbers are to be compared to the bit, which not all pandas do."""
    frame = pd.read_csv(path, sep=sep, dtype=str)
    for name in frame:
        with contextlib.suppress(ValueError):
            frame[name] = [float(cell) for cell in frame[name]]
    return frame


def files(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_predictions_are_those_of_the_model_to_the_bit_over_many_pieces(here: Path) -> None:
    X = some_inputs(2 * CHUNK_ROWS + 17)
    X.to_csv("many.csv", index=False)
    done = invoke("model.pengp", "many.csv", "-o", "out.csv", "--level", "0.5")
    assert done.exit_code == 0, done.stderr
    assert done.stdout == f"{len(X):,} predictions written to out.csv.\n"
    out = read("out.csv")
    assert list(out.columns) == [*INPUTS, *NEW]
    mean, std = load("model.pengp").predict(X, return_std=True)
    half = 0.6744897501960817 * std  # the normal quantile of 0.75
    np.testing.assert_array_equal(out[INPUTS], X)
    np.testing.assert_array_equal(out["noise_mean"], mean)
    np.testing.assert_array_equal(out["noise_std"], std)
    np.testing.assert_allclose(out["noise_lower"], mean - half, rtol=1e-13)
    np.testing.assert_allclose(out["noise_upper"], mean + half, rtol=1e-13)


def test_columns_may_stand_in_any_order_and_are_carried_as_they_were_written(here: Path) -> None:
    runs = piston_runs(dtype=str)
    given = runs[["x6", "noise", "x5", "x4", "x3", "x2", "x1"]]
    given.insert(0, "name", [f"run {k}, with a comma" for k in range(12)])
    given.to_csv("shuffled.csv", index=False)
    plain, shuffled = invoke("model.pengp", "new.csv"), invoke("model.pengp", "shuffled.csv")
    assert (plain.exit_code, shuffled.exit_code) == (0, 0)
    Path("plain.csv").write_text(plain.stdout)
    Path("out.csv").write_text(shuffled.stdout)
    as_text = pd.read_csv("out.csv", dtype=str)
    pd.testing.assert_frame_equal(as_text[given.columns], given)  # 1.30 stays 1.30
    assert list(as_text.columns) == [*given.columns, *NEW]
    pd.testing.assert_frame_equal(read("out.csv")[NEW], read("plain.csv")[NEW], check_exact=True)
    # At its own runs the model is right, up to the nugget.
    np.testing.assert_allclose(
        read("out.csv")["noise_mean"], runs["noise"].astype(float), atol=1e-3
    )


def test_standard_input_and_output_carry_the_table_and_nothing_else(here: Path) -> None:
    done = pengp("predict", "model.pengp", "-", cwd=here, stdin=Path("new.csv").read_text())
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) == 13
    assert lines[0] == ",".join([*INPUTS, *NEW])
    mean, std = load("model.pengp").predict(pd.read_csv("new.csv"), return_std=True)
    assert lines[1].startswith(f"71,16.8,21.0,2,1,0.98,{mean[0]},{std[0]},")


def test_without_keep_there_are_only_predictions(here: Path) -> None:
    assert invoke("model.pengp", "new.csv", "-o", "all.csv").exit_code == 0
    assert invoke("model.pengp", "new.csv", "--no-keep", "-o", "few.tsv").exit_code == 0
    pd.testing.assert_frame_equal(read("few.tsv", "\t"), read("all.csv")[NEW], check_exact=True)


@pytest.mark.parametrize("name", ["out.parquet", "out.xlsx"])
def test_parquet_and_excel_hold_numbers_not_text(here: Path, name: str) -> None:
    assert invoke("model.pengp", "new.csv", "-o", name).exit_code == 0
    assert invoke("model.pengp", "new.csv", "-o", "out.csv").exit_code == 0
    out = pd.read_parquet(name) if name.endswith("parquet") else pd.read_excel(name)
    expected = pd.read_csv("out.csv").astype(float)
    pd.testing.assert_frame_equal(out.astype(float), expected)
    assert all(pd.api.types.is_numeric_dtype(kind) for kind in out.dtypes)
    assert out["outside"].dtype == bool


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("comma", [True, False])
def test_predictions_are_written_as_the_table_is(
    here: Path, encoding: str, delimiter: str, comma: bool
) -> None:
    plain = pd.read_csv("new.csv", dtype=str).assign(Größe="5 µm")
    given = plain.replace(r"\.", ",", regex=True) if comma else plain
    given.to_csv("given.csv", index=False, sep=delimiter, encoding=encoding)
    told = ["--decimal", ","] if comma and delimiter == "," else []
    assert invoke("model.pengp", "given.csv", "-o", "out.csv", *told).exit_code == 0
    assert invoke("model.pengp", "new.csv", "-o", "plain.csv").exit_code == 0
    start = {"utf-8-sig": b"\xef\xbb\xbf", "utf-16": b"\xff\xfe"}.get(encoding, b"x1")
    assert Path("out.csv").read_bytes().startswith(start)
    out = pd.read_csv("out.csv", sep=delimiter, encoding=encoding, dtype=str)
    pd.testing.assert_frame_equal(out[given.columns], given)
    if comma:
        assert not out[NEW[:4]].apply(lambda column: column.str.contains("[.]")).any(axis=None)
        out = out.replace(",", ".", regex=True)
    expected = pd.read_csv("plain.csv", dtype=str)
    pd.testing.assert_frame_equal(out[NEW], expected[NEW])  # to the last digit


def test_tabs_and_decimals_follow_names_and_habits(here: Path) -> None:
    whole = "\n".join([";".join(INPUTS), "50;15;23;2;2;1", ""])
    for stdin, first in ((whole, ";"), (whole.replace(";", "\t"), "\t")):
        names, row = invoke("model.pengp", "-", stdin=stdin).stdout.splitlines()
        assert names == first.join([*INPUTS, *NEW])
        # Who separates by semicolons writes decimals with a comma.
        assert ("," in row, "." in row) == ((True, False) if first == ";" else (False, True))
    Path("new.tsv").write_text(whole.replace(";", "\t"))
    for output, mark in (("out.csv", ","), ("out.tsv", "\t")):
        assert invoke("model.pengp", "new.tsv", "-o", output).exit_code == 0
        assert Path(output).read_text().splitlines()[0] == mark.join([*INPUTS, *NEW])


def test_a_mark_met_late_does_not_mix_marks(here: Path) -> None:
    lines = ["50;15;23;2;2;1"] * CHUNK_ROWS + ["50.5;15;23;2;2;1"]
    Path("long.csv").write_text("\n".join([";".join(INPUTS), *lines, ""]))
    assert invoke("model.pengp", "long.csv", "-o", "out.csv").exit_code == 0
    assert Path("out.csv").read_text().splitlines()[-1].startswith("50,5;15")
    assert "." not in Path("out.csv").read_text()


def test_a_name_that_the_encoding_of_the_table_lacks_is_told(here: Path) -> None:
    x = np.linspace(0.0, 1.0, 6)[:, None]
    model = PenalizedGPRegressor(random_state=0).fit(x, x[:, 0])
    save(model, "m.pengp", info={"response": "温度"})
    Path("t.csv").write_bytes("x1,Größe\n0.5,1\n".encode("cp1252"))
    done = invoke("m.pengp", "t.csv", "-o", "out.csv")
    assert done.exit_code == 3
    assert done.stderr == (
        "pengp: out.csv: '温度' cannot be written in cp1252, the encoding of the table; save that "
        "as UTF-8.\n"
    )
    assert not Path("out.csv").exists()


def test_a_row_is_marked_that_lies_outside(here: Path) -> None:
    X = some_inputs(40)
    X.loc[[3, 17], "x3"] = [25.5, 20.9]  # the runs have 21 to 25
    X.loc[[5, 17], "x1"] = [14.0, 86.0]  # and 15 to 85
    X.to_csv("far.csv", index=False)
    assert invoke("model.pengp", "far.csv", "-o", "out.csv").exit_code == 0
    outside = pd.read_csv("out.csv")["outside"]
    assert outside.dtype == bool
    assert outside.index[outside].tolist() == [3, 5, 17]


def test_ignored_columns_are_not_carried(here: Path) -> None:
    pd.read_csv("new.csv", dtype=str).assign(note="a").to_csv("notes.csv", index=False)
    assert invoke("model.pengp", "notes.csv", "-o", "out.csv", "--ignore", "note").exit_code == 0
    assert list(pd.read_csv("out.csv").columns) == [*INPUTS, *NEW]
    refused = invoke("model.pengp", "notes.csv", "-o", "out.csv", "--ignore", "x2")
    assert refused.stderr == "pengp: the column 'x2' is needed; do not give --ignore x2.\n"


def test_rows_outside_the_runs_are_counted_and_told_once(here: Path) -> None:
    X = some_inputs(CHUNK_ROWS + 100)
    X.loc[[3, 4, CHUNK_ROWS + 5], "x3"] = 25.5  # the runs have 21 to 25, in two pieces
    X.to_csv("far.csv", index=False)
    done = invoke("model.pengp", "far.csv", "-o", "out.csv")
    assert done.stderr == (
        "Note: 3 of 16,484 rows lie outside the range of the runs in x3 (21 to 25); predictions "
        "there are extrapolations.\n"
    )
    X.loc[[3, 7], "x1"] = [14.0, 86.0]
    X.to_csv("far.csv", index=False)
    assert invoke("model.pengp", "far.csv", "-o", "out.csv").stderr == (
        "Note: 4 of 16,484 rows lie outside the range of the runs in x1 (15 to 85: 2 rows), x3 (21 "
        "to 25: 3 rows); predictions there are extrapolations.\n"
    )


def test_declared_bounds_are_the_range_that_counts(here: Path) -> None:
    x = np.linspace(0.2, 0.8, 6)[:, None]
    model = PenalizedGPRegressor(input_bounds=[(0.0, 1.0)], random_state=0)
    save(model.fit(x, np.sin(6 * x[:, 0])), "one.pengp")  # a model without names
    done = invoke("one.pengp", "-", stdin="x1\n0.1\n0.9\n1.1\n")
    assert done.stderr == (
        "Note: 1 of 3 rows lie outside the bounds given to fit in x1 (0 to 1); predictions there "
        "are extrapolations.\n"
    )
    lines = done.stdout.splitlines()
    assert [line.rpartition(",")[2] for line in lines[1:]] == ["False", "False", "True"]
    assert lines[0] == "x1,response_mean,response_std,response_lower,response_upper,outside"
    assert float(lines[1].split(",")[1]) == pytest.approx(model.predict([[0.1]])[0], rel=1e-12)


def test_several_responses_get_columns_each(here: Path) -> None:
    x = np.linspace(0.0, 1.0, 6)[:, None]
    model = PenalizedGPRegressor(random_state=0).fit(x, np.hstack([x, np.cos(3 * x)]))
    save(model, "two.pengp", info={"response": ["load", "noise"]})
    done = invoke("two.pengp", "-", "--no-keep", stdin="x1\n0.3\n0.5\n")
    names, first, _ = done.stdout.splitlines()
    assert names.split(",") == ["load_mean", "load_std", "load_lower", "load_upper", *NEW]
    mean, std = model.predict([[0.3], [0.5]], return_std=True)
    *numbers, outside = first.split(",")
    assert outside == "False"
    cells = [float(cell) for cell in numbers]
    assert cells[0::4] == mean[0].tolist()
    assert cells[1::4] == std[0].tolist()


def test_columns_named_like_predictions_are_renamed(here: Path) -> None:
    table = pd.read_csv("new.csv", dtype=str).assign(noise_mean="old", noise_mean_given="older")
    table.to_csv("taken.csv", index=False)
    done = invoke("model.pengp", "taken.csv", "-o", "out.csv")
    assert done.stderr == (
        "Note: taken.csv has columns named like the predictions; renamed: noise_mean is now "
        "noise_mean_given_given.\n"
    )
    out = read("out.csv")
    assert list(out.columns)[6:] == ["noise_mean_given_given", "noise_mean_given", *NEW]
    assert out["noise_mean_given_given"].tolist() == ["old"] * 12
    np.testing.assert_array_equal(
        out["noise_mean"], load("model.pengp").predict(pd.read_csv("new.csv"))
    )


def test_a_summary_for_machines_goes_with_a_file(here: Path) -> None:
    X = some_inputs(5)
    X.loc[2, "x6"] = 9.0
    X.to_csv("far.csv", index=False)
    done = invoke("model.pengp", "far.csv", "-o", "out.csv", "--json", "--level", "0.9")
    assert json.loads(done.stdout) == {
        "output": "out.csv",
        "rows": 5,
        "level": 0.9,
        "columns": NEW,
        "intervals": "model",
        "outside": {"rows": 1, "inputs": {"x6": {"rows": 1, "lower": 0.5, "upper": 1.3}}},
    }
    refused = invoke("model.pengp", "far.csv", "--json")
    assert (refused.exit_code, refused.stdout) == (3, "")
    assert "--json needs --output" in refused.stderr


def test_only_finite_inputs_can_be_predicted(here: Path) -> None:
    text = Path("new.csv").read_text().replace("15.6", "inf")
    done = invoke("model.pengp", "-", "-o", "out.csv", stdin=text)
    assert (done.exit_code, done.stdout) == (3, "")
    assert "standard input: row 2, column 'x2' holds 'inf'; only finite numbers" in done.stderr
    assert files(here) == ["model.pengp", "new.csv"]


def test_a_device_that_is_full_is_a_file_error(here: Path) -> None:
    done = invoke("model.pengp", "new.csv", "-o", "/dev/full")
    assert (done.exit_code, done.stdout) == (4, "")
    assert done.stderr.startswith("pengp: cannot write /dev/full: the disk is full")


def test_a_bad_row_in_a_later_piece_leaves_the_old_file(here: Path) -> None:
    X = some_inputs(CHUNK_ROWS + 10).astype(object)
    X.loc[CHUNK_ROWS + 4, "x5"] = "n/a"
    X.to_csv("bad.csv", index=False)
    Path("out.csv").write_text("yesterday")
    done = invoke("model.pengp", "bad.csv", "-o", "out.csv")
    assert done.exit_code == 3
    assert f"row {CHUNK_ROWS + 5}, column 'x5' has no value, only 'n/a'" in done.stderr
    assert files(here) == ["bad.csv", "model.pengp", "new.csv", "out.csv"]
    assert Path("out.csv").read_text() == "yesterday"


@pytest.mark.parametrize(
    ("level", "message"),
    [("95", "did you mean 0.95?"), ("0", "such as 0.95."), ("1", "such as"), ("nan", "such as")],
)
def test_a_level_is_a_probability(here: Path, level: str, message: str) -> None:
    done = invoke("model.pengp", "new.csv", "--level", level)
    assert (done.exit_code, done.stdout) == (3, "")
    assert message in done.stderr


def test_the_model_is_not_overwritten(here: Path) -> None:
    before = Path("model.pengp").read_bytes()
    done = invoke("model.pengp", "new.csv", "-o", "./model.pengp")
    assert done.exit_code == 3
    assert "would replace the model" in done.stderr
    assert Path("model.pengp").read_bytes() == before


def test_ctrl_c_between_pieces_of_an_endless_table_leaves_nothing(here: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "pengp", "predict", "model.pengp", "-", "-o", "out.csv"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | UNMEASURED,
    )
    assert process.stdin is not None
    some_inputs(CHUNK_ROWS + 1).to_csv(process.stdin, index=False)
    process.stdin.flush()  # and stays open: there might be more
    while not any(path.stat().st_size for path in here.glob(".out.csv.*")):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, b"")
    assert err == b"Interrupted; nothing was written.\n"
    assert files(here) == ["model.pengp", "new.csv"]


def _peak_memory(table: str) -> int:
    """Return the peak memory of a prediction in MB."""
    command = [sys.executable, "-m", "pengp", "predict", "model.pengp", table, "--no-keep"]
    with Path("out.csv").open("wb") as out, subprocess.Popen(command, stdout=out) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss // 1024


def test_memory_does_not_grow_with_the_table(here: Path) -> None:
    line = "50,15,23,2,2,1\n"
    header = ",".join(INPUTS) + "\n"
    Path("short.csv").write_text(header + 3_000 * line)
    Path("long.csv").write_text(header + 200_000 * line)
    assert _peak_memory("long.csv") < _peak_memory("short.csv") + 60
    with Path("out.csv").open() as out:
        assert sum(1 for _ in out) == 3_001  # of the second call


def test_intervals_are_those_of_the_model_or_of_the_jackknife(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).random((10, 2))
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = BayesianGPRegressor(random_state=0).fit(frame, np.sin(4.0 * X[:, 0]) + X[:, 1])
    save(model, "average.pengp", info={"response": "y"})
    frame.assign(a=0.5).to_csv("new.csv", index=False)
    for kind in ("model", "jackknife+"):
        arguments = ("new.csv", "-o", "out.csv", "--level", "0.9", "--intervals", kind)
        done = invoke("average.pengp", *arguments)
        assert done.exit_code == 0
        assert ("at least 80 % of new runs" in done.stderr) == (kind == "jackknife+")
        assert done.stderr.count("\n") == (kind == "jackknife+")
        out = read("out.csv")
        lower, upper = model.predict_interval(frame.assign(a=0.5), 0.9, kind)
        np.testing.assert_allclose(out["y_lower"], lower, rtol=1e-12)
        np.testing.assert_allclose(out["y_upper"], upper, rtol=1e-12)
    refused = invoke("average.pengp", "new.csv", "--intervals", "jackknife+")
    assert "10 runs support a level of at most 0.909" in refused.stderr
