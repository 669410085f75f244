"""Errors of test runs without the correlation between them (Bastos and O'Hagan 2009).

With the predictive mean m and covariance V of all test runs together, the Mahalanobis distance of
the errors e = y - m is e' V^-1 e. A Cholesky factor with pivoting takes the runs in the order of
their variance given those before: V = P L L' P'. The pivoted errors L^-1 P' e are uncorrelated with
variance 1, one for each run, and their squares add up to the distance.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from pengp._core.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class PivotedFactor:
    """V = P L L' P' up to rounding.

    Attributes
    ----------
    order : [r]
        Runs by the variance that is left given those before, the largest first; r is the rank.
    L : [r, r]
        Lower triangular factor of V in that order.
    """

    order: IntArray
    L: FloatArray

    @classmethod
    def of(cls, V: FloatArray) -> "PivotedFactor":
        """Decompose V [m, m]; runs that the others determine up to rounding are left out."""
        factor, pivots, rank, _ = dpstrf(V, lower=1)
        kept = slice(0, int(rank))
        return cls(np.asarray(pivots[kept] - 1, dtype=np.int64), np.tril(factor[kept, kept]))

    def errors(self, e: FloatArray) -> FloatArray:
        """Return the pivoted errors [..., r] of errors e [..., m]."""
        rows = np.atleast_2d(e)[:, self.order]
        found: FloatArray = solve_triangular(self.L, rows.T, lower=True).T
        return found.reshape(*e.shape[:-1], len(self.order))


@dataclass(frozen=True)
class StudentReference:
    """Law of pivoted errors where sigma2 was estimated: sqrt(scale) times a t with df.

    With y' P y ~ sigma2 chi2 with df = n - q degrees of freedom and sigma2 estimated by
    y' P y / c, scale is c / df: n / (n - q) for c = n. The distance of r errors is
    then scale r F(r, df), in place of the chi-squared law of a known sigma2 (df = inf).
    """

    df: float
    scale: float

    def band(self, size: int, level: float) -> FloatArray:
        """Return the central intervals [size, 2] of errors."""
        end = np.sqrt(self.scale) * float(stats.t.ppf(0.5 + 0.5 * level, self.df))
        return np.tile([-end, end], (size, 1))

    def expected(self, size: int) -> float:
        """Return the mean of the distance of so many errors; infinite up to df = 2."""
        if np.isinf(self.df):
            return self.scale * size
        return self.scale * size * self.df / (self.df - 2.0) if self.df > 2.0 else np.inf

    def tails(self, errors: FloatArray) -> tuple[float, float]:
        """Return the probabilities of a smaller and of a larger sum of squares of errors [r]."""
        size, total = len(errors), float(errors @ errors) / self.scale
        if np.isinf(self.df):
            return float(stats.chi2.cdf(total, size)), float(stats.chi2.sf(total, size))
        law = stats.f(size, self.df)
        return float(law.cdf(total / size)), float(law.sf(total / size))

    def balance(self, errors: FloatArray) -> tuple[float, float]:
        """Return the probabilities of a smaller and of a larger `late_to_early`.

        Whatever sigma2 is, the ratio of the mean squares is F(r - h, h).
        """
        early = (len(errors) + 1) // 2
        law, ratio = stats.f(len(errors) - early, early), late_to_early(errors)
        return float(law.cdf(ratio)), float(law.sf(ratio))


@dataclass(frozen=True, eq=False)
class SimulatedReference:
    """Law of pivoted errors by draws [S, r] of them."""

    draws: FloatArray

    def band(self, size: int, level: float) -> FloatArray:
        """Return the central intervals [size, 2] of errors."""
        ends = np.quantile(self.draws[:, :size], [0.5 - 0.5 * level, 0.5 + 0.5 * level], axis=0)
        return np.ascontiguousarray(ends.T)

    def expected(self, size: int) -> float:
        """Return the mean of the distance of so many errors, which have variance 1."""
        return float(size)

    def tails(self, errors: FloatArray) -> tuple[float, float]:
        """Return the probabilities of a smaller and of a larger sum of squares of errors [r]."""
        return _tails((self.draws**2).sum(1), float(errors @ errors))

    def balance(self, errors: FloatArray) -> tuple[float, float]:
        """Return the probabilities of a smaller and of a larger `late_to_early`."""
        return _tails(late_to_early(self.draws), float(late_to_early(errors)))


def late_to_early(errors: FloatArray) -> FloatArray:
    """Return the mean square of the last r - h errors over that of the first h = (r + 1) // 2.

    Of errors [..., r] in the order of pivots: runs that others should predict well against runs
    that are far from all others.
    """
    h = (errors.shape[-1] + 1) // 2
    squares = errors**2
    return np.asarray(squares[..., h:].mean(-1) / squares[..., :h].mean(-1))


def _tails(drawn: FloatArray, seen: float) -> tuple[float, float]:
    """Return the shares of draws [S] up to and from what was seen, which counts as a draw."""
    S = len(drawn) + 1
    return (1 + int((drawn <= seen).sum())) / S, (1 + int((drawn >= seen).sum())) / S
