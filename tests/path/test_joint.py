"""Joint penalties against formulas typed again, finite differences and slow maximisation."""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.optimize import minimize

from pengp import InputError, PenalizedGPRegressor, lambda_grid, load, penalized_path, save
from pengp._core.arrays import FloatArray, IntArray
from pengp.model.kernels import KernelName
from pengp.path import JointlyRobust
from pengp.path.cells import move, penalize
from pengp.path.joint import JointTerm
from pengp.path.newton import Expansion
from pengp.path.penalties import term_of
from tests.problems import CORRELATIONS, piston_slap_runs, slow_loglik, smooth_runs

LAMS = np.array([0.0, 0.3, 1.0, 3.0])


def log_prior(
    X: FloatArray, theta: FloatArray, nugget: float, a: float = 0.2, b: float | None = None
) -> float:
    """Return the log of Gu's prior at theta [d], from inverse ranges and spacings one by one."""
    n, d = X.shape
    t = nugget
    for p in range(d):
        inverse_range = 1.0 / (1.0 / theta[p] ** 0.5)
        t += (max(X[:, p]) - min(X[:, p])) / n ** (1.0 / d) * inverse_range
    rate = (a + d) / n ** (1.0 / d) if b is None else b
    return float(a * np.log(t) - rate * t)


def correlations(X: FloatArray, theta: FloatArray, nugget: float, kernel: str) -> FloatArray:
    """Return R [n, n]."""
    s = ((X[:, None] - X) ** 2 * theta).sum(-1)
    return CORRELATIONS[kernel](np.sqrt(s)) + nugget * np.eye(len(X))


def slow_maximum(
    objective: Callable[[FloatArray], float], box: list[tuple[float, float]], levels: int = 4
) -> tuple[float, FloatArray]:
    """Maximise over a box of log parameters from a grid of starts, without derivatives."""
    grid = product(*[np.linspace(low + 1.0, high - 1.0, levels) for low, high in box])

    def negative(point: FloatArray) -> float:
        return -objective(point)

    fits = [minimize(negative, start, method="L-BFGS-B", bounds=box) for start in grid]
    rough = min(fits, key=lambda fit: float(fit.fun))
    tight: Any = {"xatol": 1e-9, "fatol": 1e-13, "maxiter": 4000}
    best = minimize(negative, rough.x, method="Nelder-Mead", bounds=box, options=tight)
    return -float(best.fun), np.asarray(best.x)


def slow_mode(
    X: FloatArray, y: FloatArray, lam: float, kernel: str = "sqexp", nugget: float | None = 1e-5
) -> tuple[float, FloatArray]:
    """Maximise log L + lam log pi; an estimated nugget is the last parameter."""
    d, n = X.shape[1], len(y)

    def objective(point: FloatArray) -> float:
        theta, g = np.exp(point[:d]), float(np.exp(point[d])) if nugget is None else nugget
        R = correlations(X, theta, g, kernel)
        loglik = -0.5 * (n * np.log(y @ np.linalg.solve(R, y)) + np.linalg.slogdet(R)[1])
        return float(loglik) + lam * log_prior(X, theta, g)

    box = [(np.log(1e-3), np.log(1e3))] * d + [(np.log(1.49e-8), 0.0)] * (nugget is None)
    return slow_maximum(objective, box)


def test_the_prior_is_that_of_gu() -> None:
    X = np.random.default_rng(0).random((2, 9, 3)) * [1.0, 0.5, 0.8]
    theta = np.random.default_rng(1).lognormal(size=(6, 3))
    for penalty in (JointlyRobust(), JointlyRobust(a=1.3, b=0.7)):
        term = term_of(penalty, X, 1e-3, isotropic=False)
        data_set = np.array([0, 1, 0, 1, 0, 1])
        found = term.value(data_set, term.params(np.log(theta)), np.full(6, 2.0))
        expected = [
            -2.0 * log_prior(X[f], t, 1e-3, penalty.a, penalty.b)
            for f, t in zip(data_set, theta, strict=True)
        ]
        assert np.allclose(found, expected, rtol=1e-12)


def test_a_shared_theta_has_the_largest_distance() -> None:
    X = np.random.default_rng(0).random((1, 9, 3))
    term = term_of(JointlyRobust(), X, 1e-3, isotropic=True)
    far = max(np.linalg.norm(a - b) for a in X[0] for b in X[0])
    t = far / 9 * 2.5**0.5 + 1e-3
    expected = 3.2 / 9 ** (1 / 3) * t - 0.2 * np.log(t)
    point = np.log([[2.5]])
    found = term.value(np.zeros(1, dtype=np.int64), term.params(point), np.ones(1))
    assert found[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("nugget", [1e-2, None], ids=["fixed", "estimated"])
@pytest.mark.parametrize("isotropic", [False, True], ids=["aniso", "iso"])
def test_derivatives_against_finite_differences(nugget: float | None, isotropic: bool) -> None:
    X = np.random.default_rng(0).random((2, 9, 2))
    term = term_of(JointlyRobust(a=0.9), X, nugget, isotropic=isotropic)
    P = (1 if isotropic else 2) + (nugget is None)
    point, f = np.random.default_rng(1).normal(size=(4, P)), np.array([0, 1, 1, 0])
    lam = np.array([0.5, 1.0, 2.0, 0.1])

    def expand(at: FloatArray, lam: FloatArray) -> Expansion:
        nothing = Expansion(np.zeros(4), np.zeros((4, P)), np.zeros((4, P, P)))
        return penalize(nothing, term, f, at, lam)

    here, params = expand(point, lam), term.params(point)
    assert np.allclose(here.objective, -term.value(f, params, lam))
    once = term.value(f, params, np.ones(4))
    assert np.allclose(term.values(f, params, lam), np.outer(once, lam))
    for p, h in enumerate(1e-5 * np.eye(P)):
        high, low = expand(point + h, lam), expand(point - h, lam)
        assert np.allclose((high.objective - low.objective) / 2e-5, here.gradient[:, p], atol=1e-8)
        assert np.allclose((high.gradient - low.gradient) / 2e-5, here.hessian[:, p], atol=1e-8)
    if P > 1:
        assert np.abs(here.hessian[:, 0, 1]).min() > 1e-4  # it is joint
    moved = Expansion(here.objective, here.gradient.copy(), here.hessian.copy())
    move(moved, term, f, point, lam, 3.0 * lam)
    there = expand(point, 3.0 * lam)
    assert np.allclose(moved.gradient, there.gradient)
    assert np.allclose(moved.hessian, there.hessian)


@pytest.mark.parametrize("kernel", ["sqexp", "matern52"])
def test_modes_agree_with_slow_maximisation(kernel: KernelName) -> None:
    for X, y in (smooth_runs(9, 2), smooth_runs(12, 1, 3)):
        fit = penalized_path(X, y, LAMS, kernel=kernel, penalty="jointly-robust", random_state=0)
        assert fit.converged.all()
        for k, lam in enumerate(LAMS):
            best, theta = slow_mode(X, y, float(lam), kernel)
            assert fit.objective[k] == pytest.approx(best, abs=1e-6)
            if lam > 0.0:
                assert np.allclose(np.log(fit.theta[k]), theta, atol=1e-4)
            assert fit.loglik[k] == pytest.approx(
                slow_loglik(X, y, fit.theta[k], kernel=kernel)[0], abs=1e-7
            )


def test_the_prior_is_of_an_estimated_nugget_too() -> None:
    X, y = smooth_runs(10, 1)
    y = y + 0.2 * np.random.default_rng(0).standard_normal(10)
    fit = penalized_path(X, y, [1.0], penalty=JointlyRobust(), nugget="estimate", random_state=0)
    best, point = slow_mode(X, y, 1.0, nugget=None)
    assert fit.objective[0] == pytest.approx(best, abs=1e-6)
    assert np.allclose(np.log([*fit.theta[0], *fit.nugget]), point, atol=1e-3)


@pytest.mark.parametrize("n", [9, 120], ids=["newton", "lbfgs"])
def test_at_lambda_zero_there_is_no_prior(n: int) -> None:
    X, y = smooth_runs(n, 2)
    options: dict[str, Any] = {"nugget": 1e-4, "n_starts": 3, "random_state": 0}
    plain = penalized_path(X, y, [0.0], penalty="none", **options)
    fit = penalized_path(X, y, [0.0, 1.0], penalty="jointly-robust", **options)
    assert fit.objective[0] == pytest.approx(plain.objective[0], abs=1e-6)
    priors = [log_prior(X, theta, 1e-4) for theta in fit.theta]
    assert np.allclose(fit.objective, fit.loglik + fit.lams * priors, atol=1e-8)
    assert priors[1] > priors[0]


class JointLasso:
    """The lasso written as a joint penalty, and not said to be linear."""

    name: ClassVar[str] = "joint-lasso"
    label: ClassVar[str] = "joint lasso"

    def for_runs(self, X: FloatArray, *, isotropic: bool) -> "JointLasso":
        """Keep the number of runs."""
        self.n = X.shape[1]
        return self

    def value(self, data_set: IntArray, params: FloatArray, lam: FloatArray) -> FloatArray:
        """Return n lambda sum theta."""
        return self.n * lam * params[:, :-1].sum(-1)

    def derivatives(
        self, data_set: IntArray, params: FloatArray, lam: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return n lambda for each theta, 0 for the nugget."""
        gradient = self.n * lam[:, None] * np.ones_like(params)
        gradient[:, -1] = 0.0
        return gradient, np.zeros((*params.shape, params.shape[1]))


@pytest.mark.parametrize("nugget", [1e-5, "estimate"])
def test_the_lasso_as_a_joint_penalty_has_the_same_path(nugget: float | str) -> None:
    X, y = piston_slap_runs()
    options: dict[str, Any] = {"nugget": nugget, "random_state": 0}
    lams = lambda_grid("paper", n=21)
    plain = penalized_path(X, y, lams, **options)
    joint = penalized_path(X, y, lams, penalty=JointLasso(), **options)
    assert np.allclose(joint.objective, plain.objective, atol=1e-6)
    assert np.allclose(joint.theta, plain.theta, rtol=1e-3)
    assert joint.n_evaluations == pytest.approx(plain.n_evaluations, rel=0.05)


def test_data_sets_of_other_ranges_have_priors_of_their_own() -> None:
    X, y = smooth_runs(9, 2)
    inner = 0.5 * X
    both = penalized_path(
        [X, inner], [y, y], LAMS, penalty="jointly-robust", random_state=0, theta_bounds=(1e-4, 1e4)
    )
    # C beta does not change with the unit of an input, nor then does anything else but theta.
    assert np.allclose(both.theta[1], 4.0 * both.theta[0], rtol=1e-4)
    assert np.allclose(both.objective[0], both.objective[1], atol=1e-6)


def test_an_estimator_and_its_file_keep_the_prior(tmp_path: Path) -> None:
    X, y = smooth_runs(9, 2)
    model = PenalizedGPRegressor(lam=1.0, penalty=JointlyRobust(a=0.5), random_state=0).fit(X, y)
    path = tmp_path / "model.pengp"
    save(model, path)
    again = load(path)
    assert again.penalty == JointlyRobust(a=0.5)
    assert np.array_equal(again.predict(X), model.predict(X))
    assert again.path_._model.penalty == JointlyRobust(a=0.5)


@pytest.mark.parametrize("settings", [{"a": np.nan}, {"b": 0.0}, {"b": np.inf}])
def test_settings_without_a_prior_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(InputError, match="JointlyRobust needs"):
        JointlyRobust(**settings)


def test_a_joint_term_has_the_nugget_last() -> None:
    class Last:
        def value(self, data_set: IntArray, params: FloatArray, lam: FloatArray) -> FloatArray:
            return params[:, -1]

        def derivatives(
            self, data_set: IntArray, params: FloatArray, lam: FloatArray
        ) -> tuple[FloatArray, FloatArray]:
            raise NotImplementedError

    f, lam = np.zeros(1, dtype=np.int64), np.ones(1)
    point = np.log([[0.1, 0.2, 0.3]])
    for nugget, last in ((0.7, 0.7), (None, 0.3)):
        term = JointTerm(Last(), nugget)
        assert term.value(f, term.params(point), lam)[0] == pytest.approx(last)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("d", [1, 2])
def test_the_mode_of_robustgasp(d: int, seed: int) -> None:
    X, y = smooth_runs(9, d, seed)
    y, nugget = y + 0.5, 1e-4

    def log_posterior(point: FloatArray) -> float:
        theta = np.exp(point)
        L = np.linalg.cholesky(correlations(X, theta, nugget, "sqexp"))
        e, z = np.linalg.solve(L, np.ones(9)), np.linalg.solve(L, y)
        S2 = z @ z - (e @ z) ** 2 / (e @ e)
        marginal = -np.log(np.diag(L)).sum() - 0.5 * np.log(e @ e) - 0.5 * (9 - 1) * np.log(S2)
        return float(marginal) + log_prior(X, theta, nugget)

    best, point = slow_maximum(log_posterior, [(np.log(1e-3), np.log(1e3))] * d, 7)
    options: dict[str, Any] = {"mean": "constant", "likelihood": "marginal", "nugget": nugget}
    fit = penalized_path(X, y, [1.0], penalty="jointly-robust", random_state=0, **options)
    assert fit.objective[0] == pytest.approx(best, abs=1e-7)
    assert np.allclose(np.log(fit.theta[0]), point, atol=1e-4)
    assert ((fit.theta > 1e-3) & (fit.theta < 1e3)).all()  # the prior keeps it off the bounds


def test_an_estimator_keeps_its_likelihood(tmp_path: Path) -> None:
    X, y = smooth_runs(9, 2)
    model = PenalizedGPRegressor(
        1.0, penalty="jointly-robust", mean="constant", likelihood="marginal", random_state=0
    ).fit(X, y)
    plain = PenalizedGPRegressor(
        1.0, penalty="jointly-robust", mean="constant", random_state=0
    ).fit(X, y)
    assert not np.allclose(model.theta_, plain.theta_, rtol=1e-3)
    save(model, tmp_path / "model.pengp")
    again = load(tmp_path / "model.pengp")
    assert again.likelihood == "marginal"
    assert again.path_._model.marginal
    assert np.allclose(again.flat_.loglik, model.flat_.loglik)
