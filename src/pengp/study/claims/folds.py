"""Claims on 4-fold cross-validation of the Forrester example, twenty random draws (Figures 4, 5).

Status is decided on the draws, as in the paper; the 105 partitions of the 8 runs into four pairs,
of which the draws are a sample, are reported beside them.
"""

from functools import partial

import numpy as np
import pandas as pd

from pengp.study.claims.base import (
    GRID_END,
    Claim,
    Verdict,
    count,
    lam_text,
    number,
    verdict,
)
from pengp.study.report_rows import MissingRowsError, Rows, nearest

_FOLDS, _PARTITIONS = "forrester/folds", "forrester/partitions"
_NAMES = {"pe": "PE", "md": "MD", "score": "Score", "dpe": "DPE"}
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
    return (
        f"{_NAMES[method.removesuffix('_1se')]} {what} in {lams.between(low, high).sum()} of "
        + (f"{len(lams)} partitions. ")
    )


def _at_end(lams: pd.Series) -> pd.Series:
    """Return which lambdas are the largest of the grid."""
    return pd.Series(np.isclose(lams, GRID_END), index=lams.index)


def _curves(rows: Rows, method: str) -> pd.DataFrame:
    """Return C(lambda) of each draw (columns)."""
    rows.need_repetitions(_FOLDS)
    return rows.grid(_FOLDS, method, "cv_mean", "repetition")


def _inconsistent(rows: Rows) -> Verdict:
    chosen = {name: _chosen(rows, method) for method, name in _NAMES.items() if method != "dpe"}
    return verdict(
        all(lams.nunique() >= 3 and (lams > _EDGE).any() for lams in chosen.values()),
        "; ".join(
            f"{name} {lams.nunique()} different λ*, {(lams > _EDGE).sum()} above 0.073"
            for name, lams in chosen.items()
        ),
    )


def _pe_often_too_smooth(rows: Rows) -> Verdict:
    lams = _chosen(rows, "pe")
    small, large = ((lams > 0.0) & (lams <= _SMALL)).sum(), (lams > _SMALL).sum()
    return verdict(
        0 < small < large,
        f"{small} of {len(lams)} in (0, 0.007], {large} above",
        f"λ* of PE: {count(lams)}. "
        + _partitions(rows, "pe", "chooses (0, 0.007]", 1e-12, _SMALL)
        + _partitions(rows, "pe", "chooses more", _SMALL, np.inf),
    )


def _pe_gap(rows: Rows) -> Verdict:
    lams = _chosen(rows, "pe")
    inside = ((lams > _EDGE) & ~_at_end(lams)).sum()
    return verdict(
        inside == 0 and _at_end(lams).any(),
        f"{inside} of {len(lams)} inside the gap, {_at_end(lams).sum()} at 7.389",
        f"λ* of PE: {count(lams)}. " + _partitions(rows, "pe", "is inside", _EDGE, 0.99 * GRID_END),
    )


def _md_like_score(rows: Rows) -> Verdict:
    md, score = _curves(rows, "md"), _curves(rows, "score")
    span = float(md.to_numpy().max() - md.to_numpy().min())
    apart = float(np.abs(score.to_numpy() - md.to_numpy()).max()) / span
    same = (_chosen(rows, "md") == _chosen(rows, "score")).sum()
    return verdict(
        apart < 0.05,
        f"curves differ by at most {apart:.1%} of the range of MD",
        f"They choose the same λ* in {same} of {md.shape[1]} draws.",
    )


def _md_gap(rows: Rows, method: str) -> Verdict:
    lams = _chosen(rows, method)
    inside = ((lams > 0.0) & (lams < 0.99 * _EDGE)).sum()
    return verdict(
        inside == 0,
        f"{inside} of {len(lams)} inside the gap",
        f"λ* of {_NAMES[method]}: {count(lams)}. "
        + _partitions(rows, method, "is inside", 1e-12, 0.99 * _EDGE),
    )


def _rising(curves: pd.DataFrame) -> int:
    """Return how many curves are higher at every lambda > 0.073 than at every smaller one."""
    small = curves.index.to_numpy(dtype=float) < _EDGE
    return int((curves[~small].min() > curves[small].max()).sum())


def _dpe_curves(rows: Rows) -> Verdict:
    found = {method: _rising(_curves(rows, method)) for method in _NAMES}
    draws = _curves(rows, "dpe").shape[1]
    return verdict(
        found["dpe"] == draws and all(found[m] < draws for m in ("pe", "md", "score")),
        ", ".join(f"{_NAMES[m]} in {times}" for m, times in found.items()) + f" of {draws} draws",
    )


def _less_variable(rows: Rows) -> Verdict:
    found = {}
    for method in _NAMES:
        relative = rows.grid(_FOLDS, method, "cv_se", "repetition") / _curves(rows, method).abs()
        found[method] = float(np.median(relative[relative.index < _EDGE]))
    return verdict(
        all(found["dpe"] <= found[m] / 2.0 for m in ("pe", "md", "score")),
        ", ".join(f"{_NAMES[m]} {value:.2f}" for m, value in found.items()),
    )


def _theta_drops(rows: Rows) -> Verdict:
    rows.need_repetitions(_FOLDS)
    middle = rows.grid(_FOLDS, "folds", "theta_mean", "repetition").median(axis=1)
    before, edge, after = (nearest(middle, lam)[1] for lam in (0.0366, 0.0731, 0.1462))
    return verdict(
        edge / after > 10.0 and edge / after > before / edge,
        f"median over the draws {number(before)} at 0.037, {number(edge)} at 0.073, "
        f"{number(after)} at 0.146",
    )


def _dpe_zero(rows: Rows) -> Verdict:
    lams = _chosen(rows, "dpe")
    return verdict(
        (lams == 0.0).all(),
        f"λ* = 0 in {(lams == 0.0).sum()} of {len(lams)} draws",
        _partitions(rows, "dpe", "chooses 0", 0.0, 0.0),
    )


def _one_se_at_end(rows: Rows, method: str) -> Verdict:
    lams = _chosen(rows, f"{method}_1se")
    ends = _at_end(lams)
    return verdict(
        ends.mean() >= _NEARLY_ALL,
        f"in {ends.sum()} of {len(lams)} draws",
        _partitions(rows, f"{method}_1se", "ends there", 0.99 * GRID_END, np.inf),
    )


def _dpe_one_se(rows: Rows) -> Verdict:
    lams = _chosen(rows, "dpe_1se")
    return verdict(
        (lams > 0.0).all() and (lams < _EDGE).all(),
        f"from {lam_text(lams.min())} to {lam_text(lams.max())}, median {lam_text(lams.median())}",
        _partitions(rows, "dpe_1se", "is in (0, 0.073]", 1e-12, _EDGE),
    )


CLAIMS = (
    Claim(
        "forrester-4fold-inconsistent",
        "forrester",
        "Section 3, Figure 4",
        "PE, MD and Score choose inconsistent λ* across the entire range, sometimes giving "
        "nugget-dominated surrogates.",
        "Each chooses at least three different λ* in the draws, and at least once one above 0.073, "
        "where θ̂ collapses.",
        _inconsistent,
    ),
    Claim(
        "forrester-pe-smooth",
        "forrester",
        "Section 3, Figure 4(a)",
        "PE sometimes chose 0 < λ* ≤ 0.007, more often a λ* that smooths too much or is "
        "nugget-dominated.",
        "At least one draw with 0 < λ* ≤ 0.007, and more draws with a larger λ*.",
        _pe_often_too_smooth,
    ),
    Claim(
        "forrester-pe-gap",
        "forrester",
        "Section 3, Figure 4(a)",
        "λ* of PE has a noticeable gap between 0.073 and 7.389.",
        "No draw chooses λ* strictly between, at least one chooses 7.389.",
        _pe_gap,
    ),
    Claim(
        "forrester-md-like-score",
        "forrester",
        "Section 3, Figure 4(b), 4(c)",
        "The curves of MD and Score are nearly indistinguishable.",
        "At no λ of any draw they differ by 5 % of the range that the curves of MD span.",
        _md_like_score,
    ),
    *(
        Claim(
            f"forrester-{method}-gap",
            "forrester",
            f"Section 3, Figure {figure}",
            f"λ* of {_NAMES[method]} has a noticeable gap between 0 and about 0.073.",
            "No draw chooses λ* strictly between 0 and 0.073.",
            partial(_md_gap, method=method),
        )
        for method, figure in (("md", "4(b)"), ("score", "4(c)"))
    ),
    Claim(
        "forrester-dpe-curves",
        "forrester",
        "Section 3, Figure 5(a)",
        "The DPE curves are consistently higher for larger λ and consistently lower for "
        "λ < 0.073, compared to PE, MD and Score.",
        "In every draw DPE at each λ > 0.073 is above DPE at each λ ≤ 0.073; for each other metric "
        "that fails in some draw.",
        _dpe_curves,
    ),
    Claim(
        "forrester-dpe-less-variable",
        "forrester",
        "Sections 1 and 3",
        "DPE varies far less between folds than PE, MD and Score, for interpolating surrogates.",
        "SE(λ)/|C(λ)|, median over the draws and all λ ≤ 0.073, is for DPE at most half of each "
        "other metric's.",
        _less_variable,
    ),
    Claim(
        "forrester-theta-drops",
        "forrester",
        "Section 3, Figure 5(b)",
        "When λ > 0.073, the θ̂ averaged over folds drops sharply toward zero.",
        "Its median over the draws falls more than tenfold from λ = 0.073 to 0.146, and by more "
        "than from 0.037 to 0.073.",
        _theta_drops,
    ),
    Claim(
        "forrester-dpe-zero",
        "forrester",
        "Section 3",
        "DPE chose λ* = 0 for all of the 4-fold CVs.",
        "λ* of DPE is 0 in every draw.",
        _dpe_zero,
    ),
    *(
        Claim(
            f"forrester-{method}-1se-end",
            "forrester",
            "Section 3, Figure 5(c)",
            f"The 1SE rule with {_NAMES[method]} almost always gives λ = 7.389.",
            "At least 9 in 10 draws end at the largest λ.",
            partial(_one_se_at_end, method=method),
        )
        for method in ("pe", "md", "score")
    ),
    Claim(
        "forrester-dpe-1se",
        "forrester",
        "Section 3, Figure 5(c)",
        "λ_1SE of DPE is remarkably consistent and avoids overly large λ.",
        "It is above 0 and at most 0.073 in every draw.",
        _dpe_one_se,
    ),
)
