"""`pengp validate`: scores by their formulas, verdicts by the binomial distribution, a figure."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.stats import norm
from typer.testing import CliRunner, Result

from pengp import BayesianGPRegressor, PenalizedGPRegressor, load, save
from pengp.cli.app import app
from tests.cli.commands import INPUTS, model_file, pengp, piston_runs


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return model_file(tmp_path_factory.mktemp("fitted"))


@pytest.fixture
def here(fitted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with model.pengp and test.csv, 6 runs between the piston-slap runs."""
    shutil.copy(fitted, tmp_path)
    monkeypatch.chdir(tmp_path)
    write_test("test.csv", np.array([0.5, -1.0, 1.5, 0.0, -0.2, 4.0]))
    return tmp_path


def write_test(name: str, z: Any) -> pd.DataFrame:
    """Write test runs whose responses are z standard deviations off their predictions."""
    runs = piston_runs()[INPUTS]
    rng = np.random.default_rng(0)
    test = pd.DataFrame(rng.uniform(runs.min(), runs.max(), (len(z), 6)), columns=INPUTS)
    mean, std = load("model.pengp").predict(test, return_std=True)
    test.insert(2, "noise", mean + z * std)
    test.to_csv(name, index=False)
    return test


def invoke(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, ["validate", *arguments], input=stdin)


def crps_by_integration(y: float, mean: float, std: float) -> float:
    """The integral of (F(t) - 1{t >= y})^2."""
    below = quad(lambda t: norm.cdf(t, mean, std) ** 2, mean - 12 * std, y)[0]
    above = quad(lambda t: norm.sf(t, mean, std) ** 2, y, mean + 12 * std)[0]
    return below + above


def test_scores_follow_their_formulas_beside_those_that_were_promised(here: Path) -> None:
    done = pengp("validate", "model.pengp", "test.csv", "--level", "0.8", "--json", cwd=here)
    assert (done.returncode, done.stderr) == (0, "")
    record = json.loads(done.stdout)
    assert (record["runs"], record["level"]) == (6, 0.8)
    test, model = pd.read_csv("test.csv"), load("model.pengp")
    mean, std = model.predict(test[INPUTS], return_std=True)
    y, held = test["noise"].to_numpy(), model.held_out(level=0.8)
    for key, (observed, m, s) in {
        "test": (y, mean, std),
        "promised": (held.y, held.mean, held.std),
    }.items():
        half, alpha = 1.2815515655446004 * s, 0.2  # the normal quantile of 0.9
        miss = np.maximum(np.abs(observed - m) - half, 0.0)
        expected = {
            "rmse": np.sqrt(np.mean((observed - m) ** 2)),
            "q2": 1 - np.sum((observed - m) ** 2) / np.sum((observed - observed.mean()) ** 2),
            "crps": np.mean(list(map(crps_by_integration, observed, m, s))),
            "coverage": np.mean(miss == 0.0),
            "interval_score": np.mean(2 * half + 2 / alpha * miss),
        }
        found = record["responses"]["noise"][key]
        assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-7)
    response = record["responses"]["noise"]
    surprise = -np.mean(norm.logpdf(y, mean, std))
    assert response["test"]["log_score"] == pytest.approx(surprise, rel=1e-7)
    assert response["promised"]["how"] == held.how
    assert response["inside"] == 4  # all but z = 1.5 and z = 4
    cov = model.predict(test[INPUTS], return_cov=True)[1]
    distance = (y - mean) @ np.linalg.solve(cov, y - mean)
    assert response["together"]["distance"] == pytest.approx(distance, rel=1e-6)
    assert len(response["together"]["pivoted"]) == 6


def test_the_table_explains_every_score(here: Path) -> None:
    done = invoke("model.pengp", "test.csv")
    assert (done.exit_code, done.stderr) == (0, "")
    record = json.loads(invoke("model.pengp", "test.csv", "--json").stdout)["responses"]["noise"]
    lines = done.stdout.splitlines()
    assert lines[0] == "noise: 6 test runs of test.csv"
    for key, label, meaning in (
        ("rmse", "RMSE", "typical size of an error; lower is better"),
        ("q2", "Q2", "1 is perfect, 0 as good as the mean;"),
        ("crps", "CRPS", "error and spread together; lower is better"),
        ("interval_score", "interval score", "interval width and misses; lower is better"),
    ):
        (line,) = [line for line in lines if line.startswith(label + " ")]
        seen, promised = (f"{record[source][key]:.4g}" for source in ("test", "promised"))
        assert " ".join(line.split()).startswith(f"{label} {seen} {promised} {meaning}")
    promised = f"{100 * record['promised']['coverage']:.0f}"
    assert any(line.split()[:5] == ["coverage", "83", "%", promised, "%"] for line in lines)
    assert "share in their 95 % interval; best 95 %" in done.stdout
    text = " ".join(done.stdout.split())
    assert "interval score are in the unit of noise." in text
    assert f"held out ({record['promised']['how']})" in text
    assert f"Mahalanobis distance is {record['together']['distance']:.4g}" in text
    assert max(map(len, lines)) <= 80


def test_an_average_is_judged_by_its_own_laws(here: Path) -> None:
    runs = piston_runs()
    model = BayesianGPRegressor(random_state=0).fit(runs[INPUTS], runs["noise"])
    save(model, "average.pengp", info={"response": "noise"})
    test = pd.read_csv("test.csv")
    record = json.loads(invoke("average.pengp", "test.csv", "--json").stdout)["responses"]["noise"]
    law = model.predictive_law(test[INPUTS])
    assert record["test"]["crps"] == pytest.approx(law.crps(test["noise"]).mean(), rel=1e-9)
    assert record["promised"]["crps"] == pytest.approx(model.held_out().crps.mean(), rel=1e-9)
    assert record["together"]["law"] == "2,000 draws from the average"


@pytest.mark.parametrize(
    ("inside", "m", "level", "verdict"),
    [
        # P(X <= 7) = 0.0115 and P(X <= 6) = 0.00103 for X ~ Binomial(10, 0.95).
        (7, 10, "0.95", "7 of 10 responses lie in their 95 % interval, where 9.5 are expected: "
         "these runs do not contradict the intervals."),
        (6, 10, "0.95", "the intervals are too narrow, chance does not explain this (p = 0.001)."),
        # Two-sided 0.0125; the same verdict as of leave-one-out residuals and new runs.
        (135, 150, "0.95", "where 142 are expected: these runs do not contradict the intervals."),
        # Two-sided, for Binomial(m, 1/2): P(X = 0) + P(X = m) = 0.0078 and 0.016.
        (8, 8, "0.5", "the intervals are too wide, chance does not explain this (p = 0.008)."),
        (7, 7, "0.5", "where 3.5 are expected: these runs do not contradict the intervals."),
    ],
)  # fmt: skip
def test_coverage_is_judged_by_the_binomial_distribution(
    here: Path, inside: int, m: int, level: str, verdict: str
) -> None:
    write_test("counted.csv", np.where(np.arange(m) < inside, 0.1, 3.0))
    done = invoke("model.pengp", "counted.csv", "--level", level)
    assert verdict in " ".join(done.stdout.split())
    record = json.loads(invoke("model.pengp", "counted.csv", "--level", level, "--json").stdout)
    assert record["responses"]["noise"]["inside"] == inside
    assert record["responses"]["noise"]["intervals_contradicted"] == ("does not explain" in verdict)


def test_predictions_worse_than_the_mean_are_called_so(here: Path) -> None:
    sentence = "The predictions are no better than the mean of these runs"
    assert sentence not in invoke("model.pengp", "test.csv").stdout
    test = pd.read_csv("test.csv")
    test["noise"] = 2 * test["noise"].mean() - test["noise"]  # the opposite of what is predicted
    test.to_csv("mirrored.csv", index=False)
    assert sentence in " ".join(invoke("model.pengp", "mirrored.csv").stdout.split())


def test_one_run_has_no_q2_and_no_plural(here: Path) -> None:
    write_test("one.csv", np.array([1.0]))
    done = invoke("model.pengp", "one.csv")
    assert done.stdout.startswith("noise: 1 test run of one.csv\n")
    assert "no better than the mean" not in done.stdout
    record = json.loads(invoke("model.pengp", "one.csv", "--json").stdout)
    assert record["responses"]["noise"]["test"]["q2"] is None


def test_runs_of_the_fit_and_runs_outside_are_noted(here: Path) -> None:
    runs = pd.concat([piston_runs().head(2), pd.read_csv("test.csv")])
    runs.iloc[-1, 0] = 90.0
    runs.to_csv("mixed.csv", index=False)
    done = invoke("model.pengp", "mixed.csv")
    assert done.stderr == (
        "Note: 2 of 8 rows are runs that the model was fitted to; they flatter it, so validate it "
        "on others.\n"
        "Note: 1 of 8 rows lie outside the range of the runs in x1 (15 to 85); predictions there "
        "are extrapolations.\n"
    )


def test_several_responses_are_judged_each(here: Path) -> None:
    x = np.linspace(0.0, 1.0, 6)[:, None]
    y = np.hstack([x**2, np.cos(3 * x)])
    save(PenalizedGPRegressor(random_state=0).fit(x, y), "two.pengp", info={"response": ["a", "b"]})
    t = np.array([0.1, 0.33, 0.9])
    pd.DataFrame({"b": np.cos(3 * t), "x1": t, "a": t**2 + 1}).to_csv("two.csv", index=False)
    done = invoke("two.pengp", "two.csv", "--json", "--plot", "two.png")
    scores = json.loads(done.stdout)["responses"]
    assert scores["a"]["test"]["rmse"] == pytest.approx(1.0, abs=0.02)
    assert scores["b"]["test"]["rmse"] < 0.02
    assert list(scores) == ["a", "b"]
    assert "\n\nb: 3 test runs of two.csv\n" in invoke("two.pengp", "two.csv").stdout


@pytest.mark.parametrize(
    ("name", "start"), [("v.png", b"\x89PNG"), ("v.svg", b"<?xml"), ("v.PDF", b"%PDF")]
)
def test_the_figure_is_of_its_kind_and_the_same_every_time(
    here: Path, name: str, start: bytes
) -> None:
    first = invoke("model.pengp", "test.csv", "--plot", name)
    assert first.exit_code == 0, first.stderr
    assert first.stdout.endswith(f"\n\nFigure: {name}\n")
    content = Path(name).read_bytes()
    assert content.startswith(start)
    assert len(content) > 8_000
    assert invoke("model.pengp", "test.csv", "--plot", name).exit_code == 0
    assert Path(name).read_bytes() == content


def test_a_figure_that_cannot_be_written_stops_the_command_before_it_prints(here: Path) -> None:
    for name, code, message in (
        ("v.jpeg", 3, "must end in .png, .svg or .pdf"),
        ("test.csv/v.png", 4, "cannot write test.csv/v.png"),
        ("nowhere/v.png", 4, "its directory does not exist"),
    ):
        done = invoke("model.pengp", "test.csv", "--plot", name)
        assert (done.exit_code, done.stdout) == (code, "")
        assert message in done.stderr
    assert sorted(path.name for path in here.iterdir()) == ["model.pengp", "test.csv"]


def test_the_response_is_needed_too(here: Path) -> None:
    text = Path("test.csv").read_text()
    y = text.splitlines()[3].split(",")[2]
    for old, new, message in (
        ("noise", "nose", "has no column 'noise'; did you mean 'nose'?"),
        (y, "", "row 3, column 'noise' is empty"),
    ):
        done = invoke("model.pengp", "-", stdin=text.replace(old, new))
        assert (done.exit_code, done.stdout) == (3, "")
        assert message in done.stderr


def test_damaged_models_and_wrong_levels_are_refused(here: Path) -> None:
    Path("bad.pengp").write_bytes(Path("model.pengp").read_bytes()[:-40])
    damaged = invoke("bad.pengp", "test.csv")
    assert (damaged.exit_code, damaged.stdout) == (4, "")
    assert "bad.pengp is incomplete" in damaged.stderr
    wrong = invoke("model.pengp", "test.csv", "--level", "99")
    assert wrong.exit_code == 3
    assert wrong.stderr == "pengp: --level 99 does not lie between 0 and 1; did you mean 0.99?\n"
