"""Signals that end a command in order, even where Python or a library drops what they raise.

What a signal raises can fall into code that drops exceptions (a destructor, a hook at a fork, the
initialization of a compiled library) or turns them into others. So it waits for the end of an
import, and is sent again where Python reports that an exception was dropped.
"""

import atexit
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

#: Seconds until a signal is sent again that came at a bad moment or whose exception was dropped.
_AGAIN = 0.05
#: Times that a signal waits for the end of an import.
_MOST_WAITS = 200
#: File names of the frames of an import.
_IMPORT = "<frozen importlib._bootstrap"

_received: list[int] = []
_over: list[bool] = []


def handle_signals() -> None:
    """Let Ctrl-C, `kill` and a hang-up end this process in order, unless they are ignored."""
    sys.unraisablehook = _send_again
    atexit.register(_send_no_more)
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
    if len(_received) <= _MOST_WAITS and _is_importing(frame):
        _send_later(number)
    else:
        _raise(number)


def _is_importing(frame: FrameType | None) -> bool:
    """Tell whether a frame is part of an import."""
    while frame is not None:
        if frame.f_code.co_filename.startswith(_IMPORT):
            return True
        frame = frame.f_back
    return False


def _send_later(number: int) -> None:
    """Send a signal to this process a little later."""
    if _over:
        return
    if sys.platform == "win32":
        threading.Timer(_AGAIN, signal.raise_signal, [number]).start()
    else:  # no thread: a signal may come while Python starts one
        signal.signal(signal.SIGALRM, lambda _, frame: _receive(number, frame))
        signal.setitimer(signal.ITIMER_REAL, _AGAIN)


def _send_no_more() -> None:
    """See to it that what was to be sent does not kill a process that ends: Python forgets us."""
    _over.append(True)
    if _received and sys.platform != "win32":
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def _raise(number: int) -> NoReturn:
    """Raise what a signal stands for."""
    raise (KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)) from None


def _send_again(dropped: "UnraisableHookArgs") -> None:
    """Send a signal again whose exception was dropped; show other exceptions as Python does."""
    if _received and issubclass(dropped.exc_type, (KeyboardInterrupt, SystemExit)):
        _send_later(_received[0])
    else:
        sys.__unraisablehook__(dropped)
