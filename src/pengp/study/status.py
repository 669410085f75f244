"""What a store holds of each study, measured by the largest size that was asked for."""

from typing import Any, NamedTuple

from pengp.study.base import SIZES
from pengp.study.definitions import STUDIES
from pengp.study.store import Store
from pengp.study.task import Task


class Standing(NamedTuple):
    """How far a study is."""

    study: str
    size: str
    """The largest size that a call asked for."""
    total: int
    """Tasks of that size."""
    done: int
    failed: int


def standings(store: Store) -> list[Standing]:
    """Return how far each study is that a call asked for, in the order of `STUDIES`."""
    metadata = store.metadata()
    has_tests = metadata["test_runs"] is not None
    done, failed = store.done(), {failed.task for failed in store.failures()}
    found = []
    for name, size in _largest_sizes(metadata["invocations"]).items():
        tasks = set[Task](STUDIES[name].tasks(size, test_runs=has_tests, root=store.root))
        found.append(Standing(name, size, len(tasks), len(tasks & done), len(tasks & failed)))
    return found


def _largest_sizes(invocations: list[dict[str, Any]]) -> dict[str, str]:
    """Return the largest size asked for, by name of study."""
    asked: dict[str, set[str]] = {name: set() for name in STUDIES}
    for call in invocations:
        for name in call["arguments"]["studies"]:
            asked[name].add(call["arguments"]["size"])
    return {name: max(sizes, key=SIZES.index) for name, sizes in asked.items() if sizes}
