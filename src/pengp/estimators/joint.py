"""Test runs predicted together: their distance from the predictions, and uncorrelated errors."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pengp._core.arrays import FloatArray, IntArray
from pengp.bayes.mixture import ProcessMixture
from pengp.choosing.pivoted import PivotedFactor, SimulatedReference, StudentReference
from pengp.estimators.view import FittedView
from pengp.exceptions import InputError

_MOST = 400
"""Test runs that are judged together; of more, so many that are spread evenly over the table."""

_DRAWS = 2000
"""Draws of all test runs from an average, for the reference law."""


@dataclass(frozen=True, eq=False)
class JointErrors:
    """Errors of test runs, judged together (Bastos and O'Hagan 2009).

    Attributes
    ----------
    run : [m]
        Which of the test runs, from 0; all of them up to 400.
    standardized : [m]
        (response - mean) / standard deviation, each run by itself.
    order : [r]
        Runs in the order of pivots: each has the largest variance given those before.
    pivoted : [r]
        Errors in that order without what those before explain; uncorrelated, with variance 1.
    lower, upper : [r]
        Central intervals that hold ``level`` of each pivoted error.
    distance : float
        Mahalanobis distance, the sum of the squares of ``pivoted``.
    expected : float
        Its mean, were the model right.
    p_smaller, p_larger : float
        Probabilities of a smaller and of a larger distance, were the model right.
    balance : (float, float)
        The same for the mean square of the second half of the pivots over that of the first.
    level : float
        Of the intervals.
    law : str
        What the reference law is.

    See Also
    --------
    validate : Its ``joint`` is one.
    """

    run: IntArray
    standardized: FloatArray
    order: IntArray
    pivoted: FloatArray
    lower: FloatArray
    upper: FloatArray
    distance: float
    expected: float
    p_smaller: float
    p_larger: float
    balance: tuple[float, float]
    level: float
    law: str

    @property
    def p_value(self) -> float:
        """Probability of a distance that is as far out, on either side."""
        return min(1.0, 2.0 * min(self.p_smaller, self.p_larger))


def joint_errors(
    view: FittedView,
    X: FloatArray,
    y: FloatArray,
    level: float,
    noise_sd: FloatArray | None = None,
) -> JointErrors:
    """Judge test runs X [m, d], y [m] together.

    Parameters
    ----------
    view : FittedView
        Of the model, which must not know the runs.
    X, y : [m, d], [m]
        In the user's units.
    level : float
        Of the intervals of pivoted errors.
    noise_sd : [m], optional
        Known standard deviations of y.
    """
    if view.is_constant:
        raise InputError("a constant response has no errors to judge.")
    run = np.unique(np.linspace(0, len(y) - 1, min(len(y), _MOST)).round().astype(np.int64))
    known, k = view.estimator._surrogate, view.output
    process, places = known.posteriors[k], known.scale(X[run])
    mean, cov = process.predict_cov(places)
    noise = np.zeros(len(run)) if noise_sd is None else known.noise(y[run], noise_sd[run], k)
    V = process.sigma2 * cov + np.diag(noise)
    e = known.standardised(y[run], k) - mean
    factor = PivotedFactor.of(V)
    pivoted, r = factor.errors(e), len(factor.order)
    reference, law = _reference(view, process, places, mean, factor, noise)
    band = reference.band(r, level)
    return JointErrors(
        run,
        e / np.sqrt(np.diagonal(V)),
        run[factor.order],
        pivoted,
        band[:, 0],
        band[:, 1],
        float(pivoted @ pivoted),
        reference.expected(r),
        *reference.tails(pivoted),
        reference.balance(pivoted) if r > 1 else (1.0, 1.0),
        level,
        law,
    )


def _reference(
    view: FittedView,
    process: Any,
    X: FloatArray,
    mean: FloatArray,
    factor: PivotedFactor,
    noise: FloatArray,
) -> tuple[StudentReference | SimulatedReference, str]:
    """Return the law of the pivoted errors at X [m, d], were the model right, and its name."""
    if isinstance(process, ProcessMixture):
        rng = np.random.default_rng(0)
        draws = process.sample(X, _DRAWS, rng) - mean
        if noise.any():
            draws += np.sqrt(noise) * rng.standard_normal(draws.shape)
        return SimulatedReference(factor.errors(draws)), f"{_DRAWS:,} draws from the average"
    n = len(view.fitted_runs.y)
    # Basis functions that the runs cannot tell from others are left out of the trend.
    q = 0 if process.mean.variance is not None else int(process.basis_alpha.any(1).sum())
    df = max(n - q, 1)
    law = f"scaled F with {len(factor.order)} and {df} degrees of freedom"
    return StudentReference(df, n / df), law  # sigma2 is y' P y / n, whatever the likelihood
