"""Unit-cube inputs and standardised responses: apply and invert, safe for any unit.

Columns are transformed first, where a transform is asked for; this is the one place for it.

Differences are taken after every column is brought near one by an exact power of two, so ranges
of 1e-300 and bounds of +-1e308 neither underflow nor overflow, and ordinary data give the same bits
as the plain formula.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pengp._core.arrays import NO_NUMBERS, BoolArray, FloatArray, IntArray
from pengp.exceptions import InputError
from pengp.model.elementary import Transform
from pengp.model.levels import levels_among

#: Scaled inputs are clipped here; their squared differences stay finite, their correlation is 0.
FAR_AWAY = 1e150
_LARGEST = np.finfo(np.float64).max
#: Known standard deviations are cut here, in those of all responses: such a run says nothing.
NOISIEST = 1e8
#: Halvings of a bracket, down to rounding.
_HALVINGS = 60


def _exponent(a: FloatArray, b: FloatArray) -> IntArray:
    """Binary exponent of max(|a|, |b|), elementwise over a, b [...]."""
    return np.asarray(np.frexp(np.maximum(np.abs(a), np.abs(b)))[1], dtype=np.int64)


def _ldexp(x: FloatArray, exponent: IntArray) -> FloatArray:
    """Multiply x by 2**exponent; overflow becomes inf in silence."""
    with np.errstate(over="ignore"):
        return np.asarray(np.ldexp(x, exponent.astype(np.intc)), dtype=np.float64)


Transforms = tuple[Transform, ...]


def _mapped(X: FloatArray, transforms: Transforms, verb: str) -> FloatArray:
    """Apply a method of each transform to its column of X [..., d]; none leave X alone."""
    if not transforms:
        return X
    columns = [getattr(t, verb)(X[..., p]) for p, t in enumerate(transforms)]
    return np.stack(columns, axis=-1)


@dataclass(frozen=True, eq=False)
class InputScaler:
    """Maps each input column from [lower, upper] to [0, 1], after its transform.

    Attributes
    ----------
    lower, upper : FloatArray, shape [d]
        Ends of the design region in the user's units. Equal ends mean that no scale is known.
    constant : BoolArray, shape [d]
        Columns that took a single value in the data.
    transforms : tuple of d Transform
        Of each column; empty for none at all.

    Examples
    --------
    >>> from pengp.model import InputScaler, Log10
    >>> scaler = InputScaler.from_data([[1.0, 5.0], [100.0, 7.0]], transforms=(Log10(), Log10()))
    >>> scaler.transform([[10.0, 7.0]])
    array([[0.5, 1. ]])
    >>> scaler.inverse([[0.5, 1.0]])
    array([[10.,  7.]])
    """

    lower: FloatArray
    upper: FloatArray
    constant: BoolArray
    transforms: Transforms = ()

    @classmethod
    def from_data(
        cls, X: ArrayLike, bounds: ArrayLike | None = None, transforms: Transforms = ()
    ) -> "InputScaler":
        """Take the range of each column from `bounds`, else from the data.

        Parameters
        ----------
        X : array, shape [n, d]
            Finite inputs in the user's units.
        bounds : array, shape [d, 2], optional
            Declared lower and upper end of each input. Data may lie outside.
        transforms : tuple of d Transform
            Of each column, in whose domains X and bounds lie; empty for none at all.
        """
        X = np.asarray(X, dtype=np.float64)
        low, high = X.min(axis=0), X.max(axis=0)
        constant = low == high
        if bounds is None:
            return cls(low, high, constant, transforms)
        declared = check_bounds(bounds, X.shape[1])
        return cls(declared[:, 0].copy(), declared[:, 1].copy(), constant, transforms)

    @property
    def ends(self) -> FloatArray:
        """Lower and upper ends [2, d] after the transforms."""
        return _mapped(np.stack([self.lower, self.upper]), self.transforms, "forward")

    @property
    def width(self) -> FloatArray:
        """Range [d] after the transforms, at most the largest double; 1 where it is 0.

        It is 1 for levels as well: they are equally far from each other.
        """
        exponent, low, high = self._near_one()
        width = np.minimum(_ldexp(high - low, exponent), np.finfo(np.float64).max)
        return np.where((low == high) | self._has_levels, 1.0, width)

    def slope(self, X: FloatArray) -> FloatArray:
        """Return the derivatives [m, d] of the scaled inputs in the inputs, at X [m, d]."""
        with np.errstate(divide="ignore", over="ignore", under="ignore"):
            slope = _mapped(X, self.transforms, "slope") if self.transforms else np.ones(X.shape)
            return np.asarray(slope / self.width)

    def transform(self, X: ArrayLike) -> FloatArray:
        """Scale inputs X [m, d]; a column without a scale becomes 0 everywhere.

        Values are clipped at +-1e150 so that squared differences stay finite.
        """
        exponent, low, high = self._near_one()
        no_scale = low == high
        mapped = _mapped(np.asarray(X, dtype=np.float64), self.transforms, "forward")
        centred = _ldexp(mapped, -exponent) - low
        with np.errstate(over="ignore"):
            scaled = centred / np.where(no_scale, 1.0, high - low)
        return np.where(no_scale, 0.0, np.clip(scaled, -FAR_AWAY, FAR_AWAY))

    def inverse(self, U: ArrayLike) -> FloatArray:
        """Return scaled inputs U [m, d] in the user's units [m, d]."""
        exponent, low, high = self._near_one()
        U = np.asarray(U, dtype=np.float64)
        # (1 - u) low + u high is exact at both ends, low + u (high - low) is not.
        return _mapped(_ldexp((1.0 - U) * low + U * high, exponent), self.transforms, "inverse")

    def lengthscale(self, theta: ArrayLike) -> FloatArray:
        """Distance at which theta_p dx_p^2 = 1, width / sqrt(theta): in the user's units.

        For a transformed input it is a distance on the transformed scale, for levels 1 /
        sqrt(theta).

        Parameters
        ----------
        theta : array, shape [..., d] or [..., 1] (isotropic)
            Parameters of eq. (1) for inputs in the unit cube; 0 gives an infinite lengthscale.

        Returns
        -------
        FloatArray, shape [..., d]
        """
        exponent, low, high = self._near_one()
        no_scale = (low == high) | self._has_levels
        width = np.where(no_scale, 1.0, high - low)
        with np.errstate(divide="ignore"):
            scaled = width / np.sqrt(np.asarray(theta, dtype=np.float64))
        return _ldexp(scaled, np.where(no_scale, 0, exponent))

    @property
    def _has_levels(self) -> BoolArray:
        """Whether an input [d] holds levels."""
        return np.isin(np.arange(len(self.lower)), list(levels_among(self.transforms)))

    def _near_one(self) -> tuple[IntArray, FloatArray, FloatArray]:
        """Exponent e [d] and the two ends [d] divided by 2**e, none larger than 1."""
        lower, upper = self.ends
        exponent = _exponent(lower, upper)
        return exponent, _ldexp(lower, -exponent), _ldexp(upper, -exponent)


def check_bounds(bounds: ArrayLike, d: int) -> FloatArray:
    """Return bounds as floats [d, 2], or raise an InputError that names the faulty input."""
    try:
        declared = np.asarray(bounds, dtype=np.float64)
    except NO_NUMBERS as error:
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
    """Centres each response, after its transform, and divides it by its standard deviation.

    Attributes
    ----------
    mean, sd : FloatArray, shape [] for y [n], [q] for y [n, q]
        Of the transformed responses (ddof = 1); sd is 1 for a constant response.
    constant : BoolArray, shape [] or [q]
        Responses that took a single value.
    transforms : tuple of q Transform
        Of each response [n, q]; empty for none at all.

    Examples
    --------
    >>> import numpy as np
    >>> from pengp.model import ResponseScaler
    >>> scaler = ResponseScaler.from_data(np.array([10.0, 12.0, 14.0]))
    >>> scaler.transform(np.array([10.0, 12.0, 14.0])), scaler.inverse(np.array([0.5]))
    (array([-1.,  0.,  1.]), array([13.]))
    """

    mean: FloatArray
    sd: FloatArray
    constant: BoolArray
    transforms: Transforms = ()

    @classmethod
    def from_data(
        cls, y: ArrayLike, transforms: Transforms = (), noise_sd: FloatArray | None = None
    ) -> "ResponseScaler":
        """Mean and standard deviation of the finite responses y [n] or [n, q], transformed.

        With known standard deviations noise_sd [n, q] of y [n, q] responses count by their
        accuracy (`noise_weights`), so that one that says nothing changes nothing.
        """
        if noise_sd is not None:
            return cls._of_noisy(np.asarray(y, dtype=np.float64), transforms, noise_sd)
        y = _mapped(np.asarray(y, dtype=np.float64), transforms, "forward")
        constant = np.asarray(y.min(axis=0) == y.max(axis=0))
        exponent = _exponent(y.min(axis=0), y.max(axis=0))
        # Contiguous rows [q, n]: an output is summed in the same order alone and among others.
        rows = np.ascontiguousarray(_ldexp(y, -exponent).T)
        centre = rows.mean(axis=-1)
        sum_of_squares = ((rows - centre[..., None]) ** 2).sum(axis=-1)
        mean = _ldexp(centre, exponent)
        sd = _ldexp(np.sqrt(sum_of_squares / max(len(y) - 1, 1)), exponent)
        sd = np.where(constant, 1.0, sd)
        return cls(np.where(constant, y[0], mean), sd, constant, transforms)

    @classmethod
    def _of_noisy(
        cls, y: FloatArray, transforms: Transforms, noise_sd: FloatArray
    ) -> "ResponseScaler":
        """Weighted mean and standard deviation of the responses y [n, q], transformed."""
        plain, known = cls.from_data(y, transforms), noise_sd.any(axis=0)
        mean, sd, n = plain.mean.copy(), plain.sd.copy(), len(y)
        z, variance = plain.transform(y), plain.noise_variance(y, noise_sd)
        for k in np.flatnonzero(known & ~plain.constant):
            w = noise_weights(z[:, k], variance[:, k])
            centre = w @ z[:, k]
            spread = np.sqrt(w @ (z[:, k] - centre) ** 2 * n / (n - 1))
            mean[k], sd[k] = mean[k] + sd[k] * centre, sd[k] * spread
        return cls(mean, sd, plain.constant, transforms)

    def noise_variance(self, y: FloatArray, noise_sd: FloatArray) -> FloatArray:
        """Return the variances [m, q] of standardised responses of which y [m, q] have noise_sd.

        For a transformed response by the delta method, t'(y)^2 times the variance of y.
        """
        with np.errstate(over="ignore"):
            sd = _mapped(y, self.transforms, "slope") * noise_sd if self.transforms else noise_sd
            return np.minimum(sd / self.sd, NOISIEST) ** 2

    def transform(self, y: ArrayLike) -> FloatArray:
        """Standardise responses y [m] or [m, q]: (t(y) - mean) / sd, infinite where too large."""
        exponent = np.where(self.constant, 0, _exponent(self.mean, self.sd))
        with np.errstate(over="ignore"):
            mapped = _mapped(np.asarray(y, dtype=np.float64), self.transforms, "forward")
            away = _ldexp(mapped, -exponent) - _ldexp(self.mean, -exponent)
            return np.asarray(away / _ldexp(self.sd, -exponent))

    def inverse(self, values: ArrayLike) -> FloatArray:
        """Return standardised values [m] or [m, q] in the user's units."""
        with np.errstate(over="ignore"):
            return _mapped(self.unscaled(values), self.transforms, "inverse")

    def unscaled(self, values: ArrayLike) -> FloatArray:
        """Return standardised values [m] or [m, q] on the transformed scale, which stay finite."""
        with np.errstate(over="ignore"):
            unscaled = self.mean + self.sd * np.asarray(values, dtype=np.float64)
        return np.asarray(np.clip(unscaled, -_LARGEST, _LARGEST))

    def inverse_std(self, std: ArrayLike) -> FloatArray:
        """Return standardised standard deviations [m] or [m, q] on the transformed scale."""
        with np.errstate(over="ignore"):
            return np.asarray(np.minimum(self.sd * np.asarray(std, dtype=np.float64), _LARGEST))

    def inverse_cov(self, cov: ArrayLike) -> FloatArray:
        """Return standardised variances or covariances on the transformed scale, outputs last.

        One response: any shape. Several: [..., q], for example [m, q] or [m, m, q]. Becomes inf or
        0 where the squared unit leaves the range of a double.
        """
        with np.errstate(over="ignore", under="ignore"):
            # sd (sd v), not sd^2 v: sd^2 may overflow where the product does not.
            return np.asarray(self.sd * (self.sd * np.asarray(cov, dtype=np.float64)))


def noise_weights(y: FloatArray, variance: FloatArray) -> FloatArray:
    """Return weights [n], which sum to 1, of responses y [n] with known noise variances [n].

    They are proportional to 1 / (t + v_i), t being the variance between the responses beyond their
    noise, at which sum_i (y_i - weighted mean)^2 / (t + v_i) = n - 1 (Paule and Mandel 1982). Equal
    variances give equal weights, an infinite one gives 0.
    """
    high = float(np.var(y, ddof=1))
    low, t = 0.0, high
    for _ in range(_HALVINGS):
        w = 1.0 / (t + variance)
        rest = w @ (y - w @ y / w.sum()) ** 2
        low, high = (t, high) if rest > len(y) - 1 else (low, t)
        t = 0.5 * (low + high)
    w = 1.0 / (high + variance)
    return np.asarray(w / w.sum())
