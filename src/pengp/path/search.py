"""All local maxima of the penalized likelihood, for every data set and every lambda at once.

A cell is one data set at one lambda, numbered data set * L + index of lambda. Starts run at a few
anchor lambdas; every maximum found is then followed to the neighbouring lambdas in both directions
until each cell holds the continuation of its neighbours' maxima. The likelihood does not depend on
lambda, so that its expansion at a maximum predicts the maximum at the next lambda for free, and
every likelihood value ever computed is ranked for every lambda at the end.
"""

from typing import NamedTuple, Protocol

import numpy as np

from pengp._core.arrays import BoolArray, FloatArray, IntArray
from pengp._core.linalg import diagonals, max_norm
from pengp.model.likelihood import LogLik
from pengp.path.lbfgs import OneByOne
from pengp.path.modes import ModeTable
from pengp.path.newton import (
    Done,
    Expansion,
    Lockstep,
    Lost,
    Prospects,
    Rows,
    newton_target,
    projected_gradient,
)
from pengp.path.penalties import Penalty, total
from pengp.path.starts import Starts, choose

_APART = 0.5
"""A neighbour's maximum further away than this in log theta is looked for in a cell."""

_ABOUT_TO = 1.0
"""Distance in log theta from a maximum at which the next step of a start leads there."""

_REACH = 0.03
"""Length of the last Newton step in log theta at which a maximum is known well enough to follow."""

_GAIN = 1e-6
"""The same for the gain of that step, where the likelihood is flat and has a Hessian."""

_LAST = 3e-4
"""The same for the best maximum of a cell, and at a single lambda for all: the last step leaves an
error of its square."""

_PATIENCE, _PATIENCE_ALONE, _AGAIN = 26, 5, (100, 100, 100)
"""Evaluations that one row may take in the first search, beside one for each parameter: in general,
and at a single lambda with Hessians, where a row leads to one maximum at most; and in overlooked
cells."""

_TO_FOLLOW = 16
"""The same for a row that follows a maximum: if it takes longer, there is nothing to follow."""

_ASTRAY = 4.0
"""Distance in log theta from its prediction at which such a row has left what it followed."""

_OVERLOOKED = 1e-8
"""Relative height by which a point must beat a cell's best maximum to be looked into."""

_PIECE = 4_000_000
"""Numbers in the largest temporary array of the ranking of all points."""

_BOTH_WAYS = np.array([-1, 1])
"""Steps along lambda."""

_CONVERGED = 1e-5
"""Projected gradient up to which a reported maximum counts as converged."""

_LONGEST_PREDICTION = 1.0
"""Largest step in log theta from one lambda's maximum to the prediction of the next."""


class Likelihood(Protocol):
    """What the search needs to know of a set of likelihoods of F data sets of one size."""

    n: int
    n_theta: int
    newton: bool

    def evaluate(
        self, which: IntArray, log_params: FloatArray, *, derivatives: bool = True
    ) -> LogLik:
        """Evaluate data sets ``which`` [B] at log_params [B, P]."""
        ...


class Found(NamedTuple):
    """The maxima of F x L cells, best first; unused places hold -inf and nan."""

    u: FloatArray  # [F, L, M, P], logarithms of the parameters
    objective: FloatArray  # [F, L, M]
    loglik: FloatArray  # [F, L, M]
    converged: BoolArray  # [F, L, M]


class ModeSearch:
    """The search for one set of data sets of equal size.

    Parameters
    ----------
    likelihood : Likelihood
        Of F data sets.
    lams : [L]
        Distinct, ascending.
    penalty : Penalty
        Applied to the thetas, times n.
    lower, upper : [F, P]
        Bounds on the logarithms of the parameters.
    scale : [F, P], optional
        Typical steps in them, for likelihoods without Hessian.
    """

    def __init__(
        self,
        likelihood: Likelihood,
        lams: FloatArray,
        penalty: Penalty,
        lower: FloatArray,
        upper: FloatArray,
        scale: FloatArray | None = None,
    ) -> None:
        self.likelihood, self.lams, self.penalty = likelihood, lams, penalty
        self.lower, self.upper, self.scale = lower, upper, scale
        F, L = len(lower), len(lams)
        self._set_of, self._lam_of = np.repeat(np.arange(F), L), np.tile(lams, F)  # [F * L]
        self._seen: list[tuple[IntArray, FloatArray, FloatArray]] = []
        self._table = ModeTable(len(lower) * len(lams), lower.shape[1])

    def run(self, starts: Starts) -> Found:
        """Find every data set's maxima."""
        cell, u = self._chosen(starts)
        path = len(self.lams) > 1
        first = _PATIENCE if path or not self.likelihood.newton else _PATIENCE_ALONE
        lost: Lost = self._astray_or_reached if path else self._reached
        gain = _GAIN
        for patience in (first + self.lower.shape[1], *_AGAIN):
            self._follow(cell, np.clip(u, *self._bounds(cell)), patience, gain, lost)
            gain, lost = 0.0, _astray
            self._settle()
            cell, u = self._overlooked()
            if not len(cell):
                break
        else:  # no maximum was reached from there, but nothing better is known
            at = self._objective(cell, u)
            slope = projected_gradient(at.gradient, u, *self._bounds(cell))
            self._table.keep(cell, u, at.value, slope <= _CONVERGED)
        return self._found()

    def _chosen(self, starts: Starts) -> tuple[IntArray, FloatArray]:
        """Return cells [B] and log parameters [B, P] of the starts at all anchors."""
        (F, P), L, A = self.lower.shape, len(self.lams), len(starts.anchors)
        u = np.broadcast_to(starts.fixed, (F, *starts.fixed.shape[-2:])).reshape(-1, P)
        first = np.arange(F)[:, None] * L
        cell, N = (first + starts.where).ravel(), len(starts.candidates)
        if N == 0:
            return cell, u
        f, points = np.repeat(np.arange(F), N), np.tile(starts.candidates, (F, 1))
        points = np.clip(points, self.lower[f], self.upper[f])
        value = self.likelihood.evaluate(f, points, derivatives=False).value
        self._seen.append((f, points, value))
        theta = np.exp(points[:, : self.likelihood.n_theta])
        burden = self.likelihood.n * total(self.penalty, theta, self.lams[starts.anchors])
        score = (value[:, None] - burden).reshape(F, N, A).transpose(0, 2, 1)
        wanted = np.tile(starts.wanted, F)
        row, candidate = choose(score.reshape(F * A, N), starts.near, wanted)
        more = points.reshape(F, N, P)[row // A, candidate]
        chosen = (first + starts.anchors).ravel()[row]
        return np.concatenate([cell, chosen]), np.concatenate([u, more])

    def _solver(
        self,
        *,
        reach: float,
        gain: float = 0.0,
        max_rounds: int = 100,
        lost: Lost | None = None,
    ) -> Lockstep | OneByOne:
        """Return a solver of cells without rows."""
        if self.likelihood.newton:
            return Lockstep(
                self._objective,
                self._bounds,
                reach=reach,
                gain=gain,
                concave=len(self.lams) > 1,
                max_rounds=max_rounds,
                lost=lost,
            )
        scale = None if self.scale is None else self.scale.__getitem__
        by_cell = None if scale is None else lambda cell: scale(cell // len(self.lams))
        return OneByOne(
            self._objective, self._bounds, reach=reach, max_rounds=max_rounds, scale=by_cell
        )

    def _bounds(self, cell: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the bounds [B, P] on the log parameters of cells [B]."""
        f = self._set_of.take(cell)
        return self.lower.take(f, axis=0), self.upper.take(f, axis=0)

    def _objective(self, cell: IntArray, u: FloatArray) -> Expansion:
        """Expand the penalized likelihood of cells at u [B, P]."""
        f = self._set_of.take(cell)
        at = self.likelihood.evaluate(f, u)
        self._seen.append((f, u, at.value))
        if self.lams[-1] == 0.0:
            return Expansion(at.value, at.gradient, at.hessian)
        value, slope, bend = self._burden(u, self._lam_of.take(cell)[:, None])
        here = Expansion(at.value - value, at.gradient, at.hessian)
        self._less(here, slope, bend)
        return here

    def _burden(self, u: FloatArray, lam: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return n p_lambda at u [B, P] for lam [B, 1]: value, log gradient and log curvature."""
        n, theta, penalty = self.likelihood.n, np.exp(u[:, : self.likelihood.n_theta]), self.penalty
        slope = n * theta * penalty.gradient(theta, lam)
        bend = slope + n * theta * theta * penalty.curvature(theta, lam)
        return n * penalty.value(theta, lam).sum(-1), slope, bend

    def _less(self, at: Expansion, slope: FloatArray, bend: FloatArray) -> None:
        """Take the log gradient and log curvature [B, T] of a penalty off an expansion."""
        T = slope.shape[1]
        at.gradient[:, :T] -= slope
        if self.likelihood.newton:
            diagonals(at.hessian)[:, :T] -= bend

    def _follow(
        self, cell: IntArray, u: FloatArray, patience: int, gain: float, lost: Lost
    ) -> None:
        """Maximise from u [B, P], then follow every new maximum along lambda in both directions.

        A row that is not at a maximum after ``patience`` evaluations is given up: it wanders on a
        plateau that some other row has long left. So is a ``lost`` one. One that would not ``gain``
        more than this is at a maximum.
        """
        path = len(self.lams) > 1
        reach = _REACH if path else _LAST
        solver = self._solver(reach=reach, gain=gain, max_rounds=patience, lost=lost)
        # A row remembers its direction along lambda (0 for a start) and its first-order prediction.
        solver.add(cell, np.concatenate([np.zeros((len(u), 1)), u], axis=1), u)
        while len(solver):
            done = _at_maximum(solver.advance())
            if len(done.slope):
                if self.likelihood.newton:
                    exact = done.near & (max_norm(done.target - done.rows.x) <= _LAST)
                else:
                    exact = done.slope <= _CONVERGED
                fresh = self._table.insert(done, exact)
                if path:
                    self._continue(solver, done, np.flatnonzero(fresh), patience - _TO_FOLLOW)

    def _reached(self, rows: Prospects) -> BoolArray:
        """Tell which starts need not go on, since they lead to the known.

        That is a maximum of their cell, or the one that a row nearer to it is about to reach.
        """
        lost = self._table.holds(rows.tag, rows.target, _ABOUT_TO)
        sure = (~rows.cut).nonzero()[0]
        if len(sure) > 1:
            first = np.empty(len(self._set_of), dtype=np.int64)
            order = sure[np.argsort(-rows.promised[sure], kind="stable")]
            first[rows.tag[order]] = order  # the last one of each cell stays
            ahead = first[rows.tag[sure]]
            near = max_norm(rows.target[sure] - rows.target[ahead]) <= _ABOUT_TO
            lost[sure[near & (ahead != sure)]] = True
        return lost

    def _astray_or_reached(self, rows: Prospects) -> BoolArray:
        """Tell which rows follow a maximum and leave it, or start and lead to the known."""
        lost = _astray(rows)
        starts = (rows.memo[:, 0] == 0.0).nonzero()[0]
        if len(starts):
            some = Prospects._make(field[starts] for field in rows)
            lost[starts] = self._reached(some)
        return lost

    def _continue(
        self, solver: Lockstep | OneByOne, done: Done, fresh: IntArray, spent: int
    ) -> None:
        """Start the neighbours of new maxima that do not hold their continuation yet."""
        L, cell, newton = len(self.lams), done.rows.tag, self.likelihood.newton
        which, step = np.concatenate([fresh, fresh]), np.repeat(_BOTH_WAYS, len(fresh))
        there = cell[which] % L + step
        wanted = (there >= 0) & (there < L)
        if not newton:  # maxima are not known well enough to be followed back
            wanted &= done.rows.memo[which, 0] != -step
        if not wanted.all():
            which, step = which[wanted], step[wanted]
        missing = ~self._table.holds(cell[which] + step, done.target[which], _APART)
        if not missing.any():
            return
        which, step = which[missing], step[missing]
        rows, maxima = done.rows.take(which), done.target[which]
        lower, upper = self._bounds(rows.tag)
        guess = self._prediction(rows, step, lower, upper) if newton else maxima
        start = np.minimum(np.maximum(guess + self._bend(rows, maxima, step), lower), upper)
        memo = np.concatenate([step[:, None], guess], axis=1)
        solver.add(rows.tag + step, memo, start, spent=spent)

    def _prediction(
        self, rows: Rows, step: IntArray, lower: FloatArray, upper: FloatArray
    ) -> FloatArray:
        """Return the first-order prediction of the rows' maxima at the neighbouring lambdas.

        It is a Newton step from the rows' expansions, changed in place to the other penalty.
        """
        n, T, at = self.likelihood.n, self.likelihood.n_theta, rows.tag % len(self.lams)
        theta, penalty = np.exp(rows.x[:, :T]), self.penalty
        here, there = self.lams[at][:, None], self.lams[at + step][:, None]
        slope = n * theta * (penalty.gradient(theta, there) - penalty.gradient(theta, here))
        bend = penalty.curvature(theta, there) - penalty.curvature(theta, here)
        self._less(rows.at, slope, slope + n * theta * theta * bend)
        radius = np.full(len(step), _LONGEST_PREDICTION)
        return newton_target(rows.at, rows.x, lower, upper, radius)[0]

    def _bend(self, rows: Rows, maxima: FloatArray, step: IntArray) -> FloatArray:
        """Return the second-order term of a prediction, learned from the error of the last one."""
        lams, at = self.lams, rows.tag % len(self.lams)
        known = rows.memo[:, 0] == step
        last = lams[at] - lams[np.where(known, at - step, at)]
        ratio = np.where(known, (lams[at + step] - lams[at]) / np.where(known, last, 1.0), 0.0)
        error = maxima - rows.memo[:, 1:]
        small = max_norm(error) < 0.5 * _LONGEST_PREDICTION
        return np.where(small, ratio**2, 0.0)[:, None] * error

    def _settle(self) -> None:
        """Find the best maximum of every cell exactly."""
        while len((best := self._table.unsettled_best())[0]):
            cell, place = best
            solver = self._solver(reach=_LAST)
            solver.add(cell, place[:, None].astype(np.float64), self._table.u[cell, place])
            done = solver.finish()
            places = done.rows.memo[:, 0].astype(np.int64)
            self._table.settle(done, places, done.near | (done.slope <= _CONVERGED))

    def _overlooked(self) -> tuple[IntArray, FloatArray]:
        """Return evaluated points that beat the best maximum of a cell, one a cell."""
        L, T = len(self.lams), self.likelihood.n_theta
        best = self._table.height.max(-1).reshape(-1, L)
        f, u, value = (np.concatenate(a) for a in zip(*self._seen, strict=True))
        cells, points = [], []
        for k in range(len(self.lower)):
            mine = np.flatnonzero(f == k)
            height, top = self._ranked(value[mine], np.exp(u[mine, :T]))
            margin = _OVERLOOKED * (1.0 + np.abs(np.where(np.isfinite(best[k]), best[k], 0.0)))
            wins = np.flatnonzero(height > best[k] + margin)
            cells.append(k * L + wins)
            points.append(u[mine[top[wins]]])
        return np.concatenate(cells), np.concatenate(points)

    def _ranked(self, value: FloatArray, theta: FloatArray) -> tuple[FloatArray, IntArray]:
        """Return the best objective for each lambda [L] among points theta [N, T], and which it is.

        Works through the points in pieces, since their penalties fill an array [T, N, L].
        """
        L = len(self.lams)
        height, top = np.full(L, -np.inf), np.zeros(L, dtype=np.int64)
        piece = max(1, _PIECE // (theta.shape[1] * L))
        for start in range(0, len(value), piece):
            part = slice(start, start + piece)
            burden = total(self.penalty, theta[part], self.lams)
            objective = value[part, None] - self.likelihood.n * burden
            best = objective.argmax(0)
            better = objective[best, np.arange(L)] > height
            height = np.where(better, objective[best, np.arange(L)], height)
            top = np.where(better, start + best, top)
        return height, top

    def _found(self) -> Found:
        """Return the table, best maxima first."""
        shape = (len(self.lower), len(self.lams))
        u, objective, converged = self._table.ranked()
        T = self.likelihood.n_theta
        theta = np.exp(u[..., :T])
        lam = np.tile(self.lams, shape[0])[:, None, None]
        loglik = objective + self.likelihood.n * self.penalty.value(theta, lam).sum(-1)
        arrays = (u, objective, loglik, converged)
        return Found._make(a.reshape(*shape, *a.shape[1:]) for a in arrays)


def _astray(rows: Prospects) -> BoolArray:
    """Tell which rows follow a maximum, as their memos say, and leave it."""
    away = max_norm(rows.target - rows.memo[:, 1:])
    return (rows.memo[:, 0] != 0.0) & (away > _ASTRAY)


def _at_maximum(done: Done) -> Done:
    """Leave out rows that stopped elsewhere, or where the likelihood is not defined."""
    if not len(done.slope):
        return done
    ok = np.isfinite(done.rows.at.value) & (done.near | (done.slope <= _CONVERGED))
    if ok.all():
        return done
    return done.take(np.flatnonzero(ok))
