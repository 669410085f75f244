"""The study of next runs: problems, ways and ratios by hand."""

import numpy as np
import pandas as pd
import pytest

from pengp import BayesianGPRegressor
from pengp.study.next_runs import WAYS, Continued, _started, by_distance, continued, ratios
from pengp.study.report_rows import MissingRowsError, Rows
from pengp.study.task import Task

X = np.random.default_rng(0).random((60, 2))
Y = np.sin(5.0 * X[:, 0]) + X[:, 1]
BOUNDS = np.array([[0.0, 1.0]] * 2)
PROBLEM = Continued(X[:40], Y[:40], X[40:], Y[40:], BOUNDS, np.arange(5), 1)


@pytest.mark.parametrize("way", WAYS)
def test_a_way_chooses_rows_that_are_not_known(way: str) -> None:
    chosen = WAYS[way](PROBLEM, PROBLEM.start, 3)
    assert len(np.unique(chosen)) == 3
    assert not np.isin(chosen, PROBLEM.start).any()


def test_distance_takes_the_farthest_row_first() -> None:
    chosen = by_distance(PROBLEM, PROBLEM.start, 2)
    near = np.linalg.norm(X[:40, None] - X[:5], axis=2).min(1)
    assert chosen[0] == near.argmax()
    near = np.minimum(near, np.linalg.norm(X[:40] - X[chosen[0]], axis=1))
    assert chosen[1] == near.argmax()


def test_test_runs_are_never_candidates() -> None:
    task = Task("decisions", "next-branin", 0, 3)
    X = np.random.default_rng(0).random((90, 2))
    problem = _started(X, X[:, 0], BOUNDS, task)
    assert (len(problem.y_test), len(problem.y)) == (30, 60)
    rows = np.concatenate([problem.X_test, problem.X])
    assert np.unique(rows, axis=0).tolist() == np.unique(X, axis=0).tolist()


def test_the_error_is_that_of_the_test_runs() -> None:
    seen = []

    def first(problem: Continued, known: np.ndarray, k: int) -> np.ndarray:
        seen.append(k)
        return np.arange(len(known), len(known) + k)

    value = continued(PROBLEM, first)
    assert seen == [2, 2, 1]
    model = BayesianGPRegressor(input_bounds=BOUNDS, random_state=1).fit(X[:10], Y[:10])
    error = model.predict(X[40:]) - Y[40:]
    assert value == pytest.approx(np.sqrt(np.mean(error**2)) / np.std(Y[40:]), rel=1e-12)


def test_ratios_are_mean_logarithms() -> None:
    errors = {
        "random": (2.0, 3.0),
        "maximin": (1.0, 2.0),
        "variance": (0.5, 1.0),
        "vigf": (1.0, 1.0),
    }
    frame = pd.DataFrame(
        [
            {"study": "decisions", "function": "next-franke", "repetition": r, "method": way}
            | {"lam": None, "metric": "rmse", "x": None, "value": value}
            for way, values in errors.items()
            for r, value in enumerate(values)
        ]
    )
    table = ratios(Rows(frame))
    assert table["problem"].tolist() == ["franke", "mean"]
    assert table["variance/maximin"].tolist() == pytest.approx([100.0 * np.log(0.5)] * 2)
    assert table["vigf/maximin"].iloc[0] == pytest.approx(50.0 * np.log(0.5))
    with pytest.raises(MissingRowsError):
        ratios(Rows(frame[:0]))
