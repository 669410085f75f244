"""Tables of the report: scores, inputs, modes, runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.choosing.validation import VALIDATION_SCORES
from pengp.exceptions import InputError
from pengp.report.payload import Payload
from pengp.report.subject import Subject
from pengp.report.text import listed, number, percent

#: Runs and modes that are listed.
_MOST_RUNS, _MOST_MODES = 1000, 20
#: Rows that are kept together on paper.
_SHORT = 16
#: Columns that have room beside each other.
_FEW_COLUMNS = 6


@dataclass(frozen=True)
class Column:
    """A column: its heading, and whether its cells are numbers, words, bars or the row's name."""

    label: str
    kind: Literal["name", "number", "word", "text", "bar"] = "number"

    @property
    def sortable(self) -> bool:
        """Whether an order of the cells means something."""
        return self.kind != "text"


@dataclass(frozen=True)
class Cell:
    """A cell: what is shown, what it is sorted by, and the id by which it is found."""

    text: str
    value: float | str | None = None
    id: str = ""
    share: float | None = None


@dataclass(frozen=True)
class Table:
    """A table that can be sorted by its columns."""

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @property
    def short(self) -> bool:
        """Whether it fits on a printed page with other things."""
        return len(self.rows) <= _SHORT

    @property
    def wide(self) -> bool:
        """Whether it has so many columns that they stand closer together."""
        return len(self.columns) > _FEW_COLUMNS


def number_cell(value: float, digits: int = 4, id: str = "") -> Cell:
    """Return a cell with a number; what is not defined goes last."""
    return Cell(number(value, digits), float(value) if np.isfinite(value) else _far(value), id)


def input_cell(subject: Subject, p: int, value: float, digits: int = 7) -> Cell:
    """Return a cell with a value of input p, a level by its name."""
    return Cell(subject.value(p, value, digits), float(value))


def _far(value: float) -> float:
    """Return a finite stand-in for a number that is not, so that it sorts as it should."""
    return -1.8e308 if value == -np.inf else 1.7e308


def scores_table(subject: Subject, payload: Payload) -> Table:
    """Return the scores with theta kept, which follow the slider."""
    rows = []
    for name, score in VALIDATION_SCORES.items():
        show = percent if score.greater_is_better is None else number
        id = f"{subject.key}-score-{name}"
        texts = [show(scores[name]) for scores in subject.scores]
        payload.bind_element(id, "text", payload.words(id, texts), [subject.lam_key])
        cell = Cell(texts[subject.place], id=id)
        unit = ", in the response's unit" if score.has_unit else ""
        text = f"{score.explain(subject.diagnosis.level)}{unit}."
        rows.append((Cell(score.label), cell, Cell(text[:1].upper() + text[1:])))
    columns = (Column("Score", "name"), Column("θ kept: flatters"), Column("What it says", "text"))
    return Table(f"{subject.key}-scores", "Scores with θ kept", columns, tuple(rows))


def inputs_table(subject: Subject, payload: Payload) -> Table:
    """Return theta and lengthscale of every input, which follow the slider."""
    rows = [_input_row(subject, payload, p) for p in subject.ranked]
    columns = (
        Column("Input", "name"),
        Column("Matters", "word"),
        Column("θ"),
        Column("θ as a bar", "bar"),
        Column("Lengthscale"),
        Column("Smallest run"),
        Column("Largest run"),
    )
    return Table(f"{subject.key}-inputs", "Inputs", columns, tuple(rows))


def _input_row(subject: Subject, payload: Payload, p: int) -> tuple[Cell, ...]:
    """Return the row of input p."""
    id, X = f"{subject.key}-input{p}", subject.view.X
    _follow(subject, payload, id, p)
    theta = subject.theta[subject.place, p]
    return (
        Cell(subject.view.names[p]),
        Cell(_status(subject, subject.place, p), id=f"{id}-status"),
        number_cell(theta, id=f"{id}-theta"),
        Cell("", float(theta), f"{id}-bar", _share(subject, theta)),
        number_cell(subject.lengthscale[subject.place, p], id=f"{id}-lengthscale"),
        input_cell(subject, p, X[:, p].min(), 6),
        input_cell(subject, p, X[:, p].max(), 6),
    )


def _follow(subject: Subject, payload: Payload, id: str, p: int) -> None:
    """Let the cells of input p follow the slider."""
    places = range(len(subject.lams))
    theta, lengthscale = subject.theta[:, p], subject.lengthscale[:, p]
    by = [subject.lam_key]
    for name, values in (("theta", theta), ("lengthscale", lengthscale)):
        cells = [number_cell(v) for v in values]
        texts = payload.words(f"{id}-{name}", [c.text for c in cells])
        payload.bind_element(f"{id}-{name}", "text", texts, by)
        keys = payload.words(f"{id}-{name}-key", [repr(c.value) for c in cells])
        payload.bind_element(f"{id}-{name}", "value", keys, by)
    payload.bind_element(f"{id}-bar", "value", f"{id}-theta-key", by)
    shares = payload.numbers(f"{id}-bar", [_share(subject, t) for t in theta])
    payload.bind_element(f"{id}-bar", "share", shares, by)
    status = payload.words(f"{id}-status", [_status(subject, k, p) for k in places])
    payload.bind_element(f"{id}-status", "text", status, by)


def _share(subject: Subject, theta: float) -> float:
    """Return where theta lies between its bounds, logarithmically."""
    low, high = np.log(subject.view.bounds)
    return float(np.clip((np.log(theta) - low) / (high - low), 0.0, 1.0))


def _status(subject: Subject, k: int, p: int) -> str:
    """Return whether an input matters at a place of the slider."""
    if subject.view.constant[p]:
        return "constant"
    return "yes" if subject.active[k, p] else "no"


def modes_table(subject: Subject) -> Table:
    """Return the local maxima of the penalized likelihood."""
    rows = []
    for k, mode in enumerate(subject.view.modes[:_MOST_MODES]):
        used = [p for p in subject.ranked if mode.active[p] and not subject.view.constant[p]]
        words = [f"{subject.view.names[p]} ({number(mode.theta[p], 3)})" for p in used]
        if subject.view.estimator.isotropic:
            words = [f"all inputs ({number(mode.theta[0], 3)})"]
        name = "estimate" if k == 0 else f"other {k}"
        rows.append((Cell(name, k), number_cell(mode.deficit, 3), Cell(listed(words) or "none")))
    columns = (Column("Maximum", "name"), Column("Below the best by"), Column("Inputs (θ)", "text"))
    return Table(f"{subject.key}-modes", "Maxima of the penalized likelihood", columns, tuple(rows))


def runs_table(subject: Subject) -> Table:
    """Return the runs with their leave-one-out predictions at the model's own lambda."""
    folds, predictions = _folds(subject), _predictions(subject)
    rows = []
    for i in range(min(len(subject.view.y), _MOST_RUNS)):
        cells = [Cell(str(i + 1), i + 1)]
        cells += [input_cell(subject, p, v) for p, v in enumerate(subject.view.X[i])]
        cells.append(number_cell(subject.view.y[i], 7))
        cells += [number_cell(v, 5) for v in predictions[i]]
        cells += [] if folds is None else [Cell(folds[i])]
        rows.append(tuple(cells))
    columns = [Column("Run", "name"), *map(Column, (*subject.view.names, subject.view.response))]
    columns += map(Column, ("Predicted", "Standard deviation", "Error", "Error in deviations"))
    columns += [] if folds is None else [Column("Fold")]
    return Table(f"{subject.key}-runs", "Runs", tuple(columns), tuple(rows))


def _predictions(subject: Subject) -> FloatArray:
    """Return mean, standard deviation, error and standardised error [n, 4]; nan where unknown."""
    found = np.full((len(subject.view.y), 4), np.nan)
    if subject.view.is_penalized or subject.diagnosis.held_out is not None:
        own, z = subject.loo[subject.place], subject.residuals[subject.place].standardized
        known = np.column_stack([own.mean, own.std, own.observed - own.mean, z])
        found[: len(known)] = known
    return found


def _folds(subject: Subject) -> Sequence[str] | None:
    """Return the fold of every run, None where there is no single one."""
    if subject.view.table is None or subject.view.table.plan.repeats > 1:
        return None
    try:
        labels: Any = subject.view.table.plan.labels[0]
    except InputError:  # the folds do not partition the runs
        return None
    return [*(str(k + 1) for k in labels), *["none"] * subject.view.learned_later]
