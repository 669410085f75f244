"""The commands `pengp study ...`: list, run, status, check and report of the paper's studies."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pengp.cli.options import JsonOption
from pengp.cli.printing import paragraph, rendered, say, show, show_json, table
from pengp.cli.verdicts import JobsOption, list_readings, run_root_seeds

if TYPE_CHECKING:
    from pengp.study.base import Study
    from pengp.study.runner import Tally
    from pengp.study.store import FailedTask

_INCOMPLETE, _INTERRUPTED = 1, 130
_SHOWN_FAILURES = 10

app = typer.Typer(
    name="study",
    help="Repeat the studies of the paper: run them, see how far they are, and report.\n\n"
    "Start with: pengp study run forrester, then pengp study report",
    no_args_is_help=True,
    rich_markup_mode=None,
)

StoreFile = Annotated[Path, typer.Argument(metavar="[FILE]", help="What `run` wrote.")]


class Size(StrEnum):
    """How many repetitions; `pengp.study.base.SIZES` as choices of the command line."""

    TINY = "tiny"
    QUICK = "quick"
    PAPER = "paper"


class SimulationPenalty(StrEnum):
    """The penalties that the simulation study exists for."""

    LASSO = "lasso"
    SCAD = "scad"


@app.command("list")
def list_studies(as_json: JsonOption = False) -> None:
    """List the studies and the number of their tasks.

    A task is one repetition of one part of a study. Tasks that need test runs of yours are not
    counted.
    """
    from pengp.study.base import SIZES
    from pengp.study.definitions import STUDIES

    counts = {
        name: {size: len(study.tasks(size)) for size in SIZES} for name, study in STUDIES.items()
    }
    if as_json:
        about = {s.name: {"title": s.title, "description": s.description} for s in STUDIES.values()}
        show_json({name: {**about[name], "tasks": counts[name]} for name in STUDIES})
        return
    rows = [
        [name, study.title, *(str(count) for count in counts[name].values())]
        for name, study in STUDIES.items()
    ]
    show(rendered(table(["study", "title", *SIZES], rows, left=2)))


StudyName = Annotated[
    str,
    typer.Argument(
        help="A study of `pengp study list`, or `all` of the paper's.", show_default=False
    ),
]
SizeOption = Annotated[
    Size,
    typer.Option(
        help="How many repetitions: tiny takes seconds, quick minutes, paper is the paper's "
        "number. A larger size continues a smaller one in the same file."
    ),
]
SchedulerOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Address of a Dask scheduler, like tcp://10.0.0.1:8786, whose workers work.",
        show_default=False,
    ),
]
PenaltyOption = Annotated[
    SimulationPenalty | None,
    typer.Option(
        help="Penalty of the study `simulation`: lasso, or scad for `simulation-scad`.",
        show_default=False,
    ),
]
TestRunsOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Test runs of the piston-slap simulator, for the studies `piston-slap`, `methods` "
        "and `methods-rivals`: a CSV file with a header, six inputs and the noise in dB.",
        show_default=False,
    ),
]
RealOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Tables of real simulators, for the studies whose names end in -real; `methods`, "
        "`methods-rivals` and `decisions` then run both.",
        show_default=False,
    ),
]
OutputOption = Annotated[
    Path, typer.Option(metavar="FILE", help="Where the results go; a run continues there.")
]
SeedOption = Annotated[
    int,
    typer.Option(
        min=0,
        help="Root seed: another one draws all folds, designs and starts of the paper's "
        "studies anew. A file keeps to one.",
    ),
]
RetryFailedOption = Annotated[
    bool, typer.Option("--retry-failed", help="Try tasks again that failed before.")
]


@app.command("run")
def run_study(
    name: StudyName,
    size: SizeOption = Size.QUICK,
    jobs: JobsOption = 1,
    scheduler: SchedulerOption = None,
    penalty: PenaltyOption = None,
    test_runs: TestRunsOption = None,
    real: RealOption = None,
    output: OutputOption = Path("study.sqlite"),
    seed: SeedOption = 0,
    retry_failed: RetryFailedOption = False,
) -> None:
    """Run a study, or continue its run.

    Whatever stops a run, the same command continues it. The results are the same to the last bit
    for any number of jobs and with Dask. Exit code 1 if tasks failed.
    """
    from pengp.study.methods.problems import read_simulators
    from pengp.study.progress import shown
    from pengp.study.runner import run_studies
    from pengp.study.store import Store
    from pengp.study.test_runs import read_test_runs

    studies = _chosen(name, penalty, with_real=real is not None)
    _check_methods(name, studies, real, seed)
    _check_options(studies, jobs, scheduler, test_runs)
    simulators = None if real is None else read_simulators(real)
    runs = None if test_runs is None else read_test_runs(test_runs)
    with Store.open(output, "w") as store:
        try:
            tallies = run_studies(
                studies,
                store,
                size.value,
                root=seed,
                jobs=jobs,
                scheduler=scheduler,
                test_runs=runs,
                simulators=simulators,
                retry_failed=retry_failed,
                watched=lambda study: shown(study.name, sys.stderr),
            )
        except KeyboardInterrupt:
            say(
                f"stopped; {len(store.done())} tasks are kept in {output}, and the same command "
                "continues."
            )
            raise typer.Exit(_INTERRUPTED) from None
    _conclude(tallies, output)


@app.command()
def status(file: StoreFile = Path("study.sqlite"), as_json: JsonOption = False) -> None:
    """Show how far the studies in a file are.

    Also shows what failed, and how the last run went. Works while a run is writing to the file.
    """
    from pengp.study.status import standings
    from pengp.study.store import Store

    with Store.open(file) as store:
        found, failures, metadata = standings(store), store.failures(), store.metadata()
    if as_json:
        records = {"file": str(file), "studies": [standing._asdict() for standing in found]}
        show_json({**records, "failures": [_record(f) for f in failures], **metadata})
        return
    rows = [[s.study, s.size, *map(str, (s.done, s.total, s.failed))] for s in found]
    parts = [rendered(table(["study", "size", "done", "of", "failed"], rows, left=2))]
    parts += [_failure_lines(failures)] if failures else []
    parts += [_last_run(metadata["invocations"][-1])] if metadata["invocations"] else []
    show("\n".join(parts))


@app.command()
def check(file: StoreFile = Path("study.sqlite")) -> None:
    """Check that a file holds what was written to it.

    Every command that opens a file compares its checksums; this one also checks its structure. Exit
    code 4 if it is damaged.
    """
    from pengp.study.store import Store

    with Store.open(file) as store:
        store.check_structure()
        done, failed, rows = len(store.done()), len(store.failures()), store.count_rows()
    show(f"{file} is sound: {done} tasks done with {rows} rows, {failed} failed.\n")


@app.command()
def report(
    file: StoreFile = Path("study.sqlite"),
    output_dir: Annotated[
        Path, typer.Option(metavar="DIR", help="Where the page, tables and figures go.")
    ] = Path("study-report"),
) -> None:
    """Write a page of results beside the paper's statements."""
    from pengp.study.report import write_report

    show(f"The page is {write_report(file, output_dir)}\n")


app.command("seeds")(run_root_seeds)
app.command("readings")(list_readings)


def _chosen(name: str, penalty: SimulationPenalty | None, *, with_real: bool) -> "list[Study]":
    """Return the studies that a name and a penalty stand for, with those of real simulators."""
    from pengp.study.definitions import STUDIES, get_study

    if penalty is not None and name != "simulation":
        raise typer.BadParameter("--penalty goes with the study `simulation` only.")
    if name == "all":
        return [study for study in STUDIES.values() if study.is_paper]
    names = ["simulation-scad" if penalty is SimulationPenalty.SCAD else name]
    if with_real and f"{name}-real" in STUDIES:
        names.append(f"{name}-real")
    return [get_study(each) for each in names]


def _check_options(
    studies: "list[Study]", jobs: int, scheduler: str | None, test_runs: Path | None
) -> None:
    """Raise where an option would have no effect."""
    if scheduler is not None and jobs != 1:
        raise typer.BadParameter("--jobs and --scheduler exclude each other; give one of them.")
    if test_runs is not None and not any(study.test_parts for study in studies):
        raise typer.BadParameter(
            "--test-runs goes with `piston-slap`, `methods`, `methods-rivals` and `all` only."
        )


def _check_methods(name: str, studies: "list[Study]", real: Path | None, seed: int) -> None:
    """Raise where the comparisons of methods do not go with an option, or lack one."""
    from pengp.study.methods.rivals import require_libkriging

    if name.startswith("methods-rivals"):
        require_libkriging()
    if (real is not None) != studies[-1].name.endswith("-real"):
        raise typer.BadParameter(
            "--real goes with the studies whose names end in -real, which need it, and with "
            "`methods`, `methods-rivals` and `decisions`, which have one of these beside them."
        )
    if seed and name.startswith("methods"):
        raise typer.BadParameter("--seed does not go with the comparisons of methods.")


def _conclude(tallies: "dict[str, Tally]", output: Path) -> None:
    """Say what was done; exit with a code of its own if tasks have failed."""
    from pengp.study.progress import summary

    for name, tally in tallies.items():
        show(f"{paragraph(summary(name, tally))}\n")
    failed = sum(tally.failed + tally.skipped for tally in tallies.values())
    if failed:
        say(
            f"{failed} tasks failed; `pengp study status {output}` says why, and --retry-failed "
            "tries them again."
        )
        raise typer.Exit(_INCOMPLETE)
    show(f"The results are in {output}; `pengp study report {output}` reads them.\n")


def _record(failed: "FailedTask") -> dict[str, Any]:
    """Return all that is known of a failed task."""
    failure = failed.failure
    return {
        "task": failed.task.name,
        "seed": failed.task.seed,
        "type": failure.type,
        "message": failure.message,
        "traceback": failure.traceback,
        "seconds": failed.seconds,
    }


def _failure_lines(failures: "list[FailedTask]") -> str:
    """Return the first failures, one a paragraph."""
    lines = [
        paragraph(
            f"{f.task.name} (seed {f.task.seed}): {f.failure.type}: {f.failure.message}",
            indent="  ",
        )
        for f in failures[:_SHOWN_FAILURES]
    ]
    if len(failures) > _SHOWN_FAILURES:
        lines.append(f"... and {len(failures) - _SHOWN_FAILURES} more")
    return "\n".join(["Failed (--json shows tracebacks):", *lines, ""])


def _last_run(call: dict[str, Any]) -> str:
    """Return the circumstances of a call in a few lines."""
    arguments, versions = call["arguments"], call["versions"]
    where = arguments["scheduler"] or f"jobs {arguments['jobs']}, CPUs {call['cpus']}"
    lines = (
        f"Last run: {', '.join(arguments['studies'])}, {arguments['size']}; "
        f"{call['tasks_done']} tasks",
        f"from {call['started']} to {call['ended'] or '(still running, or killed)'}",
        f"{where}; {call['platform']}",
        ", ".join(f"{package} {version}" for package, version in versions.items()),
        f"commit {call['commit'] or 'unknown'}",
    )
    return "".join(f"{paragraph(line, indent='  ')}\n" for line in lines)
