"""Random functions of one process whose variances by subsets of inputs are known exactly.

A draw fixes m functionals u of the function: its averages over all inputs but one at the nodes of a
Gauss rule, and its values at points of a Sobol sequence. Given u and the runs, the function is a
sum of features (correlations with runs and functionals, and the trend) plus a remainder e, a
Gaussian process whose covariance is known. The closed variance of a subset w of inputs,
V_w = Var E[f | x_w], is given u

    E[V_w | u] = beta' G_w beta + sigma2 (U_w - <Q, G_w>),

with G_w the covariances of the features' conditional expectations (Oakley and O'Hagan 2004 for
m = 0), so that the shares of the variance are never negative and add up.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve, solve_triangular

from pengp._core.arrays import FloatArray, IntArray
from pengp._core.sobol import sobol_points
from pengp.decisions.integrals import FEW, terms_of
from pengp.decisions.laws import Line
from pengp.decisions.subsets import subset_sums
from pengp.decisions.tables import Base, Tables
from pengp.exceptions import InputError
from pengp.model.posterior import Posterior

_SMALLEST = 1e-5
"""Eigenvalues of the functionals' covariance that are left to the remainder, over the largest."""

_PIECE = 1 << 19
"""Elements [subsets, pairs of features] that are worked on at a time."""

_POINTS = 128
"""Points at which features are computed at a time: few enough to stay in a core's cache."""


@dataclass(frozen=True, eq=False)
class Layout:
    """What functions are known and drawn by: n runs, then m functionals, for d inputs.

    Attributes
    ----------
    bases : tuple of d Base
        Base points of each input.
    rows : [d, n + m]
        Which row of an input's tables each run or functional is.
    n : int
        Number of runs.
    """

    bases: tuple[Base, ...]
    rows: IntArray
    n: int


def layout_of(X: FloatArray, lines: list[Line], nodes: int, points: int) -> Layout:
    """Return a layout for runs X [n, d] with so many nodes an input and points in the cube.

    An input with levels, or with fewer values, has a node for each. With 0 nodes and 0 points
    nothing is drawn.
    """
    n, d = X.shape
    levels = (sobol_points(points, d) + 0.5 / max(points, 1)) % 1.0
    rules = [line.gauss(max(nodes, 1)) for line in lines]
    Z = np.column_stack([line.draw(levels[:, p]) for p, line in enumerate(lines)])
    bases, sizes = [], [n + len(c) + points for c, _ in rules]
    for p, (c, weight) in enumerate(rules):
        average = np.zeros(sizes[p])
        average[n : n + len(c)] = weight
        bases.append(Base(lines[p], np.concatenate([X[:, p], c, Z[:, p]]), average, X[:, p]))
    used = [len(c) if nodes else 0 for c, _ in rules]
    rows = np.empty((d, n + sum(used) + points), dtype=np.int64)
    rows[:, :n] = np.arange(n)
    for p, size in enumerate(sizes):
        rows[p, n:] = size  # the average
        start = n + sum(used[:p])
        rows[p, start : start + used[p]] = n + np.arange(used[p])
        rows[p, n + sum(used) :] = size - points + np.arange(points)
    return Layout(tuple(bases), rows, n)


class _Given(NamedTuple):
    """Runs and trend that a process is conditioned on: R = L L', F [n, k], S S' = G.

    G = F' R^-1 F + 1 / variance, so that P is made of R^-1 - R^-1 F G^-1 F' R^-1, R^-1 F G^-1 and
    -G^-1.
    """

    L: FloatArray
    F: FloatArray
    S: FloatArray

    @classmethod
    def of(cls, K: FloatArray, F: FloatArray, process: Posterior) -> "_Given":
        """Return the factors for correlations K [n, n] of the runs and basis functions F [n, k]."""
        L = np.linalg.cholesky(K + process.ridge * np.eye(len(K)))
        W = solve_triangular(L, F, lower=True)
        variance = process.mean.variance
        own = 0.0 if variance is None else 1.0 / variance
        S = np.linalg.cholesky(W.T @ W + own * np.eye(F.shape[1]))
        return cls(np.asarray(L, np.float64), F, np.asarray(S, np.float64))

    def weights(self, r: FloatArray, f: FloatArray) -> FloatArray:
        """Return P (r, f) [n + k, m] for columns r [n, m] and f [k, m]."""
        inner = self.F.T @ cho_solve((self.L, True), r) - f
        D = cho_solve((self.S, True), inner) if len(f) else inner
        return np.vstack([cho_solve((self.L, True), r - self.F @ D), D])

    def explained(self, r: FloatArray, f: FloatArray) -> FloatArray:
        """Return (r, f)' P (r, f) [m, m], from products of halves."""
        V = solve_triangular(self.L, r, lower=True)
        W = solve_triangular(self.L, self.F, lower=True)
        U = solve_triangular(self.S, f - W.T @ V, lower=True) if len(f) else f
        return V.T @ V - U.T @ U


@dataclass(frozen=True, eq=False)
class Functions:
    """A process, conditioned on runs, with the functionals of a layout.

    Attributes
    ----------
    process : Posterior
        Its kernel, theta, nugget, mean, sigma2 and runs are used.
    layout : Layout
        For the same runs.
    nodes : int
        Of the mixture for a radial Matern, 5 or 48.
    """

    process: Posterior
    layout: Layout
    nodes: int = FEW

    @cached_property
    def _basis(self) -> int:
        """Number of basis functions of the trend: 0, 1, or 1 + d."""
        name = getattr(self.process.mean, "name", "")
        if name not in ("zero", "constant", "linear"):
            raise InputError(
                f"effects are known for a zero, constant or linear mean, not for mean={name!r}."
            )
        return len(self.process.trend)

    @cached_property
    def _tables(self) -> list[Tables]:
        """One for each input."""
        terms, theta = terms_of(self.process.kernel, self.nodes), self.process.theta
        return [
            Tables(base, terms, float(theta[p]), sloped=self._basis > 1)
            for p, base in enumerate(self.layout.bases)
        ]

    @cached_property
    def _rows(self) -> IntArray:
        """Which row of an input's tables each feature is [d, n + m + k]."""
        one = np.array([[len(base.points) + 1] for base in self.layout.bases])
        trend = np.repeat(one, self._basis, axis=1)
        for p in range(self._basis - 1):
            trend[p, 1 + p] += 1
        return np.concatenate([self.layout.rows, trend], axis=1)

    @cached_property
    def _joint(self) -> FloatArray:
        """Each functional, runs first, applied to each feature [n + m, n + m + k]."""
        size = self.layout.rows.shape[1]
        K: FloatArray = np.ones(1)
        trend = np.ones((size, self._basis))
        for p, table in enumerate(self._tables):
            rows = self.layout.rows[p]
            K = K * table.correlations[:, rows[:, None], rows]
            if self._basis > 1:
                base = table.base
                trend[:, 1 + p] = np.append(base.points, base.average @ base.points)[rows]
        whole = np.tensordot(self._tables[0].terms.weight, K, axes=1)
        return np.concatenate([whole, trend], axis=1)

    @cached_property
    def _conditioned(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Coefficients [N] of the mean, directions [N, m] of the draws and Q [N, N].

        With h the features of runs and trend, the covariance of the process given the runs is
        k - h' P h, P the inverse of [[R, F], [F', -1 / variance]]. All but Q, which only the
        remainder needs, is solved for: a covariance of 1e-7, beside a scale of 1000, leaves no
        digits to an inverse of R.
        """
        J, n = self._joint, self.layout.n
        size, k = J.shape[0], self._basis
        h, u = np.r_[0:n, size : size + k], np.arange(n, size)
        given = _Given.of(J[:n, :n], J[:n, size:], self.process)
        beta = np.zeros(size + k)
        beta[h] = given.weights(self.process.y[:, None], np.zeros((k, 1)))[:, 0]
        right = J[n:, :n].T, J[n:, size:].T
        values, vectors = np.linalg.eigh(J[n:, n:size] - given.explained(*right))
        kept = values > _SMALLEST * values[-1] if len(values) else np.zeros(0, bool)
        E = np.zeros((size + k, len(u)))  # the symmetric root, free of the eigenvectors' signs
        E[u] = (vectors[:, kept] / np.sqrt(values[kept])) @ vectors[:, kept].T
        E[h] = -given.weights(*right) @ E[u]
        Q = E @ E.T
        Q[np.ix_(h, h)] += given.weights(np.eye(n, n + k), np.eye(k, n + k, n))
        return beta, E, Q

    def coefficients(self, stretch: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return draws [D, N] of the features' coefficients, for factors [D] of the scale."""
        beta, E = self._conditioned[:2]
        scale = np.sqrt(self.process.sigma2) * stretch
        draws: FloatArray = (scale[:, None] * rng.standard_normal((len(stretch), E.shape[1]))) @ E.T
        return beta + draws

    def mean_coefficients(self) -> FloatArray:
        """Return the coefficients [N] of the mean."""
        return self._conditioned[0]

    def means(self, beta: FloatArray) -> FloatArray:
        """Return E f(X) [D] for coefficients beta [D, N]."""
        M: FloatArray = np.ones(1)
        for p, table in enumerate(self._tables):
            M = M * table.means[:, self._rows[p]]
        return beta @ (self._tables[0].terms.weight @ M)

    def at(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the features [m, N] at X [m, d], and the remainder's scaled variances [m]."""
        Q, size = self._conditioned[2], self._rows.shape[1]
        found, rest = np.empty((size, len(X))), np.empty(len(X))
        for start in range(0, len(X), _POINTS):
            part = slice(start, start + _POINTS)
            found[:, part] = self._features(X[part])
            rest[part] = 1.0 - np.sum(found[:, part] * (Q @ found[:, part]), axis=0)
        return found.T, np.maximum(rest, 0.0)

    def _features(self, X: FloatArray) -> FloatArray:
        """Return the features [N, m] at X [m, d]."""
        terms, found = self._tables[0].terms, np.zeros((self._rows.shape[1], len(X)))
        here = [table.across(X[:, p]) for p, table in enumerate(self._tables)]
        for t, weight in enumerate(terms.weight):
            product = np.full(found.shape, weight)
            for p, values in enumerate(here):
                product *= values[t][self._rows[p]]
            found += product
        return found

    def closed_variances(self, beta: FloatArray, scale2: FloatArray, masks: IntArray) -> FloatArray:
        """Return E[V_w | u] [D, w] for the subsets ``masks`` [w], bit p for input p.

        Parameters
        ----------
        beta : [D, N]
            Coefficients of the features.
        scale2 : [D]
            sigma2 of each draw.
        masks : [w]
            Subsets; all 2^d in order are fastest.
        """
        Q = self._conditioned[2]
        found = self._sums(beta, Q, masks)
        inner, lost = found[:-1], found[-1]
        left = np.maximum(self._prior(masks) - lost, 0.0)
        return np.maximum(inner, 0.0) + scale2[:, None] * left

    def _prior(self, masks: IntArray) -> FloatArray:
        """Return U_w - U_0 [w], where U_w averages the correlation over two x that share x_w."""
        weight = self._tables[0].terms.weight
        spreads = np.stack([table.spread for table in self._tables])[:, None]  # [d, 1, T]
        return subset_sums(1.0 - spreads, spreads, weight, masks)[0]

    def _sums(self, beta: FloatArray, Q: FloatArray, masks: IntArray) -> FloatArray:
        """Return beta' G_w beta for beta [D, N] and, last, <Q, G_w>, [D + 1, w]."""
        terms = self._tables[0].terms
        weight = np.outer(terms.weight, terms.weight).ravel()
        W = [table.covariances for table in self._tables]
        i, j = np.triu_indices(self._rows.shape[1])
        out = np.zeros((len(beta) + 1, len(masks)))
        step = max(64, _PIECE // (len(weight) * 32 + len(masks) + len(beta)))
        for start in range(0, len(i), step):
            left, right = i[start : start + step], j[start : start + step]
            centred, outside = np.empty((2, len(W), len(left), len(weight)))
            for p, table in enumerate(self._tables):
                a, b = self._rows[p][left], self._rows[p][right]
                centred[p] = W[p].reshape(-1, len(weight))[a * len(W[p]) + b]
                m = table.means.T
                outside[p] = (m[a][:, :, None] * m[b][:, None, :]).reshape(len(a), -1)
            twice = np.where(left == right, 1.0, 2.0)
            coefficients = np.vstack([beta[:, left] * beta[:, right], Q[left, right]])
            out += (coefficients * twice) @ subset_sums(centred, outside, weight, masks)
        return out

    def main_effects(self, beta: FloatArray, p: int, x: FloatArray) -> FloatArray:
        """Return E[f | x_p = x] [D, m] at x [m], for coefficients beta [D, N]."""
        M: FloatArray = np.ones(1)
        for q, table in enumerate(self._tables):
            if q != p:
                M = M * table.means[:, self._rows[q]]
        here = self._tables[p].across(x)[:, self._rows[p]]
        M = np.broadcast_to(M, here.shape[:2])
        return beta @ np.einsum("t,tim,ti->im", self._tables[p].terms.weight, here, M)


def among(process: Posterior, inputs: IntArray) -> Posterior:
    """Return what a process says of some inputs alone, the others having one value in all runs."""
    if len(inputs) == process.X.shape[1]:
        return process
    if len(process.trend) > 1:
        columns = np.append(0, 1 + inputs)
        process = replace(process, trend=process.trend[columns])
    place = {int(p): k for k, p in enumerate(inputs)}
    kernel = process.kernel
    if kernel.levels:
        kernel = replace(kernel, levels=tuple(place[p] for p in kernel.levels if p in place))
    return replace(process, X=process.X[:, inputs], theta=process.theta[inputs], kernel=kernel)
