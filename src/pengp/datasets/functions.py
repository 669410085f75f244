"""Test functions of the surrogate-modelling literature: facts, and one formula each.

Every entry of `FUNCTIONS` carries its domain, the names of its inputs, where it was published and
values known independently of the code. Two formulas differ from the source paper's appendix, where
the square root of the piston simulation and the bracket of the borehole function are misplaced.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from pengp._core.arrays import FloatArray
from pengp._core.shown import Shown
from pengp.exceptions import InputError

Columns: TypeAlias = Sequence[FloatArray]
Formula: TypeAlias = Callable[[Columns], FloatArray]
KnownValue: TypeAlias = tuple[tuple[float, ...], float]


@dataclass(frozen=True, eq=False, repr=False)
class TestFunction(Shown):
    """A deterministic function of d inputs on a box, callable on raw inputs.

    Attributes
    ----------
    name : str
        Key in `FUNCTIONS`.
    formula : callable
        The d raw input columns, [m] each, to values [m]; the object itself takes X [m, d].
    bounds : ndarray [d, 2]
        Lower and upper end of every input, read-only.
    input_names : tuple of str
        One name an input, in column order.
    reference : str
        Where the function was published.
    known_values : tuple of (x, value)
        Published optima or hand-calculated values, to the digits given.

    See Also
    --------
    pengp.get_function : Returns one by name.

    Examples
    --------
    >>> from pengp.datasets import FUNCTIONS
    >>> sorted(FUNCTIONS)[:4]
    ['borehole', 'branin', 'forrester', 'franke']
    >>> FUNCTIONS["branin"].bounds.tolist(), FUNCTIONS["branin"].input_names
    ([[-5.0, 10.0], [0.0, 15.0]], ('x1', 'x2'))
    """

    __test__: ClassVar[bool] = False  # keeps pytest from collecting the class

    name: str
    formula: Formula
    bounds: FloatArray
    input_names: tuple[str, ...]
    reference: str
    known_values: tuple[KnownValue, ...]

    @property
    def dimension(self) -> int:
        """Number of inputs d."""
        return len(self.bounds)

    def _in_short(self) -> str:
        ends = zip(self.input_names, self.bounds, strict=True)
        box = ", ".join(f"{name} {low:g} to {high:g}" for name, (low, high) in ends)
        return f"{self.name}, {box}"

    def __call__(self, X: ArrayLike) -> FloatArray:
        """Evaluate on raw inputs X [m, d]; returns [m]. The domain is not enforced."""
        return self.formula(list(self._checked(X).T))

    def unit(self, U: ArrayLike) -> FloatArray:
        """Evaluate on inputs U [m, d] of the unit cube, scaled to `bounds`; returns [m]."""
        points = self._checked(U)
        if np.any((points < -1e-9) | (points > 1 + 1e-9)):
            raise InputError(f"{self.name}.unit takes [0, 1]; call {self.name} on raw inputs")
        low, high = self.bounds.T
        return self.formula(list((low + points * (high - low)).T))

    def _checked(self, X: ArrayLike) -> FloatArray:
        """Return X as finite floats [m, d]."""
        points = np.asarray(X, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != self.dimension:
            raise InputError(
                f"{self.name} takes an array of shape [m, {self.dimension}], got {points.shape}"
            )
        if not np.all(np.isfinite(points)):
            raise InputError(f"{self.name} takes finite inputs, got NaN or infinity")
        return points


_REGISTRY: dict[str, TestFunction] = {}
_BOOK = "Forrester, Sobester and Keane (2008), Engineering Design via Surrogate Modelling, Wiley."


def _register(
    box: Sequence[Sequence[float]], reference: str, *known: KnownValue, names: str = ""
) -> Callable[[Formula], Formula]:
    """Return a decorator that files a formula with its facts; `box` is lower ends, upper ends."""
    bounds = np.array(box, dtype=np.float64).T
    bounds.flags.writeable = False
    inputs = tuple(names.split()) if names else tuple(f"x{p + 1}" for p in range(len(bounds)))

    def file(formula: Formula) -> Formula:
        name = formula.__name__.removeprefix("_")
        _REGISTRY[name] = TestFunction(name, formula, bounds, inputs, reference, known)
        return formula

    return file


@_register(
    [[0], [1.25]],  # the source paper's domain; the book's is [0, 1]
    _BOOK,
    ((0.757249,), -6.020740),
    ((0.5,), 0.9092974268),  # sin(2)
)
def _forrester(x: Columns) -> FloatArray:
    """(6 x - 2)^2 sin(12 x - 4)."""
    return (6 * x[0] - 2) ** 2 * np.sin(12 * x[0] - 4)


@_register(
    [[0] * 2, [1] * 2],
    "Lim, Sacks, Studden and Welch (2002), Canadian Journal of Statistics 30, 109-126.",
    ((0.0, 0.0), 8.333333333),  # (30 * 5 - 100) / 6
)
def _lim(x: Columns) -> FloatArray:
    """[(30 + 5 x1 sin(5 x1)) (4 + exp(-5 x2)) - 100] / 6."""
    x1, x2 = x
    y: FloatArray = ((30 + 5 * x1 * np.sin(5 * x1)) * (4 + np.exp(-5 * x2)) - 100) / 6
    return y


@_register(
    [[0] * 2, [1] * 2],
    "Franke (1979), Naval Postgraduate School technical report NPS-53-79-003.",
    ((0.0, 0.0), 0.7664205913),
)
def _franke(x: Columns) -> FloatArray:
    """Two Gaussian peaks, a dip and a slope, in a = 9 x1 and b = 9 x2."""
    a, b = 9 * x[0], 9 * x[1]
    return (
        0.75 * np.exp(-((a - 2) ** 2) / 4 - (b - 2) ** 2 / 4)
        + 0.75 * np.exp(-((a + 1) ** 2) / 49 - (b + 1) / 10)
        + 0.5 * np.exp(-((a - 7) ** 2) / 4 - (b - 3) ** 2 / 4)
        - 0.2 * np.exp(-((a - 4) ** 2) - (b - 7) ** 2)
    )


@_register(
    [[30, 0.005, 0.002, 1000, 90000, 290, 340], [60, 0.020, 0.010, 5000, 110000, 296, 360]],
    "Kenett and Zacks (1998); Ben-Ari and Steinberg (2007), Quality Engineering 19, 327-338.",
    ((45.0, 0.01, 0.005, 2000.0, 1e5, 293.0, 350.0), 0.5011343720),
    names="M S V0 k P0 Ta T0",
)
def _piston(x: Columns) -> FloatArray:
    """Cycle time 2 pi sqrt(M / (k + S^2 (P0 V0 / T0) (Ta / V^2))) in seconds.

    V = S/(2k) (sqrt(A^2 + 4 k (P0 V0 / T0) Ta) - A) and A = P0 S + 19.62 M - k V0 / S.
    """
    M, S, V0, k, P0, Ta, T0 = x
    gas = P0 * V0 / T0 * Ta
    A = P0 * S + 19.62 * M - k * V0 / S
    V = S / (2 * k) * (np.sqrt(A**2 + 4 * k * gas) - A)
    return 2 * np.pi * np.sqrt(M / (k + S**2 * gas / V**2))


@_register(
    [
        [0.05, 100, 63070, 990, 63.1, 700, 1120, 9855],
        [0.15, 5e4, 115600, 1110, 116, 820, 1680, 12045],
    ],
    "Harper and Gupta (1983); Morris, Mitchell and Ylvisaker (1993), Technometrics 35, 243-255.",
    ((0.1, 1000.0, 80000.0, 1050.0, 100.0, 750.0, 1400.0, 11000.0), 73.7845150593),
    names="rw r Tu Hu Tl Hl L Kw",
)
def _borehole(x: Columns) -> FloatArray:
    """Flow 2 pi Tu (Hu - Hl) / (ln(r/rw) [1 + 2 L Tu / (ln(r/rw) rw^2 Kw) + Tu/Tl]) in m^3/yr."""
    rw, r, Tu, Hu, Tl, Hl, L, Kw = x
    log_ratio = np.log(r / rw)
    bracket = 1 + 2 * L * Tu / (log_ratio * rw**2 * Kw) + Tu / Tl
    return 2 * np.pi * Tu * (Hu - Hl) / (log_ratio * bracket)


@_register(
    [[-5, 0], [10, 15]],
    "Branin (1972), IBM Journal of Research and Development 16, 504-522.",
    ((-np.pi, 12.275), 0.397887),
    ((np.pi, 2.275), 0.397887),
    ((9.42478, 2.475), 0.397887),
)
def _branin(x: Columns) -> FloatArray:
    """(x2 - 5.1 x1^2 / (4 pi^2) + 5 x1 / pi - 6)^2 + 10 (1 - 1/(8 pi)) cos(x1) + 10."""
    x1, x2 = x
    valley = x2 - 5.1 / (4 * np.pi**2) * x1**2 + 5 / np.pi * x1 - 6
    return valley**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x1) + 10


@_register(
    [[50, 25, 0.5, 1.2, 0.25, 50], [150, 70, 3, 2.5, 1.2, 300]],
    "Ben-Ari and Steinberg (2007), Quality Engineering 19, 327-338.",
    ((100.0, 50.0, 2.0, 2.0, 1.0, 100.0), 5.4917165669),
    names="Rb1 Rb2 Rf Rc1 Rc2 beta",
)
def _otl_circuit(x: Columns) -> FloatArray:
    """Midpoint voltage ((Vb1 + 0.74) B + 11.35 Rf + 0.74 Rf B / Rc1) / (B + Rf) in volts.

    B = beta (Rc2 + 9) and Vb1 = 12 Rb2 / (Rb1 + Rb2).
    """
    Rb1, Rb2, Rf, Rc1, Rc2, beta = x
    Vb1 = 12 * Rb2 / (Rb1 + Rb2)
    B = beta * (Rc2 + 9)
    return ((Vb1 + 0.74) * B + 11.35 * Rf + 0.74 * Rf * B / Rc1) / (B + Rf)


@_register(
    [
        [150, 220, 6, -10, 16, 0.5, 0.08, 2.5, 1700, 0.025],
        [200, 300, 10, 10, 45, 1, 0.18, 6, 2500, 0.08],
    ],
    _BOOK,
    ((175.0, 250.0, 8.0, 10.0, 30.0, 0.75, 0.1, 4.0, 2000.0, 0.05), 277.3679822375),
    names="Sw Wfw A sweep q taper tc Nz Wdg Wp",
)
def _wing_weight(x: Columns) -> FloatArray:
    """Weight of a light aircraft's wing in pounds; c is the cosine of the sweep (degrees).

    0.036 Sw^0.758 Wfw^0.0035 (A/c^2)^0.6 q^0.006 taper^0.04 (100 tc/c)^-0.3 (Nz Wdg)^0.49 + Sw Wp.
    """
    Sw, Wfw, A, sweep, q, taper, tc, Nz, Wdg, Wp = x
    c: FloatArray = np.cos(np.deg2rad(sweep))
    planform = Sw**0.758 * Wfw**0.0035 * (A / c**2) ** 0.6 * q**0.006 * taper**0.04
    y: FloatArray = 0.036 * planform * (100 * tc / c) ** -0.3 * (Nz * Wdg) ** 0.49 + Sw * Wp
    return y


@_register(
    [[-np.pi] * 3, [np.pi] * 3],
    "Ishigami and Homma (1990), Proceedings of ISUMA '90, IEEE, 398-403.",
    ((np.pi / 2, np.pi / 2, np.pi), 17.740909103),  # maximum 8 + pi^4 / 10
    ((-np.pi / 2, 0.0, np.pi), -10.740909103),  # minimum -1 - pi^4 / 10
)
def _ishigami(x: Columns) -> FloatArray:
    """(1 + 0.1 x3^4) sin(x1) + 7 sin(x2)^2."""
    x1, x2, x3 = x
    y: FloatArray = (1 + 0.1 * x3**4) * np.sin(x1) + 7 * np.sin(x2) ** 2
    return y


@_register(
    [[0] * 5, [1] * 5],
    "Friedman (1991), Annals of Statistics 19, 1-67.",
    ((0.5, 1.0, 0.0, 1.0, 1.0), 30.0),  # its maximum, 10 + 5 + 10 + 5
)
def _friedman(x: Columns) -> FloatArray:
    """10 sin(pi x1 x2) + 20 (x3 - 0.5)^2 + 10 x4 + 5 x5."""
    x1, x2, x3, x4, x5 = x
    return 10 * np.sin(np.pi * x1 * x2) + 20 * (x3 - 0.5) ** 2 + 10 * x4 + 5 * x5


_HARTMANN_ALPHA = np.array([1.0, 1.2, 3.0, 3.2])
_HARTMANN_A = np.array([[3.0, 10, 30], [0.1, 10, 35], [3.0, 10, 30], [0.1, 10, 35]])
_HARTMANN_P = 1e-4 * np.array(
    [[3689.0, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]]
)


@_register(
    [[0] * 3, [1] * 3],
    "Dixon and Szego (1978), Towards Global Optimisation 2, North-Holland, 1-15.",
    ((0.114614, 0.555649, 0.852547), -3.86278),
)
def _hartmann3(x: Columns) -> FloatArray:
    """- sum_i alpha_i exp(- sum_p A_ip (x_p - P_ip)^2)."""
    squared = (np.stack(x, axis=1)[:, None, :] - _HARTMANN_P) ** 2  # [m, 4, 3]
    bumps = np.exp(-np.sum(_HARTMANN_A * squared, axis=2))
    y: FloatArray = -np.sum(_HARTMANN_ALPHA * bumps, axis=1)
    return y


@_register(
    [[-2, -2], [6, 6]],
    "Gramacy and Lee (2009), Technometrics 51, 130-145.",
    ((-0.7071067812, 0.0), -0.4288819425),  # minimum, -exp(-1/2) / sqrt(2)
)
def _gramacy_lee(x: Columns) -> FloatArray:
    """x1 exp(-x1^2 - x2^2)."""
    x1, x2 = x
    return x1 * np.exp(-(x1**2) - x2**2)


#: Every test function by its name.
FUNCTIONS: Mapping[str, TestFunction] = MappingProxyType(_REGISTRY)


def get_function(name: str) -> TestFunction:
    """Return the test function called `name`.

    Raises
    ------
    InputError
        If there is none; the message suggests the closest name.

    Examples
    --------
    >>> import numpy as np
    >>> from pengp import get_function, latin_hypercube, scale_design
    >>> branin = get_function("branin")
    >>> X = scale_design(latin_hypercube(8, 2, random_state=0), branin.bounds)
    >>> branin(X).shape, branin([[np.pi, 2.275]]).round(4)  # a minimum
    ((8,), array([0.3979]))
    """
    if str(name) in FUNCTIONS:
        return FUNCTIONS[str(name)]
    close = get_close_matches(str(name).lower(), FUNCTIONS, n=1, cutoff=0.0)
    raise InputError(f"no test function {name!r}; did you mean {close[0]!r}? {list(FUNCTIONS)}")
