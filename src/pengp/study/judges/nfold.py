"""How the claims on n-fold cross-validation of the Forrester example are judged."""

import numpy as np
import pandas as pd

from pengp.study.judges.base import (
    Verdict,
    lam_text,
    matches,
    number,
    signed,
    verdict,
)
from pengp.study.report_rows import Rows, nearest

_LOO = "forrester/loo"


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
        matches(ours, "0.02"),
        f"{ours:.4f} (paper 0.02)",
        f"PE is {number(value)} at the grid's {lam:.4f} and {number(mean[ours])} at {ours:.4f}. It "
        "depends on which of several maxima of Q the optimiser finds in each fold.",
    )


def nfold_one_se(rows: Rows) -> Verdict:
    """Judge the lambda of its one-standard-error rule."""
    ours = rows.number(_LOO, "pe_1se", "chosen")
    return verdict(matches(ours, "7.39"), number(ours))


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
        ratio < 1.25,
        f"between {number(curve.min())} and {number(curve.max())}, a factor of {ratio:.2f}",
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
        matches(lam, "0.046"),
        f"{lam:.4f} (paper 0.046)",
        f"PE of fold 7 is {number(value)} at {at:.4f} and {number(curve.min())} at "
        f"{lam_text(float(curve.index.to_numpy()[curve.argmin()]))}.",
    )


def run_7_missed(rows: Rows) -> Verdict:
    """Judge whether even the best surrogate without run 7 misses it."""
    held = rows.along_x(_LOO, "without_7", "response")
    x, y = float(held.index.to_numpy()[0]), float(held.iloc[0])
    lower, upper = _interval(rows, "without_7", x)
    low, high = _interval(rows, "without_7_printed", x)
    return verdict(
        not lower <= y <= upper,
        signed(f"95 % interval {lower:.3f} to {upper:.3f}, y = {y:.3f}"),
        signed(f"At the paper's λ = 0.046 it is {low:.3f} to {high:.3f}."),
    )


def _interval(rows: Rows, method: str, x: float) -> tuple[float, float]:
    """Return the ends of a surrogate's 95 % interval at an input."""
    lower, upper = (float(rows.along_x(_LOO, method, end)[x]) for end in ("lower", "upper"))
    return lower, upper
