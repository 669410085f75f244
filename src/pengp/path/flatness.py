"""How far the likelihood is flat along a line through an estimate: the ray, or one input's."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pengp._core.arrays import FloatArray
from pengp._core.shown import Shown
from pengp.model.likelihood import Likelihood
from pengp.path.fitting import exp_within

LEVEL = 1e-4
"""Fall of log L from its maximum along the ray up to which it counts as flat."""

_GRID, _GOLDEN, _HALVINGS = 65, 40, 40
"""Points along a ray; steps to refine the maximum (golden section) and the two ends (halving)."""


@dataclass(frozen=True, eq=False, repr=False)
class Flat(Shown):
    """Stretch of the ray c theta-hat, c > 0, over which log L is within 1e-4 of its maximum.

    theta is cut to its bounds along the ray, so that an end at a bound means that the stretch goes
    on beyond it.

    Examples
    --------
    One theta for all inputs is not identified by these 12 runs:

    >>> from pengp import PenalizedGPRegressor, load_piston_slap
    >>> runs = load_piston_slap()
    >>> model = PenalizedGPRegressor(isotropic=True, random_state=0).fit(runs.X, runs.y)
    >>> float(model.flat_.lower[0].round(1)), float(model.flat_.upper[0])
    (10.3, 1000.0)
    """

    lower: FloatArray
    """[..., L, d], theta at the lower end"""
    upper: FloatArray
    """[..., L, d], theta at the upper end"""
    loglik: FloatArray
    """[..., L], the maximum along the ray"""

    def _in_short(self) -> str:
        widest = np.max(self.upper / self.lower)
        return f"theta up to {widest:.4g} times as large from end to end"


def flat_stretch(
    likelihood: Likelihood,
    theta: FloatArray,
    nugget: FloatArray,
    theta_bounds: tuple[float, float],
    *,
    only: int | None = None,
    fall: float = LEVEL,
) -> Flat:
    """Find the flat stretches through theta [F, L, P], with the nugget [F, L] held fixed.

    They are those of the ray, or of the line on which theta_p alone changes, p = ``only``; log L is
    at most ``fall`` below its maximum there.
    """
    F, L, P = theta.shape
    point = np.log(theta).reshape(F * L, P)
    low, high = np.log(theta_bounds)
    data_set = np.repeat(np.arange(F), L)

    moves = np.ones(P) if only is None else np.eye(P)[only]

    def along(t: FloatArray) -> FloatArray:
        return np.clip(point + t[:, None] * moves, low, high)

    def loglik(t: FloatArray) -> FloatArray:
        trial = along(t)
        if likelihood.nugget is None:
            trial = np.hstack([trial, np.log(nugget).reshape(F * L, 1)])
        return likelihood.evaluate(data_set, trial, derivatives=False).value

    moved = point[:, moves > 0.0]
    first, last = low - moved.max(-1), high - moved.min(-1)
    grid = first[:, None] + (last - first)[:, None] * np.linspace(0.0, 1.0, _GRID)
    logliks = np.stack([loglik(t) for t in grid.T], axis=1)
    top = logliks.argmax(1)
    rows = np.arange(F * L)
    peak, best = _golden(
        loglik, grid[rows, np.maximum(top - 1, 0)], grid[rows, np.minimum(top + 1, _GRID - 1)]
    )
    on_grid = logliks[rows, top] >= best
    peak, best = np.where(on_grid, grid[rows, top], peak), np.maximum(logliks[rows, top], best)
    ends = [_edge(loglik, grid, logliks, peak, best - fall, side) for side in (-1, 1)]
    lower, upper = (exp_within(along(t), theta_bounds).reshape(F, L, P) for t in ends)
    return Flat(lower, upper, best.reshape(F, L))


def _golden(loglik: "_Along", a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return place and log L of the maxima between a and b [B], by golden section."""
    ratio = 0.5 * (np.sqrt(5.0) - 1.0)
    c, d = b - ratio * (b - a), a + ratio * (b - a)
    hc, hd = loglik(c), loglik(d)
    for _ in range(_GOLDEN):
        left = hc >= hd
        a, b = np.where(left, a, c), np.where(left, d, b)
        c, d = b - ratio * (b - a), a + ratio * (b - a)
        fresh = loglik(np.where(left, c, d))
        hc, hd = np.where(left, fresh, hd), np.where(left, hc, fresh)
    return np.where(hc >= hd, c, d), np.maximum(hc, hd)


def _edge(
    loglik: "_Along",
    grid: FloatArray,
    logliks: FloatArray,
    peak: FloatArray,
    level: FloatArray,
    side: int,
) -> FloatArray:
    """Return where log L first falls below ``level`` [B] on one side of the peak [B]."""
    beyond = (side * (grid - peak[:, None]) > 0.0) & ~(logliks >= level[:, None])
    k = grid.shape[1] - 1 - beyond[:, ::-1].argmax(1) if side < 0 else beyond.argmax(1)
    falls = beyond.any(1)
    end = grid[:, 0] if side < 0 else grid[:, -1]
    inside, outside = peak.copy(), np.where(falls, grid[np.arange(len(k)), k], end)
    for _ in range(_HALVINGS):
        middle = 0.5 * (inside + outside)
        above = loglik(middle) >= level
        inside, outside = np.where(above, middle, inside), np.where(above, outside, middle)
    return np.where(falls, inside, end)


class _Along(Protocol):
    """The likelihood along the rays."""

    def __call__(self, t: FloatArray) -> FloatArray:
        """Return log L at the positions t [B] of the rays."""
        ...
