"""Estimates for the data sets of one size: chooses the engine, runs the search, reads it off."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pengp._core.arrays import BoolArray, FloatArray, IntArray
from pengp._core.checks import check_choice, check_flag, check_nugget, check_theta_bounds
from pengp._core.linalg import ONE_THREAD
from pengp.exceptions import InputError
from pengp.model.kernels import Kernel, get_kernel
from pengp.model.large import LargeLikelihood
from pengp.model.likelihood import BatchLikelihood, Likelihood
from pengp.model.means import Mean, MeanLike, get_mean
from pengp.model.noise import NOISE_AND_NUGGET, ProfiledNoise, check_noisy_runs
from pengp.model.trend import columns_of
from pengp.path import settings
from pengp.path.cells import CellObjective
from pengp.path.penalties import AnyPenalty, get_penalty, term_of
from pengp.path.search import Found, ModeSearch
from pengp.path.starts import Starts, few_start_points, fixed_starts, start_points

NUGGET_BOUNDS = (1.49e-8, 1.0)
"""Range of an estimated nugget; the lower end is the square root of the machine precision."""


@dataclass(frozen=True)
class Model:
    """What is fitted; None for the nugget means that it is estimated."""

    kernel: Kernel
    penalty: AnyPenalty
    isotropic: bool
    nugget: float | None
    mean: Mean
    theta_bounds: tuple[float, float]
    marginal: bool = False

    def likelihood(
        self, X: FloatArray, y: FloatArray, noise: FloatArray | None = None
    ) -> Likelihood:
        """Return the likelihoods of X [F, n, d], y [F, n], whose noise variances may be known."""
        if noise is not None:
            return self._noisy(X, y, noise)
        engine = BatchLikelihood if y.shape[1] <= settings.NEWTON_SIZE else LargeLikelihood
        return engine(
            X,
            y,
            self.kernel,
            self.nugget,
            mean=self.mean,
            isotropic=self.isotropic,
            marginal=self.marginal,
        )

    def _noisy(self, X: FloatArray, y: FloatArray, noise: FloatArray) -> ProfiledNoise:
        """Return the likelihoods of X [F, n, d], y [F, n] with known variances [F, n]."""
        if self.nugget is None:
            raise InputError(NOISE_AND_NUGGET.format("estimate"))
        check_noisy_runs(y.shape[1])
        return ProfiledNoise(
            X,
            y,
            self.kernel,
            self.nugget,
            noise,
            mean=self.mean,
            isotropic=self.isotropic,
            marginal=self.marginal,
        )

    def objective(self, likelihood: Likelihood, lams: FloatArray) -> CellObjective:
        """Return what is to be maximised at lams [L], with the bounds on the log parameters."""
        term = term_of(self.penalty, likelihood.X, self.nugget, isotropic=self.isotropic)
        return CellObjective(likelihood, lams, term, *_bounds(self, likelihood))


def checked_model(
    *,
    kernel: str | Kernel,
    penalty: str | AnyPenalty,
    isotropic: bool,
    nugget: float | str,
    mean: MeanLike,
    theta_bounds: tuple[float, float],
    likelihood: str = "profile",
) -> Model:
    """Return the model that a caller's arguments describe."""
    return Model(
        kernel=get_kernel(kernel),
        penalty=get_penalty(penalty),
        isotropic=check_flag(isotropic, "isotropic"),
        nugget=check_nugget(nugget),
        mean=get_mean(mean),
        theta_bounds=check_theta_bounds(theta_bounds),
        marginal=_is_marginal(likelihood),
    )


def _is_marginal(likelihood: str) -> bool:
    """Tell whether a caller's likelihood is the marginal one."""
    return check_choice(likelihood, "likelihood", ("profile", "marginal")) == "marginal"


class Estimates(NamedTuple):
    """Estimates of F data sets at L lambdas, with P = 1 or d thetas: all M maxima, best first."""

    theta: FloatArray  # [F, L, M, P]
    nugget: FloatArray  # [F, L, M]
    objective: FloatArray  # [F, L, M]
    loglik: FloatArray  # [F, L, M]
    sigma2: FloatArray  # [F, L], and the next three: of the best
    mean: FloatArray  # [F, L]
    converged: BoolArray  # [F, L]
    at_bound: IntArray  # [F, L, P]


def estimate(
    model: Model,
    likelihood: Likelihood,
    lams: FloatArray,
    n_starts: int | FloatArray,
    rng: np.random.Generator,
) -> Estimates:
    """Estimate F data sets of one size at distinct, ascending lams."""
    objective = model.objective(likelihood, lams)
    whole = np.log([model.theta_bounds] * likelihood.n_theta + [NUGGET_BOUNDS])
    whole = whole[: likelihood.n_params]
    points = start_points if likelihood.newton else few_start_points
    starts = points(lams, whole[:, 0], whole[:, 1], likelihood.n_theta, n_starts, rng)
    scale = None
    if isinstance(likelihood, LargeLikelihood):
        given = not isinstance(n_starts, int)
        starts, scale = _from_fewer_runs(model, likelihood, lams[:1], starts, given, rng)
    with _threads(likelihood):
        return _read_off(model, objective, ModeSearch(objective, scale).run(starts))


def _threads(likelihood: Likelihood) -> AbstractContextManager[None]:
    """Return a context that gives BLAS the threads that suit the size of the data sets."""
    return ONE_THREAD if likelihood.newton else nullcontext()


def _from_fewer_runs(
    model: Model,
    likelihood: LargeLikelihood,
    lams: FloatArray,
    starts: Starts,
    given: bool,
    rng: np.random.Generator,
) -> tuple[Starts, FloatArray]:
    """Return better starts and typical steps [F, P], from some of the runs.

    Where there are several and they are not ``given``, one more is taken elsewhere.

    The maxima for m of the n runs at the smallest lambda, lams [1], are near those for all, and the
    likelihood there is curved about n / m times less; both cost little.
    """
    n, F, k = likelihood.n, len(likelihood.y), model.mean.columns(likelihood.X[0, :1]).size
    m = max(min(settings.FEWER_RUNS, n // settings.FEWER_PART), min(n, 2 * k))
    rows = np.sort(_with_outlier(likelihood.y, rng.permutation(n))[:, :m])
    X = np.take_along_axis(likelihood.X, rows[:, :, None], axis=1)
    y = np.take_along_axis(likelihood.y, rows, axis=1)
    fewer = model.likelihood(X, y)
    with _threads(fewer):
        found = ModeSearch(model.objective(fewer, lams)).run(starts)
    points = starts.fixed
    maxima, objective = (a[:, 0, : len(points)] for a in (found.point, found.objective))
    best = np.where(np.isfinite(objective[:, :1]), maxima[:, 0], points[0])
    maxima = np.where(np.isfinite(objective)[:, :, None], maxima, best[:, None])
    likelihood.n_evaluations += fewer.n_evaluations
    exact = BatchLikelihood(
        X,
        y,
        model.kernel,
        model.nugget,
        mean=model.mean,
        isotropic=model.isotropic,
        marginal=model.marginal,
    )
    if maxima.shape[1] < len(points):
        maxima = np.concatenate([maxima, best[:, None]], axis=1)
    # A place that its own maxima leave to a data set is for what these may not show.
    count = np.isfinite(objective).sum(1)
    left = np.flatnonzero(count < maxima.shape[1])
    maxima[left, count[left]] = points[0]
    if not given and len(points) > 1:
        with _threads(fewer):
            far = _far_points(fewer, maxima, rng, *_bounds(model, fewer))
        maxima = np.concatenate([maxima, far], axis=1)
    with _threads(exact):
        curved = -np.diagonal(exact.evaluate(np.arange(F), best).hessian, axis1=1, axis2=2)
    return fixed_starts(maxima), 1.0 / np.sqrt(np.maximum(n / m * curved, n / settings.STEP_RUNS))


def _far_points(
    likelihood: Likelihood,
    maxima: FloatArray,
    rng: np.random.Generator,
    lower: FloatArray,
    upper: FloatArray,
) -> FloatArray:
    """Return for each data set [F, 1, P] the likeliest random point far from maxima [F, M, P].

    A single outlier can make the likelihood highest near the upper bounds, where neither fewer
    runs nor the usual starts lead.
    """
    F, P = lower.shape
    share = rng.random((settings.FAR_POINTS, P))
    points = lower[:, None] + (upper - lower)[:, None] * share  # [F, points, P]
    data_set = np.repeat(np.arange(F), len(share))
    at = likelihood.evaluate(data_set, points.reshape(-1, P), derivatives=False)
    distance = np.abs(points[:, :, None] - maxima[:, None]).max(-1).min(-1)  # [F, points]
    value = np.where(distance > settings.FAR, at.value.reshape(F, -1), -np.inf)
    return points[np.arange(F), value.argmax(1)][:, None]


def _with_outlier(y: FloatArray, order: IntArray) -> IntArray:
    """Return the runs [F, n] in an order [n], but the most outlying one of each y [F, n] first.

    Without it the likelihood of some runs can be highest where that of all of them is low.
    """
    farthest = np.abs(y - np.median(y, axis=1, keepdims=True)).argmax(1)
    return np.array([[first, *order[order != first]] for first in farthest])


def _bounds(model: Model, likelihood: Likelihood) -> tuple[FloatArray, FloatArray]:
    """Return the bounds [F, P] on the log parameters; a constant column has one value only."""
    F, T = len(likelihood.y), likelihood.n_theta
    lower = np.full((F, likelihood.n_params), np.log(model.theta_bounds[0]))
    upper = np.full_like(lower, np.log(model.theta_bounds[1]))
    lower[:, T:], upper[:, T:] = np.log(NUGGET_BOUNDS)
    idle = (likelihood.X[:, :1] == likelihood.X).all(1)
    upper[:, :T][idle.all(1, keepdims=True) if model.isotropic else idle] = lower[0, 0]
    return lower, upper


def _read_off(model: Model, objective: CellObjective, found: Found) -> Estimates:
    """Turn logarithms into estimates, and add what the likelihood knows at the best maxima."""
    F, L, _, P = found.point.shape
    likelihood, T = objective.likelihood, objective.likelihood.n_theta
    best = found.point[:, :, 0]
    at = likelihood.evaluate(np.repeat(np.arange(F), L), best.reshape(-1, P), derivatives=False)
    theta = exp_within(found.point[..., :T], model.theta_bounds)
    fixed = np.full(found.objective.shape, 0.0 if model.nugget is None else model.nugget)
    nugget = exp_within(found.point[..., T], NUGGET_BOUNDS) if model.nugget is None else fixed
    at_upper = (best >= objective.upper[:, None]).astype(np.int64)
    at_bound = np.where(best <= objective.lower[:, None], -1, at_upper)
    return Estimates(
        theta,
        nugget,
        found.objective,
        found.loglik,
        at.sigma2.reshape(F, L),
        at.mean.reshape(F, L),
        found.converged[:, :, 0],
        at_bound[..., :T],
    )


def degenerate(model: Model, X: FloatArray, y: FloatArray, n_theta: int, n_lams: int) -> Estimates:
    """Return the limit for X [F, n, d], y [F, n] that equal their prior mean everywhere.

    There the likelihood is unbounded: the smoothest surrogate, without spread.
    """
    F, basis = len(y), columns_of(model.mean, X, y)
    theta = np.full((F, n_lams, 1, n_theta), model.theta_bounds[0])
    nugget = np.full((F, n_lams, 1), NUGGET_BOUNDS[0] if model.nugget is None else model.nugget)
    infinite = np.full((F, n_lams, 1), np.inf)
    return Estimates(
        theta,
        nugget,
        infinite,
        infinite,
        np.zeros((F, n_lams)),
        np.repeat(np.vecdot(basis.offset, basis.level)[:, None], n_lams, axis=1),
        np.ones((F, n_lams), dtype=bool),
        np.full((F, n_lams, n_theta), -1, dtype=np.int64),
    )


def exp_within(point: FloatArray, bounds: tuple[float, float]) -> FloatArray:
    """Return the exponential of log parameters, exactly the bound where they are its logarithm."""
    lower, upper = np.log(bounds)
    return np.where(point <= lower, bounds[0], np.where(point >= upper, bounds[1], np.exp(point)))
