"""The methods that are compared, each from runs to a forecast of test runs."""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.bayes.average import Settings, average, members_of
from pengp.bayes.law import MixtureLaw
from pengp.bayes.priors import HierarchicalLasso, Prior, get_prior
from pengp.choosing import cross_validate_path, random_folds
from pengp.model.kernels import KernelName
from pengp.model.posterior import condition
from pengp.path.penalized import PathFit, penalized_path
from pengp.study.methods import rivals
from pengp.study.methods.forecasts import Forecast, mixture, normal, normal_mixture
from pengp.study.methods.problems import Problem
from pengp.study.rows import LAMS

#: Folds of the methods that choose lambda.
_FOLDS = 5
#: Weight, relative to the largest, from which on a point of a path is part of the average.
_LEAST_WEIGHT = 1e-4
#: Least nugget that is not rounding error: other packages have none at all.
_NO_NUGGET = 1e-8

#: From a problem to a forecast of its test runs.
Method = Callable[[Problem], Forecast]


def _at(problem: Problem, path: PathFit, index: int) -> tuple[FloatArray, FloatArray]:
    """Return mean and std [m] of the test runs at the estimate of one lambda."""
    model = path._model
    posterior = condition(
        problem.runs.X,
        problem.runs.y,
        path.theta[index],
        kernel=model.kernel,
        nugget=float(path.nugget[index]),
        mean=model.mean,
    )
    mean, variance = posterior.predict(problem.X_test)
    return mean, np.sqrt(posterior.sigma2 * variance)


def maximum_likelihood(
    problem: Problem, *, kernel: KernelName = "sqexp", nugget: float | Literal["estimate"] = 1e-5
) -> Forecast:
    """Forecast at the maximum likelihood estimate."""
    runs = problem.runs
    path = penalized_path(
        runs.X, runs.y, [0.0], kernel=kernel, nugget=nugget, random_state=problem.seed
    )
    return normal(*_at(problem, path, 0), problem.y_test)


def jointly_robust(problem: Problem) -> Forecast:
    """Forecast at the mode under RobustGaSP's prior, with its kernel, mean and Student t."""
    runs = problem.runs
    path = penalized_path(
        runs.X,
        runs.y,
        [1.0],
        kernel="matern52_product",
        penalty="jointly-robust",
        likelihood="marginal",
        mean="constant",
        nugget=_NO_NUGGET,
        random_state=problem.seed,
    )
    mean, std = _at(problem, path, 0)
    df = len(runs.y) - 1
    scale = std * np.sqrt(len(runs.y) / df)  # sigma2 = y'Py / (n - 1) instead of y'Py / n
    return mixture(MixtureLaw(mean[:, None], scale[:, None], np.ones(1), df), problem.y_test)


def cross_validated(problem: Problem, *, one_se: bool) -> Forecast:
    """Forecast at the lambda that DPE chooses, alone or with the one-standard-error rule."""
    runs, seed = problem.runs, problem.seed
    folds = random_folds(len(runs.y), _FOLDS, random_state=seed)
    table = cross_validate_path(
        runs.X, runs.y, LAMS, folds=folds, metrics=["dpe"], random_state=seed
    )
    lam = table.one_se("dpe") if one_se else table.best("dpe")
    path = penalized_path(runs.X, runs.y, LAMS, random_state=seed)
    return normal(*_at(problem, path, int(np.flatnonzero(lam == LAMS)[0])), problem.y_test)


def path_average(
    problem: Problem, *, kernels: tuple[KernelName, ...] = ("sqexp", "matern52")
) -> Forecast:
    """Forecast by the average over the paths of two kernels, weighted by their likelihoods."""
    runs, parts, logs = problem.runs, [], []
    for kernel in kernels:
        path = penalized_path(runs.X, runs.y, LAMS, kernel=kernel, random_state=problem.seed)
        parts += [(path, k) for k in range(len(LAMS))]
        logs += path.loglik.tolist()
    weight = np.exp(np.array(logs) - max(logs))
    kept = np.flatnonzero(weight > _LEAST_WEIGHT)
    laws = np.array([_at(problem, *parts[k]) for k in kept])
    weight = weight[kept] / weight[kept].sum()
    return normal_mixture(weight, laws[:, 0], laws[:, 1], problem.y_test)


def bayes(
    problem: Problem, *, prior: str | Prior = "hierarchical-lasso", **settings: Any
) -> Forecast:
    """Forecast by the Bayesian average; settings are those of `members_of`."""
    runs = problem.runs
    members = members_of(runs.X.shape[1], **settings)
    chosen = Settings(members, get_prior(prior), 800.0, 30_000, 100)
    _, found = average(runs.X, runs.y, chosen, problem.seed)
    return mixture(found.law(problem.X_test), problem.y_test)


def two_active(problem: Problem) -> Forecast:
    """Forecast by the average of three kernels under the prior that expects two active inputs."""
    d = problem.runs.X.shape[1]
    kernels = None if d == 1 else {"sqexp": 1.0, "matern52": 1.0, "matern52_product": 1.0}
    return bayes(problem, prior=HierarchicalLasso(a=2.0 / d), kernels=kernels)


def scikit_learn(problem: Problem) -> Forecast:
    """Forecast of scikit-learn."""
    runs = problem.runs
    law = rivals.scikit_learn(runs.X, runs.y, problem.X_test, problem.seed)
    return normal(*law, problem.y_test)


def libkriging(problem: Problem, *, objective: str) -> Forecast:
    """Forecast of libKriging."""
    law = rivals.libkriging(problem.runs.X, problem.runs.y, problem.X_test, objective)
    return normal(*law, problem.y_test)


#: Every way to fit that pengp has, by its name in the rows; the first is the yardstick.
METHODS: dict[str, Method] = {
    "mle": maximum_likelihood,
    "mle_nugget": partial(maximum_likelihood, nugget="estimate"),
    "mle_matern52": partial(maximum_likelihood, kernel="matern52"),
    "mle_matern32": partial(maximum_likelihood, kernel="matern32"),
    "mle_matern52_product": partial(maximum_likelihood, kernel="matern52_product"),
    "mle_matern32_product": partial(maximum_likelihood, kernel="matern32_product"),
    "dpe": partial(cross_validated, one_se=False),
    "dpe_1se": partial(cross_validated, one_se=True),
    "jointly_robust": jointly_robust,
    "path_average": path_average,
    "bayes": bayes,
    "bayes_two_active": two_active,
    "bayes_jointly_robust": partial(bayes, prior="jointly-robust"),
    "bayes_zero_mean": partial(bayes, mean="zero"),
    "bayes_sqexp": partial(bayes, kernels="sqexp"),
    "bayes_matern52": partial(bayes, kernels="matern52"),
    "bayes_matern32": partial(bayes, kernels="matern32"),
    "bayes_matern52_product": partial(bayes, kernels="matern52_product"),
    "bayes_matern32_product": partial(bayes, kernels="matern32_product"),
    "bayes_matern52_additive": partial(bayes, kernels="matern52_additive"),
}
#: What the methods are called in figures.
LABELS = {
    "mle": "MLE",
    "mle_nugget": "MLE, nugget estimated",
    "mle_matern52": "MLE, Matérn 5/2",
    "mle_matern32": "MLE, Matérn 3/2",
    "mle_matern52_product": "MLE, product Matérn 5/2",
    "mle_matern32_product": "MLE, product Matérn 3/2",
    "dpe": "DPE",
    "dpe_1se": "DPE 1SE (the paper)",
    "jointly_robust": "jointly robust mode",
    "path_average": "average over two paths",
    "bayes": "average (default)",
    "bayes_two_active": "average, 2/d and 3 kernels",
    "bayes_jointly_robust": "average, jointly robust prior",
    "bayes_zero_mean": "average, zero mean",
    "bayes_sqexp": "average, squared exponential",
    "bayes_matern52": "average, Matérn 5/2",
    "bayes_matern32": "average, Matérn 3/2",
    "bayes_matern52_product": "average, product Matérn 5/2",
    "bayes_matern32_product": "average, product Matérn 3/2",
    "bayes_matern52_additive": "average, nearly additive",
    "scikit_learn": "scikit-learn, Matérn 5/2",
    "libkriging_ll": "libKriging, LL",
    "libkriging_lmp": "libKriging, LMP",
}
#: Other packages; libKriging is one that pengp does not install.
RIVALS: dict[str, Method] = {
    "scikit_learn": scikit_learn,
    "libkriging_ll": partial(libkriging, objective="LL"),
    "libkriging_lmp": partial(libkriging, objective="LMP"),
}
