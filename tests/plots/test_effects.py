"""Displays of effects show the numbers of `pengp.decisions.effects`."""

import matplotlib as mpl

mpl.use("Agg")  # before pyplot is loaded anywhere

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.patches import Rectangle

from pengp import InputError, load_piston_slap
from pengp.decisions import effects
from pengp.plots import EffectsDisplay, InteractionsDisplay, MainEffectsDisplay
from tests.decisions.test_levels import average
from tests.plots.models import plain


def test_bars_have_the_lengths_of_the_indices() -> None:
    found = effects(plain(), response_name="noise")
    shown = EffectsDisplay.from_effects(found).plot()
    lengths = [bar.get_width() for bar in shown.ax_.patches if isinstance(bar, Rectangle)]
    order = found.order()
    assert found.shapley is not None
    expected = [part.mean[order] for part in (found.first, found.total, found.shapley)]
    np.testing.assert_allclose(lengths, np.concatenate(expected))
    assert shown.ax_.get_yticklabels()[0].get_text() == found.names[order[0]]
    assert "noise" in shown.ax_.get_xlabel()
    plt.close("all")


def test_curves_stand_in_the_order_of_the_total_indices() -> None:
    found = effects(plain())
    shown = MainEffectsDisplay.from_effects(found).plot()
    first = found.order()[0]
    line = shown.axes_[0].lines[0]
    np.testing.assert_allclose(np.asarray(line.get_ydata()), found.curves[first].mean)
    np.testing.assert_allclose(np.asarray(line.get_xdata()), found.curves[first].axis.x)
    assert shown.axes_[0].get_xlabel() == found.names[first]
    with pytest.raises(InputError, match="6 axes"):
        shown.plot(plt.subplots(1, 2)[1])
    plt.close("all")


def test_levels_and_whole_numbers_have_bars_and_surfaces_their_names() -> None:
    found = effects(average(), n_draws=20, pairs=[("material", "teeth"), ("material", "coat")])
    shown = MainEffectsDisplay.from_effects(found).plot()
    p = found.names.index("material")
    panel = shown.axes_[int(np.flatnonzero(found.order() == p)[0])]
    assert [text.get_text() for text in panel.get_xticklabels()] == ["brass", "steel", "wood"]
    tops = [bar.get_y() + bar.get_height() for bar in panel.patches if isinstance(bar, Rectangle)]
    np.testing.assert_allclose(tops, found.curves[p].mean)
    pairs = InteractionsDisplay.from_effects(found).plot()
    assert [text.get_text() for text in pairs.axes_[0].get_xticklabels()] == list(
        found.surfaces[0].axes[0].labels or ()
    )
    drawn = np.asarray(pairs.axes_[1].collections[0].get_array()).reshape(5, 3)
    np.testing.assert_allclose(drawn, found.surfaces[0].interaction.mean.T)
    with pytest.raises(InputError, match="6 panels"):
        pairs.plot(plt.subplots(1, 2)[1])
    plt.close("all")


def test_without_interactions_there_is_nothing_to_draw() -> None:
    found = effects(average(), n_draws=20, pairs=[])
    with pytest.raises(InputError, match="name the pairs"):
        InteractionsDisplay.from_effects(found)


def test_the_legend_has_room_beside_long_names() -> None:
    names = load_piston_slap().input_names
    display = EffectsDisplay.from_effects(effects(plain(), input_names=names, n_draws=20)).plot()
    figure = display.ax_.figure
    figure.canvas.draw()
    legend = display.ax_.get_legend()
    assert legend is not None
    drawn = legend.get_window_extent()
    assert drawn.x0 >= 0.0
    assert drawn.x1 <= figure.bbox.x1
    plt.close()
