"""Whole numbers and levels: sums over all their values, against the full enumeration."""

import itertools
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pengp import BayesianGPRegressor, InputError, PenalizedGPRegressor, PengpWarning
from pengp._core.arrays import FloatArray
from pengp.decisions import effects, propagate
from pengp.decisions.discrete import FiniteLaw
from pengp.decisions.functions import Functions, layout_of
from pengp.decisions.laws import laws_of, lines_of
from pengp.decisions.processes import Processes, processes_of, scaled_covariance
from pengp.decisions.shares import masks_of, shares_of
from pengp.decisions.surfaces import bases_of, both_together
from pengp.model.kernels import get_kernel
from pengp.model.means import ConstantMean
from pengp.model.posterior import Posterior, condition

MATERIALS = ("brass", "steel", "wood")
SHIFT = {"brass": 1.0, "steel": 0.0, "wood": -0.6}
LAWS = {"material": "steel:0.5,brass:0.3,wood:0.2", "coat": {"no": 1.0, "yes": 3.0}}


def table() -> pd.DataFrame:
    """18 of the 30 combinations of three materials, five numbers of teeth and a coat."""
    every = list(itertools.product(MATERIALS, range(1, 6), ("no", "yes")))
    order = np.random.default_rng(0).permutation(len(every))[:18]
    return pd.DataFrame([every[k] for k in order], columns=["material", "teeth", "coat"])


def wear(runs: pd.DataFrame) -> Any:
    shift = runs["material"].map(SHIFT) * (1.0 + (runs["coat"] == "yes"))
    return shift + np.sin(runs["teeth"]) + 0.3 * (runs["coat"] == "yes")


@cache
def known() -> Processes:
    runs = table()
    model = PenalizedGPRegressor(0.01, integer_inputs=["teeth"], random_state=0)
    return processes_of(model.fit(runs, wear(runs)))


def enumerated(laws: Any) -> tuple[FloatArray, FloatArray]:
    """All combinations of values [m, 3] in the unit cube, and their probabilities [m]."""
    found = laws_of(known(), laws)
    assert all(isinstance(law, FiniteLaw) for law in found)
    values = list(itertools.product(*[law.values for law in found]))  # type: ignore[union-attr]
    weights = itertools.product(*[law.weights for law in found])  # type: ignore[union-attr]
    return known().to_unit(np.array(values)), np.array([np.prod(w) for w in weights])


def brute_force(process: Posterior, X: FloatArray, P: FloatArray, mask: int) -> float:
    """E Var E[f | x_w] from the means and covariances of all combinations."""
    mean = process.predict_mean(X)
    C = process.sigma2 * scaled_covariance(process, X, X)
    groups: dict[tuple[float, ...], list[int]] = {}
    for i, x in enumerate(X):
        groups.setdefault(tuple(x[p] for p in range(3) if mask >> p & 1), []).append(i)
    level, whole, value = P @ mean, P @ C @ P, 0.0
    for rows in groups.values():
        p = P[rows].sum()
        share = P[rows] / p
        value += p * ((share @ mean[rows] - level) ** 2 + share @ C[np.ix_(rows, rows)] @ share)
    return float(value - whole)


def process_of(kernel: str) -> Posterior:
    base = known().components[0]
    return condition(
        base.X,
        base.y,
        np.array([0.6, 1.4, 0.3]),
        kernel=type(get_kernel(kernel))(levels=(0, 2)),
        nugget=1e-3,
        mean=ConstantMean(9.0),
        sigma2=1.7,
    )


@pytest.mark.parametrize("laws", [None, LAWS], ids=["equally often", "weighted"])
@pytest.mark.parametrize("kernel", ["sqexp", "matern52", "matern52_product", "matern52_additive"])
def test_variances_and_shares_equal_the_enumeration(kernel: str, laws: Any) -> None:
    process, lines = process_of(kernel), lines_of(known(), laws_of(known(), laws))
    X, P = enumerated(laws)
    expected = np.array([brute_force(process, X, P, mask) for mask in range(8)])
    functions = Functions(process, layout_of(process.X, lines, 0, 0), nodes=48)
    beta = functions.mean_coefficients()[None]
    found = functions.closed_variances(beta, np.array([process.sigma2]), np.arange(8))
    np.testing.assert_allclose(found[0], expected, atol=1e-8 * expected[-1])
    shares, exact = shares_of(found, 3), shares_of(expected[None], 3)
    assert shares.shapley is not None
    assert exact.second[0, 0, 2] > 1e-3  # material and coat do act together
    for kind in ("first", "total", "second", "shapley"):
        np.testing.assert_allclose(getattr(shares, kind), getattr(exact, kind), atol=1e-8)
    # What is drawn at levels has the same variances on average.
    drawn = Functions(process, layout_of(process.X, lines, 3, 8), nodes=48)
    beta, E, _ = drawn._conditioned
    steps = np.sqrt(process.sigma2 * E.shape[1]) * E.T
    both = np.concatenate([beta + steps, beta - steps])
    mean = drawn.closed_variances(both, np.full(len(both), process.sigma2), masks_of(3)).mean(0)
    np.testing.assert_allclose(mean, expected, atol=1e-6 * expected[-1])


@pytest.mark.parametrize("kernel", ["sqexp", "matern52", "matern52_product", "matern52_additive"])
def test_main_effects_and_surfaces_equal_the_enumeration(kernel: str) -> None:
    process, lines = process_of(kernel), lines_of(known(), laws_of(known(), LAWS))
    X, P = enumerated(LAWS)
    mean, C = process.predict_mean(X), process.sigma2 * scaled_covariance(process, X, X)

    def given(fixed: dict[int, float]) -> FloatArray:
        rows = np.all([X[:, p] == x for p, x in fixed.items()], axis=0) if fixed else P > 0.0
        return np.where(rows, P, 0.0) / P[rows].sum()

    functions = Functions(process, layout_of(process.X, lines, 0, 0), nodes=48)
    beta = functions.mean_coefficients()[None]
    grid = lines[0].grid(33)
    curve = [given({0: x}) @ mean for x in grid]
    np.testing.assert_allclose(functions.main_effects(beta, 0, grid)[0], curve, atol=1e-8)
    grids = lines[0].grid(17), lines[1].grid(17)
    bases = bases_of(process.X, lines, (0, 1), grids)
    joint, pure = both_together(process, bases, (0, 1), nodes=48)
    for k, (a, b) in enumerate(itertools.product(*grids)):
        both = given({0: a, 1: b})
        inter = both - given({0: a}) - given({1: b}) + given({})
        for found, functional in ((joint, both), (pure, inter)):
            assert found.mean[k] == pytest.approx(functional @ mean, abs=1e-8)
            assert found.square[k] == pytest.approx(functional @ C @ functional, abs=1e-8)


def mixed() -> pd.DataFrame:
    return table().assign(speed=np.random.default_rng(1).uniform(1.0, 100.0, 18))


@cache
def average() -> BayesianGPRegressor:
    runs = mixed()
    model = BayesianGPRegressor(
        integer_inputs=["teeth"],
        input_transforms={"speed": "log10"},
        effective_size=200,
        random_state=0,
    )
    return model.fit(runs, wear(runs) + np.log10(runs["speed"]))


def test_effects_of_an_average_of_numbers_and_levels() -> None:
    found = effects(average(), n_draws=100)
    assert found.laws[:3] == ("brass,steel,wood", "uniform:1,5", "no,yes")
    curves = dict(zip(found.names, found.curves, strict=True))
    assert curves["material"].axis.labels == MATERIALS
    np.testing.assert_array_equal(curves["teeth"].axis.x, [1, 2, 3, 4, 5])
    assert curves["teeth"].axis.is_finite
    assert not curves["speed"].axis.is_finite
    order = curves["material"].mean
    assert order[0] > order[1] > order[2]  # brass, steel, wood
    shares = np.concatenate([found.first.mean, found.total.mean])
    assert ((shares >= 0.0) & (shares <= 1.0)).all()


def test_a_law_with_one_level_takes_that_input_away() -> None:
    fixed = effects(average(), {"material": "steel"}, n_draws=50)
    assert fixed.total.mean[0] == pytest.approx(0.0, abs=1e-12)
    out = propagate(average(), {"material": {"steel": 1}, "teeth": "3"}, n_draws=50)
    runs = pd.DataFrame({"material": "steel", "teeth": 3, "coat": ["no", "yes"] * 500})
    low, high = mixed()["speed"].min(), mixed()["speed"].max()
    runs["speed"] = low * (high / low) ** ((np.arange(1000) + 0.5) / 1000)  # its scale is log
    assert out.mean.mean == pytest.approx(average().predict(runs).mean(), abs=1e-4)


@pytest.mark.parametrize(
    ("law", "weights"),
    [
        (None, np.full(5, 0.2)),
        ("uniform:2,4", [0, 1 / 3, 1 / 3, 1 / 3, 0]),
        ("2:1,3:3", [0, 0.25, 0.75, 0, 0]),
        (stats.randint(1, 4), [1 / 3, 1 / 3, 1 / 3, 0, 0]),
        ("triangular:1,3,5", stats.triang(0.5, 1, 4).cdf([1.5, 2.5, 3.5, 4.5, 5.5])),
    ],
    ids=["plain", "uniform", "weights", "randint", "triangular"],
)
def test_laws_of_whole_numbers(law: Any, weights: Any) -> None:
    found = laws_of(known(), None if law is None else {"teeth": law})[1]
    assert isinstance(found, FiniteLaw)
    if law == "triangular:1,3,5":
        weights = np.diff(weights, prepend=0.0)
    expected = {k + 1.0: w for k, w in enumerate(weights) if w}
    assert dict(zip(found.values, found.weights, strict=True)) == pytest.approx(expected)


def test_very_many_whole_numbers_are_taken_for_a_continuous_input() -> None:
    x = np.linspace(0.0, 5000.0, 12).round()[:, None]
    y = np.sin(x[:, 0] / 900.0)
    whole = effects(PenalizedGPRegressor(0.01, integer_inputs=[0], random_state=0).fit(x, y))
    plain = effects(PenalizedGPRegressor(0.01, random_state=0).fit(x, y))
    assert whole.std.mean == pytest.approx(plain.std.mean, rel=1e-9)


@pytest.mark.parametrize(
    ("laws", "word"),
    [
        ({"material": "glass:1"}, "'glass', which is none of its levels brass, steel, wood"),
        ({"material": "steel:0.7,brass"}, "all weights or none"),
        ({"material": "steel:0.7,steel:0.3"}, "twice"),
        ({"material": "steel:-1,brass:2"}, "numbers from 0 up"),
        ({"material": "steel:x,brass:2"}, "'x' in the law"),
        ({"material": "normal:0,1"}, "must give all weights or none"),
        ({"material": stats.norm(0, 1)}, "steel"),
        ({"teeth": "1.5:1"}, "no whole numbers"),
        ({"teeth": "uniform:1.2,1.8"}, "no whole number"),
    ],
)
def test_a_wrong_law_is_told(laws: Any, word: str) -> None:
    with pytest.raises(InputError, match=word):
        laws_of(known(), laws)


def test_whole_numbers_beyond_the_region_are_told() -> None:
    with pytest.warns(PengpWarning, match="law of teeth has 50 % outside 1 to 5"):
        effects(average(), {"teeth": "5,6"}, n_draws=20)
