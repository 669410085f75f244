"""Displays of the optimum and of what comes out show the numbers of `pengp.decisions`."""

import matplotlib as mpl

mpl.use("Agg")  # before pyplot is loaded anywhere

import matplotlib.pyplot as plt
import numpy as np
import pytest

from pengp import InputError
from pengp.decisions import optimum, propagate
from pengp.plots import OptimumDisplay, PropagationDisplay
from tests.decisions.test_levels import average
from tests.plots.models import forrester, plain


def test_places_stand_where_the_optimum_may_lie() -> None:
    found = optimum(plain(), maximize=True)
    shown = OptimumDisplay.from_optimum(found, most=3).plot()
    most = sorted(np.argsort(-found.importance)[:3])
    assert shown.pairs == [(most[0], most[1]), (most[0], most[2]), (most[1], most[2])]
    for (p, q), panel in zip(shown.pairs, shown.axes_, strict=True):
        drawn = [np.ravel(np.asarray(line.get_xydata())) for line in panel.lines]
        np.testing.assert_array_equal(drawn[-1], found.x[[p, q]])
        for place, point, area in zip(found.places, drawn[:-1], panel.patches, strict=True):
            np.testing.assert_array_equal(point, place.x[[p, q]])
            corners = np.asarray(area.get_path().vertices, dtype=np.float64)
            np.testing.assert_allclose(corners.min(0), place.lower[[p, q]])
            np.testing.assert_allclose(corners.max(0), place.upper[[p, q]])
        percents = [f"{100.0 * place.probability:.0f} %" for place in found.places[:3]]
        assert [text.get_text() for text in panel.texts] == percents
        assert panel.get_xlabel() == found.names[p]
    assert f"largest response {found.mean:.4g}, 95 % interval {found.lower:.4g}" in shown.axes_[
        0
    ].get_title(loc="left")
    with pytest.raises(InputError, match="3 panels"):
        shown.plot(plt.subplots(1, 2)[1])
    with pytest.raises(InputError, match="most=1"):
        OptimumDisplay.from_optimum(found, most=1)
    plt.close("all")


def test_one_input_and_levels_have_panels_too() -> None:
    assert OptimumDisplay.from_optimum(optimum(forrester())).plot().pairs == [(0, 0)]
    shown = OptimumDisplay.from_optimum(optimum(average()), most=4).plot()
    p = shown.found.names.index("material")
    panel = next(a for a, pair in zip(shown.axes_, shown.pairs, strict=True) if p in pair)
    ticks = {t.get_text() for t in (*panel.get_xticklabels(), *panel.get_yticklabels())}
    assert {"brass", "steel", "wood"} <= ticks
    plt.close("all")


def test_the_distribution_goes_through_the_quantiles() -> None:
    found = propagate(plain(), quantiles=[0.9, 0.1, 0.5], constraint="response < 57", n_draws=50)
    shown = PropagationDisplay.from_propagation(found).plot()
    curve, mean, limit = shown.ax_.lines
    order = [1, 2, 0]
    np.testing.assert_array_equal(np.asarray(curve.get_ydata()), [0.1, 0.5, 0.9])
    np.testing.assert_array_equal(np.asarray(curve.get_xdata()), found.quantiles.mean[order])
    assert np.asarray(mean.get_xdata())[0] == found.mean.mean
    assert np.asarray(limit.get_xdata())[0] == 57.0
    band = np.asarray(shown.ax_.collections[0].get_paths()[0].vertices, dtype=np.float64)
    ends = {(x, y) for x, y in band.tolist()}
    for end in (found.quantiles.lower, found.quantiles.upper):
        assert {(end[1], 0.1), (end[2], 0.5), (end[0], 0.9)} <= ends
    assert shown.ax_.get_xlabel() == "response"
    figure, ax = plt.subplots()
    assert shown.plot(ax).figure_ is figure
    plt.close("all")
