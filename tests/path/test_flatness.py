"""The flat stretch of the likelihood along a ray, found again by brute force."""

import numpy as np
import pytest

from pengp import PengpWarning, penalized_path
from pengp._core.arrays import FloatArray
from pengp.path.flatness import LEVEL
from tests.problems import forrester_runs, piston_slap_runs, slow_loglik, smooth_runs


def along_ray(
    X: FloatArray, y: FloatArray, theta: FloatArray, n: int = 4001
) -> tuple[FloatArray, FloatArray]:
    """Return points [n, d] of the clipped ray through theta, and log L there [n]."""
    u = np.log(theta)
    t = np.linspace(np.log(1e-3) - u.max(), np.log(1e3) - u.min(), n)
    points = np.exp(np.clip(u + t[:, None], np.log(1e-3), np.log(1e3)))
    return points, np.array([slow_loglik(X, y, p)[0] for p in points])


def test_the_level() -> None:
    assert LEVEL == 1e-4


@pytest.mark.parametrize("lam", [0.0, 0.005, 0.0230, 1.0])
def test_forrester_by_brute_force(lam: float) -> None:
    X, y = forrester_runs()
    fit = penalized_path(X, y, [lam], random_state=0)
    points, heights = along_ray(X, y, fit.theta[0])
    inside = points[heights >= heights.max() - LEVEL]
    step = np.log(points[1, 0] / points[0, 0])
    assert fit.flat.loglik[0] == pytest.approx(heights.max(), abs=1e-6)
    assert fit.flat.loglik[0] >= heights.max() - 1e-10
    assert np.log(fit.flat.lower[0, 0]) == pytest.approx(np.log(inside[0, 0]), abs=1.01 * step)
    assert np.log(fit.flat.upper[0, 0]) == pytest.approx(np.log(inside[-1, 0]), abs=1.01 * step)


def test_the_ends_are_on_the_level() -> None:
    X, y = smooth_runs(9, 2)
    fit = penalized_path(X, y, [0.0, 0.01], random_state=0)
    for k in range(2):
        for end in (fit.flat.lower[k], fit.flat.upper[k]):
            assert (end > 1e-3).any()
            assert (end < 1e3).any()
            fall = fit.flat.loglik[k] - slow_loglik(X, y, end)[0]
            assert fall == pytest.approx(LEVEL, rel=1e-3)


def test_an_identified_estimate_has_a_short_stretch_around_it() -> None:
    X, y = smooth_runs(9, 2)
    fit = penalized_path(X, y, [0.0], random_state=0)
    inner = fit.at_bound[0] == 0
    assert (fit.flat.lower[0] <= fit.theta[0])[inner].all()
    assert (fit.flat.upper[0] >= fit.theta[0])[inner].all()
    assert (fit.flat.upper[0] / fit.flat.lower[0])[inner].max() < 1.2


def test_piston_slap_isotropic_is_flat_up_to_the_bound() -> None:
    fit = penalized_path(*piston_slap_runs(), [0.0, 0.116], isotropic=True, random_state=0)
    assert fit.flat.lower.shape == fit.flat.upper.shape == (2, 6)
    assert np.allclose(fit.flat.upper, 1e3)
    assert (fit.flat.lower < 19.0).all()
    assert (fit.flat.lower == fit.flat.lower[:, :1]).all()
    assert fit.flat.loglik[0] == pytest.approx(-14.38737, abs=5e-6)


@pytest.mark.parametrize("n", [8, 70])
def test_several_data_sets_and_an_estimated_nugget(n: int) -> None:
    sets = [smooth_runs(n, 2, seed) for seed in range(2)] + [smooth_runs(6, 2)]
    options = {"nugget": "estimate", "random_state": 0, "n_starts": 2}
    fit = penalized_path([X for X, _ in sets], [y for _, y in sets], [0.0, 0.1], **options)  # type: ignore[arg-type]
    assert fit.flat.lower.shape == (3, 2, 2)
    assert fit.flat.loglik.shape == (3, 2)
    for f, (X, y) in enumerate(sets):
        for k in range(2):
            g = float(fit.nugget[f, k])
            end = slow_loglik(X, y, fit.flat.lower[f, k], g)[0]
            assert end == pytest.approx(fit.flat.loglik[f, k], abs=1.2e-4)
            assert fit.flat.loglik[f, k] >= fit.loglik[f, k] - 1e-7


def test_without_a_nugget() -> None:
    X, y = smooth_runs(6, 2)
    with pytest.warns(PengpWarning, match="nugget=0"):
        fit = penalized_path(X, y, [0.0], nugget=0.0, random_state=0)
    assert (fit.flat.lower <= fit.flat.upper).all()
    assert fit.flat.loglik[0] >= fit.loglik[0] - 1e-9


def test_a_response_without_spread_is_flat_nowhere() -> None:
    X, _ = smooth_runs(6, 2)
    with pytest.warns(PengpWarning, match="y is constant"):
        fit = penalized_path(X, np.ones(6), [0.0], mean="constant", random_state=0)
    assert (fit.flat.lower == fit.theta).all()
    assert (fit.flat.upper == fit.theta).all()
