"""The paper's studies as data: tasks, a resumable runner, and a report of claims."""

from typing import TYPE_CHECKING

from pengp._core.lazy import lazily

if TYPE_CHECKING:
    from pengp.study.base import Study
    from pengp.study.claims import CLAIMS, Claim, Judged, Verdict, counts, judge
    from pengp.study.definitions import STUDIES, get_study
    from pengp.study.report import write_report
    from pengp.study.runner import run, run_studies
    from pengp.study.store import Store
    from pengp.study.task import Row, Task, TestRuns
    from pengp.study.tasks import run_task

__all__ = [
    "CLAIMS",
    "STUDIES",
    "Claim",
    "Judged",
    "Row",
    "Store",
    "Study",
    "Task",
    "TestRuns",
    "Verdict",
    "counts",
    "get_study",
    "judge",
    "run",
    "run_studies",
    "run_task",
    "write_report",
]

__getattr__, __dir__ = lazily(
    globals(),
    {
        "claims": ["CLAIMS", "Claim", "Judged", "Verdict", "counts", "judge"],
        "base": ["Study"],
        "definitions": ["STUDIES", "get_study"],
        "report": ["write_report"],
        "runner": ["run", "run_studies"],
        "store": ["Store"],
        "task": ["Row", "Task", "TestRuns"],
        "tasks": ["run_task"],
    },
)
