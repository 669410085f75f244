"""What a terminal shows while a command works: what it does, and from 2 s on how far it is."""

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pengp._core.progress import Stage, listening, time_bar
from pengp.cli.printing import visible

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

#: Seconds of work from which a bar is shown.
_PATIENCE = 2.0


@contextlib.contextmanager
def working(message: str, *, quiet: bool) -> Iterator[None]:
    """Say on a terminal what takes time, as long as it does, and show a bar if it takes long.

    A quiet command, of which only its result is wanted, says nothing.
    """
    if quiet or not sys.stderr.isatty():
        yield
        return
    sys.stderr.write(visible(message))
    sys.stderr.flush()
    bar = _Bar()
    try:
        with listening(bar):
            yield
    finally:
        bar.stop()
        sys.stderr.write("\r\033[K")  # the line is for waiting only


class _Bar:
    """A bar with the time left, one stage after the other, for work that takes long."""

    def __init__(self) -> None:
        self._since = time.monotonic()
        self._shown: Progress | None = None
        self._line: TaskID | None = None
        self._what = ""

    def __call__(self, stage: Stage) -> None:
        """Show how far a stage is, if there has been work for a while."""
        if self._shown is None:
            if time.monotonic() - self._since < _PATIENCE:
                return
            sys.stderr.write("\r\033[K")
            self._shown = time_bar(sys.stderr, "{task.fields[unit]},", transient=True)
            self._shown.start()
        if stage.what != self._what or self._line is None:
            if self._line is not None:
                self._shown.remove_task(self._line)
            self._what = stage.what
            self._line = self._shown.add_task(visible(stage.what), unit=stage.unit)
        self._shown.update(self._line, completed=stage.done, total=stage.total)

    def stop(self) -> None:
        """Remove the bar."""
        if self._shown is not None:
            self._shown.stop()
