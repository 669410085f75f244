"""A growing table of the distinct local maxima of each cell."""

import numpy as np

from pengp._core.arrays import BoolArray, FloatArray, IntArray
from pengp._core.linalg import max_norm
from pengp.path import settings
from pengp.path.lockstep import Ended

_FIRST_PLACES = 8
"""Places of a cell before the table grows, by doubling."""


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
