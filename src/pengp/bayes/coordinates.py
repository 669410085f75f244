"""Coordinates in which the prior of each parameter is about standard normal.

The prior of log theta has a long tail to the left, along which an input does nothing, and a short
one to the right. A mixture of t distributions follows that badly, and well where each parameter
has been stretched so that its prior is normal.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from pengp._core.arrays import FloatArray
from pengp.bayes.proposals import Proposal

_KNOTS, _FARTHEST = 25, 3.0
"""Points between -3 and 3 at which the map is taken from quantiles; linear between and beyond."""

_BEYOND = 40.0
"""How far it goes on beyond."""


@dataclass(frozen=True, eq=False)
class Coordinates:
    """A piecewise linear, increasing map of every parameter.

    Attributes
    ----------
    z : [K]
        Knots.
    u : [P, K]
        What they become.
    """

    z: FloatArray
    u: FloatArray

    def outer(self, z: FloatArray) -> FloatArray:
        """Return u [N, P] for z [N, P]."""
        return self._each(z, self.z[None].repeat(len(self.u), 0), self.u)

    def inner(self, u: FloatArray) -> FloatArray:
        """Return z [N, P] for u [N, P]."""
        return self._each(u, self.u, self.z[None].repeat(len(self.u), 0))

    def log_slope(self, u: FloatArray) -> FloatArray:
        """Return the logarithm of dz/du [N], the product over the parameters, at u [N, P]."""
        total, widths = np.zeros(len(u)), np.diff(self.z)
        for values, knots in zip(u.T, self.u, strict=True):
            steps = np.log(widths / np.diff(knots))
            total += steps[np.searchsorted(knots[1:-1], values)]
        return total

    @staticmethod
    def _each(values: FloatArray, before: FloatArray, after: FloatArray) -> FloatArray:
        """Map values [N, P], one parameter after the other."""
        rows = zip(values.T, before, after, strict=True)
        return np.column_stack([np.interp(row, a, b) for row, a, b in rows])


def normal_coordinates(
    theta: FloatArray, log_nuggets: tuple[float, float] | None = None
) -> Coordinates:
    """Return coordinates in which the prior is about standard normal.

    Parameters
    ----------
    theta : [N, T]
        Draws of log theta from its prior; all inputs share one map.
    log_nuggets : (float, float), optional
        Range of log nugget, which is uniform in it, if it is one more parameter.
    """
    z = np.linspace(-_FARTHEST, _FARTHEST, _KNOTS)
    levels = ndtr(z)
    rows = [np.quantile(theta, levels)] * theta.shape[1]
    if log_nuggets is not None:
        rows.append(log_nuggets[0] + (log_nuggets[1] - log_nuggets[0]) * levels)
    # Strictly increasing whatever the draws.
    u = np.array(rows) + 1e-6 * np.arange(_KNOTS)
    ends = u[:, [0, -1]] + _BEYOND * (u[:, [1, -1]] - u[:, [0, -2]]) / (z[1] - z[0]) * [-1.0, 1.0]
    knots = np.concatenate([[z[0] - _BEYOND], z, [z[-1] + _BEYOND]])
    return Coordinates(knots, np.concatenate([ends[:, :1], u, ends[:, 1:]], axis=1))


@dataclass(frozen=True, eq=False)
class Stretched:
    """A proposal of z as one of u."""

    inner: Proposal
    coordinates: Coordinates

    def sample(self, rng: np.random.Generator, size: int) -> FloatArray:
        """Return draws [size, P]."""
        return self.coordinates.outer(self.inner.sample(rng, size))

    def density(self, u: FloatArray) -> FloatArray:
        """Return its density [N] at u [N, P], that of z times dz/du."""
        z, slope = self.coordinates.inner(u), np.exp(self.coordinates.log_slope(u))
        return self.inner.density(z) * slope
