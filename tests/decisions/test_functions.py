"""Integrals and closed variances of a fixed process, against quadrature by brute force."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from pengp import PenalizedGPRegressor
from pengp.decisions.families import Law
from pengp.decisions.functions import Functions, layout_of
from pengp.decisions.integrals import gaussian_m, gaussian_u, gaussian_w, terms_of
from pengp.decisions.laws import Line, laws_of, lines_of
from pengp.decisions.processes import processes_of, scaled_covariance, symmetric_root
from pengp.decisions.subsets import subset_sums
from pengp.model.kernels import RadialKernel, get_kernel
from pengp.model.means import ZERO, ConstantMean, LinearMean, Mean
from pengp.model.posterior import Posterior, condition

RUNS = np.array([[0.0, 0.3], [0.25, 1.0], [0.55, 0.0], [1.0, 0.6]])
RESPONSES = np.array([0.3, -1.0, 0.9, 0.4])
LAWS = {"normal": {"x1": "normal:0.5,0.2"}, "uniform": {}, "beta": {"x2": "beta:2,3,0,1"}}


def lines(laws: dict[str, str]) -> list[Line]:
    known = processes_of(PenalizedGPRegressor(lam=0.1).fit(RUNS, RESPONSES))
    return lines_of(known, laws_of(known, laws))


@pytest.mark.parametrize("law", ["uniform:0.1,0.8", "normal:0.4,0.3"])
def test_closed_integrals_of_the_squared_exponential(law: Any) -> None:
    line, theta, rho, a, b = lines({"x1": law})[0], 5.0, 2.0, 0.2, 0.9
    assert isinstance(line.law, Law)
    dist = line.law.dist
    ends = dist.support() if np.isfinite(dist.support()[0]) else (-3.0, 4.0)

    def mean(f: Any) -> float:
        whole = quad(lambda x: f(x) * dist.pdf(x), ends[0], ends[1], epsabs=1e-13, points=[0.4])
        return float(whole[0])

    def k(t: Any, x: Any, c: Any) -> Any:
        return np.exp(-t * (x - c) ** 2)

    one, two, at, other = (np.array(v) for v in (theta, rho, a, b))
    assert gaussian_m(one, at, line) == pytest.approx(mean(lambda x: k(theta, x, a)), abs=1e-11)
    assert gaussian_w(one, two, at, other, line) == pytest.approx(
        mean(lambda x: k(theta, x, a) * k(rho, x, b)), abs=1e-11
    )
    for t in (theta, 1e-5):
        inner = mean(lambda x, t=t: mean(lambda z: k(t, x, z)))
        assert gaussian_u(np.array(t), line) == pytest.approx(inner, abs=1e-10)


@pytest.mark.parametrize(("kernel", "error"), [("matern52", 1e-11), ("matern32", 1e-9)])
def test_a_radial_matern_is_a_mixture_of_squared_exponentials(kernel: str, error: float) -> None:
    record = get_kernel(kernel)
    assert isinstance(record, RadialKernel)
    s = np.append(0.0, np.logspace(-4, 2, 50))
    fine, coarse = (terms_of(record, nodes) for nodes in (48, 5))
    mixed = np.exp(-s[:, None] * fine.rate) @ fine.weight
    np.testing.assert_allclose(mixed, record.phi(s), atol=error)
    quick = np.exp(-s[:, None] * coarse.rate) @ coarse.weight
    near = 7.1e-5 if kernel == "matern52" else 5.4e-4
    assert (np.abs(quick - record.phi(s)) <= near * np.sqrt(1.0 - record.phi(s)) + 1e-15).all()


@pytest.mark.parametrize("kernel", ["matern52", "matern32"])
def test_five_nodes_say_of_a_smooth_response_what_48_do(kernel: str) -> None:
    X = np.random.default_rng(1).random((16, 2))
    y = X[:, 0] + X[:, 1] ** 2 + np.sin(2.0 * X[:, 0] * X[:, 1])
    process = condition(
        X, y, np.array([0.2, 0.1]), kernel=get_kernel(kernel), nugget=1e-6, sigma2=5.0
    )
    layout, found = layout_of(X, lines({}), 4, 16), []
    for nodes in (5, 48):
        functions = Functions(process, layout, nodes=nodes)
        beta = functions.coefficients(np.ones(200), np.random.default_rng(0))
        V = functions.closed_variances(beta, np.full(200, process.sigma2), np.arange(4))
        found.append(V[:, 1:3] / V[:, 3:])
    few, many = found
    ends = np.quantile(found, [0.05, 0.95], axis=1)  # [ends, nodes, inputs]
    assert (ends[1, 1] - ends[0, 1]).min() > 0.005
    np.testing.assert_allclose(few.mean(0), many.mean(0), atol=0.002)
    np.testing.assert_allclose(ends[:, 0], ends[:, 1], atol=0.005)


@pytest.mark.parametrize("T", [1, 3])
@pytest.mark.parametrize("d", [1, 2, 5])
def test_sums_over_subsets_are_those_of_products(d: int, T: int) -> None:
    rng = np.random.default_rng(d)
    centred, outside = rng.normal(size=(2, d, 4, T))
    weight = rng.random(T)
    masks = np.arange(1 << d)
    slow = np.empty((4, len(masks)))
    for mask in masks:
        inside = np.array([mask >> p & 1 for p in range(d)])[:, None, None]
        slow[:, mask] = ((outside + inside * centred).prod(0) - outside.prod(0)) @ weight
    np.testing.assert_allclose(subset_sums(centred, outside, weight, masks), slow, atol=1e-12)
    some = masks[1::2]
    np.testing.assert_allclose(
        subset_sums(centred, outside, weight, some), slow[:, some], atol=1e-12
    )


def brute_force(process: Posterior, laws: list[Line]) -> np.ndarray:
    """E V_w of w = {}, {1}, {2}, {1, 2}: all conditional expectations on a grid, by hand."""
    rules = [_rule(line, RUNS[:, p]) for p, line in enumerate(laws)]
    grid = np.stack(np.meshgrid(*[nodes for nodes, _ in rules], indexing="ij"), axis=-1)
    X, shape = grid.reshape(-1, 2), grid.shape[:2]
    (_, u), (_, v) = rules
    mean = process.predict_mean(X).reshape(shape)
    C = process.sigma2 * scaled_covariance(process, X, X).reshape(*shape, *shape)
    level = u @ mean @ v
    whole = np.einsum("i,j,k,l,ijkl->", u, v, u, v, C, optimize=True)
    found = [0.0]
    for part, cov, w in (
        (mean @ v, np.einsum("j,l,ijil->i", v, v, C, optimize=True), u),
        (u @ mean, np.einsum("i,k,ijkj->j", u, u, C, optimize=True), v),
        (mean.ravel(), np.einsum("ijij->ij", C).ravel(), np.outer(u, v).ravel()),
    ):
        found.append(w @ (part - level) ** 2 + w @ cov - whole)
    return np.array(found)


def _rule(line: Line, kinks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A Gauss rule of its own, split at the runs and at a few quantiles."""
    assert isinstance(line.law, Law)
    dist = line.law.dist
    low, high = max(dist.support()[0], -1.5), min(dist.support()[1], 2.5)
    inside = kinks[(kinks > low) & (kinks < high)]
    ends = np.unique(np.concatenate([inside, np.linspace(low, high, 5)]))
    x, w = np.polynomial.legendre.leggauss(6)
    half, middle = 0.5 * np.diff(ends)[:, None], 0.5 * (ends[1:] + ends[:-1])[:, None]
    nodes = (middle + half * x).ravel()
    weights = (half * w).ravel() * dist.pdf(nodes)
    return nodes, weights / weights.sum()


@pytest.mark.parametrize("mean", [ZERO, ConstantMean(), ConstantMean(9.0), LinearMean()], ids=str)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("kernel", ["sqexp", "matern52", "matern52_product", "matern52_additive"])
def test_closed_variances_equal_brute_force(kernel: str, law: Any, mean: Mean) -> None:
    if law != "uniform" and kernel != "sqexp" and mean != ZERO:
        pytest.skip("one thing at a time")
    laws = lines(LAWS[law])
    theta = np.array([1.2, 0.7])
    process = condition(
        RUNS, RESPONSES, theta, kernel=get_kernel(kernel), nugget=1e-3, mean=mean, sigma2=1.7
    )
    functions = Functions(process, layout_of(RUNS, laws, 0, 0), nodes=48)
    beta = functions.mean_coefficients()[None]
    found = functions.closed_variances(beta, np.array([process.sigma2]), np.arange(4))[0]
    expected = brute_force(process, laws)
    assert expected[3] > expected[1] + expected[2]  # there is an interaction to be found
    # The rule is not split where x = x', so that a Matern's kink there costs it digits.
    tolerance = 1e-8 if kernel == "sqexp" else 2e-7
    np.testing.assert_allclose(found, expected, atol=tolerance * expected[3])


def correlation(kernel: str, theta: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The correlation at differences u, v of the two inputs, typed again."""
    c, square = (5.0, 1.0 / 3.0) if kernel.startswith("matern52") else (3.0, 0.0)
    t, s = c * theta[0] * u * u, c * theta[1] * v * v
    found = np.ones(np.broadcast_shapes(u.shape, v.shape))
    for a in (np.sqrt(t), np.sqrt(s)) if kernel.endswith("product") else (np.sqrt(t + s),):
        found = found * (1.0 + a + square * a * a) * np.exp(-a)
    return found


def graded(ends: np.ndarray, kinks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A Gauss rule whose panels end at the kinks and get shorter towards them."""
    near = np.concatenate([kinks + sign * 0.15**k for k in range(1, 7) for sign in (-1.0, 1.0)])
    cuts = np.unique(np.concatenate([ends, kinks, near]))
    cuts = cuts[(cuts >= ends[0]) & (cuts <= ends[-1])]
    x, w = np.polynomial.legendre.leggauss(8)
    half, middle = 0.5 * np.diff(cuts)[:, None], 0.5 * (cuts[1:] + cuts[:-1])[:, None]
    return (middle + half * x).ravel(), (half * w).ravel()


def law_rules(normal: bool, kinks: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rules for an input X with kinks at the runs, and for |X - X'| with one at 0."""
    if normal:  # mean 0.5, standard deviation 0.2
        x, w = graded(np.linspace(-1.2, 2.2, 18), kinks)
        z, q = graded(np.linspace(0.0, 2.6, 14), np.zeros(1))
        return [(x, w * norm.pdf(x, 0.5, 0.2)), (z, q * 2.0 * norm.pdf(z, 0.0, 0.2 * np.sqrt(2.0)))]
    x, w = graded(np.linspace(0.0, 1.0, 4), kinks)
    z, q = graded(np.linspace(0.0, 1.0, 4), np.zeros(1))
    return [(x, w), (z, q * 2.0 * (1.0 - z))]


@pytest.mark.parametrize("mean", [ZERO, ConstantMean(9.0)], ids=str)
@pytest.mark.parametrize("law", ["uniform", "normal"])
@pytest.mark.parametrize("kernel", ["matern52", "matern32", "matern52_product", "matern32_product"])
def test_closed_variances_of_a_matern_equal_brute_force_to_1e_8(
    kernel: str, law: str, mean: Mean
) -> None:
    """Var E[f | x_w], prior and data apart: one by |x - x'|, the other split at the runs."""
    theta, sigma2, nugget, n = np.array([1.2, 0.7]), 1.7, 1e-3, len(RUNS)
    process = condition(
        RUNS, RESPONSES, theta, kernel=get_kernel(kernel), nugget=nugget, mean=mean, sigma2=sigma2
    )
    functions = Functions(process, layout_of(RUNS, lines(LAWS[law]), 0, 0), nodes=48)
    found = functions.closed_variances(
        functions.mean_coefficients()[None], np.array([sigma2]), np.arange(4)
    )[0]
    (ax, au), (az, aq) = law_rules(law == "normal", RUNS[:, 0])
    (bx, bu), (bz, bq) = law_rules(False, RUNS[:, 1])
    k = correlation(kernel, theta, az[:, None], bz)
    zero = np.zeros(1)  # of the input that x and x' share
    one_shared = (
        correlation(kernel, theta, zero, bz) @ bq,
        correlation(kernel, theta, az, zero) @ aq,
    )
    prior = np.array([aq @ k @ bq, *one_shared, 1.0])
    grid = [correlation(kernel, theta, ax[:, None] - a, bx - b) for a, b in RUNS]
    trend = 0 if mean == ZERO else 1
    h = np.stack(grid + [np.ones((len(ax), len(bx)))] * trend)
    K = np.zeros((n + trend, n + trend))
    K[:n, :n] = correlation(
        kernel, theta, RUNS[:, None, 0] - RUNS[:, 0], RUNS[:, None, 1] - RUNS[:, 1]
    ) + nugget * np.eye(n)
    if trend:
        K[n, :n] = K[:n, n] = 1.0
        K[n, n] = -1.0 / 9.0
    P = np.linalg.inv(K)
    beta = P[:, :n] @ process.y
    given_all = np.einsum("aij,bij,i,j->ab", h, h, au, bu, optimize=True)
    by_first, by_second = h @ bu, np.einsum("aij,i->aj", h, au)
    level = by_first @ au
    outer = [np.outer(level, level), (by_first * au) @ by_first.T, (by_second * bu) @ by_second.T]
    expected = [
        beta @ (G - outer[0]) @ beta + sigma2 * (one - prior[0] - (P * (G - outer[0])).sum())
        for G, one in zip([*outer, given_all], prior, strict=True)
    ]
    assert expected[3] > expected[1] + expected[2] > 0.01
    np.testing.assert_allclose(found, expected, atol=1e-8 * expected[3])


@pytest.mark.parametrize("kernel", ["sqexp", "matern52", "matern52_product"])
def test_drawn_functions_have_the_expected_variances_on_average(kernel: str) -> None:
    # The variances are quadratic in the draws, so that pairs +-sqrt(e) E_j give their exact mean.
    laws, theta = lines({"x1": "normal:0.5,0.2"}), np.array([3.0, 1.0])
    process = condition(
        RUNS, RESPONSES, theta, kernel=get_kernel(kernel), nugget=1e-4, mean=ConstantMean(9.0)
    )
    known = Functions(process, layout_of(RUNS, laws, 0, 0))
    exact = known.closed_variances(
        known.mean_coefficients()[None], np.array([process.sigma2]), np.arange(4)
    )[0]
    drawn = Functions(process, layout_of(RUNS, laws, 4, 8))
    beta, E, _ = drawn._conditioned
    size = E.shape[1]
    assert size > 10
    steps = np.sqrt(process.sigma2 * size) * E.T
    both = np.concatenate([beta + steps, beta - steps])
    scale2 = np.full(len(both), process.sigma2)
    found = drawn.closed_variances(both, scale2, np.arange(4))
    np.testing.assert_allclose(found.mean(0), exact, rtol=1e-6, atol=1e-9)
    assert found.std(0)[1:].min() > 1e-3  # the draws do differ


def test_features_and_main_effects_agree_with_the_process() -> None:
    laws, theta = lines({}), np.array([3.0, 1.0])
    process = condition(
        RUNS, RESPONSES, theta, kernel=get_kernel("sqexp"), nugget=1e-6, mean=LinearMean()
    )
    functions = Functions(process, layout_of(RUNS, laws, 3, 4))
    beta, X = functions.mean_coefficients()[None], np.array([[0.2, 0.7], [0.9, 0.1]])
    features, rest = functions.at(X)
    np.testing.assert_allclose((beta @ features.T)[0], process.predict_mean(X), atol=1e-9)
    before = process.predict(X)[1] - process.nugget
    assert (rest < before).all()  # the functionals leave less than the runs alone
    x, w = np.polynomial.legendre.leggauss(30)
    nodes, weights = 0.5 * (x + 1.0), 0.5 * w
    curve = [
        weights @ process.predict_mean(np.column_stack([nodes, 0 * nodes + b])) for b in X[:, 1]
    ]
    np.testing.assert_allclose(functions.main_effects(beta, 1, X[:, 1])[0], curve, atol=1e-9)


def test_means_of_drawn_functions_are_exact() -> None:
    laws, theta = lines({}), np.array([3.0, 1.0])
    process = condition(RUNS, RESPONSES, theta, kernel=get_kernel("matern52_product"), nugget=1e-6)
    functions = Functions(process, layout_of(RUNS, laws, 0, 0))
    rules = [_rule(line, RUNS[:, p]) for p, line in enumerate(laws)]
    grid = np.stack(np.meshgrid(*[nodes for nodes, _ in rules], indexing="ij"), axis=-1)
    mean = process.predict_mean(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    expected = rules[0][1] @ mean @ rules[1][1]
    assert functions.means(functions.mean_coefficients()[None])[0] == pytest.approx(
        expected, abs=1e-9
    )


def test_draws_keep_their_digits_where_the_scale_is_large() -> None:
    # Smooth, nearly polynomial processes have tiny theta, a huge scale and a small error.
    rng = np.random.default_rng(0)
    X = rng.random((30, 2))
    theta = np.array([0.05, 0.02])
    y = X[:, 0] + X[:, 1] ** 2 + np.sin(2.0 * X[:, 0] * X[:, 1])
    process = condition(X, y, theta, kernel=get_kernel("sqexp"), nugget=1e-8, sigma2=2000.0)
    functions = Functions(process, layout_of(X, lines({}), 6, 64))
    beta = functions.coefficients(np.ones(400), rng)
    V = functions.closed_variances(beta, np.full(400, process.sigma2), np.arange(4))
    x, w = np.polynomial.legendre.leggauss(12)
    u, w = 0.5 * (x + 1.0), 0.5 * w
    grid = np.stack(np.meshgrid(u, u, indexing="ij"), axis=-1).reshape(-1, 2)
    root = symmetric_root(process.sigma2 * scaled_covariance(process, grid, grid))
    drawn = process.predict_mean(grid) + rng.standard_normal((400, len(grid))) @ root
    f = drawn.reshape(400, 12, 12)
    level = f @ w @ w
    slow = np.column_stack(
        [((f @ w - level[:, None]) ** 2) @ w, ((w @ f - level[:, None]) ** 2) @ w]
    )
    error = slow.std(0) * np.sqrt(2.0 / 400.0)
    assert (np.abs(V[:, 1:3].mean(0) - slow.mean(0)) < 5.0 * error).all()
    np.testing.assert_allclose(V[:, 1:3].std(0), slow.std(0), rtol=0.2)
