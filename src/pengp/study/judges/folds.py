"""How the claims on 4-fold cross-validation of the Forrester example are judged.

Status is decided on the draws, as in the paper; the 105 partitions of the 8 runs into four pairs,
of which the draws are a sample, are reported beside them.
"""

import numpy as np
import pandas as pd

from pengp.study.judges.base import (
    GRID_END,
    METRICS,
    Verdict,
    count,
    lam_text,
    number,
    verdict,
)
from pengp.study.report_rows import MissingRowsError, Rows, nearest

_FOLDS, _PARTITIONS = "forrester/folds", "forrester/partitions"
#: The paper prints 0.007, 0.073 and 7.389 for these values of the grid.
_SMALL, _EDGE = 0.0075, 0.0735
#: "Almost always".
_NEARLY_ALL = 0.9


def _chosen(rows: Rows, method: str) -> pd.Series:
    """Return the lambda that each draw chooses, all of the paper's draws there."""
    rows.need_repetitions(_FOLDS)
    return rows.by_repetition(_FOLDS, method, "chosen")


def _partitions(rows: Rows, method: str, what: str, low: float, high: float) -> str:
    """Return how many of the 105 partitions choose a lambda within [low, high]."""
    try:
        lams = rows.along_x(_PARTITIONS, method, "chosen")
    except MissingRowsError:
        return ""
    label, inside = METRICS[method.removesuffix("_1se")], lams.between(low, high).sum()
    return f"{label} {what} in {inside} of {len(lams)} partitions. "


def _at_end(lams: pd.Series) -> pd.Series:
    """Return which lambdas are the largest of the grid."""
    return pd.Series(np.isclose(lams, GRID_END), index=lams.index)


def _curves(rows: Rows, method: str) -> pd.DataFrame:
    """Return C(lambda) of each draw (columns)."""
    rows.need_repetitions(_FOLDS)
    return rows.grid(_FOLDS, method, "cv_mean", "repetition")


def inconsistent(rows: Rows) -> Verdict:
    """Judge whether PE, MD and Score choose lambdas of all sizes."""
    chosen = {name: _chosen(rows, method) for method, name in METRICS.items() if method != "dpe"}
    return verdict(
        all(lams.nunique() >= 3 and (lams > _EDGE).any() for lams in chosen.values()),
        "; ".join(
            f"{name} {lams.nunique()} different λ*, {(lams > _EDGE).sum()} above 0.073"
            for name, lams in chosen.items()
        ),
    )


def pe_often_too_smooth(rows: Rows) -> Verdict:
    """Judge how often PE chooses a small lambda and how often a larger one."""
    lams = _chosen(rows, "pe")
    small, large = ((lams > 0.0) & (lams <= _SMALL)).sum(), (lams > _SMALL).sum()
    return verdict(
        0 < small < large,
        f"{small} of {len(lams)} in (0, 0.007], {large} above",
        f"λ* of PE: {count(lams)}. "
        + _partitions(rows, "pe", "chooses (0, 0.007]", 1e-12, _SMALL)
        + _partitions(rows, "pe", "chooses more", _SMALL, np.inf),
    )


def pe_gap(rows: Rows) -> Verdict:
    """Judge whether PE chooses no lambda between 0.073 and the largest."""
    lams = _chosen(rows, "pe")
    inside = ((lams > _EDGE) & ~_at_end(lams)).sum()
    return verdict(
        inside == 0 and _at_end(lams).any(),
        f"{inside} of {len(lams)} inside the gap, {_at_end(lams).sum()} at 7.389",
        f"λ* of PE: {count(lams)}. " + _partitions(rows, "pe", "is inside", _EDGE, 0.99 * GRID_END),
    )


def md_like_score(rows: Rows) -> Verdict:
    """Judge how far the curves of MD and Score are apart."""
    md, score = _curves(rows, "md"), _curves(rows, "score")
    span = float(md.to_numpy().max() - md.to_numpy().min())
    apart = float(np.abs(score.to_numpy() - md.to_numpy()).max()) / span
    same = (_chosen(rows, "md") == _chosen(rows, "score")).sum()
    return verdict(
        apart < 0.05,
        f"curves differ by at most {apart:.1%} of the range of MD",
        f"They choose the same λ* in {same} of {md.shape[1]} draws.",
    )


def md_gap(rows: Rows, method: str) -> Verdict:
    """Judge whether a metric chooses no lambda between 0 and 0.073."""
    lams = _chosen(rows, method)
    inside = ((lams > 0.0) & (lams < 0.99 * _EDGE)).sum()
    return verdict(
        inside == 0,
        f"{inside} of {len(lams)} inside the gap",
        f"λ* of {METRICS[method]}: {count(lams)}. "
        + _partitions(rows, method, "is inside", 1e-12, 0.99 * _EDGE),
    )


def _rising(curves: pd.DataFrame) -> int:
    """Return how many curves are higher at every lambda > 0.073 than at every smaller one."""
    small = curves.index.to_numpy(dtype=float) < _EDGE
    return int((curves[~small].min() > curves[small].max()).sum())


def dpe_curves(rows: Rows) -> Verdict:
    """Judge whether DPE alone rises beyond 0.073 in every draw."""
    found = {method: _rising(_curves(rows, method)) for method in METRICS}
    draws = _curves(rows, "dpe").shape[1]
    return verdict(
        found["dpe"] == draws and all(found[m] < draws for m in ("pe", "md", "score")),
        ", ".join(f"{METRICS[m]} in {times}" for m, times in found.items()) + f" of {draws} draws",
    )


def less_variable(rows: Rows) -> Verdict:
    """Judge whether DPE varies least between folds."""
    found = {}
    for method in METRICS:
        relative = rows.grid(_FOLDS, method, "cv_se", "repetition") / _curves(rows, method).abs()
        found[method] = float(np.median(relative[relative.index < _EDGE]))
    return verdict(
        all(found["dpe"] <= found[m] / 2.0 for m in ("pe", "md", "score")),
        ", ".join(f"{METRICS[m]} {value:.2f}" for m, value in found.items()),
    )


def theta_drops(rows: Rows) -> Verdict:
    """Judge whether theta collapses beyond 0.073."""
    rows.need_repetitions(_FOLDS)
    middle = rows.grid(_FOLDS, "folds", "theta_mean", "repetition").median(axis=1)
    before, edge, after = (nearest(middle, lam)[1] for lam in (0.0366, 0.0731, 0.1462))
    return verdict(
        edge / after > 10.0 and edge / after > before / edge,
        f"median over the draws {number(before)} at 0.037, {number(edge)} at 0.073, "
        f"{number(after)} at 0.146",
    )


def dpe_zero(rows: Rows) -> Verdict:
    """Judge whether DPE chooses no penalty in every draw."""
    lams = _chosen(rows, "dpe")
    return verdict(
        (lams == 0.0).all(),
        f"λ* = 0 in {(lams == 0.0).sum()} of {len(lams)} draws",
        _partitions(rows, "dpe", "chooses 0", 0.0, 0.0),
    )


def one_se_at_end(rows: Rows, method: str) -> Verdict:
    """Judge whether a metric's one-standard-error rule mostly ends at the largest lambda."""
    lams = _chosen(rows, f"{method}_1se")
    ends = _at_end(lams)
    return verdict(
        ends.mean() >= _NEARLY_ALL,
        f"in {ends.sum()} of {len(lams)} draws",
        _partitions(rows, f"{method}_1se", "ends there", 0.99 * GRID_END, np.inf),
    )


def dpe_one_se(rows: Rows) -> Verdict:
    """Judge whether the one-standard-error rule of DPE avoids large lambdas."""
    lams = _chosen(rows, "dpe_1se")
    return verdict(
        (lams > 0.0).all() and (lams < _EDGE).all(),
        f"from {lam_text(lams.min())} to {lam_text(lams.max())}, median {lam_text(lams.median())}",
        _partitions(rows, "dpe_1se", "is in (0, 0.073]", 1e-12, _EDGE),
    )
