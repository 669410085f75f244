"""A figure's place in the page: its size, caption, alternative text and selectors."""

from dataclasses import dataclass, field
from typing import Any, Literal

from pengp.report.payload import Payload, Words
from pengp.report.subject import Subject


@dataclass(frozen=True)
class Select:
    """A list to choose from, which sets the state of a key."""

    id: str
    key: str
    label: str
    options: tuple[str, ...]
    chosen: int


@dataclass(frozen=True)
class Plot:
    """What the template needs of a figure."""

    id: str
    title: str
    caption: str
    alt: str
    size: Literal["full", "half", "third"] = "half"
    selects: tuple[Select, ...] = field(default=())
    legend: int = 0
    """Entries of a legend that may need more room on a narrow page."""


def place(
    subject: Subject, payload: Payload, name: str, made: Any, plot: dict[str, Any], alts: Words
) -> Plot:
    """Add a figure to the page, with an alternative text for each place of the slider."""
    id = f"{subject.key}-{name}"
    payload.figures[id] = made
    by = [subject.lam_key]
    payload.bind_element(id, "label", payload.words(f"{id}.alt", alts), by)
    return Plot(id=id, alt=str(alts[subject.place]), **plot)
