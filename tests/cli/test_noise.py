"""``--noise-sd`` from fit to report, as processes."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pengp import BayesianGPRegressor, load
from pengp.datasets import latin_hypercube
from tests.cli.commands import pengp


def table(n: int = 16, seed: int = 0) -> pd.DataFrame:
    """Return noisy runs of two responses, the first two with the same inputs."""
    rng = np.random.default_rng(seed)
    a, b = rng.random((2, n))
    a[1], b[1] = a[0], b[0]
    sd = np.where(np.arange(n) % 2, 0.3, 0.05)
    y = 2.0 * np.sin(5.0 * a) + b
    z = y**2 + 0.1 * rng.standard_normal(n)
    noisy = y + sd * rng.standard_normal(n)
    return pd.DataFrame({"a": a, "b": b, "y": noisy, "sd": sd, "z": z}).round(6)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with runs, further runs and a model."""
    where = tmp_path_factory.mktemp("noise")
    table().to_csv(where / "runs.csv", index=False)
    table(6, seed=1).iloc[2:].to_csv(where / "new.csv", index=False)
    done = run("fit", "runs.csv", "-y", "y", "--ignore", "z", "--noise-sd", "sd", cwd=where)
    assert "replaced by their mean, whose noise is that of a mean" in done.stderr
    assert "known, standard deviations 0.04932 to 0.3" in done.stdout
    return where


def run(*words: str, cwd: Path) -> Any:
    """Run a command that is to succeed."""
    done = pengp(*words, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done


def test_the_model_is_that_of_python(place: Path) -> None:
    runs, model = table(), load(place / "runs.pengp")
    own = BayesianGPRegressor(random_state=0).fit(runs[["a", "b"]], runs["y"], runs["sd"])
    assert list(model.feature_names_in_) == ["a", "b"]
    np.testing.assert_allclose(model.noise_sd_, own.noise_sd_)
    np.testing.assert_allclose(model.predict(runs[["a", "b"]]), own.predict(runs[["a", "b"]]))


def test_commands_follow_the_model(place: Path) -> None:
    found = run("validate", "runs.pengp", "new.csv", "--json", cwd=place).stdout
    without = run("validate", "runs.pengp", "new.csv", "--noise-sd", "0", "--json", cwd=place)
    seen, exact = (json.loads(text)["responses"]["y"] for text in (found, without.stdout))
    assert seen["inside"] >= exact["inside"]
    assert seen["test"]["interval_score"] != exact["test"]["interval_score"]
    more = run("update", "runs.pengp", "new.csv", "-o", "more.pengp", cwd=place)
    assert "4 new runs" in more.stdout
    assert len(load(place / "more.pengp").noise_sd_) == 19
    run("update", "more.pengp", "new.csv", "-o", "anew.pengp", "--re-estimate", cwd=place)
    assert len(load(place / "anew.pengp").noise_sd_) == 19  # the same runs again: their mean
    assert (load(place / "anew.pengp").noise_sd_[-1] < table(6, seed=1)["sd"].iloc[-1]).all()
    proposed = run("next", "runs.csv", "-y", "y", "--ignore", "z", "--noise-sd", "sd", cwd=place)
    assert "16 done" in proposed.stdout
    run("report", "runs.pengp", "-o", "page.html", cwd=place)
    assert "Its noise is known, standard deviations" in (place / "page.html").read_text()


def test_each_of_several_responses_has_its_own(place: Path) -> None:
    options = ["--noise-sd", "y=sd", "--noise-sd", "z=0.1", "-o", "two.pengp"]
    fast = ["--method", "penalized", "--lambda", "0.01"]
    run("fit", "runs.csv", "-y", "y", "-y", "z", *options, *fast, cwd=place)
    noise = load(place / "two.pengp").noise_sd_
    np.testing.assert_allclose(noise[1:, 1], 0.1)
    np.testing.assert_allclose(noise[1:, 0], table()["sd"].iloc[2:])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--noise-sd", "sdd"], "has no column 'sdd'; did you mean 'sd'?"),
        (["--noise-sd", "-0.1"], "--noise-sd -0.1 is no standard deviation"),
        (["--noise-sd", "y"], "'y' is a response and cannot be the noise too"),
        (["--noise-sd", "sd", "--inputs", "a,sd"], "'sd' is the noise of a response"),
        (["--noise-sd", "sd", "--nugget", "estimate"], "two descriptions of one scatter"),
        (["--noise-sd", "sd", "--noise-sd", "y=1"], "given twice for 'y'"),
        (
            ["--ignore", "sd"],
            "give their standard deviation with --noise-sd, or use --nugget estimate",
        ),
    ],
)
def test_mistakes_are_told_in_a_sentence(place: Path, options: list[str], words: str) -> None:
    done = pengp("fit", "runs.csv", "-y", "y", "--ignore", "z", "--force", *options, cwd=place)
    assert done.returncode != 0
    assert words in " ".join(done.stderr.split())


@pytest.mark.parametrize("cell", ["-0.3", "", "much"])
def test_a_cell_that_is_no_standard_deviation_is_named(place: Path, cell: str) -> None:
    runs = table().astype({"sd": object})
    runs.loc[4, "sd"] = cell
    runs.to_csv(place / "wrong.csv", index=False)
    done = pengp("fit", "wrong.csv", "-y", "y", "--noise-sd", "sd", cwd=place)
    assert done.returncode != 0
    assert "row 5, column 'sd'" in " ".join(done.stderr.split())


def test_an_update_needs_noise_where_the_model_has_it(place: Path) -> None:
    table().drop(columns=["sd", "z"]).iloc[1:].to_csv(place / "plain.csv", index=False)
    fast = ["--method", "penalized", "--lambda", "0.01"]
    run("fit", "plain.csv", "-y", "y", *fast, cwd=place)
    done = pengp("update", "plain.pengp", "new.csv", "--noise-sd", "sd", cwd=place)
    assert "add --re-estimate to fit it anew" in " ".join(done.stderr.split())
    options = ["--noise-sd", "sd", "--re-estimate", "-o", "mixed.pengp"]
    run("update", "plain.pengp", "new.csv", *options, cwd=place)
    assert (load(place / "mixed.pengp").noise_sd_[:15] == 0.0).all()


def test_noise_that_nobody_mentioned_is_told(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    a, b = latin_hypercube(30, 2, random_state=0).T
    y = 2.0 * np.sin(5.0 * a) + b**2
    noisy = y + 0.3 * rng.standard_normal(30)
    pd.DataFrame({"a": a, "b": b, "y": noisy}).to_csv(tmp_path / "noisy.csv", index=False)
    pd.DataFrame({"a": a, "b": b, "y": y}).to_csv(tmp_path / "exact.csv", index=False)
    for method in ("penalized", "bayes"):
        fit = ("-y", "y", "--method", method, "--force", "-o", "model.pengp")
        told = " ".join(run("fit", "noisy.csv", *fit, cwd=tmp_path).stdout.split())
        assert "The runs suggest noise that the model does not know" in told
        assert "fit with --nugget estimate, or with --noise-sd" in told
    found = json.loads(run("info", "model.pengp", "--json", cwd=tmp_path).stdout)
    assert "noise" in [finding["code"] for finding in found["findings"]]
    for other in (("noisy.csv", "--nugget", "estimate"), ("exact.csv",)):
        assert "suggest noise" not in run("fit", *other, *fit, cwd=tmp_path).stdout
