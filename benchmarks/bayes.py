"""The Bayesian average: seconds of a fit and of a prediction, and its draws against brute force."""

import time
from typing import NamedTuple

import numpy as np

from benchmarks.timing import line
from pengp import BayesianGPRegressor
from pengp._core.arrays import FloatArray
from pengp.bayes.components import predictions, reference_points
from pengp.bayes.members import Member, default_members
from pengp.bayes.priors import get_prior
from pengp.bayes.sample import PosteriorSample, sample_posterior
from pengp.bayes.target import Target
from pengp.bayes.weights import effective_size, log_mean, normalised
from pengp.datasets import get_function, latin_hypercube

_SIZES = (
    ("otl_circuit", 12, 9, 0.3, None),
    ("borehole", 40, 9, 1.0, 0.5),
    ("wing_weight", 100, 3, 5.0, None),
)
"""Function, runs, seeds, and the goals of a fit and of predictions in seconds."""

_CASES = (
    *(("forrester", 8), ("lim", 8), ("franke", 12), ("hartmann3", 10), ("ishigami", 10)),
    *(("friedman", 10), ("otl_circuit", 10), ("piston", 10), ("borehole", 10), ("wing_weight", 10)),
)
_BATCH, _ENOUGH, _JUDGES = 2000, 5000, 100
PRIOR = "hierarchical-lasso"


def runs(name: str, n: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Return a Latin hypercube [n, d] in the unit cube and standardised responses [n]."""
    function = get_function(name)
    X = latin_hypercube(n, len(function.bounds), random_state=seed)
    y = function.unit(X)
    return X, (y - y.mean()) / y.std()


def fit_and_predict() -> None:
    """Time a whole fit and 10,000 predictions with standard deviations, in CPU seconds."""
    print("The average of all default members, CPU seconds, the median over seeds")
    for name, n, seeds, *goals in _SIZES:
        X, y = runs(name, n)
        new = np.random.default_rng(0).random((10_000, X.shape[1]))
        BayesianGPRegressor(random_state=0).fit(X, y).predict(new[:10])  # imports and caches
        both = np.array([_seconds(X, y, new, seed) for seed in range(seeds)])
        label = f"n = {n}, d = {X.shape[1]}, {seeds} seeds"
        for what, seconds, goal in zip(("fit", "predict"), np.median(both, 0), goals, strict=True):
            met = "met" if goal is None or seconds <= goal else "NOT met"
            told = "no goal" if goal is None else f"goal {goal:g} s: {met}"
            line(f"{label}: {what}", float(seconds), told)


def _seconds(X: FloatArray, y: FloatArray, new: FloatArray, seed: int) -> tuple[float, float]:
    """Return the CPU seconds of a fit and of its predictions at new [m, d]."""
    start = time.process_time()
    model = BayesianGPRegressor(random_state=seed).fit(X, y)
    fitted = time.process_time()
    model.predict(new, return_std=True)
    return fitted - start, time.process_time() - fitted


class Brute(NamedTuple):
    """What draws from the prior say of one member."""

    log_evidence: float
    effective_size: float
    n_draws: int
    mean: FloatArray  # [m]
    sd: FloatArray  # [m]


def brute_force(
    X: FloatArray, y: FloatArray, member: Member, points: FloatArray, size: int, seed: int
) -> Brute:
    """Weigh draws of the prior until their effective size is 5,000, at most ``size`` of them."""
    rng, target = np.random.default_rng([1, seed]), Target(member, X, y, get_prior(PRIOR))
    logs: list[FloatArray] = []
    drawn: list[FloatArray] = []
    enough = False
    while len(logs) * _BATCH < size and not enough:
        for _ in range(50):
            drawn.append(target.sample_prior(rng, _BATCH))
            logs.append(target.likelihood(drawn[-1])[0])
        weight = normalised(np.concatenate(logs))
        enough = bool(effective_size(weight) >= _ENOUGH)
    loglik, u = np.concatenate(logs), np.concatenate(drawn)
    chosen = weight > 1e-7 * weight.max()
    mean, sd = _weighted(X, y, member, np.exp(u[chosen]), weight[chosen], points)
    return Brute(log_mean(loglik)[0], float(effective_size(weight)), len(u), mean, sd)


def _weighted(
    X: FloatArray,
    y: FloatArray,
    member: Member,
    theta: FloatArray,
    weight: FloatArray,
    points: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return mean and sd [m] at points [m, d] of theta [N, d] with weights [N]."""
    n, g = len(y), float(np.max(member.nugget))
    total, first, second = weight.sum(), np.zeros(len(points)), np.zeros(len(points))
    for start in range(0, len(theta), _BATCH):
        some, w = theta[start : start + _BATCH], weight[start : start + _BATCH] / total
        V = np.linalg.inv(member.covariance(X, some, np.full(len(some), g)))
        r, alpha = member.cross(points, X, some), V @ y
        location = (r @ alpha[:, :, None])[..., 0]
        left = np.maximum(member.prior_variance(points) - ((r @ V) * r).sum(-1), 0.0) + g
        first += w @ location
        second += w @ (left * (alpha @ y / (n - 2))[:, None] + location**2)
    return first, np.sqrt(second - first**2)


def against_brute_force(size: int = 1_000_000) -> None:
    """Compare evidence, mean and sd of each member with draws from the prior, on ten data sets."""
    print(f"Against up to {size:,} draws from the prior, until their effective size is {_ENOUGH}")
    print("  function, n, d, member, brute force's draws and effective size;")
    print("  log evidence's difference and its reported errors, rms differences of mean and sd")
    ratios, seed = [], 0
    for name, n in _CASES:
        X, y = runs(name, n)
        d = X.shape[1]
        points = reference_points(d, np.random.default_rng(2))[:32]
        for member in default_members(d):
            seed += 1  # no two posteriors share draws, so that their errors are independent
            brute = brute_force(X, y, member, points, size, seed)
            found = sample_posterior(X, y, members=(member,), random_state=seed)
            own, own_sd = all_draws(found, points)
            apart = found.log_evidences[0] - found.log_constant - brute.log_evidence
            error = np.hypot(found.log_evidence_errors[0], brute.effective_size**-0.5)
            judges = brute.effective_size >= _JUDGES
            ratios += [apart / error] if judges else []
            print(
                f"  {name:<12}{n:3d} {d:3d}  {member.label:<32}{brute.n_draws:8d}"
                f"{brute.effective_size:7.0f}  {apart:+.3f} +- {found.log_evidence_errors[0]:.3f}"
                f" +- {brute.effective_size**-0.5:.3f}"
                f"  {np.sqrt(np.mean(((own - brute.mean) / brute.sd) ** 2)):6.3f}"
                f"  {np.sqrt(np.mean((own_sd / brute.sd - 1) ** 2)):6.3f}"
                + ("" if judges else "  decides nothing"),
                flush=True,
            )
    inside = int((np.abs(ratios) < 2.0).sum())
    print(f"  log evidence within 2 errors: {inside} of {len(ratios)}")
    rms = np.sqrt(np.mean(np.square(ratios)))
    print(f"  in errors: mean {np.mean(ratios):+.2f}, rms {rms:.2f}")


def all_draws(found: PosteriorSample, points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and sd [m] of all draws at points [m, d]."""
    w = found.draws.weight
    location, square = predictions(found, np.arange(len(w)), points)
    mean = w @ location
    return mean, np.sqrt(w @ (square + (location - mean) ** 2))


if __name__ == "__main__":
    fit_and_predict()
    against_brute_force()
