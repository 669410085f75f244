"""What further runs are for: a goal names its criterion, its processes and what it believes."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from pengp._core.arrays import FloatArray
from pengp._core.checks import check_choice, check_flag
from pengp.bayes.members import Member
from pengp.decisions.beliefs import (
    common_mean,
    conditioned,
    no_better_than_the_best,
    response_to_beat,
    thinned,
)
from pengp.decisions.candidates import Candidates, spread_points
from pengp.decisions.criteria import (
    Criterion,
    between_over_within,
    expected_contour_improvement,
    integrated_variance_fall,
    log_expected_improvement,
    vigf,
)
from pengp.decisions.processes import Processes
from pengp.estimators.view import FittedView
from pengp.exceptions import InputError
from pengp.model.posterior import Posterior

_PROCESSES, _FEW_PROCESSES = 32, 8
"""Processes of an average that judge a candidate, and those that judge many at first."""

_REFERENCE, _FEW_REFERENCE = 256, 64
"""Points over which the variance is averaged, and those at first."""

_LEAST_WEIGHT = 0.01
"""Weight from which on an explanation counts."""

GoalName = Literal["accuracy", "modes", "optimum", "threshold"]
CriterionName = Literal["integrated variance", "VIGF"]
GOALS = ("accuracy", "modes", "optimum", "threshold")

CRITERIA = {
    "integrated variance": "fall of the variance, averaged over the design region",
    "VIGF": "variance of the squared difference to the nearest run",
    "spread of explanations": "variance between the explanations over that within",
    "log expected improvement": "logarithm of the expected improvement on the best run",
    "contour improvement": "expected improvement near the threshold",
}
"""What the criteria are, by name."""


@dataclass(frozen=True, eq=False)
class Goal:
    """What further runs are for.

    Attributes
    ----------
    name : str
        One of `GOALS`.
    criterion : str
        One of `CRITERIA`.
    processes : Processes
        Those that judge.
    few : Processes
        Some of them, which judge many candidates at first.
    coarse, fine : Criterion
        What these two compute.
    believe : callable
        Response [1] of a planned run at x [1, d], for the runs that are sought after it.
    sought : (float, float or None), or None
        Of an optimum its sign and standardised target.
    """

    name: str
    criterion: str
    processes: Processes
    few: Processes
    coarse: Criterion
    fine: Criterion
    believe: Callable[[Processes, FloatArray], FloatArray]
    sought: tuple[float, float | None] | None = None

    def among(self, pool: Candidates, processes: Processes) -> "Goal":
        """Return the goal for these candidates: runs that break their conditions are no best."""
        if self.sought is None or not pool.conditions:
            return self
        best = response_to_beat(processes, pool, *self.sought)
        fine = log_expected_improvement(*self.sought, best)
        believe = no_better_than_the_best(*self.sought, best)
        return replace(self, coarse=fine, fine=fine, believe=believe)

    def known(self, X: FloatArray) -> "Goal":
        """Return the goal once runs at X [k, d] are planned, one after the other."""
        goal = self
        for x in X:
            y = goal.believe(goal.processes, x[None])
            goal = replace(
                goal,
                processes=conditioned(goal.processes, x[None], y),
                few=conditioned(goal.few, x[None], y),
            )
        return goal


def make_goal(
    name: str,
    view: FittedView,
    processes: Processes,
    rng: np.random.Generator,
    *,
    criterion: str | None = None,
    maximize: bool = False,
    target: float | None = None,
    threshold: float | None = None,
) -> Goal:
    """Return the goal with this name; see `pengp.decisions.next_runs`."""
    _check_options(name, criterion, maximize, target, threshold)
    label = "VIGF"
    believe: Callable[[Processes, FloatArray], FloatArray] = common_mean
    fine: Criterion = vigf
    coarse: Criterion = vigf
    sought = None
    if name == "modes":
        processes, label = explanations_of(view, processes), "spread of explanations"
        fine = coarse = between_over_within
    elif name == "optimum":
        sought = -1.0 if maximize else 1.0, _standardised(view, processes, target)
        fine = coarse = log_expected_improvement(*sought)
        label, believe = "log expected improvement", no_better_than_the_best(*sought)
    elif name == "threshold":
        value = _standardised(view, processes, threshold)
        fine = coarse = expected_contour_improvement(value or 0.0)
        label = "contour improvement"
    elif criterion != "VIGF":
        points = spread_points(processes, _REFERENCE, rng)
        fine, label = integrated_variance_fall(points), "integrated variance"
        coarse = integrated_variance_fall(points[:_FEW_REFERENCE])
    judges = thinned(processes, _PROCESSES, rng)
    few = thinned(judges, _FEW_PROCESSES, rng)
    return Goal(name, label, judges, few, coarse, fine, believe, sought)


def _check_options(
    name: str,
    criterion: str | None,
    maximize: bool,
    target: float | None,
    threshold: float | None,
) -> None:
    """Raise an InputError unless the options belong to the goal."""
    check_choice(name, "goal", GOALS)
    if criterion is not None:
        check_choice(criterion, "criterion", ("integrated variance", "VIGF"))
    if criterion is not None and name != "accuracy":
        raise InputError("criterion goes with goal='accuracy' alone.")
    if (check_flag(maximize, "maximize") or target is not None) and name != "optimum":
        raise InputError("maximize and target go with goal='optimum' alone.")
    if maximize and target is not None:
        raise InputError("either maximize the response or give a target, not both.")
    if (threshold is not None) != (name == "threshold"):
        raise InputError("goal='threshold' and a value for threshold go together.")


def _standardised(view: FittedView, processes: Processes, value: float | None) -> float | None:
    """Return a response of the user's on the model's scale."""
    own = view.estimator._surrogate.response.transforms
    if processes.undo is not None and not own:
        raise InputError(
            "the response of a TransformedTargetRegressor has no optimum and no threshold here; "
            "give its regressor_ alone, with values on that one's scale."
        )
    if value is None:
        return None
    if not np.isfinite(value):
        raise InputError(f"{value!r} is no value of the response; give a finite number.")
    with np.errstate(all="ignore"):
        there = float(own[view.output].forward(np.array([value]))[0]) if own else float(value)
    if not np.isfinite(there):
        raise InputError(f"{value!r} is no value that the transformed response can have.")
    return (there - processes.origin) / processes.unit


def explanations_of(view: FittedView, processes: Processes) -> Processes:
    """Return the competing explanations of the runs as processes, each at its own theta.

    The modes at lam of a penalized fit, weighted by exp(-deficit) of the penalized likelihood; of
    an average its explanations with their weights.
    """
    if view.is_constant:
        raise InputError("a constant response has no explanations to tell apart.")
    found: list[tuple[float, Posterior]] = (
        _modes(view, processes) if view.is_penalized else _explained(view, processes)
    )
    kept = [(w, process) for w, process in found if w >= _LEAST_WEIGHT * sum(w for w, _ in found)]
    if len(kept) < 2:
        raise InputError(
            "the runs support one explanation alone, so that there is nothing to tell apart; use "
            "goal='accuracy'."
        )
    weight = np.array([w for w, _ in kept])
    return replace(processes, components=tuple(p for _, p in kept), weight=weight / weight.sum())


def _modes(view: FittedView, processes: Processes) -> list[tuple[float, Posterior]]:
    """Return weights and processes of the modes of a penalized likelihood."""
    one = processes.components[0]
    member = Member(one.kernel, one.nugget, one.mean)
    runs = one.X, one.y
    return [
        (
            float(np.exp(-mode.deficit)),
            member.condition(*runs, mode.theta, one.nugget, None, one.noise),
        )
        for mode in view.modes
    ]


def _explained(view: FittedView, processes: Processes) -> list[tuple[float, Posterior]]:
    """Return weights and processes of the modes of a posterior."""
    found: Any = view.average.average
    first = processes.components[0]
    runs = first.X, first.y
    return [
        (
            one.weight,
            found.members[one.member].condition(*runs, one.theta, one.nugget, None, first.noise),
        )
        for one in found.explanations
    ]
