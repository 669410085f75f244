"""`pengp design`: Latin hypercubes in the engineer's units, and ranges read with care."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner, Result

from pengp.cli.app import app
from pengp.cli.bounds import read_bounds
from pengp.exceptions import FileError, InputError
from tests.cli.commands import pengp

RANGES = {"x1": (0.0, 100.0), "load": (-0.5, 1.3), "x3": (1000.0, 1250.0)}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with bounds.csv."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{name},{low},{high}" for name, (low, high) in RANGES.items()]
    Path("bounds.csv").write_text("\n".join(["input,lower,upper", *rows]) + "\n")
    return tmp_path


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["design", *arguments])


def levels(frame: pd.DataFrame, n: int) -> np.ndarray:
    """Return in which of n equal parts of its range each value lies, ascending by column."""
    low, high = np.array([RANGES[name] for name in frame.columns]).T
    return np.sort(np.floor((frame.to_numpy() - low) / (high - low) * n).astype(int), axis=0)


def test_every_part_of_every_range_holds_one_run(here: Path) -> None:
    done = pengp("design", "--n", "15", "--bounds", "bounds.csv", "-o", "design.csv", cwd=here)
    assert (done.returncode, done.stderr) == (0, "")
    assert " ".join(done.stdout.split()) == (
        "15 runs of 3 inputs written to design.csv (maximin Latin hypercube, seed 0). Run the "
        "simulator at each row, add its response as a column, then: pengp fit design.csv "
        "--response NAME"
    )
    frame = pd.read_csv("design.csv")
    assert list(frame.columns) == list(RANGES)
    np.testing.assert_array_equal(levels(frame, 15), np.arange(15)[:, None] + np.zeros(3))


def test_two_runs_stand_in_the_middle_of_the_halves() -> None:
    done = invoke("-n", "2", "-b", "x1=0:100")
    assert (done.exit_code, done.stderr) == (0, "")
    assert sorted(done.stdout.splitlines()) == ["25.0", "75.0", "x1"]


def test_maximin_runs_are_farther_apart_than_random_ones() -> None:
    def smallest_distance(kind: str) -> float:
        done = invoke("-n", "12", "-b", "a=0:1", "-b", "b=0:1", "--kind", kind, "-o", "d.csv")
        assert done.exit_code == 0
        X = pd.read_csv("d.csv").to_numpy()
        distance = np.linalg.norm(X[:, None] - X, axis=-1)
        return float(distance[np.triu_indices(12, 1)].min())

    assert smallest_distance("maximin") > 1.5 * smallest_distance("random")


def test_the_seed_decides() -> None:
    arguments = ("-n", "6", "-b", "bounds.csv", "--kind", "random")
    first, again, other = (invoke(*arguments, "--seed", s).stdout for s in ("3", "3", "4"))
    assert first == again
    assert first != other


def test_every_slice_is_a_design_of_its_own() -> None:
    done = invoke(
        *("-n", "12", "-b", "bounds.csv", "--kind", "sliced", "--slices", "3"), "-o", "d.xlsx"
    )
    assert done.exit_code == 0
    assert "sliced Latin hypercube of 3 slices" in done.stdout
    frame = pd.read_excel("d.xlsx")
    assert frame["slice"].tolist() == [1] * 4 + [2] * 4 + [3] * 4
    X = frame[list(RANGES)]
    np.testing.assert_array_equal(levels(X, 12), np.arange(12)[:, None] + np.zeros(3))
    for k in (1, 2, 3):
        part = X[frame["slice"] == k]
        np.testing.assert_array_equal(levels(part, 4), np.arange(4)[:, None] + np.zeros(3))


def test_rounded_values_can_be_typed_and_stay_in_the_range() -> None:
    arguments = ("-n", "9", "-b", "bounds.csv", "-b", "y=1.0:1.1")
    exact = pd.read_csv(_written(*arguments))
    rounded = pd.read_csv(_written(*arguments, "--digits", "2"))
    # Widths 100, 1.8, 250 and 0.1 (a little more in floats), two digits of each power of ten.
    for name, step in {"x1": 1.0, "load": 0.1, "x3": 10.0, "y": 0.001}.items():
        np.testing.assert_allclose(
            rounded[name] / step, np.round(rounded[name] / step), atol=1e-9, rtol=0
        )
        assert np.abs(rounded[name] - exact[name]).max() <= 0.5 * step * (1 + 1e-9)
    assert rounded["x1"].dtype.kind == rounded["x3"].dtype.kind == "i"
    assert max(map(len, rounded["y"].astype(str))) <= 5  # 1.094, not 1.0940000000000001


def test_rounding_never_leaves_the_range() -> None:
    # The middles of the quarters are 1.15, 1.45, ...; rounded to 1 they would leave 1.0001:2.2.
    done = invoke("-n", "4", "-b", "x=1.0001:2.2", "-b", "y=-7.9:-0.2", "--digits", "1")
    x, y = np.array([line.split(",") for line in done.stdout.split()[1:]], dtype=float).T
    assert set(x) == {2.0}
    assert y.min() >= -7.9
    assert y.max() <= -0.2
    coincide = invoke("-n", "40", "-b", "x=0:1", "--digits", "1")
    assert coincide.exit_code == 3
    assert "with --digits 1 some runs coincide" in coincide.stderr


def _written(*arguments: str) -> str:
    assert invoke(*arguments, "-o", "d.csv").exit_code == 0
    return "d.csv"


@pytest.mark.parametrize("name", ["d.tsv", "d.parquet", "d.xlsx"])
def test_the_extension_decides_the_format(name: str) -> None:
    assert invoke("-n", "5", "-b", "bounds.csv", "-o", name).exit_code == 0
    frame = {
        "d.tsv": lambda: pd.read_csv(name, sep="\t"),
        "d.parquet": lambda: pd.read_parquet(name),
        "d.xlsx": lambda: pd.read_excel(name),
    }[name]()
    expected = pd.read_csv(_written("-n", "5", "-b", "bounds.csv"))
    pd.testing.assert_frame_equal(frame.astype(float), expected)


def test_ranges_come_from_files_and_options_in_their_order() -> None:
    Path("german.csv").write_text("lower;unit;input;upper\n-0,5;mm; gap ;1,5\n0;;x1;1e3\n")
    bounds = read_bounds(["b = c=-1.5:-1e-3", "german.csv"])
    assert list(bounds.items()) == [
        ("b = c", (-1.5, -1e-3)),
        ("gap", (-0.5, 1.5)),
        ("x1", (0, 1e3)),
    ]
    Path("a=1:2").write_text("input,lower,upper\nx,0,1\n")  # a file before a range
    assert read_bounds(["a=1:2"]) == {"x": (0.0, 1.0)}


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("x1=5", "--bounds x1=5: write NAME=LOWER:UPPER with two numbers"),
        ("x1=0:1:2", "write NAME=LOWER:UPPER"),
        ("x1=0,5:1", "write NAME=LOWER:UPPER"),
        ("x1=3:3", "the lower end 3.0 of 'x1' is not below its upper end 3.0"),
        ("x1=0:inf", "must have two finite ends"),
        ("=0:1", "the name of the input is missing"),
        (
            "X1=0:1",
            "--bounds X1=0:1: there is no input 'X1'; did you mean 'x1'? The inputs are: x1,",
        ),
    ],
)
def test_a_wrong_range_is_refused(option: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        read_bounds([option], ["x1", "load"])
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("input,low,upper\na,0,1\n", "has no column 'lower'; did you mean 'low'?"),
        ("input,lower,upper\na,0,1\nb,,1\n", "b.csv: row 2, column 'lower' is empty"),
        ("input,lower,upper\na,0,ten\n", "b.csv: row 1, column 'upper' holds 'ten', which is not"),
        (
            "input,lower,upper\na,0,1\nb,2,1\n",
            "b.csv: row 2: the lower end 2.0 of 'b' is not below",
        ),
        ("input,lower,upper\na,0,1\nb,0,1\na,0,1\n", "b.csv: row 3: 'a' already has bounds"),
        ("input,lower,upper\n ,0,1\n", "b.csv: row 1: the name of the input is missing"),
        ("input,lower,upper\n", "b.csv has a header but no rows"),
        ("", "b.csv is empty"),
    ],
)
def test_a_wrong_table_of_ranges_is_refused_by_row_and_column(text: str, message: str) -> None:
    Path("b.csv").write_text(text)
    done = invoke("-n", "5", "-b", "b.csv", "-o", "d.csv")
    assert (done.exit_code, done.stdout) == (3, "")
    assert message in done.stderr
    assert not Path("d.csv").exists()


def test_a_range_that_is_neither_file_nor_range_is_explained() -> None:
    with pytest.raises(FileError, match=r"there is no such file; a range is written NAME=LOWER:UP"):
        read_bounds(["x1:0:100"])
    with pytest.raises(FileError, match=r"cannot read none\.csv: there is no such file"):
        read_bounds(["none.csv"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--slices", "3"], "--slices goes with --kind sliced, not with --kind maximin."),
        (["--kind", "sliced"], "--kind sliced needs --slices"),
        (["--kind", "sliced", "--slices", "4"], "use --n 8 or --n 12."),
        (["--kind", "sliced", "--slices", "20"], "use --n 20."),
        (["--kind", "sliced", "--slices", "2", "-b", "slice=0:1"], "an input is named 'slice'"),
        (["-b", "x1=0:1"], "--bounds x1=0:1: 'x1' already has bounds"),
        (["-o", "./bounds.csv"], "would replace the bounds"),
    ],
)
def test_options_that_do_not_go_together_are_refused(arguments: list[str], message: str) -> None:
    done = invoke("-n", "10", "-b", "bounds.csv", *arguments)
    assert (done.exit_code, done.stdout) == (3, "")
    assert message in done.stderr
