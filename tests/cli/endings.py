"""Commands that are ended at random moments, and places that cannot be written to.

`python -m tests.cli.endings 200` ends commands two hundred times, starts each again, and prints
what it found. An output is what it was before, or complete; a study goes on where it stopped.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from pengp import load
from pengp.exceptions import FileError
from tests.cli.commands import INPUTS, model_file, pengp, piston_runs, runs_file
from tests.cli.kills import PATIENCE, session, started, wait_until_gone
from tests.foreground import restore_signals

#: What each command is given; last comes where its output goes.
COMMANDS: dict[str, tuple[str, ...]] = {
    "fit": ("fit", "runs.csv", "-y", "noise", "--force", "-o", "out.pengp"),
    "fit --jobs 2": (
        *("fit", "runs.csv", "-y", "noise", "--method", "penalized", "--repeats", "20"),
        *("--jobs", "2", "--force", "-o", "out.pengp"),
    ),
    "predict": ("predict", "model.pengp", "many.csv", "-o", "out.csv"),
    "update": ("update", "model.pengp", "more.csv", "-o", "out.pengp"),
    "next": ("next", "runs.csv", "-y", "noise", "--model", "model.pengp", "-o", "out.csv"),
    "study run": ("study", "run", "limits", "--size", "tiny", "--output", "out.sqlite"),
    "study run --jobs 2": (
        *("study", "run", "limits", "--size", "tiny", "--jobs", "2", "--output", "out.sqlite"),
    ),
}
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGKILL, signal.SIGHUP)
#: Seconds within which the signal is sent: from Python's start to the end of a quick command.
LATEST = 6.0


class Ended(NamedTuple):
    """What a signal led to."""

    command: str
    signal: str
    code: int | None
    """Exit code as a shell sees it, None if the command went on."""
    wrong: str
    """What is against the promises, empty if nothing is."""


def prepare(folder: Path) -> None:
    """Write the files that the commands work on."""
    runs_file(folder)
    model_file(folder)
    (folder / "temporary").mkdir()
    runs = piston_runs()
    more = runs.iloc[:2].copy()
    more[INPUTS] = more[INPUTS] + 0.25 * (runs.iloc[2:4][INPUTS].to_numpy() - more[INPUTS])
    more.to_csv(folder / "more.csv", index=False)
    low, high = runs[INPUTS].min().to_numpy(), runs[INPUTS].max().to_numpy()
    many = low + np.random.default_rng(0).random((100_000, len(INPUTS))) * (high - low)
    pd.DataFrame(many, columns=INPUTS).to_csv(folder / "many.csv", index=False)


def _is_whole(path: Path) -> bool:
    """Tell whether an output is one that a command writes when it is not disturbed."""
    if path.suffix == ".pengp":
        try:
            return load(path).n_features_in_ == len(INPUTS)
        except FileError:
            return False
    if path.suffix == ".csv":
        table = pd.read_csv(path)
        known = table.dropna(axis="columns", how="all")  # the response of planned runs is empty
        numbers = known.select_dtypes("number").to_numpy()
        return numbers.size > 0 and bool(np.isfinite(numbers).all())
    return pengp("study", "check", path.name, cwd=path.parent).returncode == 0


def _faults(folder: Path, before: dict[str, bytes], output: str, number: int, code: int) -> str:
    """Return what is against the promises in a folder after a command has ended."""
    hard = number == signal.SIGKILL
    names = {place.name for place in folder.iterdir()}
    more = names - {*before, output, "temporary"}
    if more and not (hard and all(name.startswith(f".{output}") for name in more)):
        study = {f"{output}-wal", f"{output}-shm", f"{output}-journal", f"{output}.lock"}
        if not more <= study:
            return f"files {sorted(more)}"
    changed = [n for n, content in before.items() if (folder / n).read_bytes() != content]
    if [name for name in changed if name != output]:
        return f"changed {changed}"
    place = folder / output
    unchanged = place.exists() == (output in before) and output not in changed
    if unchanged and code != 0:
        return ""
    return "" if place.exists() and _is_whole(place) else f"{output} is not whole"


def end(folder: Path, name: str, number: signal.Signals, delay: float) -> Ended:
    """Start a command, send a signal after some seconds, and look at what is left."""
    line, old = COMMANDS[name], Path.cwd()
    before = {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}
    os.chdir(folder)
    try:
        with started(*line, temporary=folder / "temporary") as process:
            time.sleep(delay)
            (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
            try:
                code = process.wait(timeout=6 * PATIENCE)
            except subprocess.TimeoutExpired:
                return Ended(name, number.name, None, f"{len(session(process.pid))} went on")
            left = wait_until_gone(process.pid)
            errors = "" if left else process.communicate()[1].decode()
    finally:
        os.chdir(old)
    shown = 128 - code if code < 0 else code
    wrong = _faults(folder, before, line[-1], number, shown)
    if left:
        wrong = f"{left} processes left"
    elif shown not in (0, 128 + number):
        wrong = f"exit code {shown}: {errors[-200:]}"
    elif shown == 128 + number and number != signal.SIGKILL and "Traceback" in errors:
        wrong = errors[-200:]
    return Ended(name, number.name, shown, wrong)


def end_often(folder: Path, count: int, seed: int = 0) -> Iterator[Ended]:
    """End commands at random moments; each keeps its output from one time to the next."""
    draw, names = random.Random(seed), [*COMMANDS]
    for i in range(count):
        name = names[i % len(names)]
        number = SIGNALS[i // len(names) % len(SIGNALS)]
        yield end(folder, name, number, draw.uniform(0.2, LATEST))
        for place in folder.glob(".out*"):  # what kill -9 leaves of a file that was being written
            place.unlink()
        if name.startswith("study"):
            continue
        if draw.random() < 0.5:
            (folder / COMMANDS[name][-1]).unlink(missing_ok=True)


def _main() -> None:
    """Print how commands ended, and all that is against the promises."""
    ends, wrong = Counter[tuple[str, str, int | None]](), 0
    folder = Path(tempfile.mkdtemp())
    prepare(folder)
    for i, one in enumerate(end_often(folder, int(sys.argv[1])), 1):
        ends[one.command, one.signal, one.code] += 1
        wrong += bool(one.wrong)
        if one.wrong or i % 20 == 0:
            sys.stdout.write(f"{i}: {one}\n")
            sys.stdout.flush()
    for (name, number, code), times in sorted(ends.items(), key=str):
        sys.stdout.write(f"{name}, {number}: exit code {code}, {times} times\n")
    sys.stdout.write(f"{sum(ends.values())} commands ended, {wrong} not as promised\n")
    shutil.rmtree(folder)


if __name__ == "__main__":
    restore_signals()
    _main()
