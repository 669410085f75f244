"""A task of a study and the rows that it gives."""

import hashlib
from typing import NamedTuple

from pengp._core.arrays import FloatArray


class Task(NamedTuple):
    """The unit of work: one repetition of one part of a study.

    Examples
    --------
    The seed follows from the name and the root seed, and from nothing else:

    >>> from pengp.study import Task
    >>> task = Task("simulation", "branin", 3)
    >>> task.name, task.seed == Task("simulation", "branin", 3).seed
    ('simulation/branin/3', True)
    """

    study: str
    function: str
    """The test function or, in studies of one data set, the part of the study."""
    repetition: int
    root: int = 0
    """The root seed of a whole run of studies."""

    @property
    def name(self) -> str:
        """Return the task's name, the same whatever the root seed."""
        return f"{self.study}/{self.function}/{self.repetition}"

    @property
    def seed(self) -> int:
        """Return the seed of everything random in the task; it follows from name and root seed."""
        text = f"{self.name}#{self.root}" if self.root else self.name
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


class Row(NamedTuple):
    """One number that a task found; with the task's study, function and repetition it is tidy.

    See Also
    --------
    run_task : Returns a list of them.
    """

    method: str
    lam: float | None
    """The lambda it belongs to, None if there is none."""
    metric: str
    x: float | None
    """Where on a curve it lies (an input, a theta, a fold number, ...), None if on no curve."""
    value: float
    seconds: float
    """Time that the method took; the only number that differs between two runs of a task."""


class TestRuns(NamedTuple):
    """Runs that judge the piston-slap surrogates, in the user's units.

    Examples
    --------
    Test runs add the tasks that judge predictions:

    >>> from pengp import load_piston_slap
    >>> from pengp.study import TestRuns, get_study
    >>> runs = load_piston_slap()
    >>> test_runs = TestRuns(runs.X[:3], runs.y[:3])  # yours are others than those of the fit
    >>> study = get_study("piston-slap")
    >>> len(study.tasks("tiny", test_runs=True)) > len(study.tasks("tiny"))
    True
    """

    X: FloatArray  # [m, 6]
    y: FloatArray  # [m]


TestRuns.__test__ = False  # type: ignore[attr-defined]  # pytest goes by the name
