import dataclasses
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import roots_jacobi

from pengp import InputError, PenalizedGPRegressor, PengpWarning
from pengp.decisions.families import Law, as_law, parse_law
from pengp.decisions.laws import laws_of, lines_of, tell_outside
from pengp.decisions.processes import Processes, processes_of


@pytest.fixture(scope="module")
def known() -> Processes:
    X = np.array([[0.0, 10.0], [1.0, 30.0], [2.0, 20.0], [4.0, 25.0]])
    return processes_of(PenalizedGPRegressor(lam=0.1).fit(X, X[:, 0]))


@pytest.mark.parametrize(
    ("text", "dist"),
    [
        ("uniform:1,3", stats.uniform(1.0, 2.0)),
        ("loguniform:0.01,100", stats.loguniform(0.01, 100.0)),
        ("normal:50,10", stats.norm(50.0, 10.0)),
        ("lognormal:0.2,0.5", stats.lognorm(0.5, scale=np.exp(0.2))),
        ("triangular:0,1,4", stats.triang(0.25, 0.0, 4.0)),
        ("beta:2,3,-1,1", stats.beta(2.0, 3.0, -1.0, 2.0)),
    ],
)
def test_laws_are_read_from_text(text: str, dist: Any) -> None:
    levels = np.linspace(0.1, 0.9, 9)
    np.testing.assert_allclose(parse_law(text).dist.ppf(levels), dist.ppf(levels), rtol=1e-12)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("gauss:1,2", "unknown"),
        ("normal:50", "2 numbers"),
        ("normal:50,x", "2 numbers"),
        ("normal:50,inf", "2 numbers"),
        ("normal:50,-1", "no law"),
        ("uniform:3,1", "no law"),
        ("loguniform:0,1", "no law"),
        ("triangular:0,5,4", "no law"),
        ("beta:0,1,0,1", "no law"),
    ],
)
def test_a_wrong_law_is_told(text: str, word: str) -> None:
    with pytest.raises(InputError, match=word):
        parse_law(text)


def test_only_continuous_laws_of_scipy_are_taken(known: Processes) -> None:
    assert as_law(stats.gamma(2.0)).text == "gamma:2"
    with pytest.raises(InputError, match="continuous"):
        as_law(stats.poisson(3.0))
    with pytest.raises(InputError, match="no input 'z'"):
        laws_of(known, {"z": "normal:0,1"})


def test_an_input_is_uniform_over_the_region_unless_said_otherwise(known: Processes) -> None:
    first, second = laws_of(known, {"x2": "normal:20,1"})
    assert isinstance(first, Law)
    assert first.dist.support() == (0.0, 4.0)
    assert second.text == "normal:20,1"


@pytest.mark.parametrize("transform", ["log", "log10", "sqrt", None])
@pytest.mark.parametrize("kernel", ["sqexp", "matern52"])
def test_a_log_uniform_law_by_quadrature(transform: Any, kernel: Any) -> None:
    X = np.array([[0.01, 1.0], [0.3, 3.0], [2.0, 2.0], [100.0, 2.5]])
    chosen = {0: transform} if transform else None
    model = PenalizedGPRegressor(0.01, kernel=kernel, input_transforms=chosen, random_state=0)
    known = processes_of(model.fit(X, np.log(X[:, 0]) + X[:, 1]))
    given = {} if transform in ("log", "log10") else {"x1": "loguniform:0.01,100"}
    law = laws_of(known, given)[0]
    assert isinstance(law, Law)
    assert law.text == "loguniform:0.01,100"
    line = lines_of(known, (law, laws_of(known)[1]))[0]
    if transform in ("log", "log10"):
        assert line.closed is not None
        np.testing.assert_allclose(line.closed[1:], [0.0, 1.0], atol=1e-12)
    nodes, weights = line.quadrature(np.empty(0))

    # The mean of exp(-3 (u - 0.4)^2) for u(x) in the unit cube: over log x, which is uniform.
    def integrand(z: float) -> float:
        u = float(line.scaler.transform([[np.exp(z)]])[0, 0])
        return float(np.exp(-3.0 * (u - 0.4) ** 2))

    low, high = np.log(0.01), np.log(100.0)
    expected = quad(integrand, low, high, epsabs=1e-13, limit=200)[0] / (high - low)
    assert weights @ np.exp(-3.0 * (nodes - 0.4) ** 2) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    "law",
    ["uniform:0,3", "normal:2,0.7", "triangular:0,1,4", stats.gamma(2.5)],
    ids=["uniform", "normal", "triangular", "gamma"],
)
def test_gauss_rules_are_split_at_kinks(known: Processes, law: Any) -> None:
    line = lines_of(known, laws_of(known, {"x1": law}))[0]
    assert isinstance(line.law, Law)
    dist, kink = line.law.dist, 1.3
    ends = [max(dist.support()[0], -6.0), 1.0, kink, 2.5, min(dist.support()[1], 60.0)]

    def f(x: Any) -> Any:
        return np.exp(-0.5 * x) + np.abs(x - kink) ** 3

    pieces = [
        quad(lambda x: f(x) * dist.pdf(x), *part, epsabs=1e-13, limit=200)[0]
        for part in pairwise(ends)
    ]
    nodes, weights = line.quadrature(np.array([kink / 4.0]))
    assert weights @ f(4.0 * nodes) == pytest.approx(sum(pieces), rel=1e-10)


def test_gauss_rules_follow_densities_without_bound(known: Processes) -> None:
    line = lines_of(known, laws_of(known, {"x1": "beta:0.5,0.6,0,4"}))[0]
    x, w = roots_jacobi(40, -0.4, -0.5)  # (1 - x)^(b - 1) (1 + x)^(a - 1)
    expected = (w @ np.exp(-1.0 - x)) / w.sum()
    nodes, weights = line.quadrature(np.empty(0))
    assert weights @ np.exp(-2.0 * nodes) == pytest.approx(expected, rel=1e-6)


def test_gauss_rules_follow_long_tails(known: Processes) -> None:
    line = lines_of(known, laws_of(known, {"x1": "lognormal:0,0.6"}))[0]
    nodes, weights = line.quadrature(np.empty(0))
    assert weights @ (4.0 * nodes) ** 2 == pytest.approx(np.exp(2.0 * 0.6**2), rel=1e-8)


def test_the_own_gauss_rule_of_a_law_is_exact_for_polynomials(known: Processes) -> None:
    line = lines_of(known, laws_of(known, {"x1": "normal:2,0.7"}))[0]
    nodes, weights = line.gauss(6)
    assert isinstance(line.law, Law)
    for k in range(12):  # 2 * 6 - 1 is the highest
        moment = (weights * (4.0 * nodes) ** k).sum()
        assert moment == pytest.approx(line.law.dist.moment(k) if k else 1.0, rel=1e-9)


def test_a_law_that_reaches_beyond_the_region_is_told(known: Processes) -> None:
    with pytest.warns(PengpWarning, match=r"law of x1 has 50 % outside 0 to 4"):
        tell_outside(known, laws_of(known, {"x1": "uniform:2,6"}))
    tell_outside(dataclasses.replace(known), laws_of(known, {"x1": "uniform:0,4"}))
