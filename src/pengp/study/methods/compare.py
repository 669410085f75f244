"""Tasks of the study of methods: all methods forecast the test runs of one problem."""

from collections.abc import Callable, Mapping
from functools import partial

from pengp.study.methods.catalogue import METHODS, RIVALS, Method
from pengp.study.methods.forecasts import scores
from pengp.study.methods.problems import (
    Problem,
    SimulatorTables,
    function_problem,
    simulator_problem,
)
from pengp.study.methods.sizes import FUNCTION_RUNS
from pengp.study.rows import timed
from pengp.study.task import Row, Task


def compare(problem: Problem, methods: Mapping[str, Method]) -> list[Row]:
    """Return the scores of methods on one problem, and the seconds that each took."""
    rows = []
    for name, method in methods.items():
        forecast, seconds = timed(method, problem)
        found = scores(forecast, problem.y_test)
        rows += [Row(name, None, score, None, value, seconds) for score, value in found.items()]
    return rows


def on_function(task: Task, methods: Mapping[str, Method]) -> list[Row]:
    """Return the scores of methods on runs of a test function; the design is the repetition's."""
    return compare(function_problem(task.function, task.repetition), methods)


def on_simulator(task: Task, tables: SimulatorTables) -> list[Row]:
    """Return the scores of all methods on runs of a real simulator."""
    return compare(simulator_problem(task.function, task.repetition, tables), METHODS)


#: What runs each part: pengp's methods ...
PARTS: dict[str, Callable[[Task], list[Row]]] = dict.fromkeys(
    FUNCTION_RUNS, partial(on_function, methods=METHODS)
)
#: ... and other packages, on the same designs.
RIVAL_PARTS: dict[str, Callable[[Task], list[Row]]] = dict.fromkeys(
    FUNCTION_RUNS, partial(on_function, methods=RIVALS)
)
