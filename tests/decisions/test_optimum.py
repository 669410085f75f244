"""The optimum of a surrogate against a fine grid and joint draws."""

import numpy as np
import pytest

from pengp import BayesianGPRegressor, PenalizedGPRegressor
from pengp.decisions import optimum
from pengp.decisions.processes import processes_of
from pengp.exceptions import InputError

X = np.linspace(0.0, 10.0, 9)[:, None]
Y = np.cos(X[:, 0]) + 0.02 * X[:, 0]
GRID = np.linspace(0.0, 10.0, 4001)[:, None]


@pytest.fixture(scope="module")
def model() -> BayesianGPRegressor:
    return BayesianGPRegressor(random_state=0).fit(X, Y)


@pytest.mark.parametrize("maximize", [False, True])
def test_it_is_the_best_of_a_fine_grid(model: BayesianGPRegressor, maximize: bool) -> None:
    found = optimum(model, maximize=maximize)
    mean = model.predict(GRID)
    best = mean.argmax() if maximize else mean.argmin()
    assert found.x[0] == pytest.approx(GRID[best, 0], abs=0.01)
    assert found.mean == pytest.approx(mean[best], abs=1e-5)
    lower, upper = model.predict_interval(found.x[None])
    np.testing.assert_allclose([found.lower, found.upper], [lower[0], upper[0]], atol=5e-3)
    assert found.best_run == (Y.argmax() if maximize else Y.argmin())
    assert found.best == pytest.approx(Y[found.best_run])


def test_probability_is_that_of_draws(model: BayesianGPRegressor) -> None:
    found, processes = optimum(model), processes_of(model)
    draws = processes.draws(processes.to_unit(found.x[None]), 100_000, np.random.default_rng(1))
    assert found.best is not None
    better = (processes.to_response(draws) < found.best).mean()
    assert found.probability == pytest.approx(better, abs=0.01)


def test_places_share_the_draws(model: BayesianGPRegressor) -> None:
    found = optimum(model)
    total = sum(place.probability for place in found.places)
    assert total + found.elsewhere == pytest.approx(1.0)
    assert all(
        a.probability >= b.probability for a, b in zip(found.places, found.places[1:], strict=False)
    )
    # The two valleys of the function, near pi and 3 pi, of which the first is the lower one.
    assert found.places[0].lower[0] <= np.pi <= found.places[0].upper[0] + 0.5
    assert list(found.to_frame()) == ["probability", "x1"]


def test_conditions_hold_and_the_search_reaches_their_edge() -> None:
    one = PenalizedGPRegressor(lam=0.01, random_state=0).fit(X, Y)
    found = optimum(one, where="x1 <= 2.5")
    assert found.x[0] == pytest.approx(2.5, abs=0.02)
    assert all(place.upper[0] <= 2.5 for place in found.places)
    with pytest.raises(InputError, match="satisfies 'x1 > 11'"):
        optimum(one, where="x1 > 11")


def test_a_run_that_breaks_the_conditions_is_no_best_run(model: BayesianGPRegressor) -> None:
    found = optimum(model, where="x1 <= 2.5")  # the runs at 0, 1.25 and 2.5
    assert found.best_run == 2
    assert found.best == pytest.approx(Y[2])
    none = optimum(model, where=["x1 > 2.6", "x1 < 3.6"])
    assert none.best_run is none.best is none.probability is None
    record = none.record()
    assert record["best_run"] is record["probability_better"] is None
