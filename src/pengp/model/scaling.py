"""Unit-cube inputs and standardised responses: apply and invert, safe for any unit.

Differences are taken after every column is brought near one by an exact power of two, so ranges
of 1e-300 and bounds of +-1e308 neither underflow nor overflow, and ordinary data give the same bits
as the plain formula.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pengp._core.arrays import BoolArray, FloatArray, IntArray
from pengp.exceptions import InputError

#: Scaled inputs are clipped here; their squared differences stay finite, their correlation is 0.
FAR_AWAY = 1e150
_LARGEST = np.finfo(np.float64).max


def _exponent(a: FloatArray, b: FloatArray) -> IntArray:
    """Binary exponent of max(|a|, |b|), elementwise over a, b [...]."""
    return np.asarray(np.frexp(np.maximum(np.abs(a), np.abs(b)))[1], dtype=np.int64)


def _ldexp(x: FloatArray, exponent: IntArray) -> FloatArray:
    """Multiply x by 2**exponent; overflow becomes inf in silence."""
    with np.errstate(over="ignore"):
        return np.asarray(np.ldexp(x, exponent.astype(np.intc)), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class InputScaler:
    """Maps each input column from [lower, upper] to [0, 1].

    Attributes
    ----------
    lower, upper : FloatArray, shape [d]
        Ends of the design region in the user's units. Equal ends mean that no scale is known.
    constant : BoolArray, shape [d]
        Columns that took a single value in the data.
    """

    lower: FloatArray
    upper: FloatArray
    constant: BoolArray

    @classmethod
    def from_data(cls, X: ArrayLike, bounds: ArrayLike | None = None) -> "InputScaler":
        """Take the range of each column from `bounds`, else from the data.

        Parameters
        ----------
        X : array, shape [n, d]
            Finite inputs in the user's units.
        bounds : array, shape [d, 2], optional
            Declared lower and upper end of each input. Data may lie outside.
        """
        X = np.asarray(X, dtype=np.float64)
        low, high = X.min(axis=0), X.max(axis=0)
        constant = low == high
        if bounds is None:
            return cls(low, high, constant)
        declared = check_bounds(bounds, X.shape[1])
        return cls(declared[:, 0].copy(), declared[:, 1].copy(), constant)

    @property
    def width(self) -> FloatArray:
        """Range upper - lower [d], at most the largest double; 1 where the two are equal."""
        exponent, low, high = self._near_one()
        width = np.minimum(_ldexp(high - low, exponent), np.finfo(np.float64).max)
        return np.where(self.lower == self.upper, 1.0, width)

    def transform(self, X: ArrayLike) -> FloatArray:
        """Scale inputs X [m, d]; a column without a scale becomes 0 everywhere.

        Values are clipped at +-1e150 so that squared differences stay finite.
        """
        exponent, low, high = self._near_one()
        no_scale = self.lower == self.upper
        centred = _ldexp(np.asarray(X, dtype=np.float64), -exponent) - low
        with np.errstate(over="ignore"):
            scaled = centred / np.where(no_scale, 1.0, high - low)
        return np.where(no_scale, 0.0, np.clip(scaled, -FAR_AWAY, FAR_AWAY))

    def inverse(self, U: ArrayLike) -> FloatArray:
        """Return scaled inputs U [m, d] in the user's units [m, d]."""
        exponent, low, high = self._near_one()
        U = np.asarray(U, dtype=np.float64)
        # (1 - u) low + u high is exact at both ends, low + u (high - low) is not.
        return _ldexp((1.0 - U) * low + U * high, exponent)

    def lengthscale(self, theta: ArrayLike) -> FloatArray:
        """Distance in the user's units at which theta_p dx_p^2 = 1: width / sqrt(theta).

        Parameters
        ----------
        theta : array, shape [..., d] or [..., 1] (isotropic)
            Parameters of eq. (1) for inputs in the unit cube; 0 gives an infinite lengthscale.

        Returns
        -------
        FloatArray, shape [..., d]
        """
        exponent, low, high = self._near_one()
        no_scale = self.lower == self.upper
        width = np.where(no_scale, 1.0, high - low)
        with np.errstate(divide="ignore"):
            scaled = width / np.sqrt(np.asarray(theta, dtype=np.float64))
        return _ldexp(scaled, np.where(no_scale, 0, exponent))

    def _near_one(self) -> tuple[IntArray, FloatArray, FloatArray]:
        """Exponent e [d] and the two ends [d] divided by 2**e, none larger than 1."""
        exponent = _exponent(self.lower, self.upper)
        return exponent, _ldexp(self.lower, -exponent), _ldexp(self.upper, -exponent)


def check_bounds(bounds: ArrayLike, d: int) -> FloatArray:
    """Return bounds as floats [d, 2], or raise an InputError that names the faulty input."""
    try:
        declared = np.asarray(bounds, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"input bounds must be numbers, a (lower, upper) pair for each of the {d} inputs."
        ) from error
    if declared.shape != (d, 2):
        raise InputError(
            f"input bounds have shape {declared.shape}; give one (lower, upper) pair for each of "
            f"the {d} inputs, shape ({d}, 2)."
        )
    usable = np.isfinite(declared).all(axis=1) & (declared[:, 0] < declared[:, 1])
    if not usable.all():
        p = int(np.argmin(usable))
        low, high = declared[p].tolist()
        raise InputError(
            f"the bounds of input {p} (counted from 0) are ({low}, {high}); give two finite "
            "numbers with lower < upper."
        )
    return declared


@dataclass(frozen=True, eq=False)
class ResponseScaler:
    """Centres each response and divides it by its sample standard deviation (ddof = 1).

    Attributes
    ----------
    mean, sd : FloatArray, shape [] for y [n], [q] for y [n, q]
        In the user's units; sd is 1 for a constant response.
    constant : BoolArray, shape [] or [q]
        Responses that took a single value.
    """

    mean: FloatArray
    sd: FloatArray
    constant: BoolArray

    @classmethod
    def from_data(cls, y: ArrayLike) -> "ResponseScaler":
        """Mean and standard deviation of the finite responses y [n] or [n, q]."""
        y = np.asarray(y, dtype=np.float64)
        constant = np.asarray(y.min(axis=0) == y.max(axis=0))
        exponent = _exponent(y.min(axis=0), y.max(axis=0))
        # Contiguous rows [q, n]: an output is summed in the same order alone and among others.
        rows = np.ascontiguousarray(_ldexp(y, -exponent).T)
        centre = rows.mean(axis=-1)
        sum_of_squares = ((rows - centre[..., None]) ** 2).sum(axis=-1)
        mean = _ldexp(centre, exponent)
        sd = _ldexp(np.sqrt(sum_of_squares / max(len(y) - 1, 1)), exponent)
        return cls(np.where(constant, y[0], mean), np.where(constant, 1.0, sd), constant)

    def transform(self, y: ArrayLike) -> FloatArray:
        """Standardise responses y [m] or [m, q]: (y - mean) / sd."""
        exponent = np.where(self.constant, 0, _exponent(self.mean, self.sd))
        near_one = _ldexp(np.asarray(y, dtype=np.float64), -exponent)
        return np.asarray((near_one - _ldexp(self.mean, -exponent)) / _ldexp(self.sd, -exponent))

    def inverse(self, mean: ArrayLike) -> FloatArray:
        """Return standardised values [m] or [m, q] in the user's units, which stay finite."""
        with np.errstate(over="ignore"):
            values = self.mean + self.sd * np.asarray(mean, dtype=np.float64)
        return np.asarray(np.clip(values, -_LARGEST, _LARGEST))

    def inverse_std(self, std: ArrayLike) -> FloatArray:
        """Return standardised standard deviations [m] or [m, q] in the user's units."""
        with np.errstate(over="ignore"):
            return np.asarray(np.minimum(self.sd * np.asarray(std, dtype=np.float64), _LARGEST))

    def inverse_cov(self, cov: ArrayLike) -> FloatArray:
        """Return standardised variances or covariances in the user's units, outputs last.

        One response: any shape. Several: [..., q], for example [m, q] or [m, m, q]. Becomes inf or
        0 where the squared unit leaves the range of a double.
        """
        with np.errstate(over="ignore", under="ignore"):
            # sd (sd v), not sd^2 v: sd^2 may overflow where the product does not.
            return np.asarray(self.sd * (self.sd * np.asarray(cov, dtype=np.float64)))
