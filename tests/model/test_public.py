"""The two likelihoods of the public interface, against slow formulas and each other."""

import numpy as np
import pytest

from pengp import InputError, ProfileLikelihood, full_loglik, penalized_path, profile_loglik
from pengp.model.kernels import KernelName
from pengp.model.likelihood import BatchLikelihood
from pengp.model.means import MeanName
from tests.problems import piston_slap_runs, slow_loglik

THETA = np.array([0.4, 0.02, 1.3, 0.9, 0.05, 2.0])


def test_profile_loglik_broadcasts_data_sets_thetas_and_nuggets() -> None:
    X, y = piston_slap_runs()
    ys = np.stack([y, y[::-1]])  # [2, n]
    thetas = np.stack([THETA, 2.0 * THETA, 0.3 * THETA])[:, None]  # [3, 1, d]
    nuggets = np.array([1e-5, 1e-3])
    at = profile_loglik(X, ys, thetas, nugget=nuggets)
    assert at.value.shape == (3, 2)
    assert at.hessian.shape == (3, 2, 7, 7)
    for i in range(3):
        for j in range(2):
            value, sigma2, _ = slow_loglik(X, ys[j], thetas[i, 0], nugget=nuggets[j])
            np.testing.assert_allclose(at.value[i, j], value, rtol=1e-10)
            np.testing.assert_allclose(at.sigma2[i, j], sigma2, rtol=1e-9)


@pytest.mark.parametrize("mean", ["zero", "constant"])
def test_profile_loglik_has_the_derivatives_of_its_value(mean: MeanName) -> None:
    X, y = piston_slap_runs()
    at = profile_loglik(X, y, THETA, nugget=1e-3, mean=mean)
    h = 1e-5
    for p in range(7):
        up, down = (np.append(THETA, 1e-3) * np.exp(s * h * np.eye(7)[p]) for s in (1, -1))
        high = profile_loglik(X, y, up[:6], nugget=up[6], mean=mean)
        low = profile_loglik(X, y, down[:6], nugget=down[6], mean=mean)
        np.testing.assert_allclose(at.gradient[p], (high.value - low.value) / (2 * h), atol=1e-7)
        slope = (high.gradient - low.gradient) / (2 * h)
        np.testing.assert_allclose(at.hessian[p], slope, atol=1e-6)


def test_profile_loglik_flags_a_singular_matrix_and_refuses_wrong_shapes() -> None:
    X, y = piston_slap_runs()
    at = profile_loglik(X, y, np.stack([THETA, np.full(6, 1e-9)]), nugget=0.0)
    assert at.ok.tolist() == [True, False]
    assert at.value[1] == -np.inf
    with pytest.raises(InputError, match="do not fit together"):
        profile_loglik(X, y, THETA[:3])


def test_full_loglik_is_the_normal_log_density() -> None:
    X, y = piston_slap_runs()
    n, sigma2, mean, nugget = len(y), 1.7, 0.2, 1e-3
    s = np.einsum("p,ijp->ij", THETA, (X[:, None] - X[None]) ** 2)
    Sigma = sigma2 * (np.exp(-s) + nugget * np.eye(n))
    r = y - mean
    by_hand = -0.5 * (np.linalg.slogdet(Sigma)[1] + r @ np.linalg.solve(Sigma, r))
    at = full_loglik(X, y, THETA, sigma2, mean=mean, nugget=nugget)
    np.testing.assert_allclose(at.value, by_hand, rtol=1e-12)
    assert full_loglik(X, y, np.full(6, 1e-9), 1.0, nugget=0.0).value == -np.inf


@pytest.mark.parametrize("kernel", ["sqexp", "matern52", "matern32"])
def test_full_loglik_has_the_derivatives_of_its_value(kernel: KernelName) -> None:
    X, y = piston_slap_runs()
    point = np.append(np.log(THETA), [np.log(1.7), 0.2, np.log(1e-3)])

    def value(p: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
        theta, sigma2, nugget = np.exp(p[:6]), float(np.exp(p[6])), float(np.exp(p[8]))
        return full_loglik(
            X, y, theta, sigma2, mean=float(p[7]), nugget=nugget, kernel=kernel
        ).value

    at = full_loglik(X, y, THETA, 1.7, mean=0.2, nugget=1e-3, kernel=kernel)
    exact = np.append(at.theta, [at.sigma2, at.mean, at.nugget])
    h = 1e-5
    slopes = [(value(point + h * e) - value(point - h * e)) / (2 * h) for e in np.eye(9)]
    np.testing.assert_allclose(exact, slopes, atol=1e-6)


def test_profile_and_full_likelihood_have_the_same_maximum() -> None:
    X, y = piston_slap_runs()
    y = y + 0.5
    fit = penalized_path(X, y, [0.0], mean="constant", random_state=0)
    theta, sigma2, mean = fit.theta[0], float(fit.sigma2[0]), float(fit.mean[0])
    at = full_loglik(X, y, theta, sigma2, mean=mean)
    free = fit.at_bound[0] == 0
    np.testing.assert_allclose(at.theta[free], 0.0, atol=1e-5)
    assert (at.theta[~free] < 0.0).all()  # pushed against the lower bound
    np.testing.assert_allclose([at.sigma2, at.mean], 0.0, atol=1e-6)
    n = len(y)
    offset = -0.5 * n + 0.5 * n * np.log(n)  # what profiling drops
    np.testing.assert_allclose(at.value, fit.loglik[0] + offset, rtol=1e-9)


def test_a_prepared_likelihood_equals_the_function() -> None:
    X, y = piston_slap_runs()
    ys = np.stack([y, y[::-1]])
    thetas = np.stack([THETA, 2.0 * THETA, 0.3 * THETA])[:, None]
    whole = profile_loglik(X, ys, thetas, nugget=1e-3, mean="constant", kernel="matern52")
    free = ProfileLikelihood(X, ys, nugget="estimate", mean="constant", kernel="matern52")
    for a, b in zip(free(thetas, 1e-3), whole, strict=True):
        np.testing.assert_array_equal(a, b)
    fixed = ProfileLikelihood(X, ys, nugget=1e-3, mean="constant", kernel="matern52")(thetas)
    np.testing.assert_allclose(fixed.gradient, whole.gradient[..., :6], rtol=1e-9)
    np.testing.assert_allclose(fixed.hessian, whole.hessian[..., :6, :6], rtol=1e-8)
    one = ProfileLikelihood(X, y)
    value, sigma2, _ = slow_loglik(X, y, THETA)
    for at in (one(THETA), one(THETA, derivatives=False)):
        assert at.value.shape == ()
        np.testing.assert_allclose([at.value, at.sigma2], [value, sigma2], rtol=1e-9)


def test_without_derivatives_none_are_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = piston_slap_runs()
    expected = profile_loglik(X, y, THETA)

    def forbidden(*args: object) -> None:
        raise AssertionError("derivatives were computed")

    monkeypatch.setattr(BatchLikelihood, "_derivatives", forbidden)
    at = profile_loglik(X, y, THETA, derivatives=False)
    np.testing.assert_allclose(at.value, expected.value, rtol=1e-12)
    assert (at.gradient == 0.0).all()
    assert at.hessian.shape == (7, 0)


def test_mistakes_with_a_prepared_likelihood() -> None:
    X, y = piston_slap_runs()
    with pytest.raises(InputError, match=r"X \(12, 6\) and y \(11,\) do not fit together"):
        ProfileLikelihood(X, y[:11])
    with pytest.raises(InputError, match=r"the last axis of theta must have 6 values"):
        ProfileLikelihood(X, y)(THETA[:3])
    with pytest.raises(InputError, match="the nugget is fixed, so none can be given"):
        ProfileLikelihood(X, y)(THETA, 1e-3)
    with pytest.raises(InputError, match="the nugget must be given"):
        ProfileLikelihood(X, y, nugget="estimate")(THETA)
    with pytest.raises(InputError, match="mean='constnat' is unknown"):
        profile_loglik(X, y, THETA, mean="constnat")  # type: ignore[arg-type]
