"""The paper's choice of lambda beside an average of the same runs, and how the two differ."""

import warnings
from typing import NamedTuple

import numpy as np
from scipy import stats

from pengp.choosing.folds import DEFAULT_K
from pengp.estimators import BayesianGPRegressor, PenalizedGPRegressorCV
from pengp.estimators.view import FittedView
from pengp.exceptions import PengpWarning
from pengp.report.text import lam_is, number, percent

#: Beyond so many runs the folds are dealt once, as the fit would take too long.
_FEW_RUNS = 30
#: Logarithm to base 2 of the number of points at which predictions are compared.
_POINTS = 10
_LEVEL = 0.95


def paper_fit(model: BayesianGPRegressor) -> PenalizedGPRegressorCV:
    """Fit the runs of an average as the paper does: lasso, DPE, one-standard-error rule.

    Inputs and response are on the average's scales, so that only the two ways differ.
    """
    X, y = model.X_train_, model.y_train_
    cv = None if len(X) <= _FEW_RUNS else DEFAULT_K
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PengpWarning)  # the average's own fit has said it
        return PenalizedGPRegressorCV(cv=cv, **model._scale_settings(), random_state=0).fit(
            X, y, model.noise_sd_
        )


class Difference(NamedTuple):
    """How two surrogates of the same runs differ over the design region."""

    typical: float
    """Root mean square difference of the means, in standard deviations of the first."""
    largest: float
    """The largest difference of the means, likewise."""
    width: float
    """Median ratio of the widths of their intervals, second to first."""
    lam: float
    """Lambda of the second."""

    def sentence(self) -> str:
        """Say it."""
        wide = f"{number(self.width, 2)} times as wide as the average's"
        if 0.95 < self.width < 1.05:
            wide = "about as wide as the average's"
        return (
            f"Over the design region the paper's choice, {lam_is(self.lam)}, predicts means that "
            f"typically differ from the average's by {number(self.typical, 2)} of the average's "
            f"standard deviations (at most {number(self.largest, 2)}), with {percent(_LEVEL)} "
            f"intervals that are {wide}."
        )


def difference(view: FittedView, other: FittedView) -> Difference:
    """Compare an average with another surrogate, at points that fill the design region."""
    X = view.places(stats.qmc.Sobol(len(view.names), seed=0).random_base2(_POINTS))
    mean, lower, upper = view.predict(X, _LEVEL)
    theirs, their_lower, their_upper = other.predict(X, _LEVEL)
    away = np.abs(theirs - mean) / view.predict_std(X)
    ratio = (their_upper - their_lower) / (upper - lower)
    return Difference(
        float(np.sqrt(np.mean(away**2))), float(away.max()), float(np.median(ratio)), other.lam
    )
