"""Grids of lambda, and lambda_max as the KKT bound."""

import numpy as np
import pytest

from pengp import InputError, PengpWarning, lambda_grid, lambda_max
from pengp.model.kernels import KERNELS, KernelName
from pengp.model.likelihood import BatchLikelihood
from pengp.model.means import MEANS, MeanName
from tests.problems import forrester_runs, piston_slap_runs, smooth_runs


def test_the_paper_grid() -> None:
    grid = lambda_grid("paper")
    assert grid.shape == (41,)
    assert grid[0] == 0.0
    assert np.allclose(grid[1:], np.exp(np.linspace(-7.0, 2.0, 40)), rtol=1e-15)
    for printed in (0.0231, 0.116, 0.00577, 0.0578, 7.389):
        assert np.abs(grid / printed - 1.0).min() < 5e-3
    assert np.array_equal(grid, lambda_grid())


def test_the_kkt_grid_goes_up_to_lam_max() -> None:
    grid = lambda_grid("kkt", n=25, lam_max=3019.7)
    assert grid.shape == (25,)
    assert grid[0] == 0.0
    assert grid[1] == pytest.approx(np.exp(-7.0))
    assert grid[-1] == pytest.approx(3019.7, rel=1e-12)
    assert np.allclose(np.diff(np.log(grid[1:])), np.log(grid[2] / grid[1]))


def test_a_kkt_grid_below_one_still_ascends() -> None:
    grid = lambda_grid("kkt", n=9, lam_max=1e-4)
    assert (np.diff(grid) > 0.0).all()
    assert grid[-1] == pytest.approx(1e-4, rel=1e-12)


def test_short_grids() -> None:
    assert lambda_grid(n=1).tolist() == [0.0]
    assert lambda_grid(n=3)[1:] == pytest.approx([np.exp(-7.0), np.exp(2.0)])


@pytest.mark.parametrize("n", [0, -1, 2.5, True, "5"])
def test_a_bad_number_of_values(n: int) -> None:
    with pytest.raises(InputError, match="n must be a whole number from 1 to 100,000"):
        lambda_grid(n=n)


def test_bad_kinds() -> None:
    with pytest.raises(InputError, match="kind='glmnet' is none of paper, kkt"):
        lambda_grid("glmnet")  # type: ignore[arg-type]
    for lam_max in (None, 0.0, -1.0, np.inf, np.nan):
        with pytest.raises(InputError, match="needs lam_max > 0"):
            lambda_grid("kkt", lam_max=lam_max)


def test_the_values_of_the_paper() -> None:
    assert float(lambda_max(*forrester_runs())) == pytest.approx(3019.7, abs=0.05)
    assert float(lambda_max(*piston_slap_runs())) == pytest.approx(33484.6, abs=0.05)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("isotropic", [False, True], ids=["aniso", "iso"])
def test_against_the_likelihoods_gradient_near_zero(
    kernel: KernelName, mean: MeanName, isotropic: bool
) -> None:
    X, y = smooth_runs(9, 3)
    g, tiny = 1e-3, 1e-12
    lik = BatchLikelihood(
        X[None], y[None] + 0.5, KERNELS[kernel], g, mean=MEANS[mean], isotropic=isotropic
    )
    at = lik.evaluate(np.array([0]), np.full((1, lik.n_params), np.log(tiny)))
    ours = lambda_max(X, y + 0.5, kernel=kernel, isotropic=isotropic, nugget=g, mean=mean)
    slopes = np.abs(at.gradient[0] / tiny)
    # Matern 3/2 has a term in s^(3/2), which is slow to vanish.
    tolerance = 1e-3 if "matern32" in kernel else 1e-6
    assert float(ours) == pytest.approx(slopes.max() / 9, rel=tolerance)


@pytest.mark.parametrize("seed", range(3))
def test_theta_zero_stops_being_a_maximum_below_lambda_max(seed: int) -> None:
    X, y = smooth_runs(8, 2, seed)
    n, tiny = 8, 1e-9
    lik = BatchLikelihood(X[None], y[None], KERNELS["sqexp"], 1e-3)
    slopes = lik.evaluate(np.array([0]), np.full((1, 2), np.log(tiny))).gradient[0] / tiny
    p = int(np.abs(slopes).argmax())
    assert slopes[p] > 0.0  # else the bound would not be where theta = 0 turns into a maximum
    bound = float(lambda_max(X, y, nugget=1e-3))
    assert (slopes - n * 1.001 * bound < 0.0).all()
    assert slopes[p] - n * 0.999 * bound > 0.0


def test_several_data_sets() -> None:
    sets = [smooth_runs(8, 2, 0), smooth_runs(8, 2, 1), smooth_runs(6, 2, 2)]
    alone = [float(lambda_max(X, y)) for X, y in sets]
    assert lambda_max([X for X, _ in sets], [y for _, y in sets]).tolist() == alone
    X, y = np.stack([X for X, _ in sets[:2]]), np.stack([y for _, y in sets[:2]])
    both = lambda_max(X[None], y[None])
    assert both.shape == (1, 2)
    assert both[0].tolist() == alone[:2]
    assert lambda_max(*sets[0]).shape == ()


def test_bad_input() -> None:
    X, y = smooth_runs(8, 2)
    with pytest.raises(InputError, match="fixed nugget, at least 1e-50"):
        lambda_max(X, y, nugget="estimate")  # type: ignore[arg-type]
    with (
        pytest.warns(PengpWarning, match="nugget=0"),
        pytest.raises(InputError, match="fixed nugget, at least 1e-50"),
    ):
        lambda_max(X, y, nugget=0.0)
    with (
        pytest.warns(PengpWarning, match="y is constant"),
        pytest.raises(InputError, match="equals its prior mean"),
    ):
        lambda_max(X, np.full(8, 2.0), mean="constant")
    with pytest.raises(InputError, match="runs must match"):
        lambda_max(X, y[:7])
    with pytest.raises(InputError, match="kernel='rbf' is unknown"):
        lambda_max(X, y, kernel="rbf")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="mean='quadratic' is unknown"):
        lambda_max(X, y, mean="quadratic")  # type: ignore[arg-type]
