"""Worker processes: they start while signals wait, and end with the process that started them."""

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing import parent_process, resource_tracker
from multiprocessing.process import BaseProcess

import joblib

#: Signals that end a process in order: Ctrl-C, `kill` and a hang-up.
_ENDING = {getattr(signal, n) for n in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, n)}
#: Seconds within which a worker notices that its parent has ended.
_INTERVAL = 0.5


@contextlib.contextmanager
def signals_held() -> Iterator[None]:
    """Hold back the signals that end a process until the end of the block.

    What they raise could fall into a hook that runs at a fork, where Python drops exceptions, or
    leave a worker that nobody knows of. Processes that start meanwhile inherit the hold.
    """
    if sys.platform == "win32":
        yield
        return
    resource_tracker.ensure_running()  # when the first process starts it, it would undo the mask
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def joblib_workers(jobs: int | None) -> Iterator[None]:
    """Let joblib work in so many processes (None: this one), ready when the block begins."""
    if jobs in (None, 1) or sys.platform == "win32":
        yield
        return
    with (
        joblib.parallel_config("loky", initializer=end_with_parent),
        joblib.Parallel(n_jobs=jobs) as parallel,  # starts a helper of joblib, but no worker yet
    ):
        with signals_held():
            parallel(joblib.delayed(os.getpid)() for _ in range(jobs))
        yield


def end_with_parent() -> None:
    """Make this process a worker: it leaves Ctrl-C to its parent and ends when the parent does."""
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING - {signal.SIGINT})
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent,), daemon=True).start()


def _follow(parent: BaseProcess) -> None:
    """End this process as soon as its parent has ended, in whatever way."""
    if sys.platform == "win32":
        parent.join()
    while os.getppid() == parent.pid:  # joblib's processes have no handle to wait for
        time.sleep(_INTERVAL)
    os._exit(1)
