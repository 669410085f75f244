"""Profiles of hypothesis, few examples in `make test` and many in `make fuzz`; limits for each."""

import os
import resource
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.fuzz.inputs import EXAMPLES

#: Examples of each kind of input; a test takes its share of them (`tests.fuzz.inputs.share`).
_FEW, _MANY = 2_000, int(os.environ.get("PENGP_FUZZ_EXAMPLES", "100000"))
#: Bytes that a test may take beyond what the process has.
_MOST_MEMORY = 2 << 30

for name, count, repeatable in (("short", _FEW, True), ("long", _MANY, False)):
    settings.register_profile(
        name,
        max_examples=count,
        derandomize=repeatable,
        print_blob=not repeatable,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
settings.load_profile("short")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Note how many examples a test has taken, before its report is made."""
    before = EXAMPLES[0]
    try:
        yield
    finally:
        item.user_properties.append(("examples", EXAMPLES[0] - before))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how many examples of each kind there were."""
    by_file = Counter[str]()
    for kind in ("passed", "failed"):
        for report in terminalreporter.getreports(kind):
            number = dict(report.user_properties).get("examples", 0)
            by_file[Path(report.nodeid.split("::")[0]).stem] += (
                number if report.when == "call" else 0
            )
    for name, number in sorted(by_file.items()):
        if number:
            terminalreporter.write_line(f"{name}: {number:,} examples")


@pytest.fixture(autouse=True)
def little_memory() -> Iterator[None]:
    """Make a test fail with a MemoryError if it ever takes more than 2 GB."""
    if sys.platform != "linux":
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + _MOST_MEMORY, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
