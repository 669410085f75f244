"""The study of decisions: its true indices, and how coverage is counted."""

import numpy as np
import pandas as pd
import pytest

from pengp.datasets import get_function
from pengp.decisions import Effects, Estimate
from pengp.study.decisions import _rows, effect_coverage, true_indices
from pengp.study.report_rows import MissingRowsError, Rows
from pengp.study.task import Row, Task
from pengp.study.tasks import run_task


def test_true_indices_of_ishigami_are_those_in_closed_form() -> None:
    first, total = true_indices(get_function("ishigami"))
    a, b, p4 = 7.0, 0.1, np.pi**4
    one, two, both = 0.5 * (1.0 + b * p4 / 5.0) ** 2, a**2 / 8.0, b**2 * p4**2 * 8.0 / 225.0
    parts = np.array([one, two, both]) / (one + two + both)
    np.testing.assert_allclose(first, [parts[0], parts[1], 0.0], atol=0.002)
    np.testing.assert_allclose(total, [parts[0] + parts[2], parts[1], parts[2]], atol=0.002)


def test_an_interval_covers_the_truth_that_it_contains() -> None:
    d = 2
    flat = Estimate(np.array([0.5, 0.2]), np.array([0.4, 0.1]), np.array([0.6, 0.3]))
    none = Estimate(*np.zeros((3, d, d)))
    number = Estimate(*np.zeros(3))
    found = Effects(
        ("a", "b"), "y", ("", ""), 0.9, flat, flat, None, none, number, number,
        (), (), False,
    )  # fmt: skip
    rows = _rows(found, (np.array([0.45, 0.35]), np.array([0.3, 0.25])), 1.0)
    records = [("decisions", "effects-piston", 0, *row) for row in rows]
    columns = ["study", "function", "repetition", *Row._fields]
    table = effect_coverage(Rows(pd.DataFrame(records, columns=columns))).set_index("function")
    assert table.loc["piston", "first covered"] == 0.5
    assert table.loc["piston", "total covered"] == 0.5
    assert table.loc["all", "first width"] == pytest.approx(0.2)
    with pytest.raises(MissingRowsError):
        effect_coverage(Rows(pd.DataFrame(records, columns=columns).assign(study="methods")))


def test_a_task_gives_indices_that_are_shares() -> None:
    rows = run_task(Task("decisions", "effects-otl_circuit", 0))
    means = [row.value for row in rows if row.metric == "mean"]
    assert len(means) == 12
    assert min(means) >= 0.0
    assert max(means) <= 1.0
    covered = [row.value for row in rows if row.metric == "covered"]
    assert np.mean(covered) > 0.5
