"""Importance sampling against NUTS of NumPyro: CPU time to one effective size, same posterior."""

import importlib.util
import os
import time
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaincc, gammaln

from benchmarks.bayes import runs
from benchmarks.timing import line
from pengp._core.arrays import FloatArray
from pengp.bayes.components import reference_points
from pengp.bayes.members import INTEGRATED, Member
from pengp.bayes.priors import HierarchicalLasso
from pengp.bayes.sample import sample_posterior
from pengp.model.kernels import Matern52

_SIZES = (("otl_circuit", 12), ("borehole", 40), ("wing_weight", 100))
MEMBER = Member(Matern52(), 1e-5, INTEGRATED)
_CHAINS, _WARMUP, _KEPT = 4, 300, 300
_WANTED = 800.0
_E = 1e-6
"""Where the prior's Gamma starts; see `HierarchicalLasso`."""


def against_nuts() -> None:
    """Compare CPU seconds to 800 effective draws of one member, compilation not counted."""
    if importlib.util.find_spec("numpyro") is None:
        print("NUTS is left out: NumPyro is not installed; use pip install 'pengp[bench-nuts]'.")
        return
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
    print(f"NUTS of NumPyro ({_CHAINS} chains of {_WARMUP} + {_KEPT}), Matern 5/2, one core")
    for name, n in _SIZES:
        X, y = runs(name, n)
        points = reference_points(X.shape[1], np.random.default_rng(2))[:16]
        own, size = _importance(X, y)
        seconds, theta = _nuts(X, y)
        sizes = _bulk_sizes(np.log(theta)), _bulk_sizes(_means(X, y, theta, points))
        poorest = [float(each.min()) for each in sizes]
        label = f"n = {n}, d = {X.shape[1]}"
        line(f"{label}: importance sampling", own, f"{size:.0f} effective draws")
        line(
            f"{label}: NUTS",
            seconds,
            f"{poorest[0]:.0f} effective draws of log theta, {poorest[1]:.0f} of the mean"
            f" ({len(points)} points), the least each",
        )
        ratio = (seconds / min(poorest)) / (own / size)
        print(f"  -> {label}: NUTS / importance sampling at one effective size: {ratio:.0f} x")


def _importance(X: FloatArray, y: FloatArray) -> tuple[float, float]:
    """Return CPU seconds and effective size, the middle of three fits."""
    found = []
    for seed in range(3):
        start = time.process_time()
        sample = sample_posterior(
            X, y, members=(MEMBER,), effective_size=_WANTED, random_state=seed
        )
        found.append((time.process_time() - start, sample.effective_size))
    return sorted(found)[1]


def _nuts(X: FloatArray, y: FloatArray) -> tuple[float, FloatArray]:
    """Return CPU seconds of all chains, once compiled, and theta [chains, draws, d]."""
    import jax
    from jax.scipy.linalg import solve_triangular
    from numpyro.infer import MCMC, NUTS

    jax.config.update("jax_enable_x64", True)
    start = jax.numpy.asarray(
        HierarchicalLasso().sample(np.random.default_rng(0), _CHAINS, X.shape[1])
    )
    kernel = NUTS(potential_fn=partial(potential, jax.numpy, solve_triangular, constants(X, y)))
    chains = MCMC(
        kernel,
        num_warmup=_WARMUP,
        num_samples=_KEPT,
        num_chains=_CHAINS,
        chain_method="sequential",
        progress_bar=False,
    )
    chains.run(jax.random.PRNGKey(0), init_params=start)  # compiles
    before = time.process_time()
    chains.run(jax.random.PRNGKey(1), init_params=start)
    u = np.asarray(chains.get_samples(group_by_chain=True))
    return time.process_time() - before, np.exp(u)


class Constants(NamedTuple):
    """What the density of u = log theta needs: the runs, and the terms of the default prior."""

    D: FloatArray  # [n, n, d], squared differences
    y: FloatArray  # [n]
    shape: FloatArray  # [k], a of each pair of a shape and a rate
    rate: FloatArray  # [k], r
    log_factor: FloatArray  # [k], of c^d


def constants(X: FloatArray, y: FloatArray) -> Constants:
    """Return them for runs X [n, d], y [n], of which every input varies."""
    prior, d = HierarchicalLasso(), X.shape[1]
    rates = np.geomspace(*prior.rates, prior.n_rates)
    a, r = np.repeat([2.0 / d, 1.0 / d], len(rates)), np.tile(rates, 2)
    # 1 / c is the integral of (theta + e)^(a - 1) exp(-r theta) over theta > 0
    log_c = a * np.log(r) - r * _E - gammaln(a) - np.log(gammaincc(a, r * _E))
    return Constants((X[:, None] - X) ** 2, y, a, r, d * log_c)


def potential(xp: Any, solve_triangular: Any, known: Constants, u: Any) -> Any:
    """Return -log L - log p at u [d], constants dropped; ``xp`` is NumPy's or JAX's."""
    n, theta = len(known.y), xp.exp(u)
    s = known.D @ theta
    root = xp.sqrt(5.0 * xp.where(s > 0.0, s, 1.0))  # whose slope is finite
    distance = xp.where(s > 0.0, root, 0.0)
    R = (1.0 + distance + distance**2 / 3.0) * xp.exp(-distance)
    L = xp.linalg.cholesky(R + 1e-5 * xp.eye(n) + 9.0)
    z = solve_triangular(L, known.y, lower=True)
    loglik = -0.5 * n * xp.log(z @ z) - xp.log(xp.diagonal(L)).sum()
    terms = known.log_factor + (known.shape - 1.0) * xp.log(theta + _E).sum()
    terms = terms - known.rate * theta.sum()
    top = terms.max()
    return -loglik - u.sum() - top - xp.log(xp.exp(terms - top).sum())


def _means(X: FloatArray, y: FloatArray, theta: FloatArray, points: FloatArray) -> FloatArray:
    """Return predictive means [chains, draws, m] at points [m, d] of theta [chains, draws, d]."""
    flat = theta.reshape(-1, theta.shape[-1])
    found = []
    for each in np.array_split(flat, max(1, len(flat) // 100)):
        R = MEMBER.covariance(X, each, np.full(len(each), 1e-5))
        alpha = np.linalg.solve(R, y[:, None])
        found.append((MEMBER.cross(points, X, each) @ alpha)[..., 0])
    return np.concatenate(found).reshape(*theta.shape[:2], len(points))


def _bulk_sizes(values: FloatArray) -> FloatArray:
    """Return the effective sizes [k] of values [chains, draws, k], of their ranks (bulk)."""
    from numpyro.diagnostics import effective_sample_size
    from scipy.special import ndtri

    flat = values.reshape(-1, values.shape[-1])
    ranks = flat.argsort(0).argsort(0) + 1.0
    normal = ndtri((ranks - 0.375) / (len(flat) + 0.25)).reshape(values.shape)
    return np.asarray(effective_sample_size(normal))


if __name__ == "__main__":
    against_nuts()
