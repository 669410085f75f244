"""How the claims on the Forrester example are judged: its likelihoods and surrogates (Figure 1)."""

import numpy as np
import pandas as pd

from pengp.choosing.scores import crps_normal
from pengp.study.judges.base import Verdict, matches, number, verdict
from pengp.study.report_rows import Rows, nearest

_SURROGATES, _PATH = "forrester/surrogates", "forrester/path"
#: The surrogate with the theta that the paper prints for an estimated nugget.
_AT_PRINTED = "mle_nugget_printed"
_Z95 = 1.959963984540054
#: Log likelihoods that differ by less cannot be told apart by any data analysis.
PLATEAU = 1e-4
#: A surrogate interpolates if it misses no run by more (the responses' standard deviation is 1).
INTERPOLATES = 0.01


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


def nugget_defines(rows: Rows) -> Verdict:
    """Judge where the likelihood is defined without and with a nugget."""
    without = np.isfinite(rows.along_x("forrester/profiles", "no_nugget", "loglik"))
    fixed = np.isfinite(rows.along_x("forrester/profiles", "fixed_nugget", "loglik"))
    found = f"undefined at {(~without).sum()} of {len(without)} thetas without a nugget"
    if (~without).any():
        found += f", all below {number(without.index[~without].max())}"
    return verdict(
        not without.all() and fixed.all(),
        f"{found}; at {(~fixed).sum()} with g = 1e-5",
    )


def mle_theta(rows: Rows) -> Verdict:
    """Judge the maximum likelihood estimate."""
    theta = rows.number(_SURROGATES, "mle", "theta")
    flat = rows.along_lam(_PATH, "pmle", "flat_lower").iloc[0]
    return verdict(
        matches(theta, "1000"),
        number(theta),
        f"It is the bound of the search: log L is within {PLATEAU:g} of its maximum for every "
        f"theta above {number(flat)}.",
    )


def mle_useless(rows: Rows) -> Verdict:
    """Judge whether that surrogate is far worse than the penalized one."""
    mle, pmle = _Surrogate(rows, "mle"), _Surrogate(rows, "pmle")
    return verdict(
        mle.rmse > 2.0 * pmle.rmse and mle.width > 2.0 * pmle.width,
        f"RMSE {number(mle.rmse)} against {number(pmle.rmse)}, mean width "
        f"{number(mle.width)} against {number(pmle.width)}",
    )


def nugget_theta(rows: Rows) -> Verdict:
    """Judge the estimate that goes with an estimated nugget."""
    ours = rows.number(_SURROGATES, "mle_nugget", "theta")
    best, printed = (
        rows.number(_SURROGATES, method, "loglik") for method in ("mle_nugget", _AT_PRINTED)
    )
    profile = rows.along_x("forrester/profiles", "estimated_nugget", "loglik")
    flat = profile.index[profile > profile.max() - PLATEAU].min()
    if matches(ours, "922.203"):
        return verdict(True, number(ours))
    return verdict(
        best - printed < PLATEAU,
        f"ours {number(ours)}; log L at 922.203 is {best - printed:.1e} below its maximum",
        f"The estimate is not identified: log L is within {PLATEAU:g} of its maximum for every "
        f"theta above {number(flat)}, and there hardly depends on g. Any of them may be printed.",
    )


def nugget_reins_in(rows: Rows) -> Verdict:
    """Judge whether an estimated nugget makes theta smaller."""
    ours, mle = (rows.number(_SURROGATES, m, "theta") for m in ("mle_nugget", "mle"))
    found = f"{number(ours)} with estimated g, {number(mle)} with g = 1e-5"
    plateau = "Both lie on the plateau of the likelihood, where theta is not identified."
    return verdict(ours < 0.999 * mle, found, plateau)


def nugget_at_runs(rows: Rows) -> Verdict:
    """Judge whether the surrogate with an estimated nugget misses the runs."""
    printed, ours, fixed = (_Surrogate(rows, m) for m in (_AT_PRINTED, "mle_nugget", "mle"))
    g, our_g = (rows.number(_SURROGATES, m, "nugget") for m in (_AT_PRINTED, "mle_nugget"))
    return verdict(
        printed.misses > 0.1 and printed.misses > 10.0 * fixed.misses,
        f"misses a run by up to {number(printed.misses)} at the paper's θ, with g = {number(g)}",
        f"Our own estimate, g = {number(our_g)}, misses none by more than {number(ours.misses)}: "
        "on the plateau R is a multiple of the identity and log L does not depend on g, so neither "
        "g is to be preferred.",
    )


def penalized_theta(rows: Rows) -> Verdict:
    """Judge the estimate at lambda = 0.005."""
    theta = rows.number(_SURROGATES, "pmle", "theta")
    return verdict(
        matches(theta, "27.444"),
        f"{theta:.3f} (paper 27.444)",
        f"The two differ by {abs(theta / 27.444 - 1):.2%}; ours maximises Q at lambda = 0.005.",
    )


def penalized_superior(rows: Rows) -> Verdict:
    """Judge whether the penalized surrogate is better than both others."""
    mle, nugget, pmle = (_Surrogate(rows, m) for m in ("mle", "mle_nugget", "pmle"))
    return verdict(
        pmle.rmse < min(mle.rmse, nugget.rmse) and pmle.crps < min(mle.crps, nugget.crps),
        f"RMSE {number(pmle.rmse)} against {number(mle.rmse)} and {number(nugget.rmse)}; CRPS "
        f"{number(pmle.crps)} against {number(mle.crps)} and {number(nugget.crps)}",
    )


def nfold_theta(rows: Rows) -> Verdict:
    """Judge the estimate at the lambda of n-fold cross-validation."""
    lam, theta = nearest(rows.along_lam(_PATH, "pmle", "theta"), 0.0231)
    ours = rows.number(_SURROGATES, "pe", "theta")
    return verdict(
        matches(theta, "10.565"),
        f"{theta:.3f} at lambda = {lam:.4f} (paper 10.565)",
        f"The two differ by {abs(theta / 10.565 - 1):.2%}. At the lambda* that n-fold CV chooses "
        f"here, theta-hat is {number(ours)}.",
    )


def nfold_improves(rows: Rows) -> Verdict:
    """Judge whether the surrogate of n-fold cross-validation predicts better."""
    mle, nugget, pe = (_Surrogate(rows, m) for m in ("mle", "mle_nugget", "pe"))
    printed = _Surrogate(rows, "pe_printed")
    return verdict(
        pe.rmse < min(mle.rmse, nugget.rmse),
        f"RMSE {number(pe.rmse)} against {number(mle.rmse)} and {number(nugget.rmse)}",
        f"At the paper's λ it is {number(printed.rmse)}.",
    )


def nfold_coverage(rows: Rows) -> Verdict:
    """Judge how much of the function its intervals cover."""
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


def one_se_theta(rows: Rows) -> Verdict:
    """Judge the estimate of the one-standard-error rule."""
    theta = rows.number(_SURROGATES, "pe_1se", "theta")
    return verdict(matches(theta, "0.001"), number(theta), "It is the lower bound of the search.")


def one_se_surrogate(rows: Rows) -> Verdict:
    """Judge whether that surrogate is over-smoothed."""
    smooth, pmle = _Surrogate(rows, "pe_1se"), _Surrogate(rows, "pmle")
    return verdict(
        smooth.misses > 0.1 and smooth.width > 2.0 * pmle.width,
        f"misses a run by up to {number(smooth.misses)}, mean width {number(smooth.width)} "
        f"against {number(pmle.width)} at lambda = 0.005",
    )


def nfold_interpolates(rows: Rows) -> Verdict:
    """Judge whether the surrogate of n-fold cross-validation interpolates."""
    misses = _Surrogate(rows, "pe").misses
    return verdict(misses < INTERPOLATES, f"misses no run by more than {number(misses)}")
