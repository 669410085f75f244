"""How the claims on the Forrester example are judged: its likelihoods and surrogates (Figure 1)."""

import numpy as np
import pandas as pd

from pengp.choosing.scores import crps_normal
from pengp.study.judges.base import PLATEAU, Verdict, matches, number, read, verdict, yes
from pengp.study.report_rows import Rows, nearest

_SURROGATES, _PATH = "forrester/surrogates", "forrester/path"
#: The surrogate with the theta that the paper prints for an estimated nugget.
_AT_PRINTED = "mle_nugget_printed"
_Z95 = 1.959963984540054
_RUNS = 8
#: A surrogate interpolates if it misses no run by more (the responses' standard deviation is 1).
INTERPOLATES = 0.01
#: "Poor coverage" of 95 % intervals.
POOR = 0.5


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


def _objective(rows: Rows, method: str) -> float:
    """Return Q of a surrogate with the lasso, log L - n lambda theta."""
    theta = rows.pick(_SURROGATES, method, "theta")
    lam, at = float(theta["lam"].iloc[0]), float(theta["value"].iloc[0])
    return rows.number(_SURROGATES, method, "loglik") - _RUNS * lam * at


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
        tolerance=flat <= theta <= 1000.0,
    )


def mle_useless(rows: Rows) -> Verdict:
    """Judge whether that surrogate is far worse than the penalized one."""
    mle, pmle = _Surrogate(rows, "mle"), _Surrogate(rows, "pmle")
    return verdict(
        mle.rmse > 2.0 * pmle.rmse and mle.width > 2.0 * pmle.width,
        f"RMSE {number(mle.rmse)} against {number(pmle.rmse)}, mean width "
        f"{number(mle.width)} against {number(pmle.width)}",
    )


def _shortfall(rows: Rows) -> float:
    """Return how far log L with an estimated nugget is below its maximum at the printed theta."""
    best, printed = (rows.number(_SURROGATES, m, "loglik") for m in ("mle_nugget", _AT_PRINTED))
    return best - printed


def nugget_theta(rows: Rows) -> Verdict:
    """Judge the estimate that goes with an estimated nugget."""
    ours, short = rows.number(_SURROGATES, "mle_nugget", "theta"), _shortfall(rows)
    return verdict(
        matches(ours, "922.203"),
        f"ours {number(ours)}; log L at 922.203 is {short:.1e} below its maximum",
        tolerance=short < PLATEAU,
    )


def nugget_reins_in(rows: Rows) -> Verdict:
    """Judge whether an estimated nugget makes theta smaller."""
    ours, mle = (rows.number(_SURROGATES, m, "theta") for m in ("mle_nugget", "mle"))
    return verdict(
        ours < 0.999 * mle,
        f"{number(ours)} with estimated g, {number(mle)} with g = 1e-5",
        f"With estimated g, log L at 922.203 is {_shortfall(rows):.1e} below its maximum.",
        tolerance=_shortfall(rows) < PLATEAU,
    )


def nugget_at_runs(rows: Rows) -> Verdict:
    """Judge whether the surrogate with an estimated nugget misses the runs."""
    ours, printed, fixed = (_Surrogate(rows, m) for m in ("mle_nugget", _AT_PRINTED, "mle"))
    g, our_g = (rows.number(_SURROGATES, m, "nugget") for m in (_AT_PRINTED, "mle_nugget"))

    def fails(surrogate: _Surrogate) -> bool:
        return surrogate.misses > 0.1 and surrogate.misses > 10.0 * fixed.misses

    return verdict(
        fails(ours),
        f"our estimate, g = {number(our_g)}, misses no run by more than {number(ours.misses)}; at "
        f"the paper's θ the most likely g is {number(g)}, and a run is missed by "
        f"{number(printed.misses)}",
        "On the plateau R is a multiple of the identity and log L does not depend on g.",
        tolerance=fails(printed) and _shortfall(rows) < PLATEAU,
    )


def penalized_theta(rows: Rows) -> Verdict:
    """Judge the estimate at lambda = 0.005."""
    theta = rows.number(_SURROGATES, "pmle", "theta")
    short = _objective(rows, "pmle") - _objective(rows, "pmle_theta")
    return verdict(
        matches(theta, "27.444"),
        f"{theta:.3f} (paper 27.444)",
        f"Q at 27.444 is {short:.1e} below its maximum.",
        tolerance=short < PLATEAU,
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
    short = _objective(rows, "pe_printed") - _objective(rows, "pe_printed_theta")
    return verdict(
        matches(theta, "10.565"),
        f"{theta:.3f} at lambda = {lam:.4f} (paper 10.565)",
        f"Q at 10.565 is {short:.1e} below its maximum.",
        tolerance=short < PLATEAU,
    )


def nfold_improves(rows: Rows) -> Verdict:
    """Judge whether the surrogate of n-fold cross-validation predicts better."""
    mle, nugget = (_Surrogate(rows, m) for m in ("mle", "mle_nugget"))
    pe, printed = (_Surrogate(rows, m) for m in ("pe", "pe_printed"))
    worst = min(mle.rmse, nugget.rmse)
    return read(
        {"at the λ* found": yes(pe.rmse < worst), "at the printed λ": yes(printed.rmse < worst)},
        f"RMSE {number(pe.rmse)}, at the paper's λ {number(printed.rmse)}, against "
        f"{number(mle.rmse)} and {number(nugget.rmse)}",
    )


def nfold_coverage(rows: Rows) -> Verdict:
    """Judge how much of the function its intervals cover, at larger inputs and at smaller ones."""
    (high, low), (high_printed, low_printed) = (_coverage(rows, m) for m in ("pe", "pe_printed"))
    return read(
        {
            "poor for larger x": yes(max(high, high_printed) < POOR),
            "poor for larger x alone": yes(max(high, high_printed) < POOR <= min(low, low_printed)),
        },
        f"{high:.0%} of the inputs above 0.5 covered, {low:.0%} of those up to 0.5; at the "
        f"paper's λ {high_printed:.0%} and {low_printed:.0%}",
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


def variance_falls(rows: Rows) -> Verdict:
    """Judge whether predictive variances fall at first as lambda leaves 0, and rise later."""
    variance = rows.along_lam(_PATH, "pmle", "variance")
    at = int(variance.argmin())
    lam = float(variance.index.to_numpy()[at])
    return verdict(
        variance.iloc[1] < variance.iloc[0] and 0 < at < len(variance) - 1,
        f"mean variance {number(variance.iloc[0])} at λ = 0, {number(variance.iloc[1])} at the "
        f"next λ, least ({number(variance.min())}) at {lam:.4f}, {number(variance.iloc[-1])} at "
        "the largest",
    )
