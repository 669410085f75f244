"""All local maxima of the penalized likelihood, for every data set and every lambda at once.

A cell is one data set at one lambda, numbered data set * L + index of lambda. Starts run at a few
anchor lambdas; every maximum found is then followed to the neighbouring lambdas in both directions
until each cell holds the continuation of its neighbours' maxima. The likelihood does not depend on
lambda, so that its expansion at a maximum predicts the maximum at the next lambda for free, and
every likelihood value ever computed is ranked for every lambda at the end.
"""

from typing import NamedTuple, Protocol

import numpy as np

from pengp._lbfgs import OneByOne
from pengp._modes import ModeTable
from pengp._typing import BoolArray, FloatArray, IntArray
from pengp.likelihood import LogLik
from pengp.optimize import (
    Done,
    Expansion,
    Lockstep,
    Rows,
    newton_target,
)
from pengp.penalties import Penalty

_APART = 0.5
"""A neighbour's maximum further away than this in log theta is looked for in a cell."""

_REACH = 0.03
"""Length of the last Newton step in log theta at which a maximum is known well enough to follow."""

_LAST = 3e-4
"""The same for the best maximum of a cell: the last step leaves an error of its square."""

_PATIENCE = (30, 100, 100, 100)
"""Evaluations that one row may take, in the first search and in those of overlooked cells."""

_OVERLOOKED = 1e-8
"""Relative height by which a point must beat a cell's best maximum to be looked into."""

_PIECE = 4_000_000
"""Numbers in the largest temporary array of the ranking of all points."""

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
        self._seen: list[tuple[IntArray, FloatArray, FloatArray]] = []
        self._table = ModeTable(len(lower) * len(lams), lower.shape[1])

    def run(self, starts: dict[int, FloatArray]) -> Found:
        """Find every data set's maxima from starts {index of lambda: log parameters}.

        They are [S, P] for all data sets, or [F, S, P].
        """
        (F, P), L = self.lower.shape, len(self.lams)
        points = {a: np.broadcast_to(u, (F, *u.shape[-2:])) for a, u in starts.items()}
        cells = [np.repeat(np.arange(F), u.shape[1]) * L + a for a, u in points.items()]
        cell, u = np.concatenate(cells), np.concatenate([v.reshape(-1, P) for v in points.values()])
        for patience in _PATIENCE:
            self._follow(cell, np.clip(u, *self._bounds(cell)), patience)
            self._settle()
            cell, u = self._overlooked()
            if not len(cell):
                break
        else:  # no maximum was reached from there, but nothing better is known
            self._table.keep(cell, u, self._objective(cell, u).value)
        return self._found()

    def _solver(self, *, reach: float, max_rounds: int = 100) -> Lockstep | OneByOne:
        """Return a solver of cells without rows."""
        if self.likelihood.newton:
            return Lockstep(self._objective, self._bounds, reach=reach, max_rounds=max_rounds)
        scale = None if self.scale is None else self.scale.__getitem__
        by_cell = None if scale is None else lambda cell: scale(cell // len(self.lams))
        return OneByOne(
            self._objective, self._bounds, reach=reach, max_rounds=max_rounds, scale=by_cell
        )

    def _bounds(self, cell: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the bounds [B, P] on the log parameters of cells [B]."""
        f = cell // len(self.lams)
        return self.lower[f], self.upper[f]

    def _objective(self, cell: IntArray, u: FloatArray) -> Expansion:
        """Expand the penalized likelihood of cells at u [B, P]."""
        f = cell // len(self.lams)
        at = self.likelihood.evaluate(f, u)
        self._seen.append((f, u, at.value))
        here = Expansion(at.value, at.gradient, at.hessian)
        lam = self.lams[cell % len(self.lams)]
        return self._less(here, self._burden(u, lam)) if lam.any() else here

    def _burden(self, u: FloatArray, lam: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return n p_lambda at u [B, P] for lam [B]: value, log gradient and log curvature."""
        n, theta, lam = self.likelihood.n, np.exp(u[:, : self.likelihood.n_theta]), lam[:, None]
        slope = n * theta * self.penalty.gradient(theta, lam)
        bend = slope + n * theta * theta * self.penalty.curvature(theta, lam)
        return n * self.penalty.value(theta, lam).sum(-1), slope, bend

    def _less(self, at: Expansion, burden: tuple[FloatArray, FloatArray, FloatArray]) -> Expansion:
        """Take a penalty off an expansion, in place."""
        value, slope, bend = burden
        k = np.arange(self.likelihood.n_theta)
        at.gradient[:, : len(k)] -= slope
        if self.likelihood.newton:
            at.hessian[:, k, k] -= bend
        return Expansion(at.value - value, at.gradient, at.hessian)

    def _follow(self, cell: IntArray, u: FloatArray, patience: int) -> None:
        """Maximise from u [B, P], then follow every new maximum along lambda in both directions.

        A row that is not at a maximum after ``patience`` evaluations is given up: it wanders on a
        plateau that some other row has long left.
        """
        solver = self._solver(reach=_REACH, max_rounds=patience)
        # A row remembers its direction along lambda (0 for a start) and its first-order prediction.
        solver.add(cell, np.hstack([np.zeros((len(u), 1)), u]), u)
        while len(solver):
            done = _at_maximum(solver.advance())
            if len(done.slope):
                exact = np.full(len(done.slope), not self.likelihood.newton)
                fresh = self._table.insert(done, exact & (done.slope <= _CONVERGED))
                self._continue(solver, done.rows.take(fresh), done.target[fresh])

    def _continue(self, solver: Lockstep | OneByOne, rows: Rows, maxima: FloatArray) -> None:
        """Start the neighbours of new maxima that do not hold their continuation yet."""
        L, B = len(self.lams), len(rows.tag)
        which, step = np.tile(np.arange(B), 2), np.repeat([-1, 1], B)
        there = rows.tag[which] % L + step
        wanted = (there >= 0) & (there < L)
        if not self.likelihood.newton:  # maxima are not known well enough to be followed back
            wanted &= rows.memo[which, 0] != -step
        which, step = which[wanted], step[wanted]
        missing = self._table.distance(rows.tag[which] + step, maxima[which]) > _APART
        which, step = which[missing], step[missing]
        if len(which):
            rows, maxima = rows.take(which), maxima[which]
            lower, upper = self._bounds(rows.tag)
            guess = self._prediction(rows, step, lower, upper) if self.likelihood.newton else maxima
            start = np.clip(guess + self._bend(rows, maxima, step), lower, upper)
            solver.add(rows.tag + step, np.hstack([step[:, None], guess]), start)

    def _prediction(
        self, rows: Rows, step: IntArray, lower: FloatArray, upper: FloatArray
    ) -> FloatArray:
        """Return the first-order prediction of the rows' maxima at the neighbouring lambdas.

        It is a Newton step from the rows' expansions, changed in place to the other penalty.
        """
        at = rows.tag % len(self.lams)
        here, there = (self._burden(rows.x, self.lams[a]) for a in (at, at + step))
        more = (there[0] - here[0], there[1] - here[1], there[2] - here[2])
        radius = np.full(len(step), _LONGEST_PREDICTION)
        return newton_target(self._less(rows.at, more), rows.x, lower, upper, radius)[0]

    def _bend(self, rows: Rows, maxima: FloatArray, step: IntArray) -> FloatArray:
        """Return the second-order term of a prediction, learned from the error of the last one."""
        lams, at = self.lams, rows.tag % len(self.lams)
        known = rows.memo[:, 0] == step
        last = lams[at] - lams[np.where(known, at - step, at)]
        ratio = np.where(known, (lams[at + step] - lams[at]) / np.where(known, last, 1.0), 0.0)
        error = maxima - rows.memo[:, 1:]
        small = np.abs(error).max(-1) < 0.5 * _LONGEST_PREDICTION
        return np.where(small, ratio**2, 0.0)[:, None] * error

    def _settle(self) -> None:
        """Find the best maximum of every cell exactly."""
        while len((best := self._table.unsettled_best())[0]):
            cell, place = best
            solver = self._solver(reach=_LAST)
            solver.add(cell, place[:, None].astype(np.float64), self._table.u[cell, place])
            while len(solver):
                done = solver.advance()
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
            burden = self.penalty.value(theta[part].T[:, :, None], self.lams).sum(0)
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


def _at_maximum(done: Done) -> Done:
    """Leave out rows that stopped elsewhere, or where the likelihood is not defined."""
    ok = np.isfinite(done.rows.at.value) & (done.near | (done.slope <= _CONVERGED))
    if ok.all():
        return done
    return Done(done.rows.take(ok), done.slope[ok], done.target[ok], done.near[ok])
