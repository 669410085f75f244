"""What a transform of a column is, and those that learn nothing: logarithms, root, logit."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit

from pengp._core.arrays import BoolArray, FloatArray
from pengp._core.checks import is_real
from pengp.exceptions import InputError


class Transform:
    """An increasing function of a column, elementwise for arrays of any shape.

    A subclass is a frozen dataclass, whose fields are its settings. One that has steps, and is
    constant between them, is for inputs only.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from typing import ClassVar
    >>> import numpy as np
    >>> from pengp.model import Transform
    >>> @dataclass(frozen=True)
    ... class Cube(Transform):
    ...     name: ClassVar[str] = "cube"
    ...     label: ClassVar[str] = "third power"
    ...     def forward(self, x):
    ...         return x**3
    ...     def inverse(self, z):
    ...         return np.cbrt(z)
    ...     def slope(self, x):
    ...         return 3 * x**2
    >>> Cube().inverse_slope(np.array([8.0])).round(4)
    array([0.0833])
    """

    name: ClassVar[str]
    label: ClassVar[str]
    is_logarithm: ClassVar[bool] = False
    has_steps: ClassVar[bool] = False
    where: ClassVar[str] = "anywhere"

    @property
    def is_steep(self) -> bool:
        """Whether dx/dz jumps or has no bound at an end of the range of t."""
        return False

    @property
    def domain(self) -> str:
        """Where x may lie, as in 'above 0'."""
        return self.where

    def accepts(self, x: FloatArray) -> BoolArray:
        """Tell where x lies in the domain: by default where z is finite."""
        with np.errstate(all="ignore"):
            return np.isfinite(self.forward(x))

    def forward(self, x: FloatArray) -> FloatArray:
        """Return z = t(x)."""
        raise NotImplementedError

    def inverse(self, z: FloatArray) -> FloatArray:
        """Return x; for z beyond the range of t the nearest end of the domain."""
        raise NotImplementedError

    def slope(self, x: FloatArray) -> FloatArray:
        """Return dz/dx, whose logarithm is that of the Jacobian."""
        raise NotImplementedError

    def candidates(self) -> tuple["Transform", ...]:
        """Return the transforms among which the likelihood is to choose; by default this one."""
        return (self,)

    def fitted(self, x: FloatArray) -> "Transform":
        """Return the transform with what it learns from a column x [n]; by default nothing."""
        return self

    def of(self, name: str) -> str:
        """Return what to call the transformed column, as in 'log10(x)'."""
        return f"{self.name}({name})"

    def spread(self, u: FloatArray, low: float, high: float) -> FloatArray:
        """Return x from low to high at u from 0 to 1, as even on this scale as u is."""
        first, last = self.forward(np.array([low, high]))
        return self.inverse(first + (last - first) * u)

    def inverse_slope(self, z: FloatArray) -> FloatArray:
        """Return dx/dz; 0 beyond the range of t."""
        with np.errstate(divide="ignore", over="ignore"):
            return np.asarray(1.0 / self.slope(self.inverse(z)))


@dataclass(frozen=True)
class Identity(Transform):
    """z = x."""

    name: ClassVar[str] = "none"
    label: ClassVar[str] = "as given"

    def forward(self, x: FloatArray) -> FloatArray:
        """Return x."""
        return x

    def inverse(self, z: FloatArray) -> FloatArray:
        """Return z."""
        return z

    def slope(self, x: FloatArray) -> FloatArray:
        """Return 1."""
        return np.ones(np.shape(x))

    def of(self, name: str) -> str:
        """Return the name."""
        return name


@dataclass(frozen=True)
class Log(Transform):
    """z = log x, or another base's: x = exp(rate z).

    Examples
    --------
    >>> import numpy as np
    >>> from pengp.model import Log
    >>> Log().forward(np.array([1.0, np.e])), Log().accepts(np.array([-1.0, 1.0]))
    (array([0., 1.]), array([False,  True]))
    """

    name: ClassVar[str] = "log"
    label: ClassVar[str] = "logarithm"
    is_logarithm: ClassVar[bool] = True
    where: ClassVar[str] = "above 0"
    rate: ClassVar[float] = 1.0

    def forward(self, x: FloatArray) -> FloatArray:
        """Return log x."""
        return np.asarray(np.log(x))

    def inverse(self, z: FloatArray) -> FloatArray:
        """Return exp z."""
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(z))

    def slope(self, x: FloatArray) -> FloatArray:
        """Return 1 / (rate x)."""
        return np.asarray(1.0 / (self.rate * np.asarray(x)))


@dataclass(frozen=True)
class Log10(Log):
    """z = log10 x.

    Examples
    --------
    >>> import numpy as np
    >>> from pengp.model import Log10
    >>> Log10().forward(np.array([1.0, 100.0])), Log10().of("pressure")
    (array([0., 2.]), 'log10(pressure)')
    """

    name: ClassVar[str] = "log10"
    label: ClassVar[str] = "logarithm to base 10"
    rate: ClassVar[float] = float(np.log(10.0))

    def forward(self, x: FloatArray) -> FloatArray:
        """Return log10 x."""
        return np.asarray(np.log10(x))

    def inverse(self, z: FloatArray) -> FloatArray:
        """Return 10^z."""
        with np.errstate(over="ignore"):
            return np.asarray(np.power(10.0, z))


@dataclass(frozen=True)
class Sqrt(Transform):
    """z = sqrt x.

    Examples
    --------
    >>> import numpy as np
    >>> from pengp.model import Sqrt
    >>> Sqrt().forward(np.array([0.0, 4.0])), Sqrt().inverse(np.array([3.0]))
    (array([0., 2.]), array([9.]))
    """

    name: ClassVar[str] = "sqrt"
    label: ClassVar[str] = "square root"
    where: ClassVar[str] = "at or above 0"

    def forward(self, x: FloatArray) -> FloatArray:
        """Return sqrt x."""
        return np.asarray(np.sqrt(x))

    def inverse(self, z: FloatArray) -> FloatArray:
        """Return z^2, 0 for a negative z."""
        return np.asarray(np.maximum(z, 0.0) ** 2)

    def slope(self, x: FloatArray) -> FloatArray:
        """Return 1 / (2 sqrt x)."""
        return np.asarray(0.5 / np.sqrt(x))


@dataclass(frozen=True)
class Logit(Transform):
    """z = log((x - low) / (high - x)) for low < x < high.

    Parameters
    ----------
    low, high : float
        The ends between which x lies.

    Examples
    --------
    >>> import numpy as np
    >>> from pengp.model import Logit
    >>> share = Logit(0, 100)
    >>> share.forward(np.array([50.0, 90.0])).round(4)
    array([0.    , 2.1972])
    >>> share.inverse(np.array([-1000.0, 0.0, 1000.0]))
    array([  0.,  50., 100.])
    """

    low: float = 0.0
    high: float = 1.0
    name: ClassVar[str] = "logit"
    label: ClassVar[str] = "logit between bounds"

    def __post_init__(self) -> None:
        if not (is_real(self.low) and is_real(self.high) and self.low < self.high):
            raise InputError(f"Logit({self.low!r}, {self.high!r}) needs two numbers, low < high.")

    @property
    def domain(self) -> str:
        """The open interval in words."""
        return f"between {self.low:g} and {self.high:g}"

    def forward(self, x: FloatArray) -> FloatArray:
        """Return log((x - low) / (high - x))."""
        return np.asarray(np.log(x - self.low) - np.log(self.high - x))

    def inverse(self, z: FloatArray) -> FloatArray:
        """Return low + (high - low) / (1 + exp(-z))."""
        return np.asarray(self.low + (self.high - self.low) * expit(z))

    def slope(self, x: FloatArray) -> FloatArray:
        """Return 1 / (x - low) + 1 / (high - x)."""
        return np.asarray(1.0 / (x - self.low) + 1.0 / (self.high - x))

    def of(self, name: str) -> str:
        """Return logit(name) with its ends."""
        return f"logit({name}; {self.low:g} to {self.high:g})"
