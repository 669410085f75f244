"""Cross-validation of the whole path: every metric, lambda and fold from one fit of all folds."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray

from pengp._core.arrays import BoolArray, FloatArray, IntArray, RandomState
from pengp._core.checks import as_seed, check_lams, check_starts
from pengp._core.datasets import DataSets, as_datasets, check_datasets
from pengp._core.linalg import ONE_THREAD
from pengp.choosing.folds import FoldPlan, FoldsLike, make_folds
from pengp.choosing.metrics import FOLD_METRICS, FoldMetric, MetricLike, fold_metrics, get_metric
from pengp.choosing.rules import (
    RULES,
    RuleLike,
    best_index,
    get_rule,
    mean_and_se,
    one_se_index,
    select_index,
)
from pengp.exceptions import InputError
from pengp.model.folded import batch_predict
from pengp.model.kernels import Kernel
from pengp.model.means import MeanLike
from pengp.model.trend import check_trend, follows, too_few_runs, warn_of_trend
from pengp.path.fitting import Model, checked_model
from pengp.path.penalized import PathFit, fit_path
from pengp.path.penalties import AnyPenalty

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CVTable", "cross_validate_path"]

#: Numbers that the predictions of a group of folds may occupy at a time.
_GROUP_ELEMENTS = 1 << 22
#: What the table takes over from a PathFit.
_ESTIMATES = ("theta", "nugget", "sigma2", "mean", "converged")


@dataclass(frozen=True, eq=False)
class CVTable:
    """Metric values and estimates for L lambdas and K splits, repeat by repeat.

    Attributes
    ----------
    lams : [L]
        Values of lambda, as given.
    plan : FoldPlan
        The splits; column k belongs to its k-th (train, test) pair.
    values : dict of [L, K]
        C(D_k | D_-k, lambda) by metric, Section 2 of the paper.
    theta : [L, K, d]
        Estimates from the training runs D_-k.
    nugget, sigma2, mean : [L, K]
        Nugget, scale and prior mean (averaged over the training runs) that go with them.
    converged : [L, K]
        Whether the estimate is a stationary point.
    greater_is_better : dict of bool
        Direction of each metric.
    """

    lams: FloatArray
    plan: FoldPlan
    values: dict[str, FloatArray]
    theta: FloatArray
    nugget: FloatArray
    sigma2: FloatArray
    mean: FloatArray
    converged: BoolArray
    greater_is_better: dict[str, bool]

    def __repr__(self) -> str:
        L, K = self.theta.shape[:2]
        return f"CVTable({L} lambdas, {K} splits, metrics {', '.join(self.values)})"

    def mean_of(self, metric: str) -> FloatArray:
        """Return C(lambda) [L], the mean over all splits (Section 2)."""
        return mean_and_se(self._of(metric))[0]

    def se_of(self, metric: str) -> FloatArray:
        """Return SE(lambda) [L]: the standard deviation over folds (ddof = 1) over sqrt(K).

        With several repeats, the mean of the repeats' standard errors, as in `one_se_index`.
        """
        by_repeat = self._of(metric).reshape(len(self.lams), self.plan.repeats, -1)
        return np.asarray(mean_and_se(by_repeat)[1].mean(axis=1))

    def best(self, metric: str = "dpe") -> float:
        """Return lambda*, which has the best mean over all splits."""
        values, greater = self._of(metric), self.greater_is_better[metric]
        return float(self.lams[best_index(values, self.lams, greater_is_better=greater)])

    def one_se(self, metric: str = "dpe") -> float:
        """Return the largest lambda, anywhere on the grid, within `se_of` of lambda*'s mean."""
        return self.select(metric, "1se")

    def select(self, metric: str = "dpe", rule: RuleLike = "1se") -> float:
        """Return the lambda that a rule of `pengp.choosing` chooses.

        The one-standard-error rule uses `se_of`; other rules are handed the values of all splits,
        negated where greater is better.
        """
        values, greater = self._of(metric), self.greater_is_better[metric]
        if get_rule(rule) is RULES["1se"]:
            rule = partial(one_se_index, repeats=self.plan.repeats)
        return float(self.lams[select_index(rule, self.lams, values, greater_is_better=greater)])

    def repeat(self, r: int) -> "CVTable":
        """Return the table of repeat r, counted from 0."""
        plan, K = self.plan.repeat(r), self.plan.n_folds
        mine = slice(r * K, (r + 1) * K)
        values = {name: table[:, mine] for name, table in self.values.items()}
        estimates = {name: getattr(self, name)[:, mine] for name in _ESTIMATES}
        return replace(self, plan=plan, values=values, **estimates)

    def stability(self, metric: str = "dpe", rule: RuleLike = "1se") -> FloatArray:
        """Return the lambda [repeats] that each repeat alone would choose."""
        tables = (self.repeat(r) for r in range(self.plan.repeats))
        return np.array([table.select(metric, rule) for table in tables])

    def to_frame(self) -> "pd.DataFrame":
        """Return the values as a tidy frame: lam, repeat, fold, metric, value; fold from 0."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas; install it: pip install pandas.") from error
        repeat, fold = np.divmod(np.arange(len(self.plan)), self.plan.n_folds)
        lam = np.repeat(self.lams, len(repeat))
        index = [lam, np.tile(repeat, len(self.lams)), np.tile(fold, len(self.lams))]
        cells = pd.MultiIndex.from_arrays(index, names=["lam", "repeat", "fold"])
        wide = pd.DataFrame({name: v.ravel() for name, v in self.values.items()}, index=cells)
        return wide.melt(var_name="metric", value_name="value", ignore_index=False).reset_index()

    def _of(self, metric: str) -> FloatArray:
        """Return the values [L, K] of a metric, or say which there are."""
        if metric not in self.values:
            raise InputError(f"this table has no metric {metric!r}, only {sorted(self.values)}.")
        return self.values[metric]


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


def cross_validate_path(
    X: ArrayLike,
    y: ArrayLike,
    lams: ArrayLike,
    *,
    folds: FoldsLike,
    kernel: str | Kernel = "sqexp",
    penalty: str | AnyPenalty = "lasso",
    isotropic: bool = False,
    nugget: float | str = 1e-5,
    mean: MeanLike = "zero",
    likelihood: str = "profile",
    theta_bounds: tuple[float, float] = (1e-3, 1e3),
    n_starts: int | ArrayLike = 10,
    random_state: RandomState = None,
    metrics: Iterable[MetricLike] | None = None,
    n_jobs: int | None = None,
) -> CVTable:
    """Cross-validate theta-hat(lambda): fit the training runs of all splits together, judge once.

    Parameters
    ----------
    X : [n, d]
        Inputs in the unit cube.
    y : [n]
        Responses, standardised once; the folds are not centred again.
    lams : [L]
        Penalties, each at least 0, in any order; see `lambda_grid`.
    folds : FoldPlan, int, str, labels, splitter or pairs
        Anything `make_folds` takes; what is random in it is seeded by ``random_state``.
    kernel, penalty, isotropic, nugget, mean, likelihood, theta_bounds, n_starts, random_state
        As in `penalized_path`.
    metrics : iterable of str, FoldMetric or callable, optional
        Fold metrics to compute; all of `pengp.choosing.FOLD_METRICS` by default.
    n_jobs : int, optional
        Groups of splits that joblib works on at a time; the result is the same to the bit.

    Returns
    -------
    CVTable
        Values of every metric, and the estimates behind them.
    """
    model = checked_model(
        kernel=kernel,
        penalty=penalty,
        isotropic=isotropic,
        nugget=nugget,
        mean=mean,
        likelihood=likelihood,
        theta_bounds=theta_bounds,
    )
    data, seed = as_datasets(X, y), as_seed(random_state)
    if data.shape:
        raise InputError(f"X must be [n, d] and y [n], one data set, but they hold {data.shape}.")
    check_datasets(data, nugget=model.nugget)
    check_trend(data, model.mean)
    warn_of_trend(data, model.mean, follows(model.mean, data.X[0][None], data.y[0][None]))
    starts = check_starts(n_starts, 1 if model.isotropic else data.X[0].shape[1])
    plan = make_folds(folds, data.X[0], data.y[0], random_state=seed)
    values = check_lams(lams)
    task = Task(data.X[0], data.y[0], values, model, starts, seed, _metrics(metrics))
    return tabulate(task, plan, n_jobs)


def tabulate(task: Task, plan: FoldPlan, n_jobs: int | None) -> CVTable:
    """Cross-validate data that are known to be sound; see `cross_validate_path`."""
    if short := [k for k, (train, _) in enumerate(plan) if len(train) < 2]:
        raise InputError(
            f"folds {short} (from 0) leave 1 run to fit; 2 are needed: use more folds."
        )
    for k, (train, _) in enumerate(plan):
        if words := too_few_runs(task.model.mean, task.X[train]):
            raise InputError(
                f"fold {k} (from 0) leaves {len(train)} runs to fit, but {words}: use more folds."
            )
    better = {metric.name: metric.greater_is_better for metric in task.metrics}
    tables = _run(task, list(plan), n_jobs)
    by_metric = zip(better, np.moveaxis(tables.pop("values"), -1, 0).copy(), strict=True)
    return CVTable(task.lams, plan, dict(by_metric), greater_is_better=better, **tables)


def _metrics(metrics: Iterable[MetricLike] | None) -> list[FoldMetric]:
    """Return the metrics, each under a name of its own."""
    chosen = FOLD_METRICS if metrics is None else metrics
    wanted = [get_metric(m) for m in ([chosen] if isinstance(chosen, str) else chosen)]
    names = [metric.name for metric in wanted]
    if not names or len(set(names)) < len(names):
        raise InputError(f"metrics must be one or more with different names, not {names}.")
    return wanted


def _run(task: Task, splits: list[_Split], n_jobs: int | None) -> _Tables:
    """Return the tables of all splits, worked on in as many groups as there are jobs."""
    jobs = min(joblib.effective_n_jobs(n_jobs), len(splits))
    if jobs == 1:
        return _judge(task, splits)
    cuts = np.linspace(0, len(splits), jobs + 1).astype(int)
    with ONE_THREAD:  # where workers are threads, this is theirs, too
        parts = joblib.Parallel(n_jobs=n_jobs)(
            joblib.delayed(_judge)(task, splits[a:b]) for a, b in pairwise(cuts)
        )
    return {name: np.concatenate([p[name] for p in parts], axis=1) for name in parts[0]}


def _judge(task: Task, splits: list[_Split]) -> _Tables:
    """Fit and judge some splits.

    Every group starts from the same seed, and BLAS has one thread, since their number changes the
    last bits: a split's results depend neither on its company nor on where it is worked on.
    """
    X, y = ([a[train] for train, _ in splits] for a in (task.X, task.y))
    with ONE_THREAD:
        rng = np.random.default_rng(task.seed)
        data = DataSets(X, y, (len(splits),))
        fit = fit_path(data, task.lams, task.model, task.n_starts, rng)
        values = np.empty((len(task.lams), len(splits), len(task.metrics)))
        for members in _alike(splits, len(task.lams), task.X.shape[1]):
            values[:, members] = _group_values(task, splits, fit, members).swapaxes(0, 1)
    return {"values": values} | {e: getattr(fit, e).swapaxes(0, 1) for e in _ESTIMATES}


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
    prediction = batch_predict(
        task.X[train][item],
        task.y[train][item],
        task.X[test][item],
        fit.theta[members].reshape(len(item), -1),
        kernel=task.model.kernel,
        nugget=fit.nugget[members].ravel(),
        mean=task.model.mean,
    )
    residual = task.y[test][item] - prediction.mean
    sigma2 = fit.sigma2[members].ravel()
    found = fold_metrics(residual, prediction.scaled_cov, sigma2, task.metrics)
    return np.stack(list(found.values()), axis=-1).reshape(*shape, -1)
