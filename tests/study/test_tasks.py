"""Studies as data, and what holds for the tasks of all of them."""

import math
from functools import cache
from itertools import pairwise

import pytest
from threadpoolctl import threadpool_limits

from pengp.exceptions import InputError
from pengp.study import (
    decisions,
    definitions,
    fold_designs,
    forrester,
    limits,
    next_runs,
    piston_slap,
    simulation,
)
from pengp.study.base import SIZES
from pengp.study.definitions import STUDIES, get_study
from pengp.study.methods import compare
from pengp.study.methods.sizes import NEXT_SIMULATORS, SIMULATOR_PARTS
from pengp.study.task import Row, Task
from pengp.study.tasks import run_task

CHEAP = [
    Task("forrester", "folds", 1),
    Task("simulation", "lim", 1),
    Task("simulation-scad", "franke", 0),
    Task("piston-slap", "anisotropic", 0),
    Task("limits", "zero", 2),
]
TASKS = [task for study in STUDIES.values() for task in study.tasks("paper", test_runs=True)]


@cache
def ran(task: Task) -> list[Row]:
    return run_task(task)


def comparable(rows: list[Row]) -> list[tuple[object, ...]]:
    """Return all that has to be equal in two runs, to the bit."""
    return [(*row[:4], row.value.hex()) for row in rows]


@pytest.mark.parametrize("test_runs", [False, True])
@pytest.mark.parametrize("name", STUDIES)
def test_a_smaller_size_is_part_of_a_larger_one_in_the_same_order(
    name: str, test_runs: bool
) -> None:
    lists = [STUDIES[name].tasks(size, test_runs=test_runs) for size in SIZES]
    for small, large in pairwise(lists):
        assert [task for task in large if task in set(small)] == small
    assert lists[-1] == STUDIES[name].tasks("paper", test_runs=test_runs)


def test_the_paper_size_has_the_papers_repetitions() -> None:
    counts = {name: len(study.tasks("paper")) for name, study in STUDIES.items()}
    assert counts == {
        "forrester": 5 + 20 + 2 * 100,
        "simulation": 4 * 100,
        "simulation-scad": 4 * 100,
        "piston-slap": 5 + 2 * 100 + 2,
        "limits": 6 + 4 + 4 + 8,
        "folds": 4 * 100,
        "methods": 12 * 100,
        "methods-rivals": 12 * 100,
        "methods-real": 36 * 10,
        "methods-rivals-real": 36 * 10,
        "decisions": 4 * 40 + 6 * 12,
        "decisions-real": 9 * 12,
    }


def test_only_piston_slap_and_methods_have_tasks_for_test_runs() -> None:
    expected = {
        "piston-slap": {"isotropic-test", "anisotropic-test"},
        "methods": {"piston-slap"},
        "methods-rivals": {"piston-slap"},
    }
    for name, study in STUDIES.items():
        for size in SIZES:
            more = set(study.tasks(size, test_runs=True)) - set(study.tasks(size))
            assert more == {Task(name, part, 0) for part in expected.get(name, ())}


def test_a_root_seed_draws_anew_and_keeps_the_names() -> None:
    other = [task._replace(root=7) for task in TASKS]
    assert [task.name for task in other] == [task.name for task in TASKS]
    assert not {task.seed for task in other} & {task.seed for task in TASKS}
    task = CHEAP[0]
    assert comparable(run_task(task._replace(root=7))) != comparable(ran(task))


def test_both_penalties_see_the_same_designs() -> None:
    lasso, scad = (simulation.draw(Task(s, "lim", 3, 5)) for s in ("simulation", "simulation-scad"))
    assert (lasso.X == scad.X).all()
    assert lasso.seed == scad.seed
    assert all((a == b).all() for a, b in zip(lasso.plan.test, scad.plan.test, strict=True))


def test_tasks_have_different_names_and_seeds() -> None:
    assert len({task.name for task in TASKS}) == len(TASKS)
    assert len({task.seed for task in TASKS}) == len(TASKS)


def test_every_part_has_code_and_all_code_is_listed() -> None:
    listed: dict[str, set[str]] = {name: set() for name in STUDIES}
    for task in TASKS:
        listed[task.study].add(task.function)
    assert listed == {
        "forrester": set(forrester.PARTS),
        "simulation": set(simulation.PARTS),
        "simulation-scad": set(simulation.SCAD_PARTS),
        "piston-slap": {*piston_slap.PARTS, *piston_slap.TEST_PARTS},
        "limits": set(limits.PARTS),
        "folds": set(fold_designs.PARTS),
        "methods": {*compare.PARTS, *compare.TEST_PARTS},
        "methods-rivals": {*compare.PARTS, *compare.TEST_PARTS},
        "methods-real": set(SIMULATOR_PARTS),
        "methods-rivals-real": set(SIMULATOR_PARTS),
        "decisions": {*decisions.PARTS, *next_runs.PARTS},
        "decisions-real": set(NEXT_SIMULATORS),
    }


@pytest.mark.parametrize(("name", "close"), [("piston", "piston-slap"), ("Forester", "forrester")])
def test_an_unknown_study_is_answered_with_the_closest_name(name: str, close: str) -> None:
    with pytest.raises(InputError, match=f"did you mean '{close}'"):
        get_study(name)


def test_an_unknown_size_is_refused() -> None:
    with pytest.raises(InputError, match="tiny, quick, paper"):
        STUDIES["limits"].tasks("huge")


@pytest.mark.parametrize(
    "task",
    [
        Task("simulation", "lim", 100),
        Task("simulation", "lim", -1),
        Task("simulation", "branin", 0),
        Task("forester", "folds", 0),
    ],
)
def test_an_unknown_task_is_refused(task: Task) -> None:
    with pytest.raises(InputError, match=r"no (task|study)"):
        run_task(task)


def test_a_task_for_test_runs_is_refused_without_them() -> None:
    with pytest.raises(InputError, match="needs test runs"):
        run_task(Task("piston-slap", "isotropic-test", 0))


def test_rows_depend_on_the_task_alone() -> None:
    first = [comparable(ran(task)) for task in CHEAP]
    with threadpool_limits(2, user_api="blas"):
        again = [comparable(run_task(task)) for task in reversed(CHEAP)]
    assert first == again[::-1]


def test_repetitions_differ() -> None:
    for one, other in [(Task(*t[:2], 0), Task(*t[:2], 1)) for t in CHEAP]:
        assert comparable(ran(one)) != comparable(ran(other))


@pytest.mark.parametrize("task", STUDIES["piston-slap"].tasks("tiny") + CHEAP, ids=lambda t: t.name)
def test_rows_have_times_and_numbers(task: Task) -> None:
    rows = ran(task)
    assert all(type(row.value) is float and math.isfinite(row.value) for row in rows)
    assert all(row.seconds >= 0.0 for row in rows)
    assert len({row[:4] for row in rows}) == len(rows)


@pytest.mark.parametrize("name", ["forrester", "simulation", "piston-slap", "limits"])
def test_the_documentation_names_every_method_and_metric(name: str) -> None:
    parts = {task.function: task for task in reversed(STUDIES[name].tasks("tiny"))}
    rows = [row for task in parts.values() for row in ran(task)]
    words = {row.method.removesuffix("_1se") for row in rows} | {row.metric for row in rows}
    assert definitions.__doc__ is not None
    assert {word for word in words if f'"{word}"' not in definitions.__doc__} == set()
