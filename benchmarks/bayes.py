"""The Bayesian average: seconds of a fit and of a prediction, and its draws against brute force."""

import time
from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.rivals import scikit_learn
from benchmarks.timing import line, race, verdict
from pengp._core.arrays import FloatArray
from pengp.bayes.components import predictions, reference_points, thin
from pengp.bayes.heldout import leave_out
from pengp.bayes.members import Member, default_members
from pengp.bayes.mixture import ProcessMixture
from pengp.bayes.priors import HierarchicalLasso
from pengp.bayes.sample import PosteriorSample, sample_posterior
from pengp.datasets import get_function, latin_hypercube

_SIZES = (("otl_circuit", 12, 0.3), ("borehole", 40, 1.0), ("wing_weight", 100, 5.0))
_CASES = (
    *(("forrester", 8), ("lim", 8), ("franke", 12), ("hartmann3", 10), ("ishigami", 10)),
    *(("friedman", 10), ("otl_circuit", 10), ("piston", 10), ("borehole", 10), ("wing_weight", 10)),
)
_BATCH = 2000


def runs(name: str, n: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Return a Latin hypercube [n, d] in the unit cube and standardised responses [n]."""
    function = get_function(name)
    X = latin_hypercube(n, len(function.bounds), random_state=seed)
    y = function.unit(X)
    return X, (y - y.mean()) / y.std()


def fit_and_predict() -> None:
    """Time a whole fit, its components included, and 10,000 predictions, against scikit-learn."""
    print("The average of all default members, one core")
    for name, n, goal in _SIZES:
        X, y = runs(name, n)
        new = np.random.default_rng(0).random((10_000, X.shape[1]))
        found = sample_posterior(X, y, random_state=0)
        mixture = thin(found).mixture
        runners: dict[str, Callable[[int], object]] = {
            "fit": partial(_fit, X, y),
            "predict": partial(_predict, mixture, new),
            "leave one out": partial(_leave_out, found),
            "scikit-learn": partial(scikit_learn, X, y, 10),
        }
        seconds = race(runners, 3)
        size = f"n = {n}, d = {X.shape[1]}"
        line(f"{size}: fit", seconds["fit"], f"{found.effective_size:.0f} effective draws")
        line(f"{size}: 10,000 predictions", seconds["predict"], f"{len(mixture.weight)} processes")
        line(f"{size}: leave one out", seconds["leave one out"])
        line(f"{size}: scikit-learn, 10 starts", seconds["scikit-learn"])
        verdict("fit in seconds", seconds["fit"], f"{goal}", seconds["fit"] <= goal)
        verdict("fit / scikit-learn", seconds["fit"] / seconds["scikit-learn"], "none", True)


def _fit(X: FloatArray, y: FloatArray, seed: int) -> object:
    return thin(sample_posterior(X, y, random_state=seed))


def _predict(mixture: ProcessMixture, new: FloatArray, _: int) -> object:
    return mixture.predict(new)


def _leave_out(found: PosteriorSample, seed: int) -> object:
    return leave_out(found, random_state=seed)


def brute_force(
    X: FloatArray, y: FloatArray, member: Member, points: FloatArray, size: int
) -> tuple[float, float, FloatArray, FloatArray]:
    """Return log evidence, effective size, means and sds [m] from ``size`` draws of the prior."""
    rng, prior, n = np.random.default_rng(1), HierarchicalLasso(), len(y)
    likelihood = member.likelihood(X, y)
    zeros, logs, points_drawn = np.zeros(_BATCH, dtype=np.int64), [], []
    for _ in range(size // _BATCH):
        u = prior.sample(rng, _BATCH, X.shape[1])
        logs.append(likelihood.evaluate(zeros, u, derivatives=False).value)
        points_drawn.append(u)
    loglik, u = np.concatenate(logs), np.concatenate(points_drawn)
    top = loglik.max()
    weight = np.exp(loglik - top)
    chosen = weight > 1e-9 * weight.sum() / len(weight)
    w, g = weight[chosen] / weight[chosen].sum(), float(np.max(member.nugget))
    first, second = np.zeros(len(points)), np.zeros(len(points))
    for start in range(0, len(w), _BATCH):
        theta = np.exp(u[chosen][start : start + _BATCH])
        part = w[start : start + _BATCH]
        R = member.covariance(X, theta, np.full(len(theta), g))
        r, V = member.cross(points, X, theta), np.linalg.inv(R)
        alpha = V @ y
        location = (r @ alpha[:, :, None])[..., 0]
        left = np.maximum(member.prior_variance(points) - ((r @ V) * r).sum(-1), 0.0) + g
        first += part @ location
        second += part @ (left * (alpha @ y / (n - 2))[:, None] + location**2)
    size_found = float(weight.sum() ** 2 / (weight**2).sum())
    return float(np.log(weight.mean()) + top), size_found, first, np.sqrt(second - first**2)


def against_brute_force(size: int = 1_000_000) -> None:
    """Compare evidence, mean and sd of each member with draws from the prior, on ten data sets."""
    print(f"Against {size:,} draws from the prior")
    print("  function, n, d, member, effective size; differences of log evidence, mean, sd")
    for name, n in _CASES:
        X, y = runs(name, n)
        d = X.shape[1]
        points = reference_points(d, np.random.default_rng(2))
        for member in default_members(d):
            start = time.perf_counter()
            evidence, brute, mean, sd = brute_force(X, y, member, points, size)
            found = sample_posterior(X, y, members=(member,), random_state=3)
            own, own_sd = _moments(found, points)
            apart = found.log_evidences[0] - found.log_constant - evidence
            print(
                f"  {name:<14}{n:3d} {d:3d}  {member.label:<26}{brute:10.0f}"
                f"  {apart:+.3f} +- {found.log_evidence_errors[0]:.3f}"
                f"  {np.sqrt(np.mean(((own - mean) / sd) ** 2)):8.3f}"
                f"  {np.sqrt(np.mean((own_sd / sd - 1) ** 2)):6.3f}"
                f"  ({time.perf_counter() - start:.0f} s)"
            )


def _moments(found: PosteriorSample, points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and sd [m] of all draws at points [m, d]."""
    w = found.draws.weight
    location, square = predictions(found, np.arange(len(w)), points)
    mean = w @ location
    return mean, np.sqrt(w @ (square + (location - mean) ** 2))


if __name__ == "__main__":
    fit_and_predict()
    against_brute_force()
