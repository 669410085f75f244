"""What a fitted estimator can do: predict, sample, differentiate, learn new runs, check itself."""

import copy
import numbers
from typing import Any, Literal, Self, overload

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted, validate_data

from pengp._core.arrays import FloatArray, IntArray, RandomState
from pengp._core.checks import check_count, check_duplicates, check_starts
from pengp._core.seeds import as_generator
from pengp.choosing.scores import half_width, normal_interval
from pengp.estimators.data import TrainingData, check_inside
from pengp.estimators.surrogate import LeaveOneOut, Surrogate, condition_all, path_at, without_axis
from pengp.exceptions import InputError
from pengp.model.kernels import Kernel
from pengp.model.means import MeanLike
from pengp.path.fitting import Model, checked_model
from pengp.path.flatness import Flat
from pengp.path.penalized import Modes, PathFit, fit_path
from pengp.path.penalties import AnyPenalty


class SurrogateMixin:
    """Methods and learned attributes that the estimators share; see there.

    A subclass has these parameters and calls `_runs`, `_model`, `_path` and `_keep` in ``fit``.
    """

    kernel: str | Kernel
    penalty: str | AnyPenalty
    isotropic: bool
    nugget: float | str
    mean: MeanLike
    theta_bounds: tuple[float, float]
    input_bounds: ArrayLike | None
    n_starts: int | ArrayLike

    _surrogate: Surrogate
    _chosen: PathFit  # the path at lam_, with a lambda axis of length 1
    _one_output: bool  # whether y was [n], not [n, q]
    X_train_: FloatArray
    y_train_: FloatArray

    def _runs(self, X: Any, y: Any) -> tuple[FloatArray, FloatArray]:
        """Return X_raw [n, d] and y_raw [n, q] as finite floats; remember whether y was [n]."""
        X, y = validate_data(
            self, X, y, dtype=np.float64, multi_output=True, y_numeric=True, ensure_min_samples=2
        )
        self._one_output = y.ndim == 1
        # Copies: a caller who goes on to change the arrays must not change the fit.
        return np.array(X), np.array(y, dtype=np.float64).reshape(len(X), -1)

    def _model(self) -> Model:
        """Return what is to be fitted, checked."""
        return checked_model(
            kernel=self.kernel,
            penalty=self.penalty,
            isotropic=self.isotropic,
            nugget=self.nugget,
            mean=self.mean,
            theta_bounds=self.theta_bounds,
        )

    def _path(self, data: TrainingData, model: Model, lams: FloatArray, seed: int) -> PathFit:
        """Fit all outputs to all runs at lams [L], in one batch."""
        sets = data.datasets(one_output=self._one_output)
        return fit_path(sets, lams, model, self._starts(data, model), np.random.default_rng(seed))

    def _starts(self, data: TrainingData, model: Model) -> int | FloatArray:
        """Return the number of starts or the log thetas to start from, checked."""
        return check_starts(self.n_starts, 1 if model.isotropic else data.X.shape[1])

    def _names(self) -> Any:
        """Return the names of the inputs, None if they have none."""
        return getattr(self, "feature_names_in_", None)

    def _keep(self, data: TrainingData, path: PathFit, index: IntArray) -> None:
        """Set the learned attributes from the full-data path and the place of lam_ in it [...]."""
        self._chosen = chosen = path_at(path, index)
        self.X_train_ = data.X_raw
        self.y_train_ = data.y_raw[:, 0] if self._one_output else data.y_raw
        self._surrogate = condition_all(data.X, data.y_raw, data.inputs, data.response, chosen)
        self.path_ = path
        self.lam_ = self._per_output(path.lams[index])
        self.theta_ = chosen.theta[..., 0, :]
        lengthscale = data.inputs.lengthscale(self.theta_)
        self.lengthscale_ = np.where(data.inputs.constant, np.inf, lengthscale)
        self.sigma2_ = self._per_output(chosen.sigma2[..., 0])
        self.nugget_ = self._per_output(chosen.nugget[..., 0])
        self.mean_ = self._prior_mean()

    def _per_output(self, values: FloatArray) -> Any:
        """Return a number for one output y [n], else values [q]."""
        return float(values.item()) if self._one_output else values

    def _prior_mean(self) -> Any:
        """Return the prior mean over the runs in the user's units, a number or [q]."""
        means = np.array([posterior.level for posterior in self._surrogate.posteriors])
        return self._per_output(self._surrogate.response.inverse(means))

    @property
    def trend_(self) -> FloatArray:
        """Coefficients [k] or [q, k] of the mean's basis functions, in the units of y."""
        check_is_fitted(self)
        trends = np.array([posterior.trend for posterior in self._surrogate.posteriors])
        scaled: FloatArray = trends * self._surrogate.response.sd[:, None]
        return scaled[0] if self._one_output else scaled

    @property
    def modes_(self) -> Modes:
        """All local maxima found at lam_, best first: theta [M, d] or [q, M, d], ..."""
        check_is_fitted(self)
        return without_axis(self._chosen.modes, axis=0 if self._one_output else 1)

    @property
    def flat_(self) -> Flat:
        """Stretch of c theta_, c > 0, where log L is flat to 1e-4; computed on first use."""
        check_is_fitted(self)
        return without_axis(self._chosen.flat, axis=0 if self._one_output else 1)

    @property
    def loo_(self) -> LeaveOneOut:
        """Leave-one-out predictions at theta_, read-only: mean [n] or [n, q], ..."""
        check_is_fitted(self)
        loo = self._surrogate.loo
        return loo.output(0) if self._one_output else loo

    @overload
    def predict(
        self, X: Any, return_std: Literal[False] = ..., return_cov: Literal[False] = ...
    ) -> FloatArray: ...
    @overload
    def predict(self, X: Any, return_std: bool = ..., return_cov: bool = ...) -> Any: ...
    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        """Predict the response.

        Parameters
        ----------
        X : array or frame, shape [m, d]
            Inputs in the units of the training data.
        return_std : bool
            Also return the standard deviations, those of a new run: nugget included.
        return_cov : bool
            Also return the covariance, nugget on its diagonal; not together with `return_std`.

        Returns
        -------
        mean : [m] or [m, q]
            Predictive means, in the units of y.
        std : [m] or [m, q]
            With `return_std`.
        cov : [m, m] or [m, m, q]
            With `return_cov`.
        """
        if return_std and return_cov:
            raise InputError("ask for return_std or return_cov, not both: cov holds the variances.")
        X_raw, known = self._new_inputs(X), self._surrogate
        if not (return_std or return_cov):
            return self._outputs(known.mean(X_raw))
        both = known.mean_and_std(X_raw) if return_std else known.mean_and_cov(X_raw)
        return self._outputs(both[0]), (both[1][..., 0] if self._one_output else both[1])

    def predict_interval(self, X: Any, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Return central prediction intervals of the normal predictive distribution.

        Parameters
        ----------
        X : array or frame, shape [m, d]
            Inputs in the units of the training data.
        level : float
            Probability that an interval is to cover, between 0 and 1.

        Returns
        -------
        lower, upper : [m] or [m, q]
            mean -+ z std with z the normal quantile of (1 + level) / 2.
        """
        half_width(level)  # says so if the level is none, before any work
        mean, std = self.predict(X, return_std=True)
        return normal_interval(mean, std, level)

    def predict_gradient(self, X: Any) -> FloatArray:
        """Return the derivatives of the predictive mean in the inputs, in the user's units.

        Parameters
        ----------
        X : array or frame, shape [m, d]
            Inputs in the units of the training data.

        Returns
        -------
        [m, d] or [m, q, d]
            0 for an ignored input.
        """
        return self._outputs(self._surrogate.gradient(self._new_inputs(X)))

    def sample_y(self, X: Any, n_samples: int = 1, random_state: RandomState = 0) -> FloatArray:
        """Draw responses from the joint predictive distribution.

        Parameters
        ----------
        X : array or frame, shape [m, d]
            Inputs in the units of the training data.
        n_samples : int
            Number of draws.
        random_state : int, Generator, RandomState or None
            Seed of the draws.

        Returns
        -------
        [m, n_samples] or [m, q, n_samples]
            Outputs are independent of each other.
        """
        X_raw, count = self._new_inputs(X), check_count(n_samples, "n_samples", 1)
        return self._outputs(self._surrogate.sample(X_raw, count, as_generator(random_state)))

    def condition_on(self, X_new: Any, y_new: Any) -> Self:
        """Return a fitted copy that knows further runs, without estimating anything anew.

        theta_, nugget_, sigma2_ and the scaling are kept, the trend follows the runs; path_,
        modes_, flat_ and what comes from cross-validation remain those of the runs in ``fit``.
        The Cholesky factor is extended by blocks.

        Parameters
        ----------
        X_new : array or frame, shape [k, d]
            Inputs of the new runs, inside `input_bounds` where these are given.
        y_new : array, shape [k] or [k, q]
            Their responses.
        """
        check_is_fitted(self)
        X_raw, y_raw = validate_data(
            self, X_new, y_new, reset=False, dtype=np.float64, multi_output=True, y_numeric=True
        )
        y_raw = np.asarray(y_raw, dtype=np.float64).reshape(len(X_raw), -1)
        self._check_new_runs(X_raw, y_raw)
        other = copy.copy(self)
        other._surrogate = known = self._surrogate.extend(X_raw, y_raw)
        other.mean_ = other._prior_mean()
        other.X_train_ = np.concatenate([self.X_train_, X_raw])
        other.y_train_ = known.y_raw[:, 0] if self._one_output else known.y_raw
        return other

    def at_lambda(self, lam: float) -> Self:
        """Return a fitted copy at another lambda of path_, without estimating anything anew.

        Parameters
        ----------
        lam : float
            One of ``path_.lams``, for all outputs.
        """
        check_is_fitted(self)
        lams, known = self.path_.lams, self._surrogate
        if not isinstance(lam, numbers.Real) or not np.isfinite(lam):
            raise InputError(f"lam={lam!r} is not a number; use one of path_.lams.")
        if not (lams == lam).any():
            raise InputError(
                f"lam={float(lam)!r} is not among the {len(lams)} values of path_.lams; the "
                f"nearest is {float(lams[np.abs(lams - lam).argmin()])!r}."
            )
        X, y = known.posteriors[0].X, known.response.transform(known.y_raw).T
        data = TrainingData(self.X_train_, known.y_raw, X, y, known.inputs, known.response)
        other, place = copy.copy(self), int(np.flatnonzero(lams == lam)[0])
        other._keep(data, self.path_, np.full(self.path_.objective.shape[:-1], place))
        return other

    def _check_new_runs(self, X_raw: FloatArray, y_raw: FloatArray) -> None:
        """Raise an InputError unless the surrogate can learn X_raw [k, d], y_raw [k, q]."""
        known = self._surrogate
        q = len(known.posteriors)
        if y_raw.shape[1] != q:
            raise InputError(
                f"y_new has {y_raw.shape[1]} outputs, but the model was fitted to {q}."
            )
        check_inside(X_raw, known.inputs, self.input_bounds, self._names())
        if (known.response.constant & (y_raw != known.response.mean).any(axis=0)).any():
            raise InputError(
                "the model was fitted to a constant response and has no scale for other values; "
                "fit it anew on all runs."
            )
        X = np.concatenate([known.posteriors[0].X, known.scale(X_raw)])
        y = np.concatenate([known.y_raw, y_raw])
        check_duplicates(X, y, self._chosen._model.nugget, known=len(known.y_raw))

    def _new_inputs(self, X: Any) -> FloatArray:
        """Return checked inputs [m, d] of a fitted estimator."""
        check_is_fitted(self)
        checked: FloatArray = validate_data(self, X, reset=False, dtype=np.float64)
        return checked

    def _outputs(self, values: FloatArray) -> FloatArray:
        """Drop the output axis, 1, of values [m, q, ...] for one output y [n]."""
        return values[:, 0] if self._one_output else values
