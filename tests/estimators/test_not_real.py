"""Dates, masks and complex parts are refused wherever runs or new inputs are taken."""

import datetime
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pengp import PenalizedGPRegressor, PenalizedGPRegressorCV, penalized_path
from pengp.exceptions import InputError

X = np.random.default_rng(0).random((8, 2))
Y = X.sum(axis=1)
DATES = "holds dates or times"
COMPLEX = "Complex data not supported"
MASKED = "has masked values"


def first(value: Any) -> "np.ndarray[Any, np.dtype[np.object_]]":
    """An array of objects, the first of which is given."""
    return np.array([value, *Y[1:]], dtype=object)


COLUMNS: list[tuple[Any, str]] = [
    (np.array(["2020-01-01"] * 7 + ["NaT"], dtype="datetime64[D]"), DATES),
    (np.arange(8).astype("timedelta64[s]"), DATES),
    (first(np.datetime64("NaT")), DATES),
    (first(pd.NaT), DATES),
    (first(pd.Timestamp("2020-01-01", tz="UTC")), DATES),
    (first(datetime.date(2020, 1, 1)), DATES),
    (Y + 1j, COMPLEX),
    (Y + 0j, COMPLEX),
    (first(1 + 1j), COMPLEX),
    (first(np.complex64(1)), COMPLEX),
    ([1j, *Y[1:]], COMPLEX),
    (np.ma.masked_array(Y, mask=[True, *[False] * 7]), MASKED),
]


def takers() -> list[Callable[[Any], Any]]:
    """Calls that take a column as a response or among the inputs."""
    fitted = PenalizedGPRegressor(random_state=0).fit(X, Y)

    def inputs(column: Any) -> Any:
        stack = np.ma.stack if isinstance(column, np.ma.MaskedArray) else np.stack
        return stack([column, column], axis=1)

    return [
        lambda c: PenalizedGPRegressor().fit(X, c),
        lambda c: PenalizedGPRegressorCV().fit(inputs(c), Y),
        lambda c: fitted.predict(inputs(c)),
        lambda c: fitted.condition_on(inputs(c), Y),
        lambda c: fitted.condition_on(X + 1.0, c),
        lambda c: penalized_path(X, c, [0.1]),
        lambda c: penalized_path(inputs(c), Y, [0.1]),
    ]


@pytest.mark.parametrize(("column", "words"), COLUMNS)
def test_what_is_no_real_number_is_refused(column: Any, words: str) -> None:
    for call in takers():
        with pytest.raises(InputError, match=words) as caught:
            call(column)
        assert str(caught.value).count("\n") == 0


def test_a_mask_that_hides_nothing_does_no_harm() -> None:
    plain = PenalizedGPRegressor(random_state=0).fit(X, Y)
    masked = PenalizedGPRegressor(random_state=0).fit(np.ma.masked_array(X), np.ma.masked_array(Y))
    np.testing.assert_array_equal(masked.predict(X), plain.predict(X))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": Y, "when": pd.date_range("2020-01-01", periods=8)}),
        pd.DataFrame({"a": Y, "when": pd.date_range("2020-01-01", periods=8, tz="UTC")}),
        pd.DataFrame({"a": Y, "when": pd.to_timedelta(np.arange(8), unit="s")}),
        pd.DataFrame({"a": Y, "when": pd.period_range("2020-01", periods=8, freq="M")}),
        pl.DataFrame({"a": Y, "when": [datetime.date(2020, 1, k) for k in range(1, 9)]}),
    ],
)
def test_a_column_of_dates_is_named(frame: Any) -> None:
    with pytest.raises(InputError) as caught:
        PenalizedGPRegressor().fit(frame, Y)
    assert str(caught.value) == (
        "X holds dates or times in column 'when'; give them as numbers, such as days since the "
        "first."
    )


def test_complex_columns_are_named() -> None:
    with pytest.raises(InputError, match="X has complex numbers in column 'b'; give real ones"):
        PenalizedGPRegressor().fit(pd.DataFrame({"a": Y, "b": Y + 1j}), Y)


def test_rows_with_masks_in_a_list_are_refused() -> None:
    rows = [np.ma.masked_array(row, mask=[k == 3, False]) for k, row in enumerate(X)]
    with pytest.raises(InputError, match="X has masked values, 1 in all"):
        PenalizedGPRegressor().fit(rows, Y)
