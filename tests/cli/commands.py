"""The command line as a process of its own, and files for it to work on."""

import contextlib
import os
import pty
import resource
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import pandas as pd

from pengp import PenalizedGPRegressorCV, save

PISTON_SLAP = Path(__file__).parents[2] / "src" / "pengp" / "datasets" / "piston_slap.csv"
INPUTS = ["x1", "x2", "x3", "x4", "x5", "x6"]
#: Of processes that are sent a signal: what it raises inside coverage would leave its lock taken.
UNMEASURED = {"COVERAGE_PROCESS_CONFIG": ""}


def pengp(
    *arguments: str | Path,
    cwd: Path,
    stdin: str | bytes = b"",
    environment: dict[str, str] | None = None,
    before: Callable[[], None] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run ``pengp arguments...`` in a directory and return its exit code and output.

    `before` runs in the child before Python starts, for resource limits.
    """
    done = subprocess.run(
        _command(arguments),
        cwd=cwd,
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        env=_environment(environment),
        preexec_fn=before,
        timeout=120,
        check=False,
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


def interrupted(
    *arguments: str | Path, cwd: Path, working: Callable[[str], bool], stdin: bytes = b""
) -> tuple[int, str]:
    """Run ``pengp arguments...``, press Ctrl-C once it works, return exit code and messages.

    Standard error is a terminal, standard input does not end. `working` is given what the terminal
    shows and says whether the command is at work.
    """
    ours, theirs = pty.openpty()
    with (
        os.fdopen(ours, "rb", buffering=0) as terminal,
        subprocess.Popen(
            _command(arguments),
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=theirs,
            env=_environment(UNMEASURED),
            start_new_session=True,
        ) as process,
    ):
        os.close(theirs)
        assert process.stdin is not None
        process.stdin.write(stdin)
        process.stdin.flush()
        shown = b""
        while process.poll() is None and not working(shown.decode()):
            shown += _screen(terminal)
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of its processes
        code = process.wait(timeout=60)
        return code, (shown + _screen(terminal)).decode()


def _screen(terminal: IO[bytes]) -> bytes:
    """Return what a process has written to a terminal since the last call."""
    shown = b""
    while select.select([terminal], [], [], 0.05)[0]:
        try:
            shown += terminal.read(4096)
        except OSError:  # the process has ended
            break
    return shown


def limit_files(size: int) -> None:
    """Let no file of this process grow beyond so many bytes; a full disk needs privileges."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


@contextlib.contextmanager
def tiny_disk(size: int) -> Iterator[None]:
    """Do the same for as long as the block runs."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    limit_files(size)
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _command(arguments: Sequence[str | Path]) -> list[str]:
    """Return the command line of a new Python."""
    return [sys.executable, "-m", "pengp", *map(str, arguments)]


def _environment(changes: dict[str, str] | None) -> dict[str, str]:
    """Return this process's environment, without colours or a terminal's width."""
    kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "FORCE_COLOR")}
    return {**kept, "OPENBLAS_NUM_THREADS": "1", **(changes or {})}


def runs_file(directory: Path) -> Path:
    """Write the 12 piston-slap runs to runs.csv with short names: x1 to x6, response noise."""
    path = directory / "runs.csv"
    _, *rows = PISTON_SLAP.read_text().splitlines()
    path.write_text("\n".join([",".join([*INPUTS, "noise"]), *rows, ""]))
    return path


def piston_runs(**options: Any) -> pd.DataFrame:
    """Return the same table; options are those of pandas.read_csv."""
    return pd.read_csv(PISTON_SLAP, **options).set_axis([*INPUTS, "noise"], axis=1)


def model_file(directory: Path) -> Path:
    """Fit the piston-slap runs and save the model as model.pengp."""
    runs = piston_runs()
    model = PenalizedGPRegressorCV(cv=4, random_state=0).fit(runs[INPUTS], runs["noise"])
    path = directory / "model.pengp"
    save(model, path, info={"response": "noise", "source": PISTON_SLAP.name, "seed": 0})
    return path
