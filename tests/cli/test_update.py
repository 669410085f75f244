"""`pengp update` and `pengp report`: new runs are judged by the old model and then learned."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner, Result

from pengp import PenalizedGPRegressor, PenalizedGPRegressorCV, load, save
from pengp.choosing.folds import random_folds
from pengp.cli.app import app
from pengp.persistence import read_info
from tests.cli.commands import INPUTS, pengp, piston_runs

RUNS = piston_runs()
OLD, NEW = RUNS[:9], RUNS[9:]


def run(*arguments: str | Path) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The model file of the first 9 runs."""
    directory = tmp_path_factory.mktemp("fitted")
    OLD.to_csv(directory / "old.csv", index=False)
    done = pengp(
        "fit",
        "old.csv",
        "-y",
        "noise",
        "--method",
        "penalized",
        "--repeats",
        "2",
        "--seed",
        "3",
        cwd=directory,
    )
    assert done.returncode == 0, done.stderr
    return (directory / "old.pengp").read_bytes()


@pytest.fixture
def here(tmp_path: Path, fitted: bytes, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with old.pengp and new.csv, which is the working directory."""
    (tmp_path / "old.pengp").write_bytes(fitted)
    NEW[["noise", *INPUTS[::-1]]].to_csv(tmp_path / "new.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_model_conditions_on_the_new_runs_and_replaces_its_file(here: Path) -> None:
    old = load(here / "old.pengp")
    done = pengp("update", "old.pengp", "new.csv", cwd=here)
    assert done.returncode == 0, done.stderr
    expected = old.condition_on(NEW[INPUTS], NEW["noise"])
    updated = load(here / "old.pengp")
    X = RUNS[INPUTS] + 0.1
    np.testing.assert_array_equal(
        updated.predict(X, return_std=True), expected.predict(X, return_std=True)
    )
    np.testing.assert_array_equal(updated.theta_, old.theta_)
    assert len(updated.y_train_) == 12
    assert sorted(path.name for path in here.iterdir()) == ["new.csv", "old.pengp"]


def test_the_new_runs_are_compared_with_their_predictions(here: Path) -> None:
    old = load(here / "old.pengp")
    mean = old.predict(NEW[INPUTS])
    low, high = old.predict_interval(NEW[INPUTS], 0.95)
    inside = (low <= NEW["noise"]) & (high >= NEW["noise"])
    rmse = np.sqrt(np.mean((NEW["noise"] - mean) ** 2))
    record = json.loads(run("update", "old.pengp", "new.csv", "-o", "a.pengp", "--json").stdout)
    told = record["new_runs"]
    np.testing.assert_allclose(told["predicted"], mean, rtol=1e-15)
    np.testing.assert_allclose(told["lower"], low, rtol=1e-12)
    np.testing.assert_allclose(told["upper"], high, rtol=1e-12)
    assert told["inside"] == inside.tolist()
    assert told["rmse"] == pytest.approx(rmse, rel=1e-12)
    before = old.held_out().scores()["rmse"]
    assert told["held_out_rmse_before"] == pytest.approx(before, rel=1e-12)
    result = run("update", "old.pengp", "new.csv", "-o", "b.pengp")
    lines = [line.split() for line in result.stdout.splitlines()]
    for row, (y, m, word) in enumerate(zip(NEW["noise"], mean, inside, strict=True), start=1):
        (line,) = [line for line in lines if line[:2] == [str(row), f"{y:.5g}"]]
        assert line[2:4] == [f"{m:.5g}", f"{y - m:.5g}"]
        assert line[-1] == ("yes" if word else "no")
    assert f"RMSE {rmse:.4g} (held-out runs of the model before: {before:.4g})" in result.stdout
    assert f"{inside.sum()} of 3 inside their" in result.stdout


def test_runs_that_contradict_the_model_call_for_a_new_estimate(here: Path) -> None:
    model = load(here / "old.pengp")
    centre = model.predict(NEW[INPUTS])
    said = "Note: the new runs contradict the model as it was; estimate it anew"
    # of 3 runs, 1 outside has probability 0.14 and 2 have 0.007
    for outside, expected in ((1, False), (2, True)):
        far = np.where(np.arange(3) < outside, 50.0, 0.0)
        NEW.assign(noise=centre + far).to_csv(here / "new.csv", index=False)
        result = run("update", "old.pengp", "new.csv", "-o", "a.pengp")
        assert (said in result.stderr) == expected


def test_estimating_anew_equals_a_fit_of_all_runs(here: Path) -> None:
    result = run("update", "old.pengp", "new.csv", "--re-estimate", "-o", "all.pengp")
    assert result.exit_code == 0, result.stderr
    expected = PenalizedGPRegressorCV(
        cv=random_folds(12, 5, repeats=2, random_state=3), random_state=3
    ).fit(RUNS[INPUTS], RUNS["noise"])
    updated = load(here / "all.pengp")
    assert updated.lam_ == expected.lam_
    np.testing.assert_array_equal(updated.theta_, expected.theta_)
    np.testing.assert_array_equal(
        updated.predict(RUNS[INPUTS] + 0.1), expected.predict(RUNS[INPUTS] + 0.1)
    )


def test_every_update_is_kept_in_the_history(here: Path) -> None:
    NEW[:1].to_csv(here / "first.csv", index=False)
    NEW[1:].to_csv(here / "second.csv", index=False)
    assert run("update", "old.pengp", "first.csv").exit_code == 0
    assert run("update", "old.pengp", "second.csv", "--re-estimate").exit_code == 0
    info = read_info(here / "old.pengp")["info"]
    assert info["command"] == "pengp fit old.csv -y noise --method penalized --repeats 2 --seed 3"
    assert [(s["source"], s["runs"], s["re_estimated"]) for s in info["history"]] == [
        ("first.csv", 1, False),
        ("second.csv", 2, True),
    ]
    told = run("info", "old.pengp").stdout
    assert "1 runs of first.csv, conditioned on them" in told
    assert "2 runs of second.csv, estimated anew" in told


def test_a_run_that_the_model_knows_is_refused(here: Path) -> None:
    pd.concat([NEW, OLD[4:5]]).to_csv(here / "known.csv", index=False)
    before = (here / "old.pengp").read_bytes()
    result = run("update", "old.pengp", "known.csv")
    assert result.exit_code == 3
    assert "known.csv: row 4 has the inputs of run 5, which the model knows" in result.stderr
    assert (here / "old.pengp").read_bytes() == before


def test_a_known_run_may_differ_where_the_nugget_is_estimated(here: Path) -> None:
    model = PenalizedGPRegressor(0.01, nugget="estimate", random_state=0)
    save(model.fit(OLD[INPUTS], OLD["noise"]), here / "m.pengp", info={"response": "noise"})
    OLD[:1].assign(noise=57.0).to_csv(here / "again.csv", index=False)
    assert run("update", "m.pengp", "again.csv").exit_code == 0
    assert load(here / "m.pengp").y_train_[-1] == 57.0


def test_runs_beyond_the_declared_bounds_are_refused(here: Path) -> None:
    OLD.to_csv(here / "old.csv", index=False)
    bounds = ["-b", "x1=0:100", "-b", "x6=0.5:1.5"]
    run(
        "fit",
        "old.csv",
        "-y",
        "noise",
        "--method",
        "penalized",
        "--repeats",
        "1",
        "-o",
        "bounded.pengp",
        *bounds,
    )
    NEW.assign(x6=[1.0, 1.6, 1.0]).to_csv(here / "far.csv", index=False)
    result = run("update", "bounded.pengp", "far.csv")
    assert result.exit_code == 3
    assert "far.csv: row 2, column 'x6' holds 1.6, outside its bounds 0.5 to 1.5" in result.stderr


def test_new_runs_must_have_the_response(here: Path) -> None:
    NEW.rename(columns={"noise": "Noise [dB]"}).to_csv(here / "new.csv", index=False)
    result = run("update", "old.pengp", "new.csv")
    assert result.exit_code == 3
    assert "new.csv has no column 'noise'" in result.stderr


def test_models_made_in_python_can_be_updated(here: Path) -> None:
    model = PenalizedGPRegressor(0.01).fit(OLD[INPUTS].to_numpy(), OLD["noise"])
    save(model, here / "own.pengp")
    NEW.rename(columns={"noise": "response"}).to_csv(here / "new.csv", index=False)
    assert run("update", "own.pengp", "new.csv", "-o", "a.pengp").exit_code == 0
    expected = model.condition_on(NEW[INPUTS].to_numpy(), NEW["noise"])
    X = RUNS[INPUTS].to_numpy() + 0.1
    np.testing.assert_array_equal(load(here / "a.pengp").predict(X), expected.predict(X))
    assert run("update", "own.pengp", "new.csv", "--re-estimate", "-o", "b.pengp").exit_code == 0
    anew = PenalizedGPRegressor(0.01, random_state=0).fit(RUNS[INPUTS].to_numpy(), RUNS["noise"])
    np.testing.assert_array_equal(load(here / "b.pengp").theta_, anew.theta_)
    assert "without cross-validation" in run("info", "b.pengp").stdout


def test_a_report_is_named_after_its_model(here: Path) -> None:
    result = run("report", "old.pengp")
    assert (result.exit_code, result.stdout) == (0, "Report written to old.html\n"), result.stderr
    assert "noise" in (here / "old.html").read_text(encoding="utf-8")
    assert run("report", "old.pengp", "-o", "old.pengp").exit_code == 3


def test_an_average_is_updated_and_compared_by_its_own_intervals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    OLD.to_csv("old.csv", index=False)
    NEW.to_csv("new.csv", index=False)
    assert run("fit", "old.csv", "-y", "noise").exit_code == 0
    old = load("old.pengp")
    result = run("update", "old.pengp", "new.csv", "--json")
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)["new_runs"]
    low, high = old.predict_interval(NEW[INPUTS], 0.95)
    np.testing.assert_allclose(told["lower"], low, rtol=1e-12)
    np.testing.assert_allclose(told["upper"], high, rtol=1e-12)
    assert told["held_out_rmse_before"] == pytest.approx(old.held_out().scores()["rmse"])
    expected = old.condition_on(NEW[INPUTS], NEW["noise"])
    X = RUNS[INPUTS] + 0.1
    np.testing.assert_allclose(load("old.pengp").predict(X), expected.predict(X), rtol=1e-12)
    assert run("report", "old.pengp", "-o", "r.html").exit_code == 0
    assert "posterior was sampled from the first 9" in Path("r.html").read_text(encoding="utf-8")
    assert run("update", "old.pengp", "new.csv").exit_code == 3
    assert run("predict", "old.pengp", "new.csv", "-o", "p.csv").exit_code == 0
    written, again = pd.read_csv("p.csv"), load("old.pengp")
    np.testing.assert_allclose(
        written[["noise_lower", "noise_upper"]].T, again.predict_interval(NEW[INPUTS], 0.95)
    )
    assert run("validate", "old.pengp", "new.csv").exit_code == 0
