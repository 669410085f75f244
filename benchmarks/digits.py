"""Errors against 50-digit arithmetic by condition number: ``python -m benchmarks.digits``.

For runs in one and two inputs, nuggets and thetas that make R ever worse conditioned, the log
likelihood, its gradient, and mean and standard deviation between and at the runs are compared with
the formulas evaluated by mpmath, from the same doubles.
"""

from typing import Any

import mpmath as mp
import numpy as np

from pengp._core.linalg import condition_number
from pengp.model.kernels import get_kernel
from pengp.model.posterior import condition
from pengp.model.profile import profile_loglik


def exact(X: Any, y: Any, theta: Any, g: float, x: Any) -> tuple[Any, Any, Any, Any]:
    """Return log likelihood, gradient in log theta, mean and standard deviation at x [m, d]."""
    n, t = len(y), [mp.mpf(float(v)) for v in theta]

    def corr(a: Any, b: Any) -> Any:
        terms = (
            v * (mp.mpf(float(p)) - mp.mpf(float(q))) ** 2 for v, p, q in zip(t, a, b, strict=True)
        )
        return mp.exp(-mp.fsum(terms))

    R = mp.matrix(n, n)
    for i in range(n):
        for j in range(n):
            R[i, j] = corr(X[i], X[j]) + (mp.mpf(g) if i == j else 0)
    z = mp.matrix([mp.mpf(float(v)) for v in y])
    V = R**-1
    alpha = V * z
    q = (z.T * alpha)[0]
    value = -mp.mpf(n) / 2 * mp.log(q) - mp.log(mp.det(R)) / 2
    slopes = []
    for p in range(len(t)):
        D = mp.matrix(n, n)
        for i in range(n):
            for j in range(n):
                step = mp.mpf(float(X[i][p])) - mp.mpf(float(X[j][p]))
                D[i, j] = -t[p] * step**2 * corr(X[i], X[j])
        trace = mp.fsum((V * D)[i, i] for i in range(n))
        slopes.append(n / (2 * q) * (alpha.T * D * alpha)[0] - trace / 2)
    r = [mp.matrix([corr(a, b) for b in X]) for a in x]
    means = [(c.T * alpha)[0] for c in r]
    stds = [mp.sqrt(q / n * (1 + mp.mpf(g) - (c.T * V * c)[0])) for c in r]
    return value, slopes, means, stds


def worst(ours: Any, theirs: Any) -> float:
    """Return the largest difference in parts of the largest number."""
    size = max(abs(v) for v in theirs)
    return float(max(abs(mp.mpf(float(a)) - b) for a, b in zip(ours, theirs, strict=True)) / size)


def main() -> None:
    """Print one line for each case, by condition number."""
    mp.mp.dps = 50
    lines = []
    for d, n in ((1, 12), (2, 16)):
        rng = np.random.default_rng(d)
        X, x = rng.random((n, d)), rng.random((5, d))
        y = np.sin(5.0 * X[:, 0]) + X[:, -1]
        y = (y - y.mean()) / y.std(ddof=1)
        for g in (1e-5, 1e-8, 1e-10, 1e-12):
            for theta in (np.full(d, t) for t in (0.1, 1.0, 1e3)):
                at = profile_loglik(X, y, theta, nugget=g)
                if not at.ok:
                    continue
                known = condition(X, y, theta, kernel=get_kernel("sqexp"), nugget=g)
                value, slopes, means, stds = exact(X, y, theta, g, np.concatenate([x, X]))
                mean, variance = known.predict(np.concatenate([x, X]))
                std = np.sqrt(known.sigma2 * variance)
                errors = [
                    worst([at.value], [value]),
                    worst(at.gradient[:d], slopes),
                    worst(mean, means),
                    worst(std[:5], stds[:5]),
                    worst(std[5:], stds[5:]),
                ]
                lines.append((condition_number(known.L), d, g, theta[0], errors))
    print("condition  d  nugget   theta   log L    gradient mean     std      std at the runs")
    for number, d, g, theta, errors in sorted(lines, key=lambda line: line[0]):
        shown = "  ".join(f"{e:.0e}" for e in errors)
        print(f"{number:.0e}      {d}  {g:.0e}  {theta:5.1f}   {shown}")


if __name__ == "__main__":
    main()
