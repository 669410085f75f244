"""The one view of a fitted model that diagnostics, plots, report and command line read.

An estimator needs its runs (``X_train_``, ``y_train_``), ``theta_``, ``lengthscale_``,
``input_bounds``, ``held_out``, ``predict`` and ``predict_interval``. What only a fit by penalized
likelihood has (lambda, path, modes, flat stretch, bounds of theta, leave-one-out with theta kept)
is there if `is_penalized`; what only a Bayesian average has is in `average`.
"""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from pengp._core.arrays import BoolArray, FloatArray, as_floats
from pengp._core.checks import check_output, is_whole
from pengp.choosing.validation import Law
from pengp.estimators.average_view import AverageView
from pengp.estimators.base import SurrogateMixin
from pengp.estimators.data import check_near
from pengp.estimators.heldout import HeldOut
from pengp.estimators.left_out import LeaveOneOut
from pengp.estimators.nested import surrogate_in
from pengp.estimators.noise import noise_words
from pengp.estimators.path_view import active_inputs
from pengp.estimators.scaled_view import ScaledView
from pengp.exceptions import InputError
from pengp.model.kernels import Kernel
from pengp.model.levels import levels_among

#: Runs from which each can be held out and the others fitted.
_FEWEST_HELD_OUT = 4
#: Probability above which an input of an average counts as one that matters.
_PROBABLE = 0.5


def _as_names(names: object) -> tuple[str, ...]:
    """Return names of inputs, or raise an InputError if they are no list of such."""
    if isinstance(names, str) or np.ndim(cast(Any, names)) != 1:
        raise InputError(f"input_names must be a list of names, not {names!r}.")
    return tuple(map(str, cast(Iterable[object], names)))


def names_of_inputs(
    fitted: Any, given: Sequence[str] | None = None, d: int | None = None
) -> tuple[str, ...]:
    """Return the names of the d inputs: those given, those of the frame fitted, else x1 to xd.

    The fitted estimator or pipeline tells d where it is not given.
    """
    d = fitted.n_features_in_ if d is None else d
    found = getattr(fitted, "feature_names_in_", None) if given is None else given
    names = [f"x{p + 1}" for p in range(d)] if found is None else _as_names(found)
    if len(names) != d:
        raise InputError(f"input_names has {len(names)} names, but there are {d} inputs.")
    return tuple(names)


def count_outputs(estimator: Any) -> int:
    """Return the number q of outputs."""
    return 1 if estimator.y_train_.ndim == 1 else int(estimator.y_train_.shape[1])


def check_model(estimator: Any) -> None:
    """Raise an InputError unless this is an estimator of the package, and fitted."""
    if not isinstance(estimator, SurrogateMixin):
        raise InputError(
            "a fitted BayesianGPRegressor, PenalizedGPRegressor or PenalizedGPRegressorCV is "
            f"needed, or a pipeline that ends in one, not a {type(estimator).__name__}."
        )
    check_is_fitted(estimator)


def view_of(
    estimator: Any,
    output: int = 0,
    input_names: Sequence[str] | None = None,
    response_name: str | None = None,
) -> "FittedView":
    """Return the view of one output of a fitted estimator.

    Parameters
    ----------
    estimator : BayesianGPRegressor, PenalizedGPRegressor or PenalizedGPRegressorCV
        Fitted, or a Pipeline or TransformedTargetRegressor around one, whose inputs and response
        are then those after the transforms; a view, which has its output and names, is returned as
        it is.
    output : int
        Which output.
    input_names : sequence of d strings, optional
        By default those of the frame that was fitted, else x1 to xd.
    response_name : str, optional
        By default "response", or "output 0", ... where there are several.
    """
    if isinstance(estimator, FittedView):
        return estimator
    estimator = surrogate_in(estimator)
    check_model(estimator)
    output = check_output(output, count_outputs(estimator))
    names = names_of_inputs(estimator, input_names)
    if response_name is None:
        response_name = "response" if estimator.y_train_.ndim == 1 else f"output {output}"
    return FittedView(estimator, output, names, response_name)


@contextmanager
def _without_names() -> Iterator[None]:
    """Allow columns without names: they are in the order of the runs' own."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        yield


@dataclass(frozen=True, eq=False)
class FittedView(ScaledView):
    """One output of a fitted estimator; what takes time is computed once, when asked for.

    Attributes
    ----------
    estimator : BayesianGPRegressor, PenalizedGPRegressor or PenalizedGPRegressorCV
        Fitted.
    output : int
        Which output.
    names : tuple of d strings
        Names of the inputs.
    response : str
        Name of the response.
    """

    estimator: Any
    output: int
    names: tuple[str, ...]
    response: str

    # The runs

    @property
    def X(self) -> FloatArray:  # noqa: N802 (the paper's X_n)
        """Inputs of the runs [n, d], in the user's units."""
        inputs: FloatArray = self.estimator.X_train_
        return inputs

    @cached_property
    def y(self) -> FloatArray:
        """Responses of the runs [n], in the user's units."""
        return np.asarray(self.own(self.estimator.y_train_, axis=-1))

    @cached_property
    def noise_sd(self) -> FloatArray | None:
        """Known standard deviations of the runs' responses [n], in the user's units, if any."""
        sd = self.estimator.noise_sd_
        return None if sd is None else np.asarray(self.own(sd, axis=-1))

    @property
    def noise_words(self) -> str:
        """What is known of the responses' noise, in words; empty for nothing."""
        return "" if self.noise_sd is None else noise_words(self.noise_sd)

    @cached_property
    def ranges(self) -> tuple[FloatArray, FloatArray]:
        """Lower and upper ends [d] of the inputs: as declared, else those of the runs.

        Of a factor the values of its first and last level, whatever bounds are declared.
        """
        low, high = self.X.min(axis=0), self.X.max(axis=0)
        if self.estimator.input_bounds is not None:
            low, high = np.array(self.estimator.input_bounds, dtype=np.float64).T
        for p, levels in levels_among(self.input_transforms).items():
            low[p], high[p] = levels.values[0], levels.values[-1]
        return low, high

    @cached_property
    def constant(self) -> BoolArray:
        """Whether an input [d] had one value only when the model was fitted."""
        return np.asarray(np.isinf(self.lengthscale))

    def input_index(self, which: int | str) -> int:
        """Return the number of an input given by name or number."""
        if isinstance(which, str):
            if which not in self.names:
                raise InputError(f"no input {which!r}; there are {', '.join(self.names)}.")
            return self.names.index(which)
        if not is_whole(which, 0, len(self.names) - 1):
            raise InputError(f"no input {which!r}; there are {len(self.names)}, counted from 0.")
        return int(which)

    # The estimates

    @cached_property
    def theta(self) -> FloatArray:
        """Estimates [d], for inputs in the unit cube; of an average the posterior medians."""
        return np.asarray(self.own(self.estimator.theta_))

    @cached_property
    def lengthscale(self) -> FloatArray:
        """Lengthscales [d], in the inputs' units; infinite for a constant input."""
        return np.asarray(self.own(self.estimator.lengthscale_))

    @cached_property
    def active(self) -> BoolArray:
        """Whether an input [d] matters: by `active_inputs`, or more probably than not."""
        if self.is_penalized:
            return active_inputs(self.theta, self.bounds[0], self.constant)
        if self.is_constant:
            return np.zeros(len(self.theta), dtype=bool)
        return np.asarray(self.average.activity.probability > _PROBABLE)

    @cached_property
    def importance(self) -> FloatArray:
        """How much each input [d] moves the response, to rank them: theta, or median change."""
        if self.is_penalized:
            return self.theta
        if self.is_constant:
            return np.zeros(len(self.theta))
        change = self.average.activity.change
        return np.where(self.constant, 0.0, change[:, change.shape[1] // 2])

    @property
    def processes(self) -> list[tuple[Kernel, FloatArray, FloatArray]]:
        """Kernels of the processes that predict, with theta [M, d] and weights [M] of each."""
        mixture = self.estimator._surrogate.posteriors[self.output]
        if self.is_penalized:
            return [(mixture.kernel, self.theta[None], np.ones(1))]
        mine = [mixture.member == k for k in range(len(mixture.members))]
        return [
            (member.kernel, mixture.theta[k], mixture.weight[k])
            for member, k in zip(mixture.members, mine, strict=True)
        ]

    # Predictions

    @cached_property
    def loo(self) -> LeaveOneOut:
        """Each run [n] predicted from all others: theta kept, or learned anew by an average."""
        found: LeaveOneOut = self.estimator.loo_
        return found if self.estimator.y_train_.ndim == 1 else found.output(self.output)

    @property
    def left_out(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Responses, means and standard deviations [n] of the leave-one-out predictions."""
        return self.loo.mean + self.loo.residual, self.loo.mean, self.loo.std

    def held_out(self, level: float = 0.95) -> HeldOut | None:
        """The runs of the fit predicted by fits that did not know them; None if all are equal."""
        if self.is_constant or self.n_fitted < _FEWEST_HELD_OUT:
            return None
        if level not in self._held_out:
            self._held_out[level] = self.estimator.held_out(self.output, level)
        return self._held_out[level]

    @cached_property
    def _held_out(self) -> dict[float, HeldOut]:
        """What `held_out` has found, by level."""
        return {}

    def checked_runs(self, X: Any, y: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return test runs X [m, d], y [m] as finite numbers; a label of a level as its value."""
        with _without_names():
            inputs: FloatArray = self.estimator._new_inputs(X)
        seen = as_floats(y, "y")
        if seen.shape != inputs.shape[:1]:
            raise InputError(f"y has the shape {seen.shape}, but X has {len(inputs)} rows.")
        if not np.isfinite(seen).all():
            i = int(np.argmin(np.isfinite(seen)))
            raise InputError(f"y has {seen[i]} in row {i}; remove or repair that run.")
        if not self.is_constant:
            check_near(self.estimator._surrogate.standardised(seen, self.output), "y")
        return inputs, seen

    def law(self, X: Any, noise_sd: Any = None) -> Law:
        """Return the predictive laws at X [m, d], whose columns are in the order of the runs.

        They are of the response without noise, or with noise of standard deviations [m].
        """
        with _without_names():
            law: Law = self.estimator.predictive_law(X, self.output, noise_sd)
        return law

    def predict(self, X: FloatArray, level: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return means [m] and ends of intervals [m], [m] at X [m, d]."""
        with _without_names():
            mean = self.own(self.estimator.predict(X), -1)
            lower, upper = (self.own(a, -1) for a in self.estimator.predict_interval(X, level))
        return mean, lower, upper

    def predict_std(self, X: FloatArray) -> FloatArray:
        """Return standard deviations [m] at X [m, d]."""
        with _without_names():
            return np.asarray(self.own(self.estimator.predict(X, return_std=True)[1], -1))

    @property
    def is_constant(self) -> bool:
        """Whether the response was constant when the model was fitted."""
        return bool(self.estimator._surrogate.response.constant[self.output])

    @property
    def n_fitted(self) -> int:
        """Number of runs in ``fit``."""
        if self.is_penalized:
            return len(self.fitted_runs.y)
        found = self.estimator._averages[self.output]
        return len(self.y) if found is None else len(found.y)

    @property
    def learned_later(self) -> int:
        """Number of runs that the model learned after its fit."""
        return len(self.y) - self.n_fitted

    # Of a Bayesian average only

    @cached_property
    def average(self) -> AverageView:
        """Activity of the inputs, explanations, weights of the kernels, draws."""
        if self.is_penalized:
            raise InputError(
                f"{type(self.estimator).__name__} is one estimate and no average over theta; fit "
                "a BayesianGPRegressor, or look at ThetaPathDisplay."
            )
        return AverageView.of(self.estimator, self.output)
