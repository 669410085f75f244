"""The study of decisions: whether intervals of Sobol indices contain the true indices."""

import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd

from pengp._core.arrays import FloatArray
from pengp._core.sobol import sobol_points
from pengp.datasets import get_function, latin_hypercube, scale_design
from pengp.datasets.functions import TestFunction
from pengp.decisions.indices import Effects, effects
from pengp.estimators import BayesianGPRegressor
from pengp.exceptions import PengpWarning
from pengp.study.definitions import EFFECT_PARTS
from pengp.study.report_rows import MissingRowsError, Rows
from pengp.study.rows import timed
from pengp.study.task import Row, Task

#: Parts and their functions.
EFFECTS = {part: part.removeprefix("effects-") for part in EFFECT_PARTS}
#: Runs of a design, in turns.
_RUNS = (15, 25, 40)
#: Points by which the true indices are found, and the error that they then have.
_POINTS, _ERROR = 1 << 14, 0.002


def true_indices(function: TestFunction) -> tuple[FloatArray, FloatArray]:
    """Return first-order and total Sobol indices [d] of a function, to about 0.002.

    From the function itself on a Sobol sequence (Saltelli et al. 2010, Jansen 1999).
    """
    d = function.dimension
    points = sobol_points(_POINTS, 2 * d) + 0.5 / _POINTS
    A, B = points[:, :d], points[:, d:]
    at_a, at_b = function.unit(A), function.unit(B)
    variance = np.var(np.concatenate([at_a, at_b]))
    first, total = np.empty(d), np.empty(d)
    for p in range(d):
        mixed = A.copy()
        mixed[:, p] = B[:, p]
        y = function.unit(mixed)
        first[p] = np.mean((at_b - at_b.mean()) * (y - at_a)) / variance
        total[p] = 0.5 * np.mean((at_a - y) ** 2) / variance
    return np.maximum(first, 0.0), total


def effect_intervals(task: Task) -> list[Row]:
    """Return indices, their intervals and whether these contain the truth, of one design."""
    function = get_function(EFFECTS[task.function])
    n = _RUNS[task.repetition % len(_RUNS)]
    rng = np.random.default_rng(task.seed)
    design = latin_hypercube(n, function.dimension, random_state=rng)
    X = scale_design(design, function.bounds)
    seed = int(rng.integers(2**31))
    model = BayesianGPRegressor(input_bounds=function.bounds, random_state=seed)
    with warnings.catch_warnings():  # the intervals are judged as they are
        warnings.simplefilter("ignore", PengpWarning)
        model.fit(X, function(X))
    found, seconds = timed(effects, model)
    return _rows(found, true_indices(function), seconds)


def _rows(found: Effects, truth: tuple[FloatArray, FloatArray], seconds: float) -> list[Row]:
    """Return the rows of one design, ``x`` the input counted from 1."""
    rows = []
    for kind, index in zip(("first", "total"), truth, strict=True):
        mean, lower, upper = getattr(found, kind)
        covered = (lower - _ERROR <= index) & (index <= upper + _ERROR)
        values = {"truth": index, "mean": mean, "width": upper - lower, "covered": covered}
        rows += [
            Row(kind, None, metric, float(p + 1), float(value), seconds)
            for metric, each in values.items()
            for p, value in enumerate(each)
        ]
    return rows


#: What runs each part.
PARTS: dict[str, Callable[[Task], list[Row]]] = dict.fromkeys(EFFECTS, effect_intervals)


def effect_coverage(rows: Rows) -> pd.DataFrame:
    """Return how often the 90 % intervals contain the true index, function by function."""
    lines: list[dict[str, object]] = []
    for part, name in EFFECTS.items():
        if not rows.has(f"decisions/{part}"):
            continue
        line: dict[str, object] = {"function": name}
        for kind in ("first", "total"):
            for metric in ("covered", "width"):
                each = rows.by_repetition(f"decisions/{part}", kind, metric)
                line[f"{kind} {metric}"] = float(each.mean())
        lines.append(line)
    if not lines:
        raise MissingRowsError("no rows of decisions")
    table = pd.DataFrame(lines)
    whole = {"function": "all", **table.drop(columns="function").mean().to_dict()}
    return pd.concat([table, pd.DataFrame([whole])], ignore_index=True)
