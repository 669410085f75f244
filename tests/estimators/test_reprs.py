"""What a prompt shows of results is short and true."""

import itertools
import re
from collections import Counter
from html import escape
from typing import Any, NamedTuple

import numpy as np
import pytest

from pengp import (
    BayesianGPRegressor,
    PenalizedGPRegressor,
    PenalizedGPRegressorCV,
    diagnose,
    full_loglik,
    get_function,
    load_piston_slap,
    plots,
    profile_loglik,
)
from pengp._core.shown import Shown, shown
from pengp.decisions import effects, next_runs, optimum, propagate
from pengp.diagnostics import compare, good_enough, validate
from pengp.estimators.view import view_of


def test_results_say_in_one_line_what_they_hold() -> None:
    runs = load_piston_slap()
    model = PenalizedGPRegressorCV(cv=4, random_state=0).fit(runs.X, runs.y)
    found = diagnose(model)
    assert repr(model.cv_table_).startswith("CVTable(41 lambdas, 4 splits, metrics ")
    best = np.nanmax(model.modes_.objective)
    shown = f"Modes({int(model.modes_.count)} local maxima, best objective {best:.4g})"
    assert repr(model.modes_) == shown
    assert f"{int(found.active.sum())} of 6 inputs active" in repr(found)
    for finding in found.findings:
        assert finding.code in repr(found)
        assert f"- {finding.message}" in str(found).splitlines()
    assert found._repr_html_().count("<li>") == len(found.findings)


def test_modes_of_a_path_tell_the_range_of_their_number() -> None:
    runs = load_piston_slap()
    model = PenalizedGPRegressorCV(cv=4, random_state=0).fit(runs.X, runs.y)
    modes = model.path_.modes
    assert f"Modes({modes.count.min()} to {modes.count.max()} local maxima" in repr(modes)


def test_what_a_notebook_shows_is_a_line_and_a_table() -> None:
    runs = load_piston_slap()
    model = PenalizedGPRegressorCV(cv=4, random_state=0).fit(runs.X, runs.y)
    other = PenalizedGPRegressor(0.1, random_state=0).fit(runs.X, runs.y)
    shown: dict[str, tuple[Shown, int]] = {
        "41 lambdas, 0 to 7.389, 6 inputs": (model.path_, 0),
        "local maxima": (model.modes_, int(model.modes_.count)),
        "metrics": (model.cv_table_, 6),
        "12 predictions of 12 runs": (model.held_out(), 0),
        "3 test runs": (validate(other, runs.X[:3] + 0.1, runs.y[:3]), 4),
        "the best first": (compare({"<one>": model, "other": other}), 2),
        "enough": (found := good_enough(other, tolerance=9.0), len(found.steps)),
        "shares of the variance": (effects(other, n_draws=20), 6),
        "2 runs, goal accuracy": (next_runs(other, 2, random_state=0), 2),
        "smallest response": (best := optimum(other), len(best.places)),
        "mean": (propagate(other, n_draws=20), 9),
        "12 runs of 6 inputs, piston slap noise in dB": (runs, 12),
        "branin, x1 -5 to 10, x2 0 to 15": (get_function("branin"), 0),
        f"{np.sqrt(np.mean(model.loo_.residual**2)):.4g} with theta kept": (model.loo_, 0),
        f"{(model.flat_.upper / model.flat_.lower).max():.4g} times": (model.flat_, 0),
    }
    for words, (record, rows) in shown.items():
        line, html = repr(record), record._repr_html_()
        assert line.startswith(f"{type(record).__name__}("), line
        assert words in line
        assert len(line) < 200, line
        assert html.count("<tr>") == (rows + 1 if rows else 0), line
        assert "<one>" not in html
    best_theta = re.findall(r"<td>(.*?)</td>", model.modes_._repr_html_())[1]
    assert best_theta == f"{model.theta_[0]:.4g}"


class Pair(NamedTuple):
    first: object
    second: object


@pytest.mark.parametrize(
    ("pair", "told"),
    [
        ((np.zeros(3), np.ones(3)), "first, second [3]"),
        ((np.zeros((2, 3)), np.array(0.123456)), "first [2, 3], second=0.1235"),
        (("pin offset", True), "first='pin offset', second=True"),
        ((None, ("a", "b")), "first=None, second [2]"),
        (("long " * 20, Pair(1, 2)), "first=..., second Pair"),
    ],
)
def test_a_named_tuple_tells_short_values_and_the_shapes_of_arrays(
    pair: tuple[object, object], told: str
) -> None:
    assert repr(shown(Pair)(*pair)) == f"Pair({told})"


def test_every_display_and_every_record_of_arrays_is_told_in_one_line() -> None:
    runs = load_piston_slap()
    average = BayesianGPRegressor(random_state=0).fit(runs.X, runs.y)
    mode = PenalizedGPRegressor(0.02, random_state=0).fit(runs.X, runs.y)
    displays = [getattr(plots, name) for name in plots.__all__ if name.endswith("Display")]
    assert len(displays) > 10
    assert all(display.__repr__ is Shown.__repr__ for display in displays)
    found = effects(average, n_draws=20, pairs=[("x1", "x6")])
    records: tuple[Any, ...] = (
        plots.SliceDisplay.from_estimator(average),
        average.predictive_law(runs.X),
        average.activity_,
        average.explanations_[0],
        found.first,
        found.curves[0],
        found.curves[0].axis,
        found.surfaces[0],
        diagnose(mode).modes[0],
        profile_loglik(runs.X / 100, runs.y, [1.0] * 6),
        full_loglik(runs.X / 100, runs.y, [1.0] * 6, 1.0),
    )
    for record in records:
        line = repr(record)
        assert line.startswith(f"{type(record).__name__}(")
        assert len(line) < 200
        assert "\n" not in line
        assert "array(" not in line
        assert record._repr_html_() == f"<p>{escape(line)}</p>"


def test_an_average_says_how_many_processes_it_has_and_no_explanation_twice() -> None:
    runs = load_piston_slap()
    model = BayesianGPRegressor(random_state=0).fit(runs.X, runs.y)
    found = model.components_
    kernels = len(set(found.kernel))
    told = f"Components({len(found.weight)} processes of 6 inputs, {kernels} kernels)"
    assert repr(found) == told
    rows = re.findall("<tr><td>(.*?)</td><td>(.*?)</td>", found._repr_html_())
    assert {name: int(number) for name, number in rows} == Counter(found.kernel)
    left_out = np.sqrt(np.mean((model.held_out().mean - runs.y) ** 2))
    assert repr(model.loo_) == f"LeaveOneOut(12 runs, RMSE {left_out:.4g} with theta learned anew)"
    shown = view_of(model).average.explanations
    assert sum(one.weight for one in shown) == pytest.approx(1.0, abs=1e-12)
    for one, other in itertools.combinations(shown, 2):
        apart = np.abs(np.log(one.theta / other.theta)).max()
        assert one.kernel != other.kernel or apart > 0.5
