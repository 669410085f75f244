"""Records that users make, with generated settings: refused in a sentence, or sound ones."""

import inspect
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pengp import bayes, model, path
from tests.fuzz.arguments import WRONG
from tests.fuzz.inputs import NO_NUMBERS, attempt, counted, share

RECORDS: dict[str, Any] = {
    f"{package.__name__}.{name}": getattr(package, name)
    for package, names in (
        (path, ("SCAD", "JointlyRobust")),
        (model, ("Logit", "BoxCox", "YeoJohnson")),
        (bayes, ("Gamma", "HierarchicalLasso", "JointlyRobust")),
    )
    for name in names
}
SETTINGS = st.one_of(
    st.sampled_from([*NO_NUMBERS, None, (0.1, 10.0), (1.0,), 10**400, (1.0, "x"), [[1.0], [1]]]),
    st.floats(0.0, 5.0),
    WRONG,
)


def use(record: Any) -> None:
    """Ask a record for what it stands for."""
    u = np.array([[-1.0, 0.0], [2.0, 1.0]])
    if isinstance(record, model.BoxCox | model.YeoJohnson | model.Logit):
        if not isinstance(record, model.Logit) and record.power is None:
            return
        x = np.array([0.1, 0.5, 0.9])
        x = record.low + x * (record.high - record.low) if isinstance(record, model.Logit) else x
        assert np.isfinite(record.forward(x[record.accepts(x)])).all()
    elif hasattr(record, "hessian"):
        law = record.for_runs(np.exp(u)) if hasattr(record, "for_runs") else record
        for values in (law.value(u), law.gradient(u), law.hessian(u)):
            assert not np.isnan(values).any()
    elif isinstance(record, path.SCAD):
        assert not np.isnan(record.value(np.exp(u), np.array(0.5))).any()


@pytest.mark.parametrize("name", RECORDS)
def test_a_record(name: str) -> None:
    parameters = [*inspect.signature(RECORDS[name]).parameters]

    @share(10)
    @given(counted(st.dictionaries(st.sampled_from(parameters), SETTINGS, max_size=2)))
    def check(settings: dict[str, Any]) -> None:
        with np.errstate(all="ignore"):
            record = attempt(lambda: RECORDS[name](**settings))
            if record is not None:
                attempt(lambda: use(record))

    check()


#: Settings that once ended otherwise than in a record or a refusal.
ONCE: list[tuple[str, dict[str, Any]]] = [
    ("pengp.path.SCAD", {"a": "x"}),
    ("pengp.path.JointlyRobust", {"a": "x"}),
    ("pengp.path.JointlyRobust", {"b": "x"}),
    ("pengp.model.Logit", {"low": None}),
    ("pengp.model.BoxCox", {"power": []}),
    ("pengp.model.YeoJohnson", {"power": []}),
    ("pengp.bayes.Gamma", {"shape": "x"}),
    ("pengp.bayes.Gamma", {"rate": (0.1, 10.0)}),
    ("pengp.bayes.HierarchicalLasso", {"a": "x"}),
    ("pengp.bayes.HierarchicalLasso", {"n_rates": np.nan}),
    ("pengp.bayes.HierarchicalLasso", {"rates": 1.0}),
    ("pengp.bayes.JointlyRobust", {"b": "x"}),
    ("pengp.bayes.JointlyRobust", {"scales": 1.0}),
    ("pengp.bayes.JointlyRobust", {"b": 1.0, "scales": (1e-320, 1e-320)}),
    ("pengp.bayes.HierarchicalLasso", {"a": 2.225073858507203e-309}),
    ("pengp.bayes.Gamma", {"shape": 1e-320}),
]


@pytest.mark.parametrize(("name", "settings"), ONCE)
def test_settings_that_once_failed(name: str, settings: dict[str, Any]) -> None:
    assert attempt(lambda: RECORDS[name](**settings)) is None
