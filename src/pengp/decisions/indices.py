"""Effects of the inputs: Sobol indices, Shapley effects, curves and surfaces, with intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pengp._core.arrays import FloatArray, IntArray, RandomState
from pengp._core.checks import as_generator, check_count
from pengp._core.linalg import ONE_THREAD
from pengp._core.shown import Shown
from pengp.choosing.scores import half_width
from pengp.decisions.estimates import MOST_DRAWS, Curve, Estimate, axis_of, estimate_of
from pengp.decisions.functions import Functions, among, layout_of
from pengp.decisions.laws import Line, laws_of, lines_of, tell_outside
from pengp.decisions.processes import Processes, processes_of
from pengp.decisions.shares import Shares, masks_of, shares_of
from pengp.decisions.surfaces import Surface, surface_of
from pengp.exceptions import InputError

_CURVE = 33
"""Points of a main-effect curve."""

_COMPONENTS, _WORK = 40, 30_000_000
"""Processes of an average that are drawn from where all would take long: more than so many pairs of
features times subsets of inputs."""

_NODES = 6
"""Nodes an input at which a draw is fixed."""

_MOST_PAIRS, _LEAST = 3, 0.01
"""Pairs of inputs that have surfaces, and the share of the variance from which on they have one."""

_POINTS = {5: 64, 64: 32}
"""Points in the cube at which it is fixed, for up to so many inputs."""


@dataclass(frozen=True, eq=False, repr=False)
class Effects(Shown):
    """How much of the response's variance each input explains, made by `effects`.

    An index is a share of the variance of the response when the inputs follow their laws, between
    0 and 1. Of each there is the posterior mean and an interval.

    Attributes
    ----------
    names : tuple of d strings
        The inputs.
    response : str
        The response.
    laws : tuple of d strings
        Laws of the inputs.
    level : float
        Probability of the intervals.
    first : Estimate, [d]
        First-order Sobol indices: what the input explains alone.
    total : Estimate, [d]
        Total indices: what is lost when the input alone is unknown; at least the first order.
    shapley : Estimate, [d], or None
        Shapley effects, which sum to 1; None for more than 12 inputs.
    second : Estimate, [d, d]
        Second-order indices: what two inputs explain together beyond each alone; 0 on the diagonal.
    mean, std : Estimate, []
        Mean and standard deviation of the response, in its units.
    curves : tuple of d Curve
        Mean response given the one input.
    surfaces : tuple of Surface
        Mean response given two inputs, and what they do together beyond each alone: of the pairs
        that were asked for, else of up to three whose second-order index is 0.01 or more.
    transformed : bool
        Whether all this is about a transformed response, as the model knows it.

    See Also
    --------
    effects : Makes it.
    """

    names: tuple[str, ...]
    response: str
    laws: tuple[str, ...]
    level: float
    first: Estimate
    total: Estimate
    shapley: Estimate | None
    second: Estimate
    mean: Estimate
    std: Estimate
    curves: tuple[Curve, ...]
    surfaces: tuple[Surface, ...]
    transformed: bool

    def _in_short(self) -> str:
        most = ", ".join(f"{self.names[p]} {self.total.mean[p]:.2f}" for p in self.order()[:3])
        return f"shares of the variance of {self.response}, total: {most}"

    def _rows(self) -> list[dict[str, Any]]:
        return [
            {"input": self.names[p], "first": self.first.mean[p], "total": self.total.mean[p]}
            for p in self.order()
        ]

    def to_frame(self) -> Any:
        """Return one row an index: kind, input, other input, mean, lower, upper (needs pandas)."""
        import pandas as pd

        return pd.DataFrame(self.records())

    def records(self) -> list[dict[str, Any]]:
        """Return the same rows as dictionaries."""
        found = []
        for kind in ("first", "total", "shapley"):
            values = getattr(self, kind)
            if values is not None:
                found += [_row(kind, name, "", values, p) for p, name in enumerate(self.names)]
        for p, name in enumerate(self.names):
            for q in range(p + 1, len(self.names)):
                found.append(_row("second", name, self.names[q], self.second, (p, q)))
        return found

    def order(self) -> IntArray:
        """Return the inputs [d] by their total index, the largest first."""
        return np.argsort(-self.total.mean, kind="stable")


def _row(kind: str, name: str, other: str, values: Estimate, at: Any) -> dict[str, Any]:
    """Return one row of the table."""
    mean, lower, upper = (float(part[at]) for part in values)
    about = {"kind": kind, "input": name, "other": other}
    return {**about, "mean": mean, "lower": lower, "upper": upper}


def effects(
    model: Any,
    laws: Mapping[str, Any] | None = None,
    *,
    output: int = 0,
    level: float = 0.9,
    n_draws: int = 1600,
    pairs: Sequence[tuple[str, str]] | None = None,
    random_state: RandomState = 0,
    input_names: Sequence[str] | None = None,
    response_name: str | None = None,
) -> Effects:
    """Return the effects of the inputs on one output of a fitted model.

    Parameters
    ----------
    model : estimator, Pipeline or TransformedTargetRegressor
        Fitted; a pipeline's steps must scale each input for itself.
    laws : mapping, optional
        Laws of inputs by name: text such as ``"normal:50,10"``, ``"uniform:0,1"``,
        ``"lognormal:0,1"``, ``"triangular:0,1,3"``, ``"beta:2,3,0,1"``, or a frozen law of
        scipy.stats; of a factor its levels with weights, ``"steel:0.7,brass:0.3"`` or a mapping.
        Uniform over the design region, whole numbers or levels for the others.
    output : int
        Which output.
    level : float
        Probability of the intervals.
    n_draws : int
        Functions that are drawn from the posterior.
    pairs : sequence of pairs of names, optional
        Of which inputs there are to be surfaces; by default those that act together.
    random_state : int, Generator, RandomState or None
        Seed of the draws.
    input_names : sequence of d strings, optional
        By default those that the model was fitted with, else x1 to xd.
    response_name : str, optional
        By default "response".

    Examples
    --------
    >>> from pengp import PenalizedGPRegressor, load_piston_slap
    >>> from pengp.decisions import effects
    >>> runs = load_piston_slap()
    >>> model = PenalizedGPRegressor(0.0578, random_state=0).fit(runs.X, runs.y)
    >>> found = effects(model, {"x1": "normal:50,10"})  # the other inputs uniform
    >>> found.first.mean.round(1)  # shares of the variance that inputs explain alone
    array([0.3, 0. , 0. , 0.3, 0. , 0.3])
    """
    half_width(level)
    size = check_count(n_draws, "n_draws", 20, MOST_DRAWS)
    known = processes_of(model, output, input_names, response_name)
    if not known.y.any():
        raise InputError("a constant response has no effects to show.")
    asked = None if pairs is None else _asked(known, pairs)
    given = laws_of(known, laws)
    lines = lines_of(known, given)
    tell_outside(known, given)
    rng = as_generator(random_state)
    with ONE_THREAD:
        found = _drawn(known, lines, size, rng)
        shown = _acting(found) if asked is None else asked
        surfaces = [surface_of(known, lines, pair, level) for pair in shown]
    laws_as_text = tuple(law.text for law in given)
    return _summary(known, lines, laws_as_text, level, found, tuple(surfaces))


def _asked(known: Processes, pairs: Any) -> list[tuple[int, int]]:
    """Return the numbers of pairs of inputs that are given by name."""
    given = pairs.tolist() if isinstance(pairs, np.ndarray) else pairs
    if not isinstance(given, list | tuple) or not all(isinstance(p, list | tuple) for p in given):
        raise InputError(f"pairs must be a list of pairs of names of inputs, not {pairs!r}.")
    return [_numbers(known, pair) for pair in given]


def _numbers(known: Processes, pair: Sequence[Any]) -> tuple[int, int]:
    """Return the numbers of two inputs that are given by name."""
    names = [str(name) for name in pair]
    if len(names) != 2 or names[0] == names[1] or not set(names) <= set(known.names):
        there = ", ".join(known.names)
        raise InputError(f"{', '.join(names)} are not two inputs; there are {there}.")
    first, second = (known.names.index(name) for name in names)
    if known.constant[[first, second]].any():
        raise InputError(f"{names[0]} or {names[1]} was constant in all runs.")
    return first, second


class _Draws(NamedTuple):
    """What is known of each of D drawn functions, on the model's scale."""

    mean: FloatArray  # [D]
    shares: Shares
    varied: IntArray  # inputs that the shares are of
    x: list[FloatArray]  # [m] of each input, in the unit cube
    curves: list[FloatArray]  # [D, m] of each input


def _drawn(known: Processes, lines: list[Line], size: int, rng: np.random.Generator) -> _Draws:
    """Return draws of functions of all inputs that were not constant; the others have no effect."""
    varied = np.flatnonzero(~known.constant)
    points = next(size for most, size in _POINTS.items() if len(varied) <= most)
    layout = layout_of(known.X[:, varied], [lines[p] for p in varied], _NODES, points)
    masks = masks_of(len(varied))
    x = [line.grid(_CURVE) for line in lines]
    mean, variances = np.empty(size), []
    curves = [np.empty((size, len(points))) for points in x]
    work = len(known.components) * layout.rows.shape[1] ** 2 // 2 * len(masks)
    most = size if work <= _WORK else _COMPONENTS
    for process, rows, stretch in known.portions(size, most, rng):
        functions = Functions(among(process, varied), layout)
        beta = functions.coefficients(stretch, rng)
        scale2 = process.sigma2 * stretch**2
        variances.append(functions.closed_variances(beta, scale2, masks))
        mean[rows] = functions.means(beta)
        for p in np.flatnonzero(known.constant):
            curves[p][rows] = mean[rows, None]
        for k, p in enumerate(varied):
            curves[p][rows] = functions.main_effects(beta, k, x[p])
    shares = shares_of(np.concatenate(variances), len(varied))
    return _Draws(mean, shares, varied, x, curves)


def _acting(found: _Draws) -> list[tuple[int, int]]:
    """Return the pairs of inputs that explain most together beyond each alone."""
    second = np.triu(found.shares.second.mean(0), 1)
    best = np.argsort(-second, axis=None, kind="stable")[:_MOST_PAIRS]
    pairs = [np.unravel_index(place, second.shape) for place in best]
    return [
        (int(found.varied[a]), int(found.varied[b])) for a, b in pairs if second[a, b] >= _LEAST
    ]


def _summary(
    known: Processes,
    lines: list[Line],
    laws: tuple[str, ...],
    level: float,
    found: _Draws,
    surfaces: tuple[Surface, ...],
) -> Effects:
    """Return means and intervals over the draws, in the user's units."""
    d, varied, shares = known.d, found.varied, found.shares

    def wide(draws: FloatArray) -> Estimate:
        out = np.zeros((len(draws),) + (d,) * (draws.ndim - 1))
        rows = np.arange(len(draws))
        out[np.ix_(rows, *[varied] * (draws.ndim - 1))] = draws
        return estimate_of(out, level)

    curves = [
        Curve(axis_of(line, x), *estimate_of(known.origin + known.unit * drawn, level))
        for line, x, drawn in zip(lines, found.x, found.curves, strict=True)
    ]
    return Effects(
        known.names,
        known.response,
        laws,
        level,
        wide(shares.first),
        wide(shares.total),
        None if shares.shapley is None else wide(shares.shapley),
        wide(shares.second),
        estimate_of(known.origin + known.unit * found.mean, level),
        estimate_of(known.unit * np.sqrt(shares.variance), level),
        tuple(curves),
        surfaces,
        known.undo is not None,
    )
