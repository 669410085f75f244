"""Whether a surrogate is accurate enough for a tolerance, and about how many more runs it takes."""

import numbers
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats

from pengp._core.checks import is_real
from pengp._core.shown import Shown
from pengp.diagnostics.future import MOST_TIMES, Future, Step
from pengp.estimators.heldout import HeldOut
from pengp.estimators.view import FittedView, view_of
from pengp.exceptions import InputError

_LEVEL = 0.95
"""Level of the interval of the share of held-out runs."""


@dataclass(frozen=True, eq=False, repr=False)
class GoodEnough(Shown):
    """Whether new runs are predicted within a tolerance, and what it would take.

    Attributes
    ----------
    tolerance : float
        In the response's unit.
    goal : float
        Probability that is wanted.
    probability : float
        That a new run, uniform over the design region, is predicted within the tolerance, from the
        predictive laws.
    share : float or None
        Share of the runs that were held out and predicted within it; None for too few runs.
    lower, upper : float
        Exact binomial 95 % interval of the probability that held-out runs are (Clopper and
        Pearson); 0 and 1 without them.
    runs : int
        Runs of the fit.
    how : str
        How the runs were held out.
    steps : tuple of Step
        What more runs would do, by doubling their number until the goal is reached; a fixed nugget,
        which is numerics, is left out.
    more_runs : int or None
        About how many more runs the goal takes, 0 if it is reached, be it without the nugget; None
        for more than 10 times those of the fit.

    See Also
    --------
    good_enough : Makes it.
    """

    tolerance: float
    goal: float
    probability: float
    share: float | None
    lower: float
    upper: float
    runs: int
    how: str
    steps: tuple[Step, ...]
    more_runs: int | None

    def _in_short(self) -> str:
        verdict = "enough" if self.enough else "not enough"
        more = "more than ten times" if self.more_runs is None else f"about {self.more_runs}"
        return f"{verdict}: {self.believed:.3g} of {self.goal:.3g}, {more} more runs"

    def _rows(self) -> list[dict[str, Any]]:
        return [step._asdict() for step in self.steps]

    @property
    def contradicted(self) -> bool:
        """Whether the held-out runs contradict the probability from the laws.

        Not `IntervalCheck`: that tests intervals of one level, this the share within the tolerance.
        """
        return not self.lower <= self.probability <= self.upper

    @property
    def believed(self) -> float:
        """The probability that counts: the share of held-out runs where it contradicts the laws."""
        return self.share if self.share is not None and self.contradicted else self.probability

    @property
    def enough(self) -> bool:
        """Whether the goal is reached."""
        return self.believed >= self.goal

    def record(self) -> dict[str, Any]:
        """Return everything as numbers and words."""
        return {
            "tolerance": self.tolerance,
            "goal": self.goal,
            "enough": self.enough,
            "probability": self.probability,
            "held_out": {"share": self.share, "lower": self.lower, "upper": self.upper},
            "contradicted": self.contradicted,
            "more_runs": self.more_runs,
            "after_more_runs": [step._asdict() for step in self.steps],
        }

    def sentences(self) -> list[str]:
        """Return the answer in words."""
        verdict = "good enough" if self.enough else "not good enough"
        said = [
            f"For a tolerance of {self.tolerance:g} and {_percent(self.goal)} of new runs the "
            f"surrogate is {verdict}.",
            f"By its own laws it predicts a new run, anywhere in the design region, within the "
            f"tolerance with probability {_percent(self.probability)}.",
        ]
        if self.share is not None:
            said.append(
                f"Of the {self.runs} runs, held out ({self.how}), {_percent(self.share)} were "
                f"within it (95 % interval {_percent(self.lower)} to {_percent(self.upper)})"
                + ("; that contradicts the laws, and counts." if self.contradicted else ".")
            )
        return [*said, *self._more()]

    def _more(self) -> list[str]:
        """Return how many more runs it takes."""
        if self.enough:
            return []
        if self.more_runs == 0:
            return ["The nugget alone keeps it from that; fit with a smaller one."]
        if self.more_runs is None:
            return [
                f"It takes more than {MOST_TIMES} times as many runs, if more runs help at all: a "
                "larger tolerance is more to the point."
            ]
        return [
            f"About {_runs_that_fill(self.more_runs)} the design region should do, if the "
            "surrogate is right about how fast the response varies."
        ]


def good_enough(
    estimator: Any, *, tolerance: float, probability: float = 0.95, output: int = 0
) -> GoodEnough:
    """Tell whether new runs are predicted within a tolerance, and about how many more it takes.

    The predictive variance after more runs needs no responses at fixed theta. Of an average each
    process keeps its weight, and its distance from the common mean shrinks like its standard
    deviation. Where held-out runs contradict the laws, these are stretched until they agree.

    Parameters
    ----------
    estimator : BayesianGPRegressor, PenalizedGPRegressor or PenalizedGPRegressorCV
        Fitted.
    tolerance : float
        Largest error that does no harm, in the response's unit.
    probability : float
        With which a new run, uniform over the design region, is to be predicted within it.
    output : int
        Which output, for responses [n, q].

    Examples
    --------
    >>> from pengp import BayesianGPRegressor, load_piston_slap
    >>> from pengp.diagnostics import good_enough
    >>> runs = load_piston_slap()
    >>> model = BayesianGPRegressor(random_state=0).fit(runs.X, runs.y)
    >>> found = good_enough(model, tolerance=1.0, probability=0.9)  # is 1 dB kept in 9 of 10 runs?
    >>> found.enough, found.more_runs is None or found.more_runs > 5
    (False, True)
    """
    return good_enough_view(view_of(estimator, output), tolerance, probability)


def good_enough_view(view: FittedView, tolerance: float, goal: float = 0.95) -> GoodEnough:
    """Judge a model that is in view; see `good_enough`."""
    if not is_real(tolerance) or not tolerance > 0.0:
        raise InputError(
            f"tolerance={tolerance!r} must be a number above 0, in the response's unit."
        )
    if not isinstance(goal, numbers.Real) or not 0.0 < goal < 1.0:
        raise InputError(f"probability={goal!r} must lie between 0 and 1, such as 0.95.")
    if view.is_constant:
        raise InputError("a constant response has no error to be tolerated.")
    future, held = Future.of(view), view.held_out()
    now = future.now(tolerance)
    share, lower, upper = (None, 0.0, 1.0) if held is None else _share(held, tolerance)
    how = "" if held is None else held.how
    found = GoodEnough(tolerance, goal, now, share, lower, upper, view.n_fitted, how, (), 0)
    if found.enough:
        return found
    factor = future.stretch(tolerance, found.believed) if found.contradicted else 1.0
    steps, more = future.search(tolerance / factor, goal)
    return replace(found, steps=steps, more_runs=more)


def _share(held: HeldOut, tolerance: float) -> tuple[float, float, float]:
    """Return the share of runs within the tolerance and its interval.

    A run that was dealt several times counts as one, in parts.
    """
    within = (np.abs(held.y - held.mean) <= tolerance).astype(np.float64)
    shares = held.by_run(within)
    n, share = len(shares), float(shares.mean())
    k, tail = share * n, 0.5 - 0.5 * _LEVEL
    lower = float(stats.beta.ppf(tail, k, n - k + 1.0)) if k > 0.0 else 0.0
    upper = float(stats.beta.ppf(1.0 - tail, k + 1.0, n - k)) if k < n else 1.0
    return share, lower, upper


def _runs_that_fill(k: int) -> str:
    """Return words for k more runs and what they do."""
    return "1 more run that fills" if k == 1 else f"{k} more runs that fill"


def _percent(share: float) -> str:
    """Return a share of 1 in percent, as whole numbers but near the ends."""
    value = 100.0 * share
    return f"{value:.0f} %" if 0.5 <= value <= 99.0 or value in (0.0, 100.0) else f"{value:.3g} %"
