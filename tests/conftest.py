"""All tests: signals are not ignored, wherever they are run."""

from tests.foreground import restore_signals

restore_signals()
