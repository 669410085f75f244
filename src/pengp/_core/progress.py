"""How far long work is: what does it says so, and whoever waits for it is told, if anyone is."""

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress


class Stage(NamedTuple):
    """A stage of some work, and how far it is."""

    what: str
    """What is done, as in "Sampling the posterior"."""
    unit: str
    """What is counted, as in "points"."""
    done: int
    total: int
    """How many are expected, which may change on the way."""


_listener: ContextVar[Callable[[Stage], None] | None] = ContextVar("listener", default=None)
_part: ContextVar[str] = ContextVar("part", default="")


@contextlib.contextmanager
def listening(listener: Callable[[Stage], None]) -> Iterator[None]:
    """Let a listener be told how far the block's work in this process and thread is."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextlib.contextmanager
def part(k: int, total: int, name: str) -> Iterator[None]:
    """Say that the block's work is part k, from 0, of so many; nothing is said of a single one."""
    token = _part.set(f" ({name} {k + 1} of {total})" if total > 1 else "")
    try:
        yield
    finally:
        _part.reset(token)


def tell(what: str, unit: str, done: int, total: int) -> None:
    """Tell the listener, if there is one, how far a stage is."""
    listener = _listener.get()
    if listener is not None:
        listener(Stage(what + _part.get(), unit, done, max(done, total)))


def time_bar(stream: TextIO, texts: str, *, transient: bool = False) -> "Progress":
    """Return a bar of rich, not started, for a terminal of 80 columns: count, texts, time left."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns: tuple[Any, ...] = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TextColumn(texts),
        TimeRemainingColumn(),
        TextColumn("to go"),
    )
    return Progress(*columns, console=Console(file=stream), transient=transient)
