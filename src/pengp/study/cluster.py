"""Works on tasks on an existing Dask cluster."""

import contextlib
import logging
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from importlib import import_module
from typing import Any

from pengp.exceptions import InputError
from pengp.study.store import Failure
from pengp.study.task import Task
from pengp.study.workers import Outcome, Outcomes, Work, attempt_single_threaded

#: Seconds that a scheduler has to answer and to show a worker.
PATIENCE = 15.0

_PACKAGES = ["pengp", "numpy", "scipy"]


def on_cluster(
    tasks: Sequence[Task], work: Work, scheduler: str, patience: float = PATIENCE
) -> Outcomes:
    """Yield the outcomes of tasks as they are ready; closing the iterator cancels the others.

    A task whose worker died is given to another worker, as often as the scheduler's setting
    ``distributed.scheduler.allowed-failures`` says (3 unless it was changed); then it has failed.

    Parameters
    ----------
    tasks : sequence of Task
        What to work on.
    work : callable
        What to do with each; the workers have to be able to import it.
    scheduler : str
        Address of the scheduler, like ``tcp://10.0.0.1:8786``.
    patience : float
        Seconds that the scheduler has to answer and to show a worker.
    """
    distributed = _distributed()
    with _connected(distributed, scheduler, patience) as client:
        futures = client.map(attempt_single_threaded, [work] * len(tasks), tasks, pure=False)
        task_of = {future.key: task for future, task in zip(futures, tasks, strict=True)}
        try:
            for future in distributed.as_completed(futures, loop=client.loop):
                yield _outcome(future, task_of[future.key], scheduler)
                future.release()  # or the cluster would keep the rows of all tasks
        finally:
            with contextlib.suppress(OSError, TimeoutError):
                client.cancel(futures)


def _outcome(future: Any, task: Task, scheduler: str) -> Outcome:
    """Return what became of a task; what the cluster says of it is a failure like others.

    This may take as long as the task: rows are lost, and found again, when their worker dies
    between the end of a task and this call.
    """
    try:
        return future.result()
    except (CancelledError, OSError) as error:
        raise InputError(
            f"the Dask scheduler {scheduler} stopped the work or cannot be reached any more; what "
            "was done so far is kept, and the same command continues."
        ) from error
    except Exception as error:  # noqa: BLE001  `KilledWorker`, or what a worker cannot import
        return Outcome(task, Failure(type(error).__name__, str(error), ""), 0.0)


def _distributed() -> Any:
    """Return Dask's module of that name, which is only partly typed."""
    try:
        return import_module("distributed")
    except ImportError as error:
        raise InputError(
            "a Dask scheduler needs Dask, which is not installed; `pip install 'pengp[dask]'` "
            "installs it."
        ) from error


@contextlib.contextmanager
def _connected(distributed: Any, scheduler: str, patience: float) -> Iterator[Any]:
    """Connect to a scheduler with at least one worker, all of them with this pengp."""
    try:
        with _quiet(), warnings.catch_warnings():
            # _check_workers looks at the versions that matter.
            warnings.simplefilter("ignore", distributed.versions.VersionMismatchWarning)
            client = distributed.Client(scheduler, timeout=patience, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(
            f"no Dask scheduler answers at {scheduler} within {patience:g} s; check the address "
            "(like tcp://10.0.0.1:8786) and that the scheduler runs."
        ) from error
    with _quiet(), client:
        _check_workers(client, scheduler, patience)
        yield client


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask from logging tracebacks of a lost connection, which is said in a sentence."""
    logger = logging.getLogger("distributed.client")
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)


def _check_workers(client: Any, scheduler: str, patience: float) -> None:
    """Raise an InputError unless there are workers that would find the same rows as this process.

    With another NumPy or SciPy the last bits of a number may differ.
    """
    try:
        client.wait_for_workers(1, timeout=patience)
    except TimeoutError as error:
        raise InputError(
            f"the Dask scheduler {scheduler} has no workers; start some with `dask worker "
            f"{scheduler}`."
        ) from error
    versions = client.get_versions(packages=_PACKAGES)
    here = versions["client"]["packages"]
    for address, worker in versions["workers"].items():
        for package in _PACKAGES:
            there = worker["packages"].get(package)
            if there != here[package]:
                raise InputError(
                    f"the Dask worker {address} has {package} {there or '(not installed)'}, this "
                    f"process has {here[package]}; install the same versions on all workers."
                )
