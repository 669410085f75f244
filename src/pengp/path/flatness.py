"""How far the likelihood is flat along the ray through an estimate."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pengp._core.arrays import FloatArray, IntArray
from pengp.model.likelihood import LogLik

LEVEL = 1e-4
"""Fall of log L from its maximum along the ray up to which it counts as flat."""

_GRID, _GOLDEN, _HALVINGS = 65, 40, 40
"""Points along a ray; steps to refine the maximum (golden section) and the two ends (halving)."""


@dataclass(frozen=True, eq=False)
class Flat:
    """Stretch of the ray c theta-hat, c > 0, over which log L is within 1e-4 of its maximum.

    theta is cut to its bounds along the ray, so that an end at a bound means that the stretch goes
    on beyond it.
    """

    lower: FloatArray
    """[..., L, d], theta at the lower end"""
    upper: FloatArray
    """[..., L, d], theta at the upper end"""
    loglik: FloatArray
    """[..., L], the maximum along the ray"""


class _Likelihood(Protocol):
    """What is needed of a likelihood."""

    nugget: float | None

    def evaluate(
        self, which: IntArray, log_params: FloatArray, *, derivatives: bool = True
    ) -> LogLik:
        """Evaluate data sets ``which`` [B] at log_params [B, P]."""
        ...


def flat_stretch(
    likelihood: _Likelihood,
    theta: FloatArray,
    nugget: FloatArray,
    theta_bounds: tuple[float, float],
) -> Flat:
    """Find the flat stretches through theta [F, L, P], with the nugget [F, L] held fixed."""
    F, L, P = theta.shape
    u = np.log(theta).reshape(F * L, P)
    low, high = np.log(theta_bounds)
    which = np.repeat(np.arange(F), L)

    def point(t: FloatArray) -> FloatArray:
        return np.clip(u + t[:, None], low, high)

    def height(t: FloatArray) -> FloatArray:
        params = point(t)
        if likelihood.nugget is None:
            params = np.hstack([params, np.log(nugget).reshape(F * L, 1)])
        return likelihood.evaluate(which, params, derivatives=False).value

    first, last = low - u.max(-1), high - u.min(-1)
    grid = first[:, None] + (last - first)[:, None] * np.linspace(0.0, 1.0, _GRID)
    heights = np.stack([height(t) for t in grid.T], axis=1)
    top = heights.argmax(1)
    rows = np.arange(F * L)
    peak, best = _golden(
        height, grid[rows, np.maximum(top - 1, 0)], grid[rows, np.minimum(top + 1, _GRID - 1)]
    )
    on_grid = heights[rows, top] >= best
    peak, best = np.where(on_grid, grid[rows, top], peak), np.maximum(heights[rows, top], best)
    ends = [_edge(height, grid, heights, peak, best - LEVEL, side) for side in (-1, 1)]
    lower, upper = (exp_within(point(t), theta_bounds).reshape(F, L, P) for t in ends)
    return Flat(lower, upper, best.reshape(F, L))


def exp_within(u: FloatArray, bounds: tuple[float, float]) -> FloatArray:
    """Return exp(u), exactly the bound where u is its logarithm."""
    lower, upper = np.log(bounds)
    return np.where(u <= lower, bounds[0], np.where(u >= upper, bounds[1], np.exp(u)))


def _golden(height: "_Height", a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return place and height of the maxima between a and b [B], by golden section."""
    ratio = 0.5 * (np.sqrt(5.0) - 1.0)
    c, d = b - ratio * (b - a), a + ratio * (b - a)
    hc, hd = height(c), height(d)
    for _ in range(_GOLDEN):
        left = hc >= hd
        a, b = np.where(left, a, c), np.where(left, d, b)
        c, d = b - ratio * (b - a), a + ratio * (b - a)
        fresh = height(np.where(left, c, d))
        hc, hd = np.where(left, fresh, hd), np.where(left, hc, fresh)
    return np.where(hc >= hd, c, d), np.maximum(hc, hd)


def _edge(
    height: "_Height",
    grid: FloatArray,
    heights: FloatArray,
    peak: FloatArray,
    level: FloatArray,
    side: int,
) -> FloatArray:
    """Return where log L first falls below ``level`` [B] on one side of the peak [B]."""
    beyond = (side * (grid - peak[:, None]) > 0.0) & ~(heights >= level[:, None])
    k = grid.shape[1] - 1 - beyond[:, ::-1].argmax(1) if side < 0 else beyond.argmax(1)
    falls = beyond.any(1)
    end = grid[:, 0] if side < 0 else grid[:, -1]
    inside, outside = peak.copy(), np.where(falls, grid[np.arange(len(k)), k], end)
    for _ in range(_HALVINGS):
        middle = 0.5 * (inside + outside)
        above = height(middle) >= level
        inside, outside = np.where(above, middle, inside), np.where(above, outside, middle)
    return np.where(falls, inside, end)


class _Height(Protocol):
    """The likelihood along the rays."""

    def __call__(self, t: FloatArray) -> FloatArray:
        """Return log L at the positions t [B] of the rays."""
        ...
