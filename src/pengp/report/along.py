"""What figures against lambda share: a gap behind 0, and marks at the slider's lambda."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from pengp._core.arrays import FloatArray
from pengp.report.payload import Payload
from pengp.report.style import CURRENT, PAPER, vertical
from pengp.report.subject import Subject


def apart(lams: FloatArray, values: FloatArray) -> FloatArray:
    """Return values with a gap behind those at lambda 0, which stand on their own."""
    return np.insert(values.astype(np.float64), int((lams == 0.0).sum()), np.nan)


def current_line(subject: Subject) -> dict[str, Any]:
    """Return the line at the slider's lambda."""
    return vertical(float(subject.axis.positions[subject.place]), color=CURRENT)


def mark_current(
    subject: Subject, payload: Payload, made: go.Figure, id: str, heights: FloatArray
) -> None:
    """Mark the slider's lambda: points at heights [L, k], and the figure's first line."""
    k, positions = subject.place, subject.axis.positions
    points = go.Scatter(
        x=np.full(heights.shape[1], positions[k]),
        y=heights[k],
        mode="markers",
        marker={"color": CURRENT, "size": 10, "line": {"color": PAPER, "width": 1.5}},
        name="λ shown",
        hoverinfo="skip",
    )
    made.add_trace(points)
    trace, by = len(made.data) - 1, [subject.lam_key]
    x = payload.numbers(f"{id}.x", np.repeat(positions[:, None], heights.shape[1], axis=1))
    y = payload.numbers(f"{id}.y", heights)
    line = payload.numbers(f"{id}.line", positions)
    payload.bind_figure(id, x, by, f"data.{trace}.x")
    payload.bind_figure(id, y, by, f"data.{trace}.y")
    payload.bind_figure(id, line, by, "layout.shapes.0.x0", "layout.shapes.0.x1")
