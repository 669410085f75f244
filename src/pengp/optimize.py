"""Bounded maximisation of many small smooth problems, by Newton steps in lockstep.

Nothing here knows of Gaussian processes. A problem is a row with a tag; the objective expands any
set of rows in one call; what happens to a row never depends on which other rows run with it.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.linalg.lapack import dposv

from pengp._linalg import diagonals
from pengp._typing import BoolArray, FloatArray, IntArray

TOLERANCE = 1e-7
"""Projected gradient at which a row is at its maximum."""

ROUND_OFF = 1e-10
"""Relative change of an objective below which gradients, not values, judge a step."""

_FIRST_RADIUS, _LARGEST_RADIUS = 2.0, 4.0
"""Trust region in the maximum norm: factors of e^2 and e^4 when x is a logarithm."""

_STRETCH = 3.0
"""How much longer steps are in directions in which the objective is convex."""

_LARGEST_STEP = 100.0
"""Length of a Newton step beyond which the objective counts as flat in some direction."""

_NOWHERE = -1e300
"""Value of a row that has not been evaluated yet."""


class Expansion(NamedTuple):
    """Second-order expansion of B objectives at B points; value -inf marks an impossible point."""

    value: FloatArray  # [B]
    gradient: FloatArray  # [B, d]
    hessian: FloatArray  # [B, d, d]

    def take(self, rows: IntArray | slice) -> "Expansion":
        """Return the expansions of some rows."""
        return Expansion(self.value[rows], self.gradient[rows], self.hessian[rows])


class Rows(NamedTuple):
    """Problems and where they stand."""

    tag: IntArray  # [B], names the problem to the objective
    memo: FloatArray  # [B, k], the caller's own notes, carried along
    x: FloatArray  # [B, d]
    at: Expansion  # the objective at x

    def take(self, rows: IntArray | slice) -> "Rows":
        """Return some rows."""
        return Rows(self.tag[rows], self.memo[rows], self.x[rows], self.at.take(rows))


class Done(NamedTuple):
    """Rows that came to an end."""

    rows: Rows
    slope: FloatArray  # [B], projected gradient at x
    target: FloatArray  # [B, d], where one more Newton step would lead
    height: FloatArray  # [B], the objective there, from the expansion
    near: BoolArray  # [B], whether that step is short for its own sake, not for the radius

    def take(self, rows: IntArray | slice) -> "Done":
        """Return some rows."""
        return Done(
            self.rows.take(rows),
            self.slope[rows],
            self.target[rows],
            self.height[rows],
            self.near[rows],
        )


Objective: TypeAlias = Callable[[IntArray, FloatArray], Expansion]
Bounds: TypeAlias = Callable[[IntArray], tuple[FloatArray, FloatArray]]
Lost: TypeAlias = Callable[[FloatArray, FloatArray], BoolArray]


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
    outward = pushes_outward(at.gradient, x, lower, upper)
    return _newton_target(at, x, lower, upper, radius, outward if outward.any() else None)


def _newton_target(
    at: Expansion,
    x: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    radius: FloatArray,
    outward: BoolArray | None,
) -> tuple[FloatArray, BoolArray]:
    """Return the same, knowing which coordinates [B, d] stay."""
    step = _newton_step(at.gradient, at.hessian, outward)
    length = np.abs(step).max(-1)
    cut = length > radius
    if cut.any():
        step *= np.where(cut, radius / np.where(cut, length, 1.0), 1.0)[:, None]
    return np.minimum(np.maximum(x + step, lower), upper), cut


def _newton_step(g: FloatArray, H: FloatArray, fixed: BoolArray | None) -> FloatArray:
    """Return |H|^-1 g [B, d] for g [B, d] and H [B, d, d], over the coordinates that are not fixed.

    A Cholesky factor is much cheaper than eigenvalues, and exists where the objective is concave.
    """
    free = None if fixed is None else ~fixed
    A, step = _negative(H, free), g.copy() if free is None else g * free
    items = enumerate(zip(A.transpose(0, 2, 1), step, strict=True))
    # Options by position (lower, overwrite a, overwrite b) are much faster than by name.
    failed = [k for k, (a, b) in items if dposv(a, b, 0, 1, 1)[2]]
    length = np.abs(step).max(-1)
    if failed or not length.max(initial=0.0) <= _LARGEST_STEP:
        flat = ~(length <= _LARGEST_STEP)
        flat[failed] = True
        if free is not None:
            g, free = g * free, free[flat]
        values, vectors = np.linalg.eigh(_negative(H[flat], free))
        along = (g[flat][:, None, :] @ vectors)[:, 0]
        along /= np.maximum(np.maximum(values, values / -_STRETCH), 1e-8)
        step[flat] = (vectors @ along[:, :, None])[..., 0]
        if fixed is not None:
            step[fixed] = 0.0
    return step


def _negative(H: FloatArray, free: BoolArray | None) -> FloatArray:
    """Return -H [B, d, d] over the free coordinates [B, d], the identity over the others."""
    A = -H
    if free is not None:
        A *= free[:, :, None] & free[:, None, :]
        diagonals(A)[...] += ~free
    return A


def promised_gain(at: Expansion, step: FloatArray) -> FloatArray:
    """Return by how much [B] steps [B, d] raise the objectives, according to the expansions."""
    curved = (at.hessian @ step[:, :, None])[..., 0]
    return (step * (at.gradient + 0.5 * curved)).sum(-1)


class _State(NamedTuple):
    """All that is known of the rows that run."""

    tag: IntArray  # [B]
    memo: FloatArray  # [B, k]
    lower: FloatArray  # [B, d]
    upper: FloatArray  # [B, d]
    x: FloatArray  # [B, d]
    value: FloatArray  # [B], and the next two: the objective at x
    gradient: FloatArray  # [B, d]
    hessian: FloatArray  # [B, d, d]
    target: FloatArray  # [B, d], where the next step leads,
    promised: FloatArray  # [B], what it should gain
    length: FloatArray  # [B], and its maximum norm
    radius: FloatArray  # [B], of the trust region
    age: IntArray  # [B], evaluations spent


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
    lost : callable, optional
        ``lost(memo, x)`` tells which rows [B] are to be given up.
    """

    def __init__(
        self,
        objective: Objective,
        bounds: Bounds,
        *,
        reach: float = 0.0,
        max_rounds: int = 100,
        lost: Lost | None = None,
    ) -> None:
        self._objective, self._bounds, self._lost = objective, bounds, lost
        self._reach, self._max_rounds = reach, max_rounds
        self._state: _State | None = None

    def __len__(self) -> int:
        """Return the number of rows that still run."""
        return 0 if self._state is None else len(self._state.tag)

    def add(self, tag: IntArray, memo: FloatArray, x: FloatArray, *, spent: int = 0) -> None:
        """Let the problems ``tag`` start at x [B, d], which must lie in their boxes.

        They count as having taken ``spent`` of their evaluations already.
        """
        B, d = x.shape
        lower, upper = self._bounds(tag)
        new = _State(
            tag=tag,
            memo=memo,
            lower=lower,
            upper=upper,
            x=x,
            value=np.full(B, _NOWHERE),
            gradient=np.zeros((B, d)),
            hessian=np.zeros((B, d, d)),
            target=x,
            promised=np.zeros(B),
            length=np.zeros(B),
            radius=np.full(B, _FIRST_RADIUS),
            age=np.full(B, spent),
        )
        if self._state is None or len(self) == 0:
            self._state = new
        else:
            pairs = zip(self._state, new, strict=True)
            self._state = _State._make(np.concatenate(pair) for pair in pairs)

    def advance(self) -> Done:
        """Let every row take one step; return the rows that are done."""
        if self._state is None:
            raise RuntimeError("advance needs rows; call add first.")
        old = self._state
        trial = self._objective(old.tag, old.target)
        taken, radius, stuck = _judge(old, trial)
        x, at = old.target, trial
        if not taken.all():
            x = np.where(taken[:, None], x, old.x)
            at = Expansion(
                np.where(taken, trial.value, old.value),
                np.where(taken[:, None], trial.gradient, old.gradient),
                np.where(taken[:, None, None], trial.hessian, old.hessian),
            )
            at.value[at.value == _NOWHERE] = -np.inf
        outward = pushes_outward(at.gradient, x, old.lower, old.upper)
        stays = outward if outward.any() else None
        target, cut = _newton_target(at, x, old.lower, old.upper, radius, stays)
        step = target - x
        length, promised = np.abs(step).max(-1), promised_gain(at, step)
        near = (length <= self._reach) & ~cut
        slope = np.abs(at.gradient if stays is None else at.gradient * ~stays).max(-1)
        age = old.age + 1
        over = near | (slope <= TOLERANCE) | stuck | (age >= self._max_rounds)
        if self._lost is not None:
            over |= self._lost(old.memo, x)
        new = old._replace(
            x=x,
            value=at.value,
            gradient=at.gradient,
            hessian=at.hessian,
            target=target,
            promised=np.abs(promised),
            length=length,
            radius=radius,
            age=age,
        )
        rows = Rows(old.tag, old.memo, x, at)
        done = Done(rows, slope, target, at.value + np.maximum(promised, 0.0), near)
        if not over.any():
            self._state = new
            return done.take(slice(0))
        stay = np.flatnonzero(~over)
        self._state = _State._make(a[stay] for a in new)
        return done.take(np.flatnonzero(over))


def _judge(at: _State, trial: Expansion) -> tuple[BoolArray, FloatArray, BoolArray]:
    """Return which steps are taken, the next radii, and which rows cannot be improved further."""
    gain, promised, length = trial.value - at.value, at.promised, at.length
    level = np.abs(gain) <= ROUND_OFF * (1.0 + np.abs(at.value))
    taken, poor = gain > 1e-4 * promised, gain < 0.25 * promised
    if level.any():  # values say nothing any more, gradients still do
        slope, trial_slope = (
            projected_gradient(a.gradient, x, at.lower, at.upper)
            for a, x in ((at, at.x), (trial, at.target))
        )
        taken |= level & (trial_slope < 0.9 * slope)
        poor &= ~level
    longer = np.minimum(np.maximum(2.0 * length, at.radius), _LARGEST_RADIUS)
    radius = np.where(gain > 0.7 * promised, longer, at.radius)
    if poor.any():
        radius = np.where(poor, np.where(taken, 0.5, 0.25) * length, radius)
    return taken, radius, ~taken & (level | (length < 1e-9))
