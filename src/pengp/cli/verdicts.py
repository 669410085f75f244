"""The commands `pengp study seeds` and `pengp study readings`: how the paper is judged."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from pengp.cli.printing import paragraph, show

StudyNames = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[STUDY]...",
        help="Studies of the paper; by default forrester, piston-slap and limits.",
        show_default=False,
    ),
]
SeedsOption = Annotated[int, typer.Option(min=2, help="Root seeds 1, 2, ... up to this one.")]
JobsOption = Annotated[
    int, typer.Option(min=1, help="Number of processes that work at the same time.")
]
TestRunsOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Test runs of the study `piston-slap`.", show_default=False),
]
OutputDirOption = Annotated[
    Path, typer.Option(metavar="DIR", help="Where the results of each seed go.")
]


def run_root_seeds(
    names: StudyNames = None,
    seeds: SeedsOption = 20,
    jobs: JobsOption = 1,
    test_runs: TestRunsOption = None,
    output_dir: OutputDirOption = Path("study-seeds"),
) -> None:
    """Count the verdicts that change with the root seed.

    Runs studies at paper size with several root seeds.
    Whatever stops it, the same command continues. The verdicts of every seed are written to
    verdicts.csv in the directory.
    """
    from pengp.study.definitions import get_study
    from pengp.study.progress import shown
    from pengp.study.seeds import VERDICTS, changing, run_seeds
    from pengp.study.test_runs import read_test_runs

    studies = [get_study(name) for name in names or ("forrester", "piston-slap", "limits")]
    if any(study.name.startswith("methods") for study in studies):
        raise typer.BadParameter("root seeds do not go with the comparisons of methods.")
    found = run_seeds(
        studies,
        range(1, seeds + 1),
        output_dir,
        jobs=jobs,
        test_runs=None if test_runs is None else read_test_runs(test_runs),
        watched=lambda name: shown(name, sys.stderr),
    )
    moving = changing(found)
    show(
        f"{len(found) - len(moving)} of {len(found)} statements have the same verdict with all "
        f"{seeds} seeds, {len(moving)} do not; {output_dir / VERDICTS} has all of them.\n"
    )
    for claim, counts in moving.to_dict("index").items():
        told = ", ".join(f"{verdict} {times}" for verdict, times in counts.items() if times)
        show(f"{paragraph(f'{claim}: {told}')}\n")


def list_readings() -> None:
    """Print how each statement of the paper is read."""
    from pengp.study.claims import readings

    show(readings())
