"""Tasks of the study of methods: all methods forecast the test runs of one problem."""

from collections.abc import Callable, Mapping

from pengp.study.methods.catalogue import METHODS, RIVALS, Method
from pengp.study.methods.forecasts import scores
from pengp.study.methods.problems import (
    Problem,
    SimulatorTables,
    function_problem,
    piston_slap_problem,
    simulator_problem,
)
from pengp.study.methods.sizes import FUNCTION_RUNS, PISTON_SLAP
from pengp.study.rows import timed
from pengp.study.task import Row, Task, TestRuns


def compare(problem: Problem, methods: Mapping[str, Method]) -> list[Row]:
    """Return the scores of methods on one problem, and the seconds that each took."""
    rows = []
    for name, method in methods.items():
        forecast, seconds = timed(method, problem)
        found = scores(forecast, problem.y_test)
        rows += [Row(name, None, score, None, value, seconds) for score, value in found.items()]
    return rows


def methods_of(task: Task) -> Mapping[str, Method]:
    """Return the methods of a task: other packages, or ours."""
    return RIVALS if task.study.startswith("methods-rivals") else METHODS


def on_function(task: Task) -> list[Row]:
    """Return the scores of methods on runs of a test function; the design is the repetition's."""
    return compare(function_problem(task.function, task.repetition), methods_of(task))


def on_simulator(task: Task, tables: SimulatorTables) -> list[Row]:
    """Return the scores of methods on runs of a real simulator."""
    problem = simulator_problem(task.function, task.repetition, tables)
    return compare(problem, methods_of(task))


def on_piston_slap(task: Task, test_runs: TestRuns) -> list[Row]:
    """Return the scores of methods on the user's test runs of the piston-slap simulator."""
    return compare(piston_slap_problem(test_runs, task.seed), methods_of(task))


#: What runs each part of the studies on test functions.
PARTS: dict[str, Callable[[Task], list[Row]]] = dict.fromkeys(FUNCTION_RUNS, on_function)
#: What runs the part that needs test runs.
TEST_PARTS = {PISTON_SLAP: on_piston_slap}
