"""Where the optimum lies: the smallest and largest response, how sure they are, and where else."""

from typing import Any

from pengp.decisions.optima import Optimum, Place, optimum
from pengp.report.known import known
from pengp.report.subject import Subject
from pengp.report.tables import Cell, Column, Table, input_cell, number_cell
from pengp.report.text import number, percent

#: Places of each optimum that are listed.
_MOST_PLACES = 3
#: The least probability of other places that is told.
_TOLD = 0.005


def optima_part(subject: Subject) -> dict[str, Any] | None:
    """Return sentence and tables of both optima; None where they are not known."""
    found = known(
        subject, lambda view: [optimum(view, maximize=largest) for largest in (False, True)]
    )
    if found is None:
        return None
    return {
        "sentence": _sentence(found),
        "tables": [_values(subject, found), _places(subject, found)],
    }


def _word(found: Optimum) -> str:
    """Return which optimum it is."""
    return "largest" if found.maximize else "smallest"


def _sentence(found: list[Optimum]) -> str:
    """Say what is promised, and whether it beats the best run."""
    said = []
    for one in found:
        ends = f"{number(one.lower)} to {number(one.upper)}"
        text = f"The {_word(one)} {one.response} that the surrogate predicts is {number(one.mean)}"
        text += f" ({percent(one.level)} interval {ends})"
        if one.probability is not None and one.best_run is not None:
            side = "above" if one.maximize else "below"
            text += f"; it is {side} run {one.best_run + 1}, the best of the runs, with "
            text += f"probability {_share(one.probability)}"
        said.append(f"{text}.")
    return (
        f"{' '.join(said)} The second table tells where each may lie, from joint draws of the "
        "function. With conditions on the inputs: pengp optimize."
    )


def _share(probability: float) -> str:
    """Return a probability in percent, never rounded to certainty."""
    if 0.0 < probability < 0.005:
        return "below 0.5 %"
    return "above 99.5 %" if 0.995 < probability < 1.0 else percent(round(probability, 2))


def _probability(probability: float) -> Cell:
    """Return a cell with a probability."""
    return Cell(_share(probability), probability)


def _values(subject: Subject, found: list[Optimum]) -> Table:
    """Return the optima with their intervals, beside the best runs."""
    columns = (
        Column("Optimum", "name"),
        Column(f"predicted {found[0].response}"),
        Column(f"{percent(found[0].level)} interval"),
        Column("best run"),
        Column("its response"),
        Column("better than it"),
    )
    rows = []
    for one in found:
        ends = Cell(f"{number(one.lower)} to {number(one.upper)}", one.lower)
        cells = [number_cell(one.mean), ends]
        if one.best_run is None or one.best is None or one.probability is None:
            cells += [Cell("-")] * 3
        else:
            cells.append(Cell(str(one.best_run + 1), float(one.best_run)))
            cells += [number_cell(one.best), _probability(one.probability)]
        rows.append((Cell(_word(one), float(one.maximize)), *cells))
    return Table(f"{subject.key}-optima", "Smallest and largest response", columns, tuple(rows))


def _places(subject: Subject, found: list[Optimum]) -> Table:
    """Return where each optimum is predicted, and the places where draws have it."""
    names = subject.view.names
    columns = (Column("Optimum", "name"), Column("probability"), *map(Column, names))
    rows: list[tuple[Cell, ...]] = []
    for one in found:
        here = [input_cell(subject, p, float(x), 4) for p, x in enumerate(one.x)]
        told = [("as predicted", Cell("-"), here)]
        shown = one.places[:_MOST_PLACES]
        for k, place in enumerate(shown, start=1):
            ends = [_range(subject, place, p) for p in range(len(names))]
            told.append((f"place {k}", _probability(place.probability), ends))
        rest = 1.0 - sum(place.probability for place in shown)
        if rest >= _TOLD:
            told.append(("elsewhere", _probability(rest), [Cell("-")] * len(names)))
        for word, share, cells in told:
            rows.append((Cell(f"{_word(one)}, {word}", float(len(rows))), share, *cells))
    return Table(f"{subject.key}-places", "Where the optimum may lie", columns, tuple(rows))


def _range(subject: Subject, place: Place, p: int) -> Cell:
    """Return the values of input p in a place: a number, a range, or levels by their names."""
    levels = place.levels.get(subject.view.names[p])
    if levels is not None:
        return Cell(", ".join(levels), float(place.x[p]))
    low, high = (number(float(end[p]), 3) for end in (place.lower, place.upper))
    return Cell(low if low == high else f"{low} to {high}", float(place.x[p]))
