"""Predictive laws: at each of m points a mixture of M Student t distributions with one df."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp, stdtrit

from pengp._core.arrays import FloatArray, IntArray
from pengp._core.shown import Shown
from pengp.bayes.student import inflation, t_cdf, t_log_density
from pengp.exceptions import InputError

_STEPS = 100
"""Steps after which every bracket of a quantile has been halved to nothing."""

_LEVELS = (1e-6, 1e-4, 0.01, 0.2, 0.5)
"""Levels, and one less each, near whose quantiles the integral of F is cut first."""

_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(6)
"""Points in each interval, on [-1, 1]."""

_ACCURACY = 1e-6
"""Relative error of the integral that an interval may have before it is halved, up to 30 times."""

_PIECE = 1 << 18
"""Elements [points, M] that are worked on at a time."""


@dataclass(frozen=True, eq=False, repr=False)
class MixtureLaw(Shown):
    """The law sum_j w_j t_df(location_j, scale_j) at each of m points.

    Attributes
    ----------
    location, scale : [m, M]
        Of each component.
    weights : [M] or [m, M]
        Weights, which sum to 1 along the last axis.
    df : float
        Degrees of freedom, a whole number or infinite: normal distributions.
    """

    location: FloatArray
    scale: FloatArray
    weights: FloatArray
    df: float

    def mean(self) -> FloatArray:
        """Return the means [m]."""
        return np.vecdot(self.location, self.weights)

    def variance(self) -> FloatArray:
        """Return the variances [m], df / (df - 2) scale^2 within; infinite up to df = 2."""
        if self.df <= 2.0:
            return np.full(len(self.location), np.inf)
        within = inflation(self.df) * self.scale**2
        away = self.location - self.mean()[:, None]
        return np.vecdot(within + away * away, self.weights)

    def std(self) -> FloatArray:
        """Return the standard deviations [m]."""
        return np.sqrt(self.variance())

    def cdf(self, y: ArrayLike) -> FloatArray:
        """Return F(y) [m] at y [m]."""
        z = (self._at(y) - self.location) / self.scale
        return np.vecdot(t_cdf(z, self.df), self.weights)

    def density(self, y: ArrayLike) -> FloatArray:
        """Return the density [m] at y [m]."""
        return np.exp(self.log_density(y))

    def log_density(self, y: ArrayLike) -> FloatArray:
        """Return the logarithm of the density [m] at y [m]."""
        z = (self._at(y) - self.location) / self.scale
        terms = t_log_density(z, self.df) - np.log(self.scale)
        return np.asarray(logsumexp(terms, b=self.weights, axis=-1))

    def quantiles(self, levels: ArrayLike) -> FloatArray:
        """Return the quantiles [m, k] at levels [k] between 0 and 1."""
        p = np.atleast_1d(np.asarray(levels, dtype=np.float64))
        if p.ndim != 1 or not ((p > 0.0) & (p < 1.0)).all():
            raise InputError(f"levels={levels!r} must lie between 0 and 1.")
        return np.stack([self._each(partial(MixtureLaw._quantile, level=q)) for q in p], axis=-1)

    def interval(self, level: float) -> FloatArray:
        """Return the central intervals [m, 2] that hold ``level`` of each law."""
        return self.quantiles([0.5 - 0.5 * level, 0.5 + 0.5 * level])

    def crps(self, y: ArrayLike) -> FloatArray:
        """Return the continuous ranked probability scores [m] of y [m].

        E|X - y| - integral of F (1 - F). The first is closed; the second is taken by Gauss's rule
        between about the levels 1e-6 and 1 - 1e-6, and is closed beyond, where it is F or 1 - F.
        """
        if self.df <= 1.0:
            raise InputError("the CRPS of a t distribution needs more than one degree of freedom.")
        below, above = self._partial(self._at(y))
        return below + above - self._each(MixtureLaw._spread)

    def take(self, rows: slice | IntArray) -> "MixtureLaw":
        """Return the laws at some points."""
        weights = self.weights if self.weights.ndim == 1 else self.weights[rows]
        return MixtureLaw(self.location[rows], self.scale[rows], weights, self.df)

    def moved(self, shift: float, factor: float) -> "MixtureLaw":
        """Return the laws of shift + factor X."""
        return MixtureLaw(
            shift + factor * self.location, factor * self.scale, self.weights, self.df
        )

    def _at(self, y: ArrayLike) -> FloatArray:
        """Return y [m] as a column [m, 1]."""
        return np.broadcast_to(np.asarray(y, dtype=np.float64), len(self.location))[:, None]

    def _each(self, function: Callable[["MixtureLaw"], FloatArray]) -> FloatArray:
        """Apply a function law -> [m] to some of the points at a time."""
        m, M = self.location.shape
        step = max(1, _PIECE // M)
        return np.concatenate([function(self.take(slice(k, k + step))) for k in range(0, m, step)])

    def _quantile(self, level: float, near: float = 1e-14) -> FloatArray:
        """Return the quantiles [m] by Newton steps that stay in a shrinking bracket.

        The quantile lies between the least and the largest of the components'. A point where F is
        ``near`` the level will do.
        """
        each = self.location + self.scale * stdtrit(self.df, level)
        x = np.vecdot(each, self.weights)
        low, high = each.min(-1), each.max(-1)
        open_ = np.arange(len(x))
        law = self
        for _ in range(_STEPS):
            here = x[open_]
            gap = law.cdf(here) - level
            low[open_] = np.where(gap <= 0.0, here, low[open_])
            high[open_] = np.where(gap >= 0.0, here, high[open_])
            with np.errstate(divide="ignore", invalid="ignore"):
                new = here - gap / law.density(here)
            inside = (new > low[open_]) & (new < high[open_])
            x[open_] = np.where(inside, new, 0.5 * (low[open_] + high[open_]))
            near_enough = np.abs(gap) <= near
            x[open_] = np.where(near_enough, here, x[open_])
            moving = np.abs(x[open_] - here) > 1e-10 * np.abs(law.scale).min(-1)
            moving &= ~near_enough
            if not moving.any():
                break
            open_, law = open_[moving], law.take(np.flatnonzero(moving))
        return x

    def _spread(self) -> FloatArray:
        """Return the integral of F (1 - F) [m], which is E|X - X'| / 2.

        An interval is halved until its halves give what it gives: where a narrow component makes F
        jump, that takes a few steps.
        """
        ends = self._grid()
        (m, k), which = ends.shape, np.repeat(np.arange(len(ends)), ends.shape[1] - 1)
        a, b = ends[:, :-1].ravel(), ends[:, 1:].ravel()
        whole = self._gauss(which, a, b)
        total = self._partial(ends[:, :1])[0] + self._partial(ends[:, -1:])[1]
        enough = _ACCURACY * (total + whole.reshape(m, k - 1).sum(1))
        for _ in range(30):
            middle = 0.5 * (a + b)
            left, right = self._gauss(which, a, middle), self._gauss(which, middle, b)
            open_ = np.abs(left + right - whole) > enough[which]
            done = ~open_
            total += np.bincount(which[done], (left + right)[done], minlength=m)
            if done.all():
                return total
            which = np.tile(which[open_], 2)
            a, b = np.append(a[open_], middle[open_]), np.append(middle[open_], b[open_])
            whole = np.concatenate([left[open_], right[open_]])
        return total + np.bincount(which, whole, minlength=m)

    def _gauss(self, which: IntArray, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return the integrals [B] of F (1 - F) from a [B] to b [B], of the laws ``which`` [B]."""
        out, step = np.zeros(len(which)), max(1, _PIECE // self.location.shape[1])
        for start in range(0, len(which), step):
            part = slice(start, start + step)
            law = self.take(which[part])
            half, middle = 0.5 * (b - a)[part], 0.5 * (a + b)[part]
            for node, weight in zip(_NODES, _NODE_WEIGHTS, strict=True):
                F = law.cdf(middle + node * half)
                out[part] += weight * half * F * (1.0 - F)
        return out

    def _grid(self) -> FloatArray:
        """Return ascending points [m, k] about where F takes the levels of the grid."""
        levels = (*_LEVELS, *(1.0 - p for p in _LEVELS[-2::-1]))
        return np.stack([self._quantile(p, near=0.2 * min(p, 1.0 - p)) for p in levels], axis=-1)

    def _partial(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return E(y - X)+ and E(X - y)+, each [m], at y [m, 1].

        For t_df, E(z - T)+ = z F(z) + f(z) (df + z^2) / (df - 1).
        """
        z = (y - self.location) / self.scale
        factor = 1.0 if np.isinf(self.df) else (self.df + z * z) / (self.df - 1.0)
        tail = np.exp(t_log_density(z, self.df)) * factor
        below, above = z * t_cdf(z, self.df) + tail, tail - z * t_cdf(-z, self.df)
        weights = self.scale * self.weights
        return np.vecdot(below, weights), np.vecdot(above, weights)
