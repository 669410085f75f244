"""(a) A whole cross-validated path against one plain fit; (b) one multi-start fit against C++."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.rivals import libkriging, scikit_learn
from benchmarks.timing import line, race, verdict
from pengp import PathFit, lambda_grid, penalized_path
from pengp._core.arrays import FloatArray
from pengp.choosing.folds import random_folds
from pengp.datasets import load_piston_slap
from pengp.datasets.functions import FUNCTIONS


def piston_slap() -> tuple[FloatArray, FloatArray]:
    """Return the 12 runs, inputs in the unit cube and response standardised."""
    runs = load_piston_slap()
    X, y = runs.X, runs.y
    return (X - X.min(0)) / (X.max(0) - X.min(0)), (y - y.mean()) / y.std(ddof=1)


def path_runs() -> tuple[FloatArray, FloatArray]:
    """Return the 12 runs without each of four folds: inputs [4, 9, 6] and responses [4, 9]."""
    X, y = piston_slap()
    trains = [train for train, _ in random_folds(len(y), 4, random_state=0).split()]
    return np.stack([X[t] for t in trains]), np.stack([y[t] for t in trains])


def single_runs() -> dict[str, tuple[FloatArray, FloatArray]]:
    """Return the runs of single fits, by what they are."""
    X, y = piston_slap()
    cases = {"piston slap, n = 12, d = 6": (X, y)}
    for name, n in (("lim", 20), ("borehole", 40)):
        f = FUNCTIONS[name]
        U = np.random.default_rng(0).random((n, f.dimension))
        values = f.unit(U)
        cases[f"{name}, n = {n}, d = {f.dimension}"] = (U, (values - values.mean()) / values.std())
    return cases


def whole_path(repeats: int = 25) -> None:
    """Compare 4 folds x 41 lambdas with all modes to one 10-start fit of the 12 runs."""
    X, y = piston_slap()
    Xs, ys = path_runs()
    lams = lambda_grid("paper")
    fit = penalized_path(Xs, ys, lams, random_state=0)
    seconds = race(
        {
            "pengp": lambda k: penalized_path(Xs, ys, lams, random_state=k),
            "scikit-learn": lambda k: scikit_learn(X, y, 10, k),
        },
        repeats,
    )
    print("(a) piston slap: 4 folds x 41 lambdas, all modes, against one 10-start fit")
    each = 1e6 * seconds["pengp"] / fit.n_evaluations
    modes = int(fit.modes.count.sum())
    note = f"{fit.n_evaluations} evaluations, {each:.1f} us each; {modes} modes in 164 cells"
    line("pengp, the whole path", seconds["pengp"], note)
    line("scikit-learn, one fit with 10 starts", seconds["scikit-learn"])
    ratio = seconds["pengp"] / seconds["scikit-learn"]
    verdict("path / one fit", ratio, "at most 1.0, aim 0.4", ratio <= 1.0)


def one_fit(repeats: int = 101) -> None:
    """Compare one maximum likelihood fit from 10 starts to pylibkriging's."""
    print("(b) one maximum likelihood fit from 10 starts")
    for label, (U, z) in single_runs().items():
        if libkriging(U, z, 1) is None:
            print("  pylibkriging is not installed (extra `bench`)")
            return
        _compare_one_fit(label, U, z, repeats)


def _compare_one_fit(label: str, U: FloatArray, z: FloatArray, repeats: int) -> None:
    """Print one comparison: each package chooses its 10 starts in its own way."""

    def fit(seed: int) -> PathFit:
        return penalized_path(U, z, [0.0], mean="constant", n_starts=10, random_state=seed)

    runners: dict[str, Callable[[int], Any]] = {
        "pengp": fit,
        "pylibkriging": lambda k: libkriging(U, z, 10),
    }
    seconds = race(runners, repeats)
    note = f"{fit(0).n_evaluations} evaluations, {int(fit(0).modes.count[0])} modes"
    line(f"pengp, {label}", seconds["pengp"], note)
    line(f"pylibkriging, {label}", seconds["pylibkriging"])
    ratio = seconds["pengp"] / seconds["pylibkriging"]
    verdict(label, ratio, "at most 1.0", ratio <= 1.0)
