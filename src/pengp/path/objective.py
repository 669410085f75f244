"""The penalized log likelihood Q of every cell, and what is known of it.

A cell is one data set at one lambda, numbered data set * L + index of lambda. The likelihood does
not depend on lambda: each value of it counts for all L cells of its data set.
"""

from typing import Protocol

import numpy as np

from pengp._core.arrays import FloatArray, IntArray
from pengp.model.likelihood import LogLik
from pengp.path import settings
from pengp.path.newton import Expansion
from pengp.path.terms import Term


class Likelihood(Protocol):
    """What the search needs to know of a set of likelihoods of F data sets of one size."""

    n: int
    n_theta: int
    newton: bool
    nugget: float | None

    def evaluate(
        self, which: IntArray, log_params: FloatArray, *, derivatives: bool = True
    ) -> LogLik:
        """Evaluate data sets ``which`` [B] at log_params [B, P]."""
        ...


class CellObjective:
    """Q = log L - n p_lambda of F x L cells, with bounds on the log parameters.

    Parameters
    ----------
    likelihood : Likelihood
        Of F data sets.
    lams : [L]
        Distinct, ascending.
    term : Term
        n p_lambda.
    lower, upper : [F, P]
        Bounds on the logarithms of the parameters.
    """

    def __init__(
        self,
        likelihood: Likelihood,
        lams: FloatArray,
        term: Term,
        lower: FloatArray,
        upper: FloatArray,
    ) -> None:
        self.likelihood, self.lams, self.term = likelihood, lams, term
        self.lower, self.upper = lower, upper
        F, L = len(lower), len(lams)
        self._data_set, self._lam = np.repeat(np.arange(F), L), np.tile(lams, F)  # [F * L]
        self._seen: list[tuple[IntArray, FloatArray, FloatArray]] = []

    def bounds(self, cell: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the bounds [B, P] on the log parameters of cells [B]."""
        data_set = self._data_set.take(cell)
        return self.lower.take(data_set, axis=0), self.upper.take(data_set, axis=0)

    def expand(self, cell: IntArray, point: FloatArray) -> Expansion:
        """Expand Q of cells [B] at point [B, P]."""
        data_set = self._data_set.take(cell)
        at = self.likelihood.evaluate(data_set, point)
        self._seen.append((data_set, point, at.value))
        here = Expansion(at.value, at.gradient, at.hessian)
        if self.lams[-1] == 0.0:
            return here
        return self.term.take_off(here, data_set, point, self._lam.take(cell))

    def move(self, at: Expansion, cell: IntArray, point: FloatArray, step: IntArray) -> None:
        """Turn an expansion of cells [B], in place, into that at lambda ``step`` [B] places on.

        Its value stays what it is.
        """
        data_set, here, there = (
            self._data_set.take(cell),
            self._lam.take(cell),
            self._lam.take(cell + step),
        )
        self.term.move(at, data_set, point, here, there)

    def of_candidates(self, points: FloatArray, lams: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return Q [F, L, N] of points [N, P] for lams [L], and the points [F, N, P] in bounds."""
        (F, P), N = self.lower.shape, len(points)
        data_set = np.repeat(np.arange(F), N)
        inside = np.clip(np.tile(points, (F, 1)), self.lower[data_set], self.upper[data_set])
        loglik = self.likelihood.evaluate(data_set, inside, derivatives=False).value
        self._seen.append((data_set, inside, loglik))
        objective = loglik[:, None] - self.term.values(data_set, inside, lams)
        return objective.reshape(F, N, -1).transpose(0, 2, 1), inside.reshape(F, N, P)

    def loglik(self, point: FloatArray, objective: FloatArray) -> FloatArray:
        """Return log L [C, M] of all C cells at point [C, M, P], where Q is ``objective``."""
        C, M, P = point.shape
        cell = np.repeat(np.arange(C), M)
        taken = self.term.value(self._data_set[cell], point.reshape(-1, P), self._lam[cell])
        return objective + taken.reshape(C, M)

    def best_seen(self) -> tuple[FloatArray, FloatArray]:
        """Return the largest Q [F, L] at any point evaluated so far, and these points [F, L, P]."""
        data_set, point, loglik = (np.concatenate(a) for a in zip(*self._seen, strict=True))
        best, points = [], []
        for f in range(len(self.lower)):
            mine = np.flatnonzero(data_set == f)
            objective, top = self._best(data_set[mine], point[mine], loglik[mine])
            best.append(objective)
            points.append(point[mine[top]])
        return np.stack(best), np.stack(points)

    def _best(
        self, data_set: IntArray, point: FloatArray, loglik: FloatArray
    ) -> tuple[FloatArray, IntArray]:
        """Return the largest Q for each lambda [L] among points [N, P], and which it is.

        Works through the points in pieces, since their penalties may fill an array [T, N, L].
        """
        L = len(self.lams)
        highest, top = np.full(L, -np.inf), np.zeros(L, dtype=np.int64)
        piece = max(1, settings.LARGEST_ARRAY // (self.likelihood.n_theta * L))
        for start in range(0, len(loglik), piece):
            part = slice(start, start + piece)
            term = self.term.values(data_set[part], point[part], self.lams)
            objective = loglik[part, None] - term
            best = objective.argmax(0)
            better = objective[best, np.arange(L)] > highest
            highest = np.where(better, objective[best, np.arange(L)], highest)
            top = np.where(better, start + best, top)
        return highest, top
