"""Weighted draws of several members, and what their weights and evidences say."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from pengp._core.arrays import BoolArray, FloatArray, IntArray
from pengp.bayes.members import Member
from pengp.bayes.weights import effective_size, normalised

NEGLIGIBLE = 1e-3
"""Posterior weight below which a member's own weights may be poor."""

UNTRUSTED_SHAPE = 0.7
"""Pareto shape above which weights cannot be trusted (Vehtari et al. 2024)."""


class Draws(NamedTuple):
    """All draws of all members."""

    member: IntArray  # [N]
    theta: FloatArray  # [N, d]
    nugget: FloatArray  # [N]
    sigma2: FloatArray  # [N], y' R^-1 y / n
    half: IntArray  # [N], 0 or 1
    weight: FloatArray  # [N], sums to 1

    def take(self, rows: IntArray) -> "Draws":
        """Return some of the draws."""
        columns: list[Any] = [column[rows] for column in self]
        return Draws(*columns)


def scaled_noise(noise: FloatArray | None, sigma2: FloatArray) -> FloatArray | None:
    """Return known variances [n] of the responses, divided by sigma2 [B] of draws, [B, n]."""
    return None if noise is None else noise / sigma2[:, None]


class Weighed:
    """What follows from the evidences and the weights of K members, which a subclass has."""

    if TYPE_CHECKING:  # fields or properties of a subclass

        @property
        def members(self) -> tuple[Member, ...]:
            """The K models."""

        @property
        def draws(self) -> Draws:
            """All draws with their weights."""

        @property
        def log_evidences(self) -> FloatArray:
            """Log evidence [K] of each member."""

        @property
        def log_evidence_errors(self) -> FloatArray:
            """Monte Carlo standard errors [K] of the log evidences."""

        @property
        def pareto_shapes(self) -> FloatArray:
            """Pareto shapes [K] of the members' weights."""

    @property
    def member_weights(self) -> FloatArray:
        """Posterior weights [K]: prior weight times evidence, normalised."""
        return normalised(self._log_shares)

    @property
    def log_evidence(self) -> tuple[float, float]:
        """Log evidence of the whole average, and its Monte Carlo standard error."""
        error = np.sqrt(((self.member_weights * self.log_evidence_errors) ** 2).sum())
        return float(logsumexp(self._log_shares)), float(error)

    @property
    def _log_shares(self) -> FloatArray:
        """Prior weight times evidence [K], in logarithms."""
        prior: FloatArray = np.log([member.weight for member in self.members])
        return prior + self.log_evidences

    @property
    def effective_size(self) -> float:
        """Effective number of draws of the whole average."""
        return float(effective_size(self.draws.weight))

    @property
    def pareto_shape(self) -> float:
        """The largest Pareto shape of a member that counts."""
        return float(self.pareto_shapes[self.counts].max())

    @property
    def counts(self) -> BoolArray:
        """Which members [K] have a weight that counts."""
        return self.member_weights > NEGLIGIBLE

    @property
    def untrusted(self) -> BoolArray:
        """Which members [K] count and have weights that cannot be trusted."""
        return self.counts & (self.pareto_shapes > UNTRUSTED_SHAPE)
