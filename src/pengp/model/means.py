"""Prior means: k basis functions f of the inputs, whose coefficients beta the runs determine.

The prior mean is f(x)' beta, x in the unit cube. Without a prior on them the coefficients are
estimated by generalised least squares (`pengp.model.trend`), and their uncertainty is part of every
predictive variance (universal kriging). A proper prior, beta ~ Normal(0, variance sigma2 I), makes
the trend a part of the process, whose correlations become R + variance F F'.

A new mean is one class with a basis, added to ``MEANS``.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from pengp._core.arrays import NO_NUMBERS, FloatArray
from pengp._core.registry import Registry, name_of
from pengp.exceptions import InputError

#: Returns the basis functions [m, k], or their derivatives [m, k, d], at inputs [m, d].
BasisFunction: TypeAlias = Callable[[FloatArray], Any]

_STEP = 6e-6
"""Step of central differences in the unit cube: about the cube root of the machine precision."""


@dataclass(frozen=True)
class Mean:
    """A prior mean; a class of your own gives `basis` and, if it can, `gradient`.

    Attributes
    ----------
    variance : float, optional
        Prior variance of each coefficient, divided by sigma2; None for no prior, that is,
        generalised least squares.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from typing import ClassVar
    >>> import numpy as np
    >>> from pengp.model import Mean
    >>> @dataclass(frozen=True)
    ... class FirstInput(Mean):
    ...     name: ClassVar[str] = "first"
    ...     label: ClassVar[str] = "linear in the first input"
    ...     def basis(self, X):
    ...         return np.column_stack([np.ones(len(X)), X[:, 0]])
    >>> FirstInput().gradient(np.array([[0.5, 0.5]])).round(6)
    array([[[0., 0.],
            [1., 0.]]])
    """

    name: ClassVar[str]
    label: ClassVar[str]

    variance: float | None = None

    def __post_init__(self) -> None:
        if self.variance is not None and not 0.0 < self.variance < np.inf:
            raise InputError(
                "the prior variance of a mean's coefficients must be above 0, or None for no "
                f"prior, not {self.variance!r}."
            )

    def basis(self, X: FloatArray) -> Any:
        """Return the basis functions [m, k] at inputs X [m, d] in the unit cube, row by row."""
        raise NotImplementedError

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the derivatives [m, k, d] of the basis functions at X [m, d].

        Unless a class says otherwise these are central differences, good to about 1e-10.
        """
        steps = _STEP * np.eye(X.shape[1])
        pairs = [self.columns(X + h) - self.columns(X - h) for h in steps]
        return np.stack(pairs, axis=-1) / (2.0 * _STEP)

    def columns(self, X: FloatArray) -> FloatArray:
        """Return the basis functions [..., k] at X [..., d], checked."""
        rows = X.reshape(-1, X.shape[-1])
        F = self._checked(self.basis(rows), len(rows))
        return F.reshape(*X.shape[:-1], F.shape[1])

    def _checked(self, values: Any, m: int) -> FloatArray:
        """Return the values of the basis at m inputs, or say why they are none."""
        try:
            F = np.asarray(values, dtype=np.float64)
        except NO_NUMBERS:
            F = np.full(m, np.nan)
        if F.ndim != 2 or len(F) != m:
            raise InputError(
                f"the basis of mean={self.name!r} must return numbers of shape [{m}, k] for "
                f"{m} inputs, not {F.shape}."
            )
        if not np.isfinite(F).all():
            j = int(np.flatnonzero(~np.isfinite(F).all(0))[0])
            raise InputError(
                f"function {j} of the basis of mean={self.name!r} is not finite everywhere; the "
                "basis gets inputs in the unit cube."
            )
        return F


@dataclass(frozen=True)
class ZeroMean(Mean):
    """0 everywhere, the paper's mean: k = 0.

    Examples
    --------
    >>> import numpy as np
    >>> from pengp.model import ZeroMean
    >>> ZeroMean().basis(np.zeros((3, 2))).shape
    (3, 0)
    """

    name: ClassVar[str] = "zero"
    label: ClassVar[str] = "zero"

    def basis(self, X: FloatArray) -> FloatArray:
        """Return nothing, [m, 0]."""
        return np.empty((len(X), 0))

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return nothing, [m, 0, d]."""
        return np.empty((len(X), 0, X.shape[1]))


@dataclass(frozen=True)
class ConstantMean(Mean):
    """One level for all inputs: k = 1.

    Examples
    --------
    >>> from pengp import PenalizedGPRegressor, load_piston_slap
    >>> runs = load_piston_slap()
    >>> model = PenalizedGPRegressor(0.01, mean="constant", random_state=0).fit(runs.X, runs.y)
    >>> model.trend_.round(1)  # beside the average response, in dB
    array([-0.5])
    """

    name: ClassVar[str] = "constant"
    label: ClassVar[str] = "constant"

    def basis(self, X: FloatArray) -> FloatArray:
        """Return 1 [m, 1]."""
        return np.ones((len(X), 1))

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return 0 [m, 1, d]."""
        return np.zeros((len(X), 1, X.shape[1]))


@dataclass(frozen=True)
class LinearMean(Mean):
    """A level and a slope in each input: k = d + 1.

    Examples
    --------
    >>> import numpy as np
    >>> from pengp.model import LinearMean
    >>> LinearMean().basis(np.array([[0.2, 0.7], [0.4, 0.1]]))
    array([[1. , 0.2, 0.7],
           [1. , 0.4, 0.1]])
    """

    name: ClassVar[str] = "linear"
    label: ClassVar[str] = "linear"

    def basis(self, X: FloatArray) -> FloatArray:
        """Return 1 and the inputs [m, 1 + d]."""
        return np.column_stack([np.ones(len(X)), X])

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the identity below a row of 0 [m, 1 + d, d]."""
        d = X.shape[1]
        return np.broadcast_to(np.eye(d + 1, d, -1), (len(X), d + 1, d))


@dataclass(frozen=True)
class BasisMean(Mean):
    """The mean of a caller's basis functions.

    Attributes
    ----------
    function : callable
        Maps inputs [m, d] in the unit cube to the basis functions [m, k], row by row.
    derivatives : callable, optional
        Maps inputs [m, d] to the derivatives [m, k, d]; central differences without it.

    Examples
    --------
    >>> import numpy as np
    >>> from pengp.model import BasisMean
    >>> def square(X):
    ...     return X[:, :1] ** 2
    >>> BasisMean(function=square).gradient(np.array([[0.5, 0.1]])).round(6)
    array([[[1., 0.]]])
    """

    function: BasisFunction = field(kw_only=True)
    derivatives: BasisFunction | None = field(default=None, kw_only=True)

    @property
    def name(self) -> str:  # type: ignore[override]  # the others have one name for all
        """What the function is called."""
        return name_of(self.function)

    @property
    def label(self) -> str:  # type: ignore[override]  # likewise
        """What the function is called."""
        return self.name

    def basis(self, X: FloatArray) -> Any:
        """Return the function's values [m, k]."""
        return self.function(X)

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the derivatives [m, k, d]."""
        if self.derivatives is None:
            return super().gradient(X)
        return np.asarray(self.derivatives(X), dtype=np.float64)


ZERO = ZeroMean()
#: Means by name; ``MEANS.register`` adds to it.
MEANS: Registry[Mean] = Registry("mean", ZERO, ConstantMean(), LinearMean())

#: The names of `MEANS`, for type checkers; a mean of your own is passed itself.
MeanName: TypeAlias = Literal["zero", "constant", "linear"]

#: What stands for a mean in the arguments of a function.
MeanLike: TypeAlias = MeanName | Mean | BasisFunction


def get_mean(mean: str | Mean | BasisFunction) -> Mean:
    """Return the mean of that name, the mean with that basis function, or the record itself.

    Examples
    --------
    >>> from pengp.model import get_mean
    >>> get_mean("linear").label
    'linear'
    >>> def square(X):
    ...     return X[:, :1] ** 2
    >>> get_mean(square).name
    'square'
    """
    if isinstance(mean, Mean):
        return mean
    if callable(mean):
        return BasisMean(function=mean)
    return MEANS.look_up(mean, "a basis function that maps inputs [n, d] to columns [n, k]")
