"""`pengp fit --tolerance` says what the library says."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pengp import load
from pengp.cli.app import app
from pengp.diagnostics import good_enough
from tests.cli.commands import runs_file


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    runs_file(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fit(*arguments: str) -> Result:
    """Fit the runs of the working directory."""
    return CliRunner().invoke(app, ["fit", "runs.csv", "-y", "noise", "--force", *arguments])


@pytest.mark.parametrize("method", ["bayes", "penalized"])
def test_the_answer_is_the_library_s(here: Path, method: str) -> None:
    text = fit("--method", method, "--tolerance", "2")
    integers = "Note: x4, x5 take few whole numbers and nothing in between;"
    assert text.exit_code == 0
    assert text.stderr.startswith(integers)
    assert text.stderr.count("\n") == 1
    found = good_enough(load("runs.pengp"), tolerance=2.0)
    assert " ".join(found.sentences()) in " ".join(text.stdout.split())
    record = json.loads(fit("--method", method, "--tolerance", "2", "--json").stdout)["tolerance"]
    assert record["probability"] == pytest.approx(found.probability, rel=1e-9)
    assert record["held_out"]["share"] == found.share
    assert record["more_runs"] == found.more_runs
    assert record["enough"] == found.enough
    assert [step["k"] for step in record["after_more_runs"]] == [step.k for step in found.steps]


def test_without_a_tolerance_nothing_is_said_and_nonsense_is_refused(here: Path) -> None:
    done = fit()
    assert "tolerance" not in done.stdout
    refused = fit("--tolerance", "-1")
    assert refused.exit_code == 3
    assert "--tolerance -1 is no number above 0" in refused.stderr
