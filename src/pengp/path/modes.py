"""A growing table of the distinct local maxima of each cell."""

import numpy as np

from pengp._core.arrays import BoolArray, FloatArray, IntArray
from pengp._core.linalg import max_norm
from pengp.path.newton import Done

_LEVEL, _CLOSE = 1e-5, 1e-2
"""Differences in height and in place up to which two maxima may be one."""

_SAME_LEVEL, _SAME_PLACE = 1e-3, 0.05
"""The same in the end, when the best of a cell is exact and others are known from expansions."""


class ModeTable:
    """The distinct maxima of C cells in the order found: arrays [C, M, ...], M growing.

    A maximum is first known from an expansion near it, which gives its place and height up to
    third order; settled ones are exact.
    """

    def __init__(self, n_cells: int, d: int) -> None:
        self.count, self._most = np.zeros(n_cells, dtype=np.int64), 0
        self.u = np.full((n_cells, 8, d), np.nan)
        self.height = np.full((n_cells, 8), -np.inf)
        self.settled = np.zeros((n_cells, 8), dtype=bool)
        self.converged = np.zeros((n_cells, 8), dtype=bool)

    def holds(self, cell: IntArray, x: FloatArray, within: float) -> BoolArray:
        """Tell which cells hold a maximum that is no further than ``within`` from x [B, d]."""
        if self._most == 0:
            return np.zeros(len(cell), dtype=bool)
        away = self.u[cell, : self._most]  # unused places hold nan, which is nowhere
        away -= x[:, None]
        return np.logical_or.reduce(max_norm(away) <= within, axis=-1)

    def insert(self, done: Done, exact: BoolArray) -> BoolArray:
        """Add the rows whose maxima are new to their cells; tell which were.

        Rows marked ``exact`` [B] count as settled and converged.
        """
        cell, u, height, hessian = done.rows.tag, done.target, done.height, done.rows.at.hessian
        new, left = np.zeros(len(cell), dtype=bool), np.arange(len(cell))
        while len(left):
            known = self._known(cell[left], u[left], height[left], hessian[left])
            left = left[~known]
            top = left[_highest(cell[left], height[left])]
            self._append(cell[top], u[top], height[top], exact[top])
            new[top] = True
            left = left[~new[left]]
        return new

    def _known(
        self, cell: IntArray, u: FloatArray, height: FloatArray, hessian: FloatArray
    ) -> BoolArray:
        """Tell which points are maxima that their cells already hold.

        Two points are one maximum if they agree in height and are close together, or if the
        curvature says that the way between them is level.
        """
        heights = self.height[cell, : self._most]  # unused places hold -inf
        level = np.abs(height[:, None] - heights) < _LEVEL
        known = np.zeros(len(cell), dtype=bool)
        row, place = np.nonzero(level)
        if len(row):
            apart = u[row] - self.u[cell[row], place]
            drop = 0.5 * np.abs(np.vecdot(apart, (apart[:, None] @ hessian[row])[:, 0]))
            known[row[(max_norm(apart) < _CLOSE) | (drop < _LEVEL)]] = True
        return known

    def _append(self, cell: IntArray, u: FloatArray, height: FloatArray, exact: BoolArray) -> None:
        """Write points, at most one a cell, behind their cells' maxima."""
        k = self.count[cell]
        self._most = max(self._most, int(k.max(initial=-1)) + 1)
        if self._most > self.u.shape[1]:
            for name in ("u", "height", "settled", "converged"):
                old = getattr(self, name)
                blank = {"u": np.nan, "height": -np.inf}.get(name, False)
                setattr(self, name, np.concatenate([old, np.full_like(old, blank)], axis=1))
        self.count[cell] += 1
        self.u[cell, k], self.height[cell, k] = u, height
        self.settled[cell, k] = self.converged[cell, k] = exact

    def keep(self, cell: IntArray, u: FloatArray, height: FloatArray, converged: BoolArray) -> None:
        """Add points, at most one a cell, that are the best known though no search ended there."""
        self._append(cell, u, height, converged)

    def unsettled_best(self) -> tuple[IntArray, IntArray]:
        """Return cell and place of the best maxima that are not exact yet."""
        k = self.height.argmax(-1)
        cell = np.flatnonzero((self.count > 0) & ~self.settled[np.arange(len(k)), k])
        return cell, k[cell]

    def settle(self, done: Done, place: IntArray, converged: BoolArray) -> None:
        """Overwrite one maximum of each row's cell by what is now known exactly."""
        at = (done.rows.tag, place)
        self.u[at], self.height[at] = done.target, done.height
        self.settled[at], self.converged[at] = True, converged

    def ranked(self) -> tuple[FloatArray, FloatArray, BoolArray]:
        """Return places [C, M, d], heights [C, M] and convergence [C, M], best first."""
        self._merge()
        m = max(1, int(self.count.max(initial=0)))
        order = np.argsort(-self.height, axis=-1, kind="stable")[:, :m]
        cell = np.arange(len(order))[:, None]
        return self.u[cell, order], self.height[cell, order], self.converged[cell, order]

    def _merge(self) -> None:
        """Forget maxima that are copies of a higher one, as far as their heights are known."""
        if self._most < 2:
            return
        order = np.argsort(-self.height, axis=-1, kind="stable")
        high = self.height[np.arange(len(order))[:, None], order]
        with np.errstate(invalid="ignore"):
            level = high[:, :, None] - high[:, None, :] < _SAME_LEVEL
        cell, above, below = np.nonzero(level & np.tri(level.shape[-1], k=-1, dtype=bool).T)
        above, below = order[cell, above], order[cell, below]
        same = max_norm(self.u[cell, above] - self.u[cell, below]) < _SAME_PLACE
        copy = np.zeros(self.height.shape, dtype=bool)
        copy[cell[same], below[same]] = True
        self.u[copy], self.height[copy] = np.nan, -np.inf
        self.count -= copy.sum(-1)


def _highest(cell: IntArray, height: FloatArray) -> IntArray:
    """Return the index of the highest row of each cell among cells [B] and heights [B]."""
    if len(set(cell.tolist())) == len(cell):
        return np.arange(len(cell))
    order = np.lexsort((-height, cell))
    return order[np.unique(cell[order], return_index=True)[1]]
