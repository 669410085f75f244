"""One input's tables: correlations and their integrals between all that is known or drawn.

What a function is known by are its values at points (the runs, points of a Sobol sequence), its
averages over all inputs but one, and its trend. In one input each of these is a *row*: evaluation
at a base point, the average over the law by a Gauss rule, or a basis function 1 or x.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.decisions.integrals import Terms, gaussian_m, gaussian_u, gaussian_w
from pengp.decisions.laws import Line

_UNIFORM = np.polynomial.legendre.leggauss(40)
"""Rule for the distance of two uniform inputs."""


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
    def nodes(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Nodes [g] and weights [g] of a Gauss rule, and squared differences [g, b]."""
        nodes, weights = self.line.quadrature(self.kinks)
        return nodes, weights, (nodes[:, None] - self.points) ** 2

    @cached_property
    def squares(self) -> FloatArray:
        """Squared differences [b, b]."""
        return (self.points[:, None] - self.points) ** 2

    @cached_property
    def moments(self) -> tuple[float, float]:
        """E X and E X^2."""
        nodes, weights, _ = self.nodes
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

    @cached_property
    def _at_nodes(self) -> FloatArray:
        """Correlations [T, g, b] between nodes and base points."""
        return self.terms.factor(self._rates[:, None, None] * self.base.nodes[2])

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
            m = self.base.nodes[1] @ self._at_nodes
        average = m @ self.base.average
        ones = np.ones(len(m))
        return np.column_stack([m, average, ones, ones * self.base.moments[0]])

    @cached_property
    def products(self) -> FloatArray:
        """E of the product of two rows' functions [b + 3, b + 3, T T], of all pairs of terms."""
        base, b = self.base, len(self.base.points)
        T, average = len(self._rates), base.average
        out = np.empty((b + 3, b + 3, T, T))
        out[:b, :b] = self._between()
        out[b, :b] = np.tensordot(average, out[:b, :b], axes=1)
        out[: b + 1, b] = np.tensordot(out[: b + 1, :b], average, axes=(1, 0))
        out[b + 1], out[:, b + 1] = self.means.T[:, None, :], self.means.T[:, :, None]
        slopes = self._slopes()
        out[b + 2, : b + 1], out[: b + 1, b + 2] = slopes[:, None, :], slopes[:, :, None]
        out[b + 2, b + 1] = out[b + 1, b + 2] = base.moments[0]
        out[b + 2, b + 2] = base.moments[1]
        return out.reshape(b + 3, b + 3, T * T)

    def _between(self) -> FloatArray:
        """E of the product of correlations with two base points [b, b, T, T]."""
        points, rates, T = self.base.points, self._rates, len(self._rates)
        if not self._closed:
            weighted = self._at_nodes * self.base.nodes[1][:, None]
            return np.einsum("tga,ugb->abtu", weighted, self._at_nodes, optimize=True)
        out = np.empty((len(points), len(points), T, T))
        for t in range(T):
            for u in range(t + 1):
                W = gaussian_w(rates[t], rates[u], points[:, None], points, self.base.line)
                out[:, :, t, u], out[:, :, u, t] = W, W.T
        return out

    def _slopes(self) -> FloatArray:
        """E of X times each row's function [b + 1, T]; 0 where that is not needed."""
        if not self.sloped:
            return np.zeros((len(self.base.points) + 1, len(self._rates)))
        nodes, weights, _ = self.base.nodes
        first = (weights * nodes) @ self._at_nodes
        return np.concatenate([first, (first @ self.base.average)[:, None]], axis=1).T

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
        nodes, weights, _ = self.base.nodes
        squares = (nodes[:, None] - nodes) ** 2
        k = self.terms.factor(rates[:, None, None] * squares)
        return np.asarray(k @ weights @ weights)

    def across(self, x: FloatArray) -> FloatArray:
        """Return each row's function at x [m], [T, m, b + 3]."""
        k = self.terms.factor(self._rates[:, None, None] * (x[:, None] - self.base.points) ** 2)
        ends = np.broadcast_to(np.column_stack([np.ones_like(x), x]), (len(k), len(x), 2))
        return np.concatenate([k, (k @ self.base.average)[..., None], ends], axis=2)


def _with_average(K: FloatArray, average: FloatArray) -> FloatArray:
    """Return K [T, b, b] with a row and a column for the average [b] of the others."""
    rows = np.concatenate([K, (average @ K)[:, None]], axis=1)
    return np.concatenate([rows, (rows @ average)[..., None]], axis=2)
