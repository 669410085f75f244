"""The root of the command line, and what holds for all its commands."""

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner, Result

import pengp as library
from pengp.cli import app as root
from pengp.cli.app import app
from pengp.cli.printing import plain, rendered, table, width
from pengp.exceptions import PengpWarning
from pengp.model import KERNELS
from tests.cli.commands import (
    INPUTS,
    UNMEASURED,
    interrupted,
    limit_files,
    model_file,
    pengp,
    runs_file,
)

HEAVY = {"numpy", "pandas", "rich", "scipy", "sklearn"}


def in_process(*arguments: str | Path) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return model_file(tmp_path_factory.mktemp("model"))


@pytest.fixture
def here(tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with runs.csv and model.pengp, which is the working directory."""
    (tmp_path / "model.pengp").write_bytes(model.read_bytes())
    runs_file(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_version_and_help_load_nothing_heavy(argument: str) -> None:
    code = (
        f"import sys; sys.argv = ['pengp', {argument!r}]; from pengp.cli import main\n"
        "try: main()\n"
        "finally: print(*sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not HEAVY & set(done.stderr.split())
    expected = library.__version__ if argument == "--version" else "Exit codes: 0 done; 1 unexp"
    assert expected in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_a_fit_does_not_load_scipy_stats_which_takes_long(here: Path) -> None:
    code = (
        "import sys; sys.argv = 'pengp fit runs.csv -y noise -o new.pengp --json'.split()\n"
        "from pengp.cli import main\n"
        "try: main()\n"
        "finally: print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (here / "new.pengp").is_file()
    loaded = set(done.stderr.split())
    assert "sklearn.utils.fixes" in loaded  # which imports it
    assert not {"scipy.stats.distributions", "scipy.ndimage", "sklearn.model_selection"} & loaded


def test_help_names_every_command() -> None:
    text = in_process("--help").stdout
    commands = text[text.index("Commands:") :]
    for name in ("design", "fit", "predict", "validate", "info", "update", "report", "study"):
        assert f"\n  {name} " in commands


@pytest.mark.parametrize("package", ["typer", "rich", "pandas"])
def test_a_missing_package_is_named_with_its_remedy(package: str) -> None:
    code = f"import sys; sys.modules[{package!r}] = None; from pengp.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        f'pengp: the command line needs {package}; install it with: pip install "pengp[cli]"\n'
    )


def test_the_shell_completes_commands_and_options(tmp_path: Path) -> None:
    asked = {"_PENGP_COMPLETE": "complete_bash", "COMP_WORDS": "pengp fi", "COMP_CWORD": "1"}
    assert pengp(cwd=tmp_path, environment=asked).stdout.split() == ["fit"]
    asked |= {"COMP_WORDS": "pengp fit --kernel mat", "COMP_CWORD": "3"}
    assert pengp(cwd=tmp_path, environment=asked).stdout.split() == [
        k for k in KERNELS if k.startswith("matern")
    ]


# Tables that no command can use. A command is given as a function of the table's name.

Command = Callable[[str], list[str]]
READERS: dict[str, Command] = {
    "fit": lambda t: ["fit", t, "--response", "noise", "--inputs", ",".join(INPUTS)],
    "predict": lambda t: ["predict", "model.pengp", t, "-o", "out.csv"],
    "validate": lambda t: ["validate", "model.pengp", t],
    "update": lambda t: ["update", "model.pengp", t],
}
HEADER = ",".join([*INPUTS, "noise"])
BAD_TABLES = {
    "wrong name": (HEADER.replace("x2", "xx2") + "\n1,2,3,4,5,6,7\n", "did you mean 'xx2'?"),
    "missing value": (HEADER + "\n1,2,3,4,5,6,7\n1,,3,4,5,6,7\n", "row 2, column 'x2' is empty"),
    "text": (HEADER + "\n1,two,3,4,5,6,7\n1,2,3,4,5,6,7\n", "row 1, column 'x2' holds 'two'"),
    "empty": ("", "bad.csv is empty"),
    "header only": (HEADER + "\n", "bad.csv has a header but no rows"),
}


@pytest.mark.parametrize("kind", BAD_TABLES)
@pytest.mark.parametrize("command", READERS)
def test_a_bad_table_is_refused_with_its_place(here: Path, command: str, kind: str) -> None:
    content, words = BAD_TABLES[kind]
    (here / "bad.csv").write_text(content)
    before = {path.name: path.read_bytes() for path in here.iterdir()}
    result = pengp(*READERS[command]("bad.csv"), cwd=here)
    assert (result.returncode, result.stdout) == (3, "")
    assert result.stderr.startswith("pengp: ")
    assert words in result.stderr
    assert result.stderr.count("\n") == 1
    assert {path.name: path.read_bytes() for path in here.iterdir()} == before


BAD_BOUNDS = {
    "wrong name": ("input,lwoer,upper\na,0,1\n", "did you mean 'lwoer'?"),
    "missing value": ("input,lower,upper\na,0,1\nb,,1\n", "row 2, column 'lower' is empty"),
    "text": ("input,lower,upper\na,zero,1\n", "row 1, column 'lower' holds 'zero'"),
    "empty": ("", "bad.csv is empty"),
}


@pytest.mark.parametrize("kind", BAD_BOUNDS)
def test_a_bad_table_of_bounds_is_refused_with_its_place(tmp_path: Path, kind: str) -> None:
    content, words = BAD_BOUNDS[kind]
    (tmp_path / "bad.csv").write_text(content)
    result = pengp("design", "-n", "5", "-b", "bad.csv", "-o", "out.csv", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (3, "")
    assert words in result.stderr
    assert result.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["bad.csv"]


@pytest.mark.parametrize("command", READERS)
def test_a_table_that_is_not_there_is_a_file_error(here: Path, command: str) -> None:
    result = in_process(*READERS[command]("absent.csv"))
    assert result.exit_code == 4
    assert result.stderr == "pengp: cannot read absent.csv: there is no such file.\n"


OPENERS = {
    "info": ["info"],
    "report": ["report"],
    "predict": ["predict", "{}", "runs.csv"],
    "validate": ["validate", "{}", "runs.csv"],
    "update": ["update", "{}", "runs.csv"],
}


@pytest.mark.parametrize("content", [None, b"", b"x1,x2\n1,2\n", b"\x00" * 99])
@pytest.mark.parametrize("command", OPENERS)
def test_a_file_that_is_no_model_is_a_file_error(
    here: Path, command: str, content: bytes | None
) -> None:
    if content is not None:
        (here / "other.pengp").write_bytes(content)
    words = OPENERS[command]
    arguments = (
        [w.format("other.pengp") for w in words] if len(words) > 1 else [*words, "other.pengp"]
    )
    result = in_process(*arguments)
    assert (result.exit_code, result.stdout) == (4, "")
    assert result.stderr.startswith("pengp: ")
    assert "other.pengp" in result.stderr
    assert result.stderr.count("\n") == 1


# Commands that write a file, as a function of its name.

FEW = ",".join(INPUTS)
WRITERS: dict[str, Command] = {
    "fit": lambda f: [
        "fit",
        "runs.csv",
        "-y",
        "noise",
        "--method",
        "penalized",
        "--repeats",
        "1",
        "-o",
        f,
    ],
    "fit --report": lambda f: [
        "fit",
        "runs.csv",
        "-y",
        "noise",
        "--method",
        "penalized",
        "--repeats",
        "1",
        "--report",
        f,
    ],
    "update": lambda f: ["update", "model.pengp", "new.csv", "-o", f],
    "report": lambda f: ["report", "model.pengp", "-o", f],
    "predict": lambda f: ["predict", "model.pengp", "long.csv", "-o", f],
    "design": lambda f: [
        "design",
        "-n",
        "400",
        "--kind",
        "random",
        "-b",
        "a=0:1",
        "-b",
        "b=0:1",
        "-o",
        f,
    ],
}


def more_files(directory: Path) -> None:
    """Write new.csv, one new run, and long.csv, many inputs to predict at."""
    (directory / "new.csv").write_text(HEADER + "\n50,15,23,2,2,1,57\n")
    (directory / "long.csv").write_text(FEW + "\n" + "50,15,23,2,2,1\n" * 5_000)


@pytest.mark.parametrize("command", WRITERS)
def test_a_directory_that_cannot_be_written_to_is_a_file_error(here: Path, command: str) -> None:
    more_files(here)
    before = {path.name: path.read_bytes() for path in here.iterdir()}
    result = pengp(*WRITERS[command]("runs.csv/out"), cwd=here)  # root may write to all others
    assert (result.returncode, result.stdout) == (4, "")
    assert result.stderr.startswith("pengp: cannot write runs.csv/out: ")
    assert result.stderr.count("\n") == 1
    assert {path.name: path.read_bytes() for path in here.iterdir()} == before


@pytest.mark.parametrize("command", WRITERS)
@pytest.mark.parametrize("place", ["absent/out", "."])
def test_a_place_that_cannot_be_written_is_a_file_error(
    here: Path, command: str, place: str
) -> None:
    more_files(here)
    before = {path.name: path.read_bytes() for path in here.iterdir()}
    result = in_process(*WRITERS[command](place))
    assert (result.exit_code, result.stdout) == (4, "")
    assert result.stderr.startswith(f"pengp: cannot write {place}: ")
    assert result.stderr.count("\n") == 1
    assert {path.name: path.read_bytes() for path in here.iterdir()} == before


@pytest.mark.parametrize("command", ["fit", "fit --report", "update", "report"])
def test_a_device_is_never_replaced_by_a_file(here: Path, command: str) -> None:
    more_files(here)
    result = in_process(*WRITERS[command](os.devnull))
    assert result.exit_code == 4
    assert result.stderr == f"pengp: cannot write {os.devnull}: it is a device; choose a file.\n"
    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize("command", WRITERS)
def test_a_full_disk_leaves_nothing_half_written(here: Path, command: str) -> None:
    more_files(here)
    before = {path.name: path.read_bytes() for path in here.iterdir()}
    result = pengp(
        *WRITERS[command]("out.x"),
        cwd=here,
        environment=UNMEASURED,  # its data would not fit, either
        before=partial(limit_files, 4096),
    )
    assert (result.returncode, result.stdout) == (4, "")
    told = [line for line in result.stderr.splitlines() if not line.startswith("Note: ")]
    assert len(told) == 1
    assert told[0].startswith("pengp: cannot write out.x: ")
    assert {path.name: path.read_bytes() for path in here.iterdir()} == before


def last_line(shown: str) -> str:
    """Return the last line on a terminal, without the code that clears a line."""
    return shown.splitlines()[-1].removeprefix("\x1b[K")


@pytest.mark.parametrize(
    ("arguments", "sign"),
    [
        (
            ["fit", "runs.csv", "-y", "noise", "--method", "penalized", "--repeats", "500"],
            "Fitting",
        ),
        (
            [
                "fit",
                "runs.csv",
                "-y",
                "noise",
                "--method",
                "penalized",
                "--repeats",
                "500",
                "--jobs",
                "2",
            ],
            "Fitting",
        ),
        (["update", "model.pengp", "new.csv", "--re-estimate"], "Updating"),
        (["report", "model.pengp"], "Writing"),
        (["design", "-n", "3000", "-b", "a=0:1", "-b", "b=0:1", "-o", "d.csv"], "Designing"),
    ],
    ids=["fit", "fit --jobs 2", "update", "report", "design"],
)
def test_ctrl_c_ends_with_one_line_and_no_file(here: Path, arguments: list[str], sign: str) -> None:
    more_files(here)
    before = {path.name: path.read_bytes() for path in here.iterdir()}
    for _ in range(5):  # on a busy machine the command may be done before Ctrl-C arrives
        code, shown = interrupted(*arguments, cwd=here, working=lambda text: sign in text)
        if {path.name for path in here.iterdir()} == set(before):
            break
        for path in here.iterdir():
            path.unlink()
        for name, content in before.items():
            (here / name).write_bytes(content)
    assert code == 130
    assert last_line(shown) == "Interrupted; nothing was written."
    assert "Traceback" not in shown
    assert {path.name: path.read_bytes() for path in here.iterdir()} == before


def test_ctrl_c_before_a_command_has_begun_is_one_line() -> None:
    code = (
        "import pengp.cli.app, pengp.cli\n"
        "def run(): raise KeyboardInterrupt\n"
        "pengp.cli.app.run = run; pengp.cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "Interrupted.\n")


def test_ctrl_c_while_a_table_arrives_leaves_no_predictions(here: Path) -> None:
    before = {path.name: path.read_bytes() for path in here.iterdir()}
    code, shown = interrupted(
        "predict", "model.pengp", "-", "-o", "out.csv",
        cwd=here,
        working=lambda _: any(path.name.startswith(".out.csv") for path in here.iterdir()),
        stdin=(FEW + "\n50,15,23,2,2,1\n").encode(),
    )  # fmt: skip
    assert code == 130
    assert last_line(shown) == "Interrupted; nothing was written."
    assert "Traceback" not in shown
    assert {path.name: path.read_bytes() for path in here.iterdir()} == before


def test_ctrl_c_while_test_runs_arrive_prints_no_scores(here: Path) -> None:
    code, shown = interrupted(
        *["validate", "model.pengp", "-"],
        cwd=here,
        working=lambda text: "Reading" in text,
        stdin=(HEADER + "\n50,15,23,2,2,1,57\n").encode(),
    )
    assert code == 130
    assert last_line(shown) == "Interrupted; nothing was written."


def test_what_was_written_can_be_read_by_machines(here: Path) -> None:
    made = json.loads(in_process("report", "model.pengp", "-o", "r.html", "--json").stdout)
    assert made == {"report": "r.html", "bytes": Path("r.html").stat().st_size, "beside": []}
    ranges = ["-b", "a=0:1", "-b", "b=2:3"]
    made = json.loads(in_process("design", "-n", "4", *ranges, "-o", "d.csv", "--json").stdout)
    about = {"output": "d.csv", "runs": 4, "inputs": ["a", "b"], "seed": 0}
    scales: dict[str, object] = {"log": [], "integer": [], "factors": {}}
    assert made == {**about, **scales, "kind": "maximin", "slices": None}
    refused = in_process("design", "-n", "4", *ranges, "--json")
    assert refused.exit_code == 3
    assert refused.stderr.startswith("pengp: --json needs --output FILE")


def test_a_reader_that_has_seen_enough_ends_the_command_quietly(here: Path) -> None:
    more_files(here)
    line = f"{sys.executable} -m pengp predict model.pengp long.csv"
    script = f"{line} | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("x1,")


def test_standard_output_on_a_full_disk_is_a_file_error(here: Path) -> None:
    for arguments in ("info model.pengp", "predict model.pengp runs.csv"):
        script = f"{sys.executable} -m pengp {arguments} > /dev/full"
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
        assert done.returncode == 4
        assert done.stderr == (
            "pengp: cannot write standard output: the disk is full; free some space or choose "
            "another place.\n"
        )


def test_wrong_usage_is_told_with_the_usage() -> None:
    result = in_process("fit")
    assert result.exit_code == 2
    assert "Usage: " in result.stderr
    assert "--response" in in_process("fit", "runs.csv").stderr
    assert in_process("fti").exit_code == 2


def test_an_unexpected_error_shows_everything_and_asks_for_a_report() -> None:
    code = (
        "import sys; sys.argv = ['pengp', 'info', 'm']\n"
        "import pengp.persistence; pengp.persistence.read_info = None\n"
        "from pengp.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("pengp: this is a mistake in pengp; please")


def test_too_little_memory_is_told_in_one_sentence() -> None:
    small = typer.Typer(cls=root.Commands)

    @small.callback()
    def _group() -> None: ...

    @small.command()
    def large() -> None:
        np.empty(1 << 50)

    result = CliRunner().invoke(small, ["large"])
    assert result.exit_code == 3
    assert result.stderr == (
        "pengp: this takes more memory than there is; use fewer runs or --jobs 1, or close other "
        "programs.\n"
    )


def test_warnings_of_the_package_are_notes_each_told_once() -> None:
    small = typer.Typer(cls=root.Commands)

    @small.callback()
    def _group() -> None: ...

    @small.command()
    def warn() -> None:
        for message in ("first.", "second.", "first."):
            warnings.warn(message, PengpWarning, stacklevel=1)

    result = CliRunner().invoke(small, ["warn"])
    assert (result.exit_code, result.stderr) == (0, "Note: first.\nNote: second.\n")


def test_an_optional_package_that_is_missing_is_advised() -> None:
    small = typer.Typer(cls=root.Commands)

    @small.callback()
    def _group() -> None: ...

    @small.command()
    def needy() -> None:
        import no_such_package  # type: ignore[import-not-found] # noqa: F401

    result = CliRunner().invoke(small, ["needy"])
    assert result.exit_code == 1
    assert result.stderr == (
        'pengp: this needs no_such_package; install it with: pip install "pengp[all]"\n'
    )


def test_colours_are_for_terminals_only(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = table(["a", "b"], [["1", "2"]])
    assert "\x1b" not in rendered(rows)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert "\x1b[1m" in rendered(rows)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in rendered(rows)


@pytest.mark.parametrize(("columns", "expected"), [(60, 60), (90, 90), (200, 100)])
def test_the_width_is_that_of_the_terminal_up_to_100(
    monkeypatch: pytest.MonkeyPatch, columns: int, expected: int
) -> None:
    assert width() == 80
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert width() == expected


def test_json_has_lists_for_arrays_and_null_for_what_is_not_finite() -> None:
    record = {"a": np.array([1.5, np.inf]), "b": (np.int64(2), True), "c": {"d": float("nan")}}
    assert plain(record) == {"a": [1.5, None], "b": [2, True], "c": {"d": None}}
