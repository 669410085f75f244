"""What all displays share: axes, names, outputs, matplotlib only where it is drawn."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl

mpl.use("Agg")  # before pyplot is loaded anywhere

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from pengp import InputError, PenalizedGPRegressor, PenalizedGPRegressorCV
from pengp.plots import (
    ContourDisplay,
    CoverageDisplay,
    CVCurveDisplay,
    LeaveOneOutDisplay,
    ProfileLikelihoodDisplay,
    ResidualsDisplay,
    SliceDisplay,
    StabilityDisplay,
    ThetaPathDisplay,
)
from tests.plots.models import LAMS, forrester, piston, plain, two_outputs

ONE_PANEL = [
    CVCurveDisplay,
    StabilityDisplay,
    ThetaPathDisplay,
    ProfileLikelihoodDisplay,
    SliceDisplay,
    LeaveOneOutDisplay,
    CoverageDisplay,
]
TWO_PANELS = [ContourDisplay, ResidualsDisplay]


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    plt.close("all")


def python(code: str) -> str:
    """Run code in a new interpreter and return what it prints."""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return run.stdout


def legend_of(ax: Any) -> list[str]:
    """Return the texts of the legend."""
    return [text.get_text().strip() for text in ax.get_legend().get_texts()]


FROM_ESTIMATOR = """
import sys
import pengp.plots as plots
from pengp import BayesianGPRegressor, PenalizedGPRegressorCV
from pengp.datasets import load_piston_slap
from pengp.choosing.folds import random_folds
from pengp.decisions import effects, next_runs, optimum, propagate
runs = load_piston_slap()
plan = random_folds(12, 4, repeats=2, random_state=0)
model = PenalizedGPRegressorCV(lams=[0.0, 0.01], cv=plan, random_state=0).fit(runs.X, runs.y)
average = BayesianGPRegressor(kernels="sqexp", effective_size=100, random_state=0)
average.fit(runs.X, runs.y)
names = [name for name in plots.__all__ if name.endswith("Display")]
kinds = [getattr(plots, name) for name in names]
of_average = ("ActivityDisplay", "ExplanationsDisplay")
displays = [
    kind.from_estimator(average if name in of_average else model)
    for name, kind in zip(names, kinds)
    if hasattr(kind, "from_estimator")
]
tested = [kind for kind in kinds if hasattr(kind, "from_test_runs")]
displays += [kind.from_test_runs(model, runs.X[:5] + 0.1, runs.y[:5]) for kind in tested]
found = effects(model, pairs=[("x1", "x6")])
displays += [kind.from_effects(found) for kind in kinds if hasattr(kind, "from_effects")]
displays += [plots.NextRunsDisplay.from_next_runs(next_runs(model, 1))]
displays += [plots.OptimumDisplay.from_optimum(optimum(model))]
displays += [plots.PropagationDisplay.from_propagation(propagate(model, n_draws=20))]
"""


def test_numbers_need_no_matplotlib() -> None:
    code = "print(len(displays), any('matplotlib' in name for name in sys.modules))"
    assert python(FROM_ESTIMATOR + code).split() == ["21", "False"]


def test_drawing_without_matplotlib_says_how_to_get_it() -> None:
    code = """
sys.modules["matplotlib"] = None
for display in displays:
    try:
        display.plot()
    except ImportError as error:
        print(error)
"""
    lines = python(FROM_ESTIMATOR + code).splitlines()
    sentence = "drawing needs matplotlib; install it: pip install 'pengp[plot]'."
    assert lines == [sentence] * 21


@pytest.mark.parametrize("kind", ONE_PANEL)
def test_a_display_draws_on_the_axes_it_is_given(kind: Any) -> None:
    display = kind.from_estimator(piston())
    figure, (other, ax) = plt.subplots(1, 2)
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert plt.get_fignums() == [figure.number]
    assert ax.has_data()
    assert not other.has_data()
    assert ax.get_xlabel()
    assert ax.get_ylabel()
    figure.canvas.draw()


@pytest.mark.parametrize("kind", TWO_PANELS)
def test_a_display_of_two_panels_draws_on_the_axes_it_is_given(kind: Any) -> None:
    display = kind.from_estimator(piston())
    figure, axes = plt.subplots(1, 3)
    assert display.plot(axes[1:]) is display
    assert display.axes_ == (axes[1], axes[2])
    assert display.figure_ is figure
    assert [ax.has_data() for ax in axes] == [False, True, True]
    assert all(ax.get_xlabel() and ax.get_ylabel() for ax in axes[1:])
    figure.canvas.draw()
    with pytest.raises(InputError, match="must hold 2 axes, not 1"):
        display.plot(axes[0])


@pytest.mark.parametrize("kind", [*ONE_PANEL, *TWO_PANELS])
def test_a_display_opens_one_figure_of_its_own(kind: Any) -> None:
    display = kind.from_estimator(piston()).plot()
    assert plt.get_fignums() == [display.figure_.number]
    display.figure_.canvas.draw()


def test_one_input_and_one_lambda_can_be_drawn() -> None:
    for kind in (CVCurveDisplay, ThetaPathDisplay, ProfileLikelihoodDisplay, SliceDisplay):
        kind.from_estimator(forrester()).plot().figure_.canvas.draw()
    display = ThetaPathDisplay.from_estimator(plain()).plot()
    display.figure_.canvas.draw()
    points = [line.get_ydata() for line in display.ax_.get_lines() if line.get_label() == "x3"]
    np.testing.assert_array_equal(points, [[plain().theta_[2]]])


def test_names_come_from_the_frame_or_the_caller_or_are_numbered() -> None:
    X = pd.DataFrame(two_outputs().X_train_, columns=["speed", "_load"])
    y = two_outputs().y_train_[:, 0]
    model = PenalizedGPRegressor(0.01, random_state=0).fit(X, y)
    path = ThetaPathDisplay.from_estimator(model)
    assert path.names == ("speed", "_load")
    assert legend_of(path.plot().ax_) == ["speed", "_load"]
    assert SliceDisplay.from_estimator(model, input="_load").input == 1
    named = SliceDisplay.from_estimator(
        model, input="b", input_names=["a", "b"], response_name="thrust (N)"
    ).plot()
    assert (named.ax_.get_xlabel(), named.ax_.get_ylabel()) == ("b", "thrust (N)")
    assert ThetaPathDisplay.from_estimator(plain()).names == ("x1", "x2", "x3", "x4", "x5", "x6")
    with pytest.raises(InputError, match="3 names, but there are 2 inputs"):
        ThetaPathDisplay.from_estimator(model, input_names=["a", "b", "c"])


def test_output_chooses_what_is_shown() -> None:
    model = two_outputs()
    for k in (0, 1):
        curve = CVCurveDisplay.from_estimator(model, output=k)
        np.testing.assert_array_equal(curve.mean, model.cv_table_[k].mean_of("dpe"))
        assert curve.chosen == model.lam_[k]
        path = ThetaPathDisplay.from_estimator(model, output=k)
        np.testing.assert_array_equal(path.theta, model.path_.theta[k])
        profile = ProfileLikelihoodDisplay.from_estimator(model, output=k)
        place = np.flatnonzero(model.path_.lams == model.lam_[k])[0]
        at_hat = profile.loglik[profile.grid == 1.0]
        np.testing.assert_allclose(at_hat, model.path_.loglik[k, place], rtol=1e-10)
        piece = SliceDisplay.from_estimator(model, output=k, input=0, at=model.X_train_[3])
        np.testing.assert_array_equal(piece.runs_y, model.y_train_[:, k])
        at_run = piece.mean[piece.grid == model.X_train_[3, 0]]
        np.testing.assert_allclose(at_run, model.predict(model.X_train_[3:4])[0, k], rtol=1e-12)
        loo = LeaveOneOutDisplay.from_estimator(model, output=k)
        np.testing.assert_array_equal(loo.mean, model.loo_.mean[:, k])
        assert loo.response_name == f"output {k}"
    with pytest.raises(InputError, match="output=2 does not exist; there are 2"):
        CVCurveDisplay.from_estimator(model, output=2)


@pytest.mark.parametrize("kind", [CVCurveDisplay, StabilityDisplay])
def test_a_display_that_needs_folds_says_so(kind: Any) -> None:
    with pytest.raises(InputError, match="cv_table_, which a PenalizedGPRegressor does not have"):
        kind.from_estimator(plain())
    X = np.linspace(0.0, 1.0, 8)[:, None]
    y = np.stack([X[:, 0] ** 2, np.ones(8)], axis=1)
    with pytest.warns(UserWarning, match="constant"):
        model = PenalizedGPRegressorCV(lams=LAMS, cv=4, random_state=0).fit(X, y)
    with pytest.raises(InputError, match="output 1 was not cross-validated"):
        kind.from_estimator(model, output=1)


def test_other_objects_are_refused() -> None:
    with pytest.raises(InputError, match="a pipeline that ends in one, not a dict"):
        CVCurveDisplay.from_estimator({})  # type: ignore[arg-type]
