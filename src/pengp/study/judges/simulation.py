"""How the claims on Section 4 are judged: comparisons of methods over repetitions.

A method's relative difference in a repetition is its score divided by that of pMLE*, minus 1. Two
methods are compared by the mean of their paired differences over the repetitions; one is better or
worse if that mean is beyond two of its standard errors.
"""

from collections.abc import Iterable
from itertools import product

import numpy as np
import pandas as pd

from pengp.study.judges.base import (
    METRICS,
    STANDARD_ERRORS,
    Difference,
    Verdict,
    lam_text,
    mean_of,
    number,
    standard_error,
    verdict,
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
_WORST = ("md", "score")
_OTHERS = ("mle", "mle_nugget", "pe", "dpe", "dpe_1se")
_PENALIZED = ("pe", "md", "score", "dpe", "dpe_1se")
#: Forty comparisons are made at once.
_MANY_STANDARD_ERRORS = 3.0


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


def _compare(rows: Rows, function: str, score: str, one: str, other: str) -> Difference:
    """Return the mean of one method's relative difference minus another's."""
    found = _all_repetitions(rows, function, score)
    return mean_of(found[one] - found[other])


def _side(difference: Difference, wanted: str) -> str:
    """Return what to say of a difference that does not hold as wanted."""
    right = (difference.mean < 0.0) == (wanted == "below")
    if right and not getattr(difference, wanted):
        return " (the stated sign, but within two standard errors)"
    return "" if right else " (the other sign)"


def near_mle(rows: Rows, score: str) -> Verdict:
    """Judge whether DPE and MLE are closely aligned on every function."""
    notes, holds = [], True
    for function, name in FUNCTIONS.items():
        found = _all_repetitions(rows, function, score)
        apart = float(found["dpe"].mean() - found["mle"].mean())
        allowed = STANDARD_ERRORS * standard_error(found["mle"])
        holds &= abs(apart) <= allowed
        notes.append(f"{name} {apart:+.3f} (allowed {allowed:.3f})")
    return verdict(holds, "mean of DPE minus mean of MLE: " + ", ".join(notes))


def worst(rows: Rows, score: str) -> Verdict:
    """Judge whether MD and Score are the worst on every function."""
    failing, means = [], []
    for function, name in FUNCTIONS.items():
        found = _all_repetitions(rows, function, score)
        means.append(f"{name} {' / '.join(f'{found[m].mean():.2f}' for m in METHODS)}")
        for bad, other in product(_WORST, _OTHERS):
            difference = mean_of(found[bad] - found[other])
            if difference.below or (other == "mle" and not difference.above):
                failing.append(
                    f"{METHODS[bad]} against {METHODS[other]} on {name} {difference}"
                    f"{_side(difference, 'above')}"
                )
    return verdict(
        not failing,
        "not worst: " + "; ".join(failing) if failing else "worst on all four functions",
        f"Means of {' / '.join(METHODS.values())}: {'; '.join(means)}.",
    )


def against_mle(rows: Rows, function: str, score: str, one: str, wanted: str) -> Verdict:
    """Judge whether a method's mean is below or above the MLE's."""
    difference = _compare(rows, function, score, one, "mle")
    found = _all_repetitions(rows, function, score)
    paired = found[one] - found["mle"]
    return verdict(
        getattr(difference, wanted),
        f"mean difference {difference}{_side(difference, wanted)}",
        f"Medians {found[one].median():.3f} and {found['mle'].median():.3f}; better than MLE in "
        f"{(paired < 0).sum()}, worse in {(paired > 0).sum()} of {len(paired)} repetitions. "
        f"Against the best of ten starts that the paper's search takes for the MLE: "
        f"{mean_of(found[one] - found[TEN_STARTS])}.",
    )


def not_better(rows: Rows, score: str) -> Verdict:
    """Judge whether PE is nowhere better than MLE but on Lim."""
    found = {
        name: _compare(rows, function, score, "pe", "mle")
        for function, name in FUNCTIONS.items()
        if function != "lim"
    }
    return verdict(
        not any(d.below for d in found.values()),
        "PE minus MLE: " + ", ".join(f"{name} {d}" for name, d in found.items()),
    )


def mostly(rows: Rows, score: str, functions: Iterable[str], sign: float) -> Verdict:
    """Judge whether DPE 1SE is better (sign -1) or worse (+1) than MLE in most repetitions."""
    notes, holds = [], True
    for function in functions:
        found = _all_repetitions(rows, function, score)
        paired = sign * (found["dpe_1se"] - found["mle"])
        yes, no = int((paired > 0).sum()), int((paired < 0).sum())
        # The count of an even chance has the standard error sqrt(yes + no) / 2.
        holds &= yes - no > STANDARD_ERRORS * np.sqrt(yes + no)
        notes.append(f"{FUNCTIONS[function]} {yes} to {no}")
    return verdict(bool(holds), ("worse" if sign > 0 else "better") + ": " + ", ".join(notes))


def beats(rows: Rows, score: str, one: str) -> Verdict:
    """Judge whether a method is better than PE, MD and Score on every function."""
    failing, others = [], ("pe", "md", "score")
    for function, name in FUNCTIONS.items():
        found = _all_repetitions(rows, function, score)
        for other in others:
            difference = mean_of(found[one] - found[other])
            if not difference.below:
                failing.append(
                    f"{METHODS[other]} on {name} {difference}{_side(difference, 'below')}"
                )
    total = len(FUNCTIONS) * len(others)
    return verdict(
        not failing,
        f"better in {total - len(failing)} of {total} comparisons",
        "Not better than " + "; ".join(failing) + "." if failing else "",
    )


def nugget_varies(rows: Rows, score: str) -> Verdict:
    """Judge whether MLE with estimated g is at times very good and at times very bad."""
    notes, holds = [], True
    for function, name in FUNCTIONS.items():
        found = _all_repetitions(rows, function, score)
        improves = int((found["mle_nugget"] < 0.0).sum())
        worse = int((found["mle_nugget"] - found["dpe_1se"] > 0.5).sum())
        holds &= improves > 0 and worse > 0
        notes.append(f"{name} {improves} and {worse}")
    return verdict(
        holds, "repetitions better than pMLE*, and much worse than DPE 1SE: " + ", ".join(notes)
    )


def none_matches(rows: Rows, score: str) -> Verdict:
    """Judge whether every method is worse than pMLE* on every function."""
    failing = []
    for function, name in FUNCTIONS.items():
        found = _all_repetitions(rows, function, score)
        failing += [
            f"{METHODS[m]} on {name} {mean_of(found[m])}"
            for m in METHODS
            if not mean_of(found[m]).above
        ]
    return verdict(not failing, "; ".join(failing) or "every mean is above that of pMLE*")


def reliable(rows: Rows, score: str) -> Verdict:
    """Judge whether DPE and DPE 1SE have the smallest 90 % quantiles on every function."""
    failing = []
    for function, name in FUNCTIONS.items():
        ninth = _all_repetitions(rows, function, score).quantile(0.9)
        rivals = ninth[["pe", "md", "score", "mle_nugget"]]
        failing += [
            f"{METHODS[m]} {ninth[m]:.2f} on {name}, {METHODS[str(rivals.idxmin())]} "
            f"{rivals.min():.2f}"
            for m in ("dpe", "dpe_1se")
            if ninth[m] >= rivals.min()
        ]
    return verdict(not failing, "; ".join(failing) or "smallest on all four functions")


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


def large_lams(rows: Rows) -> Verdict:
    """Judge whether MD and Score choose larger lambdas than DPE 1SE, mostly."""
    notes, holds = [], True
    for function, name in FUNCTIONS.items():
        small = _lams(rows, function, "dpe_1se")
        for method in _WORST:
            larger = int((_lams(rows, function, method) > small).sum())
            holds &= 2 * larger - len(small) > STANDARD_ERRORS * np.sqrt(len(small))
            notes.append(f"{METHODS[method]} on {name} {larger} of {len(small)}")
    return verdict(bool(holds), "larger than DPE 1SE: " + ", ".join(notes))


def conservative(rows: Rows) -> Verdict:
    """Judge whether DPE mostly chooses no penalty."""
    shares = {name: (_lams(rows, f, "dpe") == 0.0).mean() for f, name in FUNCTIONS.items()}
    return verdict(
        all(share > 0.5 for share in shares.values()),
        "λ* = 0 in " + ", ".join(f"{share:.0%} on {name}" for name, share in shares.items()),
    )


def scad_like_lasso(rows: Rows, score: str) -> Verdict:
    """Judge whether the two penalties score alike, on independent draws."""
    failing, largest = [], 0.0
    for function, name in FUNCTIONS.items():
        parts = [f"{study}/{function}" for study in ("simulation", "simulation-scad")]
        rows.need_repetitions(*parts)
        for method in _PENALIZED:
            lasso, scad = (rows.by_repetition(part, method, score) for part in parts)
            apart = float(scad.mean() - lasso.mean()) / float(
                np.hypot(standard_error(scad), standard_error(lasso))
            )
            largest = max(largest, abs(apart))
            if abs(apart) > _MANY_STANDARD_ERRORS:
                failing.append(
                    f"{METHODS[method]} on {name} {number(lasso.mean())} and {number(scad.mean())}"
                )
    return verdict(
        not failing,
        f"means differ by up to {largest:.1f} standard errors",
        "Lasso and SCAD: " + "; ".join(failing) + "." if failing else "",
    )
