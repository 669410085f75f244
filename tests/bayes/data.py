"""Small data sets and their posterior by brute force from the prior."""

from typing import NamedTuple, Protocol

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.bayes.members import Member
from pengp.model.kernels import RadialKernel


class Runs(NamedTuple):
    X: FloatArray
    y: FloatArray


def runs(n: int, d: int, seed: int = 0) -> Runs:
    """Return standardised responses of a smooth function of few of its inputs."""
    X = np.random.default_rng([seed, n, d]).random((n, d))
    y = np.sin(4.0 * X[:, 0]) + (X[:, d // 2] - 0.3) ** 2 + 0.3 * X[:, -1]
    return Runs(X, (y - y.mean()) / y.std())


class Sampled(Protocol):
    """A prior that can be drawn from."""

    def sample(self, rng: np.random.Generator, size: int, d: int) -> FloatArray: ...


class Brute(NamedTuple):
    log_evidence: float
    error: float
    mean: FloatArray
    std: FloatArray
    size: float


def brute_force(at: Runs, member: Member, X_new: FloatArray, size: int, prior: Sampled) -> Brute:
    """Return log evidence and predictions from draws of the prior, all by plain linear algebra."""
    (X, y), n, c2 = at, len(at.y), member.mean.variance or 0.0  # of a constant
    rng = np.random.default_rng(99)
    total, squares, first, second = 0.0, 0.0, np.zeros(len(X_new)), np.zeros(len(X_new))
    both = np.concatenate([X, X_new])
    D = (both[:, None] - both) ** 2
    top = None
    for _ in range(size // 2000):
        theta = np.exp(prior.sample(rng, 2000, X.shape[1]))
        assert isinstance(member.nugget, float)
        assert isinstance(member.kernel, RadialKernel)
        g = member.nugget
        C = member.kernel.phi(D @ theta[:, None, :, None])[..., 0] + c2
        R = C[:, :n, :n] + g * np.eye(n)
        alpha = np.linalg.solve(R, y)
        q = alpha @ y
        loglik = -0.5 * n * np.log(q) - 0.5 * np.linalg.slogdet(R)[1]
        r = C[:, n:, :n]
        mean = (r @ alpha[:, :, None])[..., 0]
        V = np.linalg.solve(R, r.transpose(0, 2, 1)).transpose(0, 2, 1)
        scale2 = (q / n)[:, None] * (1.0 + c2 + g - (V * r).sum(-1))
        top = loglik.max() + 5.0 if top is None else top
        w = np.exp(loglik - top)
        total, squares = total + w.sum(), squares + (w * w).sum()
        first += w @ mean
        second += w @ (mean**2 + scale2 * n / (n - 2))
    mean = first / total
    relative = np.sqrt(squares / total**2)
    log_mean = np.log(total / (size // 2000 * 2000)) + top
    return Brute(
        float(log_mean), relative, mean, np.sqrt(second / total - mean**2), total**2 / squares
    )
