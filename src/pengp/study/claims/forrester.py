"""Claims on the Forrester example: its likelihoods, estimates and surrogates (Figure 1)."""

import numpy as np
import pandas as pd

from pengp.choosing.scores import crps_normal
from pengp.study.claims.base import PRINTED, Claim, Verdict, matches, number, verdict
from pengp.study.report_rows import Rows, nearest

_SURROGATES, _PATH = "forrester/surrogates", "forrester/path"
#: The surrogate with the theta that the paper prints for an estimated nugget.
_AT_PRINTED = "mle_nugget_printed"
_Z95 = 1.959963984540054
#: Log likelihoods that differ by less cannot be told apart by any data analysis.
_PLATEAU = 1e-4
#: A surrogate interpolates if it misses no run by more (the responses' standard deviation is 1).
_INTERPOLATES = 0.01


class _Surrogate:
    """What the rows say about one surrogate of Figure 1, judged on the 281 inputs drawn."""

    def __init__(self, rows: Rows, method: str) -> None:
        truth = rows.along_x(_SURROGATES, "truth", "response")
        runs = rows.along_x(_SURROGATES, "runs", "response")
        mean, lower, upper = (
            rows.along_x(_SURROGATES, method, metric) for metric in ("mean", "lower", "upper")
        )
        self.rmse = float(np.sqrt(((mean - truth) ** 2).mean()))
        self.width = float((upper - lower).mean())
        self.misses = float((mean - runs).abs().max())  # other inputs have no run and drop out
        self.covered: pd.Series = (truth >= lower) & (truth <= upper)
        std = (upper - lower).to_numpy() / (2.0 * _Z95)
        self.crps = crps_normal(truth, mean, std)


def _nugget_defines(rows: Rows) -> Verdict:
    without = np.isfinite(rows.along_x("forrester/profiles", "no_nugget", "loglik"))
    fixed = np.isfinite(rows.along_x("forrester/profiles", "fixed_nugget", "loglik"))
    found = f"undefined at {(~without).sum()} of {len(without)} thetas without a nugget"
    if (~without).any():
        found += f", all below {number(without.index[~without].max())}"
    return verdict(
        not without.all() and fixed.all(),
        f"{found}; at {(~fixed).sum()} with g = 1e-5",
    )


def _mle_theta(rows: Rows) -> Verdict:
    theta = rows.number(_SURROGATES, "mle", "theta")
    flat = rows.along_lam(_PATH, "pmle", "flat_lower").iloc[0]
    return verdict(
        matches(theta, "1000"),
        number(theta),
        f"It is the bound of the search: log L is within {_PLATEAU:g} of its maximum for every "
        f"theta above {number(flat)}.",
    )


def _mle_useless(rows: Rows) -> Verdict:
    mle, pmle = _Surrogate(rows, "mle"), _Surrogate(rows, "pmle")
    return verdict(
        mle.rmse > 2.0 * pmle.rmse and mle.width > 2.0 * pmle.width,
        f"RMSE {number(mle.rmse)} against {number(pmle.rmse)}, mean width "
        f"{number(mle.width)} against {number(pmle.width)}",
    )


def _nugget_theta(rows: Rows) -> Verdict:
    ours = rows.number(_SURROGATES, "mle_nugget", "theta")
    best, printed = (
        rows.number(_SURROGATES, method, "loglik") for method in ("mle_nugget", _AT_PRINTED)
    )
    profile = rows.along_x("forrester/profiles", "estimated_nugget", "loglik")
    flat = profile.index[profile > profile.max() - _PLATEAU].min()
    if matches(ours, "922.203"):
        return verdict(True, number(ours))
    return verdict(
        best - printed < _PLATEAU,
        f"ours {number(ours)}; log L at 922.203 is {best - printed:.1e} below its maximum",
        f"The estimate is not identified: log L is within {_PLATEAU:g} of its maximum for every "
        f"theta above {number(flat)}, and there hardly depends on g. Any of them may be printed.",
    )


def _nugget_reins_in(rows: Rows) -> Verdict:
    ours, mle = (rows.number(_SURROGATES, m, "theta") for m in ("mle_nugget", "mle"))
    found = f"{number(ours)} with estimated g, {number(mle)} with g = 1e-5"
    plateau = "Both lie on the plateau of the likelihood, where theta is not identified."
    return verdict(ours < 0.999 * mle, found, plateau)


def _nugget_at_runs(rows: Rows) -> Verdict:
    printed, ours, fixed = (_Surrogate(rows, m) for m in (_AT_PRINTED, "mle_nugget", "mle"))
    g, our_g = (rows.number(_SURROGATES, m, "nugget") for m in (_AT_PRINTED, "mle_nugget"))
    return verdict(
        printed.misses > 0.1 and printed.misses > 10.0 * fixed.misses,
        f"misses a run by up to {number(printed.misses)} at the paper's θ, with g = {number(g)}",
        f"Our own estimate, g = {number(our_g)}, misses none by more than {number(ours.misses)}: "
        "on the plateau R is a multiple of the identity and log L does not depend on g, so neither "
        "g is to be preferred.",
    )


def _penalized_theta(rows: Rows) -> Verdict:
    theta = rows.number(_SURROGATES, "pmle", "theta")
    return verdict(
        matches(theta, "27.444"),
        f"{theta:.3f} (paper 27.444)",
        f"The two differ by {abs(theta / 27.444 - 1):.2%}; ours maximises Q at lambda = 0.005.",
    )


def _penalized_superior(rows: Rows) -> Verdict:
    mle, nugget, pmle = (_Surrogate(rows, m) for m in ("mle", "mle_nugget", "pmle"))
    return verdict(
        pmle.rmse < min(mle.rmse, nugget.rmse) and pmle.crps < min(mle.crps, nugget.crps),
        f"RMSE {number(pmle.rmse)} against {number(mle.rmse)} and {number(nugget.rmse)}; CRPS "
        f"{number(pmle.crps)} against {number(mle.crps)} and {number(nugget.crps)}",
    )


def _nfold_theta(rows: Rows) -> Verdict:
    lam, theta = nearest(rows.along_lam(_PATH, "pmle", "theta"), 0.0231)
    ours = rows.number(_SURROGATES, "pe", "theta")
    return verdict(
        matches(theta, "10.565"),
        f"{theta:.3f} at lambda = {lam:.4f} (paper 10.565)",
        f"The two differ by {abs(theta / 10.565 - 1):.2%}. At the lambda* that n-fold CV chooses "
        f"here, theta-hat is {number(ours)}.",
    )


def _nfold_improves(rows: Rows) -> Verdict:
    mle, nugget, pe = (_Surrogate(rows, m) for m in ("mle", "mle_nugget", "pe"))
    printed = _Surrogate(rows, "pe_printed")
    return verdict(
        pe.rmse < min(mle.rmse, nugget.rmse),
        f"RMSE {number(pe.rmse)} against {number(mle.rmse)} and {number(nugget.rmse)}",
        f"At the paper's λ it is {number(printed.rmse)}.",
    )


def _nfold_coverage(rows: Rows) -> Verdict:
    (high, low), printed = (_coverage(rows, method) for method in ("pe", "pe_printed"))
    return verdict(
        high < 0.5,
        f"{high:.0%} of the inputs above 0.5 covered",
        f"Up to 0.5 it is {low:.0%}. At the paper's λ: {printed[0]:.0%} and {printed[1]:.0%}.",
    )


def _coverage(rows: Rows, method: str) -> tuple[float, float]:
    """Return the share of inputs covered above 0.5, and up to 0.5."""
    covered = _Surrogate(rows, method).covered
    high = covered.index > 0.5
    return float(covered[high].mean()), float(covered[~high].mean())


def _one_se_theta(rows: Rows) -> Verdict:
    theta = rows.number(_SURROGATES, "pe_1se", "theta")
    return verdict(matches(theta, "0.001"), number(theta), "It is the lower bound of the search.")


def _one_se_surrogate(rows: Rows) -> Verdict:
    smooth, pmle = _Surrogate(rows, "pe_1se"), _Surrogate(rows, "pmle")
    return verdict(
        smooth.misses > 0.1 and smooth.width > 2.0 * pmle.width,
        f"misses a run by up to {number(smooth.misses)}, mean width {number(smooth.width)} "
        f"against {number(pmle.width)} at lambda = 0.005",
    )


def _nfold_interpolates(rows: Rows) -> Verdict:
    misses = _Surrogate(rows, "pe").misses
    return verdict(misses < _INTERPOLATES, f"misses no run by more than {number(misses)}")


_CURVE = "on the 281 inputs of the figure"

CLAIMS = (
    Claim(
        "forrester-nugget-defines-likelihood",
        "forrester",
        "Section 1, Figure 1(a)",
        "With g = 0 the log likelihood disappears as θ → 0; with g = 1e-5 it is well defined for "
        "all θ.",
        "log L without nugget is not finite at some θ, with g = 1e-5 finite at all 241.",
        _nugget_defines,
    ),
    Claim(
        "forrester-theta-mle",
        "forrester",
        "Section 1, Figure 1(b)",
        "The MLE with g = 1e-5 is θ̂ = 1000.",
        f"θ̂ is {PRINTED}.",
        _mle_theta,
    ),
    Claim(
        "forrester-mle-useless",
        "forrester",
        "Section 1, Figure 1(b)",
        "The MLE's surrogate is practically useless: poor predictions and excessively large "
        "intervals.",
        f"RMSE and mean width of the 95 % interval {_CURVE} are more than twice those at "
        "λ = 0.005.",
        _mle_useless,
    ),
    Claim(
        "forrester-theta-nugget",
        "forrester",
        "Section 1, Figure 1(c)",
        "With an estimated nugget θ̂ = 922.203.",
        f"θ̂ is {PRINTED}, or log L at 922.203 is within {_PLATEAU:g} of its maximum.",
        _nugget_theta,
    ),
    Claim(
        "forrester-nugget-reins-in",
        "forrester",
        "Section 1",
        "Estimating g slightly reins in the MLE of θ.",
        "θ̂ with estimated g is smaller than with g = 1e-5 by more than 0.1 %.",
        _nugget_reins_in,
    ),
    Claim(
        "forrester-nugget-at-runs",
        "forrester",
        "Section 1, Figure 1(c)",
        "The surrogate with estimated g even fails at the training data.",
        "At θ = 922.203 and the most likely g there it misses a run by more than 0.1 standard "
        "deviations, and ten times as far as with g = 1e-5.",
        _nugget_at_runs,
    ),
    Claim(
        "forrester-theta-penalized",
        "forrester",
        "Section 1, Figure 1(d)",
        "At λ = 0.005, θ̂ = 27.444.",
        f"θ̂ is {PRINTED}.",
        _penalized_theta,
    ),
    Claim(
        "forrester-penalized-superior",
        "forrester",
        "Section 1, Figure 1(d)",
        "The surrogate at λ = 0.005 is superior to both unpenalized ones in predictions and "
        "uncertainty.",
        f"Smaller RMSE and smaller CRPS than both, {_CURVE}.",
        _penalized_superior,
    ),
    Claim(
        "forrester-nfold-theta",
        "forrester",
        "Section 1, Figure 1(e)",
        "At the λ of n-fold CV on PE, θ̂ = 10.565.",
        f"θ̂ at the grid's λ = 0.0231, which the paper prints as 0.02, is {PRINTED}.",
        _nfold_theta,
    ),
    Claim(
        "forrester-nfold-improves",
        "forrester",
        "Section 1, Figure 1(e)",
        "The surrogate of n-fold CV on PE predicts better than the unpenalized ones.",
        f"Smaller RMSE than both, {_CURVE}.",
        _nfold_improves,
    ),
    Claim(
        "forrester-nfold-coverage",
        "forrester",
        "Section 1, Figure 1(e)",
        "Its coverage is poor for larger x.",
        "The 95 % interval covers the function at less than half of the inputs above 0.5.",
        _nfold_coverage,
    ),
    Claim(
        "forrester-1se-theta",
        "forrester",
        "Section 1, Figure 1(f)",
        "There θ̂ = 0.001.",
        f"θ̂ is {PRINTED}.",
        _one_se_theta,
    ),
    Claim(
        "forrester-1se-surrogate",
        "forrester",
        "Section 1, Figure 1(f)",
        "That surrogate is over-smoothed, fails to interpolate and has large uncertainty.",
        "It misses a run by more than 0.1 standard deviations; mean width of the 95 % interval is "
        "more than twice that at λ = 0.005.",
        _one_se_surrogate,
    ),
    Claim(
        "forrester-nfold-interpolates",
        "forrester",
        "Appendix B",
        "n-fold CV on PE avoids a λ whose surrogate fails to interpolate the data.",
        f"The surrogate of n-fold λ* misses no run by {_INTERPOLATES:g} standard deviations.",
        _nfold_interpolates,
    ),
)
