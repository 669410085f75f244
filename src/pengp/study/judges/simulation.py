"""How the claims on Section 4 are judged: comparisons of methods over repetitions.

A method's relative difference in a repetition is its score divided by that of pMLE*, minus 1. Two
methods are compared in three ways, each with two standard errors to either side: by the mean of
their paired differences, by the difference of their medians, and by the number of repetitions in
which one is better (the sign test).
"""

from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np
import pandas as pd

from pengp.study.judges.base import (
    METRICS,
    STANDARD_ERRORS,
    Difference,
    Outcome,
    Verdict,
    all_hold,
    lam_text,
    mean_of,
    read,
    verdict,
    yes,
)
from pengp.study.report_rows import Rows

FUNCTIONS = {"lim": "Lim", "franke": "Franke", "piston": "Piston", "borehole": "Borehole"}
METHODS = {
    "mle": "MLE",
    "mle_nugget": "MLE, g estimated",
    **METRICS,
    "dpe_1se": "DPE 1SE",
}
#: What the paper's search, the best of ten random starts, takes for the MLE.
TEN_STARTS = "mle_ten_starts"
#: Relative differences that differ by less are alike ("closely aligned", "similar").
MARGIN = 0.05
#: Two penalties are compared on 20 pairs of function and method, and in two scores.
MANY_STANDARD_ERRORS = 3.0
_WORST = ("md", "score")
_OTHERS = ("mle", "mle_nugget", "pe", "dpe", "dpe_1se")
_PENALIZED = ("pe", "md", "score", "dpe", "dpe_1se")
_BOOTSTRAP = 400
#: So many comparisons are told one by one.
_FEW = 4

#: A function and the two methods that are compared on it.
Pair = tuple[str, str, str]


def relative(rows: Rows, function: str, score: str, study: str = "simulation") -> pd.DataFrame:
    """Return the relative differences to pMLE* of each repetition and method (columns).

    The columns are `METHODS` and `TEN_STARTS`.
    """
    part = f"{study}/{function}"
    best = rows.by_repetition(part, "pmle_star", score)
    found = {m: rows.by_repetition(part, m, score) / best - 1.0 for m in (*METHODS, TEN_STARTS)}
    return pd.DataFrame(found).dropna()


def _all_repetitions(rows: Rows, function: str, score: str) -> pd.DataFrame:
    """Return the relative differences, all of the paper's repetitions there."""
    rows.need_repetitions(f"simulation/{function}")
    return relative(rows, function, score)


def _medians(one: pd.Series, other: pd.Series) -> Difference:
    """Return the difference of two medians and its standard error, by a paired bootstrap."""
    drawn = np.random.default_rng(0).integers(len(one), size=(_BOOTSTRAP, len(one)))
    values = one.to_numpy(), other.to_numpy()
    again = [np.median(v[drawn], axis=1) for v in values]
    at = float(np.median(values[0]) - np.median(values[1]))
    return Difference(at, float((again[0] - again[1]).std(ddof=1)))


def _signs(one: pd.Series, other: pd.Series) -> Difference:
    """Return the share of repetitions in which one is larger, minus that in which it is smaller."""
    return Difference(float(np.sign(one - other).mean()), 1.0 / float(np.sqrt(len(one))))


def _ways(found: pd.DataFrame, one: str, other: str) -> dict[str, Difference]:
    """Return the comparison of two methods in the three ways."""
    return {
        "mean": mean_of(found[one] - found[other]),
        "median": _medians(found[one], found[other]),
        "sign test": _signs(found[one], found[other]),
    }


def _compared(
    rows: Rows, score: str, pairs: Iterable[Pair], low: float, high: float, ways: Sequence[str]
) -> Verdict:
    """Judge whether the difference of each pair lies between two limits."""
    outcomes: dict[str, list[Outcome]] = {way: [] for way in ways}
    told = []
    for function, one, other in pairs:
        found = _all_repetitions(rows, function, score)
        differences = _ways(found, one, other)
        here = [differences[way].within(low, high) for way in ways]
        for way, outcome in zip(ways, here, strict=True):
            outcomes[way].append(outcome)
        if len(outcomes["mean"]) <= _FEW or set(here) != {"holds"}:
            told.append(_told(found, function, one, other))
    total = len(outcomes["mean"])
    held = ", ".join(f"{outcomes[way].count('holds')} of {total} ({way})" for way in ways)
    return read(
        {way: all_hold(outcomes[way]) for way in ways},
        "; ".join(told) if total <= _FEW else f"comparisons that hold: {held}",
        "" if total <= _FEW else "; ".join(told),
    )


def _told(found: pd.DataFrame, function: str, one: str, other: str) -> str:
    """Return the comparison of two methods in words."""
    paired = found[one] - found[other]
    return (
        f"{METHODS[one]} against {METHODS[other]} on {FUNCTIONS[function]} {mean_of(paired)} "
        f"(medians {found[one].median():.3f}, {found[other].median():.3f}; better in "
        f"{(paired < 0).sum()}, worse in {(paired > 0).sum()})"
    )


_THREE = ("mean", "median", "sign test")
_TWO = ("mean", "median")


def near_mle(rows: Rows, score: str) -> Verdict:
    """Judge whether DPE and MLE are closely aligned on every function."""
    pairs = [(function, "dpe", "mle") for function in FUNCTIONS]
    return _compared(rows, score, pairs, -MARGIN, MARGIN, _TWO)


def worst(rows: Rows, score: str) -> Verdict:
    """Judge whether MD and Score are the worst on every function."""
    pairs = [(f, bad, other) for f in FUNCTIONS for bad, other in product(_WORST, _OTHERS)]
    return _compared(rows, score, pairs, 0.0, np.inf, _THREE)


def better(rows: Rows, score: str, function: str, one: str) -> Verdict:
    """Judge whether a method improves on the MLE."""
    return _compared(rows, score, [(function, one, "mle")], -np.inf, 0.0, _THREE)


def worse(rows: Rows, score: str, function: str, one: str) -> Verdict:
    """Judge whether a method is worse than the MLE."""
    return _compared(rows, score, [(function, one, "mle")], 0.0, np.inf, _THREE)


def not_better(rows: Rows, score: str) -> Verdict:
    """Judge whether PE is like the MLE or worse on the functions besides Lim."""
    pairs = [(function, "pe", "mle") for function in FUNCTIONS if function != "lim"]
    return _compared(rows, score, pairs, -MARGIN, np.inf, _TWO)


def beats(rows: Rows, score: str, one: str) -> Verdict:
    """Judge whether a method is better than PE, MD and Score on every function."""
    pairs = [(f, one, other) for f in FUNCTIONS for other in ("pe", *_WORST)]
    return _compared(rows, score, pairs, -np.inf, 0.0, _THREE)


def nugget_varies(rows: Rows, score: str) -> Verdict:
    """Judge whether MLE with estimated g is at times very good and at times very bad."""
    notes, good, bad = [], [], []
    for function, name in FUNCTIONS.items():
        found = _all_repetitions(rows, function, score)
        good.append(int((found["mle_nugget"] < 0.0).sum()))
        bad.append(int((found["mle_nugget"] - found["dpe_1se"] > 0.5).sum()))
        notes.append(f"{name} {good[-1]} and {bad[-1]}")
    return read(
        {
            "on every function": yes(min(*good, *bad) > 0),
            "pooled": yes(sum(good) > 0 and sum(bad) > 0),
        },
        "repetitions better than pMLE*, and much worse than DPE 1SE: " + ", ".join(notes),
    )


def none_matches(rows: Rows, score: str) -> Verdict:
    """Judge whether every method is worse than pMLE* on every function."""
    outcomes, least = list[Outcome](), np.inf
    for function in FUNCTIONS:
        found = _all_repetitions(rows, function, score)
        differences = [mean_of(found[m]) for m in METHODS]
        outcomes += [difference.within(0.0, np.inf) for difference in differences]
        least = min(least, *(difference.mean for difference in differences))
    return read({"mean": all_hold(outcomes)}, f"the least mean relative difference is {least:.3f}")


def reliable(rows: Rows, score: str) -> Verdict:
    """Judge whether DPE and DPE 1SE have the smallest 90 % quantiles and spreads."""
    rivals = ["pe", "md", "score", "mle_nugget"]
    failing: dict[str, list[str]] = {"90 % quantile": [], "standard deviation": []}
    for function, name in FUNCTIONS.items():
        found = _all_repetitions(rows, function, score)
        measures = {"90 % quantile": found.quantile(0.9), "standard deviation": found.std(ddof=1)}
        for measure, of in measures.items():
            failing[measure] += [
                f"{METHODS[m]} {of[m]:.2f} on {name}, {METHODS[str(of[rivals].idxmin())]} "
                f"{of[rivals].min():.2f}"
                for m in ("dpe", "dpe_1se")
                if of[m] >= of[rivals].min()
            ]
    return read(
        {measure: yes(not cases) for measure, cases in failing.items()},
        "; ".join(f"{m} not least: {', '.join(c)}" for m, c in failing.items() if c)
        or "least on all four functions",
    )


def _lams(rows: Rows, function: str, method: str) -> pd.Series:
    """Return the lambda that each repetition chooses."""
    rows.need_repetitions(f"simulation/{function}")
    return rows.by_repetition(f"simulation/{function}", method, "rmse", "lam")


def small_lams(rows: Rows) -> Verdict:
    """Judge whether DPE and DPE 1SE choose smaller lambdas than the others."""
    notes, holds = [], True
    for function, name in FUNCTIONS.items():
        middle = {m: float(_lams(rows, function, m).median()) for m in _PENALIZED}
        holds &= max(middle["dpe"], middle["dpe_1se"]) < min(
            middle[m] for m in ("pe", "md", "score")
        )
        notes.append(f"{name} " + " / ".join(lam_text(middle[m]) for m in _PENALIZED))
    names = " / ".join(METHODS[m] for m in _PENALIZED)
    return verdict(holds, f"median λ of {names}: " + ", ".join(notes))


def large_lams(rows: Rows, method: str) -> Verdict:
    """Judge whether a metric chooses larger lambdas than DPE 1SE, mostly."""
    notes, outcomes = [], list[Outcome]()
    for function, name in FUNCTIONS.items():
        small, large = (_lams(rows, function, m) for m in ("dpe_1se", method))
        outcomes.append(_signs(large, small).within(0.0, np.inf))
        notes.append(f"{(large > small).sum()} of {len(small)} on {name}")
    return read({"sign test": all_hold(outcomes)}, "larger than DPE 1SE in " + ", ".join(notes))


def conservative(rows: Rows) -> Verdict:
    """Judge whether DPE mostly chooses no penalty."""
    shares = {name: (_lams(rows, f, "dpe") == 0.0).mean() for f, name in FUNCTIONS.items()}
    return verdict(
        all(share > 0.5 for share in shares.values()),
        "λ* = 0 in " + ", ".join(f"{share:.0%} on {name}" for name, share in shares.items()),
    )


def scad_like_lasso(rows: Rows, score: str) -> Verdict:
    """Judge whether the two penalties score alike on the same designs and folds."""
    alike, significant, told = list[Outcome](), [], []
    for function, method in product(FUNCTIONS, _PENALIZED):
        parts = [f"{study}/{function}" for study in ("simulation", "simulation-scad")]
        rows.need_repetitions(*parts)
        best = rows.by_repetition(parts[0], "pmle_star", score)
        lasso, scad = (rows.by_repetition(part, method, score) / best for part in parts)
        difference = mean_of((scad - lasso).dropna())
        alike.append(difference.within(-MARGIN, MARGIN))
        significant.append(abs(difference.mean) > MANY_STANDARD_ERRORS * difference.se)
        if abs(difference.mean) > STANDARD_ERRORS * difference.se:
            told.append(f"{METHODS[method]} on {FUNCTIONS[function]} {difference}")
    return read(
        {"no difference": yes(not any(significant)), "alike": all_hold(alike)},
        "SCAD minus lasso beyond two standard errors: " + (", ".join(told) or "nowhere"),
    )
