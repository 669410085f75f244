"""A growing table of the distinct local maxima of each cell."""

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
        rows, height = done.rows, _height(done)
        new = np.zeros(len(rows.tag), dtype=bool)
        order = np.lexsort((-height, rows.tag))
        cell = rows.tag[order]
        rank = np.arange(len(cell)) - np.searchsorted(cell, cell)
        for k in range(int(rank.max(initial=-1)) + 1):
            r = order[rank == k]
            r = r[~self._known(rows.tag[r], done.target[r], height[r], rows.at.hessian[r])]
            self._append(rows.tag[r], done.target[r], height[r], exact[r])
            new[r] = True
        return new

    def _known(
        self, cell: IntArray, u: FloatArray, height: FloatArray, hessian: FloatArray
    ) -> BoolArray:
        """Tell which points are maxima that their cells already hold.

        Two points are one maximum if they agree in height and are close together, or if the
        curvature says that the way between them is level.
        """
        m = int(self.count[cell].max(initial=0))
        apart = u[:, None] - self.u[cell, :m]
        drop = 0.5 * np.abs((apart * (apart @ hessian)).sum(-1))
        same_height = np.abs(height[:, None] - self.height[cell, :m]) < _LEVEL
        same_place = (np.abs(apart).max(-1) < _CLOSE) | (drop < _LEVEL)
        return (same_height & same_place & (np.arange(m) < self.count[cell, None])).any(-1)

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
        self.u[at], self.height[at] = done.target, _height(done)
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
        cell = np.arange(len(order))[:, None]
        u, height = self.u[cell, order], self.height[cell, order]
        used = np.isfinite(height)
        near = np.zeros((*height.shape, height.shape[1]), dtype=bool)
        for k in range(height.shape[1]):  # against maximum k, to hold no array of all pairs' places
            place = np.abs(u - u[:, k : k + 1]).max(-1) < _SAME_PLACE
            with np.errstate(invalid="ignore"):
                near[:, :, k] = place & (height[:, k : k + 1] - height < _SAME_LEVEL)
        copy = used & np.tril(near, -1).any(-1)
        cells, places = np.nonzero(copy)
        self.u[cells, order[cells, places]] = np.nan
        self.height[cells, order[cells, places]] = -np.inf
        self.count -= copy.sum(-1)


def _height(done: Done) -> FloatArray:
    """Return the objectives [B] after the last Newton step, from the expansions."""
    at, step = done.rows.at, done.target - done.rows.x
    gain = (step * (at.gradient + 0.5 * (at.hessian @ step[:, :, None])[..., 0])).sum(-1)
    return at.value + np.maximum(gain, 0.0)
