"""The paper's search in every fold, against single searches and against the highest maximum."""

from functools import partial

import numpy as np
import pytest

from pengp.choosing.crossval import cross_validate_path
from pengp.choosing.folds import leave_one_out
from pengp.model.profile import profile_loglik
from pengp.study import paper_search
from pengp.study.paper_search import PLACES, ends_of, is_rising, searched
from pengp.study.rows import LAMS, METRICS, NUGGET, forrester_runs
from pengp.study.task import Task
from pengp.study.ten_starts import LOG_RANGE, climb

FOLD = (7,)  # its likelihood has an upper mode that some starts miss


def test_the_ends_are_those_of_searches_with_the_likelihood_itself() -> None:
    runs, ends = forrester_runs(), ends_of(FOLD)
    X, y = np.delete(runs.X, FOLD, axis=0), np.delete(runs.y, FOLD)
    starts = np.exp(LOG_RANGE[0] + (np.arange(PLACES) + 0.5) * 7.5 / PLACES)

    def negative(theta: np.ndarray, weight: float) -> tuple[float, list[float]]:
        at = profile_loglik(X, y, theta, nugget=NUGGET)
        slope = float(np.ravel(at.gradient)[0]) / theta[0]
        return weight * theta[0] - float(at.value), [weight - slope]

    for lam, start in ((0, 2), (15, 20), (18, 31)):
        weight = 7 * LAMS[lam]
        value, theta = climb(partial(negative, weight=weight), starts[[start]])
        assert ends.objective[lam, start] == pytest.approx(-value, abs=1e-6)
        assert ends.theta[lam, start] == pytest.approx(theta[0], rel=1e-3)


def test_the_best_of_all_starts_gives_the_metrics_of_the_highest_maximum() -> None:
    runs = forrester_runs()
    table = cross_validate_path(
        runs.X, runs.y, LAMS, folds=leave_one_out(8), random_state=0, metrics=METRICS
    )
    ends = ends_of(FOLD)
    best = ends.objective.argmax(axis=1)
    found = ends.values[:, np.arange(len(LAMS)), best]
    # Beyond 0.05 the upper mode is no longer the highest; both agree on where that is.
    for metric, values in zip(METRICS, found, strict=True):
        np.testing.assert_allclose(values[1:], table.values[metric][1:, 7], rtol=2e-3)
    assert (ends.objective.max(axis=1) - ends.objective.min(axis=1))[:18].min() > 0.1  # they matter


def test_starts_that_are_kept_are_the_same_for_all_lambdas(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def places(fold: tuple[int, ...]) -> paper_search.Ends:
        """Return ends whose objective is the start's number, and whose metrics are, too."""
        number = np.broadcast_to(np.arange(float(PLACES)), (len(LAMS), PLACES))
        return paper_search.Ends(number, number, np.stack([number] * len(METRICS)))

    monkeypatch.setattr(paper_search, "ends_of", places)
    kept = searched([FOLD, FOLD], np.random.default_rng(0), anew=False)
    anew = searched([FOLD, FOLD], np.random.default_rng(0), anew=True)
    assert kept.shape == (4, len(LAMS), 2)
    assert (kept == kept[:, :1]).all()
    assert not (anew == anew[:, :1]).all()
    # The largest of ten numbers below 32, on average above 28.
    assert 27.0 < anew.mean() < 31.0


def test_a_curve_rises_if_every_late_value_is_above_every_early_one() -> None:
    late = LAMS > 0.0735
    assert is_rising(np.where(late, 2.0, 1.0))
    assert not is_rising(np.where(late, 1.0, 1.0))
    dip = np.where(late, 2.0, 1.0)
    dip[-1] = 0.5
    assert not is_rising(dip)


def test_a_task_has_twenty_seeds() -> None:
    rows = paper_search.search_leave_one_out(Task("forrester", "search-loo", 0))
    chosen = [row for row in rows if (row.method, row.metric) == ("pe", "chosen")]
    assert [row.x for row in chosen] == list(np.arange(1.0, 21.0))
    assert {row.value for row in chosen} <= set(LAMS.tolist())
    # Run 8 is an extrapolation: its curve is never that of another fold.
    assert all(row.value > 1.0 for row in rows if row.metric == "ratio_8")
