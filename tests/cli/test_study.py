import json
import os
import re
import resource
import signal
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pengp.cli.app import app
from pengp.datasets import load_piston_slap
from pengp.study.definitions import STUDIES
from pengp.study.methods.sizes import SIMULATORS
from pengp.study.runner import run
from pengp.study.store import Failure, Store
from pengp.study.task import Row, Task
from tests.cli.commands import UNMEASURED, pengp
from tests.study.work import comparable, stored_rows, wait_for

PAPER = [name for name, study in STUDIES.items() if study.is_paper]
TINY = {name: study.tasks("tiny") for name, study in STUDIES.items()}


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder of the test's own, on a terminal of no known width."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)


def study(*arguments: str) -> Result:
    """Run ``pengp study arguments...`` in this process."""
    return CliRunner().invoke(app, ["study", *arguments])


def _assert_fits(text: str) -> None:
    """Check that text fits the narrowest terminal that we serve."""
    assert [line for line in text.splitlines() if len(line) > 80] == []


def _done(path: Path, *names: str) -> None:
    """Make a store in which the tiny tasks of studies pass for done."""
    with Store.open(path, "w") as store:
        for name in names:
            for task in TINY[name]:
                store.add(task, [Row("m", None, "k", None, 0.0, 0.0)], 0.0)


def test_list_gives_the_number_of_tasks_by_size(tmp_path: Path) -> None:
    shown = study("list")
    assert shown.exit_code == 0
    _assert_fits(shown.stdout)
    lines = [re.split(r"\s{2,}", line.strip()) for line in shown.stdout.splitlines()]
    assert lines[0] == ["study", "title", "tiny", "quick", "paper"]
    assert lines[2:] == [
        [name, study.title, *(str(len(study.tasks(size))) for size in ("tiny", "quick", "paper"))]
        for name, study in STUDIES.items()
    ]
    records = json.loads(study("list", "--json").stdout)
    assert list(records) == list(STUDIES)
    assert records["simulation"]["tasks"] == {"tiny": 8, "quick": 40, "paper": 400}
    assert records["limits"]["title"] == STUDIES["limits"].title


def test_help_explains_each_command_in_80_columns(tmp_path: Path) -> None:
    for command, word in {
        "list": "tasks",
        "run": "continues",
        "status": "failed",
        "report": "page",
    }.items():
        shown = study(command, "--help")
        assert shown.exit_code == 0
        assert word in shown.stdout
        _assert_fits(shown.stdout)
    overview = study("--help").stdout
    assert "..." not in overview.partition("Commands:")[2]
    _assert_fits(overview)


def test_run_in_processes_status_and_a_second_run(tmp_path: Path) -> None:
    first = pengp("study", "run", "limits", "--jobs", "2", cwd=tmp_path)
    assert first.returncode == 0
    assert re.match(r"limits: 22 tasks in [\d.]+ s, [\d.]+ tasks per second\.\n", first.stdout)
    assert first.stderr.startswith("limits: 22 tasks to do, 0 of 22 done before\n")
    _assert_fits(first.stdout + first.stderr)
    tasks = STUDIES["limits"].tasks("quick")
    with (
        Store.open(tmp_path / "here.sqlite", "w") as here,
        Store.open(tmp_path / "study.sqlite") as there,
    ):
        run(tasks, here)
        assert comparable(here, tasks) == comparable(there, tasks)

    second = study("run", "limits", "--size", "tiny")
    assert second.exit_code == 0
    assert second.stdout.startswith("limits: nothing to do, 22 of 22 tasks are done.\n")

    shown = study("status")
    assert re.search(r"^limits +quick +22 +22 +0$", shown.stdout, re.MULTILINE)
    assert "Last run: limits, tiny; 0 tasks" in shown.stdout
    _assert_fits(shown.stdout)
    record = json.loads(study("status", "--json").stdout)
    assert record["studies"] == [
        {"study": "limits", "size": "quick", "total": 22, "done": 22, "failed": 0}
    ]
    assert [call["tasks_done"] for call in record["invocations"]] == [22, 0]
    assert [call["arguments"]["jobs"] for call in record["invocations"]] == [2, 1]


def test_failed_tasks_are_shown_and_tried_again_on_demand(tmp_path: Path) -> None:
    bad, others = TINY["limits"][0], TINY["limits"][1:]
    with Store.open(tmp_path / "study.sqlite", "w") as store:
        for task in others:
            store.add(task, [], 0.0)
        failure = Failure("LinAlgError", "a long story " * 10, "Traceback, line 1")
        store.add_failure(bad, failure, 0.5)
    command = ("run", "limits", "--size", "tiny")
    skipped = study(*command)
    assert skipped.exit_code == 1
    assert "1 tasks failed; `pengp study status study.sqlite` says why" in skipped.stderr

    shown = study("status", "study.sqlite")
    assert re.search(r"^limits +tiny +21 +22 +1$", shown.stdout, re.MULTILINE)
    assert f"{bad.name} (seed {bad.seed}): LinAlgError: a long story" in shown.stdout
    _assert_fits(shown.stdout)
    record = json.loads(study("status", "--json").stdout)
    assert record["failures"] == [
        {
            "task": bad.name,
            "seed": bad.seed,
            "type": "LinAlgError",
            "message": "a long story " * 10,
            "traceback": "Traceback, line 1",
            "seconds": 0.5,
        }
    ]
    assert study(*command, "--retry-failed").exit_code == 0
    with Store.open(tmp_path / "study.sqlite") as store:
        assert store.failures() == []
        assert len(stored_rows(store, bad)) > 0


def test_status_shows_the_first_failures_and_counts_the_rest(tmp_path: Path) -> None:
    with Store.open(tmp_path / "study.sqlite", "w") as store:
        for task in TINY["limits"][:13]:
            store.add_failure(task, Failure("A", "b", "c"), 0.0)
    shown = study("status").stdout
    assert shown.count(": A: b") == 10
    assert "... and 3 more" in shown


def test_all_runs_every_study_that_is_not_done(tmp_path: Path) -> None:
    _done(tmp_path / "a.sqlite", *(name for name in PAPER if name != "limits"))
    shown = study("run", "all", "--size", "tiny", "--output", "a.sqlite")
    assert shown.exit_code == 0
    started = [line.split(":")[0] for line in shown.stdout.splitlines()[:5]]
    assert started == PAPER
    assert "limits: 22 tasks in" in shown.stdout
    assert "forrester: nothing to do, 7 of 7 tasks are done." in shown.stdout
    status = study("status", "a.sqlite").stdout
    assert [line.split()[0] for line in status.splitlines()[2:7]] == PAPER


def test_the_penalty_chooses_between_the_two_simulation_studies(tmp_path: Path) -> None:
    _done(tmp_path / "study.sqlite", "simulation", "simulation-scad")
    for penalty, name in {"lasso": "simulation", "scad": "simulation-scad"}.items():
        options = ("--size", "tiny", "--penalty", penalty)
        shown = study("run", "simulation", *options)
        assert shown.stdout.startswith(f"{name}: nothing to do, 8 of 8 tasks are done.\n")


def test_tables_of_simulators_bring_the_study_on_them(tmp_path: Path) -> None:
    _done(tmp_path / "study.sqlite", "methods", "methods-real")
    for name, (d, responses) in SIMULATORS.items():
        columns = d + responses
        (tmp_path / f"{name}.csv").write_text(
            "a" + ",b" * (columns - 1) + "\n1" + ",2" * (columns - 1)
        )
    shown = study("run", "methods", "--size", "tiny", "--real", ".")
    assert [line.split(":")[0] for line in shown.stdout.splitlines()[:2]] == [
        "methods",
        "methods-real",
    ]
    for wrong in (("limits", "--real", "."), ("methods-real",)):
        assert "--real goes with the studies" in study("run", *wrong).stderr


def test_test_runs_are_checked_and_bring_their_tasks(tmp_path: Path) -> None:
    _done(tmp_path / "study.sqlite", "piston-slap")
    runs = tmp_path / "test.csv"
    data = load_piston_slap()
    y = (data.y + 1).tolist()
    lines = [",".join(map(repr, [*x, noise])) for x, noise in zip(data.X.tolist(), y, strict=True)]
    runs.write_text("\n".join(["x1,x2,x3,x4,x5,x6,noise", *lines]))
    command = ("run", "piston-slap", "--size", "tiny", "--test-runs", "test.csv")
    shown = study(*command)
    assert shown.exit_code == 0
    assert shown.stdout.startswith("piston-slap: 2 tasks in")
    assert re.search(
        r"^piston-slap +tiny +11 +11 +0$",
        study("status").stdout,
        re.MULTILINE,
    )
    with Store.open(tmp_path / "study.sqlite") as store:
        rows = stored_rows(store, Task("piston-slap", "isotropic-test", 0))
    # Interpolating the runs exactly, all predictions miss these test runs by 1 dB.
    rmse = min(row.value for row in rows if row.metric == "rmse")
    assert rmse == pytest.approx(1 / data.y.std(ddof=1), rel=1e-2)

    runs.write_text(runs.read_text().replace("71.0", "71.5"))
    changed = study(*command)
    assert changed.exit_code == 4
    assert "study.sqlite holds results on other test runs than these" in changed.stderr
    runs.write_text(runs.read_text().replace("71.5", "many"))
    wrong = study(*command)
    assert wrong.exit_code == 3
    assert "line 2, column 'x1' of the test runs test.csv is 'many'" in wrong.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["forester"], 3, "no study 'forester'; did you mean 'forrester'?"),
        (["forrester", "--penalty", "scad"], 2, "--penalty goes with the study `simulation` only"),
        (["limits", "--jobs", "0"], 2, "--jobs"),
        (["limits", "--size", "huge"], 2, "--size"),
        (["limits", "--jobs", "2", "--scheduler", "tcp://x:1"], 2, "exclude each other"),
        (
            ["limits", "--test-runs", "t.csv"],
            2,
            "`methods`, `methods-rivals` and `all` only",
        ),
        (["piston-slap", "--test-runs", "t.csv"], 4, "cannot read the test runs t.csv: No such"),
        (["limits", "--output", "none/s.sqlite"], 4, "its directory does not exist"),
        (["limits", "--output", "table.csv"], 4, "it is not a file of study results"),
    ],
)
def test_what_cannot_be_used_is_explained_and_leaves_nothing_behind(
    tmp_path: Path,
    arguments: list[str],
    code: int,
    message: str,
) -> None:
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    shown = study("run", *arguments)
    assert shown.exit_code == code
    assert message in shown.stderr
    assert "Traceback" not in shown.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["table.csv"]


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    for command in ("status", "report"):
        shown = study(command)
        assert shown.exit_code == 4
        assert "no file study.sqlite; `pengp study run` writes such a file." in shown.stderr


def test_report_says_where_its_page_is(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.sqlite", "w") as store:
        run(TINY["limits"], store)
    shown = study("report", "s.sqlite", "--output-dir", "out")
    assert (shown.exit_code, shown.stdout) == (0, f"The page is {Path('out') / 'index.html'}\n")
    assert STUDIES["limits"].title in (tmp_path / "out" / "index.html").read_text()


def test_check_counts_what_is_sound_and_every_command_refuses_a_changed_number(
    tmp_path: Path,
) -> None:
    task = STUDIES["forrester"].tasks("tiny")[0]
    with Store.open(tmp_path / "study.sqlite", "w") as store:
        store.add(task, [Row("dpe", None, "rmse", None, 0.88, 0.0)], 1.0)
        store.add_failure(Task("forrester", "f", 77), Failure("OSError", "no", ""), 1.0)
    sound = study("check")
    assert (sound.exit_code, sound.stderr) == (0, "")
    assert sound.stdout == "study.sqlite is sound: 1 tasks done with 1 rows, 1 failed.\n"

    content = (tmp_path / "study.sqlite").read_bytes()
    assert content.count(struct.pack(">d", 0.88)) == 1
    changed = content.replace(struct.pack(">d", 0.88), struct.pack(">d", 0.63))
    (tmp_path / "study.sqlite").write_bytes(changed)
    for command in (["check"], ["status"], ["report"], ["run", "forrester"]):
        shown = study(*command)
        assert (shown.exit_code, shown.stdout) == (4, "")
        assert " ".join(shown.stderr.split()) == (
            f"pengp: cannot use study.sqlite: it is damaged, the task {task.name} not as written; "
            "restore a copy or choose another file."
        )


def test_a_second_runner_is_turned_away_while_status_works(tmp_path: Path) -> None:
    _done(tmp_path / "study.sqlite", "limits")
    with Store.open(tmp_path / "study.sqlite", "w"):
        second = study("run", "limits")
        assert second.exit_code == 4
        assert "another run is writing to study.sqlite; wait until it ends" in second.stderr
        assert study("status").exit_code == 0


def test_a_disk_that_takes_no_more_ends_the_run_and_keeps_what_is_done(tmp_path: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (60000, 60000))

    shown = pengp("study", "run", "limits", cwd=tmp_path, before=limit)
    assert shown.returncode == 4
    assert re.search(r"cannot use study\.sqlite: the disk (is full|reports an error)", shown.stderr)
    with Store.open(tmp_path / "study.sqlite") as store:
        kept = store.done()
        assert 0 < len(kept) < 20
        assert {
            task for task in STUDIES["limits"].tasks("quick") if stored_rows(store, task)
        } == kept
    assert study("run", "limits").exit_code == 0


def test_ctrl_c_ends_all_processes_says_how_to_continue_and_exits_with_130(tmp_path: Path) -> None:
    path = tmp_path / "study.sqlite"
    command = [sys.executable, "-m", "pengp", "study", "run", "forrester", "--jobs", "2"]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env=os.environ | UNMEASURED,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        wait_for(lambda: process.poll() is not None or _count(path) > 0)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers, too
        _, errors = process.communicate()
    assert process.returncode == 130
    kept = _count(path)
    assert errors.splitlines()[-1] == (
        f"pengp: stopped; {kept} tasks are kept in study.sqlite, and the same command continues."
    )
    assert "Traceback" not in errors
    assert 0 < kept < 25
    wait_for(lambda: _members(process.pid) == [])
    Store.open(path, "w").close()


def _count(path: Path) -> int:
    """Return how many tasks are done in a file that may not be there yet."""
    if not path.exists() or path.stat().st_size == 0:
        return 0
    with Store.open(path) as store:
        return len(store.done())


def _members(group: int) -> list[str]:
    """Return the processes of a group that run."""
    found = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, its_group = file.read_text().rpartition(")")[2].split()[:3]
        except OSError:  # it has just ended
            continue
        if int(its_group) == group and state != "Z":
            found.append(file.parent.name)
    return found
