"""Laws of the inputs: uniform over the design region unless the user says otherwise.

A law is written as ``normal:50,10`` or given as a frozen law of scipy.stats. In the unit cube it is
a `Line`, with the nodes of a Gauss rule over it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from pengp._core.arrays import FloatArray
from pengp._core.checks import warn
from pengp.decisions.processes import Processes
from pengp.exceptions import InputError
from pengp.model.elementary import Identity
from pengp.model.scaling import InputScaler

_TAIL = 1e-15
"""Probability beyond either end of the nodes."""

_LEVELS = (1e-12, 1e-9, 1e-7, 1e-5, 1e-4, 1e-3, 0.01, 0.03)
"""Levels near either end between whose quantiles a Gauss rule is used."""

_OUTSIDE = 0.02
"""Share of a law outside the design region that is told."""

_STEEP = 80
"""Further levels near an end at which the density has no bound."""

_PANELS = 12
"""Panels between the others."""

_GAUSS = np.polynomial.legendre.leggauss(8)
"""Nodes in a panel, on [-1, 1], and weights."""


class _Family(NamedTuple):
    """A law by name: what its numbers mean, and how to make it."""

    numbers: str
    size: int
    make: Callable[..., Any]
    sound: Callable[..., bool]


_FAMILIES = {
    "uniform": _Family(
        "lower,upper", 2, lambda a, b: stats.uniform(a, b - a), lambda a, b: bool(a < b)
    ),
    "normal": _Family("mean,standard deviation", 2, stats.norm, lambda m, s: bool(s > 0.0)),
    "lognormal": _Family(
        "mean and standard deviation of the logarithm",
        2,
        lambda m, s: stats.lognorm(s, scale=np.exp(m)),
        lambda m, s: bool(s > 0.0),
    ),
    "triangular": _Family(
        "lower,mode,upper",
        3,
        lambda a, c, b: stats.triang((c - a) / (b - a), a, b - a),
        lambda a, c, b: bool(a <= c <= b and a < b),
    ),
    "beta": _Family(
        "a,b,lower,upper",
        4,
        lambda a, b, low, high: stats.beta(a, b, low, high - low),
        lambda a, b, low, high: bool(a > 0.0 and b > 0.0 and low < high),
    ),
}


@dataclass(frozen=True, eq=False)
class Law:
    """The law of one input, in the user's units.

    Attributes
    ----------
    text : str
        How it is written.
    dist : frozen law of scipy.stats
        The law.
    """

    text: str
    dist: Any

    @property
    def family(self) -> str:
        """Name of the family in scipy.stats."""
        return str(self.dist.dist.name)


def parse_law(text: str) -> Law:
    """Return the law that is written as ``family:numbers``, such as ``normal:50,10``."""
    name, _, rest = text.strip().partition(":")
    usage = "; ".join(f"{key}:{family.numbers}" for key, family in _FAMILIES.items())
    if name not in _FAMILIES:
        raise InputError(f"the law {text!r} is unknown; there are {usage}.")
    family = _FAMILIES[name]
    try:
        numbers = [float(part) for part in rest.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != family.size or not np.isfinite(numbers).all():
        raise InputError(f"the law {text!r} needs {family.size} numbers: {name}:{family.numbers}.")
    if not family.sound(*numbers):
        raise InputError(f"there is no law {text!r}; its numbers are {family.numbers}.")
    return Law(text.strip(), family.make(*numbers))


def as_law(law: Any) -> Law:
    """Return a law that is given as text, as a frozen law of scipy.stats or as a `Law`."""
    if isinstance(law, Law):
        return law
    if isinstance(law, str):
        return parse_law(law)
    if not isinstance(getattr(law, "dist", None), stats.rv_continuous):
        raise InputError(
            f"a law must be text such as 'normal:50,10' or a frozen continuous law of scipy.stats, "
            f"not a {type(law).__name__}."
        )
    numbers = [f"{value:g}" for value in (*law.args, *law.kwds.values())]
    return Law(f"{law.dist.name}:{','.join(numbers)}", law)


def laws_of(processes: Processes, laws: Mapping[str, Any] | None = None) -> tuple[Law, ...]:
    """Return the law of each of the d inputs; uniform over the design region where none is given.

    Parameters
    ----------
    processes : Processes
        Of the model.
    laws : mapping from names of inputs to laws, optional
        Text such as ``"normal:50,10"``, or frozen laws of scipy.stats.
    """
    given = dict(laws or {})
    unknown = [name for name in given if name not in processes.names]
    if unknown:
        names = ", ".join(processes.names)
        raise InputError(f"no input {unknown[0]!r} to have a law; there are {names}.")
    found = []
    for name, low, high in zip(processes.names, processes.lower, processes.upper, strict=True):
        if name in given:
            found.append(as_law(given[name]))
        else:
            width = high - low if high > low else 1.0
            found.append(Law(f"uniform:{low:g},{high:g}", stats.uniform(low, width)))
    return tuple(found)


def tell_outside(processes: Processes, laws: Sequence[Law]) -> None:
    """Warn of inputs whose laws reach far beyond the design region, where nothing is known."""
    ends = zip(processes.names, laws, processes.lower, processes.upper, strict=True)
    for name, law, low, high in ends:
        share = float(law.dist.cdf(low) + law.dist.sf(high))
        if share > _OUTSIDE and low < high:
            warn(
                f"the law of {name} has {100.0 * share:.0f} % outside {low:g} to {high:g}, where "
                "the surrogate extrapolates; fit it with runs from there, and input_bounds."
            )


@dataclass(frozen=True, eq=False)
class Line:
    """The law of one input in the unit cube.

    Attributes
    ----------
    law : Law
        In the user's units.
    closed : tuple of (str, float, float) or None
        ("uniform", lower, upper) or ("normal", mean, variance), which have closed forms.
    edges : [e]
        Ascending points between which its density is smooth.
    scaler : InputScaler
        Of this input alone: to the unit cube and back.
    """

    law: Law
    closed: tuple[str, float, float] | None
    edges: FloatArray
    scaler: InputScaler

    def quadrature(self, kinks: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return nodes and weights of a Gauss rule that is split at kinks [c] as well."""
        first, last = self.edges[0], self.edges[-1]
        inside = kinks[(kinks > first) & (kinks < last)]
        ends = np.unique(np.concatenate([self.edges, inside]))
        half, middle = 0.5 * np.diff(ends), 0.5 * (ends[1:] + ends[:-1])
        nodes = (middle[:, None] + half[:, None] * _GAUSS[0]).ravel()
        x = self.scaler.inverse(nodes[:, None])
        density = self.law.dist.pdf(x[:, 0]) / self.scaler.slope(x)[:, 0]
        density[np.isinf(density)] = 0.0  # at an end that rounding has reached
        weights = (half[:, None] * _GAUSS[1]).ravel() * density
        return nodes, weights / weights.sum()

    def gauss(self, size: int) -> tuple[FloatArray, FloatArray]:
        """Return the nodes and weights [size] of the law's own Gauss rule (Stieltjes)."""
        nodes, weights = self.quadrature(np.empty(0))
        return _gauss_rule(nodes, weights, size)

    def draw(self, levels: FloatArray) -> FloatArray:
        """Return the quantiles at levels [m] between 0 and 1."""
        return self.scaler.transform(np.asarray(self.law.dist.ppf(levels))[:, None])[:, 0]


def lines_of(processes: Processes, laws: Sequence[Law]) -> list[Line]:
    """Return the laws of the d inputs in the unit cube."""
    found = []
    whole = processes.inputs
    for p, law in enumerate(laws):
        own = slice(p, p + 1)
        scaler = InputScaler(
            whole.lower[own], whole.upper[own], whole.constant[own], whole.transforms[own]
        )
        found.append(_line(law, scaler))
    return found


def _line(law: Law, scaler: InputScaler) -> Line:
    """Return a law for an input that is scaled to the unit cube like this."""
    levels = np.array([_TAIL, *_LEVELS])
    steep = law.dist.pdf(np.append(law.dist.ppf(levels[2::4]), law.dist.isf(levels[2::4])))
    if steep[0] > 2.0 * steep[1] or steep[2] > 2.0 * steep[3]:  # no bound at an end
        levels = np.append(levels, np.geomspace(_TAIL, 0.25, _STEEP))
    inner = np.linspace(_LEVELS[-1], 1.0 - _LEVELS[-1], _PANELS + 1)[1:-1]
    dist, closed = law.dist, None
    ends = np.concatenate([dist.ppf(levels), dist.ppf(inner), dist.isf(levels)])
    plain = not scaler.transforms or isinstance(scaler.transforms[0], Identity)
    if law.family == "uniform":
        low, high = dist.support()
        ends = np.linspace(low, high, _PANELS + 3)
    elif law.family == "triang":
        low, high = dist.support()
        mode = low + (high - low) * (dist.args[0] if dist.args else dist.kwds["c"])
        ends = np.append(np.linspace(low, high, _PANELS + 3), mode)
    if not np.isfinite(ends).all():
        raise InputError(f"the law {law.text} has no finite quantiles.")
    if not plain and not scaler.transforms[0].accepts(ends).all():
        raise InputError(
            f"the law {law.text} reaches values that the input's transform "
            f"{scaler.transforms[0].name} does not take; give a law inside its domain."
        )
    edges = np.unique(scaler.transform(ends[:, None])[:, 0])
    if plain and law.family == "uniform":
        closed = ("uniform", float(edges[0]), float(edges[-1]))
    elif plain and law.family == "norm":
        centre, width = float(scaler.transform([[dist.mean()]])[0, 0]), float(scaler.width[0])
        closed = ("normal", centre, float(dist.std() / width) ** 2)
    return Line(law, closed, edges, scaler)


def _gauss_rule(nodes: FloatArray, weights: FloatArray, size: int) -> tuple[FloatArray, FloatArray]:
    """Return the Gauss rule of a discrete law, from its three-term recurrence (Golub, Welsch)."""
    a, b = np.zeros(size), np.zeros(size)
    before, now = np.zeros_like(nodes), np.ones_like(nodes)
    for j in range(size):
        a[j] = (weights * nodes * now * now).sum()
        after = (nodes - a[j]) * now - (b[j - 1] * before if j else 0.0)
        b[j] = np.sqrt((weights * after * after).sum())
        before, now = now, after / b[j]
    values, vectors = np.linalg.eigh(np.diag(a) + np.diag(b[:-1], 1) + np.diag(b[:-1], -1))
    return values, vectors[0] ** 2
