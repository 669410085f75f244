"""Signals that end a command in order, even where Python or a library drops what they raise.

What a signal raises can fall into code that drops exceptions (a destructor, a hook at a fork) or
turns them into others (the initialization of a compiled library).
"""

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

import typer

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

#: Seconds until a signal is sent again whose exception was dropped.
_AGAIN = 0.05

_received: list[int] = []


def handle_signals() -> None:
    """Let Ctrl-C, `kill` and a hang-up end this process in order, unless they are ignored."""
    sys.unraisablehook = _send_again
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # SIGTERM would leave temporary files behind
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _receive)


@contextlib.contextmanager
def signals_first() -> Iterator[None]:
    """Raise what a signal raises instead of an error of the block that followed from it."""
    try:
        yield
    except typer.Exit:  # the command has seen to it
        raise
    except Exception:
        if _received:
            _raise(_received[0])
        raise


def _receive(number: int, frame: FrameType | None) -> None:
    """End in order: what is half-written is removed, processes of this one are ended."""
    _received.append(number)
    _raise(number)


def _raise(number: int) -> NoReturn:
    """Raise what a signal stands for."""
    raise (KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)) from None


def _send_again(dropped: "UnraisableHookArgs") -> None:
    """Send a signal again whose exception was dropped; show other exceptions as Python does."""
    if _received and issubclass(dropped.exc_type, (KeyboardInterrupt, SystemExit)):
        threading.Timer(_AGAIN, signal.raise_signal, [_received[0]]).start()
    else:
        sys.__unraisablehook__(dropped)
