"""What a terminal shows while a command works."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pengp._core.progress import listening, part, tell
from pengp.cli import waiting
from tests.cli.commands import _environment, _screen, runs_file


def on_terminal(patience: float, *arguments: str, cwd: Path) -> str:
    """Run ``pengp arguments...`` with its messages on a terminal, and return what that is sent.

    A bar is shown after ``patience`` seconds.
    """
    code = (
        f"import sys; sys.argv = ['pengp', *{arguments!r}]; from pengp.cli import main, waiting\n"
        f"waiting._PATIENCE = {patience!r}; main()"
    )
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        changes = {"TERM": "xterm", "COLUMNS": "80"}
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=cwd,
            stdout=subprocess.DEVNULL,
            stderr=theirs,
            env=_environment(changes),
        )
        os.close(theirs)
        shown = b""
        while process.poll() is None:
            shown += _screen(terminal)
        assert process.returncode == 0, shown
        return (shown + _screen(terminal)).decode()


def plain(shown: str) -> str:
    """Return what a terminal was sent without colours and movements."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)


FIT = ("fit", "runs.csv", "-y", "noise", "--force")


def test_a_long_fit_shows_a_bar_with_the_time_left(tmp_path: Path) -> None:
    runs_file(tmp_path)
    shown = on_terminal(0.0, *FIT, cwd=tmp_path)
    assert "Fitting 12 runs ..." in shown
    lines = re.split(r"[\r\n]+", plain(shown))
    bars = [line for line in lines if line.rstrip().endswith("to go")]
    assert re.match(r"Sampling the posterior \S+ +\d+/\d+ points, [-\d:]+ to go", bars[0])
    assert bars[-1].startswith("Leaving out each run")
    assert max(map(len, bars)) <= 80
    assert "\x1b[?25h" in shown  # the cursor is back


def test_a_penalized_fit_counts_cells_and_responses(tmp_path: Path) -> None:
    table = runs_file(tmp_path).read_text().splitlines()
    twice = [f"{line},{line.rpartition(',')[2]}{k or 'two'}" for k, line in enumerate(table)]
    (tmp_path / "runs.csv").write_text("\n".join(twice).replace("noisetwo", "two"))
    options = ("-y", "two", "--method", "penalized", "--repeats", "1", "--folds", "3")
    shown = plain(on_terminal(0.0, *FIT, *options, cwd=tmp_path))
    assert re.search(r"Cross-validating \(response 2 of 2\) \S+ +\d+/123 cells", shown)


@pytest.mark.parametrize(("patience", "options"), [(1e9, ()), (0.0, ("--json",))])
def test_a_short_fit_and_one_for_programs_show_no_bar(
    tmp_path: Path, patience: float, options: tuple[str, ...]
) -> None:
    runs_file(tmp_path)
    shown = on_terminal(patience, *FIT, *options, cwd=tmp_path)
    assert "posterior" not in shown
    assert ("Fitting 12 runs ..." in shown) == (not options)


def test_nothing_is_shown_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with waiting.working("Fitting ...", quiet=False):
        tell("Sampling", "points", 1, 2)
    assert capsys.readouterr() == ("", "")


def test_listeners_are_told_of_parts_and_only_within_their_block() -> None:
    heard: list[tuple[str, str, int, int]] = []
    with listening(heard.append):
        tell("Sampling", "points", 1, 4)
        with part(1, 3, "response"):
            tell("Sampling", "points", 5, 4)
        with part(0, 1, "response"):
            tell("Sampling", "points", 4, 4)
    tell("Sampling", "points", 0, 4)
    assert heard == [
        ("Sampling", "points", 1, 4),
        ("Sampling (response 2 of 3)", "points", 5, 5),
        ("Sampling", "points", 4, 4),
    ]
