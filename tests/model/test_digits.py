"""Digits that small nuggets and close runs must not cost, against rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest

from pengp._core.arrays import FloatArray
from pengp.model.kernels import KERNELS, RadialKernel, correlation
from pengp.model.means import get_mean
from pengp.model.posterior import Posterior, condition

RADIAL = [name for name, kernel in KERNELS.items() if isinstance(kernel, RadialKernel)]
Row = list[Fraction]


def solved(A: list[Row], b: list[Row]) -> list[Row]:
    """Return A^-1 b, by elimination without rounding."""
    n, M = len(A), [[*row, *right] for row, right in zip(A, b, strict=True)]
    for i in range(n):
        M[i] = [v / M[i][i] for v in M[i]]
        for j in range(n):
            if j != i and M[j][i]:
                factor = M[j][i]
                M[j] = [v - factor * w for v, w in zip(M[j], M[i], strict=True)]
    return [row[n:] for row in M]


def exact_variances(posterior: Posterior) -> list[float]:
    """Return 1 + g - r' R^-1 r + u' (F' R^-1 F)^-1 u at the runs, of correlations as they are.

    From the kriging system [[R, F], [F', 0]], whose weights w make it 1 + g - w' (r, f).
    """
    X, g = posterior.X, Fraction(posterior.nugget)
    C = correlation(X, posterior.theta, kernel=posterior.kernel, nugget=0.0)
    F, n = posterior.mean.columns(X), len(X)
    k = F.shape[1]
    rows = [[*map(Fraction, [*c, *f])] for c, f in zip(C, F, strict=True)]
    below = [[Fraction(v) for v in f] + [Fraction(0)] * k for f in F.T]
    A = [list(row) for row in [*rows, *below]]
    for i in range(n):
        A[i][i] += g
    W = solved(A, [list(column) for column in zip(*rows, strict=True)])
    return [
        float(1 + g - sum(W[j][i] * rows[i][j] for j in range(n + k)))  # (r, f) of run i is row i
        for i in range(n)
    ]


def runs(n: int = 8, d: int = 2) -> tuple[FloatArray, FloatArray]:
    """Return runs that fill the unit square."""
    rng = np.random.default_rng(3)
    X = rng.random((n, d))
    return X, np.sin(5.0 * X[:, 0]) + X[:, -1]


@pytest.mark.parametrize("mean", ["zero", "constant", "linear"])
@pytest.mark.parametrize("nugget", [1e-5, 1e-12])
@pytest.mark.parametrize("name", KERNELS)
def test_a_variance_at_the_runs_is_no_rest_of_rounding(name: str, nugget: float, mean: str) -> None:
    X, y = runs()
    posterior = condition(
        X, y, np.full(2, 1e3), kernel=KERNELS[name], nugget=nugget, mean=get_mean(mean)
    )
    exact = exact_variances(posterior)
    assert np.allclose(posterior.predict(X)[1], exact, rtol=1e-10, atol=0.0)
    among = np.concatenate([np.full((3, 2), 0.5), X[[4]]])
    assert np.isclose(posterior.predict(among)[1][-1], exact[4], rtol=1e-10, atol=0.0)


def test_an_ill_conditioned_matrix_leaves_digits_of_the_variance_at_the_runs() -> None:
    X, y = runs()
    posterior = condition(X, y, np.full(2, 0.1), kernel=KERNELS["sqexp"], nugget=1e-10)
    exact = exact_variances(posterior)  # condition number 1e11
    assert np.allclose(posterior.predict(X)[1], exact, rtol=1e-4, atol=0.0)


@pytest.mark.parametrize("step", [0.0, 1e-12, 1e-6, 1e-3])
@pytest.mark.parametrize("name", RADIAL)
def test_distances_of_points_close_to_runs_keep_their_digits(name: str, step: float) -> None:
    X, theta = runs()[0] - 0.5, np.array([1e3, 900.0])
    near = X + step
    kernel = KERNELS[name]
    assert isinstance(kernel, RadialKernel)
    r, (_, _, s) = kernel.across(near, X, theta)
    for i, row in enumerate(near):
        for j, other in enumerate(X):
            parts = zip(theta, row, other, strict=True)
            exact = float(sum(Fraction(t) * (Fraction(a) - Fraction(b)) ** 2 for t, a, b in parts))
            assert abs(s[i, j] - exact) <= 1e-14 * exact + 2e-14 * abs(exact) ** 0.5
    assert np.array_equal(r, kernel.phi(s))
