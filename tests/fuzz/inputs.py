"""Inputs of all kinds, sound and hostile, and what may come of them."""

import contextlib
import dataclasses
import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st

from pengp import InputError, Modes, PengpWarning

#: Seconds after which a call counts as a hang; the machine may be busy.
_PATIENCE = 120

#: Examples of this process so far.
EXAMPLES = [0]

#: Numbers that have broken programs.
HOSTILE = [0.0, -0.0, 1.0, -1.0, 1e-320, 1e-160, 1e-12, 1e12, 1e148, 1e160, 1e308, -1e308]
NO_NUMBERS = [np.nan, np.inf, -np.inf]
#: Objects where something else is expected.
OBJECTS: list[Any] = [None, True, "", "loo", "constnat", b"x", [], {}, (), object(), 1.5, -1, 10**9]
#: Words of scikit-learn's own sentences about arrays.
SKLEARN_S = (
    *("contains NaN", "contains infinity", "too large", "sample(s)", "minimum of", "2D array"),
    *("features", "inconsistent", "could not convert string", "requires y to be passed"),
    *("at least 1 dimension", "Found array with dim"),
)


@st.composite
def runs(draw: st.DrawFn, *, least: int = 2, most: int = 9) -> tuple[Any, Any]:
    """Return inputs [n, d] and responses, of any size and scale, often degenerate."""
    n, d = draw(st.integers(least, most)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    X, y = rng.random((n, d)), rng.standard_normal(n)
    X = X * draw(st.sampled_from([1.0, 1.0, 1e-300, 1e150, 1e-9])) + draw(
        st.sampled_from([0.0, 0.0, 1e9])
    )
    y = y * draw(st.sampled_from([1.0, 1.0, 1e-300, 1e150, 1e300, 0.0])) + draw(
        st.sampled_from([0.0, 0.0, 1e8, 1e308])
    )
    if draw(st.booleans()):
        X[-1] = X[0]
    if draw(st.booleans()):
        X[:, 0] = X[0, 0]
    if draw(st.integers(0, 3)) == 0:
        X[draw(st.integers(0, n - 1)), 0] = draw(st.sampled_from([*HOSTILE, *NO_NUMBERS]))
    if draw(st.integers(0, 3)) == 0:
        y[draw(st.integers(0, n - 1))] = draw(st.sampled_from([*HOSTILE, *NO_NUMBERS]))
    return X, y


def share(part: int, *, few: int | None = None) -> settings:
    """Return settings with a test's part of the examples of the profile, in thousandths.

    In the short profile it may be another, where other tests do the same.
    """
    profile = settings()
    mine = part if few is None or not profile.derandomize else few
    return settings(max_examples=max(1, profile.max_examples * mine // 1000))


def counted(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return a strategy whose examples are counted, for the figures at the end of a run."""

    def count(value: Any) -> Any:
        EXAMPLES[0] += 1
        return value

    return strategy.map(count)


@contextlib.contextmanager
def no_hang() -> Iterator[None]:
    """Fail if the block takes minutes."""
    if not hasattr(signal, "setitimer") or threading.current_thread() != threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        pytest.fail(f"still at work after {_PATIENCE} seconds")  # no Exception, which may be caught

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, _PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def attempt(function: Callable[[], Any]) -> Any:
    """Return a result, or None if the input is refused; anything else is a failure.

    Warnings are the package's own, an error is an InputError in one sentence.
    """
    with warnings.catch_warnings(), no_hang():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", PengpWarning)
        try:
            return function()
        except (TypeError, ValueError) as error:
            refusal = error
    text = str(refusal)
    if not isinstance(refusal, InputError):
        if not any(words in text for words in SKLEARN_S):
            raise refusal
        return None
    assert text
    assert "\n" not in text
    return None


def assert_sound(mean: Any, std: Any) -> None:
    """Assert that predictions are numbers and their spread is none that cannot be."""
    assert np.isfinite(mean).all(), mean
    assert not np.isnan(std).any(), std
    assert (std >= 0.0).all(), std


def numbers_in(value: Any) -> Iterator[Any]:
    """Yield the arrays of numbers in a result."""
    if isinstance(value, Modes):  # padded with nan up to its count
        return
    if dataclasses.is_dataclass(value):
        value = [getattr(value, field.name) for field in dataclasses.fields(value)]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for part in value:
            yield from numbers_in(part)
    elif isinstance(value, float | np.ndarray) and np.asarray(value).dtype.kind == "f":
        yield np.asarray(value)
