"""How the claims on limiting forms are judged: formula against computation.

The data behind the rows are the Forrester runs; a form has to agree in every fold.
"""

import numpy as np
import pandas as pd
from scipy.stats import chi2, kstest

from pengp.study.judges.base import Verdict, lam_text, mean_of, number, read, verdict
from pengp.study.report_rows import MissingRowsError, Rows

#: Largest error at the theta nearest to the limit, relative to the formula (absolute where that
#: is 0 but for rounding; responses have standard deviation 1).
TOLERANCE = 1e-4
#: Without bias: the mean is within this share of the true value.
UNBIASED = 0.05
_ZERO_UP_TO = 1e-12


def _errors(rows: Rows, part: str, metric: str, method: str) -> pd.Series:
    """Return |computed - formula| of each repetition, relative to the formula."""
    limit = rows.by_repetition(part, method, metric)
    errors = {}
    for repetition, found in rows.pick(part, "computed", metric).groupby("repetition"):
        far_to_near = found["value"].to_numpy()
        size = abs(limit[repetition])
        scale = size if size > _ZERO_UP_TO else 1.0
        errors[repetition] = abs(far_to_near[-1] - limit[repetition]) / scale
    return pd.Series(errors, dtype=float)


def agrees(rows: Rows, part: str, metrics: tuple[str, ...]) -> Verdict:
    """Judge formulas, and the approximations where the paper gives them."""
    have, want = rows.repetitions(part)
    if have < want:
        raise MissingRowsError(f"{have} of {want} folds of {part}")
    worst, simpler = 0.0, []
    for metric in metrics:
        worst = max(worst, float(_errors(rows, part, metric, "formula").max()))
        try:
            simpler.append(float(_errors(rows, part, metric, "approximation").max()))
        except MissingRowsError:
            continue
    note = f"The paper's form without g: largest error {max(simpler):.1e}." if simpler else ""
    return verdict(
        worst < TOLERANCE and max(simpler, default=0.0) < TOLERANCE,
        f"largest relative error {worst:.1e}",
        note,
    )


def _last(rows: Rows, part: str, metric: str) -> float:
    """Return what is computed at the theta nearest to the limit."""
    return float(rows.pick(part, "computed", metric)["value"].iloc[-1])


def sigma2_as_printed(rows: Rows, part: str) -> Verdict:
    """Judge Section 3's sigma2, which lacks the factor 1/n: n times the formula."""
    n, formula = 8, rows.number(part, "formula", "sigma2")
    computed = _last(rows, part, "sigma2")
    printed = n * formula
    return verdict(
        abs(computed / printed - 1.0) < TOLERANCE,
        f"computed {number(computed)}, printed form {number(printed)}",
        f"Section 3 leaves out the factor 1/n of its own definition of sigma2; with it the form "
        f"gives {number(formula)} (relative error {abs(computed / formula - 1.0):.1e}).",
        slip=abs(computed / formula - 1.0) < TOLERANCE,
    )


def covariance_as_printed(rows: Rows) -> Verdict:
    """Judge Section 3's covariance for theta to 0, sigma2 times the identity."""
    computed, sigma2 = (_last(rows, "limits/zero-runs", m) for m in ("variance", "sigma2"))
    formula = rows.number("limits/zero-runs", "formula", "variance")
    return verdict(
        abs(computed / sigma2 - 1.0) < TOLERANCE,
        f"variance {number(computed)}, sigma2 {number(sigma2)}",
        "Section 3 leaves out the factor g that the same covariance has in Appendix B, g(I + "
        f"J/(n + g)); with it the variance is {number(formula)}, so it is not inflated by 1/g.",
        slip=abs(computed / formula - 1.0) < TOLERANCE,
    )


def at_run(rows: Rows) -> Verdict:
    """Judge mean and variance at a run for the largest theta."""
    part = "limits/infinity-runs"
    mean, y = _last(rows, part, "mean_at_run"), rows.number(part, "approximation", "mean_at_run")
    variance = _last(rows, part, "scaled_variance_at_run")
    return verdict(
        abs(mean - y) < TOLERANCE and abs(variance) < TOLERANCE,
        f"mean {mean:.5f} for y = {y:.5f}, scaled variance {number(variance)}",
        "What remains is of the size of the nugget.",
    )


def smallest_lambda(rows: Rows) -> Verdict:
    """Judge whether no smaller lambda than that of Appendix A gives theta = 0."""
    bound = rows.number("limits/kkt-forrester", "formula", "lambda_max")
    theta = rows.along_lam("forrester/path", "pmle", "theta")
    at_bound = theta.index[np.isclose(theta, theta.min()) & (theta < 0.0011)]
    if len(at_bound) == 0:
        return verdict(True, f"λ_max = {number(bound)}, no λ of the grid gives θ̂ = 0.001")
    first = float(at_bound.min())
    return verdict(
        first >= bound,
        f"λ_max = {number(bound)}, but θ̂ is at its lower bound from λ = {lam_text(first)} on",
        "The condition is local: it says when θ = 0 is a local maximum of Q, not the global one.",
    )


def dpe_external(rows: Rows) -> Verdict:
    """Judge whether DPE / n_v estimates sigma2 without bias where theta is the true one."""
    ratio = mean_of(rows.along_x("limits/model", "true", "sigma2_ratio"))
    outcome = ratio.within(1.0 - UNBIASED, 1.0 + UNBIASED)
    return read(
        {"equivalence": outcome},
        f"mean of DPE / (n_v σ²) {ratio.mean:.3f} \N{PLUS-MINUS SIGN} {ratio.se:.3f}",
    )


def md_chi_squared(rows: Rows) -> Verdict:
    """Judge whether MD with the true theta and sigma2 follows chi-squared."""
    md = rows.along_x("limits/model", "true", "md")
    held_out = int(rows.number("limits/model", "true", "n_v"))
    p = float(kstest(md.to_numpy(), chi2(held_out).cdf).pvalue)
    estimated = rows.along_x("limits/model", "estimated", "md").mean()
    return verdict(
        p >= 0.01,
        f"Kolmogorov-Smirnov p = {p:.2f} with {held_out} degrees of freedom, mean {md.mean():.2f}",
        f"With sigma2 estimated from the other runs, as cross-validation does, the mean is "
        f"{estimated:.2f}.",
    )
