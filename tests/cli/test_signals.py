"""A signal ends a command even where what it raises is dropped or turned into another error."""

import subprocess
import sys

import pytest

DROPPED = """
class Dropping:
    def __del__(self):
        signal.raise_signal(number)
Dropping()
time.sleep(20)
"""
TURNED = """
try:
    signal.raise_signal(number)
except BaseException as error:
    raise ImportError("initialization failed") from error
"""
SWALLOWED = """
import pathlib, tempfile
with tempfile.TemporaryDirectory() as folder:
    (pathlib.Path(folder) / "swallowing.py").write_text(
        f"import signal\\ntry: signal.raise_signal({number})\\nexcept BaseException: pass\\n"
    )
    sys.path.insert(0, folder)
    import swallowing
time.sleep(20)
"""
SCRIPT = """
import signal, sys, time
from pengp.cli import app
number = {number}
@app.app.command()
def work():
{body}
sys.argv = ["pengp", "work"]
app.run()
"""


@pytest.mark.parametrize("body", [DROPPED, TURNED, SWALLOWED])
@pytest.mark.parametrize(
    ("number", "code", "said"), [(2, 130, "Interrupted; nothing was written.\n"), (15, 143, "")]
)
def test_a_signal_whose_exception_is_lost_ends_the_command_all_the_same(
    body: str, number: int, code: int, said: str
) -> None:
    indented = "\n".join(f"    {line}" for line in body.splitlines())
    script = SCRIPT.format(number=number, body=indented)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (code, "", said)


def test_other_exceptions_that_python_drops_are_shown() -> None:
    script = SCRIPT.format(number=0, body="    type('A', (), {'__del__': lambda s: 1 / 0})()")
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0
    assert "ZeroDivisionError" in done.stderr


def test_a_signal_that_is_to_be_sent_again_does_not_kill_a_process_that_ends() -> None:
    script = (
        "import atexit, sys, time; atexit.register(time.sleep, 0.3); "  # runs after that of pengp
        "from pengp.cli import signals; signals.handle_signals(); "
        "signals._received.append(2); signals._send_later(2); sys.exit(130)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (130, "")
