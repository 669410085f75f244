"""Predictions beside what was observed: of every run by the others, or of a validation set."""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from pengp._core.arrays import FloatArray
from pengp.estimators.view import view_of
from pengp.exceptions import InputError
from pengp.plots.fitted import Estimator

LEAVE_ONE_OUT, VALIDATION = "leave-one-out", "validation"


class Predictions(NamedTuple):
    """Normal predictions of n observed responses."""

    observed: FloatArray  # [n]
    mean: FloatArray  # [n]
    std: FloatArray  # [n]

    @classmethod
    def checked(cls, observed: ArrayLike, mean: ArrayLike, std: ArrayLike) -> "Predictions":
        """Return a caller's predictions as floats [n]."""
        given = cls(*(np.asarray(a, dtype=np.float64) for a in (observed, mean, std)))
        shapes = [a.shape for a in given]
        if given.observed.ndim != 1 or not given.observed.size or len(set(shapes)) != 1:
            raise InputError(
                "observed, mean and std must be lists of one length, with at least one number, "
                f"but have shapes {', '.join(map(str, shapes))}."
            )
        for name, values in given._asdict().items():
            bad = ~np.isfinite(values) | ((values < 0.0) if name == "std" else False)
            if bad.any():
                i = int(bad.argmax())
                raise InputError(f"{name} is {values[i]:g} in row {i} (counted from 0).")
        return given

    def standardized(self) -> FloatArray:
        """Return (observed - mean) / std [n]; without spread 0 where the prediction is right."""
        residual = self.observed - self.mean
        wrong = (self.std == 0.0) & (residual != 0.0)
        if wrong.any():
            raise InputError(
                f"std is 0 in row {int(wrong.argmax())} (counted from 0), but the prediction is "
                "not exact, so its standardised residual is not defined."
            )
        return np.divide(residual, self.std, out=np.zeros_like(residual), where=self.std > 0.0)


class OfPredictions:
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

        Parameters
        ----------
        estimator : PenalizedGPRegressor or PenalizedGPRegressorCV
            Fitted.
        output : int
            Which output.
        level : float
            Level of the intervals or of the band.
        response_name : str, optional
            For labels.
        """
        view = view_of(estimator, output, response_name=response_name)
        predictions = Predictions(view.y, view.loo.mean, view.loo.std)
        return cls._of(predictions, level, LEAVE_ONE_OUT, view.response)

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
        """Take predictions of a validation set.

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
