"""Where the user stands: sentences name arguments in Python and options at the command line."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_AT_COMMAND_LINE = ContextVar("at_command_line", default=False)


def at_command_line() -> bool:
    """Return whether a command says the sentence that is being made."""
    return _AT_COMMAND_LINE.get()


def by_surface(python: str, command: str) -> str:
    """Return the words for Python, or those for the command line within `command_words`."""
    return command if at_command_line() else python


@contextmanager
def command_words() -> Iterator[None]:
    """Let sentences that are made within name the options of the command line."""
    token = _AT_COMMAND_LINE.set(True)
    try:
        yield
    finally:
        _AT_COMMAND_LINE.reset(token)
