"""Predictions beside what was observed: of runs that were held out, or of a validation set."""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from pengp._core.arrays import FloatArray
from pengp._core.shown import Shown
from pengp.choosing.laws import NormalLaw
from pengp.choosing.scores import half_width, normal_interval
from pengp.estimators.view import FittedView, view_of
from pengp.exceptions import InputError
from pengp.model.transforms import IDENTITY
from pengp.plots.fitted import Estimator

LEAVE_ONE_OUT, HELD_OUT, VALIDATION = "leave-one-out", "held-out", "validation"

#: Probability beyond which a law's tail is not told apart: eight standard deviations.
_LEAST = 1e-15


class Predictions(NamedTuple):
    """Predictions of n observed responses: normal ones, unless they bring their own laws."""

    observed: FloatArray  # [n]
    mean: FloatArray  # [n]
    std: FloatArray  # [n]
    ends: tuple[FloatArray, FloatArray] | None = None  # [n], [n], of intervals that are not normal
    below: FloatArray | None = None  # [n], F(observed) of laws that are not normal
    runs: int | None = None  # how many of them are different runs, where some come several times

    @classmethod
    def of_left_out(cls, view: FittedView, level: float) -> "Predictions":
        """Take the runs, each predicted from all others at the estimates from all of them."""
        own, law = cls(view.y, view.loo.mean, view.loo.std), view.left_out_law
        if law is None:
            return own
        lower, upper = law.interval(level).T
        return own._replace(ends=(lower, upper), below=law.cdf(view.y))

    @classmethod
    def of_held_out(cls, view: FittedView, level: float) -> "Predictions":
        """Take the runs of ``fit``, each predicted by a fit that did not know it."""
        found = view.held_out(level)
        if found is None:
            raise InputError(
                f"{view.response} is constant or has too few runs for any to be held out."
            )
        own = cls(found.y, found.mean, found.std, runs=len(np.unique(found.run)))
        if view.is_penalized and view.response_transform == IDENTITY:
            return own
        return own._replace(ends=(found.lower, found.upper), below=found.below)

    @property
    def different(self) -> int:
        """How many different runs are predicted; repeats of one do not tell more than one."""
        return len(self.observed) if self.runs is None else self.runs

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper ends [n] of the intervals."""
        return normal_interval(self.mean, self.std, level) if self.ends is None else self.ends

    def probability_below(self) -> FloatArray:
        """Return the predicted probability [n] of a response below the observed one."""
        if self.below is not None:
            return self.below
        return NormalLaw(self.mean, self.std).cdf(self.observed)

    @classmethod
    def checked(cls, observed: ArrayLike, mean: ArrayLike, std: ArrayLike) -> "Predictions":
        """Return a caller's predictions as floats [n]."""
        floats = [np.asarray(a, dtype=np.float64) for a in (observed, mean, std)]
        given = cls(floats[0], floats[1], floats[2])
        shapes = [a.shape for a in given[:3]]
        if given.observed.ndim != 1 or not given.observed.size or len(set(shapes)) != 1:
            raise InputError(
                "observed, mean and std must be lists of one length, with at least one number, "
                f"but have shapes {', '.join(map(str, shapes))}."
            )
        for name, values in zip(cls._fields, given[:3], strict=False):
            bad = ~np.isfinite(values) | ((values < 0.0) if name == "std" else False)
            if bad.any():
                i = int(bad.argmax())
                raise InputError(f"{name} is {values[i]:g} in row {i} (counted from 0).")
        return given

    def standardized(self) -> FloatArray:
        """Return (observed - mean) / std [n]; without spread 0 where the prediction is right.

        For laws that are not normal it is the normal quantile of the same probability, F(observed).
        """
        if self.below is not None:
            return np.asarray(ndtri(np.clip(self.below, _LEAST, 1.0 - _LEAST)))
        residual = self.observed - self.mean
        wrong = (self.std == 0.0) & (residual != 0.0)
        if wrong.any():
            raise InputError(
                f"std is 0 in row {int(wrong.argmax())} (counted from 0), but the prediction is "
                "not exact, so its standardised residual is not defined."
            )
        return np.divide(residual, self.std, out=np.zeros_like(residual), where=self.std > 0.0)


class OfPredictions(Shown):
    """Makes a display from a fitted estimator or from predictions; it computes itself in ``_of``.

    ``level`` is that of the intervals, or of the band that shows what chance does.
    """

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        *,
        output: int = 0,
        level: float = 0.95,
        response_name: str | None = None,
    ) -> Self:
        """Take each run's prediction from all others, at the estimates from all runs.

        Those have seen the run, which flatters; see `from_held_out`. An average learns theta anew
        without the run, so that both are the same.

        Parameters
        ----------
        estimator : BayesianGPRegressor, PenalizedGPRegressor or PenalizedGPRegressorCV
            Fitted.
        output : int
            Which output.
        level : float
            Level of the intervals or of the band.
        response_name : str, optional
            For labels.
        """
        view = view_of(estimator, output, response_name=response_name)
        if not view.is_penalized and not view.is_constant:
            return cls.from_held_out(view, level=level)
        half_width(level)  # says so if the level is none
        predictions = Predictions.of_left_out(view, level)
        return cls._of(predictions, level, LEAVE_ONE_OUT, view.response)

    @classmethod
    def from_held_out(
        cls,
        estimator: Estimator,
        *,
        output: int = 0,
        level: float = 0.95,
        response_name: str | None = None,
    ) -> Self:
        """Take the runs of ``fit``, predicted by fits that did not know them, as `held_out` does.

        Parameters
        ----------
        estimator : BayesianGPRegressor, PenalizedGPRegressor or PenalizedGPRegressorCV
            Fitted.
        output : int
            Which output.
        level : float
            Level of the intervals or of the band.
        response_name : str, optional
            For labels.
        """
        view = view_of(estimator, output, response_name=response_name)
        return cls._of(Predictions.of_held_out(view, level), level, HELD_OUT, view.response)

    @classmethod
    def from_test_runs(
        cls,
        estimator: Estimator,
        X: Any,
        y: ArrayLike,
        *,
        output: int = 0,
        level: float = 0.95,
        response_name: str | None = None,
        noise_sd: ArrayLike | None = None,
    ) -> Self:
        """Take the predictions of test runs, with the estimator's own laws.

        Parameters
        ----------
        estimator : BayesianGPRegressor, PenalizedGPRegressor or PenalizedGPRegressorCV
            Fitted.
        X : array or frame, shape [n, d]
            Inputs of the test runs.
        y : [n]
            Their responses.
        output : int
            Which output.
        level : float
            Level of the intervals or of the band.
        response_name : str, optional
            For labels.
        noise_sd : float or [m], optional
            Known standard deviations of the noise of y.
        """
        half_width(level)  # says so if the level is none
        view = view_of(estimator, output, response_name=response_name)
        law = view.law(X, noise_sd)
        given = Predictions.checked(y, law.mean(), law.std())
        lower, upper = law.interval(level).T
        given = given._replace(ends=(lower, upper), below=law.cdf(given.observed))
        return cls._of(given, level, VALIDATION, view.response)

    @classmethod
    def from_predictions(
        cls,
        observed: ArrayLike,
        mean: ArrayLike,
        std: ArrayLike,
        *,
        level: float = 0.95,
        response_name: str | None = None,
    ) -> Self:
        """Take normal predictions of a validation set.

        Parameters
        ----------
        observed : [n]
            Responses of the validation runs.
        mean, std : [n]
            Their predictive means and standard deviations.
        level : float
            Level of the intervals or of the band.
        response_name : str, optional
            For labels.
        """
        predictions = Predictions.checked(observed, mean, std)
        return cls._of(predictions, level, VALIDATION, response_name or "response")

    @classmethod
    def _of(cls, given: Predictions, level: float, source: str, response_name: str) -> Self:
        """Return the display of predictions."""
        raise NotImplementedError
