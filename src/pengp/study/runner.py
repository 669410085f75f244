"""Runs tasks that a store does not hold yet and writes their rows, so that a run can be resumed."""

import contextlib
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial

from pengp.exceptions import InputError
from pengp.study.base import Study
from pengp.study.metadata import circumstances
from pengp.study.methods.problems import SimulatorTables
from pengp.study.store import Failure, Store
from pengp.study.task import Task, TestRuns
from pengp.study.tasks import run_task
from pengp.study.test_runs import digest
from pengp.study.workers import Outcome, Outcomes, Work, in_processes, in_this_process


@dataclass(frozen=True)
class Tally:
    """How far a run of tasks is."""

    total: int
    """Tasks asked for."""
    already: int
    """Of these, the ones done before."""
    skipped: int
    """Those that failed before and are not tried again."""
    done: int = 0
    """Those done in this run."""
    failed: int = 0
    """Those that failed in this run."""
    seconds: float = 0.0
    """Time since the run began."""

    @property
    def to_do(self) -> int:
        """Return the number of tasks that this run works on."""
        return self.total - self.already - self.skipped

    @property
    def ended(self) -> int:
        """Return the number of tasks that this run is through with."""
        return self.done + self.failed

    @property
    def rate(self) -> float:
        """Return the tasks per second of this run."""
        return self.ended / self.seconds if self.seconds > 0 else 0.0

    @property
    def remaining(self) -> float | None:
        """Return the seconds that the rest takes at this rate, None before the first task."""
        return (self.to_do - self.ended) / self.rate if self.rate > 0 else None


#: Is told how far a run is: once at the start and after each task.
Progress = Callable[[Tally], None]


def ignore(tally: Tally) -> None:
    """Show nothing."""


def run(
    tasks: Iterable[Task],
    store: Store,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    progress: Progress = ignore,
    work: Work = run_task,
    retry_failed: bool = False,
) -> Tally:
    """Work on the tasks that the store does not hold and write their rows to it.

    The rows are the same whatever the number of jobs, the scheduler, or how often a run was
    stopped in between; only this process writes. A task that fails is recorded with its error and
    does not stop the others.

    Parameters
    ----------
    tasks : iterable of Task
        What to work on; tasks that the store holds are passed over.
    store : Store
        Opened with mode "w".
    jobs : int
        Number of processes; 1 works in this process. With more, a script has to guard its own code
        with ``if __name__ == "__main__":``, as each process imports it.
    scheduler : str, optional
        Address of a Dask scheduler whose workers do the work instead.
    progress : callable
        Is called with a `Tally` at the start and after each task.
    work : callable
        Returns the rows of a task. It has to be picklable for processes and for Dask.
    retry_failed : bool
        Whether to work again on tasks that failed in an earlier run.

    Returns
    -------
    Tally
        What was done.

    Examples
    --------
    >>> from pengp.study import Store, get_study, run
    >>> tasks = get_study("limits").tasks("tiny")[:2]
    >>> with Store.open("limits.sqlite", "w") as store:
    ...     print(run(tasks[:1], store).done, "task done")
    ...     print(run(tasks, store).already, "task done before")
    1 task done
    1 task done before
    """
    if jobs < 1:
        raise InputError(f"jobs is {jobs}; it has to be at least 1.")
    asked, done = list(dict.fromkeys(tasks)), store.done()
    failed = set() if retry_failed else {failed.task for failed in store.failures()}
    to_do = [task for task in asked if task not in done and task not in failed]
    tally = Tally(len(asked), len(done & set(asked)), len(failed & set(asked)))
    progress(tally)
    start = time.perf_counter()
    with contextlib.closing(_outcomes(to_do, work, jobs, scheduler)) as outcomes:
        for outcome in outcomes:
            tally = _recorded(outcome, store, replace(tally, seconds=time.perf_counter() - start))
            progress(tally)
    return tally


def run_studies(
    studies: Sequence[Study],
    store: Store,
    size: str,
    *,
    root: int = 0,
    jobs: int = 1,
    scheduler: str | None = None,
    test_runs: TestRuns | None = None,
    simulators: SimulatorTables | None = None,
    retry_failed: bool = False,
    watched: Callable[[Study], AbstractContextManager[Progress]] = lambda study: nullcontext(
        ignore
    ),
) -> dict[str, Tally]:
    """Run studies one after the other and record in the store under which circumstances.

    Parameters
    ----------
    studies : sequence of Study
        What to run.
    store : Store
        Opened with mode "w".
    size : {"tiny", "quick", "paper"}
        How many repetitions.
    root : int
        Root seed of all that is random; one store has one.
    jobs, scheduler, retry_failed
        As for `run`.
    test_runs : TestRuns, optional
        For the tasks that need some; they are left out otherwise. The runs of one store may not
        change.
    simulators : mapping of str to SimulatorTable, optional
        Runs of real simulators, for the studies whose names end in "-real".
    watched : callable
        Returns, for a study, the context that is entered while it runs and gives its `Progress`.

    Returns
    -------
    dict
        What was done, by name of study.

    Examples
    --------
    >>> from pengp.study import Store, get_study, run_studies
    >>> with Store.open("whole.sqlite", "w") as store:
    ...     found = run_studies([get_study("limits")], store, "tiny")
    >>> found["limits"].failed
    0
    """
    store.pin("root", str(root))
    if test_runs is not None:
        store.pin("test_runs", digest(test_runs))
    arguments = {
        "studies": [study.name for study in studies],
        "size": size,
        "seed": root,
        "jobs": jobs,
        "scheduler": scheduler,
        "test_runs": test_runs is not None,
        "simulators": simulators is not None,
        "retry_failed": retry_failed,
    }
    store.begin({"arguments": arguments, **circumstances()})
    tallies = {}
    try:
        for study in studies:
            with watched(study) as progress:
                tallies[study.name] = run(
                    study.tasks(size, test_runs=test_runs is not None, root=root),
                    store,
                    jobs=jobs,
                    scheduler=scheduler,
                    progress=progress,
                    work=partial(run_task, test_runs=test_runs, simulators=simulators),
                    retry_failed=retry_failed,
                )
    finally:
        store.end()
    return tallies


def _outcomes(tasks: Sequence[Task], work: Work, jobs: int, scheduler: str | None) -> Outcomes:
    """Return the outcomes of tasks, from wherever the work is done."""
    if tasks and scheduler is not None:
        from pengp.study.cluster import on_cluster

        return on_cluster(tasks, work, scheduler)
    return in_this_process(tasks, work) if jobs == 1 else in_processes(tasks, work, jobs)


def _recorded(outcome: Outcome, store: Store, tally: Tally) -> Tally:
    """Write an outcome to the store and count it."""
    if isinstance(outcome.result, Failure):
        store.add_failure(outcome.task, outcome.result, outcome.seconds)
        return replace(tally, failed=tally.failed + 1)
    store.add(outcome.task, outcome.result, outcome.seconds)
    return replace(tally, done=tally.done + 1)
