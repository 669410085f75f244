"""How the claims on n-fold cross-validation of the Forrester example are judged."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from pengp.study.judges.base import (
    Emulated,
    Verdict,
    lam_text,
    matches,
    number,
    signed,
    verdict,
)
from pengp.study.report_rows import MissingRowsError, Rows, nearest

_LOO, _SEARCH = "forrester/loo", "forrester/search-loo"
#: "Fairly constant": largest over smallest value of a curve.
CONSTANT = 1.25


def _searches(
    rows: Rows, holds: Callable[..., "pd.Series"], *what: tuple[str, str]
) -> Emulated | None:
    """Return in how many seeds of the paper's search a statement holds.

    ``holds`` is given one series over the seeds for each (method, metric).
    """
    try:
        rows.need_repetitions(_SEARCH)
    except MissingRowsError:
        return None
    found = holds(*(rows.pick(_SEARCH, *names)["value"].reset_index(drop=True) for names in what))
    return Emulated(int(found.sum()), len(found))


def grid(rows: Rows) -> Verdict:
    """Judge the ends of the grid of lambda."""
    lams = rows.along_lam(_LOO, "pe", "cv_mean").index
    text = f"{len(lams)} values from {number(lams.min())} to {number(lams.max())}"
    return verdict(lams.min() == 0.0 and matches(lams.max(), "7.39"), text)


def nfold_lam(rows: Rows) -> Verdict:
    """Judge the lambda that n-fold cross-validation chooses."""
    ours = rows.number(_LOO, "pe", "chosen")
    mean = rows.along_lam(_LOO, "pe", "cv_mean")
    lam, value = nearest(mean, 0.0231)
    return verdict(
        ours == lam,
        f"{ours:.4f} (paper 0.02, of the grid {lam:.4f})",
        f"PE is {number(value)} at {lam:.4f} and {number(mean[ours])} at {ours:.4f}.",
        searches=_searches(rows, lambda chosen: chosen == lam, ("pe", "chosen")),
    )


def nfold_one_se(rows: Rows) -> Verdict:
    """Judge the lambda of its one-standard-error rule."""
    ours = rows.number(_LOO, "pe_1se", "chosen")
    return verdict(matches(ours, "7.39"), number(ours))


def smallest(rows: Rows) -> Verdict:
    """Judge the introduction's one-standard-error rule, which takes the smallest lambda."""
    mean, se = (rows.along_lam(_LOO, "pe", m) for m in ("cv_mean", "cv_se"))
    best = rows.number(_LOO, "pe", "chosen")
    within = mean.index[mean <= mean[best] + se[best]]
    return verdict(
        matches(within.min(), "7.39"),
        f"the smallest such λ is {lam_text(within.min())}, the largest {lam_text(within.max())}; "
        "Figure 2 has 7.39",
        slip=matches(within.max(), "7.39"),
    )


def _fold_curves(rows: Rows) -> pd.DataFrame:
    """Return PE of each fold (columns 1 to 8) along lambda."""
    return rows.grid(_LOO, "pe", "cv_fold", "x")


def fold_8_largest(rows: Rows) -> Verdict:
    """Judge whether fold 8 has the largest errors."""
    first = _fold_curves(rows).idxmax(axis=1)
    return verdict((first == 8).all(), f"at {(first == 8).sum()} of {len(first)} lambdas")


def fold_8_constant(rows: Rows) -> Verdict:
    """Judge whether the errors of fold 8 depend little on lambda."""
    curve = _fold_curves(rows)[8.0]
    ratio = curve.max() / curve.min()
    return verdict(
        ratio < CONSTANT,
        f"between {number(curve.min())} and {number(curve.max())}, a factor of {ratio:.2f}",
        searches=_searches(rows, lambda ratios: ratios < CONSTANT, ("fold", "ratio_8")),
    )


def fold_7_changes_most(rows: Rows) -> Verdict:
    """Judge whether the errors of fold 7 depend most on lambda."""
    curves = _fold_curves(rows)
    span = curves.max() - curves.min()
    second = curves.mean().sort_values().index[-2]
    return verdict(
        span.idxmax() == 7.0 and second == 7.0,
        f"PE changes most in fold {span.idxmax():.0f}, by {number(span.max())}; in fold 7 by "
        f"{number(span[7.0])}",
        f"The second largest curve is that of fold {second:.0f}.",
        searches=_searches(
            rows,
            lambda most, next_largest: (most == 7.0) & (next_largest == 7.0),
            ("fold", "largest_span"),
            ("fold", "second_largest"),
        ),
    )


def run_7(rows: Rows) -> Verdict:
    """Judge the position and the response of run 7."""
    held = rows.pick(_LOO, "without_7", "response")
    x, y = float(held["x"].iloc[0]), float(held["value"].iloc[0])
    largest = rows.along_x("forrester/surrogates", "runs", "response").max()
    return verdict(
        matches(x, "0.857") and matches(y, "1.034") and np.isclose(y, largest),
        f"x = {x:.4f}, y = {y:.4f}, the largest y is {largest:.4f}",
    )


def run_7_lam(rows: Rows) -> Verdict:
    """Judge the lambda that is best for fold 7."""
    lam = float(rows.along_x(_LOO, "fold", "chosen")[7.0])
    curve = _fold_curves(rows)[7.0]
    at, value = nearest(curve, 0.0461)
    return verdict(
        lam == at,
        f"{lam:.4f} (paper 0.046)",
        f"PE of fold 7 is {number(value)} at {at:.4f} and {number(curve.min())} at "
        f"{lam_text(float(curve.index.to_numpy()[curve.argmin()]))}.",
        searches=_searches(rows, lambda best: best == at, ("fold", "best_7")),
    )


def run_7_missed(rows: Rows) -> Verdict:
    """Judge whether even the best surrogate without run 7 misses it."""
    held = rows.along_x(_LOO, "without_7", "response")
    x, y = float(held.index.to_numpy()[0]), float(held.iloc[0])
    lower, upper = _interval(rows, "without_7", x)
    low, high = _interval(rows, "without_7_printed", x)
    return verdict(
        not lower <= y <= upper and not low <= y <= high,
        signed(f"95 % interval {lower:.3f} to {upper:.3f}, y = {y:.3f}"),
        signed(f"At the paper's λ = 0.046 it is {low:.3f} to {high:.3f}."),
    )


def _interval(rows: Rows, method: str, x: float) -> tuple[float, float]:
    """Return the ends of a surrogate's 95 % interval at an input."""
    lower, upper = (float(rows.along_x(_LOO, method, end)[x]) for end in ("lower", "upper"))
    return lower, upper
