"""Under which circumstances tasks are run: versions, machine, commit."""

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pengp

_PACKAGES = ("numpy", "scipy", "scikit-learn")


def circumstances() -> dict[str, Any]:
    """Return what the results of a call may depend on and who wants to repeat it has to know."""
    return {
        "versions": {
            "python": platform.python_version(),
            "pengp": pengp.__version__,
            **{package: version(package) for package in _PACKAGES},
        },
        "platform": platform.platform(),
        "cpus": os.cpu_count(),
        "commit": commit(Path(pengp.__file__).parent),
    }


def commit(folder: Path) -> str | None:
    """Return the commit of a folder, with "-dirty" after changes; None if git does not track it.

    A folder may lie in a checkout without being part of it, as packages in a virtual environment.
    """
    if _git(folder, "ls-files", "--error-unmatch", "__init__.py") is None:
        return None
    return _git(folder, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")


def _git(folder: Path, *arguments: str) -> str | None:
    """Return what a git command prints, None if it fails or there is no git."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
