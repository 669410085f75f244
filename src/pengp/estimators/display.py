"""Text and HTML representation of a fitted estimator: what was estimated, input by input."""

from html import escape
from typing import Any

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.estimators.noise import noise_words
from pengp.estimators.view import names_of_inputs

_MOST_ROWS = 60
"""Rows of the table that are shown; the rest is counted."""


def summary_lines(estimator: Any) -> list[str]:
    """Return one line for each output, of the estimator's own ``_summaries``."""
    lines: list[str] = estimator._summaries()
    if estimator.noise_sd_ is not None:
        columns = estimator.noise_sd_.reshape(len(estimator.y_train_), -1).T
        pairs = zip(lines, columns, strict=True)
        lines = [f"{line}, noise {noise_words(sd)}" for line, sd in pairs]
    return lines if len(lines) == 1 else [f"output {k}: {line}" for k, line in enumerate(lines)]


def theta_table(estimator: Any) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of the table of theta and lengthscale."""
    theta: FloatArray = np.atleast_2d(estimator.theta_)
    lengthscale: FloatArray = np.atleast_2d(estimator.lengthscale_)
    names = names_of_inputs(estimator)
    rows = [
        [str(k), names[p], f"{theta[k, p]:.4g}", f"{lengthscale[k, p]:.4g}"]
        for k, p in np.ndindex(theta.shape)
    ]
    header = ["output", "input", "theta", "lengthscale"]
    return (header, rows) if len(theta) > 1 else (header[1:], [row[1:] for row in rows])


def as_text(estimator: Any) -> str:
    """Return the summary and the table as aligned plain text."""
    header, rows = theta_table(estimator)
    shown = [header, *rows[:_MOST_ROWS]]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    table = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in shown]
    return "\n".join([*summary_lines(estimator), *map(str.rstrip, table), *_left_out(rows)])


def as_html(estimator: Any) -> str:
    """Return the summary and the table as HTML."""
    header, rows = theta_table(estimator)
    lines = [f"<p>{escape(line)}</p>" for line in [*summary_lines(estimator), *_left_out(rows)]]
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = [
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
        for row in rows[:_MOST_ROWS]
    ]
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
    return f'<div class="pengp-fitted">{"".join(lines)}{table}</div>'


def _left_out(rows: list[list[str]]) -> list[str]:
    """Return a line that counts the rows not shown, if there are any."""
    more = len(rows) - _MOST_ROWS
    return [f"... and {more} more rows"] if more > 0 else []


class FittedDisplayMixin:
    """Adds the fitted values to ``print`` and to the HTML that notebooks show."""

    def __str__(self) -> str:
        own = repr(self)
        return f"{own}\n{as_text(self)}" if hasattr(self, "theta_") else own

    @property
    def _repr_html_(self) -> Any:
        """Return the function that notebooks call, if diagrams are switched on."""
        inner = super()._repr_html_  # type: ignore[misc]  # scikit-learn's BaseEstimator has it
        return lambda: inner() + self._fitted_html()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Return the representations that notebooks choose from."""
        bundle = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]  # as above
        bundle["text/plain"] = str(self)
        if "text/html" in bundle:
            bundle["text/html"] += self._fitted_html()
        return dict(bundle)

    def _fitted_html(self) -> str:
        """Return the fitted values as HTML, nothing before ``fit``."""
        return as_html(self) if hasattr(self, "theta_") else ""
