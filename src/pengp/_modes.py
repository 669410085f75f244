"""A growing table of the distinct local maxima of each cell."""

from collections.abc import Iterator

import numpy as np

from pengp._typing import BoolArray, FloatArray, IntArray
from pengp.optimize import Done

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
        self.count = np.zeros(n_cells, dtype=np.int64)
        self.u = np.full((n_cells, 4, d), np.nan)
        self.height = np.full((n_cells, 4), -np.inf)
        self.settled = np.zeros((n_cells, 4), dtype=bool)
        self.converged = np.zeros((n_cells, 4), dtype=bool)

    def distance(self, cell: IntArray, x: FloatArray) -> FloatArray:
        """Return the distance [B] of points x [B, d] to the nearest maximum of their cells."""
        m = int(self.count[cell].max(initial=0))
        away = np.abs(self.u[cell, :m] - x[:, None]).max(-1)
        away[np.arange(m) >= self.count[cell, None]] = np.inf
        return away.min(-1, initial=np.inf)

    def insert(self, done: Done, exact: BoolArray) -> BoolArray:
        """Add the rows whose maxima are new to their cells; tell which were.

        Rows marked ``exact`` [B] count as settled and converged.
        """
        cell, new = done.rows.tag, np.zeros(len(done.slope), dtype=bool)
        for r in _one_a_cell(cell, done.height):
            known = self._known(cell[r], done.target[r], done.height[r], done.rows.at.hessian[r])
            r = r[~known]
            self._append(cell[r], done.target[r], done.height[r], exact[r])
            new[r] = True
        return new

    def _known(
        self, cell: IntArray, u: FloatArray, height: FloatArray, hessian: FloatArray
    ) -> BoolArray:
        """Tell which points are maxima that their cells already hold.

        Two points are one maximum if they agree in height and are close together, or if the
        curvature says that the way between them is level.
        """
        level = np.abs(height[:, None] - self.height[cell]) < _LEVEL  # unused places hold -inf
        known = np.zeros(len(cell), dtype=bool)
        row, place = np.nonzero(level)
        if len(row):
            apart = u[row] - self.u[cell[row], place]
            drop = 0.5 * np.abs((apart * (apart[:, None] @ hessian[row])[:, 0]).sum(-1))
            known[row[(np.abs(apart).max(-1) < _CLOSE) | (drop < _LEVEL)]] = True
        return known

    def _append(self, cell: IntArray, u: FloatArray, height: FloatArray, exact: BoolArray) -> None:
        """Write points, at most one a cell, behind their cells' maxima."""
        k = self.count[cell]
        if k.max(initial=0) >= self.u.shape[1]:
            for name in ("u", "height", "settled", "converged"):
                old = getattr(self, name)
                blank = {"u": np.nan, "height": -np.inf}.get(name, False)
                setattr(self, name, np.concatenate([old, np.full_like(old, blank)], axis=1))
        self.count[cell] += 1
        self.u[cell, k], self.height[cell, k] = u, height
        self.settled[cell, k] = self.converged[cell, k] = exact

    def keep(self, cell: IntArray, u: FloatArray, height: FloatArray) -> None:
        """Add points, at most one a cell, that are the best known but no converged maxima."""
        self._append(cell, u, height, np.zeros(len(cell), dtype=bool))

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
        order = np.argsort(-self.height, axis=-1, kind="stable")
        high = np.take_along_axis(self.height, order, axis=-1)
        with np.errstate(invalid="ignore"):
            level = high[:, :, None] - high[:, None, :] < _SAME_LEVEL
        cell, above, below = np.nonzero(level & np.tri(level.shape[-1], k=-1, dtype=bool).T)
        above, below = order[cell, above], order[cell, below]
        same = np.abs(self.u[cell, above] - self.u[cell, below]).max(-1) < _SAME_PLACE
        if not same.any():
            return
        copies = np.unique(np.stack([cell[same], below[same]]), axis=1)
        self.u[*copies], self.height[*copies] = np.nan, -np.inf
        np.subtract.at(self.count, copies[0], 1)


def _one_a_cell(cell: IntArray, height: FloatArray) -> Iterator[IntArray]:
    """Yield the indices of cells [B] in groups without repetition, a cell's highest first."""
    if len(cell) and len(set(cell.tolist())) == len(cell):
        yield np.arange(len(cell))
        return
    order = np.lexsort((-height, cell))
    ordered = cell[order]
    rank = np.arange(len(cell)) - np.searchsorted(ordered, ordered)
    for k in range(int(rank.max(initial=-1)) + 1):
        yield order[rank == k]
