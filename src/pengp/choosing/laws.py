"""Normal predictive distributions, with what scores ask of any."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from pengp._core.arrays import FloatArray
from pengp._core.shown import Shown
from pengp.choosing.scores import crps_normal_values, log_score_values, normal_interval


@dataclass(frozen=True, eq=False, repr=False)
class NormalLaw(Shown):
    """Normal distributions at m points; without spread each is a point.

    Attributes
    ----------
    location, scale : [m]
        Means and standard deviations.

    Examples
    --------
    >>> import numpy as np
    >>> from pengp.choosing import NormalLaw
    >>> law = NormalLaw(np.array([55.0, 57.0]), np.array([0.5, 1.0]))
    >>> lower, upper = law.interval(0.95)
    >>> lower.round(2), upper.round(2), law.crps(np.array([55.2, 59.0])).round(3)
    (array([54.02, 55.98]), array([55.04, 58.96]), array([0.148, 1.453]))
    """

    location: FloatArray
    scale: FloatArray

    def mean(self) -> FloatArray:
        """Return the means [m]."""
        return self.location

    def std(self) -> FloatArray:
        """Return the standard deviations [m]."""
        return self.scale

    def cdf(self, y: ArrayLike) -> FloatArray:
        """Return F(y) [m] at y [m]; without spread 0 below the mean, 1 above and 1/2 at it."""
        error = np.asarray(y, dtype=np.float64) - self.location
        far = np.where(error > 0.0, np.inf, -np.inf)
        with np.errstate(over="ignore"):
            z = np.divide(error, self.scale, out=far, where=self.scale > 0.0)
        return np.asarray(ndtr(np.where(error == 0.0, 0.0, z)))

    def log_density(self, y: ArrayLike) -> FloatArray:
        """Return the logarithm of the density [m] at y [m]; see `log_score_values`."""
        return -log_score_values(y, self.location, self.scale)

    def quantiles(self, levels: ArrayLike) -> FloatArray:
        """Return the quantiles [m, k] at levels [k] between 0 and 1."""
        z = ndtri(np.asarray(levels, dtype=np.float64))
        return self.location[:, None] + self.scale[:, None] * z

    def interval(self, level: float) -> FloatArray:
        """Return the central intervals [m, 2] that hold ``level`` of each law."""
        return np.stack(normal_interval(self.location, self.scale, level), axis=-1)

    def crps(self, y: ArrayLike) -> FloatArray:
        """Return the continuous ranked probability scores [m] of y [m]."""
        return crps_normal_values(y, self.location, self.scale)
