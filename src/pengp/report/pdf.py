"""The page as a PDF, printed by a Chromium that is installed."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from pengp.exceptions import FileError, InputError

#: Programs that print, the first that is found.
_BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "microsoft-edge",
    "chrome",
    "msedge",
)
#: Milliseconds of its own time that the page has to draw, and seconds until it is given up.
_DRAWING, _PATIENCE = 30_000, 180


def chromium() -> str:
    """Return the program that prints, or say how to have one."""
    installed = (shutil.which(name) for name in _BROWSERS)
    found = os.environ.get("PENGP_CHROMIUM") or next(filter(None, installed), None)
    if not found:
        raise InputError(
            "a PDF is printed by Chromium or Chrome, and none was found; install one or name it in "
            "PENGP_CHROMIUM, or write an .html page and print that in a browser."
        )
    return found


def printed(page: str) -> bytes:
    """Return an HTML page as a PDF."""
    program = chromium()
    with tempfile.TemporaryDirectory(prefix="pengp-", ignore_cleanup_errors=True) as folder:
        source, target = Path(folder) / "page.html", Path(folder) / "page.pdf"
        source.write_text(page, encoding="utf-8")
        command = [
            program,
            "--headless",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            f"--user-data-dir={folder}/profile",
            f"--virtual-time-budget={_DRAWING}",
            "--no-pdf-header-footer",
            f"--print-to-pdf={target}",
            source.as_uri(),
        ]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.insert(1, "--no-sandbox")  # Chromium refuses to run as root with one
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=_PATIENCE)
            return target.read_bytes()
        except (OSError, subprocess.SubprocessError) as error:
            raise FileError(
                f"{program} could not print the page ({type(error).__name__}); write an .html page "
                "and print that in a browser."
            ) from error
