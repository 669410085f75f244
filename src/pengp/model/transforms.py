"""Transforms of a column: families with a power, scikit-learn's transformers, and all by name."""

import copy
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

import numpy as np
from scipy.special import boxcox, boxcox1p, inv_boxcox, inv_boxcox1p

from pengp._core.arrays import BoolArray, FloatArray
from pengp._core.checks import is_real
from pengp._core.registry import Registry
from pengp.exceptions import InputError
from pengp.model.elementary import Identity, Log, Log10, Logit, Sqrt, Transform

TransformName = Literal["none", "log", "log10", "sqrt", "logit", "boxcox", "yeojohnson"]


class Transformer(Protocol):
    """A transformer as scikit-learn has them."""

    def fit(self, X: Any) -> Any:
        """Learn from a column X [n, 1]."""
        ...

    def transform(self, X: Any) -> Any:
        """Return the transformed column [n, 1]."""
        ...

    def inverse_transform(self, X: Any) -> Any:
        """Return the column [n, 1] as it was."""
        ...


#: What names a transform or is one; None is the identity.
TransformLike: TypeAlias = TransformName | Transform | Transformer | None

#: Powers that are tried where one is to be estimated; beyond them z has an end that laws overstep.
POWERS = tuple(k / 20.0 for k in range(41))
#: Standard deviations of z within which a transformer's inverse is looked at for an end; where x
#: has none, the share of the way there, and the ranges of x beyond the runs, used at most.
_REACH, _SHARE, _RANGES = 40.0, 0.9, 10.0
#: Halvings that find an end.
_HALVINGS = 60


@dataclass(frozen=True)
class _Power(Transform):
    """A family with a power p from 0 to 2, which the likelihood estimates where it is None."""

    power: float | None = None

    def __post_init__(self) -> None:
        if self.power is not None and not is_real(self.power, POWERS[0], POWERS[-1]):
            raise InputError(
                f"{type(self).__name__}({self.power!r}) needs a power from 0 to 2, or none to have "
                "it estimated."
            )

    @property
    def p(self) -> float:
        """The power, which has to be known."""
        if self.power is None:
            raise InputError(f"{type(self).__name__}() has no power yet; give one from 0 to 2.")
        return float(self.power)

    def candidates(self) -> tuple[Transform, ...]:
        """Return this one, or one for each power that is tried."""
        return (self,) if self.power is not None else tuple(type(self)(p) for p in POWERS)

    def of(self, name: str) -> str:
        """Return the family's name with its power."""
        return f"{self.name}({name}; {'estimated' if self.power is None else f'{self.power:g}'})"


@dataclass(frozen=True)
class BoxCox(_Power):
    """z = (x^p - 1) / p, log x for p = 0 (Box and Cox, 1964).

    Parameters
    ----------
    power : float, optional
        p from 0 to 2; estimated by default, for a response.

    Examples
    --------
    >>> import numpy as np
    >>> from pengp.model import BoxCox
    >>> BoxCox(0.5).forward(np.array([1.0, 4.0, 9.0]))
    array([0., 2., 4.])
    """

    name: ClassVar[str] = "boxcox"
    label: ClassVar[str] = "Box-Cox"
    where: ClassVar[str] = "above 0"

    @property
    def is_steep(self) -> bool:
        """Whether p is at least 1, where x^(1 - p) does not fall to 0 towards the end."""
        return self.p >= 1.0

    def accepts(self, x: FloatArray) -> BoolArray:
        """Accept what is above 0."""
        return np.asarray(x > 0.0)

    def forward(self, x: FloatArray) -> FloatArray:
        """Return (x^p - 1) / p."""
        return np.asarray(boxcox(x, self.p))

    def inverse(self, z: FloatArray) -> FloatArray:
        """Return (1 + p z)^(1 / p), 0 below the range."""
        with np.errstate(over="ignore"):
            end = -1.0 / self.p if self.p else -np.inf
            return np.asarray(inv_boxcox(np.maximum(z, end), self.p))

    def slope(self, x: FloatArray) -> FloatArray:
        """Return x^(p - 1)."""
        return np.asarray(np.power(x, self.p - 1.0))

    def inverse_slope(self, z: FloatArray) -> FloatArray:
        """Return x^(1 - p); 0 from the end of the range on, where p > 1 has no bound."""
        return np.where(self.p * np.asarray(z) > -1.0, super().inverse_slope(z), 0.0)


@dataclass(frozen=True)
class YeoJohnson(_Power):
    """((1 + x)^p - 1) / p for x >= 0, else -((1 - x)^(2 - p) - 1) / (2 - p) (Yeo, Johnson, 2000).

    Parameters
    ----------
    power : float, optional
        p from 0 to 2; estimated by default, for a response.

    Examples
    --------
    >>> import numpy as np
    >>> from pengp.model import YeoJohnson
    >>> YeoJohnson(0.5).forward(np.array([-1.0, 0.0, 3.0])).round(4)
    array([-1.219,  0.   ,  2.   ])
    """

    name: ClassVar[str] = "yeojohnson"
    label: ClassVar[str] = "Yeo-Johnson"

    def forward(self, x: FloatArray) -> FloatArray:
        """Return Box and Cox's function of 1 + |x| for p, below 0 minus that for 2 - p."""
        size, p = np.abs(x), self.p
        return np.where(x >= 0.0, boxcox1p(size, p), -boxcox1p(size, 2.0 - p))

    def inverse(self, z: FloatArray) -> FloatArray:
        """Return x."""
        size, p = np.abs(z), self.p
        with np.errstate(over="ignore"):
            return np.where(z >= 0.0, inv_boxcox1p(size, p), -inv_boxcox1p(size, 2.0 - p))

    def slope(self, x: FloatArray) -> FloatArray:
        """Return (1 + |x|) to the power p - 1 above 0 and 1 - p below."""
        exponent = np.where(x >= 0.0, self.p - 1.0, 1.0 - self.p)
        return np.asarray(np.power(1.0 + np.abs(x), exponent))


@dataclass(frozen=True)
class Wrapped(Transform):
    """A scikit-learn transformer of one column; its slope is a difference quotient.

    Some have no inverse from some z on, such as PowerTransformer, whose power has no bounds. Beyond
    it the inverse is the end of the domain. Where x has none, so that laws that overstep z would
    have no mean and infinite quantiles, it is held at nine tenths of the way there from the
    runs, or ten ranges of the runs beyond them if that is nearer.

    Parameters
    ----------
    transformer : object
        With fit, transform and inverse_transform, of arrays [n, 1].
    least : float
        Smallest size of a value other than 0, which says how small the unit is.
    first, last : float
        Values z beyond which the inverse is held.
    """

    transformer: Any
    least: float = 1.0
    first: float = -np.inf
    last: float = np.inf
    name: ClassVar[str] = "transformer"
    label: ClassVar[str] = "scikit-learn transformer"
    where: ClassVar[str] = "where the transformer gives a finite number"

    @property
    def is_steep(self) -> bool:
        """Whether the inverse is held from some z on, where dx/dz jumps to 0."""
        return self.first > -np.inf or self.last < np.inf

    def forward(self, x: FloatArray) -> FloatArray:
        """Return what transform makes of x; not a number where it refuses."""
        try:
            return self._apply(self.transformer.transform, x)
        except ValueError:  # for the whole column, of which one value is outside
            if np.size(x) < 2:
                return np.full(np.shape(x), np.nan)
            each = [self.forward(one) for one in np.reshape(x, (-1, 1))]
            return np.reshape(each, np.shape(x))

    def inverse(self, z: FloatArray) -> FloatArray:
        """Return what inverse_transform makes of z, or of where it is held."""
        return self._apply(self.transformer.inverse_transform, np.clip(z, self.first, self.last))

    def inverse_slope(self, z: FloatArray) -> FloatArray:
        """Return dx/dz, 0 where the inverse is held."""
        inside = (self.first < np.asarray(z)) & (np.asarray(z) < self.last)
        return np.where(inside, super().inverse_slope(z), 0.0)

    def slope(self, x: FloatArray) -> FloatArray:
        """Return a central difference quotient of transform."""
        step = np.cbrt(np.finfo(np.float64).eps) * np.maximum(np.abs(x), self.least)
        return (self.forward(x + step) - self.forward(x - step)) / (2.0 * step)

    def fitted(self, x: FloatArray) -> Transform:
        """Return a fitted copy, which has to increase over the column x [n]."""
        least = float(np.abs(x[x != 0.0]).min(initial=np.inf))
        fitted = copy.deepcopy(self.transformer).fit(np.reshape(x, (-1, 1)))
        own = Wrapped(fitted, least if least < np.inf else 1.0)
        if not (np.diff(own.forward(np.unique(x))) > 0.0).all():
            kind = type(self.transformer).__name__
            raise InputError(
                f"the transformer {kind} does not increase over the runs; use another."
            )
        return own._with_ends(x)

    def _with_ends(self, x: FloatArray) -> "Wrapped":
        """Return the transformer with its inverse held where it ends near the runs x [n]."""
        z = self.forward(x)
        away, room = _REACH * z.std(), _RANGES * np.ptp(x)
        first = self._end(z.min(), -away, x.min() - room)
        return replace(self, first=first, last=self._end(z.max(), away, x.max() + room))

    def _end(self, start: float, away: float, furthest: float) -> float:
        """Return from which z on the inverse is held, from start on; infinite for nowhere."""
        sign = float(np.copysign(1.0, away))

        def at(share: float) -> FloatArray:
            return self.inverse(np.array([start + share * away]))

        def exists(share: float) -> bool:
            return bool(np.isfinite(self.slope(at(share))).all())

        def is_near(share: float) -> bool:
            return bool((sign * (at(share) - furthest) <= 0.0).all())

        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            if not np.isnan(at(1.0)).any():
                return sign * np.inf
            end = _last(exists, 1.0)
            if not is_near(end):
                end = _last(is_near, _SHARE * end)
        return start + end * away

    def of(self, name: str) -> str:
        """Return the class of the transformer with the name."""
        return f"{type(self.transformer).__name__}({name})"

    @staticmethod
    def _apply(function: Any, x: FloatArray) -> FloatArray:
        """Apply a function of columns [n, 1] to x of any shape; it may refuse a column of none."""
        if np.size(x) == 0:
            return np.asarray(x, dtype=np.float64)
        column = np.asarray(function(np.reshape(x, (-1, 1))), dtype=np.float64)
        return column.reshape(np.shape(x))


def _last(holds: Callable[[float], bool], end: float) -> float:
    """Return the last number from 0 to an end up to which something holds."""
    inside, outside = 0.0, end
    for _ in range(_HALVINGS):
        middle = 0.5 * (inside + outside)
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside


IDENTITY = Identity()
#: Transforms by name; ``TRANSFORMS.register`` adds to it.
TRANSFORMS: Registry[Transform] = Registry(
    "transform", IDENTITY, Log(), Log10(), Sqrt(), Logit(), BoxCox(), YeoJohnson()
)


def get_transform(transform: TransformLike) -> Transform:
    """Return a transform given by name, as a Transform or as a scikit-learn transformer.

    Examples
    --------
    >>> from pengp.model import get_transform
    >>> get_transform("log10").domain
    'above 0'
    """
    if transform is None:
        return IDENTITY
    if isinstance(transform, Transform):
        return transform
    if all(hasattr(transform, verb) for verb in ("fit", "transform", "inverse_transform")):
        return Wrapped(transform)
    return TRANSFORMS.look_up(
        transform, "a Transform, or a transformer with fit, transform and inverse_transform"
    )
