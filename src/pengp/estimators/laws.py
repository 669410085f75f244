"""Predictive laws in the user's unit: a normal or mixture law through a scaling and a transform.

Quantiles, intervals and densities are exact. An exponential of a Student t has no mean, and its
CRPS is infinite: moments of mixtures are those of components cut at the levels 1e-4 and 1 - 1e-4,
and the CRPS of a transformed law leaves out what lies beyond these levels.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from pengp._core.arrays import FloatArray
from pengp._core.shown import Shown
from pengp.bayes.law import MixtureLaw
from pengp.choosing.laws import NormalLaw
from pengp.model.elementary import Log, Transform
from pengp.model.scaling import NOISIEST
from pengp.model.transforms import IDENTITY

_CUT = 1e-4
"""Level beyond which tails are left out."""

_FAR = 1e150
"""Transformed responses, of at most 1e100, are cut here in the user's unit: squares stay finite."""

_LEVELS = (_CUT, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1.0 - _CUT)
"""Levels at whose quantiles the integral of the CRPS is cut into intervals."""

_GAUSS = np.polynomial.legendre.leggauss(16)
"""Points and weights in each of them, on [-1, 1]."""


class Parts(NamedTuple):
    """A mixture of M normal or Student t distributions at each of m points."""

    location: FloatArray  # [m, M]
    scale: FloatArray  # [m, M]
    weights: FloatArray  # [M] or [m, M]
    df: float


@dataclass(frozen=True, eq=False, repr=False)
class MappedLaw(Shown):
    """The law of t^-1(shift + stretch Z) at m points, where Z has a normal or mixture law.

    Attributes
    ----------
    base : NormalLaw or MixtureLaw
        Law of Z, the standardised response.
    shift, stretch : float
        From the standardised to the transformed scale.
    transform : Transform
        t, from the user's unit to the transformed scale.
    """

    base: NormalLaw | MixtureLaw
    shift: float
    stretch: float
    transform: Transform

    @property
    def parts(self) -> "Parts":
        """The components of the law of Z; one of a normal law."""
        if isinstance(self.base, NormalLaw):
            return Parts(self.base.location[:, None], self.base.scale[:, None], np.ones(1), np.inf)
        return Parts(self.base.location, self.base.scale, self.base.weights, self.base.df)

    def mean(self) -> FloatArray:
        """Return the means [m]."""
        return self.moments()[0]

    def std(self) -> FloatArray:
        """Return the standard deviations [m]."""
        return self.moments()[1]

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return means and standard deviations [m]."""
        if self.transform == IDENTITY:
            return self._values(self.base.mean()), self.stretch * self.base.std()
        location, scale, weights, df = self.parts
        z, s = self.shift + self.stretch * location, self.stretch * scale
        if isinstance(self.transform, Log) and np.isinf(df):
            return _mixed(*_lognormal(self.transform.rate * z, self.transform.rate * s), weights)
        centre = self._inverse(np.vecdot(z, weights))
        first, second = np.zeros((2, len(z)))
        for x, w in zip(*standard_nodes(df), strict=True):
            # Away from about the mean, so that the variance is no difference of large numbers.
            away = self._inverse(z + x * s) - centre[:, None]
            first += w * np.vecdot(away, weights)
            second += w * np.vecdot(away * away, weights)
        return centre + first, np.sqrt(np.maximum(second - first * first, 0.0))

    def mean_slopes(self) -> tuple[FloatArray, FloatArray]:
        """Return the derivatives of the means in each component's location and scale [m, M]."""
        location, scale, weights, df = self.parts
        z, s = self.shift + self.stretch * location, self.stretch * scale
        if isinstance(self.transform, Log) and np.isinf(df):
            rate = self.transform.rate
            in_location = rate * self.stretch * weights * _lognormal(rate * z, rate * s)[0]
            return in_location, rate * in_location * s
        in_location, in_scale = np.zeros((2, *z.shape))
        for x, w in zip(*standard_nodes(df), strict=True):
            slope = w * self.stretch * weights * _cut(self.transform.inverse_slope(z + x * s))
            in_location += slope
            in_scale += x * slope
        return in_location, in_scale

    def quantiles(self, levels: ArrayLike) -> FloatArray:
        """Return the quantiles [m, k] at levels [k]."""
        return self._values(self.base.quantiles(levels))

    def interval(self, level: float) -> FloatArray:
        """Return the central intervals [m, 2] that hold ``level`` of each law."""
        return self.quantiles([0.5 - 0.5 * level, 0.5 + 0.5 * level])

    def cdf(self, y: ArrayLike) -> FloatArray:
        """Return F(y) [m] at y [m]."""
        return np.asarray(self.base.cdf(self._standardised(y)))

    def log_density(self, y: ArrayLike) -> FloatArray:
        """Return the logarithm of the density [m] at y [m], in 1 / unit; -inf outside the domain.

        That of Z plus the logarithm of the Jacobian.
        """
        y = np.asarray(y, dtype=np.float64)
        inside = self.transform.accepts(y)
        with np.errstate(all="ignore"):
            jacobian = np.log(self.transform.slope(y)) - np.log(self.stretch)
            density = self.base.log_density(np.where(inside, self._standardised(y), 0.0))
        return np.where(inside, density + jacobian, -np.inf)

    def crps(self, y: ArrayLike) -> FloatArray:
        """Return the continuous ranked probability scores [m] of y [m].

        The integral of (F(x) - 1{x >= y})^2 dx by Gauss's rule between quantiles, taken over z(x),
        or over x itself where dx/dz jumps or has no bound.
        """
        y = np.asarray(y, dtype=np.float64)
        if self.transform == IDENTITY:
            return np.asarray(self.stretch * self.base.crps(self._standardised(y)))
        cuts = self.base.quantiles(_LEVELS)
        at = self._standardised(y)
        beyond = np.isinf(at)  # outside the domain, where F is 0 or 1
        at = np.where(beyond, np.clip(at, cuts[:, 0], cuts[:, -1]), at)
        total = np.abs(y - self._values(at))  # 0 but for y that the inverse does not reach
        cuts = np.sort(np.column_stack([cuts, at]), axis=-1)
        steep = self.transform.is_steep
        ends = self._values(cuts) if steep else cuts
        for low, high in zip(ends.T[:-1], ends.T[1:], strict=True):
            half, middle = 0.5 * (high - low), 0.5 * (high + low)
            for node, weight in zip(*_GAUSS, strict=True):
                place = middle + node * half
                z = self._standardised(place) if steep else place
                step = self.base.cdf(z) - (z >= at)
                slope = 1.0 if steep else self._slopes(z)
                total = total + weight * half * step * step * slope
        return total

    def _slopes(self, z: FloatArray) -> FloatArray:
        """Return the derivatives of values in the user's unit in standardised ones."""
        return self.stretch * _cut(self.transform.inverse_slope(self.shift + self.stretch * z))

    def _values(self, z: FloatArray) -> FloatArray:
        """Return standardised values in the user's unit."""
        values = self.shift + self.stretch * z
        return values if self.transform == IDENTITY else self._inverse(values)

    def _inverse(self, values: FloatArray) -> FloatArray:
        """Return transformed values in the user's unit."""
        with np.errstate(over="ignore"):
            return _cut(self.transform.inverse(values))

    def _standardised(self, y: ArrayLike) -> FloatArray:
        """Return standardised values of y [m]; infinite outside the domain."""
        y = np.asarray(y, dtype=np.float64)
        inside = self.transform.accepts(y)
        with np.errstate(all="ignore"):
            z = self.transform.forward(y)
        below = y <= self._values(self.base.mean())
        z = np.where(inside, z, np.where(below, -np.inf, np.inf))
        return np.asarray((z - self.shift) / self.stretch)


def law_of(process: Any, X: FloatArray) -> NormalLaw | MixtureLaw:
    """Return the laws of a Posterior or ProcessMixture at X [m, d] in the unit cube."""
    if hasattr(process, "law"):
        law: MixtureLaw = process.law(X)
        return law
    mean, variance = process.predict(X)
    return NormalLaw(mean, np.sqrt(process.sigma2 * variance))


def noisy_law(law: Any, sd: FloatArray) -> Any:
    """Return the laws at m points of a response with normal noise of standard deviations sd [m].

    Variances add up; a Student t component keeps its degrees of freedom. For a transformed response
    the noise is that at the median, by the delta method.
    """
    if isinstance(law, NormalLaw):
        return NormalLaw(law.location, np.hypot(law.scale, sd))
    if isinstance(law, MixtureLaw):
        return replace(law, scale=np.hypot(law.scale, sd[:, None]))
    slope = law.transform.slope(law.quantiles([0.5])[:, 0])
    with np.errstate(over="ignore"):
        standardised = np.minimum(slope * sd / law.stretch, NOISIEST)
    return replace(law, base=noisy_law(law.base, standardised))


def _lognormal(mu: FloatArray, sigma: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean exp(mu + sigma^2 / 2) and standard deviation mean sqrt(exp(sigma^2) - 1)."""
    with np.errstate(over="ignore"):
        mean = _cut(np.exp(mu + 0.5 * sigma * sigma))
        return mean, _cut(mean * np.sqrt(np.expm1(sigma * sigma)))


def _cut(values: FloatArray) -> FloatArray:
    """Return values in the user's unit, or slopes, that are small enough to be squared."""
    return np.clip(values, -_FAR, _FAR)


def _mixed(mean: FloatArray, std: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation [m] of mixtures of laws with these [m, M]."""
    whole = np.vecdot(mean, weights)
    return whole, np.sqrt(np.vecdot(std**2 + (mean - whole[:, None]) ** 2, weights))


@lru_cache(maxsize=32)
def standard_nodes(df: float) -> tuple[FloatArray, FloatArray]:
    """Return points and weights, which sum to 1, of a standard normal or a cut Student t law.

    Equally spaced for the normal law, which is as good as any rule for smooth functions and better
    where the end of a domain makes a kink. With t = sqrt(df) tan(a) the density of a is
    proportional to cos(a)^(df - 1), a smooth integrand for Gauss and Legendre's points.
    """
    if np.isinf(df):
        x = np.linspace(-14.0, 14.0, 225)
        w = np.exp(-0.5 * x * x)
        return x, w / w.sum()
    a, w = np.polynomial.legendre.leggauss(48)
    a = a * np.arctan(-stdtrit(df, _CUT) / np.sqrt(df))
    w = w * np.cos(a) ** (df - 1.0)
    return np.sqrt(df) * np.tan(a), w / w.sum()
