"""Penalties against the formulas of the paper, finite differences and each other."""

from typing import ClassVar

import numpy as np
import pytest

from pengp._core.arrays import FloatArray
from pengp.exceptions import InputError
from pengp.path.cells import move, penalize
from pengp.path.newton import Expansion
from pengp.path.penalties import PENALTIES, SCAD, Lasso, NoPenalty, SeparableTerm, get_penalty
from tests.problems import SEPARABLE

THETA = np.geomspace(1e-3, 1e3, 61)
LAMS = np.array([0.0, 0.003, 0.1, 1.0, 7.389])[:, None]
each_penalty = pytest.mark.parametrize("name", SEPARABLE)


def scad_by_hand(theta: float, lam: float, a: float) -> float:
    """Return Fan and Li's penalty, piece by piece."""
    if theta <= lam:
        return lam * theta
    if theta <= a * lam:
        return (2.0 * a * lam * theta - theta**2 - lam**2) / (2.0 * (a - 1.0))
    return lam**2 * (a + 1.0) / 2.0


def test_the_tests_know_every_penalty() -> None:
    assert set(SEPARABLE) == {"none", "lasso", "ridge", "scad"}
    assert set(PENALTIES) == {*SEPARABLE, "jointly-robust"}


def test_closed_forms() -> None:
    table: dict[str, FloatArray] = {
        "none": np.zeros((len(LAMS), len(THETA))),
        "lasso": LAMS * THETA,
        "ridge": LAMS * THETA**2,
        "scad": np.array([[scad_by_hand(t, lam, 3.7) for t in THETA] for lam in LAMS[:, 0]]),
    }
    for name, expected in table.items():
        assert np.allclose(SEPARABLE[name].value(THETA, LAMS), expected, rtol=1e-14), name


@each_penalty
def test_terms_are_n_times_the_sum_over_the_inputs(name: str) -> None:
    point, lams = np.random.default_rng(0).normal(size=(7, 4)), LAMS[:, 0]
    theta = np.exp(point[:, :3])  # the fourth parameter is a nugget
    expected = 11 * SEPARABLE[name].value(theta[:, None], lams[:, None]).sum(-1)
    term, f = SeparableTerm(SEPARABLE[name], 11, 3), np.zeros(7, dtype=np.int64)
    assert np.allclose(term.values(f, term.params(point), lams), expected, rtol=1e-14)
    for k, lam in enumerate(lams):
        assert np.allclose(term.value(f, theta, np.full(7, lam)), expected[:, k], rtol=1e-14)


def test_a_penalty_that_does_not_say_it_is_linear_is_summed_as_it_is() -> None:
    class Root:
        name: ClassVar[str] = "root"
        label: ClassVar[str] = "root"

        def value(self, theta: FloatArray, lam: FloatArray) -> FloatArray:
            return np.sqrt(lam * theta)

        gradient = curvature = value

    point, lams = np.log([[1.0, 4.0], [9.0, 1e-200]]), np.array([0.0, 4.0])
    values = SeparableTerm(Root(), 1, 2).values(np.zeros(2, dtype=np.int64), np.exp(point), lams)
    assert np.allclose(values, [[0.0, 6.0], [0.0, 6.0]])


@each_penalty
def test_terms_in_log_parameters_against_finite_differences(name: str) -> None:
    term, f = SeparableTerm(SEPARABLE[name], 11, 3), np.zeros(4, dtype=np.int64)
    point, lam = np.random.default_rng(1).normal(-2.0, 1.0, size=(4, 4)), np.full(4, 0.3)

    def expand(at: FloatArray, lam: FloatArray) -> Expansion:
        nothing = Expansion(np.zeros(4), np.zeros((4, 4)), np.zeros((4, 4, 4)))
        return penalize(nothing, term, f, at, lam)

    here = expand(point, lam)
    assert np.allclose(here.objective, -term.value(f, term.params(point), lam))
    for p, h in enumerate(1e-5 * np.eye(4)):
        high, low = expand(point + h, lam), expand(point - h, lam)
        assert np.allclose((high.objective - low.objective) / 2e-5, here.gradient[:, p], atol=1e-8)
        assert np.allclose((high.gradient - low.gradient) / 2e-5, here.hessian[:, p], atol=1e-7)
    moved = Expansion(here.objective, here.gradient.copy(), here.hessian.copy())
    move(moved, term, f, point, lam, 2.0 * lam)
    there = expand(point, 2.0 * lam)
    assert np.allclose(moved.gradient, there.gradient)
    assert np.allclose(moved.hessian, there.hessian)


@each_penalty
def test_derivatives_against_finite_differences(name: str) -> None:
    penalty = SEPARABLE[name]
    # Off the knots of SCAD, where its curvature jumps.
    theta = np.array([0.0021, 0.013, 0.19, 0.61, 2.03, 9.1, 55.0])
    h = 1e-6 * theta
    value = (penalty.value(theta + h, LAMS) - penalty.value(theta - h, LAMS)) / (2.0 * h)
    slope = (penalty.gradient(theta + h, LAMS) - penalty.gradient(theta - h, LAMS)) / (2.0 * h)
    assert np.allclose(penalty.gradient(theta, LAMS), value, rtol=1e-6, atol=1e-6)
    assert np.allclose(penalty.curvature(theta, LAMS), slope, rtol=1e-6, atol=1e-6)


@each_penalty
def test_theta_and_lambda_broadcast(name: str) -> None:
    penalty = SEPARABLE[name]
    for method in (penalty.value, penalty.gradient, penalty.curvature):
        whole = method(THETA, LAMS)
        assert whole.shape == (5, 61)
        for k, lam in enumerate(LAMS):
            assert (whole[k] == method(THETA, lam)).all()


@each_penalty
def test_no_penalty_at_lambda_zero(name: str) -> None:
    zero, penalty = np.zeros(1), SEPARABLE[name]
    for method in (penalty.value, penalty.gradient, penalty.curvature):
        assert (method(THETA, zero) == 0.0).all()


def test_none_is_zero_whatever_lambda() -> None:
    for method in (NoPenalty().value, NoPenalty().gradient, NoPenalty().curvature):
        assert (method(THETA, LAMS) == 0.0).all()


def test_scad_is_continuous_with_its_slope_at_both_knots() -> None:
    scad, lam = SCAD(), np.array([0.3])
    for knot in (0.3, 3.7 * 0.3):
        below, above = np.array([knot * (1 - 1e-12)]), np.array([knot * (1 + 1e-12)])
        assert scad.value(below, lam) == pytest.approx(scad.value(above, lam), rel=1e-11)
        assert scad.gradient(below, lam) == pytest.approx(scad.gradient(above, lam), abs=1e-11)


def test_scad_is_flat_beyond_a_lambda() -> None:
    lam, theta = np.array([0.3]), np.array([1.2, 5.0, 900.0])
    assert np.allclose(SCAD().value(theta, lam), 0.5 * 4.7 * 0.09, rtol=1e-14)
    assert (SCAD().gradient(theta, lam) == 0.0).all()


def test_scad_with_a_huge_a_is_lasso() -> None:
    scad, lasso = SCAD(a=1e12), Lasso()
    theta, lam = THETA, LAMS[1:]
    assert np.allclose(scad.value(theta, lam), lasso.value(theta, lam), rtol=1e-6)
    assert np.allclose(scad.gradient(theta, lam), lasso.gradient(theta, lam), rtol=1e-6)
    assert np.allclose(scad.curvature(theta, lam), 0.0, atol=1e-11)


@pytest.mark.parametrize("a", [2.0, 0.0, -3.0, np.nan])
def test_scad_refuses_an_a_up_to_two(a: float) -> None:
    with pytest.raises(InputError, match="SCAD needs a > 2"):
        SCAD(a=a)


def test_get_penalty_takes_names_and_objects() -> None:
    own = SCAD(a=5.0)
    assert get_penalty(own) is own
    assert get_penalty("ridge") is PENALTIES["ridge"]
    with pytest.raises(InputError, match=r"penalty='l1' is unknown.*none, lasso, ridge, scad"):
        get_penalty("l1")
