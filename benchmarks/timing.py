"""Timing of competitors side by side: ratios within one run, never absolute promises."""

import gc
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np


def race(runners: Mapping[str, Callable[[int], Any]], repeats: int) -> dict[str, float]:
    """Return the median seconds of each runner, called with 0, 1, ... in turns.

    Taking turns spreads a busy machine's moods over all competitors alike.
    """
    seconds: dict[str, list[float]] = {name: [] for name in runners}
    for run in runners.values():
        run(0)
    for k in range(repeats):
        for name, run in runners.items():
            gc.collect()
            start = time.perf_counter()
            run(k)
            seconds[name].append(time.perf_counter() - start)
    return {name: float(np.median(times)) for name, times in seconds.items()}


def line(label: str, seconds: float, note: str = "") -> None:
    """Print one result."""
    print(f"  {label:<52}{1e3 * seconds:10.2f} ms   {note}")


def verdict(label: str, ratio: float, goal: str, met: bool) -> None:
    """Print a ratio and whether it meets its goal."""
    print(f"  -> {label}: {ratio:.2f} x   (goal: {goal}; {'met' if met else 'NOT met'})")
