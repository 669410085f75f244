"""What a fitted estimator can do: predict, sample, differentiate, learn new runs, check itself."""

import copy
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Self, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from pengp._core.arrays import FloatArray, RandomState, check_real, check_sizes
from pengp._core.checks import as_generator, check_count, check_flag
from pengp._core.datasets import (
    check_duplicates,
    check_inputs,
    check_points,
    check_runs,
    most_draws,
)
from pengp.bayes.members import Member
from pengp.estimators.data import check_inside, check_near, validated
from pengp.estimators.factors import as_numbers, find_levels
from pengp.estimators.intervals import IntervalMixin
from pengp.estimators.laws import MappedLaw
from pengp.estimators.left_out import LeaveOneOut
from pengp.estimators.noise import check_exact, checked_noise
from pengp.estimators.scales import Scales, check_domains, check_responses
from pengp.estimators.surrogate import Surrogate
from pengp.exceptions import InputError
from pengp.model.elementary import Transform
from pengp.model.levels import Levels, levels_among
from pengp.model.means import LinearMean
from pengp.model.transforms import IDENTITY
from pengp.path.fitting import Model

_HasKernel = TypeVar("_HasKernel", Model, Member)

#: Responses beyond which predictions and intervals might overflow.
_LARGEST_RESPONSE = 1e303


class RawRuns(NamedTuple):
    """Runs in the user's units."""

    X: FloatArray  # [n, d]
    y: FloatArray  # [n, q]
    noise_sd: FloatArray | None  # [n, q], known standard deviations of y


class SurrogateMixin(IntervalMixin):
    """Methods and learned attributes that all estimators share; see there.

    A subclass calls `_runs` in ``fit`` and sets the learned attributes below; it says which nugget
    its surrogate has, and what follows when that learns new runs.
    """

    input_bounds: ArrayLike | None
    input_transforms: Any
    response_transform: Any
    integer_inputs: Any
    factors: Any
    _estimated_nugget = "estimate"  # what the parameter calls a nugget that the runs decide

    _one_output: bool  # whether y was [n], not [n, q]
    _levels: Mapping[int, Levels] = MappingProxyType({})  # of the inputs that are factors
    X_train_: FloatArray
    y_train_: FloatArray

    def _fixed_nugget(self) -> float | None:
        """Return the nugget, None if it is estimated."""
        raise NotImplementedError

    def _hold(self, surrogate: Surrogate[Any]) -> None:
        """Keep a surrogate, with the levels that it knows."""
        super()._hold(surrogate)
        self._levels = levels_among(surrogate.inputs.transforms)

    def _learn(self, surrogate: Surrogate[Any]) -> None:
        """Take over a surrogate that knows more runs."""
        self._hold(surrogate)

    def _runs(self, X: Any, y: Any, noise_sd: Any = None, *, least: int = 2) -> RawRuns:
        """Return runs as finite floats; remember whether y was [n]."""
        self._levels = find_levels(X, self.factors)
        X = as_numbers(X, self._levels, None)
        check_real(X, "X")
        check_real(y, "y")
        X, y = validated(self, X, y, ensure_min_samples=least)
        check_runs(len(X))
        check_inputs(X.shape[1])
        check_sizes(np.asarray(y, dtype=np.float64), "y", _LARGEST_RESPONSE)
        self._one_output = y.ndim == 1
        # Copies: a caller who goes on to change the arrays must not change the fit.
        y_raw = np.array(y, dtype=np.float64).reshape(len(X), -1)
        return RawRuns(np.array(X), y_raw, checked_noise(noise_sd, y_raw))

    def _scales(self) -> Scales:
        """Return the transforms that are asked for."""
        return Scales(
            self.input_transforms, self.response_transform, self.integer_inputs, self._levels
        )

    def _with_levels(self, model: _HasKernel) -> _HasKernel:
        """Return a model whose kernel knows which inputs are factors."""
        if self._levels and isinstance(model.mean, LinearMean):
            raise InputError("mean='linear' has no slope in a factor; use a constant mean.")
        return replace(model, kernel=replace(model.kernel, levels=tuple(self._levels)))

    def _names(self) -> Any:
        """Return the names of the inputs, None if they have none."""
        return getattr(self, "feature_names_in_", None)

    def _per_output(self, values: FloatArray) -> Any:
        """Return a number for one output y [n], else values [q]."""
        return float(values.item()) if self._one_output else values

    @property
    def input_transforms_(self) -> list[Transform]:
        """The transforms of the d inputs."""
        check_is_fitted(self)
        inputs = self._surrogate.inputs
        return list(inputs.transforms or [IDENTITY] * len(inputs.lower))

    @property
    def response_transform_(self) -> Any:
        """The transform of the response, a Transform or a list of q; powers are estimated."""
        check_is_fitted(self)
        found = list(self._surrogate.response.transforms)
        found = found or [IDENTITY] * len(self._surrogate.posteriors)
        return found[0] if self._one_output else found

    def _scale_settings(self) -> dict[str, Any]:
        """Return parameters with which another estimator takes X_train_ and y_train_ likewise."""
        levels, transforms = self._levels, enumerate(self.input_transforms_)
        return {
            "input_bounds": self.input_bounds,
            "input_transforms": {p: t for p, t in transforms if p not in levels},
            "response_transform": self.response_transform_,
            "factors": {p: t.labels if t.are_texts else t.values for p, t in levels.items()},
        }

    @property
    def loo_(self) -> LeaveOneOut:
        """Leave-one-out predictions at `theta_`, read-only: mean [n] or [n, q], ..."""
        check_is_fitted(self)
        loo = self._surrogate.loo
        return loo.output(0) if self._one_output else loo

    def _loo_law(self, output: int) -> MappedLaw:
        """Return the laws [n] behind `loo_`, in the user's unit."""
        return self._surrogate.loo_law(output)

    @overload
    def predict(
        self, X: Any, return_std: Literal[False] = ..., return_cov: Literal[False] = ...
    ) -> FloatArray: ...
    @overload
    def predict(
        self, X: Any, return_std: Literal[True], return_cov: Literal[False] = ...
    ) -> tuple[FloatArray, FloatArray]: ...
    @overload
    def predict(
        self, X: Any, return_std: Literal[False] = ..., *, return_cov: Literal[True]
    ) -> tuple[FloatArray, FloatArray]: ...
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
            Predictive means, in the units of y; for a transformed response those of the law that
            is mapped back (an average cuts its Student t laws at the levels 1e-4 and 1 - 1e-4).
        std : [m] or [m, q]
            With `return_std`.
        cov : [m, m] or [m, m, q]
            With `return_cov`.
        """
        if check_flag(return_std, "return_std") and check_flag(return_cov, "return_cov"):
            raise InputError("ask for return_std or return_cov, not both: cov holds the variances.")
        X_raw, known = self._new_inputs(X), self._surrogate
        if not (return_std or check_flag(return_cov, "return_cov")):
            return self._outputs(known.mean(X_raw))
        if return_cov:
            check_points(len(X_raw), len(known.posteriors))
        both = known.mean_and_std(X_raw) if return_std else known.mean_and_cov(X_raw)
        return self._outputs(both[0]), (both[1][..., 0] if self._one_output else both[1])

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
        X_raw, q = self._new_inputs(X), len(self._surrogate.posteriors)
        check_points(len(X_raw), q)
        count = check_count(n_samples, "n_samples", 1, most_draws(len(X_raw) * q))
        return self._outputs(self._surrogate.sample(X_raw, count, as_generator(random_state)))

    def condition_on(self, X_new: Any, y_new: Any, noise_sd: Any = None) -> Self:
        """Return a fitted copy that knows further runs, without estimating anything anew.

        theta_, nugget_, sigma2_ and the scaling are kept, the trend follows the runs; path_,
        modes_, flat_ and what comes from cross-validation remain those of the runs in ``fit``.
        The Cholesky factor is extended by blocks. The draws of an average are weighted anew, and
        drawn anew where few are left; what else it says remains that of the runs in ``fit``.

        Parameters
        ----------
        X_new : array or frame, shape [k, d]
            Inputs of the new runs, inside `input_bounds` where these are given.
        y_new : array, shape [k] or [k, q]
            Their responses.
        noise_sd : float, [k] or [k, q], optional
            Known standard deviations of y_new, as in ``fit``; a model that was fitted with noise
            needs them (0 for runs without noise), another one takes none.
        """
        check_is_fitted(self)
        X_new = as_numbers(X_new, self._levels, self._names())
        check_real(X_new, "X_new")
        check_real(y_new, "y_new")
        X_raw, y_raw = validated(self, X_new, y_new, reset=False)
        y_raw = np.asarray(y_raw, dtype=np.float64).reshape(len(X_raw), -1)
        sds = self._new_noise(noise_sd, y_raw)
        self._check_new_runs(X_raw, y_raw, sds)
        return self._extended(X_raw, y_raw, sds)

    def _new_noise(self, noise_sd: Any, y_raw: FloatArray) -> FloatArray | None:
        """Return the noise [k, q] of new runs, which belongs to models that were fitted with it."""
        given = checked_noise(noise_sd, y_raw)
        if self._surrogate.noise_sd is None and given is not None:
            raise InputError(
                "the model was fitted without noise and keeps its estimates, so that the new runs "
                "can have none; fit it anew on all runs with noise_sd."
            )
        if self._surrogate.noise_sd is None:
            return None
        if noise_sd is None:
            raise InputError(
                "the model was fitted with known noise; give noise_sd of the new runs as well, 0 "
                "for those without noise."
            )
        return np.zeros(y_raw.shape) if given is None else given

    @property
    def noise_sd_(self) -> Any:
        """Known standard deviations of `y_train_`, in its shape; None if none were given."""
        check_is_fitted(self)
        sds = self._surrogate.noise_sd
        return sds[:, 0] if sds is not None and self._one_output else sds

    def _extended(
        self, X_raw: FloatArray, y_raw: FloatArray, noise_sd: FloatArray | None = None
    ) -> Self:
        """Return a copy that also knows the checked runs X_raw [k, d], y_raw [k, q]."""
        other = copy.copy(self)
        known = self._surrogate.extend(X_raw, y_raw, noise_sd)
        other.X_train_ = np.concatenate([self.X_train_, X_raw])
        other.y_train_ = known.y_raw[:, 0] if self._one_output else known.y_raw
        other._learn(known)
        return other

    def _check_new_runs(
        self, X_raw: FloatArray, y_raw: FloatArray, noise_sd: FloatArray | None = None
    ) -> None:
        """Raise an InputError unless the surrogate can learn X_raw [k, d], y_raw [k, q]."""
        known = self._surrogate
        q = len(known.posteriors)
        if y_raw.shape[1] != q:
            raise InputError(
                f"y_new has {y_raw.shape[1]} outputs, but the model was fitted to {q}."
            )
        check_runs(len(known.y_raw) + len(y_raw))
        check_inside(X_raw, known.inputs, self.input_bounds, self._names())
        check_domains(X_raw, known.inputs.transforms, self._names())
        check_responses(y_raw, known.response.transforms, "y_new")
        check_near(known.response.transform(y_raw))
        if (known.response.constant & (y_raw != known.y_raw[0]).any(axis=0)).any():
            raise InputError(
                "the model was fitted to a constant response and has no scale for other values; "
                "fit it anew on all runs."
            )
        X = np.concatenate([known.posteriors[0].X, known.scale(X_raw)])
        y = np.concatenate([known.y_raw, y_raw])
        if noise_sd is None:
            words = self._estimated_nugget
            check_duplicates(X, y, self._fixed_nugget(), known=len(known.y_raw), estimated=words)
        elif known.noise_sd is not None:
            check_exact(X, y, np.concatenate([known.noise_sd, noise_sd]), known=len(known.y_raw))

    def _new_inputs(self, X: Any) -> FloatArray:
        """Return checked inputs [m, d] of a fitted estimator."""
        check_is_fitted(self)
        X = as_numbers(X, self._levels, self._names())
        check_real(X, "X")
        checked: FloatArray = validated(self, X, reset=False)
        check_domains(checked, self._surrogate.inputs.transforms, self._names())
        return checked

    def _outputs(self, values: FloatArray) -> FloatArray:
        """Drop the output axis, 1, of values [m, q, ...] for one output y [n]."""
        return values[:, 0] if self._one_output else values
