"""Several surrogates of one simulator, judged by the same runs, which may not tell them apart."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pengp._core.arrays import FloatArray
from pengp._core.shown import Shown
from pengp.choosing.scores import coverage, half_width, q2, rmse
from pengp.estimators.view import FittedView, view_of
from pengp.exceptions import InputError

#: Standard errors from which on a difference counts.
TOLD_APART = 2.0


@dataclass(frozen=True, eq=False)
class Judged:
    """One surrogate and its predictions of the runs that judge all.

    Attributes
    ----------
    name : str
        What it is called.
    scores : dict of float
        rmse and crps in the response's unit, q2, coverage.
    crps : [m]
        Continuous ranked probability score of each run.
    difference, error : float
        Mean difference of its crps from the best surrogate's, run by run, and its standard error; 0
        for the best itself.

    See Also
    --------
    compare : Its ``judged`` are such.
    """

    name: str
    scores: dict[str, float]
    crps: FloatArray
    difference: float = 0.0
    error: float = 0.0

    @property
    def told_apart(self) -> bool:
        """Whether the runs tell it from the best."""
        return self.difference > TOLD_APART * self.error


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Shown):
    """Surrogates judged by the same runs, the best first.

    Attributes
    ----------
    judged : tuple of Judged
        In the order of their mean crps.
    how : str
        Which runs judge them.

    See Also
    --------
    compare : Makes it.
    """

    judged: tuple[Judged, ...]
    how: str

    def _in_short(self) -> str:
        return f"{', '.join(one.name for one in self.judged)}, the best first; {self.how}"

    def _rows(self) -> list[dict[str, Any]]:
        return [{"surrogate": one.name, **one.scores} for one in self.judged]

    def sentence(self) -> str:
        """Say which of them the runs tell apart."""
        best, *others = self.judged
        alike = [one.name for one in others if not one.told_apart]
        worse = [one.name for one in others if one.told_apart]
        beaten = f"These runs prefer {best.name} to {_listed(worse)}" if worse else ""
        if not alike:
            return f"{beaten}."
        same = f"{_listed([best.name, *alike])} cannot be told apart by these runs"
        return (
            f"{beaten}; {same}." if beaten else f"{same}: take the one that is easiest to explain."
        )


def compare(
    models: Mapping[str, Any],
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    output: int = 0,
    level: float = 0.95,
    noise_sd: ArrayLike | None = None,
) -> Comparison:
    """Judge fitted estimators by the same runs.

    Without test runs each run of their fits is left out in turn and predicted by an estimate from
    the others; lambda, where one was chosen, is kept.

    Parameters
    ----------
    models : mapping from names to estimators
        Two or more, fitted; without test runs to the same runs.
    X : array or frame, shape [m, d], optional
        Inputs of test runs, in the order of the runs of the fits.
    y : [m], optional
        Their responses.
    output : int
        Which output, for responses [n, q].
    level : float
        Probability of the intervals in coverage.
    noise_sd : float or [m], optional
        Known standard deviations of the noise of the test runs.

    Examples
    --------
    >>> from pengp import BayesianGPRegressor, PenalizedGPRegressor, load_piston_slap
    >>> from pengp.diagnostics import compare
    >>> runs = load_piston_slap()
    >>> estimate = PenalizedGPRegressor(random_state=0).fit(runs.X, runs.y)
    >>> average = BayesianGPRegressor(random_state=0).fit(runs.X, runs.y)
    >>> found = compare({"estimate": estimate, "average": average})
    >>> [judged.name for judged in found.judged]  # the best first
    ['average', 'estimate']
    """
    named: Any = models
    if not isinstance(named, Mapping) or len(named) < 2:
        raise InputError("a comparison takes two models or more, by name.")
    half_width(level)  # says so if it is none
    views = {name: view_of(model, output) for name, model in models.items()}
    if X is not None and y is not None:
        judged = [_by_test(name, view, X, y, level, noise_sd) for name, view in views.items()]
        how = f"{len(judged[0].crps)} test runs"
    else:
        _check_same_runs(views)
        judged = [_by_left_out(name, view, level) for name, view in views.items()]
        how = "each run left out in turn, theta learned anew from the others"
    judged.sort(key=lambda one: one.scores["crps"])
    return Comparison(tuple(_beside(one, judged[0]) for one in judged), how)


def _by_test(
    name: str, view: FittedView, X: Any, y: ArrayLike, level: float, noise_sd: ArrayLike | None
) -> Judged:
    """Judge one surrogate by test runs X [m, d], y [m]."""
    places, seen = view.checked_runs(X, y)
    law = view.law(places, noise_sd)
    return _judged(name, seen, law.mean(), law.interval(level), law.crps(seen))


def _by_left_out(name: str, view: FittedView, level: float) -> Judged:
    """Judge one surrogate by its own runs, each left out in turn."""
    each = {"each": True} if view.is_penalized else {}
    found = view.estimator.held_out(view.output, level, **each)
    order = np.argsort(found.run)
    ends = np.stack([found.lower, found.upper], axis=1)
    return _judged(name, found.y[order], found.mean[order], ends[order], found.crps[order])


def _judged(
    name: str, y: FloatArray, mean: FloatArray, ends: FloatArray, crps: FloatArray
) -> Judged:
    """Score predictions of y [m]: means [m], intervals [m, 2], crps [m]."""
    scores = {
        "rmse": rmse(y, mean),
        "q2": q2(y, mean),
        "crps": float(crps.mean()),
        "coverage": coverage(y, ends[:, 0], ends[:, 1]),
    }
    return Judged(name, scores, crps)


def _beside(one: Judged, best: Judged) -> Judged:
    """Return a surrogate with its paired difference from the best."""
    d = one.crps - best.crps
    error = float(d.std(ddof=1) / np.sqrt(len(d))) if len(d) > 1 else float("inf")
    return Judged(one.name, one.scores, one.crps, float(d.mean()), error)


def _check_same_runs(views: Mapping[str, FittedView]) -> None:
    """Raise an InputError unless all were fitted to the same runs, which can be left out."""
    (first, known), *others = views.items()
    for name, view in others:
        same = view.names == known.names and np.array_equal(view.X, known.X)
        if not same or not np.array_equal(view.y, known.y):
            raise InputError(
                f"{first} and {name} do not have the same runs, so that none of these can judge "
                "both; give test runs that neither knows."
            )
    if any(view.held_out() is None or view.learned_later for view in views.values()):
        raise InputError(
            "these models have runs that cannot be left out: too few, all equal, or learned after "
            "the fit; give test runs."
        )


def _listed(names: list[str]) -> str:
    """Return names as in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
