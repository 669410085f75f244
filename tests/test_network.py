"""Nothing is sent or fetched at run time."""

import subprocess
import sys
from pathlib import Path

from pengp.datasets import piston_slap

#: Makes any use of the network an error, in the process and in all that it starts.
BLOCK = """
import socket, sys
def refuse(*args, **kwargs):
    raise AssertionError("the network was used")
def hook(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.bind"):
        if not (args[1:] and isinstance(args[1], (str, bytes))):  # a file, as workers use
            refuse()
sys.addaudithook(hook)
"""
COMMANDS = (
    "fit runs.csv -y noise -o noise.pengp --report noise.html --jobs 2",
    "predict noise.pengp runs.csv -o predicted.csv",
    "validate noise.pengp runs.csv",
    "report noise.pengp -o again.html",
    "fit runs.csv -y noise -o average.pengp --method bayes",
    "info noise.pengp",
    "effects noise.pengp",
    "propagate noise.pengp",
    "optimize noise.pengp --minimize",
    "compare noise.pengp average.pengp runs.csv",
    "next runs.csv -y noise --model noise.pengp -n 1",
    "design -n 3 -b a=0:1 -o design.csv",
    "update noise.pengp new.csv -o updated.pengp",
    "study run limits --size tiny --output limits.sqlite",
)


def test_no_command_uses_the_network(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(BLOCK)
    table = Path(piston_slap.__file__).with_name("piston_slap.csv")
    (tmp_path / "runs.csv").write_bytes(table.read_bytes())
    names, first, second, *_ = table.read_text().splitlines()
    middle = (
        (float(a) + float(b)) / 2.0
        for a, b in zip(first.split(","), second.split(","), strict=True)
    )
    (tmp_path / "new.csv").write_text(f"{names}\n{','.join(map(str, middle))}\n")
    path = [str(tmp_path), str(Path(piston_slap.__file__).parents[2])]
    env = {"PATH": "", "PYTHONPATH": ":".join(path), "OPENBLAS_NUM_THREADS": "1"}

    def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, *arguments]
        return subprocess.run(
            command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )

    look = "import socket; socket.socket().connect(('127.0.0.1', 9))"
    assert "the network was used" in run("-c", look).stderr  # the block works
    for command in COMMANDS:
        done = run("-m", "pengp", *command.split())
        assert done.returncode == 0, (command, done.stdout, done.stderr)
