"""Splits fitted and judged together: the metrics of all folds and lambdas, in groups."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import joblib
import numpy as np
from numpy.typing import NDArray

from pengp._core.arrays import FloatArray, IntArray
from pengp._core.checks import check_jobs
from pengp._core.datasets import DataSets
from pengp._core.linalg import ONE_THREAD
from pengp._core.progress import tell
from pengp.choosing.metrics import FoldMetric, fold_metrics
from pengp.model.folded import batch_predict
from pengp.path.fitting import Model
from pengp.path.penalized import PathFit, fit_path

#: Numbers that the predictions of a group of folds may occupy at a time.
_GROUP_ELEMENTS = 1 << 22
#: Elements of correlation matrices from which cells gain nothing by more company.
_ROUND_ELEMENTS = 1 << 18
#: What the table takes over from a PathFit.
ESTIMATES = ("theta", "nugget", "sigma2", "mean", "converged")

_Split: TypeAlias = tuple[IntArray, IntArray]
#: Metric values [L, K, M] and each estimate [L, K, ...].
_Tables: TypeAlias = dict[str, NDArray[Any]]


class Task(NamedTuple):
    """What is cross-validated: all that a worker needs besides its splits."""

    X: FloatArray  # [n, d]
    y: FloatArray  # [n]
    lams: FloatArray  # [L]
    model: Model
    n_starts: int | FloatArray
    seed: int
    metrics: list[FoldMetric]
    noise: FloatArray | None = None  # [n], known variances of y


def run_splits(task: Task, splits: list[_Split], n_jobs: int | None) -> _Tables:
    """Return the tables of all splits, worked on in as many groups as there are jobs."""
    jobs = min(joblib.effective_n_jobs(check_jobs(n_jobs)), len(splits))
    if jobs == 1:
        parts = list(_one_by_one(task, splits))
    else:
        cuts = np.linspace(0, len(splits), jobs + 1).astype(int)
        with ONE_THREAD:  # where workers are threads, this is theirs, too
            parts = joblib.Parallel(n_jobs=n_jobs)(
                joblib.delayed(_judge)(task, splits[a:b]) for a, b in pairwise(cuts)
            )
    return {name: np.concatenate([p[name] for p in parts], axis=1) for name in parts[0]}


def _one_by_one(task: Task, splits: list[_Split]) -> Iterator[_Tables]:
    """Yield the tables of groups of splits that are large enough to lose nothing by it."""
    cells, L = len(splits) * len(task.lams), len(task.lams)
    step = max(1, _ROUND_ELEMENTS // (L * len(splits[0][0]) ** 2))
    for start in range(0, len(splits), step):
        tell("Cross-validating", "cells", start * L, cells)
        yield _judge(task, splits[start : start + step])


def _judge(task: Task, splits: list[_Split]) -> _Tables:
    """Fit and judge some splits.

    Every group starts from the same seed, and BLAS has one thread, since their number changes the
    last bits: a split's results depend neither on its company nor on where it is worked on.
    """
    X, y = ([a[train] for train, _ in splits] for a in (task.X, task.y))
    with ONE_THREAD:
        rng = np.random.default_rng(task.seed)
        noise = None if task.noise is None else [task.noise[train] for train, _ in splits]
        data = DataSets(X, y, (len(splits),), noise)
        fit = fit_path(data, task.lams, task.model, task.n_starts, rng)
        values = np.empty((len(task.lams), len(splits), len(task.metrics)))
        for members in _alike(splits, len(task.lams), task.X.shape[1]):
            values[:, members] = _group_values(task, splits, fit, members).swapaxes(0, 1)
    return {"values": values} | {e: getattr(fit, e).swapaxes(0, 1) for e in ESTIMATES}


def _alike(splits: list[_Split], L: int, d: int) -> Iterator[IntArray]:
    """Yield indices of splits of equal sizes, few enough at a time to fit in memory."""
    sizes = np.array([(len(train), len(test)) for train, test in splits])
    for n, v in np.unique(sizes, axis=0):
        members = np.flatnonzero((sizes == (n, v)).all(axis=1))
        step = max(1, _GROUP_ELEMENTS // int(L * (n * d + v * v)))
        yield from (members[start : start + step] for start in range(0, len(members), step))


def _group_values(task: Task, splits: list[_Split], fit: PathFit, members: IntArray) -> FloatArray:
    """Return the values [G, L, M] of the M metrics for G splits of equal sizes."""
    train, test = (np.stack([splits[k][side] for k in members]) for side in (0, 1))
    shape = (len(members), len(task.lams))
    item = np.repeat(np.arange(shape[0]), shape[1])  # items run over split, then lambda
    sigma2, noise = fit.sigma2[members].ravel(), None
    if task.noise is not None:  # a fold that follows its mean has no spread and no use for it
        each = task.noise[np.concatenate([train, test], axis=1)][item]
        noise = each / np.where(sigma2 > 0.0, sigma2, np.inf)[:, None]
    prediction = batch_predict(
        task.X[train][item],
        task.y[train][item],
        task.X[test][item],
        fit.theta[members].reshape(len(item), -1),
        kernel=task.model.kernel,
        nugget=fit.nugget[members].ravel(),
        mean=task.model.mean,
        noise=noise,
    )
    residual = task.y[test][item] - prediction.mean
    found = fold_metrics(residual, prediction.scaled_cov, sigma2, task.metrics)
    return np.stack(list(found.values()), axis=-1).reshape(*shape, -1)
