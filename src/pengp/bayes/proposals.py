"""Distributions from which the sampler draws: multivariate t mixtures, and the prior itself."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import gammaln

from pengp._core.arrays import FloatArray

_PIECE = 1 << 15
"""Elements of a work array that stays in a core's cache."""


class Proposal(Protocol):
    """A density of u that can be drawn from."""

    def sample(self, rng: np.random.Generator, size: int) -> FloatArray:
        """Return draws [size, P]."""
        ...

    def density(self, u: FloatArray) -> FloatArray:
        """Return its density [N] at u [N, P]."""
        ...


@dataclass(frozen=True, eq=False)
class StudentMixture:
    """Mixture of K multivariate t distributions with one scale matrix, A A' with A = ``root``.

    Attributes
    ----------
    centres : [K, P]
        Centres.
    root : [P, P]
        Lower triangular A.
    df : int
        Degrees of freedom.
    weights : [K]
        Weights, which sum to 1.
    """

    centres: FloatArray
    root: FloatArray
    df: int
    weights: FloatArray

    def sample(self, rng: np.random.Generator, size: int) -> FloatArray:
        """Return draws [size, P]; each component gets its share of them up to one draw."""
        P, K = len(self.root), len(self.weights)
        edges = (np.arange(size) + rng.random()) / size
        which = np.minimum(np.searchsorted(np.cumsum(self.weights), edges), K - 1)
        stretch = np.sqrt(self.df / rng.chisquare(self.df, size))
        steps = rng.standard_normal((size, P)) * stretch[:, None]
        return self.centres[which] + steps @ self.root.T

    def density(self, u: FloatArray) -> FloatArray:
        """Return sum_k w_k c (1 + |A^-1 (u - c_k)|^2 / df)^(-(df + P) / 2) [N] at u [N, P]."""
        P, df = u.shape[1], self.df
        whiten = np.linalg.inv(self.root).T / np.sqrt(df)
        z, Z = (u - self.centres[0]) @ whiten, (self.centres - self.centres[0]) @ whiten
        left = np.column_stack([z, (z * z).sum(1) + 1.0, np.ones(len(z))])
        right = np.column_stack([-2.0 * Z, np.ones(len(Z)), (Z * Z).sum(1)]).T
        out, step = np.empty(len(u)), max(1, _PIECE // len(Z))
        for start in range(0, len(u), step):
            rows = slice(start, start + step)
            base = np.maximum(left[rows] @ right, 1.0)
            out[rows] = _inverse_half_power(base, df + P) @ self.weights
        log_c = gammaln(0.5 * (df + P)) - gammaln(0.5 * df) - 0.5 * P * np.log(df * np.pi)
        return out * np.exp(log_c - np.log(np.diagonal(self.root)).sum())


def _inverse_half_power(base: FloatArray, k: int) -> FloatArray:
    """Return base^(-k / 2) for an integer k > 0; products are much faster than powers."""
    factor = np.sqrt(base) if k % 2 else base
    np.reciprocal(factor, out=factor)
    exponent = k if k % 2 else k // 2
    power = np.ones_like(factor)
    while exponent:
        if exponent % 2:
            power *= factor
        exponent //= 2
        factor *= factor
    return power


@dataclass(frozen=True, eq=False)
class Blend:
    """Weighted sum of a few proposals.

    Attributes
    ----------
    parts : tuple of Proposal
        What is blended.
    weights : [K]
        Their weights, which sum to 1.
    """

    parts: tuple[Proposal, ...]
    weights: FloatArray

    def sample(self, rng: np.random.Generator, size: int) -> FloatArray:
        """Return draws [size, P]; each part gets its share of them up to one draw, on average all.

        The offset is random, so that the rounding of the shares is no bias.
        """
        ends = np.floor(np.cumsum(self.weights) * size + rng.random())
        ends[-1] = size
        counts = np.diff(np.minimum(ends, size).astype(np.int64), prepend=0)
        pairs = zip(self.parts, counts, strict=True)
        return np.concatenate([part.sample(rng, int(count)) for part, count in pairs])

    def density(self, u: FloatArray) -> FloatArray:
        """Return the density [N] at u [N, P]."""
        parts = (w * part.density(u) for part, w in zip(self.parts, self.weights, strict=True))
        return np.add.reduce(list(parts))
