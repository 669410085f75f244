"""The smallest or largest response: where the surrogate has it, how sure that is, where else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pengp._core.arrays import FloatArray, IntArray, RandomState
from pengp._core.checks import as_generator, check_flag
from pengp._core.linalg import ONE_THREAD
from pengp._core.shown import Shown, named
from pengp.choosing.scores import half_width
from pengp.decisions.beliefs import thinned
from pengp.decisions.candidates import Candidates, find_candidates
from pengp.decisions.conditions import levels_by_name, parse_conditions
from pengp.decisions.improvement import cdf
from pengp.decisions.processes import Processes
from pengp.decisions.proposals import importance, viewed
from pengp.decisions.search import refined
from pengp.decisions.values import Value, written
from pengp.decisions.width import interval_of
from pengp.exceptions import InputError
from pengp.model.elementary import Transform
from pengp.model.levels import levels_among

if TYPE_CHECKING:
    import pandas as pd

_STARTS, _ROUNDS = 8, 24
"""Points near which the optimum is sought, and how often."""

_PLACES, _PROCESSES, _DRAWS = 256, 32, 2000
"""Points at which functions are drawn, processes that are drawn, and functions."""

_PROMISING = 2.0
"""Points are promising by their mean and so many standard deviations."""

_ALIKE = 0.25
"""Root mean square difference of the inputs up to which two places are one.

Inputs count by how much they matter, 1 for the one that matters most."""

_LEAST_SHARE = 0.02
"""Share of the draws from which on a place is told."""


@dataclass(frozen=True, eq=False)
class Place:
    """A part of the design region where the optimum may lie.

    Attributes
    ----------
    probability : float
        Share of the drawn functions that have their optimum here.
    x : [d]
        The point that most of them have it at, in the user's units.
    lower, upper : [d]
        Ends of the points that they have it at.
    levels : mapping
        Names of the levels that they have it at, by the names of factors.

    See Also
    --------
    optimum : Its ``places`` are such.
    """

    probability: float
    x: FloatArray
    lower: FloatArray
    upper: FloatArray
    levels: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, eq=False, repr=False)
class Optimum(Shown):
    """The optimum of a surrogate, in the user's units.

    Attributes
    ----------
    names : tuple of d strings
        Names of the inputs.
    response : str
        Name of the response.
    maximize : bool
        Whether the largest response was sought.
    x : [d]
        Where the mean prediction is best.
    mean, lower, upper : float
        That prediction, and the ends of its interval.
    level : float
        Level of the interval.
    best_run : int or None
        The run with the best response among those that satisfy the conditions, counted from 0;
        None where no run does.
    best : float or None
        Its response.
    probability : float or None
        That the response at x is better than that of the best run.
    places : tuple of Place
        Where the optimum may lie, the most probable first, from joint draws of the function.
    elsewhere : float
        Probability of places that are too improbable to be told.
    importance : [d]
        Change of the response from end to end of each input, standardised.
    transforms : tuple of d Transform
        Of the inputs, which know whole numbers and levels; empty for none at all.

    See Also
    --------
    optimum : Makes it.
    """

    names: tuple[str, ...]
    response: str
    maximize: bool
    x: FloatArray
    mean: float
    lower: float
    upper: float
    level: float
    best_run: int | None
    best: float | None
    probability: float | None
    places: tuple[Place, ...]
    elsewhere: float
    importance: FloatArray
    transforms: tuple[Transform, ...] = ()

    def inputs(self, x: FloatArray) -> dict[str, Value]:
        """Return a point [d] by the names of the inputs, levels by theirs."""
        return dict(zip(self.names, written(self.transforms, x[None])[0], strict=True))

    def _in_short(self) -> str:
        kind, ends = "largest" if self.maximize else "smallest", (self.lower, self.upper)
        at = ", ".join(f"{name} = {x:.4g}" for name, x in zip(self.names, self.x, strict=True))
        return f"{kind} {self.response} {self.mean:.4g} ({ends[0]:.4g} to {ends[1]:.4g}) at {at}"

    def _rows(self) -> list[dict[str, Any]]:
        return [{"probability": p.probability, **named(self.names, p.x)} for p in self.places]

    def to_frame(self) -> "pd.DataFrame":
        """Return the places as a frame, a row each: probability, and the point."""
        import pandas as pd

        rows = [self.inputs(place.x) for place in self.places]
        frame = pd.DataFrame(rows, columns=pd.Index(self.names))
        frame.insert(0, "probability", [place.probability for place in self.places])
        return frame

    def _ends(self, place: Place, x: FloatArray) -> dict[str, Value]:
        """Return an end [d] of a place; levels, which have no order, have none."""
        return {k: v for k, v in self.inputs(x).items() if k not in place.levels}

    def record(self) -> dict[str, Any]:
        """Return everything as numbers and words."""
        return {
            "maximize": self.maximize,
            "inputs": self.inputs(self.x),
            "mean": self.mean,
            "interval": {"level": self.level, "lower": self.lower, "upper": self.upper},
            "best_run": None
            if self.best_run is None
            else {"run": self.best_run + 1, "response": self.best},
            "probability_better": self.probability,
            "places": [
                {
                    "probability": place.probability,
                    "inputs": self.inputs(place.x),
                    "lower": self._ends(place, place.lower),
                    "upper": self._ends(place, place.upper),
                    "levels": dict(place.levels),
                }
                for place in self.places
            ],
            "elsewhere": self.elsewhere,
        }


def optimum(
    model: Any,
    *,
    maximize: bool = False,
    where: str | Sequence[str] = (),
    level: float = 0.95,
    random_state: RandomState = 0,
    output: int = 0,
) -> Optimum:
    """Return the optimum of the surrogate's mean, how sure it is, and where else it may lie.

    Parameters
    ----------
    model : estimator, Pipeline or FittedView
        Fitted.
    maximize : bool
        Look for the largest response, not for the smallest.
    where : str or sequence of str
        Conditions on the inputs, such as "x1 + x2 <= 3" or "material == steel".
    level : float
        Probability of the interval.
    random_state : int, Generator, RandomState or None
        Source of randomness; an int gives the same result every time.
    output : int
        Which output, for responses [n, q].

    Examples
    --------
    >>> import numpy as np
    >>> from pengp import BayesianGPRegressor, get_function
    >>> from pengp.decisions import optimum
    >>> X = np.linspace(0, 1, 8)[:, None]
    >>> model = BayesianGPRegressor(random_state=0).fit(X, get_function("forrester")(X))
    >>> found = optimum(model)
    >>> bool(abs(found.x[0] - 0.757) < 0.05), abs(found.mean + 6.02) < 0.5  # the true minimum
    (True, True)
    """
    half_width(level)
    maximize, rng = check_flag(maximize, "maximize"), as_generator(random_state)
    view, processes = viewed(model, output)
    if processes.undo is not None and not view.estimator._surrogate.response.transforms:
        raise InputError(
            "the optimum of a TransformedTargetRegressor is not sought; give its regressor_ alone."
        )
    conditions = parse_conditions(where, processes.names, levels_by_name(processes))
    pool = find_candidates(processes, None, conditions, np.empty((0, processes.d)), 0.0, rng)
    sign = -1.0 if maximize else 1.0
    with ONE_THREAD:
        x = _best_mean(processes, pool, sign, rng)
        means, squares = processes.means_and_scales(x[None])
        (lower, upper), (centre,) = (
            processes.to_response(interval_of(processes, means, np.sqrt(squares), level)[0]),
            processes.to_response(processes.weight @ means),
        )
        best_run, best, probability = _beaten(processes, pool, sign, means[:, 0], squares[:, 0])
        places, elsewhere = _places(processes, pool, x, sign, rng)
    return Optimum(
        *(processes.names, processes.response, maximize, processes.in_units(x[None])[0]),
        *(float(centre), float(lower), float(upper), level),
        best_run,
        best,
        probability,
        places,
        elsewhere,
        importance(processes),
        processes.transforms,
    )


def _beaten(
    processes: Processes, pool: Candidates, sign: float, means: FloatArray, squares: FloatArray
) -> tuple[int, float, float] | tuple[None, None, None]:
    """Return the best run that is allowed, its response, and how probably a point beats it.

    Means and squared scales [M] are those of the point.
    """
    allowed = pool.allowed(processes, processes.X)
    if not allowed.any():
        return None, None, None
    best = int(np.where(allowed, sign * processes.y, np.inf).argmin())
    scales = np.sqrt(np.maximum(squares, np.finfo(float).tiny))
    gain = sign * (processes.y[best] - means) / scales
    response = float(processes.to_response(processes.y[[best]])[0])
    return best, response, float(processes.weight @ cdf(gain, processes.df))


def _best_mean(
    processes: Processes, pool: Candidates, sign: float, rng: np.random.Generator
) -> FloatArray:
    """Return the point [d] of the unit cube with the best mean."""

    def score(X: FloatArray) -> FloatArray:
        return np.asarray(-sign * (processes.weight @ processes.means(X)))

    X = np.concatenate([pool.X, processes.X[pool.allowed(processes, processes.X)]])
    value = score(X)
    top = np.argsort(-value, kind="stable")[:_STARTS]
    X, value = refined(
        processes,
        score,
        lambda tried: pool.allowed(processes, tried),
        *(X[top], value[top], rng),
        rounds=_ROUNDS,
    )
    best: FloatArray = X[int(np.argmax(value))]
    return best


def _places(
    processes: Processes, pool: Candidates, x: FloatArray, sign: float, rng: np.random.Generator
) -> tuple[tuple[Place, ...], float]:
    """Return where drawn functions have their optimum, and the share of what is not told."""
    few = thinned(processes, _PROCESSES, rng)
    known = processes.X[pool.allowed(processes, processes.X)]
    mean, variance = few.mean_and_variance(pool.X)
    order = np.argsort(sign * mean - _PROMISING * np.sqrt(variance), kind="stable")
    points = np.concatenate([x[None], known, pool.X[order[:_PLACES]]])
    draws = few.draws(points, _DRAWS, rng)
    count = np.bincount((sign * draws).argmin(axis=1), minlength=len(points))
    matter = importance(processes)
    matter /= np.linalg.norm(matter)
    owner = _clusters(processes, points, matter, count)
    found = []
    raw = processes.in_units(points)
    for leader in np.unique(owner[count > 0]):
        mine = np.flatnonzero((owner == leader) & (count > 0))
        probability = float(count[mine].sum() / _DRAWS)
        if probability >= _LEAST_SHARE:
            ends = raw[mine].min(axis=0), raw[mine].max(axis=0)
            found.append(Place(probability, raw[leader], *ends, _levels(processes, raw[mine])))
    found.sort(key=lambda place: -place.probability)
    return tuple(found), max(0.0, 1.0 - sum(place.probability for place in found))


def _levels(processes: Processes, X_raw: FloatArray) -> dict[str, tuple[str, ...]]:
    """Return the levels among points X_raw [m, d], by the names of factors."""
    return {
        processes.names[p]: tuple(levels.label_of(value) for value in np.unique(X_raw[:, p]))
        for p, levels in levels_among(processes.transforms).items()
    }


def _clusters(processes: Processes, X: FloatArray, matter: FloatArray, count: IntArray) -> IntArray:
    """Return the leader [m] of each point X [m, d]: the most frequent one near enough.

    Inputs count by ``matter`` [d].
    """
    owner = np.full(len(X), -1)
    for leader in np.argsort(-count, kind="stable"):
        if owner[leader] < 0:
            away = processes.square_distances(X, X[leader : leader + 1], matter)[:, 0]
            owner[(away <= _ALIKE**2) & (owner < 0)] = leader
    return owner
