"""Means: their bases, trends against universal kriging typed again, limits, priors, mistakes."""

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pengp import InputError, PengpWarning, penalized_path, profile_loglik
from pengp._core.arrays import FloatArray
from pengp.model import MEANS, BasisMean, ConstantMean, LinearMean, Mean, get_mean
from pengp.model.folded import batch_predict
from pengp.model.kernels import KERNELS
from pengp.model.large import LargeLikelihood
from pengp.model.likelihood import BatchLikelihood
from pengp.model.posterior import Posterior, condition
from pengp.model.trend import columns_of
from tests.problems import BASES, correlation, slow_loglik

G = 1e-4


def waves(X: FloatArray) -> FloatArray:
    """Return a basis of one's own: a level, a wave and a product."""
    return np.column_stack([np.ones(len(X)), np.sin(3.0 * X[:, 0]), X[:, 0] * X[:, -1]])


def waves_slopes(X: FloatArray) -> FloatArray:
    """Return its derivatives [m, 3, 3]."""
    slopes = np.zeros((len(X), 3, 3))
    slopes[:, 1, 0] = 3.0 * np.cos(3.0 * X[:, 0])
    slopes[:, 2, 0], slopes[:, 2, -1] = X[:, -1], X[:, 0]
    return slopes


OWN = get_mean(waves)
ALL = {**MEANS, "waves": OWN}
by_basis = {**BASES, "waves": waves}
each = pytest.mark.parametrize("name", ALL)


def runs(n: int = 13, m: int = 6) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return X, y (with a level and a slope), new inputs and theta."""
    rng = np.random.default_rng(4)
    X, Z = rng.random((n, 3)), rng.random((m, 3))
    return X, 5.0 + np.sin(4 * X[:, 0]) + 3 * X[:, 1] * X[:, 2], Z, np.array([2.0, 0.5, 1.0])


def conditioned(mean: Mean, X: FloatArray, y: FloatArray, theta: FloatArray) -> Posterior:
    """Condition on runs with the squared exponential correlation."""
    return condition(X, y, theta, kernel=KERNELS["sqexp"], nugget=G, mean=mean)


def cross(Z: FloatArray, X: FloatArray, theta: FloatArray) -> FloatArray:
    """Return the correlations of new inputs and runs by a double loop."""
    return np.array([[np.exp(-(theta * (z - x) ** 2).sum()) for x in X] for z in Z])


@each
def test_universal_kriging_typed_again(name: str) -> None:
    X, y, Z, theta = runs()
    F, f = by_basis[name](X), by_basis[name](Z)
    V = np.linalg.inv(correlation(X, theta, G, "sqexp"))
    r = cross(Z, X, theta)
    inner = np.linalg.inv(F.T @ V @ F)
    beta = inner @ F.T @ V @ y
    u = f - r @ V @ F
    cov = cross(Z, Z, theta) + G * np.eye(len(Z)) - r @ V @ r.T + u @ inner @ u.T
    posterior = conditioned(ALL[name], X, y, theta)
    np.testing.assert_allclose(posterior.trend, beta, rtol=1e-8)
    expected = f @ beta + r @ V @ (y - F @ beta)
    for mean in (posterior.predict_mean(Z), posterior.predict(Z)[0], posterior.predict_cov(Z)[0]):
        np.testing.assert_allclose(mean, expected, rtol=1e-9)
    np.testing.assert_allclose(posterior.predict_cov(Z)[1], cov, atol=1e-10)
    np.testing.assert_allclose(posterior.predict(Z)[1], np.diag(cov), atol=1e-10)
    batch = batch_predict(
        X[None], y[None], Z[None], theta[None], kernel=KERNELS["sqexp"], nugget=G, mean=ALL[name]
    )
    np.testing.assert_allclose(batch.mean[0], expected, rtol=1e-9)
    np.testing.assert_allclose(batch.scaled_cov[0], cov, atol=1e-10)
    np.testing.assert_allclose(batch.trend[0], beta, rtol=1e-8)


@pytest.mark.parametrize("name", ["linear", "waves"])
def test_what_the_basis_spans_is_reproduced_exactly(name: str) -> None:
    X, _, Z, theta = runs()
    beta = np.array([2.0, -1.0, 3.0, 0.5])[: by_basis[name](X).shape[1]]
    posterior = conditioned(ALL[name], X, by_basis[name](X) @ beta, theta)
    np.testing.assert_allclose(posterior.predict_mean(Z), by_basis[name](Z) @ beta, rtol=1e-12)
    np.testing.assert_allclose(posterior.trend, beta, rtol=1e-11)
    assert posterior.sigma2 < 1e-24


@pytest.mark.parametrize("name", ["constant", "linear", "waves"])
def test_adding_what_the_basis_spans_adds_it_to_the_predictions(name: str) -> None:
    X, y, Z, theta = runs()
    beta = np.array([1e6, -3e5, 2e5, 7e5])[: by_basis[name](X).shape[1]]
    before = conditioned(ALL[name], X, y, theta)
    after = conditioned(ALL[name], X, y + by_basis[name](X) @ beta, theta)
    added = by_basis[name](Z) @ beta
    np.testing.assert_allclose(after.predict_mean(Z) - added, before.predict_mean(Z), atol=1e-7)
    np.testing.assert_array_equal(after.predict(Z)[1], before.predict(Z)[1])
    assert after.sigma2 == pytest.approx(before.sigma2, rel=1e-6)
    values = [
        profile_loglik(X, given, theta, nugget=G, mean=ALL[name]).value
        for given in (y, y + by_basis[name](X) @ beta)
    ]
    assert values[0] == pytest.approx(values[1], abs=1e-6)


@pytest.mark.parametrize("name", ["linear", "waves"])
def test_gradients_equal_finite_differences(name: str) -> None:
    X, y, Z, theta = runs()
    posterior = conditioned(ALL[name], X, y, theta)
    h = 1e-5
    for p, step in enumerate(h * np.eye(3)):
        up, down = posterior.predict_mean(Z + step), posterior.predict_mean(Z - step)
        mean = (up - down) / (2 * h)
        np.testing.assert_allclose(posterior.mean_gradient(Z)[:, p], mean, rtol=1e-5, atol=1e-6)


def test_a_given_gradient_is_used_and_equals_the_differences() -> None:
    _, _, Z, _ = runs()
    exact = BasisMean(function=waves, derivatives=waves_slopes).gradient(Z)
    np.testing.assert_array_equal(exact, waves_slopes(Z))
    np.testing.assert_allclose(OWN.gradient(Z), exact, atol=1e-9)
    for name, basis in BASES.items():
        numeric = BasisMean(function=basis).gradient(Z)
        np.testing.assert_allclose(MEANS[name].gradient(Z), numeric, atol=1e-9)


@pytest.mark.parametrize("nugget", [1e-3, None], ids=["fixed", "estimated"])
@pytest.mark.parametrize(
    "mean", [MEANS["linear"], OWN, LinearMean(4.0)], ids=["linear", "waves", "prior"]
)
def test_likelihood_derivatives_equal_finite_differences(mean: Mean, nugget: float | None) -> None:
    X, y, _, _ = runs()
    small = BatchLikelihood(X[None], y[None], KERNELS["matern52"], nugget, mean=mean)
    large = LargeLikelihood(X[None], y[None], KERNELS["matern52"], nugget, mean=mean)
    P, h, which = small.n_params, 1e-5, np.zeros(1, dtype=np.int64)
    u = np.log([[0.8, 3.0, 0.2, 1e-2]])[:, :P]
    at = small.evaluate(which, u)
    for p, step in enumerate(h * np.eye(P)):
        up, down = small.evaluate(which, u + step), small.evaluate(which, u - step)
        assert at.gradient[0, p] == pytest.approx((up.value - down.value)[0] / (2 * h), rel=1e-6)
        slopes = (up.gradient - down.gradient)[0] / (2 * h)
        np.testing.assert_allclose(at.hessian[0, p], slopes, rtol=1e-5, atol=1e-6)
    other = large.evaluate(which, u)
    np.testing.assert_allclose(other.gradient, at.gradient, rtol=1e-8, atol=1e-8)
    for field in ("value", "sigma2", "mean"):
        np.testing.assert_allclose(getattr(other, field), getattr(at, field), rtol=1e-9)


@pytest.mark.parametrize("name", ["constant", "linear"])
def test_a_prior_on_the_coefficients_is_one_more_term_of_the_correlations(name: str) -> None:
    X, y, Z, theta = runs()
    mean = replace(MEANS[name], variance=9.0)
    F, f = BASES[name](X), BASES[name](Z)
    R = correlation(X, theta, G, "sqexp") + 9.0 * F @ F.T
    r, prior = cross(Z, X, theta) + 9.0 * f @ F.T, cross(Z, Z, theta) + 9.0 * f @ f.T
    cov = prior + G * np.eye(len(Z)) - r @ np.linalg.solve(R, r.T)
    posterior = conditioned(mean, X, y, theta)
    np.testing.assert_allclose(posterior.predict(Z)[0], r @ np.linalg.solve(R, y), rtol=1e-9)
    np.testing.assert_allclose(posterior.predict_cov(Z)[1], cov, atol=1e-9)
    quadratic = float(y @ np.linalg.solve(R, y))
    assert posterior.sigma2 == pytest.approx(quadratic / len(y), rel=1e-9)
    at = profile_loglik(X, y, theta, nugget=G, mean=mean)
    value = -0.5 * len(y) * np.log(quadratic) - 0.5 * np.linalg.slogdet(R)[1]
    assert float(at.value) == pytest.approx(value, rel=1e-9)
    assert float(at.mean) == pytest.approx(posterior.level, rel=1e-8)
    rest = np.arange(1, len(y))
    one_out = conditioned(mean, X[rest], y[rest], theta).predict(X[:1])
    np.testing.assert_allclose([a[0] for a in posterior.loo()], np.ravel(one_out), rtol=1e-7)


@pytest.mark.parametrize("name", ["constant", "linear"])
def test_a_vague_prior_tends_to_generalised_least_squares(name: str) -> None:
    X, y, Z, theta = runs()
    limit = conditioned(MEANS[name], X, y, theta)
    errors = []
    for variance in (1e2, 1e4, 1e6):
        near = conditioned(replace(MEANS[name], variance=variance), X, y, theta)
        errors.append(np.abs(np.subtract(near.predict(Z), limit.predict(Z))).max())
    assert errors[0] > 50 * errors[1] > 2500 * errors[2]
    assert errors[2] < 1e-4


def test_a_constant_input_is_left_out_of_a_linear_mean() -> None:
    X, y, Z, theta = runs()
    X[:, 1] = 0.3
    with_it = conditioned(MEANS["linear"], X, y, theta)
    without = conditioned(MEANS["linear"], X[:, [0, 2]], y, theta[[0, 2]])
    assert with_it.trend[2] == 0.0
    np.testing.assert_allclose(with_it.trend[[0, 1, 3]], without.trend, rtol=1e-8)
    Z[:, 1] = 0.3
    np.testing.assert_allclose(with_it.predict(Z), without.predict(Z[:, [0, 2]]), rtol=1e-8)
    lik = [
        profile_loglik(a, y, t, nugget=G, mean="linear").value
        for a, t in ((X, theta), (X[:, [0, 2]], theta[[0, 2]]))
    ]
    assert lik[0] == pytest.approx(lik[1], rel=1e-10)


def test_columns_are_orthogonal_and_what_depends_on_others_is_zero() -> None:
    X, y, _, _ = runs()
    twice = get_mean(lambda X: np.column_stack([waves(X), 2 * waves(X)[:, 1] - 1.0, X[:, 1]]))
    basis = columns_of(twice, X[None], y[None])
    inner = basis.rows[0] @ basis.rows[0].T
    assert np.count_nonzero(np.abs(inner) > 1e-12) == 4  # of five columns
    assert (basis.rows[0, 3] == 0.0).all()
    F = twice.columns(X)
    np.testing.assert_allclose(basis.carry[0] @ F.T, basis.rows[0], atol=1e-13)
    fitted = F @ np.linalg.lstsq(F, y)[0]
    np.testing.assert_allclose(y - basis.z[0], fitted, rtol=1e-12)
    np.testing.assert_allclose(F @ basis.offset[0], fitted, rtol=1e-12)


def test_a_path_with_a_linear_mean_has_the_likelihood_of_its_theta() -> None:
    X, y, _, _ = runs()
    fit = penalized_path(X, y, [0.0, 0.01], mean="linear", random_state=0)
    assert fit.converged.all()
    for k in range(2):
        value, sigma2, average = slow_loglik(X, y, fit.theta[k], mean="linear")
        assert fit.loglik[k] == pytest.approx(value, rel=1e-7)
        assert fit.sigma2[k] == pytest.approx(sigma2, rel=1e-6)
        assert fit.mean[k] == pytest.approx(average, rel=1e-8)


def test_a_path_of_many_runs_with_a_basis_of_ones_own() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((120, 2))
    y = np.exp(5.0 * X[:, 0]) + 0.1 * np.sin(9 * X[:, 1])
    fit = penalized_path(
        X, y, [0.0], mean=lambda X: np.exp(5.0 * X[:, :1]), n_starts=2, random_state=0
    )
    plain = penalized_path(X, y, [0.0], n_starts=2, random_state=0)
    assert fit.loglik[0] > plain.loglik[0] + 10.0
    assert fit.sigma2[0] < 0.1


def test_a_response_that_the_trend_explains_is_fitted_without_spread() -> None:
    X, _, _, _ = runs()
    with pytest.warns(PengpWarning, match="y follows mean='linear' exactly.*estimated mean"):
        fit = penalized_path(X, 1.0 + X @ [1.0, -2.0, 0.5], [0.0], mean="linear")
    assert (fit.sigma2 == 0.0).all()
    assert np.isposinf(fit.objective).all()
    assert fit.mean[0] == pytest.approx((1.0 + X @ [1.0, -2.0, 0.5]).mean())


def test_too_few_runs() -> None:
    X, y, _, theta = runs(n=4)
    with pytest.raises(
        InputError, match=r"X has 4 runs, but mean='linear' has 4 coefficients and needs at least 5"
    ):
        penalized_path(X, y, [0.0], mean="linear")
    fit = penalized_path(X, y, [0.0], mean=LinearMean(1.0), random_state=0)  # a prior needs none
    assert fit.converged.all()
    posterior = conditioned(MEANS["linear"], X, y, theta)
    with pytest.raises(InputError, match="Without run 0 the coefficients of mean='linear'"):
        posterior.loo()


@pytest.mark.parametrize(
    ("mean", "message"),
    [
        (
            "constnat",
            "mean='constnat' is unknown; use one of zero, constant, linear, or a",
        ),
        (None, "mean=None is unknown"),
        (lambda X: X[:, 0], r"must return numbers of shape \[13, k\] for 13 inputs, not \(13,\)"),
        (lambda X: [["a"]] * len(X), "must return numbers"),
        (lambda X: np.log(X - 2.0), "function 0 of the basis of mean='<lambda>' is not finite"),
    ],
)
def test_mistakes(mean: Any, message: str) -> None:
    X, y, _, theta = runs()
    with np.errstate(invalid="ignore"), pytest.raises(InputError, match=message):
        profile_loglik(X, y, theta, mean=mean)


@pytest.mark.parametrize("variance", [0.0, -1.0, np.inf, np.nan])
def test_a_prior_variance_is_positive(variance: float) -> None:
    with pytest.raises(InputError, match="prior variance of a mean's coefficients must be above 0"):
        ConstantMean(variance)


def test_means_are_found_by_name_and_pickle() -> None:
    assert get_mean("linear") == LinearMean() == pickle.loads(pickle.dumps(MEANS["linear"]))
    assert get_mean(OWN) is OWN
    assert OWN.name == "waves"
