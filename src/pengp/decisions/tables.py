"""One input's tables: correlations and their integrals between all that is known or drawn.

What a function is known by are its values at points (the runs, points of a Sobol sequence), its
averages over all inputs but one, and its trend. In one input each of these is a *row*: evaluation
at a base point, the average over the law by a Gauss rule, or a basis function 1 or x.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.decisions.integrals import Terms, gaussian_m, gaussian_u, gaussian_w
from pengp.decisions.laws import Line

_UNIFORM = np.polynomial.legendre.leggauss(40)
"""Rule for the distance of two uniform inputs."""


class Nodes(NamedTuple):
    """A Gauss rule over a law."""

    x: FloatArray  # [g]
    weight: FloatArray  # [g]
    squares: FloatArray  # [g, b], squared differences to base points


@dataclass(frozen=True, eq=False)
class Base:
    """Base points of one input, and what of them does not depend on theta.

    Attributes
    ----------
    line : Line
        The law.
    points : [b]
        Base points in the unit cube.
    average : [b]
        Weights with which the average over the law is taken from values at base points.
    kinks : [c]
        Points at which a Gauss rule is split.
    """

    line: Line
    points: FloatArray
    average: FloatArray
    kinks: FloatArray

    @cached_property
    def nodes(self) -> Nodes:
        """A Gauss rule that is split at the kinks."""
        nodes, weights = self.line.quadrature(self.kinks)
        return Nodes(nodes, weights, self.line.squares(nodes, self.points))

    @cached_property
    def smooth(self) -> Nodes:
        """A Gauss rule for correlations without kinks."""
        nodes, weights = self.line.quadrature(np.empty(0))
        return Nodes(nodes, weights, self.line.squares(nodes, self.points))

    @cached_property
    def squares(self) -> FloatArray:
        """Squared differences [b, b]."""
        return self.line.squares(self.points, self.points)

    @cached_property
    def moments(self) -> tuple[float, float]:
        """E X and E X^2."""
        nodes, weights, _ = self.smooth
        return float(weights @ nodes), float(weights @ nodes**2)


@dataclass(frozen=True, eq=False)
class Tables:
    """The tables of one input at one theta; rows are the b base points, the average, 1 and x.

    Attributes
    ----------
    base : Base
        The input.
    terms : Terms
        The correlation.
    theta : float
        For this input.
    sloped : bool
        Whether the row of x is needed.
    """

    base: Base
    terms: Terms
    theta: float
    sloped: bool

    @property
    def _rates(self) -> FloatArray:
        """Theta of each term [T]."""
        return self.theta * self.terms.rate

    @property
    def _closed(self) -> bool:
        """Whether closed forms are known."""
        return self.terms.gaussian and self.base.line.closed is not None

    @cached_property
    def values(self) -> FloatArray:
        """Correlations [T, b, b] between base points."""
        return self.terms.factor(self._rates[:, None, None] * self.base.squares)

    @property
    def _nodes(self) -> Nodes:
        """The Gauss rule: a squared exponential has no kinks."""
        return self.base.smooth if self.terms.gaussian else self.base.nodes

    @cached_property
    def _at_nodes(self) -> FloatArray:
        """Correlations [T, g, b] between nodes and base points."""
        return self.terms.factor(self._rates[:, None, None] * self._nodes.squares)

    @cached_property
    def correlations(self) -> FloatArray:
        """Each row applied to each row's function [T, b + 1, b + 1], without 1 and x."""
        return _with_average(self.values, self.base.average)

    @cached_property
    def means(self) -> FloatArray:
        """E of each row's function [T, b + 3]."""
        if self._closed:
            m = gaussian_m(self._rates[:, None], self.base.points, self.base.line)
        else:
            m = self._nodes.weight @ self._at_nodes
        average = m @ self.base.average
        ones = np.ones(len(m))
        return np.column_stack([m, average, ones, ones * self.base.moments[0]])

    @cached_property
    def covariances(self) -> FloatArray:
        """Covariance of two rows' functions [b + 3, b + 3, T T], of all pairs of terms.

        Where theta is small, functions are nearly constant: they are centred before they are
        multiplied, so that nothing is lost. A mixture of terms, whose nugget allows it, is
        integrated in closed form instead.
        """
        base, T = self.base, len(self._rates)
        if T > 1 and self._closed and not self.sloped:
            return self._closed_covariances()
        nodes, weights, _ = self._nodes
        centred = self._at_nodes - (weights @ self._at_nodes)[:, None]
        flat = np.zeros((T, len(nodes), 2))
        flat[:, :, 1] = nodes - base.moments[0]
        rows = np.concatenate([centred, (centred @ base.average)[..., None], flat], axis=2)
        weighted = rows * weights[:, None]
        out = np.einsum("tga,ugb->abtu", weighted, rows, optimize=True)
        return out.reshape(*out.shape[:2], T * T)

    def _closed_covariances(self) -> FloatArray:
        """Return the same by closed forms, for rows that are no slopes."""
        base, b, T = self.base, len(self.base.points), len(self._rates)
        out = np.zeros((b + 3, b + 3, T, T))
        for t in range(T):
            for u in range(t + 1):
                points, rates = base.points, self._rates
                W = gaussian_w(rates[t], rates[u], points[:, None], points, base.line)
                W -= np.outer(self.means[t, :b], self.means[u, :b])
                out[:b, :b, t, u], out[:b, :b, u, t] = W, W.T
        out[b, :b] = np.tensordot(base.average, out[:b, :b], axes=1)
        out[: b + 1, b] = np.tensordot(out[: b + 1, :b], base.average, axes=(1, 0))
        return out.reshape(b + 3, b + 3, T * T)

    @cached_property
    def spread(self) -> FloatArray:
        """U = E k(X, X') of each term [T]."""
        line, rates = self.base.line, self._rates
        if self._closed:
            return gaussian_u(rates, line)
        if line.closed is not None and line.closed[0] == "uniform":
            # The distance of two uniform variables has the density 2 (1 - t) on [0, 1].
            t, weight = 0.5 * (1.0 + _UNIFORM[0]), 0.5 * _UNIFORM[1]
            width = line.closed[2] - line.closed[1]
            k = self.terms.factor(rates[:, None] * (width * t) ** 2)
            return np.asarray(k @ (2.0 * weight * (1.0 - t)))
        nodes, weights, _ = self._nodes
        k = self.terms.factor(rates[:, None, None] * line.squares(nodes, nodes))
        return np.asarray(k @ weights @ weights)

    def across(self, x: FloatArray) -> FloatArray:
        """Return each row's function at x [m], [T, b + 3, m]."""
        squares = self.base.line.squares(self.base.points, x)
        b, T = len(squares), len(self._rates)
        found = np.empty((T, b + 3, len(x)))
        found[:, :b] = self.terms.factor(self._rates[:, None, None] * squares)
        found[:, b] = self.base.average @ found[:, :b]
        found[:, b + 1], found[:, b + 2] = 1.0, x
        return found


def _with_average(K: FloatArray, average: FloatArray) -> FloatArray:
    """Return K [T, b, b] with a row and a column for the average [b] of the others."""
    rows = np.concatenate([K, (average @ K)[:, None]], axis=1)
    return np.concatenate([rows, (rows @ average)[..., None]], axis=2)
