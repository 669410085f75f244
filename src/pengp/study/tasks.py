"""Runs a task of any study: finds the part, holds BLAS to one thread, returns the rows."""

from collections.abc import Callable

from pengp._core.linalg import ONE_THREAD
from pengp.exceptions import InputError
from pengp.study import (
    decisions,
    fold_designs,
    forrester,
    limits,
    next_runs,
    piston_slap,
    simulation,
)
from pengp.study.definitions import get_study
from pengp.study.methods import compare
from pengp.study.methods.problems import SimulatorTables
from pengp.study.task import Row, Task, TestRuns

_PARTS: dict[str, dict[str, Callable[[Task], list[Row]]]] = {
    "forrester": forrester.PARTS,
    "simulation": simulation.PARTS,
    "simulation-scad": simulation.SCAD_PARTS,
    "piston-slap": piston_slap.PARTS,
    "limits": limits.PARTS,
    "folds": fold_designs.PARTS,
    "methods": compare.PARTS,
    "methods-rivals": compare.PARTS,
    "decisions": decisions.PARTS | next_runs.PARTS,
}
_REAL: dict[str, Callable[[Task, SimulatorTables], list[Row]]] = {
    "methods-real": compare.on_simulator,
    "methods-rivals-real": compare.on_simulator,
    "decisions-real": next_runs.on_simulator,
}
_TEST_PARTS: dict[str, Callable[[Task, TestRuns], list[Row]]] = {
    **piston_slap.TEST_PARTS,
    **compare.TEST_PARTS,
}


def run_task(
    task: Task, test_runs: TestRuns | None = None, simulators: SimulatorTables | None = None
) -> list[Row]:
    """Return the rows of a task; `pengp.study.definitions` says what they mean.

    All that is random follows from ``task.seed``, and the number of threads of the machine plays
    no part: only `Row.seconds` differs between two runs of a task.

    Parameters
    ----------
    task : Task
        One of `Study.tasks`.
    test_runs : TestRuns, optional
        For the parts that judge predictions of the user's test runs.
    simulators : mapping of str to SimulatorTable, optional
        Runs of real simulators, for the studies whose names end in "-real".

    Examples
    --------
    >>> from pengp.study import get_study, run_task
    >>> task = get_study("limits").tasks("tiny")[0]
    >>> rows = run_task(task)
    >>> rows[0]._fields
    ('method', 'lam', 'metric', 'x', 'value', 'seconds')
    """
    if task not in get_study(task.study).tasks("paper", test_runs=True, root=task.root):
        raise InputError(
            f"no task {task.name!r}; `STUDIES[{task.study!r}].tasks('paper', test_runs=True)` "
            "lists what there is."
        )
    with ONE_THREAD:  # their number changes the last bits
        if task.function in _TEST_PARTS:
            if test_runs is None:
                raise InputError(f"the task {task.name!r} needs test runs; pass test_runs.")
            return _TEST_PARTS[task.function](task, test_runs)
        if task.study in _REAL:
            if simulators is None:
                raise InputError(f"the task {task.name!r} needs simulators; pass simulators.")
            return _REAL[task.study](task, simulators)
        return _PARTS[task.study][task.function](task)
