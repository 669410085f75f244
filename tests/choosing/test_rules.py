"""Rules for choosing lambda on tables that separate right from nearly right."""

from typing import Any, cast

import numpy as np
import pytest

from pengp.choosing.rules import (
    RULES,
    Rule,
    best_index,
    get_rule,
    mean_and_se,
    one_se_index,
    select_index,
)
from pengp.exceptions import InputError, PengpWarning

# Means 5, 3, 3.5, 9, 3.9, 8; lambda* = 0.1 with sd 2, K = 4, so SE = 1 and the threshold is 4:
# 0.2 lies within, 0.4 outside, 0.8 within again, 1.6 outside.
LAMS = np.array([0.0, 0.1, 0.2, 0.4, 0.8, 1.6])
SPREAD = np.sqrt(3.0) * np.array([-1.0, -1.0, 1.0, 1.0])
TABLE = np.array([5.0, 3.0, 3.5, 9.0, 3.9, 8.0])[:, None] + SPREAD


def test_mean_and_se_by_hand() -> None:
    mean, se = mean_and_se([[1.0, 2.0, 3.0, 6.0], [5.0, 5.0, 5.0, 5.0]])
    np.testing.assert_allclose(mean, [3.0, 5.0])
    np.testing.assert_allclose(se, [np.sqrt(14.0 / 3.0) / 2.0, 0.0], rtol=1e-15)
    np.testing.assert_allclose(mean_and_se(TABLE.T, axis=0)[1], 1.0, rtol=1e-14)


@pytest.mark.parametrize("unit", [1e-300, 1e160, 1e300, 1.5e307])
def test_mean_and_se_in_any_unit(unit: float) -> None:
    values = np.array([[2.0, 4.0, 9.0], [2.5, 4.5, 1.0]])
    mean, se = mean_and_se(values * unit)
    np.testing.assert_allclose(mean / unit, values.mean(1), rtol=1e-14)
    np.testing.assert_allclose(se / unit, values.std(1, ddof=1) / np.sqrt(3.0), rtol=1e-14)


@pytest.mark.parametrize("repeats", [1, 2])
def test_a_standard_error_whose_square_is_too_large_for_a_number(repeats: int) -> None:
    """The best has the mean 0.35e308 and the error 1.35e308."""
    for second, index in ((1.65e308, 1), (1.75e308, 0)):
        values = np.tile([[-1e308, 1.7e308], [second] * 2, [np.nan, 0.0]], repeats)
        assert one_se_index([0.0, 0.1, 1.0], values, repeats=repeats) == index


def test_one_fold_has_no_standard_error() -> None:
    mean, se = mean_and_se([[2.0], [1.0]])
    assert np.array_equal(mean, [2.0, 1.0])
    assert np.isnan(se).all()
    assert one_se_index([0.0, 1.0, 2.0], [[2.0], [1.0], [1.0 + 1e-12]]) == 1
    assert one_se_index([0.0, 1.0, 2.0], [[2.0], [1.0], [1.0]]) == 2


def test_the_table_separates_the_rules() -> None:
    mean, se = mean_and_se(TABLE)
    within = mean <= mean.min() + se[1]
    assert within.tolist() == [False, True, True, False, True, False]
    # the last consecutive index would be 2, an SD in place of the SE (threshold 5) would add 0,
    # ddof = 0 (threshold 3.866) would lose 4.
    assert 3.0 + np.std(TABLE[1]) / 2.0 < 3.9 < 3.0 + np.std(TABLE[1], ddof=1) / 2.0


def test_one_se_is_the_largest_lambda_within_anywhere_on_the_grid() -> None:
    assert best_index(TABLE, LAMS) == 1
    assert one_se_index(LAMS, TABLE) == 4


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_the_grid_does_not_matter(seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(LAMS))
    assert LAMS[order][best_index(TABLE[order], LAMS[order])] == 0.1
    assert LAMS[order][one_se_index(LAMS[order], TABLE[order])] == 0.8


def test_the_standard_error_is_that_of_the_best_lambda() -> None:
    values = np.array([[1.0, 1.1, 0.9], [1.5, 1.5, 1.5], [-7.0, 4.0, 8.0]])
    assert one_se_index([0.0, 1.0, 2.0], values) == 0  # SE of the last row would admit it


def test_ties_go_to_the_smallest_lambda() -> None:
    values = np.array([[2.0, 2.0], [1.0, 3.0], [3.0, 1.0]])
    assert best_index(values, [3.0, 1.0, 2.0]) == 1
    assert best_index(values) == 0


def test_greater_is_better_mirrors_the_choice() -> None:
    assert best_index(-TABLE, LAMS, greater_is_better=True) == 1
    assert one_se_index(LAMS, -TABLE, greater_is_better=True) == 4
    assert best_index(TABLE, LAMS, greater_is_better=True) == 3


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_lambda_with_a_value_that_is_not_finite_loses(bad: float) -> None:
    values = TABLE.copy()
    values[1, 2] = bad
    assert best_index(values, LAMS) == 2
    assert best_index(-values, LAMS, greater_is_better=True) == 2
    values[4, 0] = bad
    assert one_se_index(LAMS, values) == 2


def test_a_fold_without_information_is_left_out() -> None:
    values = np.column_stack([TABLE, np.full(len(LAMS), np.inf)])
    with pytest.warns(PengpWarning, match=r"folds \[4\]"):
        assert one_se_index(LAMS, values) == 4


def test_nothing_finite_is_an_error() -> None:
    with pytest.warns(PengpWarning), pytest.raises(InputError, match="no lambda"):
        best_index([[np.nan, np.inf], [np.nan, np.nan]])
    with pytest.raises(InputError, match="no lambda"):
        best_index([[np.nan, 1.0], [1.0, np.nan]])


def test_named_rules_and_a_rule_of_ones_own() -> None:
    assert select_index("min", LAMS, TABLE) == 1
    assert select_index("1se", LAMS, TABLE) == 4
    assert select_index("1se", LAMS, -TABLE, greater_is_better=True) == 4
    assert select_index(lambda lams, values: int(np.argmin(values[:, 0])), LAMS, -TABLE) == 3
    RULES.register(Rule("last", lambda lams, values: len(lams) - 1))
    try:
        assert select_index("last", LAMS, TABLE) == 5  # type: ignore[arg-type]
    finally:
        del RULES["last"]
    with pytest.raises(InputError, match=r"rule='last' is unknown; use one of 1se, min, or a Rule"):
        get_rule("last")


def test_a_custom_rule_sees_values_of_which_lower_is_better() -> None:
    seen = []

    def rule(lams: np.ndarray, values: np.ndarray) -> int:
        seen.append(values)
        return 0

    select_index(rule, LAMS, -TABLE, greater_is_better=True)
    assert np.array_equal(seen[0], TABLE)


def test_faulty_tables_and_rules_are_refused() -> None:
    with pytest.raises(InputError, match="shape"):
        best_index([1.0, 2.0])
    with pytest.raises(InputError, match="one finite number for each of the 6 rows"):
        one_se_index(LAMS[:-1], TABLE)
    with pytest.raises(InputError, match="index 6"):
        select_index(lambda lams, values: 6, LAMS, TABLE)
    with pytest.raises(InputError, match="callable"):
        Rule("x", cast(Any, 3))


def test_a_function_is_the_rule_that_it_computes_or_one_of_ones_own() -> None:
    assert get_rule(one_se_index) is get_rule("1se") is RULES["1se"]

    def last(lams: np.ndarray, values: np.ndarray) -> int:
        return len(lams) - 1

    own = get_rule(last)
    assert (own.name, own.label) == ("last", "a rule of your own")
    assert own(LAMS, TABLE) == 5
    assert get_rule(own) is own
