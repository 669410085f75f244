import io
import re

import pytest

from pengp.study.progress import Lines, shown, summary
from pengp.study.runner import Tally


def test_lines_come_every_ten_seconds_or_every_tenth_but_not_twice_a_second() -> None:
    stream = io.StringIO()
    lines = Lines("forrester", stream)
    start = Tally(24, 4, 0)
    lines(start)
    for ended, seconds in (
        (1, 0.5),
        (2, 0.9),
        (3, 2.0),
        (4, 2.5),
        (5, 12.0),
        (5, 22.0),
        (20, 30.0),
    ):
        lines(Tally(24, 4, 0, ended - 1, 1, seconds))
    assert stream.getvalue().splitlines() == [
        "forrester: 20 tasks to do, 4 of 24 done before",
        "forrester: 3 of 20 tasks, 1 failed, 2 s so far, about 11 s to go",
        "forrester: 5 of 20 tasks, 1 failed, 12 s so far, about 36 s to go",
        "forrester: 5 of 20 tasks, 1 failed, 22 s so far, about 66 s to go",
        "forrester: 20 of 20 tasks, 1 failed, 30 s so far, about 0 s to go",
    ]


class _Terminal(io.StringIO):
    """A stream that passes for a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_bar_that_fits_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    stream = _Terminal()
    with shown("simulation-scad", stream) as progress:
        progress(Tally(400, 100, 0))
        progress(Tally(400, 100, 0, done=199, failed=1, seconds=50.0))
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", stream.getvalue())
    last = re.split(r"[\r\n]+", text.strip())[-1]
    assert re.match(r"simulation-scad \S+ 200/300 tasks, 1 failed, [-\d:]+ to go$", last)
    assert len(last) <= 80


def test_the_summary_is_one_sentence() -> None:
    tally = Tally(44, 4, 0, done=39, failed=1, seconds=16.0)
    assert summary("limits", tally) == "limits: 40 tasks in 16 s, 2.5 tasks per second."
    done = summary("limits", Tally(20, 20, 0))
    assert done == "limits: nothing to do, 20 of 20 tasks are done."
