"""What only a fit by penalized likelihood has: lambda, path, modes, folds; part of the view."""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pengp._core.arrays import BoolArray, FloatArray, IntArray
from pengp._core.shown import shown
from pengp.choosing.crossval import CVTable
from pengp.choosing.rules import RULES
from pengp.estimators.heldout import Known
from pengp.exceptions import InputError
from pengp.path.flatness import Flat
from pengp.path.penalized import PathFit

#: Round-off up to which theta counts as at its lower bound.
_AT_BOUND = 1e-9


@shown
class Mode(NamedTuple):
    """A local maximum of the penalized likelihood.

    Examples
    --------
    >>> from pengp import PenalizedGPRegressor, diagnose, load_piston_slap
    >>> runs = load_piston_slap()
    >>> model = PenalizedGPRegressor(lam=0.02, random_state=0).fit(runs.X, runs.y)
    >>> for mode in diagnose(model).modes[:2]:
    ...     print(mode.theta.round(1).tolist(), round(float(mode.deficit), 1))
    [3.2, 0.0, 0.4, 0.0, 0.0, 2.3] 0.0
    [0.7, 0.0, 0.0, 1.3, 0.0, 0.6] 0.6
    """

    theta: FloatArray  # [d], for inputs in the unit cube
    deficit: float
    """How far its objective lies below the best one's."""
    active: BoolArray  # [d], see `active_inputs`
    objective: float
    loglik: float


def active_inputs(theta: FloatArray, lower: float, constant: BoolArray) -> BoolArray:
    """Tell which inputs matter: not constant [d] in the fit, theta [d] above its lower bound."""
    return np.asarray((theta > lower * (1.0 + _AT_BOUND)) & ~constant)


class PathView:
    """The penalized part of `FittedView`, which has the output and the names."""

    estimator: Any
    output: int

    def own(self, values: Any, axis: int = 0) -> Any:
        """Return this output's share of values with the outputs, if several, on an axis."""
        if self.estimator.y_train_.ndim == 1:
            return values
        return values[self.output] if axis == 0 else values[..., self.output]

    @property
    def is_penalized(self) -> bool:
        """Whether there is a path over lambda, and with it all of the following."""
        return hasattr(self.estimator, "path_")

    def check_penalized(self) -> None:
        """Raise an InputError about an average, which has no lambda."""
        if not self.is_penalized:
            raise InputError(
                f"a {type(self.estimator).__name__} averages over lambda and chooses none; fit a "
                "PenalizedGPRegressorCV, or look at ActivityDisplay and ExplanationsDisplay."
            )

    @property
    def path(self) -> PathFit:
        """Estimates of all outputs at every lambda."""
        self.check_penalized()
        path: PathFit = self.estimator.path_
        return path

    @property
    def bounds(self) -> tuple[float, float]:
        """Range of every theta."""
        low, high = self.estimator.theta_bounds
        return float(low), float(high)

    @property
    def sigma(self) -> float:
        """Standard deviation of the process, in the response's unit."""
        scaler = self.estimator._surrogate.response
        sd = np.sqrt(np.atleast_1d(self.estimator.sigma2_))
        return float(scaler.inverse_std(sd)[self.output])

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

    def supported(self, fall: float) -> tuple[FloatArray, FloatArray]:
        """Ends [d] of the ray through theta where log L is at most ``fall`` below its maximum."""
        flat = self.estimator._chosen.flat_within(fall)
        return self.own(flat.lower)[0], self.own(flat.upper)[0]

    @property
    def nugget(self) -> float:
        """The nugget, fixed or estimated."""
        return float(self.own(self.estimator.nugget_))

    @cached_property
    def modes(self) -> tuple[Mode, ...]:
        """All local maxima found at lam, best first; the first is the estimate."""
        if not self.is_penalized:
            return ()
        modes, low = self.estimator.modes_, self.bounds[0]
        constant = np.isinf(self.own(self.estimator.lengthscale_))
        found = (self.own(a) for a in (modes.theta, modes.objective, modes.loglik))
        rows = list(zip(*found, strict=True))[: int(self.own(modes.count))]
        best = rows[0][1]
        return tuple(
            Mode(
                theta,
                # The best is infinite for a constant response.
                0.0 if objective == best else float(best - objective),
                active_inputs(theta, low, constant),
                float(objective),
                float(loglik),
            )
            for theta, objective, loglik in rows
        )

    @property
    def fitted_runs(self) -> Known:
        """The runs of ``fit``, scaled: X [n, d] in the unit cube, standardised y [n]."""
        return Known.of(self.path._data, self.output)

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
        table = self.table
        rule: Any = getattr(self.estimator, "rule_", "")
        if table is None or table.plan.repeats == 1 or not (callable(rule) or rule in RULES):
            return None
        return np.asarray(table.stability(str(self.metric), rule))
