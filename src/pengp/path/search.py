"""All local maxima of the penalized likelihood, for every data set and every lambda at once.

A cell is one data set at one lambda. Starts run at a few anchor lambdas; every maximum found is
then followed to the neighbouring lambdas in both directions until each cell holds the continuation
of its neighbours' maxima. The best maximum of every cell is then found exactly. At the end every
likelihood value ever computed is ranked for every lambda, and a cell in which one of them beats the
best maximum is searched again from there.

The likelihood does not depend on lambda, so that its expansion at a maximum predicts the maximum at
the next lambda without an evaluation, to first order; the error of the last prediction gives the
second.
"""

from typing import NamedTuple

import numpy as np

from pengp._core.arrays import BoolArray, FloatArray, IntArray
from pengp._core.linalg import max_norm
from pengp.path import settings
from pengp.path.cells import CellObjective, ModeTable
from pengp.path.lbfgs import OneByOne
from pengp.path.lockstep import Ended, GiveUp, Lockstep, NextSteps
from pengp.path.newton import newton_point, projected_gradient
from pengp.path.starts import Starts, choose

_BOTH_WAYS = np.array([-1, 1])
"""Steps along lambda."""


class Found(NamedTuple):
    """The maxima of F x L cells, best first; unused places hold -inf and nan."""

    point: FloatArray  # [F, L, M, P], logarithms of the parameters
    objective: FloatArray  # [F, L, M]
    loglik: FloatArray  # [F, L, M]
    converged: BoolArray  # [F, L, M]


class ModeSearch:
    """The search for one set of data sets of equal size.

    Parameters
    ----------
    objective : CellObjective
        Of F data sets at L lambdas.
    scale : [F, P], optional
        Typical steps in them, for likelihoods without Hessian.
    """

    def __init__(self, objective: CellObjective, scale: FloatArray | None = None) -> None:
        self._objective, self._lams, self._scale = objective, objective.lams, scale
        self._newton, self._on_path = objective.likelihood.newton, len(objective.lams) > 1
        self._n_sets, self._n_params = objective.lower.shape
        self._table = ModeTable(self._n_sets * len(self._lams), self._n_params)
        self._branches = Branches(self._n_params)

    def run(self, starts: Starts) -> Found:
        """Find every data set's maxima."""
        cell, point = self._starts(starts)
        alone = self._newton and not self._on_path
        patience = settings.PATIENCE_ALONE if alone else settings.PATIENCE
        self._follow(
            cell, point, patience + self._n_params, settings.FOLLOW_GAIN, self._leads_nowhere_new
        )
        self._make_best_exact()
        cell, point = self._overlooked()
        if len(cell):
            self._follow(cell, point, settings.MOST_ROUNDS, 0.0, self._branches.left_by)
            self._make_best_exact()
            self._keep(*self._overlooked())
        return self._found()

    def _starts(self, starts: Starts) -> tuple[IntArray, FloatArray]:
        """Return cells [B] and points [B, P] of the starts at all anchors."""
        F, P, A = self._n_sets, self._n_params, len(starts.anchors)
        point = np.broadcast_to(starts.fixed, (F, *starts.fixed.shape[-2:])).reshape(-1, P)
        first = np.arange(F)[:, None] * len(self._lams)
        cell = (first + starts.where).ravel()
        if not len(starts.candidates):
            return cell, point
        objective, candidates = self._objective.of_candidates(
            starts.candidates, self._lams[starts.anchors]
        )
        row, chosen = choose(objective.reshape(F * A, -1), starts.scaled, np.tile(starts.wanted, F))
        more = candidates[row // A, chosen]
        at = (first + starts.anchors).ravel()[row]
        return np.concatenate([cell, at]), np.concatenate([point, more])

    def _solver(
        self,
        *,
        near: float,
        gain: float = 0.0,
        max_rounds: int = settings.MOST_ROUNDS,
        give_up: GiveUp | None = None,
    ) -> Lockstep | OneByOne:
        """Return a solver of cells without rows."""
        objective, bounds = self._objective.expand, self._objective.bounds
        if self._newton:
            return Lockstep(
                objective,
                bounds,
                near=near,
                gain=gain,
                concave=self._on_path,
                max_rounds=max_rounds,
                give_up=give_up,
            )
        scale, L = self._scale, len(self._lams)
        by_cell = None if scale is None else lambda cell: scale[cell // L]
        return OneByOne(objective, bounds, max_rounds=max_rounds, scale=by_cell)

    def _follow(
        self, cell: IntArray, point: FloatArray, patience: int, gain: float, give_up: GiveUp
    ) -> None:
        """Maximise from point [B, P], then follow every new maximum along lambda both ways.

        A row that is not at a maximum after ``patience`` evaluations is given up: it wanders on a
        plateau that some other row has long left. So is one of which ``give_up`` says so. One that
        would not ``gain`` more than this is at a maximum.
        """
        near = settings.FOLLOW_STEP if self._on_path else settings.EXACT_STEP
        solver = self._solver(near=near, gain=gain, max_rounds=patience, give_up=give_up)
        lower, upper = self._objective.bounds(cell)
        start = np.minimum(np.maximum(point, lower), upper)
        row = self._branches.add(np.zeros(len(cell), dtype=np.int64), start)
        solver.add(cell, row, start)
        while len(solver):
            ended = _at_maximum(solver.advance())
            if len(ended.slope):
                new = self._table.insert(ended, self._is_exact(ended))
                if self._on_path:
                    self._continue(solver, ended.take(np.flatnonzero(new)))

    def _is_exact(self, ended: Ended) -> BoolArray:
        """Tell which maxima [B] are known so well that they need not be searched again."""
        if not self._newton:
            return ended.slope <= settings.CONVERGED
        return ended.near & (max_norm(ended.maximum - ended.point) <= settings.EXACT_STEP)

    def _continue(self, solver: Lockstep | OneByOne, ended: Ended) -> None:
        """Start the neighbours of new maxima that do not hold their continuation yet."""
        origin, step = self._branches.neighbours(ended, len(self._lams), newton=self._newton)
        there = ended.cell[origin] + step
        missing = ~self._table.holds(there, ended.maximum[origin], settings.MISSING)
        if not missing.any():
            return
        rows, step, cell = ended.take(origin[missing]), step[missing], there[missing]
        second = self._branches.second_order(rows, self._lams, step)
        first = first_order(self._objective, rows, step) if self._newton else rows.maximum
        lower, upper = self._objective.bounds(cell)
        start = np.minimum(np.maximum(first + second, lower), upper)
        solver.add(cell, self._branches.add(step, first), start)

    def _leads_nowhere_new(self, steps: NextSteps) -> BoolArray:
        """Tell which rows follow a maximum and leave it, or start and lead to a known one."""
        if not self._on_path:
            return self._leads_to_known(steps)
        useless = self._branches.left_by(steps)
        starts = (self._branches.direction.take(steps.row) == 0).nonzero()[0]
        if len(starts):
            useless[starts] = self._leads_to_known(
                NextSteps._make(a.take(starts, axis=0) for a in steps)
            )
        return useless

    def _leads_to_known(self, steps: NextSteps) -> BoolArray:
        """Tell which starts [B] need not go on, since they lead to what is known.

        That is a maximum of their cell, or the one that a row nearer to it is about to reach.
        """
        known = self._table.holds(steps.cell, steps.trial, settings.KNOWN)
        sure = (~steps.cut).nonzero()[0]
        if len(sure) > 1:
            first = np.empty(len(self._table.count), dtype=np.int64)
            order = sure[(-steps.gain[sure]).argsort(kind="stable")]
            first[steps.cell[order]] = order  # the last one of each cell stays
            ahead = first[steps.cell[sure]]
            apart = steps.trial.take(sure, axis=0) - steps.trial.take(ahead, axis=0)
            near = max_norm(apart) <= settings.KNOWN
            known[sure[near & (ahead != sure)]] = True
        return known

    def _make_best_exact(self) -> None:
        """Find the best maximum of every cell exactly."""
        while len((best := self._table.inexact_best())[0]):
            cell, place = best
            solver = self._solver(near=settings.EXACT_STEP)
            solver.add(cell, place, self._table.point[cell, place])
            ended = solver.finish()
            converged = ended.near | (ended.slope <= settings.CONVERGED)
            self._table.make_exact(ended, converged)

    def _overlooked(self) -> tuple[IntArray, FloatArray]:
        """Return evaluated points that beat the best maximum of a cell, one a cell."""
        best = self._table.objective.max(-1)
        seen, point = self._objective.best_seen()
        known = np.where(np.isfinite(best), best, 0.0)
        margin = settings.OVERLOOKED * (1.0 + np.abs(known))
        cell = np.flatnonzero(seen.ravel() > best + margin)
        return cell, point.reshape(-1, self._n_params)[cell]

    def _keep(self, cell: IntArray, point: FloatArray) -> None:
        """List points [B, P] that no search led up from, but that are the best known."""
        if not len(cell):
            return
        at = self._objective.expand(cell, point)
        slope = projected_gradient(at.gradient, point, *self._objective.bounds(cell))
        self._table.append(cell, point, at.objective, slope <= settings.CONVERGED)

    def _found(self) -> Found:
        """Return the table, best maxima first."""
        point, objective, converged = self._table.ranked()
        arrays = (point, objective, self._objective.loglik(point, objective), converged)
        shape = (self._n_sets, len(self._lams))
        return Found._make(a.reshape(*shape, *a.shape[1:]) for a in arrays)


class Branches:
    """What the rows of a search follow: the maximum of a neighbour, or nothing if they are starts.

    Attributes
    ----------
    direction : [R]
        Step along lambda by which row r came from its neighbour; 0 for a start.
    prediction : [R, P]
        First-order prediction of the maximum that it follows.
    """

    def __init__(self, n_params: int) -> None:
        self.direction = np.empty(0, dtype=np.int64)
        self.prediction = np.empty((0, n_params))

    def add(self, direction: IntArray, prediction: FloatArray) -> IntArray:
        """Add rows with directions [B] and predictions [B, P]; return their numbers [B]."""
        first = len(self.direction)
        self.direction = np.concatenate([self.direction, direction])
        self.prediction = np.concatenate([self.prediction, prediction])
        return np.arange(first, len(self.direction))

    def left_by(self, steps: NextSteps) -> BoolArray:
        """Tell which rows [B] are about to leave the maximum that they follow."""
        away = max_norm(steps.trial - self.prediction.take(steps.row, axis=0))
        follows = self.direction.take(steps.row) != 0
        return follows & (away > settings.LEFT_BRANCH)

    def neighbours(self, ended: Ended, n_lams: int, *, newton: bool) -> tuple[IntArray, IntArray]:
        """Return which rows lead to which neighbouring lambdas: indices and steps, both ways.

        Without Hessians maxima are not known well enough to be followed back.
        """
        B = len(ended.cell)
        rows, step = np.tile(np.arange(B), 2), np.repeat(_BOTH_WAYS, B)
        there = ended.cell[rows] % n_lams + step
        wanted = (there >= 0) & (there < n_lams)
        if not newton:
            wanted &= self.direction[ended.row[rows]] != -step
        return rows[wanted], step[wanted]

    def second_order(self, ended: Ended, lams: FloatArray, step: IntArray) -> FloatArray:
        """Return the second-order term [B, P] of predictions at the next lambdas.

        It is learned from the error of the last prediction, which grows as the square of the
        distance along lambda.
        """
        at = ended.cell % len(lams)
        known = self.direction[ended.row] == step
        last = lams[at] - lams[np.where(known, at - step, at)]
        ratio = np.where(known, (lams[at + step] - lams[at]) / np.where(known, last, 1.0), 0.0)
        error = ended.maximum - self.prediction.take(ended.row, axis=0)
        small = max_norm(error) < settings.LEARNED_ERROR
        return np.where(small, ratio**2, 0.0)[:, None] * error


def first_order(objective: CellObjective, ended: Ended, step: IntArray) -> FloatArray:
    """Return the maxima [B, P] at the neighbouring lambdas that the rows' expansions predict.

    It is a Newton step from the rows' points, their expansions moved in place to the other penalty.
    """
    objective.move(ended.at, ended.cell, ended.point, step)
    radius = np.full(len(step), settings.LONGEST_PREDICTION)
    return newton_point(ended.at, ended.point, *objective.bounds(ended.cell), radius)[0]


def _at_maximum(ended: Ended) -> Ended:
    """Leave out rows that stopped elsewhere, or where the likelihood is not defined."""
    if not len(ended.slope):
        return ended
    near = ended.near | (ended.slope <= settings.CONVERGED)
    ok = np.isfinite(ended.at.objective) & near
    return ended if ok.all() else ended.take(np.flatnonzero(ok))
