"""Where a further run may lie: over the design region or in a given table; what rules it out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pengp._core.arrays import BoolArray, FloatArray
from pengp._core.sobol import sobol_points
from pengp.decisions.conditions import Condition
from pengp.decisions.processes import Processes
from pengp.decisions.values import evenly
from pengp.exceptions import InputError

_POINTS = 2048
"""Points over the design region."""

_MOST_POINTS = 1 << 17
"""Points tried where few satisfy the conditions."""

_SEPARATING = 0.01
"""Weight of processes that must be able to tell a new run from one that there is."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Points among which further runs are sought.

    Attributes
    ----------
    X : [m, d]
        In the unit cube.
    fixed : bool
        Whether they were given, so that runs may lie nowhere else.
    conditions : tuple of Condition
        Which they satisfy.
    avoid : [k, d]
        Points of the unit cube to be kept away from.
    radius : float
        How far, as Euclidean distance in the unit cube.
    """

    X: FloatArray
    fixed: bool
    conditions: tuple[Condition, ...]
    avoid: FloatArray
    radius: float

    def allowed(self, processes: Processes, X: FloatArray) -> BoolArray:
        """Tell which points X [m, d] satisfy the conditions and keep away from what is avoided."""
        met = satisfied(self.conditions, processes, X)
        if len(self.avoid):
            met &= processes.square_distances(X, self.avoid).min(axis=1) > self.radius**2
        return met

    def gaps(self, processes: Processes, size: int) -> FloatArray:
        """Return candidates [size, d], each as far as possible from the runs and those before."""
        nearest = processes.square_distances(self.X, processes.X).min(axis=1)
        chosen = np.empty((size, processes.d))
        for i in range(size):
            chosen[i] = self.X[np.argmax(nearest)]
            away = processes.square_distances(self.X, chosen[i : i + 1])[:, 0]
            np.minimum(nearest, away, out=nearest)
        return chosen


def spread_points(processes: Processes, size: int, rng: np.random.Generator) -> FloatArray:
    """Return shifted Sobol points [size, d] of the unit cube, size a power of 2, as runs can be."""
    points = sobol_points(size, processes.d)
    return evenly(processes, (points + rng.random(processes.d)) % 1.0)


def find_candidates(
    processes: Processes,
    given: FloatArray | None,
    conditions: Sequence[Condition],
    avoid: FloatArray,
    radius: float,
    rng: np.random.Generator,
) -> Candidates:
    """Return the points, given [m, d] in the user's units or spread over the design region."""
    X = _spread(processes, conditions, rng) if given is None else processes.to_unit(given)
    found = Candidates(X, given is not None, tuple(conditions), avoid, radius)
    X = X[satisfied(conditions, processes, X)]
    if not len(X):
        what = "candidate" if found.fixed else f"one of {_MOST_POINTS:,} points over the region"
        texts = " and ".join(repr(c.text) for c in conditions)
        raise InputError(f"no {what} satisfies {texts}; correct the condition or the bounds.")
    found = replace(found, X=X)
    X = X[found.allowed(processes, X)]
    if not len(X):
        near = f"lies within {radius:g} of" if radius else "is"
        cure = "use a smaller radius, or other candidates" if radius else "give other candidates"
        raise InputError(f"every candidate {near} a run that is to be kept away from; {cure}.")
    return replace(found, X=X)


def _spread(
    processes: Processes, conditions: Sequence[Condition], rng: np.random.Generator
) -> FloatArray:
    """Return points that satisfy the conditions, as many as are wanted if they can be found."""
    size = _POINTS
    while True:
        points = spread_points(processes, size, rng)
        met = satisfied(conditions, processes, points)
        if met.sum() >= _POINTS // 2 or size >= _MOST_POINTS:
            return points[met][:_POINTS]
        size *= 8


def satisfied(conditions: Sequence[Condition], processes: Processes, X: FloatArray) -> BoolArray:
    """Tell which points X [m, d] of the unit cube satisfy all conditions."""
    met, X_raw = np.ones(len(X), dtype=bool), processes.in_units(X)
    for condition in conditions:
        met &= condition.holds(X_raw)
    return met


def separable(processes: Processes, X: FloatArray) -> BoolArray:
    """Tell at which X [m, d] a run can be told from all that there are.

    One process can if 1 - r with every run exceeds its nugget.
    """
    weight = np.zeros(len(X))
    for w, process in zip(processes.weight, processes.components, strict=True):
        r = process.kernel.pairwise(X[None], process.X[None], process.theta[None])[0]
        weight += w * (r.max(1) < 1.0 - process.nugget)
    return weight >= _SEPARATING
