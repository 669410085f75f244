"""What is known about a fitted estimator on one page: estimates, accuracy, what to beware of."""

from dataclasses import dataclass
from html import escape
from typing import Any

from pengp._core.checks import warn
from pengp.estimators.diagnosis import Diagnosis, diagnose_view, grave_findings
from pengp.estimators.display import as_html, as_text
from pengp.estimators.view import FittedView, count_outputs, view_of
from pengp.exceptions import DoubtWarning

#: What a warning says of a grave finding.
_IN_SHORT = {
    "useless": "held-out runs are predicted no better than by their mean",
    "intervals": "left-out runs contradict the intervals",
    "flat": "the likelihood is flat",
    "bound": "an estimate is at its bound",
    "noise": "the runs suggest noise that the model does not know",
}


@dataclass(frozen=True, eq=False)
class FitSummary:
    """A fitted estimator in words; text where it is printed, HTML in notebooks.

    Attributes
    ----------
    estimator : BayesianGPRegressor, PenalizedGPRegressor or PenalizedGPRegressorCV
        Fitted.
    diagnoses : tuple of Diagnosis
        Of each output.
    """

    estimator: Any
    diagnoses: tuple[Diagnosis, ...]

    def __str__(self) -> str:
        lines = [f"- {message}" for message in self._findings()]
        parts = [
            as_text(self.estimator),
            *self._accuracy(),
            *(["Beware:", *lines] if lines else []),
        ]
        return "\n".join(parts)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the same as HTML."""
        lines = "".join(f"<p>{escape(line)}</p>" for line in self._accuracy())
        items = "".join(f"<li>{escape(message)}</li>" for message in self._findings())
        beware = f"<p>Beware:</p><ul>{items}</ul>" if items else ""
        return f'<div class="pengp-summary">{as_html(self.estimator)}{lines}{beware}</div>'

    def _accuracy(self) -> list[str]:
        """Return a line about held-out runs for each output that has any."""
        return [
            f"{self._prefix(k)}Held-out runs ({found.held_out.how}): "
            + ", ".join(
                f"{label} {found.held_out.scores()[name]:.4g}"
                for name, label in (("rmse", "RMSE"), ("q2", "Q2"), ("coverage", "coverage"))
            )
            for k, found in enumerate(self.diagnoses)
            if found.held_out is not None
        ]

    def _findings(self) -> list[str]:
        """Return the messages of all findings."""
        return [
            f"{self._prefix(k)}{finding.message}"
            for k, found in enumerate(self.diagnoses)
            for finding in found.findings
        ]

    def _prefix(self, output: int) -> str:
        """Return which output is meant, where there are several."""
        return f"output {output}: " if len(self.diagnoses) > 1 else ""


class SummaryMixin:
    """Adds ``summary`` and, after ``fit``, a warning about what is grave."""

    def summary(self) -> FitSummary:
        """Judge the fit by its own runs and say what was found; see `pengp.diagnose`.

        Where no folds were kept, each run is held out and the others are fitted anew.
        """
        return FitSummary(self, tuple(diagnose_view(view) for view in self._views()))

    def _views(self) -> list[FittedView]:
        """Return the view of each output."""
        first = view_of(self)
        return [first, *(view_of(self, k) for k in range(1, count_outputs(self)))]

    def _warn_of_doubts(self) -> None:
        """Warn once about what the runs of ``fit`` hold against it, as far as that is cheap."""
        views = self._views()
        codes = [finding.code for view in views for finding in grave_findings(view)]
        words = [phrase for code, phrase in _IN_SHORT.items() if code in codes]
        if words:
            warn(f"beware, {', '.join(words)}; summary() says more.", DoubtWarning)
