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

import numpy as np
from scipy.stats import qmc

from pengp._core.arrays import FloatArray, IntArray
from pengp.decisions.integrals import terms_of
from pengp.decisions.laws import Line
from pengp.decisions.tables import Base, Tables
from pengp.exceptions import InputError
from pengp.model.posterior import Posterior

_SMALLEST = 1e-7
"""Eigenvalues of the functionals' covariance that are left to the remainder, over the largest."""

_PIECE = 1 << 21
"""Elements [subsets, pairs of features] that are worked on at a time."""


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

    With 0 nodes and 0 points nothing is drawn.
    """
    n, d = X.shape
    levels = (qmc.Sobol(d, scramble=False).random(points) + 0.5 / max(points, 1)) % 1.0
    rules = [line.gauss(max(nodes, 1)) for line in lines]
    Z = np.column_stack([line.draw(levels[:, p]) for p, line in enumerate(lines)])
    bases, size = [], n + max(nodes, 1) + points
    for p, (c, weight) in enumerate(rules):
        average = np.zeros(size)
        average[n : n + len(c)] = weight
        bases.append(Base(lines[p], np.concatenate([X[:, p], c, Z[:, p]]), average, X[:, p]))
    rows = np.empty((d, n + d * nodes + points), dtype=np.int64)
    rows[:, :n] = np.arange(n)
    rows[:, n : n + d * nodes] = size  # the average
    for p in range(d):
        rows[p, n + p * nodes : n + (p + 1) * nodes] = n + np.arange(nodes)
    rows[:, n + d * nodes :] = size - points + np.arange(points)
    return Layout(tuple(bases), rows, n)


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
        Of the mixture for a radial Matern, 8 or 36.
    """

    process: Posterior
    layout: Layout
    nodes: int = 8

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
        d, one = len(self._tables), len(self.layout.bases[0].points) + 1
        trend = np.full((d, self._basis), one)
        for p in range(self._basis - 1):
            trend[p, 1 + p] = one + 1
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
        k - h' P h, P the inverse of [[R, F], [F', -1 / variance]].
        """
        J, n = self._joint, self.layout.n
        size, k = J.shape[0], self._basis
        h = np.r_[0:n, size : size + k]
        A = np.zeros((n + k, n + k))
        A[:n] = J[:n][:, h]
        A[n:, :n] = A[:n, n:].T
        A[range(n), range(n)] += self.process.nugget
        variance = self.process.mean.variance
        A[range(n, n + k), range(n, n + k)] = 0.0 if variance is None else -1.0 / variance
        P = np.linalg.inv(A)
        P = 0.5 * (P + P.T)
        beta = np.zeros(size + k)
        beta[h] = P[:, :n] @ self.process.y
        H, u = J[n:][:, h], np.arange(n, size)
        C = J[n:, n:size] - H @ P @ H.T
        values, vectors = np.linalg.eigh(0.5 * (C + C.T))
        kept = values > _SMALLEST * max(values[-1], 1e-3) if len(values) else np.zeros(0, bool)
        E = np.zeros((size + k, len(u)))  # the symmetric root, free of the eigenvectors' signs
        E[u] = (vectors[:, kept] / np.sqrt(values[kept])) @ vectors[:, kept].T
        E[h] = -P @ H.T @ E[u]
        Q = E @ E.T
        Q[np.ix_(h, h)] += P
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
        terms, found = self._tables[0].terms, np.zeros((len(X), self._rows.shape[1]))
        here = [table.across(X[:, p]) for p, table in enumerate(self._tables)]
        for t, weight in enumerate(terms.weight):
            product = np.full(found.shape, weight)
            for p, values in enumerate(here):
                product *= values[t][:, self._rows[p]]
            found += product
        return found, np.maximum(1.0 - np.vecdot(found @ self._conditioned[2], found), 0.0)

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
        outer = beta[:, :, None] * beta[:, None, :]
        found = self._sums(np.concatenate([outer, Q[None]]), masks)
        inner, lost = found[:-1], found[-1]
        left = np.maximum(self._prior(masks) - lost, 0.0)
        return np.maximum(inner, 0.0) + scale2[:, None] * left

    def _prior(self, masks: IntArray) -> FloatArray:
        """Return U_w - U_0 [w], where U_w averages the correlation over two x that share x_w."""
        weight = self._tables[0].terms.weight
        spreads = np.stack([table.spread for table in self._tables])[:, None]  # [d, 1, T]
        found = subset_sums(np.ones_like(spreads), spreads, weight, masks)[0]
        return found - float(weight @ spreads.prod(0)[0])

    def _sums(self, coefficients: FloatArray, masks: IntArray) -> FloatArray:
        """Return <c, G_w> [c, w] for symmetric coefficients [c, N, N]."""
        terms = self._tables[0].terms
        weight = np.outer(terms.weight, terms.weight).ravel()
        W = [table.products for table in self._tables]
        i, j = np.triu_indices(self._rows.shape[1])
        subsets = np.union1d([0], masks)
        out = np.zeros((len(coefficients), len(subsets)))
        step = max(64, _PIECE // (len(weight) * 32 + len(subsets)))
        for start in range(0, len(i), step):
            left, right = i[start : start + step], j[start : start + step]
            inside, outside = np.empty((2, len(W), len(left), len(weight)))
            for p, table in enumerate(self._tables):
                a, b = self._rows[p][left], self._rows[p][right]
                inside[p] = W[p][a, b]
                m = table.means.T
                outside[p] = (m[a][:, :, None] * m[b][:, None, :]).reshape(len(a), -1)
            twice = np.where(left == right, 1.0, 2.0)
            out += (coefficients[:, left, right] * twice) @ subset_sums(
                inside, outside, weight, subsets
            )
        return out[:, np.searchsorted(subsets, masks)] - out[:, :1]

    def main_effects(self, beta: FloatArray, p: int, x: FloatArray) -> FloatArray:
        """Return E[f | x_p = x] [D, m] at x [m], for coefficients beta [D, N]."""
        M: FloatArray = np.ones(1)
        for q, table in enumerate(self._tables):
            if q != p:
                M = M * table.means[:, self._rows[q]]
        here = self._tables[p].across(x)[:, :, self._rows[p]]
        weight = self._tables[p].terms.weight
        return beta @ np.einsum("t,tmi,ti->im", weight, here, np.broadcast_to(M, here[:, 0].shape))


def among(process: Posterior, inputs: IntArray) -> Posterior:
    """Return what a process says of some inputs alone, the others having one value in all runs."""
    if len(inputs) == process.X.shape[1]:
        return process
    if len(process.trend) > 1:
        columns = np.append(0, 1 + inputs)
        process = replace(process, trend=process.trend[columns])
    return replace(process, X=process.X[:, inputs], theta=process.theta[inputs])


def subset_sums(
    inside: FloatArray, outside: FloatArray, weight: FloatArray, masks: IntArray
) -> FloatArray:
    """Return sum_t w_t prod_p of inside_p where a mask has bit p, else of outside_p: [N, w].

    Parameters
    ----------
    inside, outside : [d, N, T]
        Factors of each input.
    weight : [T]
        w_t.
    masks : [w]
        Subsets; all 2^d in order are fastest, as matrix products of two halves of the inputs.
    """
    d = len(inside)
    if len(masks) == 1 << d:
        half = d // 2
        low, high = (_doubled(inside[k], outside[k]) for k in (slice(half), slice(half, d)))
        low *= weight
        found: FloatArray = high @ low.swapaxes(1, 2)  # [N, 2^(d - half), 2^half]
        return found.reshape(len(found), -1)
    out = np.empty((inside.shape[1], len(masks)))
    bits = ((masks[:, None] >> np.arange(d)) & 1).astype(bool)
    for k, mask in enumerate(bits):
        out[:, k] = np.where(mask[:, None, None], inside, outside).prod(0) @ weight
    return out


def _doubled(inside: FloatArray, outside: FloatArray) -> FloatArray:
    """Return all products [N, 2^d, T] of factors [d, N, T], subsets in the order of their masks."""
    d, N, T = inside.shape
    found = np.ones((N, 1 << d, T))
    for p in range(d):
        size = 1 << p
        np.multiply(found[:, :size], inside[p][:, None], out=found[:, size : 2 * size])
        found[:, :size] *= outside[p][:, None]
    return found
