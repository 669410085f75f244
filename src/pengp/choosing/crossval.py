"""Cross-validation of the whole path: every metric, lambda and fold from one fit of all folds."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from pengp._core.arrays import BoolArray, FloatArray, RandomState
from pengp._core.checks import as_seed, check_lams, check_starts
from pengp._core.datasets import as_datasets, check_datasets
from pengp._core.shown import Shown
from pengp.choosing.folds import FoldPlan, FoldsLike, make_folds
from pengp.choosing.metrics import MetricLike, listed_metrics
from pengp.choosing.rules import (
    RULES,
    RuleLike,
    best_index,
    get_rule,
    mean_and_se,
    one_se_index,
    select_index,
)
from pengp.choosing.splits import ESTIMATES, Task, run_splits
from pengp.exceptions import InputError
from pengp.model.kernels import Kernel, KernelName
from pengp.model.means import Mean, MeanLike
from pengp.model.trend import check_trend, follows, too_few_runs, warn_of_trend
from pengp.path.fitting import checked_model
from pengp.path.penalties import AnyPenalty, PenaltyName

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CVTable", "cross_validate_path"]


@dataclass(frozen=True, eq=False, repr=False)
class CVTable(Shown):
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

    Examples
    --------
    >>> import numpy as np
    >>> from pengp import cross_validate_path, get_function
    >>> X = np.linspace(0, 1, 8)[:, None]
    >>> y = get_function("forrester")(X)
    >>> table = cross_validate_path(X, y - y.mean(), [0.0, 0.001, 0.01], folds=4, random_state=0)
    >>> table
    CVTable(3 lambdas, 4 splits, metrics pe, md, score, dpe, root_dpe, scaled_score)
    >>> table.best("dpe"), table.one_se("dpe")
    (0.0, 0.001)
    >>> table.to_frame().shape  # one row for each lambda, fold and metric
    (72, 5)
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

    def _in_short(self) -> str:
        L, K = self.theta.shape[:2]
        return f"{L} lambdas, {K} splits, metrics {', '.join(self.values)}"

    def _rows(self) -> list[dict[str, Any]]:
        """Return what each metric chooses."""
        choices = ((m, self.best(m), self.one_se(m)) for m in self.values)
        return [{"metric": m, "best lambda": a, "by 1 SE": b} for m, a, b in choices]

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
        estimates = {name: getattr(self, name)[:, mine] for name in ESTIMATES}
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


def cross_validate_path(
    X: ArrayLike,
    y: ArrayLike,
    lams: ArrayLike,
    *,
    folds: FoldsLike,
    kernel: KernelName | Kernel = "sqexp",
    penalty: PenaltyName | AnyPenalty = "lasso",
    isotropic: bool = False,
    nugget: float | Literal["estimate"] = 1e-5,
    mean: MeanLike = "zero",
    likelihood: Literal["profile", "marginal"] = "profile",
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

    Examples
    --------
    >>> import numpy as np
    >>> from pengp import cross_validate_path, get_function, lambda_grid
    >>> X = np.linspace(0, 1, 8)[:, None]
    >>> y = get_function("forrester")(X)
    >>> lams = lambda_grid("paper")
    >>> table = cross_validate_path(X, y - y.mean(), lams, folds="loo", random_state=0)
    >>> round(table.best("dpe"), 4), round(table.one_se("dpe"), 4)
    (0.0, 0.0231)
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
    shift = _offset(model.mean, data.X[0], data.y[0])
    task = Task(data.X[0], data.y[0] - shift, values, model, starts, seed, listed_metrics(metrics))
    table = tabulate(task, plan, n_jobs)
    return replace(table, mean=table.mean + shift) if shift else table


def _offset(mean: Mean, X: FloatArray, y: FloatArray) -> float:
    """Return what to take off responses y [n] that are all far from 0, else 0.

    It is immaterial to a mean that has a level, but not its rounding error: residuals are
    differences of responses and predictions of that size, which the metrics enlarge.
    """
    middle = float(y.mean())
    far = abs(middle) > np.ptp(y) and mean.variance is None
    return middle if far and follows(mean, X[None], np.ones((1, len(y))))[0] else 0.0


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
    tables = run_splits(task, list(plan), n_jobs)
    by_metric = zip(better, np.moveaxis(tables.pop("values"), -1, 0).copy(), strict=True)
    return CVTable(task.lams, plan, dict(by_metric), greater_is_better=better, **tables)
