"""Held-out runs predicted with theta learned anew, by reweighting the draws of all runs.

At every draw, with P = R^-1 and alpha = P y, leaving out the runs k changes the likelihood in a
closed form: with the residual r = P_kk^-1 alpha_k,

    y' R^-1 y  falls by  alpha_k' r,    log|R| grows by  log|P_kk|,

and the held-out runs are t distributed about y_k - r with the scale matrix P_kk^-1 times the mean
square of what is left. The same draws with weights p L_-k / q are the posterior without the runs k.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pengp._core.arrays import FloatArray, IntArray, RandomState
from pengp._core.checks import as_seed
from pengp._core.linalg import ONE_THREAD, positive_inverse
from pengp.bayes.components import systematic
from pengp.bayes.law import MixtureLaw
from pengp.bayes.members import Member
from pengp.bayes.sample import PosteriorSample
from pengp.bayes.weights import effective_size, normalised
from pengp.exceptions import InputError

_LEAST = 100.0
"""Effective size of a left-out posterior below which more points are drawn for it."""

_MORE, _TIMES = 400, 10
"""Points drawn for each such posterior at a time, and how often."""

_KEPT = 400
"""Components of the law of a held-out run."""

_PIECE = 1 << 19
"""Elements [draws, n, n] that are inverted at a time."""


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Predictions of runs by the posterior that does not know them.

    Attributes
    ----------
    runs : [N]
        Which runs, in the order of the sets.
    mean, std : [N]
        Predictive mean and standard deviation, from all draws.
    laws : list of MixtureLaw
        One for each set; its points are the runs of the set, its components draws resampled by
        their weights.
    effective_size : [N]
        Of the left-out posterior that predicts the run.
    n_more : int
        Points that were drawn in addition.
    """

    runs: IntArray
    mean: FloatArray
    std: FloatArray
    laws: list[MixtureLaw]
    effective_size: FloatArray
    n_more: int


@dataclass(frozen=True, eq=False)
class _Left:
    """One set of held-out runs at N points of one member."""

    log_change: FloatArray  # [N], log L_-k - log L
    location: FloatArray  # [N, v]
    scale: FloatArray  # [N, v]


def leave_out(
    sample: PosteriorSample,
    test_sets: Sequence[IntArray] | None = None,
    *,
    random_state: RandomState = 0,
) -> HeldOut:
    """Predict each set of runs from the others, with theta learned from those alone.

    Where the reweighted draws have an effective size below 100, more points are drawn around them.

    Parameters
    ----------
    sample : PosteriorSample
        From all runs.
    test_sets : sequence of integer arrays, optional
        Runs that are held out together; each run alone if omitted.
    random_state : int, Generator, RandomState or None
        Seed of further points and of the resampling.
    """
    n = len(sample.y)
    sets = [np.array([i]) for i in range(n)] if test_sets is None else list(test_sets)
    if any(n - len(k) < 3 for k in sets):
        raise InputError("every fold must leave at least 3 runs to learn from.")
    streams = np.random.SeedSequence(as_seed(random_state)).spawn(len(sample.members) + 1)
    rngs = [np.random.default_rng(stream) for stream in streams]
    with ONE_THREAD:
        work = _Work(sample, sets, rngs[1:])
        for _ in range(_TIMES):
            thin = np.flatnonzero(work.sizes() < _LEAST)
            if not len(thin):
                break
            for k in thin:
                work.aim(int(k))
        return work.result(rngs[0])


class _Work:
    """The reweighted draws while more may be added."""

    def __init__(
        self, sample: PosteriorSample, sets: list[IntArray], rngs: list[np.random.Generator]
    ) -> None:
        self._sample, self._sets = sample, sets
        pairs = zip(sample.samplers, rngs, strict=True)
        self._samplers = [sampler.copy(rng) for sampler, rng in pairs]
        # Of each member, half and set; the points of a half stay in their order.
        self._left: list[list[list[_Left]]] = [[[], []] for _ in sample.members]
        self._first = sum(len(s) for s in self._samplers)
        for m in range(len(sample.members)):
            self._catch_up(m)

    def sizes(self) -> FloatArray:
        """Return the effective sizes [K] of all sets."""
        return np.array([float(effective_size(self._weights(k))) for k in range(len(self._sets))])

    def aim(self, k: int) -> None:
        """Draw more points for set k, from every member in proportion to its weight there."""
        weights = self._weights(k)
        ends = np.cumsum([len(s) for s in self._samplers])
        shares = [float(part.sum()) for part in np.split(weights, ends[:-1])]
        for m, share in enumerate(shares):
            size = 2 * int(np.ceil(0.5 * share * _MORE))
            if share > 0.01:
                self._samplers[m].aim(self._log_weights(m, k), size)
                self._catch_up(m)

    def result(self, rng: np.random.Generator) -> HeldOut:
        """Return the predictions."""
        sizes, laws, means, stds = self.sizes(), [], [], []
        for k, test in enumerate(self._sets):
            weights = self._weights(k)
            every = [half[k] for member in self._left for half in member]
            location = np.concatenate([left.location for left in every]).T
            scale = np.concatenate([left.scale for left in every]).T
            df = len(self._sample.y) - len(test)
            whole = MixtureLaw(location, scale, weights, df)
            means.append(whole.mean())
            stds.append(whole.std())
            chosen = systematic(weights, _KEPT, rng)
            equal = np.full(_KEPT, 1.0 / _KEPT)
            laws.append(MixtureLaw(location[:, chosen], scale[:, chosen], equal, df))
        return HeldOut(
            np.concatenate(self._sets),
            np.concatenate(means),
            np.concatenate(stds),
            laws,
            np.repeat(sizes, [len(test) for test in self._sets]),
            sum(len(s) for s in self._samplers) - self._first,
        )

    def _weights(self, k: int) -> FloatArray:
        """Return the normalised weights [N] of all members' points in the posterior without k.

        Each member's points stand for its evidence without k: weights over their number.
        """
        parts = []
        for m, (member, sampler) in enumerate(
            zip(self._sample.members, self._samplers, strict=True)
        ):
            share = np.log(member.weight) - np.log(len(sampler))
            parts.append(self._log_weights(m, k) + share)
        return normalised(np.concatenate(parts))

    def _log_weights(self, m: int, k: int) -> FloatArray:
        """Return log p L_-k / q [N] of member m's points."""
        change = [half[k].log_change for half in self._left[m]]
        return self._samplers[m].log_weights() + np.concatenate(change)

    def _catch_up(self, m: int) -> None:
        """Leave the sets out at points of member m that are new."""
        member = self._sample.members[m]
        for h, half in enumerate(self._samplers[m].halves):
            known = self._left[m][h]
            first = len(known[0].log_change) if known else 0
            new = _left_out(self._sample, member, half.u[first:], self._sets)
            both = zip(known, new, strict=True)
            self._left[m][h] = [_joined(a, b) for a, b in both] if known else new


def _joined(a: _Left, b: _Left) -> _Left:
    """Return the points of both."""
    pairs = zip(vars(a).values(), vars(b).values(), strict=True)
    return _Left(*(np.concatenate(pair) for pair in pairs))


def _left_out(
    sample: PosteriorSample, member: Member, u: FloatArray, sets: list[IntArray]
) -> list[_Left]:
    """Leave each set out at points u [N, P] of a member."""
    n, d = sample.X.shape
    step = max(1, _PIECE // n**2)
    parts = []
    for start in range(0, len(u), step):
        some = u[start : start + step]
        nugget = np.exp(some[:, d]) if some.shape[1] > d else np.full(len(some), member.nugget)
        P = positive_inverse(member.covariance(sample.X, np.exp(some[:, :d]), nugget))[0]
        alpha = P @ sample.y
        parts.append([_without(P, alpha, sample.y, k) for k in sets])
    joined = parts[0]
    for part in parts[1:]:
        joined = [_joined(a, b) for a, b in zip(joined, part, strict=True)]
    return joined


def _without(P: FloatArray, alpha: FloatArray, y: FloatArray, k: IntArray) -> _Left:
    """Leave the runs k [v] out at B points, P [B, n, n] and alpha [B, n] being R^-1 and R^-1 y."""
    n, v = len(y), len(k)
    inverse, log_determinant, _ = positive_inverse(np.ascontiguousarray(P[:, k[:, None], k]))
    residual = (inverse @ alpha[:, k, None])[..., 0]
    q = alpha @ y
    rest = np.maximum(q - np.vecdot(alpha[:, k], residual), np.finfo(float).tiny)
    # log L = -n/2 log q - 1/2 log|R|, and log|R_-k| = log|R| + log|P_kk|
    change = 0.5 * (n * np.log(q) - (n - v) * np.log(rest) - log_determinant)
    scale = np.sqrt(np.diagonal(inverse, axis1=1, axis2=2) * rest[:, None] / (n - v))
    return _Left(change, y[k] - residual, scale)
