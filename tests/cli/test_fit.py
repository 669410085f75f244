"""`pengp fit` and `pengp info` give what the library gives, and print it legibly."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner, Result

from pengp import (
    BayesianGPRegressor,
    PenalizedGPRegressor,
    PenalizedGPRegressorCV,
    diagnose,
    load,
)
from pengp._core.surface import command_words
from pengp.choosing.folds import leave_one_out, random_folds, space_filling_folds
from pengp.cli.app import app
from pengp.cli.folds import Folds
from pengp.estimators.view import view_of
from pengp.model.kernels import KERNELS
from pengp.model.means import LinearMean
from pengp.persistence import read_info
from tests.cli.commands import INPUTS, PISTON_SLAP, pengp, runs_file

PENALIZED = ("--method", "penalized")


def run(*arguments: str | Path) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with runs.csv, which is the working directory."""
    runs_file(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def library_fit(path: Path, repeats: int = 1) -> PenalizedGPRegressorCV:
    """Fit the runs of a file with the library."""
    frame = pd.read_csv(path)
    plan = random_folds(12, 5, repeats=repeats, random_state=0)
    return PenalizedGPRegressorCV(cv=plan, random_state=0).fit(frame[INPUTS], frame["noise"])


def test_the_model_file_is_the_library_s_model(here: Path) -> None:
    done = pengp(
        "fit",
        "runs.csv",
        "--response",
        "noise",
        "--method",
        "penalized",
        "--repeats",
        "2",
        cwd=here,
    )
    assert (done.returncode, done.stderr) == (
        0,
        "Note: x4, x5 take few whole numbers and nothing in between; if nothing else is possible, "
        "say so: --integer x4 --integer x5\n",
    )
    model = load(here / "runs.pengp")
    expected = library_fit(here / "runs.csv", repeats=2)
    frame = pd.read_csv(here / "runs.csv")[INPUTS] + 0.1
    np.testing.assert_array_equal(
        model.predict(frame, return_std=True), expected.predict(frame, return_std=True)
    )
    assert model.lam_ == expected.lam_
    assert list(model.feature_names_in_) == INPUTS
    about = read_info(here / "runs.pengp")["info"]
    created = about.pop("created")
    assert created.endswith("+00:00")
    assert about == {
        "response": "noise",
        "source": "runs.csv",
        "folds": "5",
        "repeats": 2,
        "seed": 0,
        "command": "pengp fit runs.csv --response noise --method penalized --repeats 2",
    }


def test_what_is_printed_fits_80_columns_and_says_what_matters(here: Path) -> None:
    result = run(
        "fit", "runs.csv", "-y", "noise", "--method", "penalized", "--repeats", "1", "--seed", "0"
    )
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert max(map(len, result.stdout.splitlines())) <= 80
    model = library_fit(here / "runs.csv")
    with command_words():
        found = diagnose(model)
    by_input = {line.split()[0]: line for line in lines if line[:1] == "x" and " to " in line}
    for p, name in enumerate(INPUTS):
        length = f"{model.lengthscale_[p]:.4g}" if found.active[p] else "inactive"
        assert by_input[name].endswith(f" {model.theta_[p]:.4g} {length}")
    assert "x1 15 to 85" in by_input["x1"]
    assert found.held_out is not None
    anew, kept = found.held_out.scores(), found.scores
    text = " ".join(lines)
    rmse, q2, crps = (f"{anew[s]:.4g} {kept[s]:.4g}" for s in ("rmse", "q2", "crps"))
    assert f"RMSE {rmse} typical size of an error, in the unit of noise" in text
    assert f"Q2 {q2} 1 is perfect, 0 as good as the mean" in text
    assert f"CRPS {crps} error and spread together, in the unit of noise" in text
    shares = " ".join(f"{100 * s['coverage']:.0f} %" for s in (anew, kept))
    assert f"coverage {shares} share in their 95 % interval" in text
    assert (
        f"Lambda {model.lam_:.4g}: one-standard-error rule over 41 values, whose best is "
        f"{model.lam_min_:.4g}; judged by DPE over 5 random folds" in text
    )
    sigma = np.sqrt(model.sigma2_) * np.std(model.y_train_, ddof=1)
    assert f"standard deviation of {sigma:.4g} in the unit of noise" in text
    assert f"{found.modes[1].deficit:.2f} x1 " in text
    for finding in found.findings:  # of a model that does not know the response's name
        assert finding.message.replace("--response response", "--response noise") in text
    assert "Seed 0" in lines
    assert "Model runs.pengp" in lines
    assert lines[-1] == "Next pengp predict runs.pengp new.csv -o predictions.csv"


def test_json_holds_the_library_s_numbers(here: Path) -> None:
    result = run(
        "fit",
        "runs.csv",
        "-y",
        "noise",
        "--method",
        "penalized",
        "--repeats",
        "1",
        "--json",
        "-o",
        "m.pengp",
    )
    record = json.loads(result.stdout)
    model = library_fit(here / "runs.csv")
    assert [item["theta"] for item in record["inputs"]] == model.theta_.tolist()
    assert record["lambda"]["value"] == model.lam_
    assert record["lambda"]["best"] == model.lam_min_
    assert record["sigma2"] == model.sigma2_
    scores = diagnose(model).scores
    assert record["leave_one_out"] == {**scores, "level": 0.95}
    assert (record["model"], record["report"], record["seed"]) == ("m.pengp", None, 0)


def test_every_option_reaches_the_estimator(here: Path) -> None:
    result = run(
        "fit", "runs.csv", "-y", "noise", "-x", "x6,x1", "-b", "x1=0:100", "--kernel", "matern52",
        "--method", "penalized",
        "--penalty", "ridge", "--metric", "score", "--rule", "min", "--folds", "space-filling:4",
        "--repeats", "2", "--isotropic", "--nugget", "estimate", "--mean", "constant",
        "--seed", "7", "--jobs", "1", "-o", "m.pengp",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    frame = pd.read_csv(here / "runs.csv")
    X = frame[["x6", "x1"]]
    expected = PenalizedGPRegressorCV(
        cv=space_filling_folds(X, 4, repeats=2, random_state=7),
        metric="score",
        rule="min",
        kernel="matern52",
        penalty="ridge",
        isotropic=True,
        nugget="estimate",
        mean="constant",
        input_bounds=[(0.5, 1.3), (0.0, 100.0)],
        random_state=7,
    ).fit(X, frame["noise"])
    model = load(here / "m.pengp")
    np.testing.assert_array_equal(model.predict(X + 1.0), expected.predict(X + 1.0))
    assert model.lam_ == expected.lam_
    text = " ".join(result.stdout.split())
    assert f"Lambda {expected.lam_:.4g}: best of cross-validation over 41 values" in text
    assert "judged by Score over 4 space-filling" in text


def test_folds_are_repeated_less_for_many_runs() -> None:
    assert Folds.of("5", None, 0, 30).repeats == 10
    assert Folds.of("5", None, 0, 31).repeats == 3
    assert Folds.of("5", 4, 0, 31).repeats == 4


def test_folds_are_dealt_as_named() -> None:
    X, y = pd.DataFrame({"x": np.arange(6.0)}), np.arange(6.0)
    dealt = Folds("3", 2, 1).deal(X, y)
    assert not isinstance(dealt, int)
    assert dealt.to_dict() == random_folds(6, 3, repeats=2, random_state=1).to_dict()
    left_out = Folds("loo", 2, 1).deal(X, y)
    assert not isinstance(left_out, int)
    assert left_out.to_dict() == leave_one_out(6).to_dict()
    assert Folds("5", 2, 1).deal(X[:4], y[:4]) == 5


def test_few_runs_are_fitted_with_a_note(here: Path) -> None:
    Path("four.csv").write_text("a,y\n0,1\n1,2\n2,4\n3,3\n")
    result = run("fit", "four.csv", "-y", "y", *PENALIZED)
    assert result.exit_code == 0
    assert result.stderr == (
        "Note: there are 4 runs, too few for 5 folds; each is left out in turn.\n"
    )
    Path("two.csv").write_text("a,y\n0,1\n1,2\n")
    result = run("fit", "two.csv", "-y", "y", *PENALIZED)
    assert result.exit_code == 0
    assert "without cross-validation" in result.stdout
    Path("one.csv").write_text("a,y\n0,1\n")
    result = run("fit", "one.csv", "-y", "y", *PENALIZED)
    assert result.exit_code == 3
    assert "one.csv has one run only; a model needs 2" in result.stderr


def test_a_constant_response_is_fitted_with_a_note(here: Path) -> None:
    Path("flat.csv").write_text("a,y\n0,1\n1,1\n2,1\n3,1\n4,1\n5,1\n")
    result = run("fit", "flat.csv", "-y", "y", *PENALIZED)
    assert result.exit_code == 0, result.stderr
    assert "Note: y is constant" in result.stderr
    assert run("fit", "flat.csv", "-y", "y", *PENALIZED, "--json", "--force").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-y", "nosie"], "no column 'nosie'; did you mean 'noise'?"),
        (["-y", "noise", "-x", "x1,x22"], "no column 'x22'; did you mean 'x2'?"),
        (["-y", "noise", "-x", "x1,noise"], "'noise' is the response and cannot be an input too"),
        (["-y", "noise", "-x", "x1,,x2"], "--inputs x1,,x2: write every name once"),
        (["-y", "noise", "-x", "x1,x1"], "--inputs x1,x1: write every name once"),
        (["-y", "noise", "-b", "x1=20:100"], "row 2, column 'x1' holds 15, outside its bounds"),
        (["-y", "noise", "--nugget", "tiny"], "--nugget tiny: write a number such as 1e-5"),
        (["-y", "noise", "--nugget", "-1"], "nugget"),
        (
            ["-y", "noise", *PENALIZED, "--folds", "13"],
            "13 folds were asked for but there are only 12 runs",
        ),
        (["-y", "noise", *PENALIZED, "--folds", "half"], "unknown folds 'half'"),
        (["-y", "noise", "-o", "runs.csv"], "writing runs.csv would replace"),
    ],
)
def test_what_cannot_be_used_is_told_before_any_work(
    here: Path, arguments: list[str], words: str
) -> None:
    result = run("fit", "runs.csv", *arguments)
    assert result.exit_code == 3
    assert words in result.stderr
    assert [path.name for path in here.iterdir()] == ["runs.csv"]


def test_a_column_of_text_leads_to_the_option_for_inputs(here: Path) -> None:
    Path("named.csv").write_text("label,a,y\nr1,0,1\nr2,1,2\nr3,2,0\n")
    result = run("fit", "named.csv", "-y", "y")
    assert result.exit_code == 3
    assert "the column 'label' holds text, and inputs are numbers" in result.stderr
    assert "name the inputs: --inputs A,B,..., or name what has levels" in result.stderr
    assert "as in --factor label." in result.stderr


def test_a_table_without_inputs_is_refused(here: Path) -> None:
    Path("y.csv").write_text("y\n1\n2\n")
    result = run("fit", "y.csv", "-y", "y")
    assert result.exit_code == 3
    assert "y.csv has no column besides 'y'; the inputs are missing" in result.stderr


def test_a_column_that_counts_the_rows_is_pointed_out(here: Path) -> None:
    rows = "".join(f"{k},{k * k % 7},{k % 3}\n" for k in range(1, 8))
    Path("counted.csv").write_text("Run,a,y\n" + rows)
    result = run("fit", "counted.csv", "-y", "y")
    assert "Note: the column 'Run' counts the rows and is taken for an input" in result.stderr


def test_runs_that_contradict_each_other_are_named(here: Path) -> None:
    Path("twice.csv").write_text("a,y\n0,1\n1,2\n0,3\n")
    result = run("fit", "twice.csv", "-y", "y", *PENALIZED)
    assert result.exit_code == 3
    assert "rows 1 and 3 have the same inputs but different responses, 1 and 3" in result.stderr
    assert "--nugget estimate" in result.stderr


def test_runs_may_come_from_standard_input(here: Path) -> None:
    arguments = ["fit", "-", "-y", "noise", *PENALIZED, "--repeats", "1"]
    result = CliRunner().invoke(app, arguments, input=Path("runs.csv").read_text())
    assert result.exit_code == 0, result.stderr
    assert load(here / "model.pengp").lam_ == library_fit(here / "runs.csv").lam_


def test_the_report_is_written_with_the_model(here: Path) -> None:
    result = run(
        "fit",
        "runs.csv",
        "-y",
        "noise",
        "--method",
        "penalized",
        "--repeats",
        "1",
        "--report",
        "r.html",
    )
    assert result.exit_code == 0, result.stderr
    page = Path("r.html").read_text(encoding="utf-8")
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert "noise" in page
    assert sorted(path.name for path in here.iterdir()) == ["r.html", "runs.csv", "runs.pengp"]
    assert run("report", "runs.pengp", "-o", "again.html").exit_code == 0
    assert Path("again.html").read_text(encoding="utf-8") == page


def test_info_tells_what_fit_told_and_whence_it_came(here: Path) -> None:
    fitted = run("fit", "runs.csv", "-y", "noise", "--method", "penalized", "--repeats", "1").stdout
    told = run("info", "runs.pengp").stdout
    start, end = fitted.index("Response"), fitted.index("\nSeed")
    assert fitted[start:end].strip() in told
    about = read_info(here / "runs.pengp")
    for words in ("runs.csv", about["info"]["created"], f"pengp {about['pengp_version']}"):
        assert words in told
    record = json.loads(run("info", "runs.pengp", "--json").stdout)
    assert record["info"] == about["info"]
    model = load(here / "runs.pengp")
    assert (record["sigma2"], record["condition"]) == (model.sigma2_, model.condition_)
    assert f"condition number of the correlation matrix about {model.condition_:.0e}" in told


def test_the_documentation_shows_what_fit_prints(here: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "command-line.md"
    command = "pengp fit piston_slap.csv --response noise --method penalized"
    start = f"```text\n$ {command}\n"
    shown = page.read_text(encoding="utf-8").partition(start)[2].partition("```")[0]
    Path("piston_slap.csv").write_bytes(PISTON_SLAP.read_bytes())
    assert run(*command.split()[1:]).stdout == shown


def test_the_average_is_the_default_and_tells_its_accuracy_first(here: Path) -> None:
    result = run("fit", "runs.csv", "-y", "noise", "-o", "average.pengp")
    model = load(here / "average.pengp")
    assert isinstance(model, BayesianGPRegressor)
    text = " ".join(result.stdout.split())
    held = model.held_out().scores()
    share = f"{100 * model.kernel_weights_['sqexp']:.0f} %"
    parts = [
        f"RMSE {held['rmse']:.4g} typical size of an error",
        f"Average over lambda, theta and kernels: squared exponential {share}",
        f"x1 15 to 85 {100 * model.activity_.probability[0]:.0f} % {model.lengthscale_[0]:.3g}",
        "Explanations that are averaged:",
        "Next pengp predict average.pengp new.csv -o predictions.csv",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "theta kept" not in text
    for explained in view_of(model).average.explanations[:6]:
        assert f"{100 * explained.weight:.0f} % {KERNELS.label(explained.kernel)} " in text
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_json_of_an_average_holds_the_library_s_numbers(here: Path) -> None:
    run("fit", "runs.csv", "-y", "noise")
    model = load(here / "runs.pengp")
    about = json.loads(run("info", "runs.pengp", "--json").stdout)
    assert (about["method"], about["leave_one_out"]) == ("bayes", None)
    assert about["held_out"]["q2"] == pytest.approx(model.held_out().scores()["q2"])
    assert about["log_evidence"]["value"] == pytest.approx(model.log_evidence_)
    assert [one["probability"] for one in about["activity"]] == pytest.approx(
        model.activity_.probability.tolist()
    )
    assert sum(one["weight"] for one in about["explanations"]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "options",
    [
        ["--folds", "4"],
        ["--repeats", "2"],
        ["--penalty", "scad"],
        ["--metric", "pe"],
        ["--rule", "min"],
        ["--isotropic"],
        ["--method", "bayes", "--folds", "4"],
    ],
)
def test_options_of_the_penalized_method_ask_for_it(here: Path, options: list[str]) -> None:
    refused = run("fit", "runs.csv", "-y", "noise", *options)
    assert refused.exit_code == 3
    named = [word for word in options if word.startswith("--") and word != "--method"]
    assert f"{named[0]} belongs to the choice of one lambda" in refused.stderr
    assert "add --method penalized" in " ".join(refused.stderr.split())
    assert not Path("runs.pengp").exists()


def test_options_of_both_methods_reach_the_average(here: Path) -> None:
    options = ["--kernel", "matern32", "--nugget", "1e-4", "--mean", "zero", "--seed", "3"]
    options += ["-x", "x6,x1", "-b", "x1=0:100"]
    assert run("fit", "runs.csv", "-y", "noise", *options).exit_code == 0
    model, frame = load(here / "runs.pengp"), pd.read_csv(here / "runs.csv")
    same = BayesianGPRegressor(
        kernels="matern32",
        nugget=1e-4,
        mean="zero",
        input_bounds=[(0.5, 1.3), (0.0, 100.0)],
        random_state=3,
    ).fit(frame[["x6", "x1"]], frame["noise"])
    X = frame[["x6", "x1"]] + 0.01
    np.testing.assert_array_equal(model.predict(X), same.predict(X))


@pytest.mark.parametrize(
    ("option", "kept"),
    [
        (["--nugget", "estimate"], {"nugget": "sample"}),
        (["--mean", "constant"], {"mean": "integrated"}),
        (["--mean", "linear"], {"mean": LinearMean(1.0)}),
    ],
)
def test_words_of_the_command_line_mean_the_same_to_an_average(
    here: Path, option: list[str], kept: dict[str, object]
) -> None:
    assert run("fit", "runs.csv", "-y", "noise", "--kernel", "sqexp", *option).exit_code == 0
    parameters = load(here / "runs.pengp").get_params()
    assert {name: parameters[name] for name in kept} == kept


def test_an_average_of_few_runs_says_that_its_accuracy_is_not_known(here: Path) -> None:
    Path("three.csv").write_text("a,y\n0,1\n1,2\n2,4\n")
    result = run("fit", "three.csv", "-y", "y", "--report", "r.html")
    assert result.exit_code == 0, result.stderr
    assert "too few runs to hold any out" in result.stdout
    Path("two.csv").write_text("a,y\n0,1\n1,2\n")
    refused = run("fit", "two.csv", "-y", "y")
    assert refused.exit_code == 3
    assert "two.csv has 2 runs only; a model needs 3" in refused.stderr
    Path("flat.csv").write_text("a,y\n0,1\n1,1\n2,1\n3,1\n")
    result = run("fit", "flat.csv", "-y", "y", "--report", "flat.html")
    assert result.exit_code == 0, result.stderr
    assert run("info", "flat.pengp", "--json").exit_code == 0


def test_the_report_on_an_average_tells_how_the_paper_s_choice_differs(here: Path) -> None:
    told = run("fit", "runs.csv", "-y", "noise", "--report", "r.html").stdout
    again = run("report", "runs.pengp", "-o", "again.html")
    assert again.exit_code == 0, again.stderr
    sentence = told.partition("Over the design region")[2]
    assert sentence
    assert sentence in again.stdout
    assert Path("again.html").read_bytes() == Path("r.html").read_bytes()


def test_a_given_lambda_is_fitted_without_cross_validation(here: Path) -> None:
    done = run(
        *("fit", "runs.csv", "--response", "noise", "--method", "penalized", "--lambda", "0.1"),
        *("--theta-bounds", "0.01,50", "--starts", "3"),
    )
    assert done.exit_code == 0
    assert "without cross-validation" in done.output
    frame = pd.read_csv("runs.csv")
    expected = PenalizedGPRegressor(
        lam=0.1, theta_bounds=(0.01, 50.0), n_starts=3, random_state=0
    ).fit(frame[INPUTS], frame["noise"])
    np.testing.assert_array_equal(load("runs.pengp").theta_, expected.theta_)


def test_the_grid_may_reach_the_kkt_bound(here: Path) -> None:
    options = ("--method", "penalized", "--lambda-grid", "kkt", "--repeats", "1")
    done = run("fit", "runs.csv", "--response", "noise", *options)
    assert done.exit_code == 0
    assert load("runs.pengp").lams_.max() > 100.0 * np.exp(2.0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--lambda", "0.1", "--rule", "min"], "--lambda 0.1 leaves nothing to choose, so --rule"),
        (["--theta-bounds", "5"], "write two numbers"),
        (["--theta-bounds", "5,1"], "below the second"),
    ],
)
def test_options_of_the_search_that_make_no_sense_are_refused(
    here: Path, options: list[str], words: str
) -> None:
    command = ("fit", "runs.csv", "--response", "noise", "--method", "penalized")
    done = pengp(*command, *options, cwd=here)
    assert done.returncode == 3
    assert words in " ".join(done.stderr.split())


def test_the_average_takes_no_lambda(here: Path) -> None:
    done = pengp("fit", "runs.csv", "--response", "noise", "--lambda", "1", cwd=here)
    assert done.returncode == 3
    assert "--lambda belongs to the choice of one lambda" in " ".join(done.stderr.split())
