"""The methods that are compared, each from runs to a forecast of test runs."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.bayes.average import Settings, average, members_of
from pengp.bayes.priors import get_prior
from pengp.choosing import cross_validate_path, random_folds
from pengp.model.posterior import condition
from pengp.path.penalized import PathFit, penalized_path
from pengp.study.methods import rivals
from pengp.study.methods.forecasts import LEVEL, Forecast, normal, normal_mixture
from pengp.study.methods.problems import Problem
from pengp.study.rows import LAMS

#: Folds of the methods that choose lambda.
_FOLDS = 5
#: Weight, relative to the largest, from which on a point of a path is part of the average.
_LEAST_WEIGHT = 1e-4

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
    )
    mean, variance = posterior.predict(problem.X_test)
    return mean, np.sqrt(posterior.sigma2 * variance)


def maximum_likelihood(
    problem: Problem, *, kernel: str = "sqexp", nugget: float | str = 1e-5
) -> Forecast:
    """Forecast at the maximum likelihood estimate."""
    runs = problem.runs
    path = penalized_path(
        runs.X, runs.y, [0.0], kernel=kernel, nugget=nugget, random_state=problem.seed
    )
    return normal(*_at(problem, path, 0), problem.y_test)


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


def path_average(problem: Problem, *, kernels: tuple[str, ...] = ("sqexp", "matern52")) -> Forecast:
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


def bayes(problem: Problem, **settings: Any) -> Forecast:
    """Forecast by the Bayesian average; settings are those of `members_of`."""
    runs = problem.runs
    members = members_of(runs.X.shape[1], **settings)
    _, mixture = average(
        runs.X,
        runs.y,
        Settings(members, get_prior("hierarchical-lasso"), 800.0, 30_000, 100),
        problem.seed,
    )
    law = mixture.law(problem.X_test)
    lower, upper = law.interval(LEVEL).T
    return Forecast(law.mean(), lower, upper, law.crps(problem.y_test))


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
    "mle_matern52_product": partial(maximum_likelihood, kernel="matern52_product"),
    "dpe": partial(cross_validated, one_se=False),
    "dpe_1se": partial(cross_validated, one_se=True),
    "path_average": path_average,
    "bayes": bayes,
    "bayes_zero_mean": partial(bayes, mean="zero"),
    "bayes_sqexp": partial(bayes, kernels="sqexp"),
    "bayes_matern52": partial(bayes, kernels="matern52"),
    "bayes_matern52_product": partial(bayes, kernels="matern52_product"),
}
#: Other packages; libKriging is one that pengp does not install.
RIVALS: dict[str, Method] = {
    "scikit_learn": scikit_learn,
    "libkriging_ll": partial(libkriging, objective="LL"),
    "libkriging_lmp": partial(libkriging, objective="LMP"),
}
