"""Cells: the penalized log likelihood Q of each, and the table of their distinct local maxima.

A cell is one data set at one lambda, numbered data set * L + index of lambda. The likelihood does
not depend on lambda: each value of it counts for all L cells of its data set.
"""

from typing import Protocol

import numpy as np

from pengp._core.arrays import BoolArray, FloatArray, IntArray
from pengp._core.linalg import max_norm
from pengp.model.likelihood import Likelihood
from pengp.path import settings
from pengp.path.lockstep import Ended
from pengp.path.newton import Expansion

_FIRST_PLACES = 8
"""Places of a cell before the table grows, by doubling."""


class Term(Protocol):
    """n p_lambda of F data sets, what a penalty takes off their log likelihoods."""

    def params(self, point: FloatArray) -> FloatArray:
        """Return the penalized parameters [B, K] at point [B, P], which has logarithms."""
        ...

    def value(self, data_set: IntArray, params: FloatArray, lam: FloatArray) -> FloatArray:
        """Return the term [B] of data sets [B] at params [B, K] for lam [B]."""
        ...

    def values(self, data_set: IntArray, params: FloatArray, lams: FloatArray) -> FloatArray:
        """Return the term [N, L] of data sets [N] at params [N, K] for each of lams [L]."""
        ...

    def derivatives(
        self, data_set: IntArray, params: FloatArray, lam: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return first and second derivatives in the parameters, as `take_off` wants them."""
        ...

    def take_off(
        self, at: Expansion, params: FloatArray, first: FloatArray, second: FloatArray
    ) -> None:
        """Take derivatives in the parameters, in their logarithms, off an expansion in place."""
        ...


def penalize(
    at: Expansion, term: Term, data_set: IntArray, point: FloatArray, lam: FloatArray
) -> Expansion:
    """Return an expansion at point [B, P] less that of the term for lam [B]."""
    params = term.params(point)
    here = at._replace(objective=at.objective - term.value(data_set, params, lam))
    term.take_off(here, params, *term.derivatives(data_set, params, lam))
    return here


def move(
    at: Expansion,
    term: Term,
    data_set: IntArray,
    point: FloatArray,
    here: FloatArray,
    there: FloatArray,
) -> None:
    """Change the derivatives of an expansion, in place, from lam ``here`` [B] to ``there``."""
    params = term.params(point)
    old, new = (term.derivatives(data_set, params, lam) for lam in (here, there))
    term.take_off(at, params, new[0] - old[0], new[1] - old[1])


class CellObjective:
    """Q = log L - n p_lambda of F x L cells, with bounds on the log parameters.

    Parameters
    ----------
    likelihood : Likelihood
        Of F data sets.
    lams : [L]
        Distinct, ascending.
    term : Term
        n p_lambda.
    lower, upper : [F, P]
        Bounds on the logarithms of the parameters.
    """

    def __init__(
        self,
        likelihood: Likelihood,
        lams: FloatArray,
        term: Term,
        lower: FloatArray,
        upper: FloatArray,
    ) -> None:
        self.likelihood, self.lams, self.term = likelihood, lams, term
        self.lower, self.upper = lower, upper
        F, L = len(lower), len(lams)
        self._data_set, self._lam = np.repeat(np.arange(F), L), np.tile(lams, F)  # [F * L]
        self._seen: list[tuple[IntArray, FloatArray, FloatArray]] = []

    def bounds(self, cell: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the bounds [B, P] on the log parameters of cells [B]."""
        data_set = self._data_set.take(cell)
        return self.lower.take(data_set, axis=0), self.upper.take(data_set, axis=0)

    def expand(self, cell: IntArray, point: FloatArray) -> Expansion:
        """Expand Q of cells [B] at point [B, P]."""
        data_set = self._data_set.take(cell)
        at = self.likelihood.evaluate(data_set, point)
        self._seen.append((data_set, point, at.value))
        here = Expansion(at.value, at.gradient, at.hessian)
        if self.lams[-1] == 0.0:
            return here
        return penalize(here, self.term, data_set, point, self._lam.take(cell))

    def move(self, at: Expansion, cell: IntArray, point: FloatArray, step: IntArray) -> None:
        """Turn an expansion of cells [B], in place, into that at lambda ``step`` [B] places on.

        Its value stays what it is.
        """
        here, there = self._lam.take(cell), self._lam.take(cell + step)
        move(at, self.term, self._data_set.take(cell), point, here, there)

    def of_candidates(self, points: FloatArray, lams: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return Q [F, L, N] of points [N, P] for lams [L], and the points [F, N, P] in bounds."""
        (F, P), N = self.lower.shape, len(points)
        data_set = np.repeat(np.arange(F), N)
        inside = np.minimum(np.maximum(points, self.lower[:, None]), self.upper[:, None])
        inside = inside.reshape(F * N, P)
        loglik = self.likelihood.evaluate(data_set, inside, derivatives=False).value
        self._seen.append((data_set, inside, loglik))
        taken = self.term.values(data_set, self.term.params(inside), lams)
        objective = loglik[:, None] - taken
        return objective.reshape(F, N, -1).transpose(0, 2, 1), inside.reshape(F, N, P)

    def loglik(self, point: FloatArray, objective: FloatArray) -> FloatArray:
        """Return log L [C, M] of all C cells at point [C, M, P], where Q is ``objective``."""
        C, M, P = point.shape
        cell = np.repeat(np.arange(C), M)
        params = self.term.params(point.reshape(-1, P))
        taken = self.term.value(self._data_set[cell], params, self._lam[cell])
        return objective + taken.reshape(C, M)

    def best_seen(self) -> tuple[FloatArray, FloatArray]:
        """Return the largest Q [F, L] at any point evaluated so far, and these points [F, L, P]."""
        data_set, point, loglik = (np.concatenate(a) for a in zip(*self._seen, strict=True))
        best, points = [], []
        for f in range(len(self.lower)):
            mine = np.flatnonzero(data_set == f)
            objective, top = self._best(data_set[mine], point[mine], loglik[mine])
            best.append(objective)
            points.append(point[mine[top]])
        return np.stack(best), np.stack(points)

    def _best(
        self, data_set: IntArray, point: FloatArray, loglik: FloatArray
    ) -> tuple[FloatArray, IntArray]:
        """Return the largest Q for each lambda [L] among points [N, P], and which it is.

        Works through the points in pieces, since their penalties may fill an array [T, N, L].
        """
        L = len(self.lams)
        highest, top = np.full(L, -np.inf), np.zeros(L, dtype=np.int64)
        piece = max(1, settings.LARGEST_ARRAY // (self.likelihood.n_theta * L))
        for start in range(0, len(loglik), piece):
            part = slice(start, start + piece)
            params = self.term.params(point[part])
            objective = loglik[part, None] - self.term.values(data_set[part], params, self.lams)
            best = objective.argmax(0)
            better = objective[best, np.arange(L)] > highest
            highest = np.where(better, objective[best, np.arange(L)], highest)
            top = np.where(better, start + best, top)
        return highest, top


class ModeTable:
    """The distinct maxima of C cells in the order found: arrays [C, M, ...], M growing.

    A maximum is first known from an expansion near it, which gives its point and objective up to
    third order; ``exact`` ones have been searched to the end.
    """

    def __init__(self, n_cells: int, n_params: int) -> None:
        self.count, self._most = np.zeros(n_cells, dtype=np.int64), 0
        self.point = np.full((n_cells, _FIRST_PLACES, n_params), np.nan)
        self.objective = np.full((n_cells, _FIRST_PLACES), -np.inf)
        self.exact = np.zeros((n_cells, _FIRST_PLACES), dtype=bool)
        self.converged = np.zeros((n_cells, _FIRST_PLACES), dtype=bool)

    def holds(self, cell: IntArray, point: FloatArray, within: float) -> BoolArray:
        """Tell which cells hold a maximum that is no further than ``within`` from point [B, P]."""
        if self._most == 0:
            return np.zeros(len(cell), dtype=bool)
        away = self.point[cell, : self._most]  # unused places hold nan, which is nowhere
        away -= point[:, None]
        return np.logical_or.reduce(max_norm(away) <= within, axis=-1)

    def insert(self, ended: Ended, exact: BoolArray) -> BoolArray:
        """Add the rows whose maxima are new to their cells; tell which were.

        Rows marked ``exact`` [B] count as converged.
        """
        cell, point, objective = ended.cell, ended.maximum, ended.objective
        hessian = ended.at.hessian
        new, left = np.zeros(len(cell), dtype=bool), np.arange(len(cell))
        while len(left):
            known = self._known(cell[left], point[left], objective[left], hessian[left])
            left = left[~known]
            top = left[_highest(cell[left], objective[left])]
            self.append(cell[top], point[top], objective[top], exact[top])
            new[top] = True
            left = left[~new[left]]
        return new

    def _known(
        self, cell: IntArray, point: FloatArray, objective: FloatArray, hessian: FloatArray
    ) -> BoolArray:
        """Tell which points are maxima that their cells already hold.

        Two points are one maximum if they agree in the objective and the curvature says that the
        way between them is level.
        """
        objectives = self.objective[cell, : self._most]  # unused places hold -inf
        level = np.abs(objective[:, None] - objectives) < settings.SAME_OBJECTIVE
        known = np.zeros(len(cell), dtype=bool)
        row, place = np.nonzero(level)
        if len(row):
            apart = point[row] - self.point[cell[row], place]
            drop = 0.5 * np.abs(np.vecdot(apart, (apart[:, None] @ hessian[row])[:, 0]))
            known[row[drop < settings.SAME_OBJECTIVE]] = True
        return known

    def append(
        self, cell: IntArray, point: FloatArray, objective: FloatArray, exact: BoolArray
    ) -> None:
        """Write points, at most one a cell, behind their cells' maxima."""
        k = self.count[cell]
        self._most = max(self._most, int(k.max(initial=-1)) + 1)
        if self._most > self.point.shape[1]:
            for name in ("point", "objective", "exact", "converged"):
                old = getattr(self, name)
                blank = {"point": np.nan, "objective": -np.inf}.get(name, False)
                setattr(self, name, np.concatenate([old, np.full_like(old, blank)], axis=1))
        self.count[cell] += 1
        self.point[cell, k], self.objective[cell, k] = point, objective
        self.exact[cell, k] = self.converged[cell, k] = exact

    def inexact_best(self) -> tuple[IntArray, IntArray]:
        """Return cell and place of the best maxima that are not exact yet."""
        k = self.objective.argmax(-1)
        cell = np.flatnonzero((self.count > 0) & ~self.exact[np.arange(len(k)), k])
        return cell, k[cell]

    def make_exact(self, ended: Ended, converged: BoolArray) -> None:
        """Overwrite the maximum at the place that each row [B] names by what is now known."""
        at = (ended.cell, ended.row)
        self.point[at], self.objective[at] = ended.maximum, ended.objective
        self.exact[at], self.converged[at] = True, converged

    def ranked(self) -> tuple[FloatArray, FloatArray, BoolArray]:
        """Return points [C, M, P], objectives [C, M] and convergence [C, M], best first."""
        self._merge()
        m = max(1, int(self.count.max(initial=0)))
        order = np.argsort(-self.objective, axis=-1, kind="stable")[:, :m]
        cell = np.arange(len(order))[:, None]
        return self.point[cell, order], self.objective[cell, order], self.converged[cell, order]

    def _merge(self) -> None:
        """Forget maxima that are copies of a higher one, as far as their objectives are known."""
        if self._most < 2:
            return
        order = np.argsort(-self.objective, axis=-1, kind="stable")
        high = self.objective[np.arange(len(order))[:, None], order]
        with np.errstate(invalid="ignore"):
            level = high[:, :, None] - high[:, None, :] < settings.MERGED_OBJECTIVE
        cell, above, below = np.nonzero(level & np.tri(level.shape[-1], k=-1, dtype=bool).T)
        above, below = order[cell, above], order[cell, below]
        apart = max_norm(self.point[cell, above] - self.point[cell, below])
        same = apart < settings.MERGED_POINT
        copy = np.zeros(self.objective.shape, dtype=bool)
        copy[cell[same], below[same]] = True
        self.point[copy], self.objective[copy] = np.nan, -np.inf
        self.count -= copy.sum(-1)


def _highest(cell: IntArray, objective: FloatArray) -> IntArray:
    """Return the index of the highest row of each cell among cells [B] and objectives [B]."""
    if len(set(cell.tolist())) == len(cell):
        return np.arange(len(cell))
    order = np.lexsort((-objective, cell))
    return order[np.unique(cell[order], return_index=True)[1]]
