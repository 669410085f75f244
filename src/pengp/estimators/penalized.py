"""scikit-learn estimators: validate, scale, delegate, expose what was learned."""

import sys
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin

from pengp._core.arrays import FloatArray, RandomState
from pengp._core.checks import as_seed, check_lams, warn
from pengp.choosing.crossval import CVTable, Task, tabulate
from pengp.choosing.folds import FoldsLike
from pengp.choosing.metrics import FOLD_METRICS, FoldMetric, MetricLike, get_metric
from pengp.choosing.plan import FoldPlan
from pengp.choosing.rules import RuleLike, get_rule
from pengp.estimators.data import lambda_values, make_plans
from pengp.estimators.display import FittedDisplayMixin
from pengp.estimators.on_path import PathMixin
from pengp.estimators.summary import SummaryMixin
from pengp.exceptions import InputError
from pengp.model.kernels import Kernel
from pengp.model.means import MeanLike
from pengp.path.penalties import AnyPenalty

__all__ = ["PenalizedGPRegressor", "PenalizedGPRegressorCV"]

#: Metrics for which the paper wants folds of two runs or more (Section 2).
_OF_COVARIANCES = ("md", "score", "scaled_score")


class _PenalizedGP(SummaryMixin, FittedDisplayMixin, PathMixin, RegressorMixin, BaseEstimator):
    """What both estimators are made of."""

    def __sklearn_tags__(self) -> Any:
        """Say that several outputs are understood."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class PenalizedGPRegressor(_PenalizedGP):
    """Gaussian-process surrogate of a deterministic simulator, by penalized likelihood.

    Maximises Q(theta) = log L(theta) - n p_lambda(theta), the penalized profile likelihood of the
    paper's Section 2, for inputs scaled to the unit cube and a response that is centred and divided
    by its standard deviation (ddof = 1). Results are in the units of X and y unless noted.

    Parameters
    ----------
    lam : float
        Weight lambda of the penalty; 0 is maximum likelihood.
    kernel : str or Kernel
        Correlation function, of the distance ("sqexp", "matern52", "matern32") or, a product, of
        the inputs one by one ("matern52_product", "matern32_product", "matern52_additive").
    penalty : {"lasso", "scad", "ridge", "none", "jointly-robust"}, Penalty or JointPenalty
        Penalty on theta.
    isotropic : bool
        Whether all inputs share one theta.
    nugget : float or "estimate"
        Fixed nugget g, or one more parameter of the likelihood.
    mean : {"zero", "constant", "linear"}, basis function or Mean
        Prior mean of the centred response: 0 as in the paper, or with coefficients that are
        estimated. A function maps inputs [n, d] in the unit cube to the columns [n, k] of a basis.
    likelihood : {"profile", "marginal"}
        Whether sigma2 and the mean's coefficients are maximised over or integrated out, while theta
        is estimated; predictions are those at the estimate in either case.
    theta_bounds : (float, float)
        Range of every theta.
    input_bounds : array, shape [d, 2], optional
        Lower and upper end of each input, the design region; by default the range of the runs.
    input_transforms : transform, or mapping from names or numbers of columns to transforms
        Scales on which inputs enter: "log", "log10", "sqrt", "logit", a `Transform` such as
        ``Logit(0, 100)`` or ``BoxCox(0.5)``, or a scikit-learn transformer; one for all, or by
        input.
    response_transform : transform, or sequence of q transforms
        Scale on which the response is modelled: as for inputs, also "boxcox" and "yeojohnson",
        whose power maximises Q at `lam` with the Jacobian counted. Results are in the units of y.
    integer_inputs : sequence of names or numbers of columns, optional
        Inputs that are whole numbers: rounded before the correlation, so that the surrogate is
        constant in between.
    factors : sequence of names or numbers of columns, or mapping from them to levels, optional
        Inputs whose values have no order. Any two levels are equally correlated, exp(-theta) for
        the squared exponential, by the one theta of the input. Columns of a frame that hold
        categories or texts are factors without being named. A mapping names the levels, also those
        that no run has; where they are texts, numbers in X are their places, from 0.
    n_starts : int or array, shape [S, d] (isotropic: [S, 1])
        Number of starts that are chosen, or thetas to start from; see `penalized_path`.
    random_state : int, Generator, RandomState or None
        Seed of the random starts; an integer gives the same model each time, None another one.

    Attributes
    ----------
    theta_ : [d] or [q, d]
        Estimates, for inputs in the unit cube; as for all attributes, q outputs y [n, q] lead.
    lengthscale_ : [d] or [q, d]
        Distance in the input's unit at which theta_p dx_p^2 = 1; inf for an ignored input. Of a
        transformed input it is a distance on the transformed scale.
    sigma2_ : float or [q]
        Scale of the covariance, of the standardised response.
    nugget_ : float or [q]
        The fixed or estimated nugget.
    mean_ : float or [q]
        Prior mean, averaged over the runs; of the transformed response if there is a transform.
    trend_ : [k] or [q, k]
        Coefficients of the mean's basis functions f, in the units of y: the prior mean at an input
        that is u in the unit cube is the average response in ``fit``, after its transform, plus
        f(u)' trend_.
    input_transforms_ : list of d Transform
        The transforms of the inputs.
    response_transform_ : Transform, or list of q
        The transform of the response, its power estimated.
    lam_ : float or [q]
        The lambda of these estimates.
    path_ : PathFit
        Estimates from all runs at every lambda, on the scaled inputs and response.
    modes_ : Modes
        All local maxima found at lam_.
    flat_ : Flat
        Where the likelihood is flat along the ray through theta_; computed when asked for.
    loo_ : LeaveOneOut
        Leave-one-out predictions at theta_.
    condition_ : float or [q]
        Estimated condition number of the correlation matrix; above 1e12 ``fit`` warns.
    X_train_ : [n, d]
        Inputs of the runs that the surrogate knows.
    y_train_ : [n] or [n, q]
        Their responses.
    n_features_in_ : int
        Number of inputs d.
    feature_names_in_ : [d]
        Names of the inputs, for frames.
    """

    def __init__(
        self,
        lam: float = 0.0,
        *,
        kernel: str | Kernel = "sqexp",
        penalty: str | AnyPenalty = "lasso",
        isotropic: bool = False,
        nugget: float | str = 1e-5,
        mean: MeanLike = "zero",
        likelihood: str = "profile",
        theta_bounds: tuple[float, float] = (1e-3, 1e3),
        input_bounds: ArrayLike | None = None,
        input_transforms: Any = None,
        response_transform: Any = None,
        integer_inputs: Sequence[Any] | None = None,
        factors: Any = None,
        n_starts: int | ArrayLike = 10,
        random_state: RandomState = None,
    ) -> None:
        self.lam = lam
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

    def fit(self, X: Any, y: Any) -> Self:
        """Estimate theta and condition on the runs.

        Parameters
        ----------
        X : array or frame, shape [n, d]
            Inputs of the runs in any units, n >= 2.
        y : array, shape [n] or [n, q]
            Responses in any units; several outputs are fitted independently, in one batch.
        """
        X_raw, y_raw = self._runs(X, y)
        model, lams, seed = self._model(), check_lams(self.lam), as_seed(self.random_state)
        if np.ndim(self.lam) != 0:
            raise InputError("lam must be one number; PenalizedGPRegressorCV takes several, lams.")
        data = self._prepared(X_raw, y_raw, model, float(lams[0]), seed)
        path = self._path(data, model, lams, seed)
        self._keep(data, path, np.zeros(path.objective.shape[:-1], dtype=np.int64))
        self._warn_untrusted()
        self._warn_of_doubts()
        return self


class PenalizedGPRegressorCV(_PenalizedGP):
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
    """

    def __init__(
        self,
        *,
        lams: str | ArrayLike = "paper",
        cv: FoldsLike = None,
        metric: MetricLike | None = None,
        rule: RuleLike | None = None,
        kernel: str | Kernel = "sqexp",
        penalty: str | AnyPenalty = "lasso",
        isotropic: bool = False,
        nugget: float | str = 1e-5,
        mean: MeanLike = "zero",
        likelihood: str = "profile",
        theta_bounds: tuple[float, float] = (1e-3, 1e3),
        input_bounds: ArrayLike | None = None,
        input_transforms: Any = None,
        response_transform: Any = None,
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

    def fit(self, X: Any, y: Any) -> Self:
        """Choose lambda by cross-validation and fit all runs at it.

        Parameters
        ----------
        X : array or frame, shape [n, d]
            Inputs of the runs in any units, n >= 2.
        y : array, shape [n] or [n, q]
            Responses in any units; each output gets its own lambda.
        """
        X_raw, y_raw = self._runs(X, y)
        model, seed = self._model(), as_seed(self.random_state)
        metric, rule = get_metric(self.metric_), get_rule(self.rule_)
        data = self._prepared(X_raw, y_raw, model, 0.0, seed)
        self.lams_ = lambda_values(self.lams, data, model)
        plans = make_plans(self.cv, data, seed)
        _hint_at_single_runs(metric, plans)
        others = [m for m in FOLD_METRICS.values() if m.name != metric.name]
        starts = self._starts(data, model)
        tables = []
        for output, plan in zip(data.y, plans, strict=True):
            task = Task(data.X, output, self.lams_, model, starts, seed, [metric, *others])
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
        default = "pe" if self.nugget == "estimate" else "dpe"
        return default if self.metric is None else self.metric

    @property
    def rule_(self) -> RuleLike:
        """What chooses lambda: the parameter, or what stands for None."""
        default = "min" if self.nugget == "estimate" else "1se"
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
    if metric.name in _OF_COVARIANCES and single:
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
