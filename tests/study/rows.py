"""Picks rows of a study's task, for the tests of the studies."""

from pengp.study.task import Row, Task, TestRuns
from pengp.study.tasks import run_task


def rows_of(study: str, function: str, repetition: int = 0, runs: TestRuns | None = None) -> "Rows":
    """Run a task."""
    return Rows(run_task(Task(study, function, repetition), runs))


class Rows(list[Row]):
    """Rows of a task, with look-ups."""

    def where(self, method: str, metric: str) -> "Rows":
        """Return the rows of a method and metric."""
        return Rows(row for row in self if (row.method, row.metric) == (method, metric))

    def only(self, method: str, metric: str) -> float:
        """Return the one value of a method and metric."""
        (row,) = self.where(method, metric)
        return row.value

    def by_lam(self, method: str, metric: str) -> dict[float, float]:
        """Return values by lambda, one each."""
        rows = self.where(method, metric)
        found = {row.lam: row.value for row in rows if row.lam is not None}
        assert len(found) == len(rows)
        return found

    def by_x(self, method: str, metric: str) -> dict[float, float]:
        """Return values by x, one each."""
        rows = self.where(method, metric)
        found = {row.x: row.value for row in rows if row.x is not None}
        assert len(found) == len(rows)
        return found
