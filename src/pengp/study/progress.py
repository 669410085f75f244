"""Shows how far a run is: a bar on a terminal, a line now and then elsewhere, and a summary."""

import contextlib
from collections.abc import Iterator
from typing import TextIO

from pengp._core.progress import time_bar
from pengp.study.runner import Progress, Tally


@contextlib.contextmanager
def shown(name: str, stream: TextIO) -> Iterator[Progress]:
    """Yield what shows the progress of the study ``name`` on a stream."""
    if not stream.isatty():
        yield Lines(name, stream)
        return
    with time_bar(stream, "tasks, {task.fields[failed]} failed,") as bar:
        line = bar.add_task(name, total=None, failed=0)
        yield lambda tally: bar.update(
            line, total=tally.to_do, completed=tally.ended, failed=tally.failed
        )


class Lines:
    """Writes a line at the start, and then every 10 s or, if that comes first, every 10 %."""

    def __init__(self, name: str, stream: TextIO) -> None:
        self._name = name
        self._stream = stream
        self._last = Tally(0, 0, 0)

    def __call__(self, tally: Tally) -> None:
        """Write a line if one is due."""
        if tally.ended == 0:
            self._write(f"{tally.to_do} tasks to do, {tally.already} of {tally.total} done before")
        elif self._is_due(tally):
            self._last = tally
            self._write(
                f"{tally.ended} of {tally.to_do} tasks, {tally.failed} failed, "
                f"{tally.seconds:.0f} s so far, about {tally.remaining or 0:.0f} s to go"
            )

    def _is_due(self, tally: Tally) -> bool:
        """Return whether it is time for a line; never twice in a second."""
        passed = tally.seconds - self._last.seconds
        tenths = 10 * tally.ended // tally.to_do - 10 * self._last.ended // tally.to_do
        return passed >= 10 or (passed >= 1 and tenths > 0)

    def _write(self, text: str) -> None:
        self._stream.write(f"{self._name}: {text}\n")
        self._stream.flush()


def summary(name: str, tally: Tally) -> str:
    """Return a sentence on what a run of the study ``name`` did and how fast it was."""
    if tally.ended == 0:
        return f"{name}: nothing to do, {tally.already} of {tally.total} tasks are done."
    return (
        f"{name}: {tally.ended} tasks in {tally.seconds:.3g} s, {tally.rate:.3g} tasks per second."
    )
