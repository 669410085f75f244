"""Held-out runs predicted with theta learned anew, by reweighting the draws of all runs.

At every draw, with P = R^-1 and alpha = P y, leaving out the runs k changes the likelihood in a
closed form: with the residual r = P_kk^-1 alpha_k,

    y' R^-1 y  falls by  alpha_k' r,    log|R| grows by  log|P_kk|,

and the held-out runs are t distributed about y_k - r with the scale matrix P_kk^-1 times the mean
square of what is left. The same draws with weights p L_-k / q are the posterior without the runs k.
With P = W W' only the rows k of W are needed for P_kk. Where the noise is known and sigma2 is drawn
with theta, the held-out runs, their noise included, are normal with the covariance sigma2 P_kk^-1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pengp._core.arrays import BoolArray, FloatArray, IntArray, RandomState
from pengp._core.checks import as_seed
from pengp._core.linalg import ONE_THREAD, inverse_factors
from pengp._core.progress import tell
from pengp.bayes.components import systematic
from pengp.bayes.law import MixtureLaw
from pengp.bayes.members import Member
from pengp.bayes.sample import PosteriorSample, nuggets_of
from pengp.bayes.weights import effective_size, normalised
from pengp.exceptions import InputError

LEAST = 100.0
"""Effective size of a left-out posterior below which more points are drawn for it."""

_MORE, _MOST, _TIMES = 400, 2000, 10
"""Points drawn for such posteriors at a time: for one, for five or more; and how often."""

_FAR = 25.0
"""Draws whose log weight is so much below the largest are left out of all."""

_KEPT = 400
"""Components of the law of a held-out run."""

_PIECE = 1 << 17
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
    n_thin : int
        Sets for which the draws of all runs had an effective size below 100.
    n_more : int
        Points that were drawn for those.
    """

    runs: IntArray
    mean: FloatArray
    std: FloatArray
    laws: list[MixtureLaw]
    effective_size: FloatArray
    n_thin: int
    n_more: int


class _Left(NamedTuple):
    """S sets of R held-out runs in all at N points of one member."""

    log_change: FloatArray  # [N, S], log L_-k - log L; -inf for points that are too far away
    location: FloatArray  # [N, R]
    scale: FloatArray  # [N, R]


def leave_out(
    sample: PosteriorSample,
    test_sets: Sequence[IntArray] | None = None,
    *,
    random_state: RandomState = 0,
) -> HeldOut:
    """Predict each set of runs from the others, with theta learned from those alone.

    Where the reweighted draws have an effective size below 100, more points are drawn around them,
    up to ten times. Draws with less than exp(-25) of the largest weight are passed over: they would
    matter only if a run were e^25 times as likely under others as under them.

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
    work, rng = _filled(sample, sets, random_state)
    return work.result(rng)


class LeftOutDraws(NamedTuple):
    """Draws that stand for the posteriors without each of n runs."""

    member: IntArray  # [N]
    theta: FloatArray  # [N, d]
    nugget: FloatArray  # [N]
    sigma2: FloatArray  # [N]
    weight: FloatArray  # [N, n], each column sums to 1


def left_out_draws(sample: PosteriorSample, random_state: RandomState = 0) -> LeftOutDraws:
    """Return the draws by which `leave_out` predicts each run from the others."""
    sets = [np.array([i]) for i in range(len(sample.y))]
    return _filled(sample, sets, random_state)[0].draws()


def _filled(
    sample: PosteriorSample, sets: list[IntArray], random_state: RandomState
) -> tuple["_Work", np.random.Generator]:
    """Return reweighted draws with further ones where they were few, and a stream for the rest."""
    streams = np.random.SeedSequence(as_seed(random_state)).spawn(len(sample.members) + 1)
    rngs = [np.random.default_rng(stream) for stream in streams]
    with ONE_THREAD:
        work = _Work(sample, sets, rngs[1:])
        for _ in range(_TIMES):
            thin = np.flatnonzero(work.sizes() < LEAST)
            if not len(thin):
                break
            work.aim(thin)
    return work, rngs[0]


class _Work:
    """The reweighted draws while more may be added."""

    def __init__(
        self, sample: PosteriorSample, sets: list[IntArray], rngs: list[np.random.Generator]
    ) -> None:
        self._sample, self._sets = sample, sets
        pairs = zip(sample.samplers, rngs, strict=True)
        self._samplers = [sampler.copy(rng) for sampler, rng in pairs]
        self._left: list[tuple[_Left, _Left]] = []  # of each member's halves
        self._n_first, self._n_done = sum(len(s) for s in self._samplers), 0
        floor = max(float(self._whole(m).max()) for m in range(len(sample.members))) - _FAR
        for m, sampler in enumerate(self._samplers):
            cut, whole = len(sampler.halves[0].u), self._whole(m)
            parts = zip(sampler.halves, (whole[:cut], whole[cut:]), strict=True)
            first, second = (self._leave_out(m, half.u, w > floor) for half, w in parts)
            self._left.append((first, second))
        self._n_thin = int((self.sizes() < LEAST).sum())

    def sizes(self) -> FloatArray:
        """Return the effective sizes [S] of all sets."""
        return effective_size(self._weights())

    def aim(self, thin: IntArray) -> None:
        """Draw more points for some of the sets, from every member as its weight there says."""
        weights = self._weights()[thin].mean(0)
        ends = np.cumsum([len(s) for s in self._samplers])
        total = min(_MORE * len(thin), _MOST)
        for m, part in enumerate(np.split(weights, ends[:-1])):
            share = float(part.sum())
            if share > 0.01:
                self._grow(m, part, 2 * int(np.ceil(0.5 * share * total)))

    def draws(self) -> LeftOutDraws:
        """Return the points of all members and their weights."""
        d, parts = self._sample.X.shape[1], []
        for k, (member, sampler) in enumerate(
            zip(self._sample.members, self._samplers, strict=True)
        ):
            u = sampler.u
            nugget = nuggets_of(member, u, d)
            parts.append((np.full(len(u), k), np.exp(u[:, :d]), nugget, sampler.sigma2))
        of, theta, g, sigma2 = (np.concatenate(part) for part in zip(*parts, strict=True))
        return LeftOutDraws(of, theta, g, sigma2, self._weights().T)

    def result(self, rng: np.random.Generator) -> HeldOut:
        """Return the predictions."""
        laws, means, stds = [], [], []
        every = [half for member in self._left for half in member]
        location = np.concatenate([left.location for left in every]).T
        scale = np.concatenate([left.scale for left in every]).T
        ends = np.cumsum([len(test) for test in self._sets])
        weights = self._weights()
        for w, test, end in zip(weights, self._sets, ends, strict=True):
            rows = slice(end - len(test), end)
            df = len(self._sample.y) - len(test) if self._sample.noise is None else np.inf
            whole = MixtureLaw(location[rows], scale[rows], w, df)
            means.append(whole.mean())
            stds.append(whole.std())
            chosen = systematic(w, _KEPT, rng)
            equal = np.full(_KEPT, 1.0 / _KEPT)
            laws.append(MixtureLaw(location[rows, chosen], scale[rows, chosen], equal, df))
        return HeldOut(
            np.concatenate(self._sets),
            np.concatenate(means),
            np.concatenate(stds),
            laws,
            np.repeat(effective_size(weights), [len(test) for test in self._sets]),
            self._n_thin,
            sum(len(s) for s in self._samplers) - self._n_first,
        )

    def _whole(self, m: int) -> FloatArray:
        """Return log weights [N] of member m's points in the posterior of all runs.

        Each member's points stand for its evidence: weights over their number.
        """
        member, sampler = self._sample.members[m], self._samplers[m]
        return sampler.log_weights() + np.log(member.weight) - np.log(len(sampler))

    def _weights(self) -> FloatArray:
        """Return normalised weights [S, N] of all members' points, one row a left-out posterior."""
        parts = []
        for m, halves in enumerate(self._left):
            change = np.concatenate([half.log_change for half in halves])
            parts.append(self._whole(m)[:, None] + change)
        return normalised(np.concatenate(parts).T)

    def _grow(self, m: int, weights: FloatArray, size: int) -> None:
        """Draw points of member m around those with large weights [N]."""
        sampler = self._samplers[m]
        with np.errstate(divide="ignore"):
            sampler.aim(np.log(weights), size)
        new = [half.u[-(size // 2) :] for half in sampler.halves]
        near = np.ones(size // 2, dtype=bool)
        pairs = zip(self._left[m], new, strict=True)
        first, second = (_joined(old, self._leave_out(m, u, near)) for old, u in pairs)
        self._left[m] = (first, second)

    def _leave_out(self, m: int, u: FloatArray, near: BoolArray) -> _Left:
        """Leave the sets out at points u [N, P] of member m that are ``near`` [N]."""
        R, S, N = sum(len(test) for test in self._sets), len(self._sets), len(u)
        found = _Left(np.full((N, S), -np.inf), np.zeros((N, R)), np.ones((N, R)))
        step = max(1, _PIECE // len(self._sample.y) ** 2)
        which = np.flatnonzero(near)
        for start in range(0, len(which), step):
            some = which[start : start + step]
            parts = _left_out(self._sample, self._sample.members[m], u[some], self._sets)
            for whole, part in zip(found, parts, strict=True):
                whole[some] = part
            points = self._n_done + start
            tell("Leaving out each run", "points", points, max(points, self._n_first))
        self._n_done += N
        return found


def _joined(a: _Left, b: _Left) -> _Left:
    """Return the points of both."""
    return _Left(*(np.concatenate(pair) for pair in zip(a, b, strict=True)))


def _left_out(
    sample: PosteriorSample, member: Member, u: FloatArray, sets: list[IntArray]
) -> _Left:
    """Leave each set out at points u [N, P] of a member."""
    N, d, noise = len(u), sample.X.shape[1], sample.noise
    nugget = nuggets_of(member, u, d)
    sigma2 = None if noise is None else np.exp(-u[:, -1])
    scaled = None if noise is None else noise * np.exp(u[:, -1:])
    W = inverse_factors(member.covariance(sample.X, np.exp(u[:, :d]), nugget, scaled))[0]
    sizes = np.array([len(test) for test in sets])
    ends = np.cumsum(sizes)
    shapes = (N, len(sets)), (N, ends[-1]), (N, ends[-1])
    found = _Left(*(np.empty(shape) for shape in shapes))
    for v in np.unique(sizes):  # all sets of one size at once
        of = np.flatnonzero(sizes == v)
        runs = (ends[of, None] - v + np.arange(v)).ravel()
        change, location, scale = without(W, sample.y, np.array([sets[k] for k in of]), sigma2)
        found.log_change[:, of] = change
        found.location[:, runs] = location.reshape(N, -1)
        found.scale[:, runs] = scale.reshape(N, -1)
    return found


def without(
    W: FloatArray, y: FloatArray, sets: IntArray, sigma2: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Leave out each of the sets [S, v] at B points, W [B, n, n] being such that R^-1 = W W'.

    Return the changes [B, S] of log L, and locations and scales [B, S, v]; sigma2 [B] is given
    where it is not integrated out.
    """
    v, n = sets.shape[1], len(y)
    z = y @ W
    alpha, q = (W @ z[:, :, None])[..., 0], np.vecdot(z, z)[:, None]
    rows = W[:, sets]  # [B, S, v, n]
    P = rows @ rows.swapaxes(2, 3)
    inverse, log_determinant = np.linalg.inv(P), np.linalg.slogdet(P)[1]
    residual = (inverse @ alpha[:, sets, None])[..., 0]
    lost, location = np.vecdot(alpha[:, sets], residual), y[sets] - residual
    squares = np.diagonal(inverse, axis1=2, axis2=3)
    if sigma2 is not None:
        # log L = -n/2 log sigma2 - 1/2 log|R| - q / (2 sigma2)
        s = sigma2[:, None]
        change = 0.5 * (v * np.log(s) - log_determinant + lost / s)
        return change, location, np.sqrt(squares * s[..., None])
    rest = np.maximum(q - lost, np.finfo(float).tiny)
    # log L = -n/2 log q - 1/2 log|R|, and log|R_-k| = log|R| + log|P_kk|
    change = 0.5 * (n * np.log(q) - (n - v) * np.log(rest) - log_determinant)
    squares = squares * rest[:, :, None] / (n - v)
    return change, location, np.sqrt(squares)
