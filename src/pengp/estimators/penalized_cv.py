"""The penalized estimator whose lambda is chosen by cross-validation."""

import sys
from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from pengp._core.arrays import FloatArray, RandomState
from pengp._core.checks import as_seed, warn
from pengp._core.progress import part
from pengp.choosing.crossval import CVTable, tabulate
from pengp.choosing.folds import FoldsLike
from pengp.choosing.metrics import FOLD_METRICS, FoldMetric, MetricLike, get_metric
from pengp.choosing.plan import FoldPlan
from pengp.choosing.rules import RuleLike, get_rule
from pengp.choosing.splits import Task
from pengp.estimators.data import lambda_values, make_plans
from pengp.estimators.penalized import PenalizedBase
from pengp.estimators.scales import InputTransforms, ResponseTransform
from pengp.model.kernels import Kernel, KernelName
from pengp.model.means import MeanLike
from pengp.path.penalties import AnyPenalty, PenaltyName

__all__ = ["PenalizedGPRegressorCV"]


class PenalizedGPRegressorCV(PenalizedBase):
    """`PenalizedGPRegressor` with lambda chosen by cross-validation.

    The runs are scaled and standardised once, dealt into folds once, and theta is estimated for
    every fold and lambda; `rule` chooses lam_ from the table of `metric`, and the surrogate is
    fitted to all runs at lam_. The seed serves the folds, the folds' fits and the final fit.

    Parameters
    ----------
    lams : {"paper", "kkt"} or array, shape [L]
        Values of lambda to try: 0 and 40 values up to exp(2); the same up to the KKT bound of the
        paper's Appendix A (of all outputs the largest); or your own, in any order.
    cv : int, str, FoldPlan, array, splitter or iterable of pairs, optional
        Folds, as `pengp.choosing.make_folds` takes them, dealt once. By default 5 random folds,
        dealt ten times for up to 30 runs and three times for more, as `pengp fit` deals them. With
        fewer than 5 runs the default becomes leave-one-out, with fewer than 3 the smallest lambda
        is taken; both with a warning.
    metric : str, FoldMetric or callable, optional
        What a fold is judged by: "dpe", "pe", "md", "score", "root_dpe", "scaled_score", or your
        own function of residuals [v], scaled covariance [v, v] and sigma2. By default "dpe", with
        an estimated nugget "pe", as the others cannot tell a signal from noise.
    rule : {"min", "1se"}, Rule or callable, optional
        The best lambda, the largest one within a standard error of it, or your own function of
        lams [L] and values [L, K], lower is better, that returns an index. By default "1se", with
        an estimated nugget "min".
    kernel, penalty, isotropic, nugget, mean, likelihood, theta_bounds
        As in `PenalizedGPRegressor`.
    input_bounds, input_transforms, response_transform, integer_inputs, factors
        As in `PenalizedGPRegressor`.
    n_starts, random_state
        As in `PenalizedGPRegressor`; a power is estimated at lambda 0, before lambda is chosen.
    n_jobs : int, optional
        Processes or threads for the folds; the result does not depend on it.
    verbose : int
        Above 0, the choice for each output is written to standard output.

    Attributes
    ----------
    lam_min_, lam_1se_ : float or [q]
        What the rules "min" and "1se" choose; lam_ is what `rule` chooses.
    metric_, rule_ : str, or what was given
        What folds were judged by and what chose lambda.
    lams_ : [L]
        The values of lambda tried.
    cv_table_ : CVTable or None, or list of q
        Every metric, lambda and fold; None where nothing could be cross-validated.
    theta_, lengthscale_, sigma2_, nugget_, mean_, trend_, lam_, path_, modes_, flat_, loo_, ...
        As in `PenalizedGPRegressor`.

    Examples
    --------
    >>> from pengp import PenalizedGPRegressorCV, load_piston_slap
    >>> runs = load_piston_slap()
    >>> model = PenalizedGPRegressorCV(cv=4, random_state=0).fit(runs.X, runs.y)
    >>> round(model.lam_min_, 4), round(model.lam_1se_, 4)
    (0.0, 0.0046)
    >>> model.cv_table_.to_frame().shape  # every metric, lambda and fold
    (984, 5)
    >>> model.at_lambda(0.0).theta_.round(1)  # the same runs at another lambda of the grid
    array([4.1, 0. , 0.6, 0. , 0. , 2.8])
    """

    def __init__(
        self,
        *,
        lams: str | ArrayLike = "paper",
        cv: FoldsLike = None,
        metric: MetricLike | None = None,
        rule: RuleLike | None = None,
        kernel: KernelName | Kernel = "sqexp",
        penalty: PenaltyName | AnyPenalty = "lasso",
        isotropic: bool = False,
        nugget: float | Literal["estimate"] = 1e-5,
        mean: MeanLike = "zero",
        likelihood: Literal["profile", "marginal"] = "profile",
        theta_bounds: tuple[float, float] = (1e-3, 1e3),
        input_bounds: ArrayLike | None = None,
        input_transforms: InputTransforms = None,
        response_transform: ResponseTransform = None,
        integer_inputs: Sequence[Any] | None = None,
        factors: Any = None,
        n_starts: int | ArrayLike = 10,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.lams = lams
        self.cv = cv
        self.metric = metric
        self.rule = rule
        self.kernel = kernel
        self.penalty = penalty
        self.isotropic = isotropic
        self.nugget = nugget
        self.mean = mean
        self.likelihood = likelihood
        self.theta_bounds = theta_bounds
        self.input_bounds = input_bounds
        self.input_transforms = input_transforms
        self.response_transform = response_transform
        self.integer_inputs = integer_inputs
        self.factors = factors
        self.n_starts = n_starts
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, noise_sd: Any = None) -> Self:
        """Choose lambda by cross-validation and fit all runs at it.

        Parameters
        ----------
        X : array or frame, shape [n, d]
            Inputs of the runs in any units, n >= 2.
        y : array, shape [n] or [n, q]
            Responses in any units; each output gets its own lambda.
        noise_sd : float, array of shape [n] or [n, q], optional
            Known standard deviations of the responses' noise, as in `PenalizedGPRegressor.fit`.
        """
        runs = self._runs(X, y, noise_sd)
        model, seed = self._model(), as_seed(self.random_state)
        metric, rule = get_metric(self.metric_), get_rule(self.rule_)
        data = self._prepared(runs, model, 0.0, seed)
        self.lams_ = lambda_values(self.lams, data, model)
        plans = make_plans(self.cv, data, seed)
        _hint_at_single_runs(metric, plans)
        others = [m for m in FOLD_METRICS.values() if m.name != metric.name]
        starts = self._starts(data, model)
        tables = []
        noise: Any = [None] * len(data.y) if data.noise is None else data.noise
        for k, (output, plan, v) in enumerate(zip(data.y, plans, noise, strict=True)):
            task = Task(data.X, output, self.lams_, model, starts, seed, [metric, *others], v)
            with part(k, len(plans), "response"):
                tables.append(None if plan is None else tabulate(task, plan, self.n_jobs))
        path = self._path(data, model, self.lams_, seed)
        chosen = np.array([_choice(table, self.lams_, rule) for table in tables])
        self._keep(data, path, chosen.reshape(path.objective.shape[:-1]))
        self._keep_tables(self.lams_, tables)
        self._warn_untrusted()
        self._tell(tables)
        self._warn_of_doubts()
        return self

    @property
    def metric_(self) -> MetricLike:
        """What folds are judged by: the parameter, or what stands for None."""
        default: MetricLike = "pe" if self.nugget == "estimate" else "dpe"
        return default if self.metric is None else self.metric

    @property
    def rule_(self) -> RuleLike:
        """What chooses lambda: the parameter, or what stands for None."""
        default: RuleLike = "min" if self.nugget == "estimate" else "1se"
        return default if self.rule is None else self.rule

    def _keep_tables(self, lams: FloatArray, tables: list[CVTable | None]) -> None:
        """Set what was learned by cross-validation at lams [L], from runs or from a file."""
        best, one_se = (
            np.array([lams[_choice(table, lams, rule)] for table in tables])
            for rule in ("min", "1se")
        )
        self.lams_ = lams
        self.lam_min_, self.lam_1se_ = self._per_output(best), self._per_output(one_se)
        self.cv_table_: Any = tables[0] if self._one_output else tables

    def _tell(self, tables: list[CVTable | None]) -> None:
        """Write the choice for each output, if that is wanted."""
        for k, table in enumerate(tables if self.verbose > 0 else []):
            lam, folds = np.atleast_1d(self.lam_)[k], "no" if table is None else len(table.plan)
            sys.stdout.write(f"[pengp] output {k}: lambda = {lam:.4g}, from {folds} folds\n")


def _hint_at_single_runs(metric: FoldMetric, plans: list[FoldPlan | None]) -> None:
    """Warn where a metric of predicted covariances is asked of folds that have none."""
    single = any(plan is not None and max(map(len, plan.test)) == 1 for plan in plans)
    if metric.of_covariances and single:
        warn(
            f"metric={metric.name!r} judges variances and covariances together, and folds of one "
            "run have no covariances; make cv folds of at least two runs."
        )


def _choice(table: CVTable | None, lams: FloatArray, rule: RuleLike) -> int:
    """Return the index of the lambda that the rule chooses by the table's first metric.

    Without a table it is that of the smallest one.
    """
    lam = lams.min() if table is None else table.select(next(iter(table.values)), rule)
    return int(np.flatnonzero(lams == lam)[0])
