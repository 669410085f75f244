"""How the predictive variance falls with more runs that fill the design region."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from pengp._core.arrays import FloatArray
from pengp._core.rows import first_of_each
from pengp._core.sobol import sobol_points
from pengp.bayes.components import systematic
from pengp.bayes.mixture import ProcessMixture
from pengp.bayes.student import inflation, t_cdf
from pengp.choosing.validation import Law
from pengp.datasets.designs import continue_design
from pengp.estimators.view import FittedView
from pengp.exceptions import InputError
from pengp.model.posterior import Posterior

MOST_TIMES = 10
"""More runs than so many times those of the fit are not counted."""

_POINTS = 512
"""Points over the design region at which a new run may lie."""

_PROCESSES = 32
"""Processes of an average that tell how the variance falls with more runs."""


class Step(NamedTuple):
    """What is expected after k more runs that fill the design region."""

    k: int
    probability: float
    """That a new run is predicted within the tolerance."""
    variance: float
    """Predictive variance, averaged over the design region, in the response's unit squared."""


class Laws(NamedTuple):
    """Predictive laws about the common mean at m points, of J processes."""

    away: FloatArray  # [J, m], mean of the process less the common mean
    scale: FloatArray  # [J, m]
    weight: FloatArray  # [J]
    df: float

    def probability(self, tolerance: FloatArray) -> float:
        """Return the probability of an error up to the tolerance [m], averaged over the points."""
        above, below = (tolerance - self.away) / self.scale, (-tolerance - self.away) / self.scale
        if np.isinf(self.df):
            inside = ndtr(above) - ndtr(below)
        else:
            inside = t_cdf(above, int(self.df)) - t_cdf(below, int(self.df))
        return float((self.weight @ inside).mean())

    def variance(self, unit: FloatArray) -> float:
        """Return the variance, averaged over the points, where one is a unit [m]."""
        variance = self.weight @ (inflation(self.df) * self.scale**2 + self.away**2)
        return float((variance * unit**2).mean())


@dataclass(frozen=True, eq=False)
class Future:
    """The processes of a model, and what more runs make of their variances; standardised."""

    law: Law  # predictive laws at m points where new runs may lie, in the user's unit
    X: FloatArray  # [m, d], these points
    add: FloatArray  # [up to 10 n, d], further runs
    process: Posterior | ProcessMixture
    numeric: bool  # whether the nugget is fixed
    unit: FloatArray  # [m], what one is worth in the response's unit: its standard deviation, and
    # for a transformed response to first order about the predictions

    @classmethod
    def of(cls, view: FittedView) -> "Future":
        """Take the process of a model, and points over its design region."""
        known, k = view.estimator._surrogate, view.output
        d, process = len(view.names), known.posteriors[k]
        shift = np.random.default_rng(0).random(d)
        points = view.places((sobol_points(_POINTS, d) + shift) % 1.0)
        numeric, law = view.estimator._fixed_nugget() is not None, view.law(points)
        unit = known.response.sd[k] / view.response_transform.slope(law.mean())
        return cls(law, known.scale(points), _further(view), process, numeric, unit)

    def now(self, tolerance: float) -> float:
        """Return the probability of an error up to the tolerance, by the laws as they are."""
        mean = self.law.mean()
        inside = self.law.cdf(mean + tolerance) - self.law.cdf(mean - tolerance)
        return float(inside.mean())

    def after(self, k: int) -> Laws:
        """Return the laws about the common mean after k more runs, a fixed nugget left out."""
        processes, weight, df = self._processes(few=k > 0)
        mean, before = _predictions(processes, self.X)
        new = self.add[:k]
        after = np.array([_variance_after(p, new, self.X) for p in processes]) if k else before
        if self.numeric:
            nugget = np.array([p.nugget for p in processes])[:, None]
            before, after = (np.maximum(v - nugget, 1e-3 * nugget) for v in (before, after))
        away = (mean - weight @ mean) * np.sqrt(after / before)
        return Laws(away, _scales(processes, after), weight, df)

    def stretch(self, tolerance: float, share: float) -> float:
        """Return the factor of the laws' widths by which they have the probability ``share``."""
        rest = 0.5 / len(self.process.y)
        target = min(max(share, rest), 1.0 - rest)

        def gap(log_factor: float) -> float:
            return self.now(tolerance / math.exp(log_factor)) - target

        return math.exp(float(brentq(gap, -20.0, 20.0, xtol=1e-6)))

    def search(self, tolerance: float, goal: float) -> tuple[tuple[Step, ...], int | None]:
        """Return what 1, 2, 4, ... more runs do, and about how many reach the goal."""
        steps: list[Step] = []
        most = len(self.add)
        for k in [0, *(1 << j for j in range(most.bit_length())), most]:
            laws = self.after(k)
            found = Step(k, laws.probability(tolerance / self.unit), laws.variance(self.unit))
            steps.append(found)
            if found.probability >= goal:
                return tuple(steps), _between(steps[-2], found, goal) if k else 0
        return tuple(steps), None

    def _processes(self, *, few: bool) -> tuple[list[Posterior], FloatArray, float]:
        """Return processes, their weights and degrees of freedom; all, or a few that do for all."""
        one = self.process
        if isinstance(one, Posterior):
            return [one], np.ones(1), np.inf
        if not few or len(one.weight) <= _PROCESSES:
            return one.components, one.weight, one.df
        drawn = systematic(one.weight, _PROCESSES, np.random.default_rng(0))
        kept, counts = np.unique(drawn, return_counts=True)
        return [one.components[j] for j in kept], counts / _PROCESSES, one.df


def _further(view: FittedView) -> FloatArray:
    """Return runs [up to 10 n, d] of the unit cube that fill the gaps of those that there are.

    An input that never varied is 0 for the model, in new runs as well. Whole numbers and levels are
    rounded to; what is then there already is no further run.
    """
    known = view.estimator._surrogate
    X, free = known.posteriors[view.output].X, np.flatnonzero(~known.inputs.constant)
    add = np.zeros((MOST_TIMES * len(X), X.shape[1]))
    add[:, free] = continue_design(X[:, free], len(add), random_state=0)
    if not any(transform.has_steps for transform in view.input_transforms):
        return add
    stepped = known.scale(view.places(add))
    first = first_of_each(np.concatenate([X, stepped]))[len(X) :]
    return stepped[first == np.arange(len(X), len(X) + len(stepped))]


def _predictions(processes: list[Posterior], X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return means and scaled variances [J, m] at X [m, d]."""
    mean, variance = zip(*(p.predict(X) for p in processes), strict=True)
    return np.array(mean), np.array(variance)


def _scales(processes: list[Posterior], variance: FloatArray) -> FloatArray:
    """Return standard deviations [J, m] of scaled variances [J, m]."""
    return np.sqrt(np.array([p.sigma2 for p in processes])[:, None] * variance)


def _variance_after(process: Posterior, new: FloatArray, X: FloatArray) -> FloatArray:
    """Return the scaled variance [m] at X [m, d] once runs at new [k, d] are known."""
    try:
        return process.extend(new, np.zeros(len(new))).predict(X)[1]
    except InputError:  # the runs determine each other up to rounding, and all between them
        return np.full(len(X), max(process.nugget, np.finfo(float).eps))


def _between(below: Step, above: Step, goal: float) -> int:
    """Return about how many runs reach the goal, between two steps: linear in k."""
    if below.probability >= goal:
        return max(below.k, 1)
    part = (goal - below.probability) / (above.probability - below.probability)
    return max(1, math.ceil(below.k + part * (above.k - below.k)))
