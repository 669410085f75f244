"""How figures look: colours with one meaning each, in both themes, and axes."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from pengp.plots import LambdaAxis
from pengp.report.text import inert

#: Okabe and Ito's hues, darkened where they are too faint on white. One colour, one meaning:
#: predictions and their intervals, the lambda shown, what was observed or computed from the runs,
#: lines to compare with, what chance allows, and flat stretches of the likelihood.
PREDICTED, BAND, CURRENT, RUNS = "#0072B2", "rgba(0,114,178,0.16)", "#D55E00", "#1B1F24"
REFERENCE, CHANCE, FLAT = "#56606B", "rgba(86,96,107,0.14)", "rgba(230,159,0,0.22)"
GRID, PAPER = "#E6EAEE", "#FFFFFF"
#: The three inputs with the largest theta; all others are grey.
INPUTS = ("#B87800", "#009E73", "#A8527F")
DASHES = ("solid", "dash", "dashdot", "dot", "longdash", "longdashdot")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross")

#: What takes a colour's place in the dark theme.
DARK = {
    PREDICTED: "#4AA8E0",
    CURRENT: "#F0772B",
    RUNS: "#E7EAEE",
    REFERENCE: "#A8B1BB",
    GRID: "#2C333B",
    BAND: "rgba(74,168,224,0.22)",
    FLAT: "rgba(230,159,0,0.26)",
    CHANCE: "rgba(168,177,187,0.18)",
    PAPER: "#14171B",
    INPUTS[0]: "#E69F00",
    INPUTS[1]: "#1FBF92",
    INPUTS[2]: "#E3A0C6",
}

_FONT = (
    'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", Arial, '
    "sans-serif"
)


def figure(x: str, y: str, **layout: Any) -> go.Figure:
    """Return an empty figure; labels are shown as they are, xaxis and yaxis add to the style."""
    axes = {"xaxis": _axis(x), "yaxis": _axis(y)}
    for name, style in axes.items():
        style.update(layout.pop(name, {}))
    return go.Figure(
        layout={
            "template": None,
            "font": {"family": _FONT, "size": 12, "color": RUNS},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "margin": {"l": 52, "r": 14, "t": 12, "b": 46},
            "legend": {
                "orientation": "h",
                "traceorder": "normal",
                "x": 0,
                "y": 1.02,
                "yanchor": "bottom",
            },
            "hoverlabel": {"namelength": -1, "bgcolor": PAPER, "bordercolor": REFERENCE},
            "hovermode": "closest",
            "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": REFERENCE, "activecolor": RUNS},
            **axes,
            **layout,
        }
    )


def _axis(label: str) -> dict[str, Any]:
    """Return the style of an axis."""
    return {
        "title": {"text": inert(label), "standoff": 8, "font": {"size": 13}},
        "gridcolor": GRID,
        "linecolor": REFERENCE,
        "tickcolor": REFERENCE,
        "showline": True,
        "ticks": "outside",
        "ticklen": 4,
        "zeroline": False,
        "automargin": True,
        "exponentformat": "power",
    }


def lambda_axis(axis: LambdaAxis) -> dict[str, Any]:
    """Return the ticks and the range of a horizontal axis of lambda."""
    low, high = float(axis.positions.min()), float(axis.positions.max())
    pad = 0.04 * (high - low) or 0.5
    ends = [low - pad, high + pad]
    return {"tickvals": axis.ticks, "ticktext": axis.labels, "range": ends}


def band(x: Any, lower: Any, upper: Any, **style: Any) -> list[go.Scatter]:
    """Return two traces that fill the space between lower and upper [G]."""
    bare = {"x": x, "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    return [
        go.Scatter(y=lower, showlegend=False, **bare),
        go.Scatter(y=upper, fill="tonexty", **bare, **style),
    ]


def reference_line(x: Any, y: Any, **style: Any) -> go.Scatter:
    """Return a thin grey line that predictions are compared with."""
    line = {"color": REFERENCE, "width": 1, **style}
    return go.Scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip", showlegend=False)


def vertical(x: float, dash: str = "solid", color: str = REFERENCE) -> dict[str, Any]:
    """Return a vertical line across the figure."""
    ends = {"x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper", "type": "line"}
    return {**ends, "line": {"color": color, "width": 1.3, "dash": dash}}


def points(x: Any, y: Any, template: str, **style: Any) -> go.Scatter:
    """Return one point a run, with its number for the template."""
    return go.Scatter(
        x=x,
        y=y,
        customdata=np.arange(1, len(x) + 1),
        mode="markers",
        hovertemplate=f"run %{{customdata}}<br>{template}<extra></extra>",
        **style,
    )
