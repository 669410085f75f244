"""Figure of the path of theta against lambda."""

import numpy as np
import plotly.graph_objects as go

from pengp.plots import ThetaPathDisplay, lambda_positions
from pengp.report.along import apart, current_line, mark_current
from pengp.report.payload import Payload
from pengp.report.plot import Plot, place
from pengp.report.style import DASHES, INPUTS, REFERENCE, SYMBOLS, figure, lambda_axis
from pengp.report.subject import Subject
from pengp.report.text import counted, inert, listed, number

#: Inputs that the legend names one by one.
_MOST_NAMED = 8


def theta_path(subject: Subject, payload: Payload) -> Plot:
    """Estimates of every input against lambda."""
    path = ThetaPathDisplay.from_estimator(subject.view)
    made = figure(
        "λ",
        "θ",
        shapes=[current_line(subject)],
        xaxis=lambda_axis(lambda_positions(path.lams)),
        yaxis={"type": "log", "dtick": 1},
    )
    lines = _lines(subject)
    for k, (p, name) in enumerate(lines):
        made.add_trace(_path_line(path, p, inert(name), k, shown=k < _MOST_NAMED))
    own = [subject.theta[:, p] for p, _ in lines]
    mark_current(subject, payload, made, f"{subject.key}-path", np.stack(own, axis=1))
    bounds = " and ".join(number(b) for b in path.theta_bounds)
    caption = (
        "From left to right the penalty grows and pushes θ down; an input whose θ lies at the "
        f"lower bound plays no part (bounds {bounds}). The vertical line is at the λ shown."
    )
    plot = {"title": "Estimates along the penalty", "caption": caption, "size": "full"}
    legend = {"legend": 1 + min(len(lines), _MOST_NAMED)}
    return place(subject, payload, "path", made, plot | legend, _alts(subject, path))


def _alts(subject: Subject, path: ThetaPathDisplay) -> list[str]:
    """Return the alternative texts."""
    start = (
        f"Estimates of theta for {counted(len(subject.view.names), 'input')} against lambda from "
        f"{number(path.lams[0], 3)} to {number(path.lams[-1], 3)}."
    )
    return [
        f"{start} At lambda {number(lam, 3)} {_matter(subject, k)}."
        for k, lam in enumerate(subject.lams)
    ]


def _lines(subject: Subject) -> list[tuple[int, str]]:
    """Return number and label of the inputs to draw, those that matter most first."""
    if subject.view.estimator.isotropic:
        return [(subject.ranked[0], "all inputs together")]
    return [(p, subject.view.names[p]) for p in subject.ranked if not subject.view.constant[p]]


def _path_line(path: ThetaPathDisplay, p: int, name: str, k: int, *, shown: bool) -> go.Scatter:
    """Return the line of input p, the k-th in rank."""
    positions = lambda_positions(path.lams).positions
    color = INPUTS[k] if k < len(INPUTS) else REFERENCE
    x, y, lams = (apart(path.lams, values) for values in (positions, path.theta[:, p], path.lams))
    return go.Scatter(
        x=x,
        y=y,
        customdata=lams,
        name=name,
        showlegend=shown,
        mode="lines+markers",
        line={"color": color, "dash": DASHES[k % len(DASHES)], "width": 2.2 if k < 3 else 1.4},
        marker={"symbol": SYMBOLS[k % len(SYMBOLS)], "size": 5},
        hovertemplate="%{fullData.name}<br>λ = %{customdata:.3~g}<br>θ = %{y:.4~g}<extra></extra>",
    )


def _matter(subject: Subject, k: int) -> str:
    """Return which inputs matter at a place of the slider, in words."""
    used = [p for p in subject.ranked if subject.active[k, p]]
    if not used:
        return "no input matters"
    words = [f"{subject.view.names[p]} (theta {number(subject.theta[k, p], 3)})" for p in used[:6]]
    if len(used) > 6:
        words.append(f"{len(used) - 6} more")
    return f"{listed(words)} {'matters' if len(used) == 1 else 'matter'}"
