"""Bounded maximisation of many small smooth problems, by Newton steps in lockstep.

Nothing here knows of Gaussian processes. A problem is a row with a tag; the objective expands any
set of rows in one call; what happens to a row never depends on which other rows run with it.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.linalg.lapack import dposv

from pengp._core.arrays import BoolArray, FloatArray, IntArray
from pengp._core.linalg import diagonals, max_norm

TOLERANCE = 1e-7
"""Projected gradient at which a row is at its maximum."""

ROUND_OFF = 1e-10
"""Relative change of an objective below which gradients, not values, judge a step."""

_FIRST_RADIUS, _LARGEST_RADIUS = 3.0, 4.0
"""Trust region: factors of e^3 and e^4 when x is a logarithm."""

_WELL = 0.4
"""Part of the promised gain from which on a step is a success."""

_GROW, _SHRINK = 2.0, 0.25
"""The next radius, in lengths of a step that was a success, or was none."""

_SHORT = 1e-9
"""Length of a step that cannot be shortened any more."""

_LITTLE = 1e-5
"""Promised gain below which round-off may matter, and a gradient below its tolerance is an end."""

_MODERATE = 0.3
"""Length of a step up to which a small gain is an end; longer ones lead to a bound."""

_LARGEST_STEP = 100.0
"""Length of a Newton step beyond which the objective counts as flat in some direction."""

_FLAT = 1e-8
"""Least curvature of a model that is not concave by itself."""

_WALL = 1e100
"""Curvature that keeps a coordinate where it is."""

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
    target: FloatArray  # [B, d], where one more Newton step leads if it is near, else x
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


class Prospects(NamedTuple):
    """What rows are about to do."""

    tag: IntArray  # [B]
    memo: FloatArray  # [B, k]
    target: FloatArray  # [B, d], where the next step leads
    promised: FloatArray  # [B], what it should gain
    cut: BoolArray  # [B], whether the trust region cut it


def together(parts: list[Done]) -> Done:
    """Return the rows of several parts, at least one, in their order."""
    if len(parts) == 1:
        return parts[0]
    rows = [part.rows for part in parts]
    return Done(
        Rows(
            np.concatenate([r.tag for r in rows]),
            np.concatenate([r.memo for r in rows]),
            np.concatenate([r.x for r in rows]),
            Expansion._make(np.concatenate(a) for a in zip(*(r.at for r in rows), strict=True)),
        ),
        *(np.concatenate(a) for a in zip(*(part[1:] for part in parts), strict=True)),
    )


Objective: TypeAlias = Callable[[IntArray, FloatArray], Expansion]
Bounds: TypeAlias = Callable[[IntArray], tuple[FloatArray, FloatArray]]
Lost: TypeAlias = Callable[[Prospects], BoolArray]


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
    return max_norm(np.where(outward, 0.0, gradient))


def newton_target(
    at: Expansion, x: FloatArray, lower: FloatArray, upper: FloatArray, radius: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Return where a projected Newton step leads from x [B, d], and which steps [B] were cut.

    Coordinates that the gradient pushes against a bound stay. Over the others the step is -H^-1 g
    where the objective is concave, and cut to ``radius`` [B]. Elsewhere it is that of
    `_shifted_step`.
    """
    outward = pushes_outward(at.gradient, x, lower, upper)
    g = np.where(outward, 0.0, at.gradient)
    step, cut = _newton_step(g, at.hessian, outward, radius)
    return np.minimum(np.maximum(x + step, lower), upper), cut


def _newton_step(
    g: FloatArray, H: FloatArray, fixed: BoolArray, radius: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Return steps [B, d] for g [B, d], which is 0 where it is fixed, and which were cut.

    A Cholesky factor is much cheaper than eigenvalues, and exists where the objective is concave.
    """
    A, step = -H, g.copy()
    np.copyto(diagonals(A), _WALL, where=fixed)
    items = enumerate(zip(A.transpose(0, 2, 1), step, strict=True))
    # Options by position (lower, overwrite a, overwrite b) are much faster than by name.
    failed = [k for k, (a, b) in items if dposv(a, b, 0, 1, 1)[2]]
    np.copyto(step, 0.0, where=fixed)  # and not a trace of the wall
    length = np.sqrt(np.vecdot(step, step))
    shifted = None
    if failed or not np.maximum.reduce(length, initial=0.0) <= _LARGEST_STEP:
        flat = ~(length <= _LARGEST_STEP)
        flat[failed] = True
        rows = flat.nonzero()[0]
        step[rows], shifted = _shifted_step(g[rows], H[rows], fixed[rows], radius[rows])
        length[rows] = 0.0
    cut = length > radius
    if cut.any():
        step *= np.where(cut, radius / np.where(cut, length, 1.0), 1.0)[:, None]
    if shifted is not None:
        cut[rows] = shifted
    return step, cut


def _shifted_step(
    g: FloatArray, H: FloatArray, fixed: BoolArray, radius: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Return steps as `_newton_step` does, but (mu I - H)^-1 g whether H is definite or not.

    mu is the least shift >= 0 for which the step ascends, and no component of it along an
    eigenvector of H exceeds the radius; the step counts as cut if mu > 0.
    """
    free = 1.0 - fixed
    A = H * -free[:, :, None]
    A *= free[:, None, :]
    on_diagonal = diagonals(A)
    on_diagonal += fixed
    values, vectors = np.linalg.eigh(A)
    along = (g[:, None] @ vectors)[:, 0]
    shift = np.abs(along)
    shift /= np.maximum(radius, _SHORT)[:, None]
    shift -= values
    mu = np.maximum.reduce(shift, axis=-1)
    mu = np.maximum(mu, np.maximum(_FLAT - values[:, 0], 0.0))[:, None]
    along /= values + mu
    step = (vectors @ along[:, :, None])[..., 0]
    step *= free
    return step, mu[:, 0] > 0.0


def promised_gain(at: Expansion, step: FloatArray) -> FloatArray:
    """Return by how much [B] steps [B, d] raise the objectives, according to the expansions."""
    curved = (at.hessian @ (0.5 * step[:, :, None]))[..., 0]
    return np.vecdot(step, at.gradient + curved)


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
    length: FloatArray  # [B], and how long it is
    radius: FloatArray  # [B], of the trust region
    deadline: IntArray  # [B], round at which the row is given up


class Lockstep:
    """Rows that take one bounded Newton step a round and leave when they are done.

    Parameters
    ----------
    objective : callable
        ``objective(tag, x)`` expands the objectives of the problems ``tag`` [B] at x [B, d].
    bounds : callable
        ``bounds(tag)`` gives their boxes, lower and upper [B, d]; equal bounds fix a coordinate.
    reach : float
        A row is also done when its next step, not cut by the trust region, is no longer than this.
    gain : float
        The same if that step is moderate and would gain no more than this.
    concave : bool
        Whether most rows are where their objectives are concave, which saves eigenvalues.
    max_rounds : int
        Evaluations that one row may take.
    lost : callable, optional
        ``lost(prospects)`` tells which rows [B] are to be given up.
    """

    def __init__(
        self,
        objective: Objective,
        bounds: Bounds,
        *,
        reach: float = 0.0,
        gain: float = 0.0,
        concave: bool = True,
        max_rounds: int = 100,
        lost: Lost | None = None,
    ) -> None:
        self._objective, self._bounds, self._lost = objective, bounds, lost
        self._reach, self._gain, self._max_rounds = reach, gain, max_rounds
        self._step = _newton_step if concave else _shifted_step
        self._round = self._first_deadline = 0
        self._state: _State | None = None
        self._none: Done | None = None

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
            promised=np.ones(B),
            length=np.zeros(B),
            radius=np.full(B, _FIRST_RADIUS),
            deadline=np.full(B, self._round + self._max_rounds - spent),
        )
        if self._state is not None and len(self):
            pairs = zip(self._state, new, strict=True)
            new = _State._make(np.concatenate(pair) for pair in pairs)
        self._state = new
        self._first_deadline = int(new.deadline.min(initial=self._round + self._max_rounds))

    def advance(self) -> Done:
        """Let every row take one step; return the rows that are done."""
        if self._state is None:
            raise RuntimeError("advance needs rows; call add first.")
        self._round += 1
        old = self._state
        trial = self._objective(old.tag, old.target)
        taken, well, over = _judge(old, trial)
        longer = np.minimum(np.maximum(_GROW * old.length, old.radius), _LARGEST_RADIUS)
        radius = np.where(well, longer, _SHRINK * old.length)
        x, at = old.target, trial
        if not taken.all():
            x, at = _where(taken, old, trial)
        outward = pushes_outward(at.gradient, x, old.lower, old.upper)
        g = np.where(outward, 0.0, at.gradient)
        slope = max_norm(g)
        step, cut = self._step(g, at.hessian, outward, radius)
        target = np.minimum(np.maximum(x + step, old.lower), old.upper)
        step = target - x
        length, expected = np.sqrt(np.vecdot(step, step)), promised_gain(at, step)
        promised = np.abs(expected)
        near = length <= self._reach
        if self._gain:
            near |= (promised <= self._gain) & (length <= _MODERATE)
        near &= ~cut
        over = near if over is None else over | near
        if np.minimum.reduce(promised) < _LITTLE:
            over = over | ((promised < _LITTLE) & (slope <= TOLERANCE))
        if self._lost is not None:
            over = over | self._lost(Prospects(old.tag, old.memo, target, promised, cut))
        if self._round >= self._first_deadline:
            over = over | (old.deadline <= self._round)
        new = _State(
            tag=old.tag,
            memo=old.memo,
            lower=old.lower,
            upper=old.upper,
            x=x,
            value=at.value,
            gradient=at.gradient,
            hessian=at.hessian,
            target=target,
            promised=promised,
            length=length,
            radius=radius,
            deadline=old.deadline,
        )
        if not over.any():
            self._state = new
            return self._nobody(new)
        stay, leave = (~over).nonzero()[0], over.nonzero()[0]
        self._state = _State._make(a.take(stay, axis=0) for a in new)
        self._first_deadline = int(self._state.deadline.min(initial=self._round + 1))
        # On a plateau the next step may be long, and promise what is not there. A bound may spoil a
        # short one; then it promises a loss, and the row is no higher than it is.
        last = new._replace(target=np.where(near[:, None], target, x))
        gain = np.where(near, np.maximum(expected, 0.0), 0.0)
        return _ended(last, leave, slope, at.value + gain, near)

    def finish(self) -> Done:
        """Let all rows run to their ends; return them in the order in which they come to it."""
        parts = [self.advance()]
        while len(self):
            done = self.advance()
            if len(done.slope):
                parts.append(done)
        return together(parts)

    def _nobody(self, state: _State) -> Done:
        """Return no rows."""
        if self._none is None:
            none, same = np.empty(0, dtype=np.int64), state.value
            self._none = _ended(state, none, same, same, np.empty(len(same), dtype=bool))
        return self._none


def _ended(
    at: _State, rows: IntArray, slope: FloatArray, height: FloatArray, near: BoolArray
) -> Done:
    """Return some rows of a state, with the slopes, heights and flags [B] of all given."""
    here = Expansion(at.value, at.gradient, at.hessian)
    return Done(Rows(at.tag, at.memo, at.x, here), slope, at.target, height, near).take(rows)


def _where(taken: BoolArray, at: _State, trial: Expansion) -> tuple[FloatArray, Expansion]:
    """Return where the rows are if only some steps are taken, and the objective there."""
    value = np.where(taken, trial.value, at.value)
    value[value == _NOWHERE] = -np.inf
    x = np.where(taken[:, None], at.target, at.x)
    gradient = np.where(taken[:, None], trial.gradient, at.gradient)
    return x, Expansion(value, gradient, np.where(taken[:, None, None], trial.hessian, at.hessian))


def _judge(at: _State, trial: Expansion) -> tuple[BoolArray, BoolArray, BoolArray | None]:
    """Return which steps are taken, which were a success, and which rows cannot be improved."""
    gain = trial.value - at.value
    taken, well, stuck = gain > 0.0, gain > _WELL * at.promised, None
    if np.minimum.reduce(at.promised) < _LITTLE:
        level = np.abs(gain) <= ROUND_OFF * (1.0 + np.abs(at.value))
        level &= at.promised < _LITTLE
        if level.any():  # values say nothing any more, gradients still do
            slope, trial_slope = (
                projected_gradient(a.gradient, x, at.lower, at.upper)
                for a, x in ((at, at.x), (trial, at.target))
            )
            taken = np.where(level, trial_slope < 0.9 * slope, taken)
            well |= level
            stuck = level & ~taken
    if np.minimum.reduce(at.length) < _SHORT:
        short = ~taken & (at.length < _SHORT)
        stuck = short if stuck is None else stuck | short
    return taken, well, stuck
