"""Works on tasks one after the other or in several processes; outcomes come as they are ready."""

import contextlib
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import NamedTuple, TypeAlias

from threadpoolctl import threadpool_limits

from pengp._core.processes import end_with_parent, signals_held
from pengp.study.store import Failure
from pengp.study.task import Row, Task

#: What is done with a task; to leave the process it has to be picklable.
Work: TypeAlias = Callable[[Task], list[Row]]

#: How often a task is tried again whose worker process died.
RETRIES = 3


class Outcome(NamedTuple):
    """What became of a task."""

    task: Task
    result: list[Row] | Failure
    seconds: float


#: Outcomes as they are ready; closing it stops the work on the others.
Outcomes: TypeAlias = Generator[Outcome, None, None]


def attempt(work: Work, task: Task) -> Outcome:
    """Work on a task; an exception is an outcome like any other."""
    start = time.perf_counter()
    result: list[Row] | Failure
    try:
        result = list(work(task))
    except Exception as error:  # noqa: BLE001  one task's error must not end the others
        result = Failure(type(error).__name__, str(error), traceback.format_exc())
    return Outcome(task, result, time.perf_counter() - start)


def attempt_single_threaded(work: Work, task: Task) -> Outcome:
    """Work on a task in a process that is a worker, whose BLAS has one thread from then on."""
    threadpool_limits(1, user_api="blas")  # for good: restoring would interfere between threads
    return attempt(work, task)


def in_this_process(tasks: Sequence[Task], work: Work) -> Outcomes:
    """Yield the outcomes of tasks in their order."""
    for task in tasks:
        yield attempt(work, task)


def in_processes(tasks: Sequence[Task], work: Work, jobs: int) -> Outcomes:
    """Yield the outcomes of tasks as they are ready; closing the iterator ends the processes.

    Each process has one task at a time, so that it is known which task a process died of. Such a
    task is tried again in a new process, `RETRIES` times at most.
    """
    waiting, deaths = deque(tasks), Counter[Task]()
    workers: list[_Worker] = []
    try:
        while waiting or workers:
            while waiting and len(workers) < jobs:
                workers.append(_Worker(work, waiting.popleft()))
            for worker in _ready(workers):
                outcome = worker.outcome()
                if outcome is None:
                    workers.remove(worker)
                    deaths[worker.task] += 1
                    if deaths[worker.task] <= RETRIES:
                        waiting.appendleft(worker.task)
                        continue
                    outcome = Outcome(worker.task, worker.obituary(), worker.seconds)
                elif waiting:
                    worker.give(waiting.popleft())
                else:
                    worker.end()
                    workers.remove(worker)
                yield outcome
    finally:
        for worker in workers:
            worker.end()


class _Worker:
    """A process that works on one task after the other, and the pipe to it."""

    def __init__(self, work: Work, task: Task) -> None:
        context = get_context("spawn")  # forking is unsafe beside threads, which BLAS may have
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other, work), daemon=True)
        with signals_held():
            self._process.start()
        other.close()  # so that the worker's copy is the only one, and its death is noticed here
        self.give(task)

    def give(self, task: Task) -> None:
        """Send a task."""
        self.task = task
        self._start = time.perf_counter()
        with contextlib.suppress(OSError):  # a dead worker is noticed when the outcome is read
            self._pipe.send(task)

    def outcome(self) -> Outcome | None:
        """Return the outcome of the task, None if the process died of it."""
        try:
            return self._pipe.recv()
        except (EOFError, OSError):
            self.end()
            return None

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        self._process.join()
        self._pipe.close()

    def obituary(self) -> Failure:
        """Return the failure of a task that too many processes died of."""
        message = f"{RETRIES + 1} worker processes died of it, the last with exit code "
        return Failure("WorkerDied", f"{message}{self._process.exitcode}", "")

    @property
    def seconds(self) -> float:
        """Return the time since the task was given."""
        return time.perf_counter() - self._start

    @property
    def pipe(self) -> Connection:
        """Return the end of the pipe that becomes readable when there is something to know."""
        return self._pipe


def _ready(workers: Sequence[_Worker]) -> list[_Worker]:
    """Wait; return the workers with an outcome or an end."""
    readable = wait([worker.pipe for worker in workers])
    return [worker for worker in workers if worker.pipe in readable]


def _serve(pipe: Connection, work: Work) -> None:
    """Work on the tasks that come through the pipe until its other end is closed."""
    end_with_parent()
    while True:
        try:
            pipe.send(attempt_single_threaded(work, pipe.recv()))
        except (EOFError, OSError):
            return
