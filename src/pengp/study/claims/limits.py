"""Claims on limiting forms: Section 3 and Appendices A and B.

The data behind the rows are the Forrester runs; a form has to agree in every fold.
"""

from functools import partial

import numpy as np
import pandas as pd

from pengp.study.claims.base import Claim, Verdict, lam_text, number, verdict
from pengp.study.report_rows import MissingRowsError, Rows

#: Largest error at the theta nearest to the limit, relative to the formula (absolute where that
#: is 0 but for rounding; responses have standard deviation 1).
TOLERANCE = 1e-4
_ZERO_UP_TO = 1e-12
_TEST = (
    f"Formula and computation at the θ nearest to the limit agree to {TOLERANCE:g} in all folds."
)


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


def _agrees(rows: Rows, part: str, metrics: tuple[str, ...]) -> Verdict:
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


def _sigma2_as_printed(rows: Rows, part: str) -> Verdict:
    """Judge Section 3's sigma2, which lacks the factor 1/n: n times the formula."""
    n, formula = 8, rows.number(part, "formula", "sigma2")
    computed = _last(rows, part, "sigma2")
    printed = n * formula
    return verdict(
        abs(computed / printed - 1.0) < TOLERANCE,
        f"computed {number(computed)}, printed form {number(printed)}",
        f"Section 3 leaves out the factor 1/n of its own definition of sigma2; with it the form "
        f"gives {number(formula)} (relative error {abs(computed / formula - 1.0):.1e}).",
    )


def _covariance_as_printed(rows: Rows) -> Verdict:
    """Judge Section 3's covariance for theta to 0, sigma2 times the identity."""
    computed, sigma2 = (_last(rows, "limits/zero-runs", m) for m in ("variance", "sigma2"))
    formula = rows.number("limits/zero-runs", "formula", "variance")
    return verdict(
        abs(computed / sigma2 - 1.0) < TOLERANCE,
        f"variance {number(computed)}, sigma2 {number(sigma2)}",
        "Section 3 leaves out the factor g that the same covariance has in Appendix B, g(I + "
        f"J/(n + g)); with it the variance is {number(formula)}, so it is not inflated by 1/g.",
    )


def _at_run(rows: Rows) -> Verdict:
    part = "limits/infinity-runs"
    mean, y = _last(rows, part, "mean_at_run"), rows.number(part, "approximation", "mean_at_run")
    variance = _last(rows, part, "scaled_variance_at_run")
    return verdict(
        abs(mean - y) < TOLERANCE and abs(variance) < TOLERANCE,
        f"mean {mean:.5f} for y = {y:.5f}, scaled variance {number(variance)}",
        "What remains is of the size of the nugget.",
    )


def _smallest_lambda(rows: Rows) -> Verdict:
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


_ZERO, _INFINITY = "limits/zero", "limits/infinity"
_FORMS: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    (
        "zero-inverse",
        "Section 3, Appendix B.1",
        "θ → 0: R⁻¹ → (I - J/(n + g))/g.",
        _ZERO,
        ("inverse_diagonal", "inverse_off_diagonal"),
    ),
    (
        "zero-mean",
        "Appendix B.2",
        "θ → 0: the predictive mean tends to n_t ȳ₋ₖ/(n_t + g).",
        _ZERO,
        ("mean",),
    ),
    (
        "zero-mean-runs",
        "Section 3",
        "θ → 0: the mean of the surrogate tends to nȳ/(n + g).",
        "limits/zero-runs",
        ("mean",),
    ),
    (
        "zero-covariance",
        "Appendix B.3, B.5",
        "θ → 0: the scaled predictive covariance tends to g(I + J/(n_t + g)), with log determinant "
        "log(1 + n_v/(n_t + g)) + n_v log g.",
        _ZERO,
        ("scaled_variance", "scaled_covariance", "log_determinant"),
    ),
    (
        "zero-sigma2",
        "Appendix B.4",
        "θ → 0: sigma2 tends to y'(I - J/(n_t + g))y/(n_t g).",
        _ZERO,
        ("sigma2",),
    ),
    (
        "zero-md",
        "Section 3, Appendix B.4",
        "θ → 0: MD tends to n_t(y_k'y_k + n_v² ȳ_k²/n_t)/(y'y - n_t ȳ₋ₖ²), without g.",
        _ZERO,
        ("md",),
    ),
    (
        "zero-score",
        "Section 3, Appendix B.5",
        "θ → 0: Score tends to MD - n_v log n_t + n_v log SS + log(1 + n_v/n_t).",
        _ZERO,
        ("score",),
    ),
    (
        "zero-dpe",
        "Section 3",
        "θ → 0: DPE tends to (y_k'y_k + n_v² ȳ_k²/n_t)/g.",
        _ZERO,
        ("dpe",),
    ),
    (
        "zero-pe",
        "Appendix B.6",
        "θ → 0: PE tends to the squared distances to n_t ȳ₋ₖ/(n_t + g).",
        _ZERO,
        ("pe",),
    ),
    (
        "zero-nfold-pe",
        "Appendix B.6",
        "θ → 0, n-fold: PE tends to y_k²((n + g)/(n - 1 + g))².",
        "limits/zero-loo",
        ("pe",),
    ),
    (
        "infinity-inverse",
        "Section 3, Appendix B.7",
        "θ → ∞: R → I.",
        _INFINITY,
        ("inverse_diagonal", "inverse_off_diagonal"),
    ),
    (
        "infinity-prediction",
        "Section 3, Appendix B.7",
        "θ → ∞: the predictive mean tends to 0, the scaled covariance to I.",
        _INFINITY,
        ("mean", "scaled_variance", "scaled_covariance"),
    ),
    ("infinity-pe", "Appendix B.7", "θ → ∞: PE tends to y_k'y_k.", _INFINITY, ("pe",)),
    ("infinity-md", "Appendix B.7", "θ → ∞: MD tends to n_t y_k'y_k/y'y.", _INFINITY, ("md",)),
    (
        "infinity-dpe",
        "Appendix B.7",
        "θ → ∞: DPE tends to y_k'y_k/(1 + g), about y_k'y_k.",
        _INFINITY,
        ("dpe",),
    ),
)

CLAIMS = (
    *(
        Claim(
            f"limits-{name}",
            "limits",
            where,
            paper,
            _TEST,
            partial(_agrees, part=part, metrics=metrics),
        )
        for name, where, paper, part, metrics in _FORMS
    ),
    Claim(
        "limits-at-run",
        "limits",
        "Section 3",
        "θ → ∞: at a run the mean is about its response and the variance about 0.",
        f"Mean and scaled variance at run 7 for the largest θ are within {TOLERANCE:g} of y₇ "
        "and 0.",
        _at_run,
    ),
    Claim(
        "limits-sigma2-infinity-printed",
        "limits",
        "Section 3",
        "θ → ∞: sigma2 = y'y.",
        f"The printed form and the computation for the largest θ agree to {TOLERANCE:g}.",
        partial(_sigma2_as_printed, part="limits/infinity-runs"),
    ),
    Claim(
        "limits-sigma2-zero-printed",
        "limits",
        "Section 3",
        "θ → 0: sigma2 is about y'(I - J/(n + g))y/g.",
        f"The printed form and the computation for the smallest θ agree to {TOLERANCE:g}.",
        partial(_sigma2_as_printed, part="limits/zero-runs"),
    ),
    Claim(
        "limits-covariance-printed",
        "limits",
        "Section 3",
        "λ → ∞: the predictive covariance is about sigma2 I, inflated by the choice of g.",
        f"Predictive variance and sigma2 at the smallest θ agree to {TOLERANCE:g}.",
        _covariance_as_printed,
    ),
    Claim(
        "limits-smallest-lambda",
        "limits",
        "Section 2, Appendix A",
        "λ_max from the KKT conditions is the smallest λ that forces θ = 0.",
        "For the Forrester runs no λ of the grid below λ_max has θ̂ at the lower bound 0.001.",
        _smallest_lambda,
    ),
)
