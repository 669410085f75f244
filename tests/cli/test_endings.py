"""Commands ended in their midst, and places that are gone or full: nothing half-written."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.commands import model_file, pengp, runs_file
from tests.cli.endings import COMMANDS, end, prepare

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("endings")
    prepare(place)
    return place


@pytest.mark.parametrize(
    ("name", "number", "delay"),
    [
        ("predict", signal.SIGKILL, 3.0),
        ("update", signal.SIGTERM, 1.0),
        ("next", signal.SIGINT, 1.5),
        ("study run --jobs 2", signal.SIGKILL, 3.0),
        ("study run", signal.SIGTERM, 2.0),
    ],
)
def test_a_command_that_is_ended_keeps_its_promises(
    folder: Path, name: str, number: signal.Signals, delay: float
) -> None:
    assert name in COMMANDS
    assert end(folder, name, number, delay).wrong == ""


def test_a_working_directory_that_is_gone_is_told(tmp_path: Path) -> None:
    runs_file(tmp_path)
    (tmp_path / "gone").mkdir()
    script = f"rmdir ../gone && {sys.executable} -m pengp fit ../runs.csv -y noise -o out.pengp"
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=tmp_path / "gone",
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 4
    assert done.stderr == "pengp: the working directory is gone; change to another one.\n"
    assert [place.name for place in tmp_path.iterdir()] == ["runs.csv"]


@contextmanager
def mounted(place: Path, options: str) -> Iterator[None]:
    """Mount a file system in memory for as long as the block runs; only root may."""
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("needs to mount a file system")
    try:
        yield
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize(("options", "why"), [("ro", "read-only"), ("size=16k", "disk is full")])
def test_a_disk_that_is_full_or_read_only_is_told(tmp_path: Path, options: str, why: str) -> None:
    model = model_file(tmp_path)
    with mounted(tmp_path / "disk", options):
        done = pengp("report", model, "-o", "report.html", cwd=tmp_path / "disk")
        assert done.returncode == 4
        assert why in done.stderr
        assert not any((tmp_path / "disk").iterdir())
