"""Bounded maximisation of many small smooth problems at once: one Newton step each, round by round.

A row is one run at the problem of a cell, and carries an integer that names it to the caller. The
objective expands any set of cells in one call; what happens to a row never depends on which other
rows run with it. One round is

1. evaluate every row's trial point;
2. accept those that gain, and adapt the radius of the trust region to the predicted gain;
3. take a Newton step in it to the next trial point;
4. let those rows go that have arrived, cannot improve, or are given up.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from pengp._core.arrays import BoolArray, FloatArray, IntArray
from pengp._core.linalg import max_norm
from pengp.path import settings
from pengp.path.newton import (
    Expansion,
    newton_step,
    predicted_gain,
    projected_gradient,
    pushes_outward,
    shifted_step,
)


class Ended(NamedTuple):
    """Rows that came to an end."""

    cell: IntArray  # [B]
    row: IntArray  # [B]
    point: FloatArray  # [B, P], the last that was evaluated and accepted
    at: Expansion  # the objective there
    slope: FloatArray  # [B], projected gradient there
    maximum: FloatArray  # [B, P], where one more Newton step leads if it is near, else point
    objective: FloatArray  # [B], that of the maximum, from the expansion
    near: BoolArray  # [B], whether that step is short for its own sake, not for the radius

    def take(self, rows: IntArray) -> "Ended":
        """Return some rows."""
        return Ended(
            self.cell[rows],
            self.row[rows],
            self.point.take(rows, axis=0),
            self.at.take(rows),
            self.slope[rows],
            self.maximum.take(rows, axis=0),
            self.objective[rows],
            self.near[rows],
        )


class NextSteps(NamedTuple):
    """The steps that rows are about to take."""

    cell: IntArray  # [B]
    row: IntArray  # [B]
    trial: FloatArray  # [B, P], where they lead
    gain: FloatArray  # [B], the predicted one
    cut: BoolArray  # [B], whether the trust region cut them


Objective: TypeAlias = Callable[[IntArray, FloatArray], Expansion]
Bounds: TypeAlias = Callable[[IntArray], tuple[FloatArray, FloatArray]]
GiveUp: TypeAlias = Callable[[NextSteps], BoolArray]


def together(parts: list[Ended]) -> Ended:
    """Return the rows of several parts, at least one, in their order."""
    if len(parts) == 1:
        return parts[0]
    at = Expansion._make(np.concatenate(a) for a in zip(*(p.at for p in parts), strict=True))
    rest = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in Ended._fields
        if name != "at"
    }
    return Ended(at=at, **rest)


class _State(NamedTuple):
    """All that is known of the rows that run."""

    cell: IntArray  # [B]
    row: IntArray  # [B]
    lower: FloatArray  # [B, P]
    upper: FloatArray  # [B, P]
    point: FloatArray  # [B, P]
    objective: FloatArray  # [B], and the next two: the expansion at the point
    gradient: FloatArray  # [B, P]
    hessian: FloatArray  # [B, P, P]
    trial: FloatArray  # [B, P], where the next step leads,
    gain: FloatArray  # [B], what it should gain
    length: FloatArray  # [B], and how long it is
    radius: FloatArray  # [B], of the trust region
    deadline: IntArray  # [B], round at which the row is given up


class _Step(NamedTuple):
    """The next step of every row."""

    slope: FloatArray  # [B], projected gradient at the point
    trial: FloatArray  # [B, P]
    length: FloatArray  # [B]
    change: FloatArray  # [B], predicted; negative where a bound spoils the step
    gain: FloatArray  # [B], its size
    cut: BoolArray  # [B]


class Lockstep:
    """Rows that take one bounded Newton step a round and leave when they are done.

    Parameters
    ----------
    objective : callable
        ``objective(cell, point)`` expands the objectives of the cells [B] at point [B, P].
    bounds : callable
        ``bounds(cell)`` gives their boxes, lower and upper [B, P]; equal bounds fix a coordinate.
    near : float
        A row is also done when its next step, not cut by the trust region, is no longer than this.
    gain : float
        The same if that step would gain no more than this.
    concave : bool
        Whether most rows are where their objectives are concave, which saves eigenvalues.
    max_rounds : int
        Evaluations that one row may take.
    give_up : callable, optional
        ``give_up(next_steps)`` tells which rows [B] are to be given up.
    """

    def __init__(
        self,
        objective: Objective,
        bounds: Bounds,
        *,
        near: float = 0.0,
        gain: float = 0.0,
        concave: bool = True,
        max_rounds: int = settings.MOST_ROUNDS,
        give_up: GiveUp | None = None,
    ) -> None:
        self._objective, self._bounds, self._give_up = objective, bounds, give_up
        self._near, self._gain, self._max_rounds = near, gain, max_rounds
        self._newton_step = newton_step if concave else shifted_step
        self._round = self._first_deadline = 0
        self._state: _State | None = None
        self._none: Ended | None = None

    def __len__(self) -> int:
        """Return the number of rows that still run."""
        return 0 if self._state is None else len(self._state.cell)

    def add(self, cell: IntArray, row: IntArray, point: FloatArray) -> None:
        """Let ``row`` [B] start in ``cell`` [B] at point [B, P], which must lie in their boxes."""
        B, P = point.shape
        lower, upper = self._bounds(cell)
        new = _State(
            cell=cell,
            row=row,
            lower=lower,
            upper=upper,
            point=point,
            objective=np.full(B, settings.NOT_EVALUATED),
            gradient=np.zeros((B, P)),
            hessian=np.zeros((B, P, P)),
            trial=point,
            gain=np.ones(B),
            length=np.zeros(B),
            radius=np.full(B, settings.FIRST_RADIUS),
            deadline=np.full(B, self._round + self._max_rounds),
        )
        if self._state is not None and len(self):
            pairs = zip(self._state, new, strict=True)
            new = _State._make(np.concatenate(pair) for pair in pairs)
        self._state = new
        self._first_deadline = int(new.deadline.min(initial=self._round + self._max_rounds))

    def advance(self) -> Ended:
        """Let every row take one step; return the rows that came to an end."""
        if self._state is None:
            raise RuntimeError("advance needs rows; call add first.")
        self._round += 1
        old = self._state
        tried = self._objective(old.cell, old.trial)
        accepted, success, stuck = _judge(old, tried)
        point, at = (old.trial, tried) if accepted.all() else _accept(accepted, old, tried)
        radius = _next_radius(old, success)
        step = self._next_step(old, point, at, radius)
        near, over = self._at_end(old, step)
        over = over if stuck is None else over | stuck
        new = _State(
            cell=old.cell,
            row=old.row,
            lower=old.lower,
            upper=old.upper,
            point=point,
            objective=at.objective,
            gradient=at.gradient,
            hessian=at.hessian,
            trial=step.trial,
            gain=step.gain,
            length=step.length,
            radius=radius,
            deadline=old.deadline,
        )
        return self._release(new, step, near, over)

    def finish(self) -> Ended:
        """Let all rows run to their ends; return them in the order in which they come to it."""
        parts = [self.advance()]
        while len(self):
            ended = self.advance()
            if len(ended.slope):
                parts.append(ended)
        return together(parts)

    def _next_step(
        self, old: _State, point: FloatArray, at: Expansion, radius: FloatArray
    ) -> _Step:
        """Return a Newton step from point [B, P] within the bounds and the radius [B]."""
        outward = pushes_outward(at.gradient, point, old.lower, old.upper)
        g = at.gradient * ~outward
        step, cut = self._newton_step(g, at.hessian, outward, radius)
        trial = np.minimum(np.maximum(point + step, old.lower), old.upper)
        step = trial - point
        length = np.sqrt(np.vecdot(step, step))
        change = predicted_gain(at, step)
        return _Step(max_norm(g), trial, length, change, np.abs(change), cut)

    def _at_end(self, old: _State, step: _Step) -> tuple[BoolArray, BoolArray]:
        """Return which rows are near a maximum, and which come to an end for that or otherwise."""
        near = step.length <= self._near
        if self._gain:
            near |= step.gain <= self._gain
        near &= ~step.cut
        over = near
        if np.minimum.reduce(step.gain) < settings.LITTLE_GAIN:
            over = over | ((step.gain < settings.LITTLE_GAIN) & (step.slope <= settings.TOLERANCE))
        if self._give_up is not None:
            steps = NextSteps(old.cell, old.row, step.trial, step.gain, step.cut)
            over = over | self._give_up(steps)
        if self._round >= self._first_deadline:
            over = over | (old.deadline <= self._round)
        return near, over

    def _release(self, new: _State, step: _Step, near: BoolArray, over: BoolArray) -> Ended:
        """Keep the rows that are not over, and return the others."""
        if not over.any():
            self._state = new
            return self._nobody(new)
        stay, leave = (~over).nonzero()[0], over.nonzero()[0]
        self._state = _State._make(a.take(stay, axis=0) for a in new)
        self._first_deadline = int(self._state.deadline.min(initial=self._round + 1))
        # On a plateau the next step may be long, and promise what is not there. A bound may spoil a
        # short one; then it predicts a loss, and the row is no higher than it is.
        maximum = np.where(near[:, None], step.trial, new.point)
        gain = np.where(near, np.maximum(step.change, 0.0), 0.0)
        here = Expansion(new.objective, new.gradient, new.hessian)
        ended = Ended(
            new.cell, new.row, new.point, here, step.slope, maximum, new.objective + gain, near
        )
        return ended.take(leave)

    def _nobody(self, state: _State) -> Ended:
        """Return no rows."""
        if self._none is None:
            same, here = state.objective, Expansion(state.objective, state.gradient, state.hessian)
            some = Ended(
                state.cell, state.row, state.point, here, same, state.point, same, same > 0
            )
            self._none = some.take(np.empty(0, dtype=np.int64))
        return self._none


def _next_radius(old: _State, success: BoolArray) -> FloatArray:
    """Return the radii [B] after steps that were a ``success`` [B] or not."""
    longer = np.minimum(np.maximum(settings.GROW * old.length, old.radius), settings.LARGEST_RADIUS)
    return np.where(success, longer, settings.SHRINK * old.length)


def _accept(accepted: BoolArray, old: _State, tried: Expansion) -> tuple[FloatArray, Expansion]:
    """Return where the rows are if only some steps are accepted, and the objective there."""
    objective = np.where(accepted, tried.objective, old.objective)
    objective[objective == settings.NOT_EVALUATED] = -np.inf
    point = np.where(accepted[:, None], old.trial, old.point)
    gradient = np.where(accepted[:, None], tried.gradient, old.gradient)
    hessian = np.where(accepted[:, None, None], tried.hessian, old.hessian)
    return point, Expansion(objective, gradient, hessian)


def _judge(old: _State, tried: Expansion) -> tuple[BoolArray, BoolArray, BoolArray | None]:
    """Return which steps are accepted, which were a success, and which rows cannot be improved."""
    gain = tried.objective - old.objective
    accepted, success, stuck = gain > 0.0, gain > settings.SUCCESS * old.gain, None
    if np.minimum.reduce(old.gain) < settings.LITTLE_GAIN:
        level = np.abs(gain) <= settings.ROUND_OFF * (1.0 + np.abs(old.objective))
        level &= old.gain < settings.LITTLE_GAIN
        if level.any():  # values say nothing any more, gradients still do
            slope = projected_gradient(old.gradient, old.point, old.lower, old.upper)
            tried_slope = projected_gradient(tried.gradient, old.trial, old.lower, old.upper)
            accepted = np.where(level, tried_slope < slope, accepted)
            success |= level
            stuck = level & ~accepted
    if np.minimum.reduce(old.length) < settings.SHORTEST_STEP:
        short = ~accepted & (old.length < settings.SHORTEST_STEP)
        stuck = short if stuck is None else stuck | short
    return accepted, success, stuck
