"""`pengp next` and `pengp optimize`: the library's numbers, and the table as the state."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner, Result

from pengp import BayesianGPRegressor, save
from pengp.cli.app import app
from pengp.decisions import next_runs, optimum

BOUNDS = ["--bounds", "a=0:10", "--bounds", "b c=-1:1"]
X = pd.DataFrame({"a": [0.0, 2.0, 4.0, 6.0, 8.0, 10.0], "b c": [0.1, -0.9, 0.8, -0.3, 0.5, -0.6]})
Y = np.sin(X["a"].to_numpy()) + X["b c"].to_numpy()


@pytest.fixture(scope="module")
def model() -> BayesianGPRegressor:
    return BayesianGPRegressor(input_bounds=[(0, 10), (-1, 1)], random_state=0).fit(X, Y)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with runs.csv, in which one run each is planned, failed, abandoned."""
    rows = [*X.itertuples(index=False, name=None), (5.0, 0.0), (1.0, 1.0), (9.0, 1.0)]
    responses = [*map(repr, Y.tolist()), "", "", "n/a"]
    status = ["done", "planned", *[""] * 5, "failed", "Abandoned"]
    lines = [f"{a},{b},{y},{s}" for (a, b), y, s in zip(rows, responses, status, strict=True)]
    (tmp_path / "runs.csv").write_text("\n".join(["a,b c,y,status", *lines, ""]))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def proposed(*arguments: str) -> dict[str, object]:
    done = invoke("next", "runs.csv", "-y", "y", *BOUNDS, *arguments, "--json")
    assert done.exit_code == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def points(record: dict[str, object]) -> np.ndarray:
    runs: list[dict[str, dict[str, float]]] = record["runs"]  # type: ignore[assignment]
    return np.array([list(run["inputs"].values()) for run in runs])


def test_the_table_is_the_state(here: Path, model: BayesianGPRegressor) -> None:
    options: dict[str, Any] = {"planned": [[5.0, 0.0]], "criterion": "VIGF"}
    both = [[1.0, 1.0], [9.0, 1.0]]
    told = next_runs(model, 2, avoid=both, **options)
    found = proposed("-n", "2", "--criterion", "vigf", "-o", "new.csv")
    np.testing.assert_allclose(points(found), told.X, rtol=1e-9)
    assert found["planned"] == 1
    assert [s["width"] for s in found["expected_width"]] == pytest.approx(  # type: ignore[attr-defined]
        [step.width for step in told.steps]
    )
    again = proposed("-n", "1", "--criterion", "vigf", "--retry", "--radius", "0.3")
    only = next_runs(model, 1, avoid=both[1:], radius=0.3, **options)
    np.testing.assert_allclose(points(again), only.X, rtol=1e-9)
    # What was written is a part of the table: its rows are planned once they stand there.
    new = pd.read_csv("new.csv")
    assert list(new) == ["a", "b c", "y", "status"]
    assert new["y"].isna().all()
    np.testing.assert_allclose(new[["a", "b c"]], told.X)
    rows = Path("new.csv").read_text().splitlines()[1:]
    with Path("runs.csv").open("a") as table:
        table.write("\n".join([*rows, ""]))
    assert proposed("--criterion", "vigf")["planned"] == 3


def test_goals_candidates_and_conditions(here: Path, model: BayesianGPRegressor) -> None:
    X.assign(a=X["a"] + 0.7, other=1.0).to_csv("some.csv", index=False)
    found = proposed("--goal", "optimum", "--maximize", "--candidates", "some.csv")
    assert points(found)[0].tolist() in X.assign(a=X["a"] + 0.7).to_numpy().tolist()
    assert points(proposed("--goal", "threshold", "--value", "0.5", "--where", "a<=3"))[0, 0] <= 3.0
    text = invoke("next", "runs.csv", "-y", "y", *BOUNDS, "--where", "`b c` > a - 4")
    assert text.exit_code == 0
    assert "6 done, 1 planned, 1 failed, 1 abandoned" in text.stdout
    assert "mean width of the 95 % intervals" in text.stdout


def test_the_runs_alone_are_a_line_each(here: Path) -> None:
    arguments = ("-n", "2", "--criterion", "vigf")
    done = invoke("next", "runs.csv", "-y", "y", *BOUNDS, *arguments, "--brief")
    expected = [
        f"run {k + 1}  a {a:.5g}, b c {b:.5g}"
        for k, (a, b) in enumerate(points(proposed(*arguments)))
    ]
    assert done.stdout.splitlines() == expected


def test_a_model_file_judges_if_it_knows_the_runs(here: Path, model: BayesianGPRegressor) -> None:
    save(model, "m.pengp", info={"response": "y"})
    done = invoke("next", "runs.csv", "--model", "m.pengp", "--criterion", "vigf", "--json")
    expected = proposed("--criterion", "vigf")
    np.testing.assert_allclose(points(json.loads(done.stdout)), points(expected), rtol=1e-9)
    with Path("runs.csv").open("a") as table:
        table.write("3,0.2,1.5,\n")
    refused = invoke("next", "runs.csv", "--model", "m.pengp")
    assert refused.exit_code == 3
    assert "does not know the run in row 10" in refused.stderr
    assert "pengp update m.pengp runs.csv" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--where", "__import__('os') < 1"], "is not arithmetic"),
        (["--where", "a > 11"], "satisfies 'a > 11'"),
        (["--where", "z > 1"], "names 'z', but the inputs are: a, b c"),
        (["--candidates", "other.csv"], "other.csv has no column 'a'"),
        (["--goal", "threshold"], "go together"),
        (["--criterion", "vigf", "--goal", "modes"], "goes with goal='accuracy'"),
        (["--model", "m.pengp"], "go with a fit"),
        (["--minimize"], "--minimize, --maximize and --target go with --goal optimum alone"),
        (["--goal", "modes", "--maximize"], "go with --goal optimum alone"),
        (["--goal", "threshold", "--target", "1", "--value", "1"], "go with --goal optimum alone"),
        (["--goal", "optimum", "--value", "1"], "--goal threshold and --value NUMBER go together"),
        (["--goal", "optimum", "--minimize", "--target", "1"], "one of the three"),
    ],
)
def test_what_cannot_be_used_is_told_in_a_sentence(
    here: Path, arguments: list[str], message: str
) -> None:
    Path("other.csv").write_text("u,v\n1,2\n")
    done = invoke("next", "runs.csv", "-y", "y", *BOUNDS, *arguments)
    assert done.exit_code == 3
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_statuses_and_responses_are_checked(here: Path) -> None:
    text = Path("runs.csv").read_text()
    Path("odd.csv").write_text(text.replace("failed", "lost"))
    done = invoke("next", "odd.csv", "-y", "y")
    assert "row 8, column 'status' holds 'lost'" in done.stderr
    Path("odd.csv").write_text(text.replace(",,failed", ",12x,"))
    done = invoke("next", "odd.csv", "-y", "y")
    assert "row 8, column 'y' holds '12x'" in done.stderr
    Path("few.csv").write_text("a,y\n1,2\n2,\n3,\n")
    assert "1 runs with a response, and 3 are needed" in invoke("next", "few.csv", "-y", "y").stderr
    assert "--response NAME" in invoke("next", "few.csv").stderr


def test_a_misspelt_response_is_told_before_the_planned_rows(here: Path) -> None:
    done = invoke("next", "runs.csv", "-y", "yy")
    assert done.exit_code == 3
    assert "runs.csv has no column 'yy'; did you mean 'y'?" in done.stderr


def test_a_retried_run_is_not_said_to_be_kept_away_from(here: Path) -> None:
    Path("gone.csv").write_text("a,b c\n9,1\n")
    refused = invoke("next", "runs.csv", "-y", "y", *BOUNDS, "--candidates", "gone.csv", "--retry")
    assert refused.exit_code == 3
    assert "lies within 0.1 of a run that is to be kept away from" in refused.stderr


def test_optimize_prints_the_library_s_optimum(here: Path, model: BayesianGPRegressor) -> None:
    save(model, "m.pengp", info={"response": "y"})
    told = optimum(model, maximize=True, where="a <= 9")
    done = invoke("optimize", "m.pengp", "--maximize", "--where", "a <= 9", "--json")
    found = json.loads(done.stdout)
    assert list(found["inputs"].values()) == pytest.approx(told.x.tolist())
    assert found["mean"] == pytest.approx(told.mean)
    assert found["interval"]["lower"] == pytest.approx(told.lower)
    assert found["probability_better"] == pytest.approx(told.probability)
    assert len(found["places"]) == len(told.places)
    text = invoke("optimize", "m.pengp", "--maximize", "--where", "a <= 9").stdout
    assert "than the best run with probability" in text
    assert "--minimize or --maximize" in invoke("optimize", "m.pengp").stderr
    none = invoke("optimize", "m.pengp", "--minimize", "--where", "a > 8.5", "--where", "a < 9")
    assert "none satisfies the conditions" in none.stdout
    assert "probability" not in none.stdout.split("Where")[0]
