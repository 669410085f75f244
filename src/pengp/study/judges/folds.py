"""How the claims on 4-fold cross-validation of the Forrester example are judged.

A statement is about twenty draws of folds. It is asked of ours, of twenty draws from the 105
partitions of the 8 runs into four pairs (its probability), and of twenty draws in each seed of the
paper's own search.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

from pengp.study.judges.base import (
    GRID_END,
    METRICS,
    Emulated,
    Outcome,
    Verdict,
    count,
    lam_text,
    larger,
    number,
    read,
    verdict,
    yes,
)
from pengp.study.report_rows import MissingRowsError, Rows, nearest

_FOLDS, _PARTITIONS, _SEARCH = "forrester/folds", "forrester/partitions", "forrester/search-folds"
#: The paper prints 0.007, 0.073 and 7.389 for these values of the grid.
_SMALL, _EDGE = 0.0075, 0.0735
#: "Almost always"; "remarkably consistent": largest over smallest, third over first quartile.
NEARLY_ALL, RANGE, QUARTILES = 0.9, 10.0, 3.0
#: "Nearly indistinguishable": apart by this share of the range of MD.
ALIKE = 0.05
_SAMPLES = 2000
#: Methods of which the rows tell a metric.
_METHODS = {
    "chosen": [m + rule for m in METRICS for rule in ("", "_1se")],
    "rising": list(METRICS),
}

#: What twenty draws chose, by method [20, methods] -> whether a statement holds of them.
Holds = Callable[[pd.DataFrame], bool | np.bool_]


def _draws(rows: Rows) -> pd.DataFrame:
    """Return what each draw chose (columns: methods), all of the paper's draws there."""
    rows.need_repetitions(_FOLDS)
    chosen = _METHODS["chosen"]
    return pd.DataFrame({m: rows.by_repetition(_FOLDS, m, "chosen") for m in chosen})


def _partitions(rows: Rows, metric: str) -> pd.DataFrame:
    """Return the same of the 105 partitions."""
    return pd.DataFrame({m: rows.along_x(_PARTITIONS, m, metric) for m in _METHODS[metric]})


def _chance(rows: Rows, holds: Holds, metric: str = "chosen") -> float | None:
    """Return the probability of a statement over draws of twenty partitions."""
    try:
        found = _partitions(rows, metric)
    except MissingRowsError:
        return None
    rng = np.random.default_rng(0)
    samples = rng.integers(len(found), size=(_SAMPLES, 20))
    return float(np.mean([bool(holds(found.iloc[sample])) for sample in samples]))


def _searches(rows: Rows, holds: Holds, metric: str = "chosen") -> Emulated | None:
    """Return in how many seeds of the paper's search a statement holds."""
    try:
        rows.need_repetitions(_SEARCH)
    except MissingRowsError:
        return None
    found = {m: rows.pick(_SEARCH, m, metric)["value"].to_numpy() for m in _METHODS[metric]}
    seeds = rows.pick(_SEARCH, "pe", metric)["repetition"].to_numpy()
    each = [bool(holds(draws)) for _, draws in pd.DataFrame(found).groupby(seeds)]
    return Emulated(sum(each), len(each))


def _judged(rows: Rows, holds: Holds, found: str, details: str = "") -> Verdict:
    """Return the verdict on a statement about what twenty draws chose."""
    if holds(_draws(rows)):
        return verdict(True, found, details)
    return verdict(
        False, found, details, chance=_chance(rows, holds), searches=_searches(rows, holds)
    )


def _at_end(lams: pd.Series) -> pd.Series:
    """Return which lambdas are the largest of the grid."""
    return pd.Series(np.isclose(lams, GRID_END), index=lams.index)


def _curves(rows: Rows, method: str) -> pd.DataFrame:
    """Return C(lambda) of each draw (columns)."""
    rows.need_repetitions(_FOLDS)
    return rows.grid(_FOLDS, method, "cv_mean", "repetition")


def inconsistent(rows: Rows) -> Verdict:
    """Judge whether PE, MD and Score choose lambdas of all sizes."""
    others = {m: name for m, name in METRICS.items() if m != "dpe"}
    draws = _draws(rows)
    return _judged(
        rows,
        lambda found: all(found[m].nunique() >= 3 and (found[m] > _EDGE).any() for m in others),
        "; ".join(
            f"{name} {draws[m].nunique()} different λ*, {(draws[m] > _EDGE).sum()} above 0.073"
            for m, name in others.items()
        ),
    )


def _small_and_large(lams: pd.Series) -> tuple[int, int]:
    """Return how many lambdas are in (0, 0.007] and how many above."""
    return int(((lams > 0.0) & (lams <= _SMALL)).sum()), int((lams > _SMALL).sum())


def pe_often_too_smooth(rows: Rows) -> Verdict:
    """Judge how often PE chooses a small lambda and how often a larger one."""

    def holds(draws: pd.DataFrame) -> bool:
        small, large = _small_and_large(draws["pe"])
        return 0 < small < large

    lams = _draws(rows)["pe"]
    small, large = _small_and_large(lams)
    found = f"{small} of {len(lams)} in (0, 0.007], {large} above"
    return _judged(rows, holds, found, f"λ* of PE: {count(lams)}.")


def pe_gap(rows: Rows) -> Verdict:
    """Judge whether PE chooses no lambda between 0.073 and the largest."""

    def holds(draws: pd.DataFrame) -> bool:
        ends = _at_end(draws["pe"])
        return bool(ends.any() and not ((draws["pe"] > _EDGE) & ~ends).any())

    lams = _draws(rows)["pe"]
    inside = ((lams > _EDGE) & ~_at_end(lams)).sum()
    found = f"{inside} of {len(lams)} inside the gap, {_at_end(lams).sum()} at 7.389"
    return _judged(rows, holds, found, f"λ* of PE: {count(lams)}.")


def md_like_score(rows: Rows) -> Verdict:
    """Judge how far the curves of MD and Score are apart, and whether they choose alike."""
    md, score = _curves(rows, "md"), _curves(rows, "score")
    span = float(md.to_numpy().max() - md.to_numpy().min())
    apart = float(np.abs(score.to_numpy() - md.to_numpy()).max()) / span
    draws = _draws(rows)
    same = (draws["md"] == draws["score"]).sum()
    return read(
        {"curves": yes(apart < ALIKE), "same λ*": yes(same >= NEARLY_ALL * len(draws))},
        f"curves differ by at most {apart:.1%} of the range of MD; they choose the same λ* in "
        f"{same} of {len(draws)} draws",
    )


def md_gap(rows: Rows, method: str) -> Verdict:
    """Judge whether a metric chooses no lambda between 0 and 0.073."""

    def inside(draws: pd.DataFrame) -> int:
        return int(((draws[method] > 0.0) & (draws[method] < 0.99 * _EDGE)).sum())

    draws = _draws(rows)
    return _judged(
        rows,
        lambda found: inside(found) == 0,
        f"{inside(draws)} of {len(draws)} inside the gap",
        f"λ* of {METRICS[method]}: {count(draws[method])}.",
    )


def _dpe_alone_rises(rising: pd.DataFrame) -> bool:
    """Return whether DPE rises in every draw and no other metric does."""
    return bool(rising["dpe"].all() and not rising[["pe", "md", "score"]].all().any())


def dpe_curves(rows: Rows) -> Verdict:
    """Judge whether DPE alone rises beyond 0.073 in every draw."""
    rising = {}
    for method in METRICS:
        curves = _curves(rows, method)
        small = curves.index.to_numpy(dtype=float) < _EDGE
        rising[method] = (curves[~small].min() > curves[small].max()).astype(float)
    table = pd.DataFrame(rising)
    found = ", ".join(f"{METRICS[m]} in {table[m].sum():.0f}" for m in METRICS)
    return verdict(
        _dpe_alone_rises(table),
        f"{found} of {len(table)} draws",
        chance=_chance(rows, _dpe_alone_rises, "rising"),
        searches=_searches(rows, _dpe_alone_rises, "rising"),
    )


def less_variable(rows: Rows) -> Verdict:
    """Judge whether DPE varies least, between the folds of a draw and between draws."""
    folds, draws = {}, {}
    for method in METRICS:
        curves = _curves(rows, method)
        small = curves.index < _EDGE
        relative = rows.grid(_FOLDS, method, "cv_se", "repetition") / curves.abs()
        folds[method] = float(np.median(relative[small]))
        between = curves.std(axis=1, ddof=1) / curves.mean(axis=1).abs()
        draws[method] = float(np.median(between[small]))

    def half(found: dict[str, float]) -> Outcome:
        return yes(all(found["dpe"] <= found[m] / 2.0 for m in ("pe", "md", "score")))

    text = {
        name: ", ".join(f"{METRICS[m]} {value:.2f}" for m, value in found.items())
        for name, found in (("between folds", folds), ("between draws", draws))
    }
    return read(
        {"between folds": half(folds), "between draws": half(draws)},
        "; ".join(f"{name} {found}" for name, found in text.items()),
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
    lams = _draws(rows)["dpe"]
    found = f"λ* = 0 in {(lams == 0.0).sum()} of {len(lams)} draws"
    return _judged(rows, lambda draws: (draws["dpe"] == 0.0).all(), found)


def one_se_at_end(rows: Rows) -> Verdict:
    """Judge whether the one-standard-error rule mostly ends at the largest lambda."""
    draws = _draws(rows)
    shares = {METRICS[m]: _at_end(draws[f"{m}_1se"]).mean() for m in ("pe", "md", "score")}
    partitions = _partitions(rows, "chosen")
    ends = {METRICS[m]: _at_end(partitions[f"{m}_1se"]).sum() for m in ("pe", "md", "score")}
    return read(
        {
            "pooled": yes(np.mean(list(shares.values())) >= NEARLY_ALL),
            "each metric": yes(min(shares.values()) >= NEARLY_ALL),
        },
        ", ".join(f"{name} {share:.0%}" for name, share in shares.items()) + " of the draws",
        "Of 105 partitions: " + ", ".join(f"{name} {times}" for name, times in ends.items()) + ".",
    )


def dpe_one_se_small(rows: Rows) -> Verdict:
    """Judge whether the one-standard-error rule of DPE avoids large lambdas."""
    lams = _draws(rows)["dpe_1se"]
    found = f"from {lam_text(lams.min())} to {lam_text(lams.max())}"
    return _judged(
        rows, lambda draws: ((draws["dpe_1se"] > 0.0) & (draws["dpe_1se"] < _EDGE)).all(), found
    )


def dpe_one_se_consistent(rows: Rows) -> Verdict:
    """Judge how far its choices are apart."""
    lams = _draws(rows)["dpe_1se"]
    low, middle, high = lams.quantile([0.25, 0.5, 0.75])
    return read(
        {
            "range": yes(lams.max() <= RANGE * lams.min()),
            "quartiles": yes(high <= QUARTILES * low),
        },
        f"from {lam_text(lams.min())} to {lam_text(lams.max())}, quartiles {lam_text(low)}, "
        f"{lam_text(middle)}, {lam_text(high)}",
    )


def _spread(log_theta: pd.DataFrame) -> tuple[float, float]:
    """Return the standard deviations of values [draws, methods] between draws and methods."""
    between_draws = float(np.sqrt(log_theta.var(ddof=1).mean()))
    return between_draws, float(log_theta.mean().std(ddof=1))


def folds_matter(rows: Rows) -> Verdict:
    """Judge whether folds or the metric matter more for the estimate that is chosen."""
    theta = np.log10(rows.along_lam("forrester/path", "pmle", "theta"))
    spreads = {}
    for rule, name in (("", "λ*"), ("_1se", "1SE")):
        chosen = _draws(rows)[[m + rule for m in METRICS]]
        spreads[name] = _spread(chosen.apply(partial(_at, theta)))
    return read(
        {name: larger(draws, metrics) for name, (draws, metrics) in spreads.items()},
        "; ".join(
            f"{name}: standard deviation of log10 θ̂ {draws:.2f} between draws, {metrics:.2f} "
            "between metrics"
            for name, (draws, metrics) in spreads.items()
        ),
    )


def _at(curve: pd.Series, lams: pd.Series) -> pd.Series:
    """Return a curve's values at each of the lambdas."""
    return pd.Series(curve.reindex(lams.to_numpy()).to_numpy(), index=lams.index)
