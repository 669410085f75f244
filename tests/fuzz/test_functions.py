"""Public functions on generated arguments: refused in a sentence, or sound answers."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import pengp
from pengp.choosing import given_folds
from tests.fuzz.inputs import HOSTILE, NO_NUMBERS, OBJECTS, attempt, counted, runs, share

ANYTHING = st.one_of(
    st.sampled_from([*OBJECTS, *HOSTILE, *NO_NUMBERS]),
    st.lists(st.one_of(st.integers(-2, 7), st.floats(), st.text(max_size=2)), max_size=6),
    st.lists(st.tuples(st.lists(st.integers(-1, 7), max_size=4), st.lists(st.integers(-1, 7)))),
)


@share(40)
@given(counted(runs()), st.lists(st.sampled_from([0.0, 0.1, 1e49, -1.0, np.nan]), max_size=3))
def test_paths(data: tuple[Any, Any], lams: list[float]) -> None:
    path = attempt(lambda: pengp.penalized_path(*data, lams, n_starts=2, random_state=0))
    if path is not None:
        assert np.isfinite(path.theta).all()
        assert not np.isnan(path.objective).any()
        assert (path.sigma2 >= 0.0).all()


@share(20)
@given(counted(ANYTHING))
def test_folds(cv: Any) -> None:
    X, y = np.arange(12.0).reshape(6, 2), np.arange(6.0)
    for make in (lambda: pengp.make_folds(cv, X, y, random_state=0), lambda: given_folds(cv)):
        plan = attempt(make)
        if plan is not None:
            for train, test in plan:
                assert len(train)
                assert len(test)
                assert not set(train) & set(test)


@share(10)
@given(counted(ANYTHING), ANYTHING)
def test_designs(n: Any, bounds: Any) -> None:
    if isinstance(n, int) and n > 100:
        return
    attempt(lambda: pengp.latin_hypercube(n, 2, random_state=0))
    scaled = attempt(lambda: pengp.scale_design(np.full((2, 1), 0.5), bounds))
    assert scaled is None or np.isfinite(scaled).all()


@share(20)
@given(counted(runs()), st.lists(st.sampled_from([*HOSTILE, *NO_NUMBERS]), min_size=1, max_size=3))
def test_likelihoods(data: tuple[Any, Any], theta: list[float]) -> None:
    X, y = data
    found = attempt(lambda: pengp.profile_loglik(X, y, theta))
    if found is not None:
        assert not np.isnan(found.value).any()
        assert not np.isnan(found.gradient).any()
        assert not np.isnan(found.hessian).any()
