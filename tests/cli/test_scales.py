"""Scales on the command line: asked for, advised, refused; designs on them."""

import contextlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from pengp import load
from pengp.cli.app import app
from pengp.model import Logit


def write(path: Path, n: int, seed: int) -> pd.DataFrame:
    """Write runs with an input over eight decades and a positive response over three."""
    U = np.random.default_rng(seed).random((n, 2))
    k = 8.0 * U[:, 0] - 6.0
    flow = np.exp(3.0 * np.sin(0.8 * k) + U[:, 1])
    frame = pd.DataFrame({"Permeability": 10.0**k, "Porosity (%)": 100.0 * U[:, 1], "Flow": flow})
    frame.to_csv(path, index=False)
    return frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("scales")
    write(place / "runs.csv", 20, 1)
    write(place / "test.csv", 30, 2)
    return place


def pengp(folder: Path, *arguments: str) -> Any:
    """Run a command in a directory."""
    with contextlib.chdir(folder):
        return CliRunner().invoke(app, list(arguments))


def run(folder: Path, *arguments: str) -> Any:
    """Run a command that has to succeed."""
    done = pengp(folder, *arguments)
    assert done.exit_code == 0, done.stderr
    return done


FIT = ["fit", "runs.csv", "-y", "Flow", "--method", "penalized", "--repeats", "1", "--force"]


def test_fit_says_what_a_logarithm_would_gain(folder: Path) -> None:
    done = run(folder, *FIT, "-o", "plain.pengp")
    text = " ".join(done.stdout.split())
    assert "Permeability spans 7." in text
    assert "with --log Permeability the log score" in text
    assert load(folder / "plain.pengp").input_transforms_[0].name == "none"  # never unasked


def test_predictions_of_a_log_model_are_positive_and_right(folder: Path) -> None:
    run(folder, *FIT, "-o", "log.pengp", "--log", "Permeability", "--log-response")
    done = run(folder, "predict", "log.pengp", "test.csv", "-o", "out.csv", "--json")
    assert json.loads(done.stdout)["rows"] == 30
    out = pd.read_csv(folder / "out.csv")
    assert (out["Flow_lower"] > 0.0).all()
    model = load(folder / "log.pengp")
    test = write(folder / "test.csv", 30, 2)  # older pandas reads with an error of rounding
    lower, upper = model.predict_interval(test[["Permeability", "Porosity (%)"]])
    np.testing.assert_allclose(out["Flow_lower"], lower, rtol=1e-12)
    np.testing.assert_allclose(out["Flow_upper"], upper, rtol=1e-12)
    info = run(folder, "info", "log.pengp").stdout
    assert "log10(Permeability), log10(Flow)" in info
    scores = json.loads(run(folder, "validate", "log.pengp", "test.csv", "--json").stdout)
    told = scores["responses"]["Flow"]["test"]
    assert told["q2"] > 0.98
    y = out["Flow"].to_numpy()
    assert told["coverage"] == pytest.approx(np.mean((lower <= y) & (y <= upper)))
    run(folder, "update", "log.pengp", "test.csv", "-o", "more.pengp")
    assert load(folder / "more.pengp").response_transform_.name == "log10"


def test_auto_does_what_would_be_advised(folder: Path) -> None:
    done = run(folder, *FIT, "-o", "auto.pengp", "--log", "auto")
    model = load(folder / "auto.pengp")
    assert [t.name for t in model.input_transforms_] == ["log10", "none"]
    assert model.response_transform_.name == "log10"
    assert done.stderr.count("--log auto:") == 2
    assert "a run" not in " ".join(done.stdout.split())  # nothing more is advised


def test_other_scales_have_names(folder: Path) -> None:
    scales = ["--transform", "Porosity (%)=logit:-1:101", "--transform", "Flow=boxcox"]
    run(folder, *FIT, "-o", "other.pengp", "--log", "Permeability", *scales)
    model = load(folder / "other.pengp")
    assert model.input_transforms_[1] == Logit(-1.0, 101.0)
    assert model.response_transform_.power is not None
    again = ["update", "other.pengp", "test.csv", "-o", "again.pengp", "--re-estimate"]
    run(folder, *again)
    assert load(folder / "again.pengp").response_transform_.name == "boxcox"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--log", "permeability"], "did you mean 'Permeability'?"),
        (["--log", "Flow"], "there is no column 'Flow' to transform"),
        (["--transform", "Flow=cube"], "there is no transform 'cube'; use one of none, log"),
        (["--transform", "Flow"], "write NAME=KIND, such as x1=log10"),
        (["--transform", "Flow=logit:5"], "as in logit:0:100 or boxcox:0.5"),
        (["--transform", "Flow=logit:0:1"], "needs values between 0 and 1 (rows are counted"),
        (["--log-response", "--transform", "Flow=sqrt"], "'Flow' has two transforms; give one"),
    ],
)
def test_what_makes_no_sense_is_told(folder: Path, options: list[str], words: str) -> None:
    done = pengp(folder, *FIT, "-o", "no.pengp", *options)
    assert done.exit_code == 3
    assert words in done.stderr


def test_a_row_without_a_logarithm_is_named(folder: Path) -> None:
    run(folder, *FIT, "-o", "log2.pengp", "--log", "Permeability")
    frame = pd.read_csv(folder / "test.csv")
    frame.loc[6, "Permeability"] = 0.0
    frame.to_csv(folder / "zero.csv", index=False)
    for command in ("predict", "validate", "update"):
        done = pengp(folder, command, "log2.pengp", "zero.csv")
        assert done.exit_code == 3
        assert "zero.csv: row 7, column 'Permeability' holds 0, but log10 needs" in done.stderr


def test_a_design_is_spaced_by_the_logarithm(folder: Path) -> None:
    bounds = ["-b", "k=1e-6:1e2", "-b", "p=0:1", "--log", "k"]
    run(folder, "design", "-n", "8", *bounds, "-o", "design.csv")
    design = pd.read_csv(folder / "design.csv")
    cells = np.floor(8.0 * (np.log10(design["k"]) + 6.0) / 8.0)
    assert sorted(cells) == list(range(8))
    run(folder, "design", "-n", "8", *bounds, "-o", "short.csv", "--digits", "2")
    short = pd.read_csv(folder / "short.csv", dtype=str)
    np.testing.assert_allclose(short["k"].astype(float), design["k"], rtol=0.05)
    assert max(len(f"{float(v):.15g}".replace(".", "").strip("0")) for v in short["k"]) <= 9
    done = pengp(folder, "design", "-n", "8", "-b", "k=0:1e2", "--log", "k")
    assert "its range starts at 0, and a logarithm needs values above 0" in done.stderr
