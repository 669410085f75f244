"""What each tuned constant of the search is worth: halved, doubled, and without it.

`python -m benchmarks.tuning` measures all of `pengp.path.settings`, which takes some minutes;
`python -m benchmarks.tuning KNOWN MISSING` those of these names. For each value it prints, relative
to the value in use, the likelihood evaluations, the time, the maxima listed, the first and the last
of paths alone, and the evaluations of data sets that are too large for Hessians; and how many
cells fall short by more than 1e-5 of the best of 50 random starts (tests/data/best_of_50.npz), on
paths and at single lambdas, or of 120 starts for noisy responses at a single lambda, from the
default ten starts and from 20. A constant stays where doing without it costs 2 % of the evaluations
of paths or a cell.
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

NOISY = 80
"""Noisy responses."""

WITHOUT: dict[str, Any] = {
    "FIRST_RADIUS": settings.LARGEST_RADIUS,
    "LARGEST_RADIUS": np.inf,
    "SUCCESS": 0.0,
    "GROW": 1.0,
    "FOLLOW_STEP": settings.EXACT_STEP,
    "FOLLOW_GAIN": 0.0,
    "PATIENCE": 100,
    "PATIENCE_ALONE": settings.PATIENCE,
    "KNOWN": -1.0,
    "MISSING": settings.KNOWN,
    "LEFT_BRANCH": np.inf,
    "LONGEST_PREDICTION": settings.LARGEST_RADIUS,
    "LEARNED_ERROR": np.inf,
    "ANCHOR_SPACING": 100.0,
    "CANDIDATES_PER_START": 0,
    "ALL_CHOSEN": 10**9,
    "APART": 0.0,
    "ALONE": np.inf,
    "ALONE_PENALIZED": np.inf,
    "ALONE_UNPENALIZED": settings.ALONE,
    "ALONE_BELOW": 0.0,
    "OFF": 0.0,
    "MERGED_OBJECTIVE": 0.0,
    "MERGED_POINT": 0.0,
    "LBFGS_LAST_STEPS": 0,
    "LBFGS_GAINS": settings.LBFGS_GAINS[1:],
    "OVERLOOKED": np.inf,
    "FEWER_PART": 1,
    "FAR": 0.0,
}
"""The values with which a constant has no effect, or the one that would do its work as well."""

OTHERS = (
    "SHRINK",
    "EXACT_STEP",
    "RANDOM_RANGE",
    "SAME_OBJECTIVE",
    "START_NUGGET",
    "START_THETA",
    "LBFGS_GRADIENT",
    "NEWTON_SIZE",
    "FEWER_RUNS",
    "STEP_RUNS",
    "FAR_POINTS",
)
"""Constants that cannot be done without; they are halved and doubled only."""


class Measured(NamedTuple):
    """What one value of a constant costs and finds."""

    evaluations: int
    seconds: float
    maxima: int  # of paths and single lambdas
    paths: int  # evaluations of paths alone
    followed: int  # maxima of paths alone
    large: int  # evaluations of large data sets
    missed: int  # cells of paths
    missed_alone: int  # cells at a single lambda
    missed_noisy: int  # the same for noisy responses
    missed_more: int  # the same from 20 starts
    worst: float  # largest shortfall on paths


class Problems:
    """Folds of the paper's five test functions, noisy responses, and some larger data sets."""

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
        self.noisy = [_noisy(seed) for seed in range(NOISY)]
        self.noisy_best = [self._one(X, y, 120) for X, y in self.noisy]
        self.large = [_smooth(n, d) for n, d in ((120, 2), (150, 8), (300, 4))]

    @staticmethod
    def _one(X: FloatArray, y: FloatArray, n_starts: int = 10) -> float:
        """Return the objective of one fit."""
        return float(penalized_path(X, y, [0.0], n_starts=n_starts, random_state=0).objective[0])

    def measure(self) -> Measured:
        """Fit everything once."""
        start, lams = time.process_time(), lambda_grid("paper")
        evaluations = maxima = paths = followed = missed = alone = 0
        worst, some = -np.inf, np.arange(0, 41, 5)
        for X, y, best in self.sets.values():
            path = penalized_path(X, y, lams, random_state=0)
            singles = [penalized_path(X, y, lams[[k]], random_state=0) for k in some]
            fits = [path, *singles]
            paths += path.n_evaluations
            followed += int(path.modes.count.sum())
            evaluations += sum(fit.n_evaluations for fit in fits)
            maxima += sum(int(fit.modes.count.sum()) for fit in fits)
            short = best - path.objective
            single = best[:, some] - np.hstack([fit.objective for fit in singles])
            missed, alone = missed + int((short > 1e-5).sum()), alone + int((single > 1e-5).sum())
            worst = max(worst, float(short.max()))
        pairs = list(zip(self.noisy, self.noisy_best, strict=True))
        noisy, more = (
            sum(self._one(*runs, starts) < best - 1e-5 for runs, best in pairs)
            for starts in (10, 20)
        )
        large = [
            penalized_path(*runs, [0.0, 0.01, 0.1], n_starts=3, random_state=0).n_evaluations
            for runs in self.large
        ]
        seconds = time.process_time() - start
        counts = (missed, alone, noisy, more)
        sums = (evaluations, seconds, maxima, paths, followed, sum(large))
        return Measured(*sums, *counts, worst)


def _noisy(seed: int) -> tuple[FloatArray, FloatArray]:
    """Return a noisy, oscillating response of up to ten inputs."""
    rng = np.random.default_rng([7, seed])
    n, d = int(rng.choice([8, 15, 25])), int(rng.integers(1, 11))
    X = rng.random((n, d))
    y = np.sin(rng.uniform(2, 30) * X[:, 0]) + 0.5 * np.sin(rng.uniform(2, 40) * X[:, -1])
    y += 0.1 * rng.standard_normal(n)
    return X, (y - y.mean()) / y.std()


def _smooth(n: int, d: int) -> tuple[FloatArray, FloatArray]:
    """Return a smooth response of d inputs."""
    X = np.random.default_rng([n, d]).random((n, d))
    y = np.sin(X @ np.linspace(4.0, 0.5, d)) + X[:, 0] ** 2
    return X, (y - y.mean()) / y.std()


@contextmanager
def changed(name: str, value: Any) -> Iterator[None]:
    """Let one constant have another value."""
    old = getattr(settings, name)
    setattr(settings, name, value)
    try:
        yield
    finally:
        setattr(settings, name, old)


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
    base = problems.measure()
    print(
        f"{base.evaluations} evaluations, {base.maxima} maxima; missed: {base.missed} cells of "
        f"paths (by {base.worst:.2g} at most), {base.missed_alone} at single lambdas, "
        f"{base.missed_noisy} of noisy responses, {base.missed_more} of them from 20 starts"
    )
    heads = ["evaluations", "time", "maxima", "paths", "followed", "large"]
    heads += ["missed", "alone", "noisy", "more", "worst"]
    print(f"{'constant':<22}{'value':<22}" + "".join(f"{head:>12}" for head in heads))
    for name in names or sorted({*WITHOUT, *OTHERS}):
        for label, value in variants(name):
            with changed(name, value):
                now = problems.measure()
            ratios = [a / b for a, b in zip(now[:6], base[:6], strict=True)]
            print(f"{name:<22}{f'{label} {value}'[:21]:<22}", end="")
            print("".join(f"{ratio:12.3f}" for ratio in ratios), end="")
            print("".join(f"{count:12d}" for count in now[6:10]), f"{now.worst:11.2g}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
