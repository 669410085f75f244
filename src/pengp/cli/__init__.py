"""The command line `pengp`: argument parsing and printing around the library."""

import sys
from importlib.util import find_spec

from pengp._core.lazy import defer

__all__ = ["main"]

#: What the command line needs besides the library; the extra "cli" installs all of it.
_NEEDED = ("typer", "rich", "pandas", "openpyxl")


def main() -> None:
    """Run the command line, or say how to install what it needs."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        sys.stderr.write(
            f"pengp: the command line needs {' and '.join(missing)}; "
            'install it with: pip install "pengp[cli]"\n'
        )
        sys.exit(1)
    defer("scipy.stats")  # scikit-learn imports it, and it takes a third of a command's start
    try:
        from pengp.cli.app import run

        run()
    except KeyboardInterrupt:  # before a command has begun, or after
        sys.stderr.write("Interrupted.\n")
        sys.exit(130)
