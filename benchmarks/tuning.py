"""What each tuned constant of the search is worth: halved, doubled, and without it.

`python -m benchmarks.tuning` measures all of `pengp.path.settings`, which takes some minutes;
`python -m benchmarks.tuning KNOWN MISSING` those of these names. For each value it prints, relative
to the value in use, the likelihood evaluations, the time and the maxima listed, and how many cells
fall short of the best of 50 random starts by more than 1e-5 (tests/data/best_of_50.npz), on paths
and at single lambdas. A constant stays where doing without it costs 2 % or a maximum.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pengp import lambda_grid, penalized_path
from pengp._core.arrays import FloatArray
from pengp.path import settings

DATA = Path(__file__).parent.parent / "tests" / "data" / "best_of_50.npz"
REPETITIONS = 6
"""Of the 20 repetitions of each function, five folds each."""

WITHOUT: dict[str, Any] = {
    "FIRST_RADIUS": settings.LARGEST_RADIUS,
    "LARGEST_RADIUS": np.inf,
    "SUCCESS": 0.0,
    "GROW": 1.0,
    "FLAT_STEP": np.inf,
    "FOLLOW_STEP": settings.EXACT_STEP,
    "FOLLOW_GAIN": 0.0,
    "PATIENCE": 100,
    "PATIENCE_ALONE": settings.PATIENCE,
    "PATIENCE_FOLLOWING": settings.PATIENCE,
    "PATIENCE_AGAIN": (),
    "KNOWN": -1.0,
    "MISSING": settings.KNOWN,
    "LEFT_BRANCH": np.inf,
    "LONGEST_PREDICTION": settings.LARGEST_RADIUS,
    "LEARNED_ERROR": np.inf,
    "ANCHOR_SPACING": 100.0,
    "CANDIDATES": 0,
    "CANDIDATES_PER_START": 0,
    "ALL_CHOSEN": 10**9,
    "APART": 0.0,
    "ALONE": np.inf,
    "ALONE_PENALIZED": np.inf,
    "ALONE_UNPENALIZED": settings.ALONE,
    "ALONE_BELOW": 0.0,
    "OFF": 0.0,
    "SAME_POINT": 0.0,
    "MERGED_OBJECTIVE": 0.0,
    "MERGED_POINT": 0.0,
    "LBFGS_LAST_STEPS": 0,
    "LBFGS_GAINS": settings.LBFGS_GAINS[1:],
}
"""The values with which a constant has no effect, or the one that would do its work as well."""

OTHERS = (
    "SHRINK",
    "EXACT_STEP",
    "OVERLOOKED",
    "RANDOM_RANGE",
    "SAME_OBJECTIVE",
    "START_NUGGET",
    "START_THETA",
    "LBFGS_GRADIENT",
    "FEWER_RUNS",
)
"""Constants that cannot be done without; they are halved and doubled only."""


class Measured(NamedTuple):
    """What one value of a constant costs and finds."""

    evaluations: int
    seconds: float
    maxima: int
    missed: int  # cells of paths
    missed_alone: int  # cells at a single lambda
    worst: float  # largest shortfall


class Problems:
    """Folds of the paper's five test functions, and one larger data set."""

    def __init__(self) -> None:
        self.sets: dict[str, tuple[list[FloatArray], list[FloatArray], FloatArray]] = {}
        with np.load(DATA) as file:
            for name in ("forrester", "lim", "franke", "piston", "borehole"):
                X, y, fold, best = (file[f"{name}_{key}"] for key in ("X", "y", "fold", "best"))
                train = [(r, fold[r] != k) for r in range(REPETITIONS) for k in range(5)]
                self.sets[name] = (
                    [X[r][rows] for r, rows in train],
                    [y[r][rows] for r, rows in train],
                    best[:REPETITIONS].reshape(len(train), -1),
                )
        X = np.random.default_rng(0).random((150, 4))
        y = np.sin(X @ np.linspace(4.0, 0.5, 4)) + X[:, 0] ** 2
        self.large = X, (y - y.mean()) / y.std()

    def measure(self) -> Measured:
        """Fit everything once."""
        start, lams = time.process_time(), lambda_grid("paper")
        evaluations = maxima = missed = alone = 0
        worst = -np.inf
        for X, y, best in self.sets.values():
            path = penalized_path(X, y, lams, random_state=0)
            singles = [penalized_path(X, y, lams[[k]], random_state=0) for k in (0, 10, 20)]
            evaluations += path.n_evaluations + sum(fit.n_evaluations for fit in singles)
            maxima += int(path.modes.count.sum()) + sum(int(s.modes.count.sum()) for s in singles)
            short = best - path.objective
            single = best[:, [0, 10, 20]] - np.hstack([fit.objective for fit in singles])
            missed, alone = missed + int((short > 1e-5).sum()), alone + int((single > 1e-5).sum())
            worst = max(worst, float(short.max()), float(single.max()))
        large = penalized_path(*self.large, [0.0, 0.01, 0.1], n_starts=3, random_state=0)
        evaluations += large.n_evaluations
        seconds = time.process_time() - start
        return Measured(evaluations, seconds, maxima, missed, alone, worst)


@contextmanager
def changed(name: str, value: Any) -> Iterator[None]:
    """Let one constant have another value."""
    old = getattr(settings, name)
    setattr(settings, name, value)
    if name == "START_NUGGET":
        settings.LOG_START_NUGGET = float(np.log(value))
    try:
        yield
    finally:
        setattr(settings, name, old)
        settings.LOG_START_NUGGET = float(np.log(settings.START_NUGGET))


def variants(name: str) -> Iterator[tuple[str, Any]]:
    """Yield the values to try, with their labels."""
    value = getattr(settings, name)
    for label, factor in (("half", 0.5), ("double", 2.0)):
        if isinstance(value, tuple):
            yield label, tuple(type(v)(v * factor) for v in value)
        else:
            yield label, type(value)(value * factor)
    if name in WITHOUT:
        yield "without", WITHOUT[name]


def main(names: list[str]) -> None:
    """Print the table of these constants, or of all."""
    problems = Problems()
    problems.measure()
    base = problems.measure()
    print(
        f"{base.evaluations} evaluations, {base.maxima} maxima, {base.missed} cells of paths and "
        f"{base.missed_alone} at single lambdas missed, by {base.worst:.2g} at most"
    )
    print(f"{'constant':<22}{'value':<22}{'evaluations':>12}{'time':>8}{'maxima':>8}", end="")
    print(f"{'missed':>8}{'alone':>7}{'worst':>9}")
    for name in names or sorted({*WITHOUT, *OTHERS}):
        for label, value in variants(name):
            with changed(name, value):
                now = problems.measure()
            print(f"{name:<22}{f'{label} {value}'[:21]:<22}", end="")
            print(f"{now.evaluations / base.evaluations:12.3f}", end="")
            print(f"{now.seconds / base.seconds:8.2f}{now.maxima / base.maxima:8.3f}", end="")
            print(f"{now.missed:8d}{now.missed_alone:7d}{now.worst:9.2g}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
