"""Conditions on the inputs: arithmetic and comparisons, and nothing that is code."""

import numpy as np
import pytest

from pengp.decisions.conditions import parse_condition
from pengp.exceptions import InputError

X = np.random.default_rng(0).uniform(-2.0, 2.0, (200, 2))
A, B = X.T


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b <= 1", A + B <= 1.0),
        ("a - 2 * b > -a / 3", A - 2.0 * B > -A / 3.0),
        ("-1 <= a ** 2 - b < 1.5", (A**2 - B >= -1.0) & (A**2 - B < 1.5)),
        ("(a + b) * +1e0 >= .5", A + B >= 0.5),
        ("`a` < b", A < B),
        ("a ** 0.5 >= 0", A >= 0.0),  # not a number for a < 0, which satisfies nothing
    ],
)
def test_value_is_that_of_the_arithmetic(text: str, expected: np.ndarray) -> None:
    assert 0 < expected.sum() < len(X)
    np.testing.assert_array_equal(parse_condition(text, ["a", "b"]).holds(X), expected)


def test_names_with_blanks_stand_in_backquotes() -> None:
    condition = parse_condition("`pin offset` * 2 < `_input_1`", ["pin offset", "_input_1"])
    np.testing.assert_array_equal(condition.holds(X), 2.0 * A < B)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true') < 1",
        "a.real < 1",
        "a[0] < 1",
        "abs(a) < 1",
        "(lambda: 1)() < 2",
        "[a] < [b]",
        "'a' < 'b'",
        "a if b else 1 < 2",
        "(a := 1) < 2",
        "f'{a}' < 1",
        "a @ b < 1",
        "a // b < 1",
        "a % b < 1",
        "a == b",
        "a is b",
        "a < 1 and b < 1",
        "not a < 1",
        "True < a",
        "a < 1j",
        "a < 1e999",
        "a + b",
        "a <",
        "",
        "a < 1; b < 1",
        "a < `b",
    ],
)
def test_all_else_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"the condition .* cannot be used"):
        parse_condition(text, ["a", "b"])


def test_size_is_limited() -> None:
    with pytest.raises(InputError, match="too long"):
        parse_condition("+".join(["a"] * 300) + "<1", ["a"])
    with pytest.raises(InputError, match="characters"):
        parse_condition("(" * 3000 + "a" + ")" * 3000 + "<1", ["a"])
    with pytest.raises(InputError, match="cannot be used"):
        parse_condition("(" * 400 + "a" + ")" * 400 + "<1", ["a"])
    # A power that would take for ever in whole numbers is one of floats here.
    assert not parse_condition("9 ** 9 ** 9 ** 9 < a", ["a"]).holds(X[:, :1]).any()


def test_unknown_names_are_told_with_those_there_are() -> None:
    with pytest.raises(InputError, match="names 'c', but the inputs are: a, b"):
        parse_condition("a + c < 1", ["a", "b"])
    with pytest.raises(InputError, match="names 'c d', but the inputs are: a, b"):
        parse_condition("a + `c d` < 1", ["a", "b"])
