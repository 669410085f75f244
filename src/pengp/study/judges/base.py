"""What a verdict is, and the rules of judgement that all judges share."""

import re
from decimal import Decimal
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from pengp.choosing.metrics import FOLD_METRICS
from pengp.choosing.scores import VALIDATION_SCORES
from pengp.study import rows

Status = Literal["reproduced", "not reproduced", "not testable"]
#: In the order in which they are counted.
STATUSES: tuple[Status, ...] = ("reproduced", "not reproduced", "not testable")

#: The paper's cross-validation metrics and scores of predictions, with their labels.
METRICS = {name: FOLD_METRICS.label(name) for name in rows.METRICS}
SCORES = {name: VALIDATION_SCORES.label(name) for name in ("rmse", "crps")}
#: An average differs if it does by more than so many of its standard errors.
STANDARD_ERRORS = 2.0
#: The largest lambda of the paper's grid, e^2.
GRID_END = float(np.exp(2.0))


class Verdict(NamedTuple):
    """What the rows say on a claim."""

    status: Status
    found: str
    """The number or behaviour that was found, or what is missing."""
    details: str = ""


def verdict(holds: bool | np.bool_, found: str, details: str = "") -> Verdict:
    """Return that a claim is reproduced, or that it is not."""
    return Verdict("reproduced" if holds else "not reproduced", found, details)


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

    @property
    def below(self) -> bool:
        """Whether it is below zero by more than the standard errors allow."""
        return self.mean < 0.0 and self.mean < -STANDARD_ERRORS * self.se

    @property
    def above(self) -> bool:
        """Whether it is above zero by more than the standard errors allow."""
        return self.mean > 0.0 and self.mean > STANDARD_ERRORS * self.se

    def __str__(self) -> str:
        sign = "\N{MINUS SIGN}" if self.mean < 0.0 else "+"
        return f"{sign}{abs(self.mean):.3f} \N{PLUS-MINUS SIGN} {self.se:.3f}"


def standard_error(values: pd.Series) -> float:
    """Return the standard error of a mean (ddof = 1)."""
    return float(values.std(ddof=1)) / float(np.sqrt(len(values)))


def mean_of(differences: pd.Series) -> Difference:
    """Return the mean of paired differences and its standard error (ddof = 1)."""
    return Difference(float(differences.mean()), standard_error(differences))
