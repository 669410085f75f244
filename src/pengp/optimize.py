"""Bounded maximisation of many small smooth problems, by Newton steps in lockstep.

Nothing here knows of Gaussian processes. A problem is a row with a tag; the objective expands any
set of rows in one call; what happens to a row never depends on which other rows run with it.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from pengp._typing import BoolArray, FloatArray, IntArray

TOLERANCE = 1e-7
"""Projected gradient at which a row is at its maximum."""

ROUND_OFF = 1e-10
"""Relative change of an objective below which gradients, not values, judge a step."""

_FIRST_RADIUS, _LARGEST_RADIUS = 2.0, 4.0
"""Trust region in the maximum norm: factors of e^2 and e^4 when x is a logarithm."""


_STRETCH = 3.0
"""How much longer steps are in directions in which the objective is convex."""


class Expansion(NamedTuple):
    """Second-order expansion of B objectives at B points; value -inf marks an impossible point."""

    value: FloatArray  # [B]
    gradient: FloatArray  # [B, d]
    hessian: FloatArray  # [B, d, d]

    def take(self, rows: IntArray | BoolArray) -> "Expansion":
        """Return the expansions of some rows."""
        return Expansion(self.value[rows], self.gradient[rows], self.hessian[rows])

    def where(self, choose: BoolArray, other: "Expansion") -> "Expansion":
        """Return this expansion where ``choose`` [B] holds, the other elsewhere."""
        return Expansion(
            np.where(choose, self.value, other.value),
            np.where(choose[:, None], self.gradient, other.gradient),
            np.where(choose[:, None, None], self.hessian, other.hessian),
        )


class Rows(NamedTuple):
    """Problems and where they stand."""

    tag: IntArray  # [B], names the problem to the objective
    memo: FloatArray  # [B, k], the caller's own notes, carried along
    x: FloatArray  # [B, d]
    at: Expansion  # the objective at x

    def take(self, rows: IntArray | BoolArray) -> "Rows":
        """Return some rows."""
        return Rows(self.tag[rows], self.memo[rows], self.x[rows], self.at.take(rows))


class Done(NamedTuple):
    """Rows that came to an end."""

    rows: Rows
    slope: FloatArray  # [B], projected gradient at x
    target: FloatArray  # [B, d], where one more Newton step would lead
    near: BoolArray  # [B], whether that step is short for its own sake, not for the radius


def join(parts: Sequence[Rows]) -> Rows:
    """Return all rows of all parts."""
    return Rows(
        np.concatenate([p.tag for p in parts]),
        np.concatenate([p.memo for p in parts]),
        np.concatenate([p.x for p in parts]),
        Expansion(*(np.concatenate(a) for a in zip(*(p.at for p in parts), strict=True))),
    )


Objective: TypeAlias = Callable[[IntArray, FloatArray], Expansion]
Bounds: TypeAlias = Callable[[IntArray], tuple[FloatArray, FloatArray]]


def pushes_outward(
    gradient: FloatArray, x: FloatArray, lower: FloatArray, upper: FloatArray
) -> BoolArray:
    """Tell which coordinates [B, d] sit at a bound that the gradient pushes against."""
    return ((x <= lower) & (gradient <= 0.0)) | ((x >= upper) & (gradient >= 0.0))


def projected_gradient(
    gradient: FloatArray, x: FloatArray, lower: FloatArray, upper: FloatArray
) -> FloatArray:
    """Return the maximum norm [B] of the gradient without what pushes against a bound."""
    outward = pushes_outward(gradient, x, lower, upper)
    return np.abs(np.where(outward, 0.0, gradient)).max(-1)


def newton_target(
    at: Expansion, x: FloatArray, lower: FloatArray, upper: FloatArray, radius: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Return where a projected Newton step of at most ``radius`` [B] leads from x [B, d].

    Also tell which steps [B] the radius cut short.

    Coordinates that the gradient pushes against a bound stay. Over the others the step is
    |H|^-1 g, |H| having the eigenvectors of H and the absolute eigenvalues, so that it ascends
    whether or not the objective is concave; where it is convex the step is longer still.
    """
    free = ~pushes_outward(at.gradient, x, lower, upper)
    values, vectors = np.linalg.eigh(at.hessian * (free[:, :, None] & free[:, None, :]))
    along = ((at.gradient * free)[:, None, :] @ vectors)[:, 0]
    along /= np.maximum(np.maximum(-values, values / _STRETCH), 1e-8)
    step = (vectors @ along[:, :, None])[..., 0] * free
    length = np.abs(step).max(-1)
    step *= np.minimum(1.0, radius / np.maximum(length, 1e-300))[:, None]
    return np.minimum(np.maximum(x + step, lower), upper), length > radius


class Lockstep:
    """Rows that take one bounded, saddle-free Newton step a round and leave when they are done.

    Parameters
    ----------
    objective : callable
        ``objective(tag, x)`` expands the objectives of the problems ``tag`` [B] at x [B, d].
    bounds : callable
        ``bounds(tag)`` gives their boxes, lower and upper [B, d]; equal bounds fix a coordinate.
    reach : float
        A row is also done when its next step, not cut by the trust region, is no longer than this.
    max_rounds : int
        Evaluations that one row may take.
    """

    def __init__(
        self, objective: Objective, bounds: Bounds, *, reach: float = 0.0, max_rounds: int = 100
    ) -> None:
        self._objective, self._bounds = objective, bounds
        self._reach, self._max_rounds = reach, max_rounds
        self._rows: Rows | None = None
        self._target = np.empty((0, 0))
        self._state = np.empty((3, 0))  # radius, slope, age

    def __len__(self) -> int:
        """Return the number of rows that still run."""
        return 0 if self._rows is None else len(self._rows.tag)

    def add(self, tag: IntArray, memo: FloatArray, x: FloatArray) -> None:
        """Let the problems ``tag`` start at x [B, d], which must lie in their boxes."""
        B, d = x.shape
        nowhere = Expansion(np.full(B, -np.inf), np.zeros((B, d)), np.zeros((B, d, d)))
        new = Rows(tag, memo, x, nowhere)
        state = np.repeat([[_FIRST_RADIUS], [np.inf], [0.0]], B, axis=1)
        if self._rows is None or len(self) == 0:
            self._rows, self._target, self._state = new, x, state
        else:
            self._rows = join([self._rows, new])
            self._target = np.concatenate([self._target, x])
            self._state = np.concatenate([self._state, state], axis=1)

    def advance(self) -> Done:
        """Let every row take one step; return the rows that are done."""
        if self._rows is None:
            raise RuntimeError("advance needs rows; call add first.")
        tag, memo, x, at = self._rows
        radius, slope, age = self._state
        lower, upper = self._bounds(tag)
        trial = self._objective(tag, self._target)
        new_slope = projected_gradient(trial.gradient, self._target, lower, upper)
        taken, radius, stuck = _judge(at, trial, self._target - x, slope, new_slope, radius)
        rows = Rows(tag, memo, np.where(taken[:, None], self._target, x), trial.where(taken, at))
        slope = np.where(taken, new_slope, slope)
        target, cut = newton_target(rows.at, rows.x, lower, upper, radius)
        near = (np.abs(target - rows.x).max(-1) <= self._reach) & ~cut
        done = near | (slope <= TOLERANCE) | stuck | (age + 1 >= self._max_rounds)
        stay = np.flatnonzero(~done)
        self._rows, self._target = rows.take(stay), target[stay]
        self._state = np.stack([radius, slope, age + 1.0])[:, stay]
        return Done(rows.take(done), slope[done], target[done], near[done])


def _judge(
    at: Expansion,
    trial: Expansion,
    step: FloatArray,
    slope: FloatArray,
    trial_slope: FloatArray,
    radius: FloatArray,
) -> tuple[BoolArray, FloatArray, BoolArray]:
    """Return which steps are taken, the next radii, and which rows cannot be improved further."""
    curved = (at.hessian @ step[:, :, None])[..., 0]
    promised = np.abs((step * (at.gradient + 0.5 * curved)).sum(-1))
    first = slope == np.inf
    gain = trial.value - np.where(first, 0.0, at.value)
    level = np.abs(gain) <= ROUND_OFF * (1.0 + np.abs(at.value))
    taken = (gain > 1e-4 * promised) | (level & (trial_slope < 0.9 * slope)) | first
    length = np.abs(step).max(-1)
    shrunk = np.where(taken, 0.5, 0.25) * length
    next_radius = np.where((gain < 0.25 * promised) & ~level, shrunk, radius)
    grows = gain > 0.7 * promised
    next_radius[grows] = np.clip(2.0 * length, radius, _LARGEST_RADIUS)[grows]
    next_radius[first] = radius[first]
    stuck = (~taken & (level | (length < 1e-9))) | (first & np.isneginf(trial.value))
    return taken, next_radius, stuck
