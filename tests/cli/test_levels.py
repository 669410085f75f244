"""Whole numbers, factors and several responses on the command line, from design to update."""

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from pengp import PenalizedGPRegressorCV, load
from pengp.cli.app import app

SHIFTS = {"brass": 1.0, "steel": 0.0, "wood": -0.6}


def table(n: int, seed: int) -> pd.DataFrame:
    """Return runs of an input, a material and a count, with two responses."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "x": rng.uniform(0.0, 2.0, n).round(4),
            "material": np.array(sorted(SHIFTS))[np.arange(n) % 3],
            "count": rng.integers(1, 5, n),
        }
    )
    frame["stress"] = (
        np.sin(2.0 * frame["x"]) + frame["material"].map(SHIFTS) + 0.3 * frame["count"]
    )
    frame["life"] = np.exp(-frame["stress"])
    return frame


def pengp(*arguments: str) -> Any:
    """Run a command in this directory."""
    return CliRunner().invoke(app, list(arguments))


def run(*arguments: str) -> Any:
    """Run a command that has to succeed."""
    done = pengp(*arguments)
    assert done.exit_code == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with runs and a model of them."""
    place = tmp_path_factory.mktemp("levels")
    table(20, 1).to_csv(place / "runs.csv", index=False)
    table(6, 2).to_csv(place / "new.csv", index=False)
    with contextlib.chdir(place):
        done = run(*FIT, "--response", "life", "--transform", "life=log", "-o", "m.pengp")
    assert "Response  stress, 20 runs" in done.stdout
    assert "Response  life, 20 runs" in done.stdout
    assert "3 levels: brass, steel, wood" in done.stdout
    assert "1 to 4, whole numbers" in done.stdout
    assert done.stderr == ""
    return place


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    return folder


FIT = ["fit", "runs.csv", "-y", "stress", "--factor", "material", "--integer", "count"]
FIT += ["--method", "penalized", "--repeats", "1"]


def test_predictions_are_those_of_the_library(here: Path) -> None:
    runs, new = pd.read_csv("runs.csv"), pd.read_csv("new.csv")
    ours = pd.read_csv(io.StringIO(run("predict", "m.pengp", "new.csv").stdout))
    model = load("m.pengp")
    assert isinstance(model, PenalizedGPRegressorCV)
    other = PenalizedGPRegressorCV(
        cv=model.cv,
        integer_inputs=["count"],
        response_transform=[None, "log"],
        random_state=0,
    )
    names = ["x", "material", "count"]
    other.fit(runs[names], runs[["stress", "life"]])
    mean, std = other.predict(new[names], return_std=True)
    assert np.allclose(ours[["stress_mean", "life_mean"]], mean, rtol=1e-12)
    assert np.allclose(ours[["stress_std", "life_std"]], std, rtol=1e-12)
    assert np.abs(ours["stress_mean"] - new["stress"]).max() < 0.2
    assert ours["material"].tolist() == new["material"].tolist()


def test_every_command_knows_both_responses(here: Path) -> None:
    judged = json.loads(run("validate", "m.pengp", "new.csv", "--json").stdout)
    assert list(judged["responses"]) == ["stress", "life"]
    assert judged["responses"]["stress"]["test"]["q2"] > 0.9
    told = json.loads(run("info", "m.pengp", "--json").stdout)["responses"]
    assert [one["response"] for one in told] == ["stress", "life"]
    lams = load("m.pengp").lam_
    assert [one["lambda"]["value"] for one in told] == pytest.approx(list(lams))
    run("report", "m.pengp", "-o", "m.html")
    page = Path("m.html").read_text(encoding="utf-8")
    assert "Surrogates of 2 responses" in page


@pytest.mark.parametrize("how", [[], ["--re-estimate"]], ids=["condition", "re-estimate"])
def test_new_runs_are_learned_and_reported_for_both(here: Path, how: list[str]) -> None:
    done = run("update", "m.pengp", "new.csv", "-o", "longer.pengp", "--json", *how)
    told = json.loads(done.stdout)
    assert [one["rmse"] < 0.2 for one in told["new_runs"]] == [True, True]
    new = pd.read_csv("new.csv")
    model = load("longer.pengp")
    assert len(model.X_train_) == 26
    mean = model.predict(new[["x", "material", "count"]])
    assert np.allclose(mean, new[["stress", "life"]], atol=5e-3)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"material": "glass"}, "row 1, column 'material' holds 'glass', which is none of its"),
        ({"material": ""}, "row 1, column 'material' is empty"),
    ],
)
def test_unknown_levels_are_named(here: Path, change: dict[str, str], words: str) -> None:
    pd.read_csv("new.csv").assign(**change).to_csv("odd.csv", index=False)
    for command in (["predict"], ["validate"], ["update", "-o", "x.pengp"]):
        done = pengp(*command, "m.pengp", "odd.csv")
        assert done.exit_code == 3
        assert words in done.stderr


def test_numbers_can_be_levels(here: Path) -> None:
    codes = {"brass": 10, "steel": 30, "wood": 20}
    for name in ("runs", "new"):
        frame = pd.read_csv(f"{name}.csv")
        frame.assign(material=frame["material"].map(codes)).to_csv(f"n_{name}.csv", index=False)
    run(FIT[0], "n_runs.csv", *FIT[2:], "--ignore", "life", "-o", "n.pengp")
    run(*FIT, "--ignore", "life", "-o", "t.pengp")
    of_numbers, of_texts = (
        pd.read_csv(io.StringIO(run("predict", model, runs).stdout))["stress_mean"]
        for model, runs in (("n.pengp", "n_new.csv"), ("t.pengp", "new.csv"))
    )
    assert np.allclose(of_numbers, of_texts, rtol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--factor", "colour"], "has no column 'colour'"),
        (["--integer", "x"], "column 'x' holds"),
        (["--integer", "y"], "has no column 'y'"),
        (["--response", "stress"], "named twice by --response"),
        (["--response", "life", "--tolerance", "1"], "--tolerance is in the unit of one response"),
        (["--response", "life", "--log", "auto"], "--log auto judges one response at a time"),
        (["--bounds", "material=0:2"], "'material' is a factor, and levels have no bounds"),
    ],
)
def test_refusals(here: Path, arguments: list[str], words: str) -> None:
    done = pengp(*FIT, "-o", "refused.pengp", *arguments)
    assert done.exit_code == 3
    assert words in done.stderr
    assert not Path("refused.pengp").exists()


def test_designs_have_whole_numbers_and_levels_equally_often(here: Path) -> None:
    ranges = ["-b", "x=0:2", "-b", "count=1:4", "--integer", "count"]
    command = ["design", "-n", "24", *ranges, "--factor", "material=brass,steel,wood"]
    frame = pd.read_csv(io.StringIO(run(*command).stdout))
    assert frame["count"].value_counts().to_dict() == {1: 6, 2: 6, 3: 6, 4: 6}
    assert set(frame["material"].value_counts()) == {8}
    told = run(*command, "-o", "plan.csv").stdout.split()
    assert told[-4:] == ["--integer", "count", "--factor", "material"]
    by_log = [*ranges, "--log", "count", "--factor", "m=a,b"]
    frame = pd.read_csv(io.StringIO(run("design", "-n", "40", *by_log).stdout))
    shares = np.diff(np.log([0.5, 1.5, 2.5, 3.5, 4.5])) / np.log(9.0)
    assert np.abs(frame["count"].value_counts().sort_index() / 40 - shares).max() < 0.03


def test_designs_with_few_values_say_which_runs_repeat_others(here: Path) -> None:
    done = run("design", "-n", "9", "-b", "k=1:2", "--integer", "k", "--factor", "m=a,b")
    assert "5 of 9 runs have the inputs of others" in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--integer", "y"], "--integer y: there is no such input"),
        (["--integer", "x"], "must have whole numbers as ends"),
        (["--factor", "m=a"], "write NAME=A,B,... with two levels or more"),
        (["--factor", "x=a,b"], "'x' is there already"),
    ],
)
def test_refused_designs(here: Path, arguments: list[str], words: str) -> None:
    done = pengp("design", "-n", "4", "-b", "x=0:1.5", *arguments)
    assert done.exit_code == 3
    assert words in " ".join(done.stderr.split())


def test_rows_that_repeat_others_count_once(here: Path) -> None:
    runs = table(20, 1)  # older pandas reads its own digits with an error of rounding
    runs.iloc[[*range(20), 4, 7]].to_csv("twice.csv", index=False)
    options = [*FIT[2:], "--ignore", "life"]
    done = run("fit", "twice.csv", *options, "-o", "twice.pengp")
    assert done.stderr.startswith("Note: twice.csv: row 21 repeats row 5, row 22 repeats row 8;")
    run("fit", "runs.csv", *options, "-o", "once.pengp")
    twice, once = load("twice.pengp"), load("once.pengp")
    assert (twice.predict(runs.iloc[:, :3]) == once.predict(runs.iloc[:, :3])).all()
    done = run("fit", "twice.csv", *options, "--nugget", "estimate", "-o", "noisy.pengp")
    assert len(load("noisy.pengp").X_train_) == 22


def test_decisions_name_levels_and_whole_numbers(here: Path) -> None:
    frame = table(20, 1)[["x", "material", "count", "stress"]]
    rows = frame.to_csv(index=False) + "1.0,wood,2,\n"
    Path("state.csv").write_text(rows)
    pd.DataFrame({"count": [2, 3], "x": [0.5, 1.5], "material": ["wood", "steel"]}).to_csv(
        "some.csv", index=False
    )
    ask = ["next", "state.csv", "-y", "stress", "--factor", "material", "--integer", "count"]
    done = run(*ask, "--where", "material != brass", "--criterion", "vigf", "-o", "plan.csv")
    assert "20 done, 1 planned" in done.stdout
    plan = pd.read_csv("plan.csv")
    assert plan["material"].isin(["steel", "wood"]).all()
    assert plan["count"].isin(range(1, 5)).all()
    only = json.loads(run(*ask, "--candidates", "some.csv", "--json").stdout)
    assert only["runs"][0]["inputs"]["material"] in ("wood", "steel")
    assert only["runs"][0]["inputs"]["count"] in (2, 3)
    refused = pengp(*ask, "--where", "material == glass")
    assert "none of the levels of material: brass, steel, wood" in refused.stderr
    assert "go with a fit" in pengp(*ask, "--model", "m.pengp").stderr


def test_effects_and_the_optimum_of_a_model_with_levels(here: Path) -> None:
    told = json.loads(
        run("effects", "m.pengp", "--law", "material=steel:3,wood:1", "--json").stdout
    )
    one = told["effects"][0]
    assert one["laws"]["material"] == "steel:0.75,wood:0.25"
    assert one["main_effects"][1]["x"] == ["steel", "wood"]
    assert one["main_effects"][2]["x"] == [1.0, 2.0, 3.0, 4.0]
    pair = json.loads(run("effects", "m.pengp", "--pair", "x,material", "--json").stdout)
    assert pair["effects"][0]["surfaces"][0]["x"][1] == ["brass", "steel", "wood"]
    best = json.loads(run("optimize", "m.pengp", "-y", "stress", "--maximize", "--json").stdout)
    assert best["inputs"]["material"] == "brass"
    assert best["inputs"]["count"] == 4
    shown = run(
        "optimize", "m.pengp", "-y", "stress", "--minimize", "--where", "material in (steel,)"
    )
    assert "steel" in shown.stdout
    assert "wood" not in shown.stdout
    assert "two, as A,B" in pengp("effects", "m.pengp", "--pair", "x").stderr
