"""The path of penalized maximum likelihood estimates theta-hat(lambda)."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from pengp._core.arrays import ArrayOrArrays, BoolArray, FloatArray, IntArray, RandomState
from pengp._core.checks import as_generator, check_lams, check_starts, warn
from pengp._core.datasets import DataSets, as_datasets, check_datasets
from pengp._core.shown import Shown, named
from pengp.exceptions import InputError
from pengp.model.kernels import Kernel, KernelName
from pengp.model.likelihood import Likelihood
from pengp.model.means import MeanLike
from pengp.model.trend import check_trend, warn_of_trend
from pengp.path.fitting import (
    Estimates,
    Model,
    checked_model,
    degenerate,
    estimate,
)
from pengp.path.flatness import LEVEL, Flat, flat_stretch
from pengp.path.penalties import AnyPenalty, PenaltyName


@dataclass(frozen=True, eq=False, repr=False)
class Modes(Shown):
    """Every distinct local maximum found, best first; unused places hold nan.

    The first of each cell is the estimate and exact; the others are known from an expansion near
    them, to about 1e-4 in the objective.

    Examples
    --------
    >>> import numpy as np
    >>> from pengp import get_function, penalized_path
    >>> X = np.linspace(0, 1, 8)[:, None]
    >>> y = get_function("forrester")(X)
    >>> modes = penalized_path(X, y - y.mean(), [0.0, 0.01], random_state=0).modes
    >>> modes
    Modes(4 to 5 local maxima, best objective -21.84)
    """

    theta: FloatArray
    """[..., L, M, d]"""
    nugget: FloatArray
    """[..., L, M]"""
    objective: FloatArray
    """[..., L, M], the penalized log likelihood Q"""
    loglik: FloatArray
    """[..., L, M]"""
    count: IntArray
    """[..., L], how many places are used"""

    def _in_short(self) -> str:
        least, most = self.count.min(), self.count.max()
        number = f"{most}" if least == most else f"{least} to {most}"
        noun = "maximum" if most == 1 else "maxima"
        return f"{number} local {noun}, best objective {np.nanmax(self.objective):.4g}"

    def _rows(self) -> list[dict[str, Any]]:
        """Return the maxima of a single cell."""
        places = range(int(self.count)) if self.count.ndim == 0 else ()
        names = ("objective", *(f"theta {p + 1}" for p in range(self.theta.shape[-1])))
        return [named(names, (self.objective[m], *self.theta[m])) for m in places]


@dataclass(frozen=True, eq=False, repr=False)
class PathFit(Shown):
    """Penalized maximum likelihood estimates for a grid of lambda.

    Leading axes ``...`` are those of the data sets and absent for a single one. With an isotropic
    kernel the d columns of theta are equal.

    See Also
    --------
    penalized_path : Makes it.
    """

    lams: FloatArray
    """[L], as given"""
    theta: FloatArray
    """[..., L, d]"""
    objective: FloatArray
    """[..., L], Q = log L - n p_lambda, constants dropped; inf if y equals its prior mean"""
    loglik: FloatArray
    """[..., L], profile or marginal log likelihood at the estimate, constants dropped"""
    sigma2: FloatArray
    """[..., L]"""
    nugget: FloatArray
    """[..., L], the fixed or the estimated one"""
    mean: FloatArray
    """[..., L], the prior mean, averaged over the runs"""
    converged: BoolArray
    """[..., L], whether the projected gradient in log theta is below 1e-5, or the last step tiny"""
    at_bound: IntArray
    """[..., L, d], -1 at the lower bound of theta, 1 at the upper, 0 between"""
    modes: Modes
    """All local maxima found"""
    n_evaluations: int
    """Likelihood evaluations that the fit took"""
    _model: Model = field(repr=False)
    _data: DataSets = field(repr=False)

    def _in_short(self) -> str:
        ends = f"{self.lams.min():.4g} to {self.lams.max():.4g}"
        return f"{len(self.lams)} lambdas, {ends}, {self.theta.shape[-1]} inputs"

    @cached_property
    def flat(self) -> Flat:
        """Where log L is within 1e-4 of its maximum along the ray through each estimate.

        Computed on first use. A stretch that spans decades, or reaches a bound of theta, says that
        the data do not identify theta there.
        """
        return self.flat_within(LEVEL)

    def flat_within(self, fall: float) -> Flat:
        """Where log L is within ``fall`` of its maximum along the ray through each estimate."""
        d, L = self.theta.shape[-1], len(self.lams)
        theta, nugget = self.theta.reshape(-1, L, d), self.nugget.reshape(-1, L)
        lower, upper, highest = theta.copy(), theta.copy(), self.loglik.reshape(-1, L).copy()
        for members, likelihood in _by_size(self._data, self._model):
            T = likelihood.n_theta
            flat = flat_stretch(
                likelihood,
                theta[members][..., :T],
                nugget[members],
                self._model.theta_bounds,
                fall=fall,
            )
            lower[members], upper[members], highest[members] = flat.lower, flat.upper, flat.loglik
        shape = self.theta.shape
        return Flat(lower.reshape(shape), upper.reshape(shape), highest.reshape(shape[:-1]))


def penalized_path(
    X: ArrayOrArrays,
    y: ArrayOrArrays,
    lams: ArrayLike,
    *,
    kernel: KernelName | Kernel = "sqexp",
    penalty: PenaltyName | AnyPenalty = "lasso",
    isotropic: bool = False,
    nugget: float | Literal["estimate"] = 1e-5,
    mean: MeanLike = "zero",
    likelihood: Literal["profile", "marginal"] = "profile",
    theta_bounds: tuple[float, float] = (1e-3, 1e3),
    n_starts: int | ArrayLike = 10,
    random_state: RandomState = None,
) -> PathFit:
    """Maximise the penalized profile likelihood for every lambda.

    Parameters
    ----------
    X : [..., n, d], or a list of [n_f, d]
        Inputs in the unit cube. Leading axes, or the list, hold several data sets (folds,
        outputs), which are solved together and independently of each other.
    y : [..., n], or a list of [n_f]
        Responses as they are to be modelled: centred if the mean is zero.
    lams : [L]
        Penalties, each at least 0, in any order; see `lambda_grid`.
    kernel : str or Kernel
        Correlation function, of the distance ("sqexp", "matern52", "matern32") or, a product, of
        the inputs one by one ("matern52_product", "matern32_product", "matern52_additive").
    penalty : {"lasso", "scad", "ridge", "none", "jointly-robust"}, Penalty or JointPenalty
        Penalty on theta; the last is a prior on theta and the nugget, times lambda.
    isotropic : bool
        Whether all inputs share one theta.
    nugget : float or "estimate"
        Fixed nugget, or one more parameter in [1.49e-8, 1], which is not penalized.
    mean : {"zero", "constant", "linear"}, basis function or Mean
        Prior mean, whose coefficients are estimated by generalised least squares. A function maps
        inputs [n, d] in the unit cube to the columns [n, k] of a basis; `Mean` takes a prior, too.
    likelihood : {"profile", "marginal"}
        Whether sigma2 and the coefficients of the mean are maximised over, or integrated out: the
        coefficients with a flat prior, or their own, sigma2 with 1 / sigma2.
    theta_bounds : (float, float)
        Range of every theta.
    n_starts : int or [S, d]
        Starts at the smallest lambda: the best of six times as many random points, among which are,
        if it is the only lambda, each input alone and the bounds; beyond ten, every other start is
        random. Along a path, each input alone and the bounds start as well, and a few more at
        several larger lambdas. More starts find more of the lower maxima. An array holds thetas
        ([S, 1] if isotropic) that are the only starts, at each of these lambdas.
    random_state : int, Generator, RandomState or None
        Seed of the random points.

    Returns
    -------
    PathFit
        Estimates, and every local maximum found, for each data set and lambda.

    Examples
    --------
    Eight runs of one function: every local maximum, and an estimate that shrinks with lambda.

    >>> import numpy as np
    >>> from pengp import get_function, penalized_path
    >>> X = np.linspace(0, 1, 8)[:, None]
    >>> y = get_function("forrester")(X)
    >>> path = penalized_path(X, y - y.mean(), [0.0, 0.01, 0.1], random_state=0)
    >>> path.theta.round(1)
    array([[21.3],
           [17.1],
           [ 0. ]])
    >>> path.modes.count  # local maxima at each lambda
    array([5, 4, 4])
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
    values, data = check_lams(lams), as_datasets(X, y)
    check_datasets(data, nugget=model.nugget)
    check_trend(data, model.mean)
    starts = check_starts(n_starts, 1 if model.isotropic else data.X[0].shape[1])
    fit = fit_path(data, values, model, starts, as_generator(random_state))
    warn_of_trend(data, model.mean, np.isposinf(fit.objective[..., 0]).ravel())
    if not fit.converged.all():
        warn(
            f"{int((~fit.converged).sum())} of {fit.converged.size} estimates did not converge; "
            "see `converged`, and try a larger nugget or more starts."
        )
    return fit


def fit_path(
    data: DataSets,
    lams: FloatArray,
    model: Model,
    n_starts: int | FloatArray,
    rng: np.random.Generator,
) -> PathFit:
    """Fit data that are known to be sound; see `penalized_path`.

    The random points are drawn once and serve every data set, so that a data set's estimates do
    not depend on its company.
    """
    distinct, place = np.unique(lams, return_inverse=True)
    n_theta = 1 if model.isotropic else data.X[0].shape[1]
    seed = int(rng.integers(2**32))
    parts: list[tuple[IntArray, Estimates]] = []
    n_evaluations = 0
    for members, likelihood in _by_size(data, model):
        found = estimate(model, likelihood, distinct, n_starts, np.random.default_rng(seed))
        _check_found(found, members, data)
        parts.append((members, found))
        n_evaluations += likelihood.n_evaluations
    missing = np.ones(len(data.y), dtype=bool)
    for members, _ in parts:
        missing[members] = False
    for f in missing.nonzero()[0]:
        none = degenerate(model, data.X[f][None], data.y[f][None], n_theta, len(distinct))
        parts.append((np.array([f]), none))
    return _assemble(data, lams, model, parts, place, n_evaluations)


def _check_found(found: Estimates, members: IntArray, data: DataSets) -> None:
    """Refuse data sets whose likelihood is defined nowhere."""
    lost = np.flatnonzero(np.isneginf(found.objective[:, :, 0]).any(-1))
    if len(lost):
        raise InputError(
            f"the correlation matrix{data.label(int(members[lost[0]]))} is singular for every "
            "theta that was tried; use a larger nugget, such as 1e-5."
        )


def _by_size(data: DataSets, model: Model) -> Iterator[tuple[IntArray, Likelihood]]:
    """Yield the data sets of each size that have a likelihood: indices [F], and likelihoods."""
    sizes = np.array([len(y) for y in data.y])
    for n in sorted(set(sizes.tolist())):
        members = np.flatnonzero(sizes == n)
        X, y = (np.stack([a[f] for f in members]) for a in (data.X, data.y))
        likelihood = model.likelihood(X, y, data.noise_of(members))
        usable = ~likelihood.undefined
        if usable.all():
            yield members, likelihood
        elif usable.any():
            kept = members[usable]
            yield kept, model.likelihood(X[usable], y[usable], data.noise_of(kept))


def _assemble(
    data: DataSets,
    lams: FloatArray,
    model: Model,
    parts: list[tuple[IntArray, Estimates]],
    place: IntArray,
    n_evaluations: int,
) -> PathFit:
    """Put the estimates of all sizes in order, at the lambdas ``place`` of the distinct ones."""
    order = np.concatenate([members for members, _ in parts]).argsort()
    M = max(found.objective.shape[2] for _, found in parts)
    d = data.X[0].shape[1]
    unused = [np.isneginf(found.objective) for _, found in parts]

    def field_of(name: str) -> Any:
        arrays = [getattr(found, name) for _, found in parts]
        if name in ("theta", "nugget", "objective", "loglik"):
            arrays = [_padded(a, u, M) for a, u in zip(arrays, unused, strict=True)]
        whole = (arrays[0] if len(arrays) == 1 else np.concatenate(arrays)[order])[:, place]
        if name in ("theta", "at_bound") and whole.shape[-1] < d:  # isotropic
            whole = whole.repeat(d, axis=-1)
        return whole.reshape(*data.shape, *whole.shape[1:])

    theta, nugget, objective, loglik = map(field_of, ("theta", "nugget", "objective", "loglik"))
    return PathFit(
        lams=lams,
        theta=theta[..., 0, :],
        objective=objective[..., 0],
        loglik=loglik[..., 0],
        sigma2=field_of("sigma2"),
        nugget=nugget[..., 0],
        mean=field_of("mean"),
        converged=field_of("converged"),
        at_bound=field_of("at_bound"),
        modes=Modes(theta, nugget, objective, loglik, (~np.isnan(objective)).sum(-1)),
        n_evaluations=n_evaluations,
        _model=model,
        _data=data,
    )


def _padded(a: FloatArray, unused: BoolArray, places: int) -> FloatArray:
    """Put nan in the unused [F, L, M] places of a [F, L, M, ...], and fill up to ``places``."""
    a = np.where(unused.reshape(*unused.shape, *(1,) * (a.ndim - 3)), np.nan, a)
    if a.shape[2] == places:
        return a
    more = np.full((*a.shape[:2], places - a.shape[2], *a.shape[3:]), np.nan)
    return np.concatenate([a, more], axis=2)
