"""Which runs to do next, what they are worth and what they are expected to buy."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline

from pengp._core.arrays import FloatArray, RandomState
from pengp._core.checks import as_generator, check_count, check_number
from pengp._core.linalg import ONE_THREAD
from pengp._core.shown import Shown, named
from pengp.decisions.beliefs import common_mean, conditioned
from pengp.decisions.candidates import Candidates, find_candidates, separable
from pengp.decisions.conditions import levels_by_name, parse_conditions
from pengp.decisions.goals import CriterionName, Goal, GoalName, make_goal
from pengp.decisions.processes import Processes, processes_of
from pengp.decisions.search import refined
from pengp.decisions.values import Value, given_points, stepped, written
from pengp.decisions.width import Step, steps_of
from pengp.estimators.view import FittedView, view_of
from pengp.exceptions import InputError
from pengp.model.elementary import Transform

if TYPE_CHECKING:
    import pandas as pd

_SIEVED = 1024
"""Candidates that are judged by all processes; more are judged by a few at first."""

_MOST_PROPOSED = 1_000
"""Runs that are proposed at once, one after the other."""

_STARTS, _ROUNDS = 4, 7
"""Candidates near which better points are sought, and how often."""

RADIUS = 0.1
"""Distance in the unit cube that is kept from runs that failed or were abandoned."""


@dataclass(frozen=True, eq=False, repr=False)
class NextRuns(Shown):
    """Proposed runs, the most valuable first.

    Attributes
    ----------
    names : tuple of d strings
        Names of the inputs.
    response : str
        Name of the response.
    goal, criterion : str
        What the runs are for, and what they were judged by.
    X : [n, d]
        Inputs, in the user's units.
    value : [n]
        The criterion, each run given those before it.
    mean, std : [n]
        Prediction of the response before any of these runs, in the user's units; of a transformed
        response the mean is taken back, and half of what one standard deviation spans.
    steps : tuple of Step
        Mean width of the 95 % intervals over the design region now and after 1, 2, 4, 8 runs:
        these first, further ones in the gaps between all.
    runs, planned : [N, d], [p, d]
        Runs that were known, and those that were planned already.
    importance : [d]
        Change of the response from end to end of each input, standardised.
    transforms : tuple of d Transform
        Of the inputs, which know whole numbers and levels; empty for none at all.

    See Also
    --------
    next_runs : Makes it.
    """

    names: tuple[str, ...]
    response: str
    goal: str
    criterion: str
    X: FloatArray
    value: FloatArray
    mean: FloatArray
    std: FloatArray
    steps: tuple[Step, ...]
    runs: FloatArray
    planned: FloatArray
    importance: FloatArray
    transforms: tuple[Transform, ...] = ()

    @property
    def inputs(self) -> list[list[Value]]:
        """The runs, a list of d values each: numbers, whole numbers, or names of levels."""
        return written(self.transforms, self.X)

    def _in_short(self) -> str:
        return f"{len(self.X)} runs, goal {self.goal}, by {self.criterion}"

    def _rows(self) -> list[dict[str, Any]]:
        columns = zip(self.X, self.mean, self.std, strict=True)
        return [named(self.names, x) | {self.response: m, "std": s} for x, m, s in columns]

    def to_frame(self) -> "pd.DataFrame":
        """Return a frame with a row for each run: inputs, prediction and criterion."""
        import pandas as pd

        frame = pd.DataFrame(self.inputs, columns=pd.Index(self.names))
        told = {"mean": self.mean, "std": self.std}
        new = {f"{self.response}_{word}": values for word, values in told.items()}
        return frame.assign(**new, value=self.value)

    def record(self) -> dict[str, Any]:
        """Return everything as numbers and words."""
        columns = zip(self.inputs, self.value, self.mean, self.std, strict=True)
        return {
            "goal": self.goal,
            "criterion": self.criterion,
            "runs": [
                {"inputs": dict(zip(self.names, x, strict=True)), "value": v, "mean": m, "std": s}
                for x, v, m, s in columns
            ],
            "planned": len(self.planned),
            "expected_width": [step._asdict() for step in self.steps],
        }


def next_runs(
    model: Any,
    n: int = 1,
    *,
    goal: GoalName = "accuracy",
    criterion: CriterionName | None = None,
    maximize: bool = False,
    target: float | None = None,
    threshold: float | None = None,
    planned: ArrayLike | None = None,
    avoid: ArrayLike | None = None,
    radius: float = RADIUS,
    candidates: ArrayLike | None = None,
    where: str | Sequence[str] = (),
    random_state: RandomState = 0,
    output: int = 0,
) -> NextRuns:
    """Propose the next n runs of the simulator.

    Every criterion is averaged over the processes of the model, for an average over its draws of
    theta and not at one value of it. The runs of a batch are found one after the other, each
    once those before it are taken as known: at the mean of the prediction, and for an optimum no
    better than the best run that meets the conditions.

    Parameters
    ----------
    model : estimator, Pipeline or FittedView
        Fitted.
    n : int
        Number of runs.
    goal : {"accuracy", "modes", "optimum", "threshold"}
        Predictions that are accurate everywhere; to tell competing explanations apart; to find
        the smallest response; to find where the response crosses a value.
    criterion : {"integrated variance", "VIGF"}, optional
        Of the goal accuracy; by default the first.
    maximize : bool
        Of the goal optimum: look for the largest response.
    target : float, optional
        Of the goal optimum: look for this response.
    threshold : float, optional
        Value that the response crosses, of the goal of that name.
    planned : [p, d], optional
        Runs that are on their way, in the user's units, levels by name or value; they count as
        known.
    avoid : [k, d], optional
        Runs that failed, likewise.
    radius : float
        Distance kept from them, Euclidean in the unit cube.
    candidates : [m, d], optional
        The only runs that can be done, likewise; by default the whole design region.
    where : str or sequence of str
        Conditions on the inputs, such as "x1 + x2 <= 3" or "material == steel".
    random_state : int, Generator, RandomState or None
        Source of randomness; an int gives the same runs every time.
    output : int
        Which output, for responses [n, q].

    Examples
    --------
    >>> from pengp import PenalizedGPRegressor, load_piston_slap
    >>> from pengp.decisions import next_runs
    >>> runs = load_piston_slap()
    >>> model = PenalizedGPRegressor(0.0578, random_state=0).fit(runs.X, runs.y)
    >>> found = next_runs(model, 2, where="x1 <= 80", random_state=0)
    >>> found.X.shape, bool((found.X[:, 0] <= 80).all())
    ((2, 6), True)
    >>> found.steps[-1].width < found.steps[0].width  # of the intervals, in dB
    True
    """
    rng, count = as_generator(random_state), check_count(n, "n", 1, _MOST_PROPOSED)
    view, processes = viewed(model, output)
    radius = check_number(radius, "radius", 0.0)
    conditions = parse_conditions(where, processes.names, levels_by_name(processes))
    given = None if candidates is None else given_points(candidates, processes, "candidates")
    if given is not None and not len(given):
        raise InputError("candidates has no rows.")
    pending, away = (
        processes.to_unit(given_points(points, processes, word))
        for points, word in ((planned, "planned"), (avoid, "avoid"))
    )
    with ONE_THREAD:
        aim = make_goal(
            *(goal, view, processes, rng),
            criterion=criterion,
            maximize=maximize,
            target=target,
            threshold=threshold,
        )
        pool = find_candidates(processes, given, conditions, away, radius, rng)
        X, value = _batch(aim.among(pool, processes).known(pending), pool, count, rng)
        return _told(aim, processes, pool, pending, X, value)


def viewed(model: Any, output: int) -> tuple[FittedView, Processes]:
    """Return the view of a model and its processes, in which constant inputs have their value."""
    processes, outer = processes_of(model, output), False
    while isinstance(model, Pipeline | TransformedTargetRegressor):
        outer |= isinstance(model, TransformedTargetRegressor)
        model = model[-1] if isinstance(model, Pipeline) else model.regressor_
    view = view_of(model, output)
    if outer and view.estimator._surrogate.response.transforms:
        raise InputError("the response is transformed twice; leave one of the transforms out.")
    if view.is_constant:
        raise InputError("all runs have the same response, which tells nothing about others.")
    if not np.array_equal(processes.lower, view.estimator._surrogate.inputs.lower):
        return view, processes  # scaled by a pipeline: the value is that of the runs' range
    ends = (np.where(processes.constant, view.X[0], e) for e in (processes.lower, processes.upper))
    lower, upper = ends
    return view, replace(processes, lower=lower, upper=upper)


def _batch(
    goal: Goal, pool: Candidates, n: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return n runs [n, d] in the unit cube and the criterion [n] of each given those before."""
    X, value = np.empty((n, goal.processes.d)), np.empty(n)
    for i in range(n):
        if i and not separable(goal.few, pool.X).any():
            raise InputError(
                f"n={n} runs are asked for, but the candidates have only {i} that can be told from "
                f"the runs and from each other; ask for {i}, or give more candidates."
            )
        X[i], value[i] = _best(goal, pool, rng)
        goal = goal.known(X[i : i + 1])
    return X, value


def _best(goal: Goal, pool: Candidates, rng: np.random.Generator) -> tuple[FloatArray, float]:
    """Return the best run [d] and its value."""
    X = _apart(goal, pool.X)
    if len(X) > _SIEVED:
        X = X[np.argsort(-goal.coarse(goal.few, X), kind="stable")[:_SIEVED]]
    value = goal.fine(goal.processes, X)
    if not pool.fixed:
        top = np.argsort(-value, kind="stable")[:_STARTS]
        X, value = refined(
            goal.processes,
            lambda tried: goal.fine(goal.processes, tried),
            lambda tried: pool.allowed(goal.processes, tried) & separable(goal.few, tried),
            *(X[top], value[top], rng),
            rounds=_ROUNDS,
        )
    best = int(np.argmax(value))
    return X[best], float(value[best])


def _apart(goal: Goal, X: FloatArray) -> FloatArray:
    """Return the candidates that can be told from the runs."""
    X = X[separable(goal.few, X)]
    if not len(X) and len(stepped(goal.processes)) == (~goal.processes.constant).sum():
        raise InputError("every combination of whole numbers and levels that is allowed has run.")
    if not len(X):
        raise InputError(
            "every candidate lies closer to a run than the nugget can separate; a run there would "
            "tell nothing. Fit with a smaller nugget, or give other candidates."
        )
    return X


def _told(
    goal: Goal,
    processes: Processes,
    pool: Candidates,
    pending: FloatArray,
    X: FloatArray,
    value: FloatArray,
) -> NextRuns:
    """Return the record of runs X [n, d] of the unit cube."""
    now = processes
    if len(pending):
        now = conditioned(processes, pending, common_mean(processes, pending))
    mean, variance = processes.mean_and_variance(X)
    above, below = (processes.to_response(mean + s * np.sqrt(variance)) for s in (1.0, -1.0))
    return NextRuns(
        processes.names,
        processes.response,
        goal.name,
        goal.criterion,
        processes.in_units(X),
        value,
        processes.to_response(mean),
        0.5 * (above - below),
        steps_of(now, X, pool),
        processes.in_units(processes.X),
        processes.in_units(pending),
        importance(processes),
        processes.transforms,
    )


def importance(processes: Processes) -> FloatArray:
    """Return the root mean square change [d] from end to end of each input, standardised."""
    ends, d = np.eye(processes.d), processes.d
    square = np.zeros(d)
    for w, p in zip(processes.weight, processes.components, strict=True):
        r = p.kernel.pairwise(ends[None], np.zeros((1, 1, d)), p.theta[None])[0, :, 0]
        square += w * 2.0 * p.sigma2 * np.maximum(1.0 - r, 0.0)
    return np.where(processes.constant, 0.0, np.sqrt(square))
