"""What stands in files reaches the terminal as text: nothing there is obeyed."""

import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner, Result

from pengp import PenalizedGPRegressor, save
from pengp.cli.app import app
from pengp.cli.printing import rendered, show, table, visible

HOSTILE = "x\x1b]0;owned\x07\x1b[8m\x1b[1m\x9b31m\x08\u202e[red]y[b]"
SHOWN = r"x\x1b]0;owned\x07\x1b[8m\x1b[1m\x9b31m\x08\u202e[red]y[b]"
#: Everything that is neither printable nor a line break.
OBEYED = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a model and a table whose names are hostile."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((8, 2)), columns=[HOSTILE, "b"])
    y = X["b"] ** 2 + X[HOSTILE]
    model = PenalizedGPRegressor(random_state=0).fit(X, y)
    history = {"created": HOSTILE, "runs": 3, "source": HOSTILE, "re_estimated": False}
    info = {"response": f"r{HOSTILE}", "source": HOSTILE, "command": HOSTILE, "history": [history]}
    save(model, f"{HOSTILE}.pengp", info=info)
    save(model, "m.pengp", info=info)
    X.assign(**{f"r{HOSTILE}": y}).to_csv("runs.csv", index=False)
    more = pd.DataFrame(rng.random((3, 2)) + 1.0, columns=[HOSTILE, "b"])
    more.assign(**{f"r{HOSTILE}": 0.5}).to_csv(f"{HOSTILE}.csv", index=False)
    return tmp_path


COMMANDS = [
    ["info", f"{HOSTILE}.pengp"],
    ["predict", "m.pengp", f"{HOSTILE}.csv", "-o", f"{HOSTILE}.out"],
    ["validate", "m.pengp", f"{HOSTILE}.csv"],
    ["update", "m.pengp", f"{HOSTILE}.csv"],
    [
        "fit",
        "runs.csv",
        "-y",
        f"r{HOSTILE}",
        "--method",
        "penalized",
        "--folds",
        "2",
        "--repeats",
        "1",
    ],
    ["fit", "runs.csv", "-y", f"no{HOSTILE}"],
    ["fit", f"no{HOSTILE}.csv", "-y", "y"],
    ["fit", "runs.csv", "-y", "b", "-o", f"no/{HOSTILE}"],
    ["info", f"no{HOSTILE}.pengp"],
    ["info", "m.pengp", HOSTILE],
    [HOSTILE],
    ["study", "status", HOSTILE],
    ["design", "-n", "3", "-b", f"{HOSTILE}=0:1", "-o", f"{HOSTILE}.csv"],
    ["effects", "m.pengp"],
    ["effects", "m.pengp", "--law", f"no{HOSTILE}=0:1"],
    ["propagate", "m.pengp"],
    ["propagate", "m.pengp", "--law", f"no{HOSTILE}=0:1"],
    ["optimize", "m.pengp", "--minimize"],
    ["optimize", "m.pengp", "--minimize", "--where", f"{HOSTILE} <"],
    ["next", "runs.csv", "-y", f"r{HOSTILE}", "--model", "m.pengp", "-n", "1"],
    ["next", "runs.csv", "-y", f"no{HOSTILE}", "--model", "m.pengp"],
    ["compare", "m.pengp", f"{HOSTILE}.pengp"],
    ["compare", "m.pengp", f"no{HOSTILE}.pengp"],
    ["report", "m.pengp", "-o", f"{HOSTILE}.html"],
    ["report", f"no{HOSTILE}.pengp", "-o", "out.html"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0][:8])
def test_escapes_are_shown_and_not_obeyed(here: Path, command: list[str]) -> None:
    done = run(*command)
    assert not isinstance(done.exception, ValueError | TypeError)
    words = re.sub(r"\s|─", "", done.stdout + done.stderr)  # lines are broken anywhere
    assert OBEYED.search(done.stdout + done.stderr) is None
    assert SHOWN in words or repr(HOSTILE)[1:-1] in words


def test_a_terminal_gets_bold_words_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    show(rendered(table([HOSTILE], [[HOSTILE]], title=HOSTILE)))
    shown = capsys.readouterr().out
    assert "\x1b[1m" in shown  # the heading
    assert OBEYED.search(shown.replace("\x1b[1m", "").replace("\x1b[0m", "")) is None


def test_predictions_on_a_terminal_are_text(here: Path) -> None:
    shutil.copy(f"{HOSTILE}.csv", "new.csv")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "pengp", "predict", "m.pengp", "new.csv"]
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        subprocess.run(command, stdout=theirs, stderr=subprocess.DEVNULL, check=True)
        os.close(theirs)
        shown = terminal.read(1 << 16).decode()
    assert OBEYED.search(shown.replace("\r\n", "\n")) is None
    assert SHOWN in shown


def test_ordinary_text_is_left_alone() -> None:
    for text in ("Größe µm, 温度 😀", "a\nb\tc", "─", "e\u0301"):
        assert visible(text) == text
