"""Claims on limiting forms: Section 3 and Appendices A and B."""

from functools import partial

from pengp.study.claims.base import Claim
from pengp.study.judges import limits as judge
from pengp.study.judges.limits import TOLERANCE, UNBIASED

_TEST = (
    f"Formula and computation at the θ nearest to the limit agree to {TOLERANCE:g} in all folds."
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
            partial(judge.agrees, part=part, metrics=metrics),
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
        judge.at_run,
    ),
    Claim(
        "limits-sigma2-infinity-printed",
        "limits",
        "Section 3",
        "θ → ∞: sigma2 = y'y.",
        f"The printed form and the computation for the largest θ agree to {TOLERANCE:g}.",
        partial(judge.sigma2_as_printed, part="limits/infinity-runs"),
    ),
    Claim(
        "limits-sigma2-zero-printed",
        "limits",
        "Section 3",
        "θ → 0: sigma2 is about y'(I - J/(n + g))y/g.",
        f"The printed form and the computation for the smallest θ agree to {TOLERANCE:g}.",
        partial(judge.sigma2_as_printed, part="limits/zero-runs"),
    ),
    Claim(
        "limits-covariance-printed",
        "limits",
        "Section 3",
        "λ → ∞: the predictive covariance is about sigma2 I, inflated by the choice of g.",
        f"Predictive variance and sigma2 at the smallest θ agree to {TOLERANCE:g}.",
        judge.covariance_as_printed,
    ),
    Claim(
        "limits-smallest-lambda",
        "limits",
        "Section 2, Appendix A",
        "λ_max from the KKT conditions is the smallest λ that forces θ = 0.",
        "For the Forrester runs no λ of the grid below λ_max has θ̂ at the lower bound 0.001.",
        judge.smallest_lambda,
    ),
    Claim(
        "limits-dpe-external",
        "limits",
        "Section 3",
        "With the true θ, DPE / n_v is an unbiased, external estimator of σ².",
        f"Over 4000 data sets drawn from the model the mean of DPE / (n_v σ²) is within "
        f"{UNBIASED:.0%} of 1, two standard errors included.",
        judge.dpe_external,
    ),
    Claim(
        "limits-md-chi-squared",
        "limits",
        "Section 2",
        "With the true θ and σ², MD follows χ² with n_v degrees of freedom.",
        "The Kolmogorov-Smirnov test over 4000 data sets drawn from the model has p ≥ 0.01.",
        judge.md_chi_squared,
    ),
)
