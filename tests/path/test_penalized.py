"""The path of estimates: what must hold at every cell, alone and in company."""

from typing import Any

import numpy as np
import pytest

from pengp import PathFit, PengpWarning, lambda_grid, penalized_path
from pengp._core.arrays import FloatArray
from pengp.choosing.folds import random_folds
from pengp.model.kernels import KERNELS, KernelName
from pengp.model.likelihood import BatchLikelihood
from pengp.model.profile import profile_loglik
from pengp.path.lockstep import Ended
from pengp.path.penalties import SCAD, PenaltyName
from tests.problems import SEPARABLE, forrester_runs, piston_slap_runs, slow_loglik, smooth_runs

GRID = lambda_grid("paper", n=11)
LOG_BOUNDS = (np.log(1e-3), np.log(1e3))


def folds(n: int, d: int, sizes: list[int]) -> tuple[list[FloatArray], list[FloatArray]]:
    """Return data sets of the given sizes."""
    sets = [smooth_runs(m, d, seed) for seed, m in enumerate(sizes)]
    return [X for X, _ in sets], [y for _, y in sets]


def same_bits(a: PathFit, b: PathFit) -> bool:
    """Tell whether all estimates and modes of two fits agree to the last bit."""
    names = ("theta", "objective", "loglik", "sigma2", "nugget", "mean", "converged", "at_bound")
    pairs = [(getattr(a, name), getattr(b, name)) for name in names]
    pairs += [(getattr(a.modes, name), getattr(b.modes, name)) for name in ("theta", "objective")]
    return all(np.array_equal(x, z, equal_nan=True) for x, z in pairs)


def slopes(
    X: FloatArray, y: FloatArray, theta: FloatArray, lams: FloatArray, penalty: str, **model: Any
) -> FloatArray:
    """Return the projected gradient [L] in log theta of Q at theta [L, d], nugget 1e-5."""
    lik = BatchLikelihood(X[None], y[None], KERNELS[model.pop("kernel", "sqexp")], 1e-5, **model)
    u = np.log(theta)
    gradient = lik.evaluate(np.zeros(len(u), dtype=np.int64), u).gradient
    gradient -= len(y) * theta * SEPARABLE[penalty].gradient(theta, lams[:, None])
    gradient[(u <= LOG_BOUNDS[0] + 1e-12) & (gradient < 0.0)] = 0.0
    gradient[(u >= LOG_BOUNDS[1] - 1e-12) & (gradient > 0.0)] = 0.0
    return np.abs(gradient).max(-1)


@pytest.mark.parametrize("n", [9, 70])
def test_the_same_seed_gives_the_same_bits(n: int) -> None:
    X, y = smooth_runs(n, 3)
    a, b = (penalized_path(X, y, GRID[::5], n_starts=3, random_state=7) for _ in range(2))
    assert same_bits(a, b)


def test_generators_and_legacy_states_are_seeds_too() -> None:
    X, y = smooth_runs(8, 2)
    for make in (np.random.default_rng, np.random.RandomState):
        a, b = (penalized_path(X, y, [0.01], random_state=make(3)) for _ in range(2))
        assert same_bits(a, b)


@pytest.mark.parametrize("mean", ["zero", "constant"])
@pytest.mark.parametrize("nugget", [1e-5, "estimate"])
def test_a_data_set_alone_or_in_company(mean: str, nugget: float | str) -> None:
    X, y = folds(9, 3, [9, 7, 9, 8, 9])
    options: dict[str, Any] = {"mean": mean, "nugget": nugget, "random_state": 0}
    together = penalized_path(X, y, GRID, **options)
    assert together.theta.shape == (5, 11, 3)
    for f in range(5):
        alone = penalized_path(X[f], y[f], GRID, **options)
        assert np.allclose(alone.theta, together.theta[f], rtol=1e-8, atol=0.0)
        assert np.allclose(alone.objective, together.objective[f], rtol=0.0, atol=1e-10)
        assert np.allclose(alone.nugget, together.nugget[f], rtol=1e-8, atol=0.0)
        assert np.array_equal(alone.at_bound, together.at_bound[f])
        assert np.array_equal(alone.modes.count, together.modes.count[f])


def test_lambdas_in_any_order_and_repeated() -> None:
    X, y = piston_slap_runs()
    lams = np.array([0.1, 0.0, 0.02, 0.1, 5.0, 0.0])
    fit = penalized_path(X, y, lams, random_state=0)
    plain = penalized_path(X, y, np.unique(lams), random_state=0)
    place = np.searchsorted(np.unique(lams), lams)
    assert (fit.lams == lams).all()
    assert (fit.theta == plain.theta[place]).all()
    assert (fit.objective == plain.objective[place]).all()
    assert (fit.modes.count == plain.modes.count[place]).all()


def test_leading_axes() -> None:
    X, y = folds(7, 2, [7] * 6)
    flat = penalized_path(X, y, GRID[::3], random_state=0)
    shaped = penalized_path(
        np.reshape(X, (2, 3, 7, 2)), np.reshape(y, (2, 3, 7)), GRID[::3], random_state=0
    )
    assert shaped.theta.shape == (2, 3, 4, 2)
    assert shaped.objective.shape == shaped.converged.shape == (2, 3, 4)
    assert shaped.modes.theta.shape[:3] == (2, 3, 4)
    assert (shaped.theta.reshape(6, 4, 2) == flat.theta).all()
    assert shaped.flat.lower.shape == (2, 3, 4, 2)


def test_several_responses_of_the_same_runs() -> None:
    X, y = smooth_runs(8, 2)
    Y = np.stack([y, np.cos(4.0 * X[:, 1]) - 0.2, y[::-1]])
    fit = penalized_path(X, Y, [0.0, 0.1], random_state=0)
    assert fit.theta.shape == (3, 2, 2)
    for q in range(3):
        alone = penalized_path(X, Y[q], [0.0, 0.1], random_state=0)
        assert np.allclose(alone.theta, fit.theta[q], rtol=1e-8)


@pytest.mark.parametrize("penalty", ["lasso", "scad", "ridge"])
def test_lambda_zero_is_maximum_likelihood(penalty: PenaltyName) -> None:
    X, y = piston_slap_runs()
    ours = penalized_path(X, y, [0.0], penalty=penalty, random_state=0)
    mle = penalized_path(X, y, [0.0, 0.3], penalty="none", random_state=0)
    assert np.allclose(ours.theta[0], mle.theta, rtol=1e-6)
    assert np.allclose(ours.objective[0], mle.objective, atol=1e-9)
    assert (mle.objective == mle.loglik).all()


def test_scad_with_a_huge_a_is_lasso() -> None:
    X, y = smooth_runs(9, 2)
    lasso = penalized_path(X, y, GRID, random_state=0)
    scad = penalized_path(X, y, GRID, penalty=SCAD(a=1e12), random_state=0)
    assert np.allclose(scad.theta, lasso.theta, rtol=1e-5)
    assert np.allclose(scad.objective, lasso.objective, rtol=1e-8)


@pytest.mark.parametrize("penalty", ["lasso", "scad", "ridge", "none"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_every_estimate_is_a_maximum_and_beats_its_neighbours(
    penalty: PenaltyName, kernel: KernelName
) -> None:
    for X, y in (piston_slap_runs(), forrester_runs(), smooth_runs(10, 3)):
        fit = penalized_path(X, y, GRID, penalty=penalty, kernel=kernel, random_state=0)
        assert fit.converged.all()
        assert slopes(X, y, fit.theta, GRID, penalty, kernel=kernel).max() < 1e-5
        # All thetas at all lambdas: no cell is below what another cell's theta would give it.
        values = np.array([slow_loglik(X, y, t, kernel=kernel)[0] for t in fit.theta])
        penalties = SEPARABLE[penalty].value(fit.theta[:, None], GRID[:, None]).sum(-1)
        table = values[:, None] - len(y) * penalties
        assert np.allclose(np.diagonal(table), fit.objective, atol=1e-7)
        assert (table.max(0) <= fit.objective + 1e-7).all()
        assert np.allclose(values, fit.loglik, atol=1e-7)


def test_modes_are_ranked_distinct_maxima() -> None:
    X, y = piston_slap_runs()
    fit = penalized_path(X, y, GRID, random_state=0)
    several = 0
    for k, count in enumerate(fit.modes.count):
        theta, objective = fit.modes.theta[k, :count], fit.modes.objective[k, :count]
        assert count >= 1
        assert (np.diff(objective) <= 0.0).all()
        assert (theta[0] == fit.theta[k]).all()
        assert objective[0] == fit.objective[k]
        lam = np.full(count, GRID[k])
        assert slopes(X, y, theta, lam, "lasso").max() < 0.02
        values = np.array([slow_loglik(X, y, t)[0] for t in theta])
        assert np.allclose(values, fit.modes.loglik[k, :count], atol=1e-5)
        apart = np.abs(np.log(theta[:, None] / theta)).max(-1) + 9.0 * np.eye(count)
        level = np.abs(objective[:, None] - objective)
        assert ((apart > 1e-3) | (level > 1e-6)).all()
        several += int(count > 1)
    assert several > 3


def test_every_maximum_on_a_plateau_is_as_high_as_it_says() -> None:
    # Isotropic, without a penalty, the likelihood of some of the runs is flat from a theta on.
    X, y = piston_slap_runs()
    plans = [random_folds(len(y), 4, random_state=seed) for seed in range(8)]
    trains = [train for plan in plans for train, _ in plan.split()]
    Xs, ys = np.stack([X[t] for t in trains]), np.stack([y[t] for t in trains])
    fit = penalized_path(Xs, ys, lambda_grid("paper"), isotropic=True, random_state=6)
    place = np.arange(fit.modes.objective.shape[-1])
    f, lam, k = np.nonzero(place < fit.modes.count[..., None])
    theta = fit.modes.theta[f, lam, k, :1]
    values = profile_loglik(Xs[f], ys[f], theta, isotropic=True).value
    np.testing.assert_allclose(fit.modes.loglik[f, lam, k], values, rtol=0.0, atol=1e-5)


def test_unused_places_of_modes_hold_nan() -> None:
    fit = penalized_path(*piston_slap_runs(), GRID, random_state=0)
    unused = np.arange(fit.modes.objective.shape[1]) >= fit.modes.count[:, None]
    assert unused.any()
    for name in ("theta", "nugget", "objective", "loglik"):
        assert np.isnan(getattr(fit.modes, name)[unused]).all(), name
        assert np.isfinite(getattr(fit.modes, name)[~unused]).all(), name


@pytest.mark.parametrize("seed", range(3))
def test_an_estimated_nugget_is_at_least_as_good_as_any_fixed_one(seed: int) -> None:
    X, y = smooth_runs(10, 2, seed)
    y = y + 0.1 * np.random.default_rng(seed).standard_normal(10)
    fit = penalized_path(X, y, [0.0, 0.05], nugget="estimate", random_state=0)
    assert ((fit.nugget >= 1.49e-8) & (fit.nugget <= 1.0)).all()
    for g in (1.49e-8, 1e-6, 1e-4, 1e-3, 1e-2, 0.1, 0.4, 1.0):
        fixed = penalized_path(X, y, [0.0, 0.05], nugget=g, random_state=0)
        assert (fit.objective >= fixed.objective - 1e-6).all()
    value = slow_loglik(X, y, fit.theta[0], float(fit.nugget[0]))[0]
    assert fit.loglik[0] == pytest.approx(value, abs=1e-6)


def test_the_mean_is_that_of_generalised_least_squares() -> None:
    X, y = smooth_runs(9, 2)
    y = y + 3.0
    fit = penalized_path(X, y, GRID, mean="constant", random_state=0)
    for k in range(len(GRID)):
        value, sigma2, mean = slow_loglik(X, y, fit.theta[k], mean="constant")
        assert fit.mean[k] == pytest.approx(mean, rel=1e-7)
        assert fit.sigma2[k] == pytest.approx(sigma2, rel=1e-6)
        assert fit.loglik[k] == pytest.approx(value, abs=1e-7)
    moved = penalized_path(X, y + 10.0, GRID, mean="constant", random_state=0)
    assert np.allclose(moved.theta, fit.theta, rtol=1e-5)
    assert np.allclose(moved.mean - 10.0, fit.mean, atol=1e-6)
    assert (penalized_path(X, y, [0.1], random_state=0).mean == 0.0).all()


def test_theta_does_not_depend_on_the_scale_of_y() -> None:
    X, y = smooth_runs(9, 2)
    fit, scaled = (penalized_path(X, c * y, GRID, random_state=0) for c in (1.0, 1e-6))
    assert np.allclose(fit.theta, scaled.theta, rtol=1e-6)
    assert np.allclose(fit.sigma2, 1e12 * scaled.sigma2, rtol=1e-6)
    assert np.allclose(fit.objective, scaled.objective - 9 * np.log(1e6), atol=1e-7)


def test_at_bound_says_which_bound() -> None:
    X, y = piston_slap_runs()
    fit = penalized_path(X, y, [0.0, 0.01, 7.0], random_state=0, theta_bounds=(1e-2, 3.0))
    assert ((fit.at_bound == -1) == (fit.theta == 1e-2)).all()
    assert ((fit.at_bound == 1) == (fit.theta == 3.0)).all()
    assert set(np.unique(fit.at_bound)) == {-1, 0, 1}


def test_isotropic_shares_one_theta() -> None:
    X, y = piston_slap_runs()
    fit = penalized_path(X, y, GRID, isotropic=True, random_state=0)
    assert fit.theta.shape == fit.at_bound.shape == (11, 6)
    assert (fit.theta == fit.theta[:, :1]).all()
    summed = np.array([slow_loglik(X, y, t)[0] for t in fit.theta])
    # One theta is penalized once, not once for every input.
    assert np.allclose(fit.objective, summed - 12 * GRID * fit.theta[:, 0], atol=1e-7)


@pytest.mark.parametrize("n", [40, 65])
def test_large_data_sets(n: int) -> None:
    X, y = smooth_runs(n, 2)
    options: dict[str, Any] = {"kernel": "matern52", "nugget": 1e-4, "random_state": 0}
    fit = penalized_path(X, y, [0.0, 0.01, 0.1], n_starts=3, **options)
    assert fit.converged.all()
    values = [slow_loglik(X, y, t, 1e-4, "matern52")[0] for t in fit.theta]
    assert np.allclose(values, fit.loglik, atol=1e-5)
    table = np.array(values)[:, None] - n * fit.theta.sum(-1)[:, None] * fit.lams
    assert (table.max(0) <= fit.objective + 1e-5).all()


def test_all_thetas_fixed() -> None:
    for n in (8, 70):
        X, y = smooth_runs(n, 2)
        fit = penalized_path(X, y, [0.0, 1.0], theta_bounds=(2.0, 2.0), nugget=1e-3, n_starts=1)
        assert (fit.theta == 2.0).all()
        assert fit.loglik == pytest.approx(slow_loglik(X, y, np.full(2, 2.0), 1e-3)[0], rel=1e-9)
        assert fit.objective[1] == pytest.approx(fit.loglik[1] - n * 4.0)


def test_where_no_maximum_is_reached_the_best_point_seen_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = smooth_runs(9, 2)
    lams = np.array([0.0, 0.05])

    def nowhere(ended: Ended) -> Ended:
        return ended.take(np.empty(0, dtype=np.int64))

    best = penalized_path(X, y, lams, random_state=0)
    monkeypatch.setattr("pengp.path.search._at_maximum", nowhere)
    with pytest.warns(PengpWarning, match="2 of 2 estimates did not converge"):
        fit = penalized_path(X, y, lams, random_state=0)
    assert not fit.converged.any()
    values = [slow_loglik(X, y, t)[0] for t in fit.theta]
    assert np.allclose(fit.objective, values - 9 * lams * fit.theta.sum(-1), atol=1e-8)
    assert (fit.objective <= best.objective + 1e-9).all()
    assert (fit.objective > best.objective - 1e-3).all()  # the searches came close, after all


def test_no_maximum_is_a_copy_of_another_in_its_cell() -> None:
    X, y = piston_slap_runs()
    modes = penalized_path(X, y, lambda_grid(), random_state=0).modes
    assert modes.count.max() > 5
    for count, theta, objective in zip(modes.count, modes.theta, modes.objective, strict=True):
        assert np.isfinite(objective[:count]).all()
        assert np.isnan(objective[count:]).all()
        for k in range(1, count):
            apart = np.abs(np.log(theta[:k] / theta[k])).max(-1)
            assert ((apart >= 0.05) | (objective[:k] - objective[k] >= 1e-3)).all()


def test_a_flat_likelihood_with_an_estimated_nugget_converges() -> None:
    for seed in (1, 2, 3):
        rng = np.random.default_rng(seed)
        X = rng.random((4, 20))
        y = np.sin(4.0 * X[:, -1]) + X[:, 0] ** 2
        fit = penalized_path(
            X,
            y - y.mean(),
            [0.0],
            penalty="none",
            nugget="estimate",
            theta_bounds=(0.2, 5.0),
            random_state=seed,
        )
        assert fit.converged.all()
