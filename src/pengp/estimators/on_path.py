"""What estimators on a path over lambda have in common: their parameters and what they learn."""

import copy
from dataclasses import fields, replace
from functools import partial
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from pengp._core.arrays import FloatArray, IntArray
from pengp._core.checks import (
    check_count,
    check_flag,
    check_output,
    check_starts,
    is_real,
    warn,
    warn_ill_conditioned,
)
from pengp._core.linalg import condition_number
from pengp.choosing.scores import check_level
from pengp.estimators.base import RawRuns, SurrogateMixin
from pengp.estimators.data import TrainingData, prepare
from pengp.estimators.heldout import (
    HeldOut,
    Known,
    LeftOutProcesses,
    Split,
    held_out_of,
    of_refits,
    of_table,
    predict_splits,
)
from pengp.estimators.other_modes import path_at_mode
from pengp.estimators.surrogate import Surrogate, condition_all
from pengp.exceptions import InputError
from pengp.model.kernels import Kernel
from pengp.model.means import MeanLike
from pengp.path.fitting import Model, checked_model
from pengp.path.flatness import Flat
from pengp.path.penalized import Modes, PathFit, fit_path
from pengp.path.penalties import AnyPenalty

_Record = TypeVar("_Record", Modes, Flat)


class PathMixin(SurrogateMixin):
    """Methods and learned attributes of the penalized estimators; see there.

    A subclass has these parameters and calls `_model`, `_path` and `_keep` in ``fit``.
    """

    kernel: str | Kernel
    penalty: str | AnyPenalty
    isotropic: bool
    nugget: float | str
    mean: MeanLike
    theta_bounds: tuple[float, float]
    likelihood: str
    n_starts: int | ArrayLike

    _chosen: PathFit  # the path at lam_, with a lambda axis of length 1

    def _model(self) -> Model:
        """Return what is to be fitted, checked."""
        model = checked_model(
            kernel=self.kernel,
            penalty=self.penalty,
            isotropic=self.isotropic,
            nugget=self.nugget,
            mean=self.mean,
            theta_bounds=self.theta_bounds,
            likelihood=self.likelihood,
        )
        return self._with_levels(model)

    def _prepared(self, runs: RawRuns, model: Model, lam: float, seed: int) -> TrainingData:
        """Check, transform and scale runs; powers of transforms are estimated at lam."""
        return prepare(
            runs.X,
            runs.y,
            self._names(),
            input_bounds=self.input_bounds,
            scales=self._scales(),
            model=model,
            lam=lam,
            seed=seed,
            noise_sd=runs.noise_sd,
        )

    def _path(self, data: TrainingData, model: Model, lams: FloatArray, seed: int) -> PathFit:
        """Fit all outputs to all runs at lams [L], in one batch."""
        sets = data.datasets(one_output=self._one_output)
        return fit_path(sets, lams, model, self._starts(data, model), np.random.default_rng(seed))

    def _starts(self, data: TrainingData, model: Model) -> int | FloatArray:
        """Return the number of starts or the log thetas to start from, checked."""
        return check_starts(self.n_starts, _n_theta(model, data.X))

    def _keep(self, data: TrainingData, path: PathFit, index: IntArray) -> None:
        """Set the learned attributes from the full-data path and the place of lam_ in it [...]."""
        self._chosen = chosen = _path_at(path, index)
        self.X_train_ = data.X_raw
        self.y_train_ = data.y_raw[:, 0] if self._one_output else data.y_raw
        known = data.X, data.y_raw, data.inputs, data.response
        self._hold(condition_all(*known, chosen, data.noise_sd))
        self.path_ = path
        self.lam_ = self._per_output(path.lams[index])
        self.theta_ = chosen.theta[..., 0, :]
        lengthscale = data.inputs.lengthscale(self.theta_)
        self.lengthscale_ = np.where(data.inputs.constant, np.inf, lengthscale)
        self.sigma2_ = self._per_output(chosen.sigma2[..., 0])
        self.nugget_ = self._per_output(chosen.nugget[..., 0])
        self.mean_ = self._prior_mean()

    @property
    def condition_(self) -> Any:
        """Estimated condition number of the runs' correlation matrix, a number or [q]."""
        check_is_fitted(self)
        return self._per_output(
            np.array([condition_number(p.L) for p in self._surrogate.posteriors])
        )

    def _warn_untrusted(self) -> None:
        """Say that an estimate at lam_ is no maximum, or that double precision is not enough."""
        warn_ill_conditioned(float(np.max(self.condition_)))
        for k, converged in enumerate(np.ravel(self._chosen.converged)):
            if not converged:
                which = "" if self._one_output else f" of output {k}"
                warn(
                    f"the estimate of theta{which} did not converge, so that a better one may be "
                    "near; use a larger nugget or n_starts."
                )

    def _summaries(self) -> list[str]:
        """Return lambda, sigma2, nugget and mean of each output in a line."""
        names = ("lam_", "sigma2_", "nugget_", "mean_")
        columns = np.array([np.atleast_1d(getattr(self, name)) for name in names])
        return [
            f"lambda = {lam:.4g}, sigma2 = {sigma2:.4g}, nugget = {nugget:.4g}, mean = {mean:.6g}"
            for lam, sigma2, nugget, mean in columns.T
        ]

    def _fixed_nugget(self) -> float | None:
        """Return the nugget, None if it is estimated."""
        return self._chosen._model.nugget

    def _learn(self, surrogate: Surrogate[Any]) -> None:
        """Take over a surrogate that knows more runs; the trend follows them."""
        super()._learn(surrogate)
        self.mean_ = self._prior_mean()

    def _prior_mean(self) -> Any:
        """Return the prior mean over the runs, a number or [q]; of the transformed response."""
        means = np.array([posterior.level for posterior in self._surrogate.posteriors])
        return self._per_output(self._surrogate.response.unscaled(means))

    @property
    def trend_(self) -> FloatArray:
        """Coefficients [k] or [q, k] of the mean's basis functions, in the units of y."""
        check_is_fitted(self)
        trends = np.array([posterior.trend for posterior in self._surrogate.posteriors])
        scaled: FloatArray = trends * self._surrogate.response.sd[:, None]
        return scaled[0] if self._one_output else scaled

    @property
    def modes_(self) -> Modes:
        """All local maxima found at `lam_`, best first: theta [M, d] or [q, M, d], ..."""
        check_is_fitted(self)
        return _without_axis(self._chosen.modes, axis=0 if self._one_output else 1)

    @property
    def flat_(self) -> Flat:
        """Stretch of c `theta_`, c > 0, where log L is flat to 1e-4; computed on first use."""
        check_is_fitted(self)
        return _without_axis(self._chosen.flat, axis=0 if self._one_output else 1)

    def held_out(
        self,
        output: int = 0,
        level: float = 0.95,
        *,
        keep_theta: bool = False,
        each: bool = False,
    ) -> HeldOut:
        """Predict the runs of ``fit`` by fits that did not know them, theta estimated anew.

        The folds that chose lambda predict with their own estimates at lam_; without folds, each
        run is left out in turn. `loo_` keeps theta_ instead, which has seen the run, and flatters.

        Parameters
        ----------
        output : int
            Which output, for responses [n, q].
        level : float
            Probability of the intervals.
        keep_theta : bool
            Whether the same runs are predicted at theta_ instead, which has seen them: what that
            flatters by.
        each : bool
            Whether each run is left out in turn although there are folds.
        """
        check_is_fitted(self)
        check_level(level)
        keep_theta, each = check_flag(keep_theta, "keep_theta"), check_flag(each, "each")
        output = check_output(output, len(self._surrogate.posteriors))
        data, model, known = self.path_._data, self._chosen._model, self._surrogate
        runs, lam = Known.of(data, output), float(np.atleast_1d(self.lam_)[output])
        tables = np.atleast_1d(np.array(getattr(self, "cv_table_", None), dtype=object))
        table = tables[output] if len(tables) > output else None
        if table is not None and not each:
            splits, how = of_table(table, lam)
        else:
            splits, how = self._refits(output), "each run left out in turn"
        if keep_theta:
            theta = np.atleast_2d(self.theta_)[output]
            nugget, sigma2 = (float(np.atleast_1d(a)[output]) for a in (self.nugget_, self.sigma2_))
            splits = [Split(s.train, s.test, theta, nugget, sigma2) for s in splits]
        found = predict_splits(runs, splits, model)
        seen = known.y_raw[: len(runs.y), output]
        return held_out_of(seen, found, partial(known.mapped, output), level, how)

    def _refits(self, output: int) -> list[Split]:
        """Return each run of ``fit`` alone, with the estimates from the others at lam_."""
        runs, model = Known.of(self.path_._data, output), self._chosen._model
        lam = float(np.atleast_1d(self.lam_)[output])
        return of_refits(runs, lam, model, check_starts(self.n_starts, _n_theta(model, runs.X)))

    def _runs_in_fit(self, output: int) -> int:
        """Return the number of runs in ``fit``."""
        return len(self.path_._data.y[output])

    def _left_out(self, output: int) -> LeftOutProcesses:
        """Return the fits without each run, at lam_."""
        runs, model = Known.of(self.path_._data, output), self._chosen._model
        return LeftOutProcesses.of(runs, self._refits(output), model)

    def at_lambda(self, lam: float) -> Self:
        """Return a fitted copy at another lambda of path_, without estimating anything anew.

        Parameters
        ----------
        lam : float
            One of ``path_.lams``, for all outputs.
        """
        check_is_fitted(self)
        lams = self.path_.lams
        if not is_real(lam):
            raise InputError(f"lam={lam!r} is not a number; use one of path_.lams.")
        if not (lams == lam).any():
            raise InputError(
                f"lam={float(lam)!r} is not among the {len(lams)} values of path_.lams; the "
                f"nearest is {float(lams[np.abs(lams - lam).argmin()])!r}."
            )
        place = int(np.flatnonzero(lams == lam)[0])
        return self._at(self.path_, np.full(self.path_.objective.shape[:-1], place))

    def at_mode(self, k: int) -> Self:
        """Return a fitted copy at another local maximum of lam_, as an explanation to compare.

        Its theta is known to about 1e-4 in the objective; sigma2 and the trend follow. In path_ and
        modes_ of the copy it changes places with the estimate.

        Parameters
        ----------
        k : int
            Number of the maximum in modes_, for all outputs; 1 is the estimate.
        """
        check_is_fitted(self)
        fewest = int(self._chosen.modes.count.min())
        if check_count(k, "k", 1) > fewest:
            found = "one was found" if fewest == 1 else f"{fewest} were found, 1 is the best"
            raise InputError(f"there is no mode {k}; at lambda {self.lam_!r} {found}.")
        places = np.array(
            [np.flatnonzero(self.path_.lams == v)[0] for v in np.atleast_1d(self.lam_)]
        )
        index = places.reshape(self.path_.objective.shape[:-1])
        return self._at(path_at_mode(self.path_, index, k - 1), index)

    def _at(self, path: PathFit, index: IntArray) -> Self:
        """Return a fitted copy at the places [...] of a path, conditioned on all known runs."""
        known = self._surrogate
        X, y = known.posteriors[0].X, known.response.transform(known.y_raw).T
        scalers = known.inputs, known.response
        data = TrainingData(self.X_train_, known.y_raw, X, y, *scalers, known.noise_sd)
        other = copy.copy(self)
        other._keep(data, path, index)
        return other


def _n_theta(model: Model, X: FloatArray) -> int:
    """Return how many thetas a model of X [n, d] has."""
    return 1 if model.isotropic else X.shape[1]


def _path_at(path: PathFit, index: IntArray) -> PathFit:
    """Return the path at one lambda of each output: lams[index], index [...].

    Its arrays keep a lambda axis, of length 1; `lams` holds the first output's.
    """

    def pick(record: PathFit | Modes) -> dict[str, Any]:
        arrays = {f.name: getattr(record, f.name) for f in fields(record) if f.name != "lams"}
        place = (*np.indices(index.shape), index)
        return {
            name: np.expand_dims(a[place], index.ndim)
            for name, a in arrays.items()
            if isinstance(a, np.ndarray)
        }

    lams = path.lams[index.ravel()[:1]]
    return replace(path, lams=lams, modes=Modes(**pick(path.modes)), **pick(path))


def _without_axis(record: _Record, axis: int) -> _Record:
    """Return a record of arrays without the given axis, of which item 0 is kept."""
    arrays = {f.name: getattr(record, f.name) for f in fields(record)}
    return replace(record, **{name: a.take(0, axis) for name, a in arrays.items()})
