"""A task of a study and the rows that it gives."""

import hashlib
from typing import NamedTuple

from pengp._core.arrays import FloatArray


class Task(NamedTuple):
    """The unit of work: one repetition of one part of a study."""

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
    """One number that a task found; with the task's study, function and repetition it is tidy."""

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
    """Runs that judge the piston-slap surrogates, in the user's units."""

    X: FloatArray  # [m, 6]
    y: FloatArray  # [m]


TestRuns.__test__ = False  # type: ignore[attr-defined]  # pytest goes by the name
