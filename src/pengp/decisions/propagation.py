"""What comes out: the law of the response when the inputs follow theirs, and how sure that is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from pengp._core.arrays import FloatArray, RandomState
from pengp._core.checks import as_generator, check_count, check_levels
from pengp._core.linalg import ONE_THREAD
from pengp._core.shown import Shown
from pengp.choosing.scores import half_width
from pengp.decisions.constraints import Constraint, parse_constraint
from pengp.decisions.discrete import FiniteLaw
from pengp.decisions.estimates import MOST_DRAWS, Estimate, estimate_of
from pengp.decisions.families import Law
from pengp.decisions.functions import Functions, among, layout_of
from pengp.decisions.laws import Line, laws_of, lines_of, tell_outside
from pengp.decisions.processes import Processes, processes_of

_INPUTS = 2048
"""Points of the inputs' law, a Sobol sequence."""

_COMPONENTS, _WORK = 40, 60_000
"""Processes of an average that are drawn from where all would take long: more than so many features
times inputs."""

_NODES, _POINTS = 6, 128
"""Nodes an input and points in the cube at which a draw is fixed."""

_RARE = 3.0 / _INPUTS
"""Probability that is bounded with 95 % certainty by what happens at none of the points."""

LEVELS = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
"""Quantiles that are computed unless others are asked for."""


@dataclass(frozen=True, eq=False, repr=False)
class Propagation(Shown):
    """The law of the response under the laws of the inputs, made by `propagate`.

    Of each number there is the posterior mean and an interval, which tells how well the surrogate
    knows it; more runs narrow it. The nugget is no part of the response.

    Attributes
    ----------
    response : str
        The response.
    names, laws : tuple of d strings
        The inputs, and their laws.
    level : float
        Probability of the intervals.
    mean, std : Estimate, []
        Mean and standard deviation of the response, in its units.
    levels : [k]
        Levels of the quantiles.
    quantiles : Estimate, [k]
        Quantiles of the response.
    constraint : Constraint or None
        What was asked of the response.
    failure : Estimate, [], or None
        Probability that the response does not meet the constraint; where no draw meets it or all
        do, the interval ends at the probability that so many points of the inputs can tell.

    See Also
    --------
    propagate : Makes it.
    """

    response: str
    names: tuple[str, ...]
    laws: tuple[str, ...]
    level: float
    mean: Estimate
    std: Estimate
    levels: FloatArray
    quantiles: Estimate
    constraint: Constraint | None
    failure: Estimate | None

    @property
    def remark(self) -> str:
        """A sentence where no draw met the constraint, or all did; else empty."""
        if self.failure is None or self.failure.mean not in (0.0, 1.0):
            return ""
        how, word = ("No draw", "met") if self.failure.mean else ("Every draw", "missed")
        return (
            f"{how} met {self.constraint}: it is {word} with a probability below about "
            f"{_RARE:.2g}, the least that {_INPUTS:,} points of the inputs can tell."
        )

    def _in_short(self) -> str:
        return f"{self.response}: mean {float(self.mean.mean):.4g}, std {float(self.std.mean):.4g}"

    def _rows(self) -> list[dict[str, Any]]:
        return self.records()

    def to_frame(self) -> Any:
        """Return one row a number: what, mean, lower, upper (needs pandas)."""
        import pandas as pd

        return pd.DataFrame(self.records())

    def records(self) -> list[dict[str, Any]]:
        """Return the same rows as dictionaries."""
        rows: list[tuple[str, Estimate, tuple[int, ...]]] = [
            ("mean", self.mean, ()),
            ("standard deviation", self.std, ()),
        ]
        rows += [(f"quantile {q:g}", self.quantiles, (k,)) for k, q in enumerate(self.levels)]
        if self.failure is not None:
            rows.append((f"probability of not {self.constraint}", self.failure, ()))
        return [
            {"what": what, **{key: float(a[at]) for key, a in values._asdict().items()}}
            for what, values, at in rows
        ]


def propagate(
    model: Any,
    laws: Mapping[str, Any] | None = None,
    *,
    constraint: str | None = None,
    quantiles: ArrayLike = LEVELS,
    output: int = 0,
    level: float = 0.9,
    n_draws: int = 1600,
    random_state: RandomState = 0,
    input_names: Sequence[str] | None = None,
    response_name: str | None = None,
) -> Propagation:
    """Return the law of one output of a fitted model under the laws of its inputs.

    Parameters
    ----------
    model : estimator, Pipeline or TransformedTargetRegressor
        Fitted; a pipeline's steps must scale each input for itself.
    laws : mapping, optional
        Laws of inputs by name, as in `effects`, which says what holds for the others.
    constraint : str, optional
        The response's name, ``<``, ``<=``, ``>`` or ``>=``, and a number, such as ``"y < 60"``.
    quantiles : [k]
        Levels of the quantiles.
    output : int
        Which output.
    level : float
        Probability of the intervals.
    n_draws : int
        Functions that are drawn from the posterior.
    random_state : int, Generator, RandomState or None
        Seed of the draws.
    input_names : sequence of d strings, optional
        By default those that the model was fitted with, else x1 to xd.
    response_name : str, optional
        By default "response".

    Examples
    --------
    >>> from pengp import PenalizedGPRegressor, load_piston_slap
    >>> from pengp.decisions import propagate
    >>> runs = load_piston_slap()
    >>> model = PenalizedGPRegressor(0.0578, random_state=0).fit(runs.X, runs.y)
    >>> found = propagate(model, {"x1": "normal:50,10"}, constraint="response < 60", n_draws=100)
    >>> round(float(found.mean.mean)), found.quantiles.mean.size  # in dB; quantiles as well
    (56, 7)
    """
    half_width(level)
    size, levels = check_count(n_draws, "n_draws", 20, MOST_DRAWS), check_levels(quantiles)
    known = processes_of(model, output, input_names, response_name)
    limit = None if constraint is None else parse_constraint(constraint, known.response)
    given = laws_of(known, laws)
    lines = lines_of(known, given)
    tell_outside(known, given)
    with ONE_THREAD:
        found = _drawn(known, lines, size, levels, limit, random_state)
        exact = None if known.undo is not None else _exact_mean(known, lines)
    return _summary(known, given, level, levels, limit, found, exact)


def _exact_mean(known: Processes, lines: list[Line]) -> float:
    """Return the posterior mean of E f(X), from integrals of all processes, in the user's units."""
    varied = np.flatnonzero(~known.constant)
    layout = layout_of(known.X[:, varied], [lines[p] for p in varied], 0, 0)
    each = []
    for process in known.components:
        functions = Functions(among(process, varied), layout, nodes=48)
        each.append(functions.means(functions.mean_coefficients()[None])[0])
    return float(known.to_response(known.weight @ np.array(each)))


class _Draws(NamedTuple):
    """Numbers of each of D drawn functions, in the user's units."""

    mean: FloatArray  # [D]
    std: FloatArray  # [D]
    quantiles: FloatArray  # [D, k]
    failure: FloatArray  # [D]


def _drawn(
    known: Processes,
    lines: list[Line],
    size: int,
    levels: FloatArray,
    limit: Constraint | None,
    random_state: RandomState,
) -> _Draws:
    """Draw functions, and let the inputs run through their laws in each.

    What is not fixed of a draw, its remainder, is drawn at each point for itself.
    """
    rng = as_generator(random_state)
    varied = np.flatnonzero(~known.constant)
    some = [lines[p] for p in varied]
    layout = layout_of(known.X[:, varied], some, _NODES, _POINTS)
    uniform = stats.qmc.Sobol(len(varied), seed=rng).random(_INPUTS)
    X = np.column_stack([line.draw(uniform[:, k]) for k, line in enumerate(some)])
    found = _Draws(np.empty(size), np.empty(size), np.empty((size, len(levels))), np.zeros(size))
    work = len(known.components) * layout.rows.size
    most = size if work <= _WORK else _COMPONENTS
    for process, rows, stretch in known.portions(size, most, rng):
        functions = Functions(among(process, varied), layout)
        beta = functions.coefficients(stretch, rng)
        smooth, rest = functions.at(X)
        noise = rng.standard_normal((len(beta), _INPUTS))
        scale = np.sqrt(process.sigma2) * stretch
        y = known.to_response(beta @ smooth.T + scale[:, None] * np.sqrt(rest) * noise)
        exact = known.undo is None
        found.mean[rows] = known.to_response(functions.means(beta)) if exact else y.mean(1)
        found.std[rows] = y.std(1)
        found.quantiles[rows] = np.quantile(y, levels, axis=1).T
        if limit is not None:
            found.failure[rows] = 1.0 - limit.holds(y).mean(1)
    return found


def _summary(
    known: Processes,
    laws: Sequence[Law | FiniteLaw],
    level: float,
    levels: FloatArray,
    limit: Constraint | None,
    found: _Draws,
    exact: float | None,
) -> Propagation:
    """Return means and intervals over the draws; the mean exactly where it is known."""
    mean = estimate_of(found.mean, level)
    return Propagation(
        known.response,
        known.names,
        tuple(law.text for law in laws),
        level,
        mean if exact is None else mean._replace(mean=np.asarray(exact)),
        estimate_of(found.std, level),
        levels,
        estimate_of(found.quantiles, level),
        limit,
        None if limit is None else _failure(estimate_of(found.failure, level)),
    )


def _failure(found: Estimate) -> Estimate:
    """Return the probability with an interval that is never certain of what was not seen."""
    if found.mean == 1.0:
        return found._replace(lower=np.asarray(1.0 - _RARE))
    return found._replace(upper=np.asarray(_RARE)) if found.mean == 0.0 else found
