"""What two inputs do together: the mean response given both, and their pure interaction.

With the averages over all other inputs, E[f | x_j, x_k] and the interaction

    g(x_j, x_k) = E[f | x_j, x_k] - E[f | x_j] - E[f | x_k] + E f

are linear in f, so that of each process their means and variances are known exactly: evaluation at
x in one input, less the average over its law for the interaction, in both; the average in all
others. With h the functional applied to the features (r, f) of a process, they are h' (alpha, beta)
and sigma2 (prior - h' Q h).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pengp._core.arrays import FloatArray
from pengp._core.shown import Shown
from pengp.decisions.beliefs import thinned
from pengp.decisions.estimates import Axis, Estimate, axis_of
from pengp.decisions.functions import among
from pengp.decisions.integrals import FEW, terms_of
from pengp.decisions.laws import Line
from pengp.decisions.processes import Processes, inner_precision
from pengp.decisions.tables import Base, Tables
from pengp.decisions.width import interval_of
from pengp.model.posterior import Posterior

_GRID = 17
"""Points of a surface in each direction."""

_PROCESSES = 40
"""Processes of an average that stand for all."""


@dataclass(frozen=True, eq=False, repr=False)
class Surface(Shown):
    """What two inputs do together, on a grid [a, b], in the response's unit.

    Attributes
    ----------
    names : (str, str)
        The inputs.
    axes : (Axis, Axis)
        Their values [a] and [b].
    joint : Estimate, [a, b]
        Mean response given both, E[f | x_j, x_k].
    interaction : Estimate, [a, b]
        What they do beyond each alone, E[f | x_j, x_k] - E[f | x_j] - E[f | x_k] + E f.

    See Also
    --------
    effects : Its ``surfaces`` are such.
    """

    names: tuple[str, str]
    axes: tuple[Axis, Axis]
    joint: Estimate
    interaction: Estimate


class Functional(NamedTuple):
    """Means and squared scales [m] of a process's linear functionals, on the model's scale."""

    mean: FloatArray
    square: FloatArray


def surface_of(known: Processes, lines: list[Line], pair: tuple[int, int], level: float) -> Surface:
    """Return what two inputs, given by number, do together under the laws of the d inputs."""
    varied = np.flatnonzero(~known.constant)
    j, k = (int(np.flatnonzero(varied == p)[0]) for p in pair)
    some = [lines[p] for p in varied]
    grids = some[j].grid(_GRID), some[k].grid(_GRID)
    bases = bases_of(known.X[:, varied], some, (j, k), grids)
    known = thinned(known, _PROCESSES, np.random.default_rng(0))
    each = [both_together(among(process, varied), bases, (j, k)) for process in known.components]
    shape = len(grids[0]), len(grids[1])
    joint, interaction = (
        _told(known, [one[which] for one in each], level, known.origin if which == 0 else 0.0)
        for which in (0, 1)
    )
    return Surface(
        (known.names[pair[0]], known.names[pair[1]]),
        (axis_of(some[j], grids[0]), axis_of(some[k], grids[1])),
        Estimate(*(part.reshape(shape) for part in joint)),
        Estimate(*(part.reshape(shape) for part in interaction)),
    )


def _told(known: Processes, each: list[Functional], level: float, origin: float) -> Estimate:
    """Return mean and interval [m] of all processes together, in the response's unit."""
    means, squares = (np.stack(parts) for parts in zip(*each, strict=True))
    ends = interval_of(known, means, np.sqrt(squares), level)
    return Estimate(*(origin + known.unit * a for a in (known.weight @ means, *ends.T)))


def bases_of(
    X: FloatArray,
    lines: list[Line],
    pair: tuple[int, int],
    grids: tuple[FloatArray, FloatArray],
) -> list[Base]:
    """Return the base points of d inputs: the runs X [n, d], and in two inputs the grids."""
    points = dict(zip(pair, grids, strict=True))
    found = []
    for p, line in enumerate(lines):
        own = np.concatenate([X[:, p], points[p]]) if p in points else X[:, p]
        found.append(Base(line, own, np.zeros(len(own)), own))
    return found


def both_together(
    process: Posterior, bases: list[Base], pair: tuple[int, int], nodes: int = FEW
) -> tuple[Functional, Functional]:
    """Return E[f | x_j, x_k] and the interaction at all points [a b] of two grids.

    Parameters
    ----------
    process : Posterior
        Of d inputs.
    bases : list of d Base
        From `bases_of`, for the same runs and inputs.
    pair : (int, int)
        j and k.
    nodes : int
        Of the mixture for a radial Matern, 5 or 48.
    """
    terms, n = terms_of(process.kernel, nodes), len(process.X)
    tables = [
        Tables(base, terms, float(theta), sloped=False)
        for base, theta in zip(bases, process.theta, strict=True)
    ]
    rest = [table for p, table in enumerate(tables) if p not in pair]
    ones = np.ones((len(terms.weight), n))
    left = np.prod([table.means[:, :n] for table in rest], axis=0) if rest else ones
    spread = np.prod([table.spread for table in rest], axis=0) if rest else ones[:, 0]
    Q, coefficients = inner_precision(process), np.concatenate([process.alpha, process.trend])
    found = []
    for centred in (False, True):
        (a, va), (b, vb) = (_one(tables[p], n, centred) for p in pair)
        part = terms.weight[:, None] * left
        h = sum((at * part[t])[:, None] * b[t] for t, at in enumerate(a)).reshape(-1, n)
        if len(process.trend):
            trend = _trend(process, bases, pair)
            h = np.hstack([h, np.zeros_like(trend) if centred else trend])
        prior = ((terms.weight * spread)[:, None] * va).T @ vb
        square = process.sigma2 * np.maximum(prior.ravel() - np.vecdot(h @ Q, h), 0.0)
        found.append(Functional(h @ coefficients, square))
    return found[0], found[1]


def _one(table: Tables, n: int, centred: bool) -> tuple[FloatArray, FloatArray]:
    """Return what evaluation at grid points makes of the runs' correlations, and of its own.

    The first is [T, a, n], the second its prior variance [T, a]; less the average if centred.
    """
    values, size = table.values[:, n:, :n], len(table.base.points)
    if not centred:
        return values, np.ones(values.shape[:2])
    m = table.means[:, :size]
    return values - m[:, None, :n], 1.0 - 2.0 * m[:, n:] + table.spread[:, None]


def _trend(process: Posterior, bases: list[Base], pair: tuple[int, int]) -> FloatArray:
    """Return the mean's basis functions [a b, k] at the grids, averaged over the other inputs."""
    first, second = (bases[p].points[len(process.X) :] for p in pair)
    x = np.empty((len(first), len(second), len(bases)))
    x[...] = [base.moments[0] for base in bases]
    x[..., pair[0]], x[..., pair[1]] = first[:, None], second
    return process.mean.columns(x.reshape(-1, len(bases)))
