"""`pengp effects` and `pengp propagate`: the numbers of `pengp.decisions`, and clear sentences."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from pengp import BayesianGPRegressor, PenalizedGPRegressor, load, load_piston_slap, save
from pengp.cli.app import app
from pengp.decisions import effects, propagate
from tests.cli.commands import INPUTS, model_file


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return model_file(tmp_path_factory.mktemp("fitted"))


@pytest.fixture
def here(fitted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(fitted, tmp_path / "model.pengp")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, list(arguments))
    return done.exit_code, done.output


def test_effects_are_those_of_python(here: Path) -> None:
    code, text = run("effects", "model.pengp", "--law", "x1=normal:50,5", "--json")
    assert code == 0
    told = json.loads(text)["effects"][0]
    expected = effects(load(here / "model.pengp"), {"x1": "normal:50,5"})
    shares = [row["mean"] for row in told["indices"] if row["kind"] == "total"]
    np.testing.assert_allclose(shares, expected.total.mean)
    assert [row["input"] for row in told["main_effects"]] == INPUTS


def test_the_table_names_all_inputs_and_their_laws(here: Path) -> None:
    code, text = run("effects", "model.pengp")
    assert code == 0
    assert all(name in text for name in INPUTS)
    assert "Shapley" in text
    assert "x1=uniform:" in text


def test_names_and_shares_stand_in_one_line_each_of_80_columns(tmp_path: Path) -> None:
    runs = load_piston_slap()
    model = BayesianGPRegressor(random_state=0)
    model.fit(pd.DataFrame(runs.X, columns=list(runs.input_names)), runs.y)
    save(model, tmp_path / "long.pengp", info={"response": "noise"})
    code, text = run("effects", str(tmp_path / "long.pengp"))
    assert code == 0
    assert max(map(len, text.splitlines())) <= 80
    rows = text.split("──\n")[1].split("\n\n")[0].splitlines()
    assert len(rows) == len(runs.input_names)
    assert all(row.count("(") == row.count(" to ") == 3 for row in rows)


def test_the_inputs_that_matter_most_are_a_line_each(here: Path) -> None:
    code, text = run("effects", "model.pengp", "--top", "2")
    assert code == 0
    expected = effects(load(here / "model.pengp"))
    lines = text.splitlines()
    assert len(lines) == 2
    for line, p in zip(lines, expected.order(), strict=False):
        mean, lower, upper = (100 * float(part[p]) for part in expected.total)
        assert line.startswith(f"{INPUTS[p]}  ")
        found = [float(word) for word in re.findall(r"(?<= )[0-9.]+(?= |$)", line)]
        assert found == pytest.approx([mean, 90.0, lower, upper], rel=0.05)
        assert "of the variance of noise" in line


def test_what_comes_out_is_that_of_python(here: Path) -> None:
    code, text = run("propagate", "model.pengp", "--constraint", "noise < 58", "--json")
    assert code == 0
    told = json.loads(text)["propagation"][0]
    model = load(here / "model.pengp")
    expected = propagate(model, constraint="noise < 58", response_name="noise")
    assert expected.failure is not None
    assert told["failure"]["mean"] == pytest.approx(float(expected.failure.mean))
    assert told["mean"]["mean"] == pytest.approx(float(expected.mean.mean))
    code, text = run("propagate", "model.pengp", "--constraint", "noise < 58")
    assert "probability of not noise < 58" in text


def test_what_no_draw_or_every_draw_meets_is_not_certain(here: Path) -> None:
    model = load(here / "model.pengp")
    never = propagate(model, constraint="response < -900", n_draws=20)
    always = propagate(model, constraint="response > -900", n_draws=20)
    assert never.failure is not None
    assert always.failure is not None
    least = 3.0 / 2048  # 1 - least in each of 2048 points has the probability exp(-3), about 5 %
    assert [float(v) for v in never.failure] == pytest.approx([1.0, 1.0 - least, 1.0])
    assert [float(v) for v in always.failure] == pytest.approx([0.0, 0.0, least])
    text = " ".join(run("propagate", "model.pengp", "--constraint", "noise < -900")[1].split())
    assert "No draw met noise < -900: it is met with a probability below about 0.0015" in text
    text = " ".join(run("propagate", "model.pengp", "--constraint", "noise > -900")[1].split())
    assert "Every draw met noise > -900: it is missed with a probability below" in text
    assert not propagate(model, constraint="response < 57", n_draws=20).remark


def test_a_constraint_on_another_response_names_all(here: Path) -> None:
    X = np.random.default_rng(0).random((8, 2))
    both = PenalizedGPRegressor(lam=0.1, random_state=0).fit(X, np.stack([X[:, 0], X[:, 1]], 1))
    save(both, "two.pengp", info={"response": ["y", "y2"]})
    code, text = run("propagate", "two.pengp", "--constraint", "w < .5")
    assert code == 3
    assert "is about 'w', but the responses are 'y' and 'y2'" in " ".join(text.split())
    code, text = run("propagate", "two.pengp", "--constraint", "y2 < .5", "--json")
    assert [one["response"] for one in json.loads(text)["propagation"]] == ["y2"]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["effects", "model.pengp", "--law", "x1"], "NAME=LAW"),
        (["effects", "model.pengp", "--law", "x9=normal:0,1"], "no input 'x9'"),
        (["effects", "model.pengp", "--law", "x1=gauss:0,1"], "unknown"),
        (["propagate", "model.pengp", "--constraint", "dB < 58"], "the response is 'noise'"),
        (["propagate", "model.pengp", "--level", "90"], "0.9"),
        (
            ["effects", "model.pengp", "--law", "x1=normal:0,1", "--law", "x1=normal:0,1"],
            "two laws",
        ),
    ],
)
def test_a_wrong_argument_gets_a_sentence(here: Path, arguments: list[str], word: str) -> None:
    code, text = run(*arguments)
    assert code == 3
    assert word in " ".join(text.split())
