"""Ends `pengp fit --jobs 2` by signals at every phase of its start.

`python -m tests.cli.kills 100` does so a hundred times and prints how the command ended. The fit
would go on for long after the signal: an exit code 0, or none in good time, is a signal lost.
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.cli.commands import UNMEASURED, runs_file
from tests.foreground import restore_signals

#: Seconds that a command has to end, and its processes after it.
PATIENCE = 10.0
#: What may be said on standard error: the sentence of a command, and the one before it has begun.
SENTENCES = ("", "Interrupted; nothing was written.\n", "Interrupted.\n")


#: What is sent.
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGKILL, signal.SIGHUP)
#: One of the last libraries that a process loads.
LATE = "/scipy/optimize/"
#: Moments as numbers of processes that have loaded something: the command has begun, joblib's two
#: helpers and two workers start one after the other, the workers are at work.
MOMENTS = ((1, LATE), (2, ""), (3, ""), (4, ""), (5, ""), (3, LATE))


class End(NamedTuple):
    """What a signal led to."""

    processes: int
    """How many processes there were when the signal was sent."""
    code: int | None
    """Exit code as a shell sees it, None if the command went on."""
    errors: str
    """Standard error."""
    left: int
    """Processes that were still there afterwards."""


def session(leader: int, using: str = "") -> list[int]:
    """Return the processes of a session that still run, and have loaded some library."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has just ended
            state, _, _, leads, *_ = (place / "stat").read_text().rpartition(")")[2].split()
            if int(leads) == leader and state != "Z" and using in (place / "maps").read_text():
                found.append(int(place.name))
    return found


@contextlib.contextmanager
def started(*arguments: str, temporary: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Start ``pengp arguments...`` in a session of its own; nothing of it outlives the block."""
    with subprocess.Popen(
        [sys.executable, "-m", "pengp", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={
            **os.environ,
            **UNMEASURED,
            "OPENBLAS_NUM_THREADS": "1",
            "TMPDIR": str(temporary),
        },
    ) as process:
        try:
            yield process
        finally:
            for number in session(process.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)


def wait_until_gone(leader: int, seconds: float = PATIENCE) -> int:
    """Wait for the end of all processes of a session; return how many are left after all."""
    deadline = time.monotonic() + seconds
    while (left := session(leader)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return len(left)


def wait_for_processes(process: "subprocess.Popen[bytes]", count: int, using: str = "") -> None:
    """Wait until a command has so many processes that have loaded some library."""
    while len(session(process.pid, using)) < count:
        assert process.poll() is None, process.communicate()
        time.sleep(0.001)


def killed_fit(folder: Path, number: signal.Signals, moment: tuple[int, str], delay: float) -> End:
    """Fit runs.csv in two jobs; send a signal some seconds after a moment.

    Ctrl-C goes to all processes, as from a terminal, any other signal to the command alone.
    """
    fit = (
        "fit",
        str(folder / "runs.csv"),
        "-y",
        "noise",
        "--method",
        "penalized",
        "--repeats",
        "100",
        "--jobs",
        "2",
    )
    output = ("-o", str(folder / "out.pengp"))
    with started(*fit, *output, temporary=folder / "temporary") as process:
        wait_for_processes(process, *moment)
        time.sleep(delay)
        there = len(session(process.pid))
        send = os.killpg if number == signal.SIGINT else os.kill
        send(process.pid, number)
        try:
            code = process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            return End(there, None, "", len(session(process.pid)))
        left = wait_until_gone(process.pid)
        errors = "" if left else process.communicate()[1].decode()  # it would wait for the pipes
    return End(there, 128 - code if code < 0 else code, errors, left)


def is_in_order(number: signal.Signals, end: End) -> bool:
    """Return whether a fit ended as documented; after SIGKILL a helper of joblib may complain."""
    lines = end.errors.splitlines(keepends=True)
    told = "".join(line for line in lines if not line.startswith("Note: "))
    quiet = told in SENTENCES or number == signal.SIGKILL
    return end.code == 128 + number and end.left == 0 and quiet


def kill_often(
    folder: Path, count: int, numbers: Sequence[signal.Signals] = SIGNALS
) -> Iterator[tuple[signal.Signals, End]]:
    """Kill fits at moments spread over the start of the command and of its workers."""
    runs_file(folder)
    (folder / "temporary").mkdir()
    draw = random.Random(0)
    for i in range(count):
        number, moment = numbers[i % len(numbers)], MOMENTS[i // len(numbers) % len(MOMENTS)]
        yield number, killed_fit(folder, number, moment, draw.choice((0.0, draw.random() / 5)))


def _main() -> None:
    """Print how fits ended, and all that is against what is documented."""
    ends, wrong = Counter[tuple[str, int, int | None]](), 0
    with tempfile.TemporaryDirectory() as folder:
        for number, end in kill_often(Path(folder), int(sys.argv[1])):
            ends[number.name, end.processes, end.code] += 1
            if not is_in_order(number, end):
                wrong += 1
                sys.stdout.write(f"{number.name}: {end}\n")
                sys.stdout.flush()
        files = sorted(place.name for place in Path(folder).rglob("*"))
    for (name, processes, code), times in sorted(ends.items(), key=str):
        sys.stdout.write(f"{name:8} at {processes} processes: exit code {code}, {times} times\n")
    sys.stdout.write(f"{sum(ends.values())} kills, {wrong} wrong; files {files}\n")


if __name__ == "__main__":
    restore_signals()
    _main()
