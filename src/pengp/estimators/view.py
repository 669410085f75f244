"""The one view of a fitted model that diagnostics, plots, report and command line read.

An estimator needs its runs (``X_train_``, ``y_train_``), ``theta_``, ``lengthscale_``,
``input_bounds``, ``loo_``, ``held_out`` and ``predict``, and without a path ``activity_``. What
only a fit by penalized likelihood has (lambda, path, modes, flat stretch, bounds of theta) is there
if `is_penalized`.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pengp._core.arrays import BoolArray, FloatArray, IntArray
from pengp.choosing.crossval import CVTable
from pengp.choosing.rules import RULES
from pengp.choosing.scores import half_width
from pengp.estimators.base import SurrogateMixin
from pengp.estimators.heldout import HeldOut
from pengp.estimators.scaled_view import ScaledView
from pengp.estimators.surrogate import LeaveOneOut
from pengp.exceptions import InputError
from pengp.path.flatness import Flat
from pengp.path.penalized import PathFit

#: Runs from which each can be held out and the others fitted.
_FEWEST_HELD_OUT = 4
#: Round-off up to which theta counts as at its lower bound.
_AT_BOUND = 1e-9


class Mode(NamedTuple):
    """A local maximum of the penalized likelihood."""

    theta: FloatArray  # [d], for inputs in the unit cube
    deficit: float
    """How far its objective lies below the best one's."""
    active: BoolArray  # [d], see `active_inputs`
    objective: float
    loglik: float


def active_inputs(theta: FloatArray, lower: float, constant: BoolArray) -> BoolArray:
    """Tell which inputs matter: not constant [d] in the fit, theta [d] above its lower bound."""
    return np.asarray((theta > lower * (1.0 + _AT_BOUND)) & ~constant)


def names_of_inputs(estimator: Any) -> tuple[str, ...]:
    """Return the names of the d inputs: those of the frame that was fitted, else x1 to xd."""
    d = estimator.n_features_in_
    names = getattr(estimator, "feature_names_in_", [f"x{p + 1}" for p in range(d)])
    return tuple(str(name) for name in names)


def count_outputs(estimator: Any) -> int:
    """Return the number q of outputs."""
    return 1 if estimator.y_train_.ndim == 1 else int(estimator.y_train_.shape[1])


def check_model(estimator: Any) -> None:
    """Raise an InputError unless this is an estimator of the package, and fitted."""
    if not isinstance(estimator, SurrogateMixin):
        raise InputError(
            "a fitted PenalizedGPRegressor or PenalizedGPRegressorCV is needed, not a "
            f"{type(estimator).__name__}; of a pipeline give the last step."
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
    estimator : PenalizedGPRegressor or PenalizedGPRegressorCV
        Fitted; a view, which has its output and names, is returned as it is.
    output : int
        Which output.
    input_names : sequence of d strings, optional
        By default those of the frame that was fitted, else x1 to xd.
    response_name : str, optional
        By default "response", or "output 0", ... where there are several.
    """
    if isinstance(estimator, FittedView):
        return estimator
    check_model(estimator)
    q, d = count_outputs(estimator), estimator.n_features_in_
    if not 0 <= output < q:
        raise InputError(f"output={output} does not exist; there are {q}, counted from 0.")
    names = names_of_inputs(estimator) if input_names is None else tuple(map(str, input_names))
    if len(names) != d:
        raise InputError(f"input_names has {len(names)} names, but there are {d} inputs.")
    if response_name is None:
        response_name = "response" if estimator.y_train_.ndim == 1 else f"output {output}"
    return FittedView(estimator, output, names, response_name)


@dataclass(frozen=True, eq=False)
class FittedView(ScaledView):
    """One output of a fitted estimator; what takes time is computed once, when asked for.

    Attributes
    ----------
    estimator : PenalizedGPRegressor or PenalizedGPRegressorCV
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
    def ranges(self) -> tuple[FloatArray, FloatArray]:
        """Lower and upper ends [d] of the inputs: as declared, else those of the runs."""
        if self.estimator.input_bounds is None:
            return self.X.min(axis=0), self.X.max(axis=0)
        declared = np.asarray(self.estimator.input_bounds, dtype=np.float64)
        return declared[:, 0], declared[:, 1]

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
        if not 0 <= which < len(self.names):
            raise InputError(f"no input {which}; there are {len(self.names)}, counted from 0.")
        return int(which)

    # The estimates

    @cached_property
    def theta(self) -> FloatArray:
        """Estimates [d], for inputs in the unit cube."""
        return np.asarray(self.own(self.estimator.theta_))

    @cached_property
    def lengthscale(self) -> FloatArray:
        """Lengthscales [d], in the inputs' units; infinite for a constant input."""
        return np.asarray(self.own(self.estimator.lengthscale_))

    @property
    def bounds(self) -> tuple[float, float]:
        """Range of every theta."""
        low, high = self.estimator.theta_bounds
        return float(low), float(high)

    @cached_property
    def active(self) -> BoolArray:
        """Whether an input [d] matters: by `active_inputs`, or more probably than not."""
        if self.is_penalized:
            return active_inputs(self.theta, self.bounds[0], self.constant)
        found = self.own(self.estimator.activity_)
        return np.zeros(len(self.theta), bool) if found is None else found.probability > 0.5

    @property
    def sigma(self) -> float:
        """Standard deviation of the process, in the unit of `modelled`."""
        scaler = self.estimator._surrogate.response
        sd = np.sqrt(np.atleast_1d(self.estimator.sigma2_))
        return float(scaler.inverse_std(sd)[self.output])

    # Predictions

    @cached_property
    def loo(self) -> LeaveOneOut:
        """Each run [n] predicted from all others."""
        found: LeaveOneOut = self.estimator.loo_
        return found if self.estimator.y_train_.ndim == 1 else found.output(self.output)

    @property
    def left_out(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Responses, means and standard deviations [n] of the leave-one-out predictions."""
        return self.loo.mean + self.loo.residual, self.loo.mean, self.loo.std

    def held_out(self, level: float = 0.95) -> HeldOut | None:
        """The runs of the fit predicted by fits that did not know them; None if all are equal."""
        if self.is_constant or len(self.loo.mean) < _FEWEST_HELD_OUT:
            return None
        found: HeldOut = self.estimator.held_out(self.output, level)
        return found

    def predict(self, X: FloatArray, level: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return means [m] and ends of intervals [m], [m] at X [m, d]."""
        half_width(level)
        with warnings.catch_warnings():
            # The columns are in the order of the runs' own, so names cannot be mixed up.
            warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
            mean, ends = self.estimator.predict(X), self.estimator.predict_interval(X, level)
        return self.own(mean, -1), self.own(ends[0], -1), self.own(ends[1], -1)

    # Of a fit by penalized likelihood only

    @property
    def is_penalized(self) -> bool:
        """Whether there is a path over lambda, and with it all of the following."""
        return hasattr(self.estimator, "path_")

    @property
    def path(self) -> PathFit:
        """Estimates of all outputs at every lambda."""
        if not self.is_penalized:
            raise InputError(
                f"{type(self.estimator).__name__} has no path over lambda; fit a "
                "PenalizedGPRegressor or a PenalizedGPRegressorCV."
            )
        path: PathFit = self.estimator.path_
        return path

    @cached_property
    def lam(self) -> float:
        """The lambda of the estimates."""
        return float(self.own(self.estimator.lam_))

    @cached_property
    def _place(self) -> int:
        """Where lam is in the path."""
        return int(np.flatnonzero(self.path.lams == self.lam)[0])

    @property
    def at_bound(self) -> IntArray:
        """-1 where theta [d] is at its lower bound, 1 at the upper, else 0."""
        return np.asarray(self.own(self.path.at_bound)[self._place])

    @property
    def converged(self) -> bool:
        """Whether theta is a stationary point."""
        return bool(self.own(self.path.converged)[self._place])

    @cached_property
    def flat(self) -> Flat:
        """Stretch of the ray through theta where log L is flat: lower and upper end [d]."""
        flat: Flat = self.estimator.flat_
        return Flat(*(self.own(a) for a in (flat.lower, flat.upper, flat.loglik)))

    @cached_property
    def modes(self) -> tuple[Mode, ...]:
        """All local maxima found at lam, best first; the first is the estimate."""
        if not self.is_penalized:
            return ()
        modes, low = self.estimator.modes_, self.bounds[0]
        found = (self.own(a) for a in (modes.theta, modes.objective, modes.loglik))
        rows = list(zip(*found, strict=True))[: int(self.own(modes.count))]
        best = rows[0][1]
        return tuple(
            Mode(
                theta,
                # The best is infinite for a constant response.
                0.0 if objective == best else float(best - objective),
                active_inputs(theta, low, self.constant),
                float(objective),
                float(loglik),
            )
            for theta, objective, loglik in rows
        )

    @property
    def fitted_runs(self) -> tuple[FloatArray, FloatArray]:
        """The runs of ``fit``, scaled: X [n, d] in the unit cube, standardised y [n]."""
        data = self.path._data
        return data.X[self.output], data.y[self.output]

    @property
    def is_constant(self) -> bool:
        """Whether the response was constant when the model was fitted."""
        return bool(self.estimator._surrogate.response.constant[self.output])

    @property
    def learned_later(self) -> int:
        """Number of runs that the model learned after its fit."""
        return len(self.y) - len(self.fitted_runs[1]) if self.is_penalized else 0

    # Of cross-validation only

    @property
    def is_selected(self) -> bool:
        """Whether lambda was to be chosen by cross-validation."""
        return hasattr(self.estimator, "cv_table_")

    @property
    def table(self) -> CVTable | None:
        """The table of folds, None where nothing was cross-validated."""
        table: CVTable | None = self.own(self.estimator.cv_table_) if self.is_selected else None
        return table

    @property
    def metric(self) -> str | None:
        """The metric that chose lambda, which stands first in the table of folds."""
        return None if self.table is None else next(iter(self.table.values))

    @cached_property
    def stability(self) -> FloatArray | None:
        """The lambda [repeats] that each repeat of the folds alone chooses, None without repeats.

        None also for a rule of the user's own, of which a model file keeps the name only.
        """
        table, rule = self.table, getattr(self.estimator, "rule", "")
        if table is None or table.plan.repeats == 1 or not (callable(rule) or rule in RULES):
            return None
        return np.asarray(table.stability(str(self.metric), rule))
