"""Panels for pairs of inputs: which pairs are shown, and how their axes are labelled."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.exceptions import InputError
from pengp.model.elementary import Transform
from pengp.model.levels import levels_among
from pengp.plots import drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def pairs_of(importance: FloatArray, most: int) -> list[tuple[int, int]]:
    """Return the pairs of at most so many inputs, those with the largest importance [d]."""
    if most < 2:
        raise InputError(f"most={most} inputs have no pairs; show 2 or more.")
    order = np.argsort(-importance, kind="stable")[:most]
    shown = sorted(int(p) for p in order if importance[p] > 0.0)
    return list(itertools.combinations(shown, 2)) or [(shown[0], shown[0])]


def label_pair(
    panel: Axes, pair: tuple[int, int], names: Sequence[str], transforms: Sequence[Transform]
) -> None:
    """Name the inputs of a panel on its axes, and the levels of those that have some."""
    levels = levels_among(transforms)
    panel.set_xlabel(names[pair[0]])
    panel.set_ylabel(names[pair[1]])
    for p, axis in zip(pair, (panel.xaxis, panel.yaxis), strict=True):
        if p in levels:
            labels = [drawing.shortened(label) for label in levels[p].labels]
            axis.set_ticks(levels[p].values, labels)
