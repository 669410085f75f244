"""Predictive distributions and intervals: the model's own, and those of the jackknife+."""

from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike

from pengp._core.arrays import FloatArray
from pengp._core.checks import check_choice, check_levels, check_output
from pengp.choosing.jackknife import jackknife_plus, rank
from pengp.choosing.laws import NormalLaw
from pengp.choosing.scores import check_level
from pengp.choosing.validation import Law
from pengp.estimators.laws import noisy_law
from pengp.estimators.noise import checked_noise
from pengp.estimators.surrogate import Surrogate
from pengp.exceptions import InputError

IntervalsName = Literal["model", "jackknife+"]

#: New inputs whose intervals are found at a time.
_BLOCK = 1 << 14
#: Runs from which each can be left out and the others fitted.
_FEWEST_LEFT_OUT = 4


class LeftOutFits(Protocol):
    """Fits that left out one of n runs each, on the model's scale."""

    @property
    def residuals(self) -> FloatArray:
        """Absolute errors [n] at the run that was left out."""
        ...

    def means(self, X_new: FloatArray) -> FloatArray:
        """Return their predictions [m, n] at X_new [m, d]."""
        ...


class IntervalMixin:
    """What an estimator says of the uncertainty of its predictions.

    A subclass holds a surrogate and knows how runs are left out.
    """

    _surrogate: Surrogate[Any]
    _jackknives: dict[int, LeftOutFits]  # of each output, once asked for

    def _hold(self, surrogate: Surrogate[Any]) -> None:
        """Keep a surrogate; what was left out of another one is forgotten."""
        self._surrogate, self._jackknives = surrogate, {}

    def _new_inputs(self, X: Any) -> FloatArray:
        """Return checked inputs [m, d] of a fitted estimator."""
        raise NotImplementedError

    def _outputs(self, values: FloatArray) -> FloatArray:
        """Drop the output axis, 1, of values [m, q, ...] for one output y [n]."""
        raise NotImplementedError

    def predictive_law(self, X: Any, output: int = 0, noise_sd: Any = None) -> Law:
        """Return the predictive distributions of one output, in the units of y.

        They know their ``mean()``, ``std()``, ``cdf(y)``, ``log_density(y)``, ``interval(level)``
        and ``crps(y)``.

        Parameters
        ----------
        X : array or frame, shape [m, d]
            Inputs in the units of the training data.
        output : int
            Which output, for responses [n, q].
        noise_sd : float or [m], optional
            Standard deviations of the noise that new runs will have; without it the distributions
            are those of the response without noise.
        """
        X_raw = self._new_inputs(X)
        output = check_output(output, len(self._surrogate.posteriors))
        sd = checked_noise(noise_sd, np.zeros((len(X_raw), 1)))
        law = self._law(X_raw, output)
        return law if sd is None else noisy_law(law, sd[:, 0])

    def predict_quantiles(self, X: Any, levels: ArrayLike) -> FloatArray:
        """Return quantiles of the predictive distributions, exact also for a transformed response.

        Parameters
        ----------
        X : array or frame, shape [m, d]
            Inputs in the units of the training data.
        levels : [k]
            Probabilities between 0 and 1.

        Returns
        -------
        [m, k] or [m, q, k]
        """
        X_raw, p = self._new_inputs(X), check_levels(levels)
        return self._outputs(self._surrogate.quantiles(X_raw, p))

    def predict_interval(
        self, X: Any, level: float = 0.95, intervals: IntervalsName = "model"
    ) -> tuple[FloatArray, FloatArray]:
        """Return central prediction intervals.

        Parameters
        ----------
        X : array or frame, shape [m, d]
            Inputs in the units of the training data.
        level : float
            Probability that an interval is to cover, between 0 and 1.
        intervals : {"model", "jackknife+"}
            Those of `predictive_law`, or those of the jackknife+: from the errors at runs that were
            left out, with theta learned anew without them. They need level <= n / (n + 1), 19 runs
            for 0.95. For a fit that is wholly repeated without each run, and runs that are drawn at
            random like the new ones, Barber et al. (2021) prove a coverage of 2 level - 1; here the
            scaling of the data and lambda_ are kept, and a design is not random, so that nothing is
            proved, but the level is about reached where normal intervals are too narrow.

        Returns
        -------
        lower, upper : [m] or [m, q]
            Ends of the intervals.
        """
        check_level(level)  # says so if the level is none, before any work
        ends_of = {"model": self._model_ends, "jackknife+": self._jackknife_ends}
        kind = check_choice(intervals, "intervals", ends_of)
        X_raw, q = self._new_inputs(X), len(self._surrogate.posteriors)
        ends = np.empty((len(X_raw), q, 2))
        for start in range(0, len(X_raw), _BLOCK):
            rows = slice(start, start + _BLOCK)
            for k in range(q):
                ends[rows, k] = ends_of[kind](X_raw[rows], k, level)
        return self._outputs(ends[..., 0]), self._outputs(ends[..., 1])

    def _law(self, X_raw: FloatArray, output: int) -> Law:
        """Return the predictive distributions at X_raw [m, d]; normal unless overridden."""
        known = self._surrogate
        if known.response.transforms and not known.response.constant[output]:
            return known.law(output, known.scale(X_raw))
        mean, std = self._surrogate.mean_and_std(X_raw)
        return NormalLaw(mean[:, output], std[:, output])

    def _model_ends(self, X_raw: FloatArray, output: int, level: float) -> FloatArray:
        """Return the ends [m, 2] of the predictive distributions' intervals."""
        return self._law(X_raw, output).interval(level)

    def _jackknife_ends(self, X_raw: FloatArray, output: int, level: float) -> FloatArray:
        """Return the ends [m, 2] of jackknife+ intervals."""
        known = self._surrogate
        if known.response.constant[output]:
            return known.in_units(np.zeros((len(X_raw), 2)), output)
        self._check_jackknife(output, level)
        if output not in self._jackknives:
            self._jackknives[output] = self._left_out(output)
        left = self._jackknives[output]
        ends = jackknife_plus(left.means(known.scale(X_raw)), left.residuals, level)
        return known.in_units(np.stack(ends, axis=-1), output)

    def _check_jackknife(self, output: int, level: float) -> None:
        """Raise an InputError where runs cannot be left out for intervals of a level."""
        n, fitted = len(self._surrogate.y_raw), self._runs_in_fit(output)
        if n > fitted:
            raise InputError(
                "jackknife+ intervals leave out the runs of fit, but the model learned "
                f"{n - fitted} later and kept its estimates; fit it anew on all runs."
            )
        rank(n, level)
        if n < _FEWEST_LEFT_OUT:
            raise InputError(
                f"jackknife+ intervals need at least {_FEWEST_LEFT_OUT} runs, not {n}."
            )

    def _runs_in_fit(self, output: int) -> int:
        """Return the number of runs in ``fit``."""
        raise NotImplementedError

    def _left_out(self, output: int) -> LeftOutFits:
        """Return the predictions by fits without each run."""
        raise NotImplementedError
