"""Laws of the inputs: uniform over the design region, or their logarithms, unless said otherwise.

A law is of numbers (`families`) or of finitely many values (`discrete`). In the unit cube it is a
`Line`, with the nodes of a Gauss rule over it or with all its values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats

from pengp._core.arrays import FloatArray
from pengp._core.checks import warn
from pengp.decisions.discrete import FiniteLaw, law_of_levels, law_of_whole_numbers
from pengp.decisions.families import Law, as_law
from pengp.decisions.processes import Processes
from pengp.exceptions import InputError
from pengp.model.elementary import Identity, Transform
from pengp.model.levels import Integer, Levels
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

_LOG_UNIFORM = stats.loguniform(1.0, 2.0).dist.name
"""Name of that family in scipy.stats, which depends on its version."""

_GAUSS = np.polynomial.legendre.leggauss(8)
"""Nodes in a panel, on [-1, 1], and weights."""


def laws_of(
    processes: Processes, laws: Mapping[str, Any] | None = None
) -> tuple[Law | FiniteLaw, ...]:
    """Return the law of each of the d inputs; uniform over the design region where none is given.

    Of an input that the model knows by its logarithm the logarithm is uniform.

    Parameters
    ----------
    processes : Processes
        Of the model.
    laws : mapping from names of inputs to laws, optional
        Text such as ``"normal:50,10"`` or ``"steel:0.7,brass:0.3"``, mappings from levels to
        weights, or frozen laws of scipy.stats.
    """
    if laws is not None and not isinstance(laws, Mapping):
        raise InputError(f"laws must be laws by names of inputs, not {laws!r}.")
    given = dict(laws or {})
    unknown = [name for name in given if name not in processes.names]
    if unknown:
        names = ", ".join(processes.names)
        raise InputError(f"no input {unknown[0]!r} to have a law; there are {names}.")
    about = zip(
        processes.names, processes.lower, processes.upper, processes.each_transform, strict=True
    )
    return tuple(
        _law(given.get(name), low, high, transform, name) for name, low, high, transform in about
    )


def _law(given: Any, low: float, high: float, transform: Transform, name: str) -> Law | FiniteLaw:
    """Return the law of one input, given or not."""
    if isinstance(transform, Levels):
        return law_of_levels(given, transform, name)
    if isinstance(transform, Integer):
        return law_of_whole_numbers(given, low, high, name)
    if given is not None:
        return as_law(given)
    if transform.is_logarithm and low < high:
        return Law(f"loguniform:{low:g},{high:g}", stats.loguniform(low, high))
    width = high - low if high > low else 1.0
    return Law(f"uniform:{low:g},{high:g}", stats.uniform(low, width))


def tell_outside(processes: Processes, laws: Sequence[Law | FiniteLaw]) -> None:
    """Warn of inputs whose laws reach far beyond the design region, where nothing is known."""
    ends = zip(processes.names, laws, processes.lower, processes.upper, strict=True)
    for name, law, low, high in ends:
        share = law.outside(low, high)
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
    law : Law or FiniteLaw
        In the user's units.
    closed : tuple of (str, float, float) or None
        ("uniform", lower, upper) or ("normal", mean, variance), which have closed forms.
    edges : [e]
        Ascending points between which its density is smooth; of finitely many values these.
    scaler : InputScaler
        Of this input alone: to the unit cube and back.
    has_levels : bool
        Whether values have no order, so that any two are equally far from each other.
    """

    law: Law | FiniteLaw
    closed: tuple[str, float, float] | None
    edges: FloatArray
    scaler: InputScaler
    has_levels: bool = False

    def squares(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return the squared differences [a, b] of values a and b, 0 or 1 between levels."""
        difference = a[:, None] - b
        return np.asarray(difference != 0.0, float) if self.has_levels else difference**2

    def quadrature(self, kinks: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return nodes and weights of a Gauss rule that is split at kinks [c] as well.

        Of finitely many values it returns these.
        """
        if isinstance(self.law, FiniteLaw):
            return self.edges, self.law.weights
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
        """Return the nodes and weights [size] of the law's own Gauss rule (Stieltjes).

        Of levels, and of fewer values than that, it returns all.
        """
        nodes, weights = self.quadrature(np.empty(0))
        if self.has_levels or len(nodes) <= size:
            return nodes, weights
        return _gauss_rule(nodes, weights, size)

    def draw(self, levels: FloatArray) -> FloatArray:
        """Return the quantiles at levels [m] between 0 and 1."""
        if isinstance(self.law, FiniteLaw):
            place = np.searchsorted(np.cumsum(self.law.weights), levels, side="right")
            return self.edges[np.minimum(place, len(self.edges) - 1)]
        return self.scaler.transform(np.asarray(self.law.dist.ppf(levels))[:, None])[:, 0]

    def grid(self, size: int) -> FloatArray:
        """Return points at which a curve is drawn: quantiles [size], or the values, if few."""
        if not isinstance(self.law, FiniteLaw):
            return self.draw(np.linspace(0.005, 0.995, size))
        if self.has_levels or len(self.edges) <= size:
            return self.edges
        return self.edges[np.linspace(0, len(self.edges) - 1, size).round().astype(np.int64)]


def lines_of(processes: Processes, laws: Sequence[Law | FiniteLaw]) -> list[Line]:
    """Return the laws of the d inputs in the unit cube."""
    found = []
    whole = processes.inputs
    for p, law in enumerate(laws):
        own = slice(p, p + 1)
        transforms = whole.transforms[own]
        scaler = InputScaler(whole.lower[own], whole.upper[own], whole.constant[own], transforms)
        if isinstance(law, FiniteLaw):
            values = scaler.transform(law.values[:, None])[:, 0]
            found.append(Line(law, None, values, scaler, has_levels=law.labels is not None))
        else:  # too many whole numbers are not rounded
            plain = tuple(t.scale if isinstance(t, Integer) else t for t in transforms)
            found.append(_line(law, replace(scaler, transforms=plain)))
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
    elif law.family == _LOG_UNIFORM:
        low, high = dist.support()
        ends = np.geomspace(low, high, _PANELS + 3)
    if not np.isfinite(ends).all():
        raise InputError(f"the law {law.text} has no finite quantiles.")
    if not plain and not scaler.transforms[0].accepts(ends).all():
        raise InputError(
            f"the law {law.text} reaches values that the input's transform "
            f"{scaler.transforms[0].name} does not take; give a law inside its domain."
        )
    edges = np.unique(scaler.transform(ends[:, None])[:, 0])
    on_log = not plain and scaler.transforms[0].is_logarithm
    if (plain and law.family == "uniform") or (on_log and law.family == _LOG_UNIFORM):
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
