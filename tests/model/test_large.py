"""The likelihood of large data sets against the batched one."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from pengp import penalized_path
from pengp._core.arrays import FloatArray
from pengp.model.kernels import KERNELS
from pengp.model.large import LargeLikelihood
from pengp.model.likelihood import BatchLikelihood
from pengp.model.means import MEANS
from pengp.path import fitting, settings
from pengp.path.fitting import Model
from pengp.path.penalties import PENALTIES
from tests.problems import smooth_runs


def both(
    n: int, d: int, kernel: str, nugget: float | None, mean: str, isotropic: bool
) -> tuple[BatchLikelihood, LargeLikelihood]:
    """Return the two engines for the same two data sets."""
    runs = [smooth_runs(n, d, seed) for seed in range(2)]
    X, y = np.stack([X for X, _ in runs]), np.stack([y for _, y in runs]) + 0.3
    options: dict[str, Any] = {"mean": MEANS[mean], "isotropic": isotropic}
    return (
        BatchLikelihood(X, y, KERNELS[kernel], nugget, **options),
        LargeLikelihood(X, y, KERNELS[kernel], nugget, **options),
    )


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("nugget", [1e-3, None], ids=["fixed", "estimated"])
@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("isotropic", [False, True], ids=["aniso", "iso"])
def test_value_and_gradient_equal_those_of_the_batch(
    kernel: str, nugget: float | None, mean: str, isotropic: bool
) -> None:
    small, large = both(70, 3, kernel, nugget, mean, isotropic)
    assert small.n_params == large.n_params
    rng = np.random.default_rng(0)
    which, u = np.array([1, 0, 0, 1]), rng.uniform(-1.0, 3.0, (4, small.n_params))
    u[:, small.n_theta :] -= 7.0
    a, b = small.evaluate(which, u), large.evaluate(which, u)
    assert a.ok.all()
    assert b.ok.all()
    assert np.allclose(a.value, b.value, rtol=1e-9)
    assert np.allclose(a.gradient, b.gradient, rtol=1e-7, atol=1e-7)
    assert np.allclose(a.sigma2, b.sigma2, rtol=1e-8)
    assert np.allclose(a.mean, b.mean, rtol=1e-8, atol=1e-12)
    assert b.hessian.size == 0
    assert large.n_evaluations == 4


def test_several_blocks_of_the_inverse() -> None:
    small, large = both(300, 2, "matern32", 1e-3, "zero", False)
    which, u = np.array([0]), np.log([[3.0, 0.4]])
    a, b = small.evaluate(which, u), large.evaluate(which, u)
    assert a.value[0] == pytest.approx(b.value[0], rel=1e-9)
    assert np.allclose(a.gradient, b.gradient, rtol=1e-7)


def test_values_without_a_gradient() -> None:
    _, large = both(70, 3, "sqexp", 1e-3, "constant", False)
    which, u = np.array([0, 1]), np.zeros((2, 3))
    full, plain = large.evaluate(which, u), large.evaluate(which, u, derivatives=False)
    assert (full.value == plain.value).all()
    assert (full.mean == plain.mean).all()
    assert (plain.gradient == 0.0).all()


def test_an_impossible_point_is_flagged_and_changes_no_other() -> None:
    _, large = both(70, 2, "sqexp", 0.0, "zero", False)
    which, u = np.zeros(3, dtype=np.int64), np.log([[1e3, 1e3], [1e-3, 1e-3], [9e2, 1e3]])
    at = large.evaluate(which, u)
    assert at.ok.tolist() == [True, False, True]
    assert at.value[1] == -np.inf
    assert (at.gradient[1] == 0.0).all()
    for b in (0, 2):
        alone = large.evaluate(which[:1], u[b : b + 1])
        assert all(np.array_equal(x[b : b + 1], z) for x, z in zip(at, alone, strict=True))


def test_a_response_equal_to_its_mean_is_not_possible() -> None:
    X, _ = smooth_runs(70, 1)
    large = LargeLikelihood(X[None], np.zeros((1, 70)), KERNELS["sqexp"], 1e-3)
    at = large.evaluate(np.array([0]), np.array([[5.0]]))
    assert at.value[0] == -np.inf
    assert not at.ok[0]


def test_no_tensor_of_differences_is_formed() -> None:
    n, d = 600, 12
    _, large = both(n, d, "sqexp", 1e-3, "zero", False)
    tracemalloc.start()
    large.evaluate(np.array([0]), np.zeros((1, d)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6.5 * 8 * n * n


def test_the_model_chooses_the_engine_by_size() -> None:
    model = Model(KERNELS["sqexp"], PENALTIES["lasso"], False, 1e-5, MEANS["zero"], (1e-3, 1e3))
    most = settings.NEWTON_SIZE
    for n, engine in ((most, BatchLikelihood), (most + 1, LargeLikelihood)):
        X, y = smooth_runs(n, 2)
        assert type(model.likelihood(X[None], y[None])) is engine


@pytest.mark.parametrize("lam", [0.0, 0.01])
def test_starting_from_fewer_runs_leads_where_a_plain_search_of_all_runs_leads(lam: float) -> None:
    X, y = smooth_runs(160, 4)
    large = LargeLikelihood(X[None], y[None], KERNELS["sqexp"], 1e-5)

    def negative(u: FloatArray) -> tuple[float, FloatArray]:
        at = large.evaluate(np.array([0]), u[None])
        theta = np.exp(u)
        return -at.value[0] + 160 * lam * theta.sum(), -at.gradient[0] + 160 * lam * theta

    box = [tuple(np.log([1e-3, 1e3]))] * 4
    plain = minimize(negative, np.full(4, np.log(0.5)), jac=True, method="L-BFGS-B", bounds=box)
    fit = penalized_path(X, y, [lam], n_starts=1, random_state=0)
    assert fit.converged.all()
    assert fit.objective[0] >= -plain.fun - 1e-6
    assert np.allclose(np.log(fit.theta[0]), plain.x, atol=2e-3)


def test_a_maximum_that_fewer_runs_do_not_show_is_found_all_the_same() -> None:
    rng = np.random.default_rng(0)
    rng.random((150, 1))
    X = rng.random((150, 2))
    y = np.sin(5 * X[:, 1])
    y[0] += 1.0  # one run in 150 is off, and probably not among the fewer ones
    y = (y - y.mean()) / y.std(ddof=1)
    options: dict[str, Any] = {"nugget": "estimate", "mean": "constant", "random_state": 0}
    fit = penalized_path(X, y, [0.0], n_starts=3, **options)
    submodel = penalized_path(X, y, [0.0], n_starts=3, isotropic=True, **options)
    assert fit.objective[0] > submodel.objective[0]


def test_a_large_fit_takes_few_evaluations_of_all_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = smooth_runs(300, 4)
    sizes: list[int] = []
    one = LargeLikelihood._one

    def counted(self: LargeLikelihood, *args: Any) -> Any:
        sizes.append(self.n)
        return one(self, *args)

    monkeypatch.setattr(LargeLikelihood, "_one", counted)
    monkeypatch.setattr(fitting, "_from_fewer_runs", lambda *args: (args[3], None))
    penalized_path(X, y, [0.0], n_starts=1, random_state=0)
    assert sizes.count(300) > 20
    monkeypatch.undo()
    monkeypatch.setattr(LargeLikelihood, "_one", counted)
    sizes.clear()
    fit = penalized_path(X, y, [0.0], n_starts=1, random_state=0)
    assert fit.converged.all()
    few, many = sizes.count(150), sizes.count(300)
    assert few > 0
    assert fit.n_evaluations == few + many
    assert many <= 20  # from the plain start it takes more than that


def test_points_that_are_known_are_not_evaluated_again() -> None:
    X, y = smooth_runs(120, 2)
    large = LargeLikelihood(X[None], y[None], KERNELS["sqexp"], 1e-5)
    first, again = (large.evaluate(np.array([0]), np.zeros((1, 2))) for _ in range(2))
    assert large.n_evaluations == 1
    assert np.array_equal(first.gradient, again.gradient)
    large.evaluate(np.array([0]), np.full((1, 2), 1e-9))
    assert large.n_evaluations == 2
