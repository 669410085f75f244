"""Draws from the model, functions as printed, every partition, and structured folds."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from pengp.choosing.crossval import cross_validate_path
from pengp.datasets.functions import get_function
from pengp.study.fold_designs import fold_designs
from pengp.study.model_draws import DRAWS, model_draws
from pengp.study.partitions import every_fold, partings, shares
from pengp.study.printed_formulas import (
    borehole_as_printed,
    piston_as_printed,
    printed_formulas,
)
from pengp.study.rows import LAMS, forrester_runs
from pengp.study.task import Task


def test_dpe_and_md_of_the_model_have_the_moments_of_chi_squared() -> None:
    rows = model_draws(Task("limits", "model", 0))
    values = {
        key: np.array([r.value for r in rows if (r.method, r.metric) == key])
        for key in {(r.method, r.metric) for r in rows}
    }
    md, ratio = values["true", "md"], values["true", "sigma2_ratio"]
    assert len(md) == DRAWS
    assert md / 4.0 == pytest.approx(ratio)  # MD = DPE / sigma2, and n_v = 4
    assert md.mean() == pytest.approx(4.0, abs=4.0 * np.sqrt(8.0 / DRAWS))
    assert md.var() == pytest.approx(8.0, rel=0.2)
    # With sigma2 from 4 runs MD / 4 is F(4, 4), whose mean of 2 is twice as large.
    assert values["estimated", "md"].mean() > 6.0


def test_the_printed_functions_differ_where_the_text_slips() -> None:
    x = np.array([[45.0, 0.0125, 0.006, 3000.0, 1e5, 293.0, 350.0]])
    A = 1e5 * 0.0125 + 19.62 * 45 - 3000 * 0.006 / 0.0125
    gas = 1e5 * 0.006 / 350 * 293
    V = 0.0125 / 6000 * np.sqrt(A**2 + 12000 * gas - A)
    by_hand = 2 * np.pi * np.sqrt(45 / (3000 + 0.0125**2 * gas / V**2))
    assert piston_as_printed(x) == pytest.approx([by_hand])
    assert piston_as_printed(x) != pytest.approx(get_function("piston")(x), rel=1e-3)
    z = np.array([[0.1, 1000.0, 80000.0, 1050.0, 100.0, 750.0, 1400.0, 11000.0]])
    log = np.log(1e4)
    under = log * (1 + 2 * 1400 * 80000 / (log * 0.01 * 11000)) + 800.0
    assert borehole_as_printed(z) == pytest.approx([2 * np.pi * 80000 * 300 / under])
    rows = {(r.method, r.metric): r.value for r in printed_formulas(Task("limits", "x", 0))}
    assert rows["borehole", "ratio_median"] > 1.0
    assert rows["borehole", "undefined"] == 0.0


def test_partings_are_all_partitions() -> None:
    found = {frozenset(parting) for parting in partings(tuple(range(6)), 3)}
    triples = [frozenset(t) for t in combinations(range(6), 3)]
    assert len(found) == len(triples) // 2
    assert len(list(partings(tuple(range(12)), 3))) == 15400


def test_shares_are_those_of_tables_of_single_partitions() -> None:
    runs = forrester_runs()
    X, y = runs.X[:4], runs.y[:4]
    options: dict[str, Any] = {"random_state": 0, "metrics": ("dpe",)}
    table = cross_validate_path(X, y, LAMS, folds=every_fold(4, 2), **options)
    found = shares(table, "dpe", 2)
    by_hand = np.zeros(len(LAMS))
    for first in ([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]):
        lam = cross_validate_path(X, y, LAMS, folds=first, **options).one_se("dpe")
        by_hand[lam == LAMS] += 1.0 / 3.0
    assert found["dpe_1se"] == pytest.approx(by_hand)
    assert found["dpe"].sum() == pytest.approx(1.0)


def test_structured_folds_share_the_path_of_their_design() -> None:
    rows = fold_designs(Task("folds", "lim", 0))
    ways = {r.method.removeprefix("dpe_1se_").removeprefix("pe_") for r in rows}
    assert ways == {
        "random",
        "repeated",
        "stratified",
        "space_filling",
        "sliced",
        "sliced_random",
    }
    assert {r.metric for r in rows} == {"rmse", "crps", "coverage"}
    # The same path: two ways that choose the same lambda have the same score.
    of_rmse = [r for r in rows if r.metric == "rmse"]
    scores = {(r.lam, "sliced" in r.method): r.value for r in of_rmse}
    assert all(scores[r.lam, "sliced" in r.method] == r.value for r in of_rmse)
