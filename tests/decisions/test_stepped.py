"""Next runs and the optimum where inputs are whole numbers or levels: against all combinations."""

import itertools
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pengp import BayesianGPRegressor, InputError, PenalizedGPRegressor
from pengp.decisions import next_runs, optimum
from pengp.decisions.conditions import levels_by_name, parse_condition
from pengp.decisions.criteria import vigf
from pengp.decisions.processes import processes_of
from pengp.decisions.values import evenly, snapped, stepped
from tests.decisions.test_levels import MATERIALS, average, table, wear

EVERY = pd.DataFrame(
    list(itertools.product(MATERIALS, range(1, 6), ("no", "yes"))),
    columns=["material", "teeth", "coat"],
)


@cache
def model() -> PenalizedGPRegressor:
    runs = table()
    fitted = PenalizedGPRegressor(0.01, integer_inputs=["teeth"], random_state=0)
    return fitted.fit(runs, wear(runs))


@pytest.mark.parametrize("goal", ["accuracy", "optimum", "threshold"])
def test_the_search_finds_the_best_of_all_combinations(goal: Any) -> None:
    options: dict[str, Any] = {"goal": goal, "criterion": "VIGF" if goal == "accuracy" else None}
    if goal == "threshold":
        options["threshold"] = 0.5
    free = next_runs(model(), 2, **options)
    tied = next_runs(model(), 2, candidates=EVERY, **options)
    assert free.inputs == tied.inputs
    np.testing.assert_allclose(free.value, tied.value, rtol=1e-12)
    done = {tuple(row) for row in table().itertuples(index=False)}
    assert not {tuple(row) for row in free.inputs} & done
    frame = free.to_frame()
    assert set(frame["material"]) <= set(MATERIALS)
    assert all(type(row[1]) is int for row in free.inputs)
    assert free.record()["runs"][0]["inputs"]["coat"] in ("no", "yes")


def test_vigf_takes_the_run_that_is_nearest_where_levels_are_equally_far() -> None:
    known = processes_of(model())
    new = known.to_unit(np.array([[0.0, 3.0, 1.0]]))
    squares = ((known.X[:, 1] - new[0, 1]) ** 2) + (known.X[:, [0, 2]] != new[0, [0, 2]]).sum(1)
    near = known.y[int(squares.argmin())]
    means, scales = known.means_and_scales(new)
    expected = 4.0 * scales[0] * (means[0] - near) ** 2 + 2.0 * scales[0] ** 2
    np.testing.assert_allclose(vigf(known, new), expected, rtol=1e-12)


@pytest.mark.parametrize("maximize", [False, True])
def test_the_optimum_is_that_of_all_combinations(maximize: bool) -> None:
    found = optimum(model(), maximize=maximize)
    mean = model().predict(EVERY)
    best = EVERY.iloc[mean.argmax() if maximize else mean.argmin()]
    assert found.record()["inputs"] == best.to_dict()
    assert found.mean == pytest.approx(mean.max() if maximize else mean.min(), rel=1e-9)
    for place in found.places:
        assert set(place.levels) == {"material", "coat"}
        assert found.inputs(place.x)["material"] in place.levels["material"]
    assert found.to_frame()["material"].isin(MATERIALS).all()


@pytest.mark.parametrize(
    ("where", "kept"),
    [
        ("material == steel", lambda f: f["material"] == "steel"),
        ('material != "wood"', lambda f: f["material"] != "wood"),
        ("material in (steel, 'brass')", lambda f: f["material"] != "wood"),
        ("material not in [steel]", lambda f: f["material"] != "steel"),
        ("2 * teeth <= 5", lambda f: f["teeth"] <= 2),
    ],
)
def test_conditions_name_levels(where: str, kept: Any) -> None:
    known = processes_of(model())
    condition = parse_condition(where, known.names, levels_by_name(known))
    numbers = EVERY.assign(
        material=EVERY["material"].map({m: float(k) for k, m in enumerate(MATERIALS)}),
        coat=EVERY["coat"].map({"no": 0.0, "yes": 1.0}),
    )
    np.testing.assert_array_equal(condition.holds(numbers.to_numpy(dtype=float)), kept(EVERY))
    found = next_runs(model(), 1, where=where).to_frame()
    assert kept(found).all()
    assert kept(pd.DataFrame([optimum(model(), where=where).record()["inputs"]])).all()


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"where": "material == glass"}, "'glass', which is none of the levels of material"),
        ({"where": "material < 2"}, "have no order"),
        ({"where": "teeth + material > 2"}, "have no order"),
        ({"where": "teeth == 3"}, "compared by <"),
        ({"candidates": [["glass", 3, "no"]]}, "'glass' in row 0"),
        ({"candidates": [["steel", 3.5, "no"]]}, "fractions in teeth, which takes whole numbers"),
        ({"candidates": EVERY.rename(columns={"teeth": "n"})}, "has no column 'teeth'"),
        ({"candidates": table()}, "every combination"),
    ],
)
def test_what_cannot_be_used_is_told(options: Any, word: str) -> None:
    with pytest.raises(InputError, match=word):
        next_runs(model(), 1, **options)


def test_a_failed_level_is_avoided_whatever_its_place_among_the_levels() -> None:
    # Brass and wood are as far from steel as from each other.
    free = next_runs(model(), 1)
    away = next_runs(model(), 1, avoid=free.inputs, radius=0.9)
    before, after = free.inputs[0], away.inputs[0]
    assert (before[0], before[2]) != (after[0], after[2]) or abs(before[1] - after[1]) == 4  # type: ignore[operator]


def test_points_are_even_over_levels_and_snapped_to_the_nearest_value() -> None:
    known = processes_of(average())
    U = (np.arange(400)[:, None] + 0.5) / 400.0 * np.ones(4)
    raw = known.in_units(evenly(known, U))
    for p, count in ((0, 3), (1, 5), (2, 2)):
        often = np.unique(raw[:, p], return_counts=True)[1]
        assert len(often) == count
        assert np.ptp(often) <= 1
    at = snapped(known, np.array([[0.4, 0.3, 0.6, 0.123]]))
    np.testing.assert_allclose(known.in_units(at)[0, :3], [1.0, 2.0, 1.0])
    assert at[0, 3] == pytest.approx(0.123)
    assert sorted(stepped(known)) == [0, 1, 2]


def test_an_average_of_numbers_and_levels_proposes_whole_runs() -> None:
    found = next_runs(average(), 2, where=["speed <= 20", "material != wood"])
    assert (found.to_frame()["speed"] <= 20.0).all()
    assert set(found.to_frame()["material"]) <= {"brass", "steel"}
    assert all(row[1] in range(1, 6) for row in found.inputs)
    again = next_runs(average(), 1, planned=found.to_frame()[list(found.names)])
    assert again.steps[0].width < found.steps[0].width
    assert isinstance(average(), BayesianGPRegressor)
