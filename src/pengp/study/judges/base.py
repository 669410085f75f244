"""What a verdict is, and the rules of judgement that all judges share.

A statement that does not hold as it stands gets the first verdict of `STATUSES` that its rows
support; what none of them explains is contradicted. A statement of several lines has the gravest
verdict of its lines.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from pengp.choosing.metrics import FOLD_METRICS
from pengp.choosing.validation import VALIDATION_SCORES
from pengp.study import rows
from pengp.study.report_rows import Rows

Status = Literal[
    "reproduced",
    "within search tolerance",
    "within chance",
    "depends on the search",
    "slip",
    "depends on the reading",
    "contradicted",
    "not testable",
]
#: What each verdict means, the gravest last; in this order they are counted.
STATUSES: dict[Status, str] = {
    "reproduced": "It holds as it stands.",
    "within search tolerance": "The objective at the printed value is within 0.0001 of its maximum "
    "(which no data analysis can tell apart), or the likelihood does not identify it.",
    "within chance": "Its probability over redrawn folds or designs is at least 5 %, or the "
    "difference is within two standard errors.",
    "depends on the search": "The highest maximum does not give it, but the paper's own search, "
    "the best of ten random starts, does in some seeds.",
    "slip": "The printed form fails; the form that the paper uses elsewhere holds.",
    "depends on the reading": "Readings that were listed beforehand disagree.",
    "contradicted": "None of these.",
    "not testable": "Rows are missing or too few.",
}
_GRAVITY = list(STATUSES)

#: What a reading of a statement comes to.
Outcome = Literal["holds", "open", "fails"]

#: The paper's cross-validation metrics and scores of predictions, with their labels.
METRICS = {name: FOLD_METRICS.label(name) for name in rows.METRICS}
SCORES = {name: VALIDATION_SCORES.label(name) for name in ("rmse", "crps")}
#: An average differs if it does by more than so many of its standard errors.
STANDARD_ERRORS = 2.0
#: Probability from which on a statement is within chance.
LIKELY = 0.05
#: Log likelihoods, or penalized ones, that differ by less cannot be told apart.
PLATEAU = 1e-4
#: The largest lambda of the paper's grid, e^2.
GRID_END = float(np.exp(2.0))


class Verdict(NamedTuple):
    """What the rows say on a claim.

    See Also
    --------
    judge : Gives one for each claim.
    """

    status: Status
    found: str
    """The number or behaviour that was found, or what is missing."""
    details: str = ""


#: From rows to a verdict; raises MissingRowsError if rows are missing.
Judge = Callable[[Rows], Verdict]


class Emulated(NamedTuple):
    """In how many seeds the paper's own search gives a statement."""

    times: int
    seeds: int

    def __str__(self) -> str:
        return f"With the paper's search it holds in {self.times} of {self.seeds} seeds."


def verdict(
    holds: bool | np.bool_,
    found: str,
    details: str = "",
    *,
    tolerance: bool | np.bool_ = False,
    chance: float | None = None,
    searches: Emulated | None = None,
    slip: bool | np.bool_ = False,
) -> Verdict:
    """Return the verdict on a statement.

    Parameters
    ----------
    holds : bool
        Whether it holds as it stands.
    found, details : str
        What was found.
    tolerance, slip : bool
        Whether the rows support these reasons where it does not hold.
    chance : float, optional
        Its probability over redrawn folds or designs, with the highest maxima.
    searches : Emulated, optional
        How often the paper's search gives it.
    """
    told = [details] if details else []
    if chance is not None:
        told.append(f"Probability over redrawn folds: {chance:.0%}.")
    if searches is not None:
        told.append(str(searches))
    reasons: dict[Status, bool] = {
        "reproduced": bool(holds),
        "within search tolerance": bool(tolerance),
        "within chance": chance is not None and chance >= LIKELY,
        "depends on the search": searches is not None and searches.times > 0,
        "slip": bool(slip),
        "contradicted": True,
    }
    return Verdict(next(s for s, given in reasons.items() if given), found, " ".join(told))


def read(readings: Mapping[str, Outcome], found: str, details: str = "") -> Verdict:
    """Return the verdict on a statement that has several readings.

    It is reproduced if all hold, depends on the reading if some hold and others fail, is
    contradicted if some fail and none holds, and is within chance if none fails.
    """
    outcomes = set(readings.values())
    status: Status = "within chance"
    if outcomes == {"holds"}:
        status = "reproduced"
    elif "fails" in outcomes:
        status = "depends on the reading" if "holds" in outcomes else "contradicted"
    told = ", ".join(f"{name}: {outcome}" for name, outcome in readings.items())
    return Verdict(status, found, f"Readings: {told}. {details}".strip())


def yes(holds: bool | np.bool_) -> Outcome:
    """Return the outcome of a reading that leaves nothing open."""
    return "holds" if holds else "fails"


def larger(one: float, other: float) -> Outcome:
    """Return whether one number is larger than another; equal ones leave it open."""
    if np.isclose(one, other, atol=1e-12):
        return "open"
    return yes(one > other)


def each(lines: Mapping[str, Judge]) -> Judge:
    """Return the judge of a statement of several lines."""

    def judge(rows: Rows) -> Verdict:
        found = {label: line(rows) for label, line in lines.items()}
        return Verdict(
            max((v.status for v in found.values()), key=_GRAVITY.index),
            "; ".join(f"{label}: {v.status}, {v.found}" for label, v in found.items()),
            " ".join(f"{label}: {v.details}" for label, v in found.items() if v.details),
        )

    return judge


def by_score(judge: Callable[..., Verdict], **options: object) -> Judge:
    """Return the judge of a statement that is made for RMSE and for CRPS."""
    return each({SCORES[score]: partial(judge, score=score, **options) for score in SCORES})


def matches(value: float, printed: str) -> bool:
    """Return whether a number differs by less than one unit of the last printed digit.

    Rounding takes half a unit; the other half leaves room for a number that was cut off, and for
    an optimiser that stopped early in the last digit.
    """
    exponent = Decimal(printed).as_tuple().exponent
    return abs(value - float(printed)) < 10.0 ** int(exponent)


def number(value: float) -> str:
    """Return a number for readers, with four significant digits."""
    if abs(value) >= 1e4:
        return signed(f"{value:,.0f}")
    return signed(re.sub(r"e-0?", "e-", f"{value:.4g}"))


def signed(text: str) -> str:
    """Return a text with hyphens as minus signs."""
    return text.replace("-", "\N{MINUS SIGN}")


def lam_text(lam: float) -> str:
    """Return a lambda, with four decimals."""
    return f"{lam:.4f}" if lam else "0"


def count(curve: pd.Series) -> str:
    """Return the different values of lambda in a series and how often each occurs."""
    found = curve.value_counts().sort_index()
    return ", ".join(
        f"{lam_text(float(lam))} ({times}\N{MULTIPLICATION SIGN})"
        for lam, times in zip(found.index, found, strict=True)
    )


class Difference(NamedTuple):
    """A mean over repetitions and its standard error."""

    mean: float
    se: float

    def within(self, low: float, high: float) -> Outcome:
        """Return whether it lies between two limits, as far as two standard errors tell."""
        reach = STANDARD_ERRORS * self.se
        if low < self.mean - reach and self.mean + reach < high:
            return "holds"
        return "fails" if self.mean + reach < low or self.mean - reach > high else "open"

    def __str__(self) -> str:
        sign = "\N{MINUS SIGN}" if self.mean < 0.0 else "+"
        return f"{sign}{abs(self.mean):.3f} \N{PLUS-MINUS SIGN} {self.se:.3f}"


def mean_of(differences: pd.Series) -> Difference:
    """Return the mean of paired differences and its standard error (ddof = 1)."""
    se = float(differences.std(ddof=1)) / float(np.sqrt(len(differences)))
    return Difference(float(differences.mean()), se)


def all_hold(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcome of a reading that several comparisons have to bear out."""
    if "fails" in outcomes:
        return "fails"
    return "open" if "open" in outcomes else "holds"
