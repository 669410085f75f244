"""The batched likelihood against slow formulas, finite differences, limits and its neighbours."""

from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import numpy as np
import pytest

from pengp._core.arrays import FloatArray, IntArray
from pengp.model.kernels import KERNELS, SquaredExponential
from pengp.model.likelihood import BatchLikelihood, LogLik
from pengp.model.means import MEANS
from pengp.model.profile import profile_loglik
from pengp.path.cells import CellObjective
from pengp.path.newton import Expansion
from pengp.path.penalties import PENALTIES, term_of
from tests.problems import BASES, VANISHING, slow_loglik, smooth_runs

each_kernel = pytest.mark.parametrize("kernel", KERNELS)
each_vanishing = pytest.mark.parametrize("kernel", VANISHING)
each_mean = pytest.mark.parametrize("mean", MEANS)
each_nugget = pytest.mark.parametrize("nugget", [1e-3, None], ids=["fixed", "estimated"])
each_shape = pytest.mark.parametrize("isotropic", [False, True], ids=["aniso", "iso"])


def some_sets(F: int, n: int, d: int) -> tuple[FloatArray, FloatArray]:
    """Return F different data sets; y is not centred, so that the mean matters."""
    runs = [smooth_runs(n, d, seed) for seed in range(F)]
    return np.stack([X for X, _ in runs]), np.stack([y for _, y in runs]) + 0.7


def same_bits(a: LogLik, b: LogLik) -> bool:
    """Tell whether two results agree to the last bit."""
    return all(np.array_equal(x, z, equal_nan=True) for x, z in zip(a, b, strict=True))


def take(at: LogLik, rows: IntArray) -> LogLik:
    """Return some items of a result."""
    return LogLik._make(field[rows] for field in at)


@each_kernel
@each_mean
@each_nugget
@each_shape
def test_values_against_plain_dense_formulas(
    kernel: str, mean: str, nugget: float | None, isotropic: bool
) -> None:
    X, y = some_sets(3, 7, 3)
    lik = BatchLikelihood(X, y, KERNELS[kernel], nugget, mean=MEANS[mean], isotropic=isotropic)
    rng = np.random.default_rng(0)
    which = np.array([2, 0, 1, 1, 0, 2, 2])
    u = rng.uniform(-2.0, 3.0, (7, lik.n_params))
    u[:, lik.n_theta :] = rng.uniform(-7.0, -1.0, (7, lik.n_params - lik.n_theta))
    at = lik.evaluate(which, u)
    assert at.ok.all()
    for b, f in enumerate(which):
        theta = np.broadcast_to(np.exp(u[b, : lik.n_theta]), 3)
        g = float(np.exp(u[b, -1])) if nugget is None else nugget
        value, sigma2, average = slow_loglik(X[f], y[f], theta, g, kernel, mean)
        assert at.value[b] == pytest.approx(value, rel=1e-11)
        assert at.sigma2[b] == pytest.approx(sigma2, rel=1e-10)
        assert at.mean[b] == pytest.approx(average, rel=1e-10, abs=1e-13)
    plain = lik.evaluate(which, u, derivatives=False)
    assert np.allclose(plain.value, at.value, rtol=1e-13)
    assert np.allclose(plain.sigma2, at.sigma2, rtol=1e-12)


def expand(lik: BatchLikelihood, penalty: str, lam: float, u: FloatArray) -> Expansion:
    """Expand the penalized likelihood, as the search does, at u [B, P] of the first data set."""
    low, high = np.full((1, lik.n_params), -30.0), np.full((1, lik.n_params), 30.0)
    term = term_of(PENALTIES[penalty], lik.X, lik.nugget, isotropic=lik.isotropic)
    objective = CellObjective(lik, np.array([lam]), term, low, high)
    return objective.expand(np.zeros(len(u), dtype=np.int64), u)


@pytest.mark.parametrize("penalty", PENALTIES)
@each_kernel
@each_mean
@each_nugget
@each_shape
def test_gradient_and_hessian_against_finite_differences(
    penalty: str, kernel: str, mean: str, nugget: float | None, isotropic: bool
) -> None:
    X, y = some_sets(1, 8, 2)
    lik = BatchLikelihood(X, y, KERNELS[kernel], nugget, mean=MEANS[mean], isotropic=isotropic)
    # With lambda = 0.4, SCAD bends at 0.4 and 1.48: the points lie on all three pieces.
    u = np.log([[0.25, 0.8, 2e-2], [0.9, 0.3, 1e-3], [2.1, 5.0, 0.2]])
    u = u[:, [0, 2] if isotropic else [0, 1, 2]][:, : lik.n_params]
    P, h = lik.n_params, 1e-5
    at = expand(lik, penalty, 0.4, u)
    for p in range(P):
        e = h * np.eye(P)[p]
        up, down = expand(lik, penalty, 0.4, u + e), expand(lik, penalty, 0.4, u - e)
        assert np.allclose(
            at.gradient[:, p], (up.objective - down.objective) / (2 * h), rtol=1e-6, atol=1e-6
        )
        assert np.allclose(
            at.hessian[:, :, p], (up.gradient - down.gradient) / (2 * h), rtol=1e-6, atol=1e-6
        )
    assert np.allclose(at.hessian, at.hessian.transpose(0, 2, 1), rtol=1e-9, atol=1e-9)


@each_kernel
def test_derivatives_where_two_inputs_of_a_pair_are_equal(kernel: str) -> None:
    X, y = some_sets(1, 6, 2)
    X[0, 3] = X[0, 1]
    lik = BatchLikelihood(X, y, KERNELS[kernel], 1e-2)
    which, u, h = np.zeros(1, dtype=np.int64), np.log([[0.7, 2.0]]), 1e-5
    at = lik.evaluate(which, u)
    assert np.isfinite(at.hessian).all()
    for p in range(2):
        e = h * np.eye(2)[p]
        up, down = lik.evaluate(which, u + e), lik.evaluate(which, u - e)
        assert np.allclose(at.gradient[0, p], (up.value - down.value) / (2 * h), rtol=1e-6)
        assert np.allclose(at.hessian[0, p], (up.gradient - down.gradient)[0] / (2 * h), rtol=1e-5)


@each_kernel
@each_mean
def test_isotropic_is_anisotropic_with_equal_thetas(kernel: str, mean: str) -> None:
    X, y = some_sets(2, 7, 3)
    both = [
        BatchLikelihood(X, y, KERNELS[kernel], None, mean=MEANS[mean], isotropic=iso)
        for iso in (True, False)
    ]
    which, u, g = np.array([0, 1, 0]), np.log([0.1, 1.3, 8.0]), np.log([1e-5, 1e-3, 0.1])
    one = both[0].evaluate(which, np.stack([u, g], axis=1))
    all_ = both[1].evaluate(which, np.stack([u, u, u, g], axis=1))
    assert np.allclose(one.value, all_.value, rtol=1e-12)
    S = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert np.allclose(one.gradient, all_.gradient @ S, rtol=1e-8, atol=1e-8)
    assert np.allclose(one.hessian, S.T @ all_.hessian @ S, rtol=1e-8, atol=1e-7)


@pytest.mark.parametrize(("n", "g"), [(6, 1e-5), (9, 1e-2), (5, 1.0)])
@each_kernel
def test_limit_of_theta_to_zero(n: int, g: float, kernel: str) -> None:
    """R -> J + g I, R^-1 -> (I - J / (n + g)) / g, |R| = g^(n-1) (n + g)."""
    X, y = some_sets(1, n, 2)
    lik = BatchLikelihood(X, y, KERNELS[kernel], g)
    at = lik.evaluate(np.zeros(1, dtype=np.int64), np.full((1, 2), np.log(1e-13)))
    square = y[0] @ y[0] - y[0].sum() ** 2 / (n + g)
    log_det = (n - 1) * np.log(g) + np.log(n + g)
    assert at.sigma2[0] == pytest.approx(square / g / n, rel=1e-6)
    assert at.value[0] == pytest.approx(-0.5 * n * np.log(square / g) - 0.5 * log_det, rel=1e-6)


@pytest.mark.parametrize("g", [1e-5, 0.3])
@each_vanishing
@each_mean
def test_limit_of_theta_to_infinity(g: float, kernel: str, mean: str) -> None:
    """R -> (1 + g) I, generalised least squares becomes least squares."""
    X, y = some_sets(1, 7, 2)
    n = 7
    lik = BatchLikelihood(X, y, KERNELS[kernel], g, mean=MEANS[mean])
    at = lik.evaluate(np.zeros(1, dtype=np.int64), np.full((1, 2), np.log(1e9)))
    F = BASES[mean](X[0])
    fitted = F @ np.linalg.lstsq(F, y[0])[0]
    square = float(((y[0] - fitted) ** 2).sum()) / (1.0 + g)
    assert at.mean[0] == pytest.approx(fitted.mean(), rel=1e-12)
    assert at.sigma2[0] == pytest.approx(square / n, rel=1e-12)
    expected = -0.5 * n * np.log(square) - 0.5 * n * np.log(1.0 + g)
    assert at.value[0] == pytest.approx(expected, rel=1e-12)
    assert np.allclose(at.gradient, 0.0, atol=1e-12)


@each_kernel
@each_mean
def test_an_impossible_item_is_flagged_and_changes_no_other(kernel: str, mean: str) -> None:
    X, y = some_sets(3, 8, 2)
    X[1, 5] = X[1, 2]  # singular without a nugget
    lik = BatchLikelihood(X, y, KERNELS[kernel], 0.0, mean=MEANS[mean])
    which = np.array([0, 1, 2, 0, 1, 0])
    u = np.log([[3.0, 9.0], [3.0, 9.0], [5.0, 20.0], [1e-13, 1e-13], [1e2, 1e2], [7.0, 7.0]])
    at = lik.evaluate(which, u)
    assert at.ok.tolist() == [True, False, True, False, False, True]
    bad = np.flatnonzero(~at.ok)
    assert (at.value[bad] == -np.inf).all()
    assert (at.gradient[bad] == 0.0).all()
    assert (at.hessian[bad] == 0.0).all()
    for b in np.flatnonzero(at.ok):
        alone = lik.evaluate(which[b : b + 1], u[b : b + 1])
        assert same_bits(take(at, np.array([b])), alone)


def test_neither_batch_nor_chunks_change_a_bit() -> None:
    for (n, d), mean in product([(5, 1), (9, 6), (30, 4)], MEANS.values()):
        X, y = some_sets(3, n, d)
        lik = BatchLikelihood(X, y, KERNELS["matern52"], None, mean=mean)
        rng = np.random.default_rng(1)
        B = 2 * lik.batch + 3 if n == 30 else 41
        which, u = rng.integers(0, 3, B), rng.uniform(-3.0, 2.0, (B, d + 1))
        whole = lik.evaluate(which, u)
        single = [lik.evaluate(which[b : b + 1], u[b : b + 1]) for b in range(B)]
        assert same_bits(whole, LogLik._make(map(np.concatenate, zip(*single, strict=True))))
        alone = BatchLikelihood(X[1:2], y[1:2], KERNELS["matern52"], None, mean=mean)
        mine = np.flatnonzero(which == 1)
        again = alone.evaluate(np.zeros(len(mine), dtype=np.int64), u[mine])
        assert same_bits(take(whole, mine), again)
        assert lik.n_evaluations == 2 * B


def test_a_response_equal_to_its_mean_is_not_possible() -> None:
    X, _ = some_sets(1, 5, 1)
    lik = BatchLikelihood(X, np.zeros((1, 5)), KERNELS["sqexp"], 1e-5)
    at = lik.evaluate(np.zeros(1, dtype=np.int64), np.zeros((1, 1)))
    assert at.value[0] == -np.inf
    assert not at.ok[0]


def test_likelihoods_that_share_work_arrays_do_not_disturb_each_other() -> None:
    # Different sizes, one of them larger than the arrays, in turns and in threads.
    problems = []
    for F, n, d in ((3, 6, 2), (1, 90, 17), (2, 9, 4)):
        likelihood = BatchLikelihood(*some_sets(F, n, d), KERNELS["sqexp"], 1e-3)
        u = np.random.default_rng(n).uniform(-3.0, 2.0, (12, d))
        problems.append((likelihood, np.arange(12) % F, u))

    def evaluate(k: int) -> LogLik:
        likelihood, which, u = problems[k % 3]
        return likelihood.evaluate(which, u)

    alone = [evaluate(k) for k in range(3)]
    assert all(same_bits(evaluate(k), alone[k % 3]) for k in range(9))
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(evaluate, range(120)))
    assert all(same_bits(at, alone[k % 3]) for k, at in enumerate(together))


class OwnArrays(SquaredExponential):
    """A kernel that keeps the arrays it returns, and does not want them changed."""

    def phi(self, s: FloatArray) -> FloatArray:
        """Return exp(-s), read-only and of the caller's own precision."""
        values: Any = np.exp(-s).astype(np.float32)
        values.flags.writeable = False
        return values


def test_the_arrays_of_a_kernel_are_left_alone() -> None:
    X, y = some_sets(1, 7, 2)
    lik = BatchLikelihood(X, y, OwnArrays(), 1e-2)
    which, u = np.zeros(3, dtype=np.int64), np.log([[1.0, 2.0], [3.0, 0.1], [9.0, 9.0]])
    expected = BatchLikelihood(X, y, SquaredExponential(), 1e-2).evaluate(which, u).value
    for derivatives in (True, False):
        value = lik.evaluate(which, u, derivatives=derivatives).value
        np.testing.assert_allclose(value, expected, rtol=1e-4)


def test_an_infinite_curvature_on_the_diagonal_does_no_harm() -> None:
    at = profile_loglik([[0.0], [1.0]], [1.0, -1.0], [1e3], kernel="matern32", nugget=1e-5)
    assert np.isfinite(at.value)
    assert np.isfinite(at.hessian).all()
