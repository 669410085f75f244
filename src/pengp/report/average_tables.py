"""Tables about an average: what it says of the inputs, and its explanations."""

import numpy as np

from pengp.plots.posterior import label_of
from pengp.report.subject import Subject
from pengp.report.tables import Cell, Column, Table, number_cell
from pengp.report.text import listed, number, percent

#: Explanations that are listed, the weightiest.
_MOST = 20


def activity_table(subject: Subject) -> Table:
    """Return probability, change and lengthscale of every input."""
    found, X = subject.view.average.activity, subject.view.X
    rows = []
    for p in subject.ranked:
        low, median, high = found.lengthscale[p]
        span = "" if subject.view.constant[p] else f"{number(low, 3)} to {number(high, 3)}"
        probability = float(found.probability[p])
        rows.append(
            (
                Cell(subject.view.names[p]),
                Cell(percent(round(probability, 3)), probability),
                Cell("", probability, share=round(probability, 4)),
                number_cell(float(subject.view.importance[p]), 3),
                number_cell(median, 3),
                Cell(span, float(low) if np.isfinite(low) else None),
                Cell(subject.extent(p), X[:, p].min()),
            )
        )
    columns = (
        Column("Input", "name"),
        Column("Matters with probability"),
        Column("as a bar", "bar"),
        Column("Change from end to end"),
        Column("Lengthscale"),
        Column("90 % of it"),
        Column("Range of the runs"),
    )
    return Table(f"{subject.key}-inputs", "Inputs", columns, tuple(rows))


def explanations_table(subject: Subject) -> Table:
    """Return the explanations: weight, kernel, and the inputs with their lengthscales."""
    rows = []
    for k, one in enumerate(subject.view.average.explanations[:_MOST]):
        used = [p for p in subject.ranked if one.matters[p]]
        words = [f"{subject.view.names[p]} ({number(one.lengthscale[p], 3)})" for p in used]
        rows.append(
            (
                Cell(str(k + 1), k),
                Cell(percent(round(one.weight, 3)), one.weight),
                Cell(label_of(one.kernel)),
                Cell(listed(words) or "none"),
            )
        )
    columns = (
        Column("Explanation", "name"),
        Column("Weight"),
        Column("Kernel", "word"),
        Column("Inputs that matter (lengthscale)", "text"),
    )
    return Table(f"{subject.key}-explained", "Explanations", columns, tuple(rows))
