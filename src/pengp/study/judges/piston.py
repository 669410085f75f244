"""How the claims on the piston slap noise data are judged (Section 5 and Appendix E)."""

import numpy as np
import pandas as pd

from pengp.study.judges.base import (
    METRICS,
    PLATEAU,
    SCORES,
    Outcome,
    Verdict,
    count,
    lam_text,
    larger,
    matches,
    number,
    read,
    signed,
    verdict,
    yes,
)
from pengp.study.report_rows import MissingRowsError, Rows, nearest

METHODS = {"pe": METRICS["pe"], "dpe": METRICS["dpe"], "dpe_1se": f"{METRICS['dpe']} 1SE"}
ISOTROPIC, ANISOTROPIC = "piston-slap/isotropic", "piston-slap/anisotropic"
#: "Generally small" and "significant" relative differences; "occasionally".
SMALL, LARGE, OCCASIONALLY = 0.05, 0.1, 0.5
#: Quantities that agree to this share are the same.
SAME = 0.01


def against_mle(
    rows: Rows, part: str, method: str, score: str, *, enough: bool = True
) -> pd.Series:
    """Return the relative difference to the MLE of what each draw of folds chooses.

    With ``enough`` the paper's draws have to be there.
    """
    if enough:
        rows.need_repetitions(part)
    along = rows.along_lam(f"{part}-test", "pmle", score)
    chosen = rows.by_repetition(part, method, "chosen")
    scores = along.reindex(chosen.to_numpy()).to_numpy()
    return pd.Series(scores / along.iloc[0] - 1.0, index=chosen.index)


def _estimates(rows: Rows, part: str, lam: float) -> tuple[float, dict[str, float]]:
    """Return the grid's lambda nearest to a printed one, and sigma2 and theta there."""
    at, sigma2 = nearest(rows.along_lam(f"{part}-path", "pmle", "sigma2"), lam)
    theta = rows.pick(f"{part}-path", "pmle", "theta")
    found = theta[theta["lam"] == at]
    names = ["θ" if x != x else f"θ{x:.0f}" for x in found["x"]]
    return at, {"σ²": sigma2, **dict(zip(names, map(float, found["value"]), strict=True))}


def printed_estimates(rows: Rows, part: str, lam: float, printed: dict[str, str]) -> Verdict:
    """Judge a column of the paper's tables of estimates."""
    at, found = _estimates(rows, part, lam)
    wrong = [name for name, text in printed.items() if not matches(found[name], text)]
    different = ", ".join(f"{name} is {printed[name]} in the paper" for name in wrong)
    return verdict(
        not wrong,
        ", ".join(f"{name} {found[name]:.3f}" for name in printed),
        f"At the grid's λ = {lam_text(at)}" + (f"; {different}." if different else "."),
    )


def _plateau_short(rows: Rows) -> float:
    """Return how far log L of the isotropic model is below its maximum at the printed theta."""
    part = f"{ISOTROPIC}-path"
    best = nearest(rows.along_lam(part, "pmle", "loglik"), 0.0)[1]
    return best - rows.number(part, "plateau", "loglik")


def plateau(rows: Rows) -> Verdict:
    """Judge the isotropic MLE, of which every value on a plateau is one."""
    part = f"{ISOTROPIC}-path"
    ours = nearest(rows.along_lam(part, "pmle", "theta"), 0.0)[1]
    sigma2, short = rows.number(part, "plateau", "sigma2"), _plateau_short(rows)
    lower = nearest(rows.along_lam(part, "pmle", "flat_lower"), 0.0)[1]
    return verdict(
        matches(ours, "18.992") and matches(sigma2, "0.917"),
        f"ours {ours:.3f}; log L at 18.992 is {short:.1e} below the maximum, σ² there {sigma2:.3f}",
        f"The estimate is not identified: log L is within {PLATEAU:g} of its maximum for every "
        f"theta above {number(lower)}.",
        tolerance=short < PLATEAU and matches(sigma2, "0.917"),
    )


def mle_scores(rows: Rows) -> Verdict:
    """Judge the isotropic MLE's scores, found and at the theta that the paper prints."""
    part, printed = f"{ISOTROPIC}-test", {"rmse": "0.879", "crps": "0.505"}
    at_paper = {score: rows.number(part, "plateau", score) for score in SCORES}
    ours = {score: nearest(rows.along_lam(part, "pmle", score), 0.0)[1] for score in SCORES}
    same = all(matches(at_paper[score], text) for score, text in printed.items())
    return verdict(
        all(matches(ours[score], text) for score, text in printed.items()),
        f"{ours['rmse']:.3f} and {ours['crps']:.3f}; {at_paper['rmse']:.3f} and "
        f"{at_paper['crps']:.3f} at the paper's θ = 18.992, which is as likely",
        tolerance=same and _plateau_short(rows) < PLATEAU,
    )


def nfold(rows: Rows, part: str, printed: str) -> Verdict:
    """Judge the lambda that n-fold CV with PE chooses."""
    lam = rows.number(f"{part}-loo", "pe", "chosen")
    return verdict(matches(lam, printed) if float(printed) else lam == 0.0, lam_text(lam))


def scores_at(rows: Rows, lam: float, rmse: str, crps: str | None) -> Verdict:
    """Judge the anisotropic model's scores at a lambda."""
    part = f"{ANISOTROPIC}-test"
    at, found = nearest(rows.along_lam(part, "pmle", "rmse"), lam)
    other = nearest(rows.along_lam(part, "pmle", "crps"), lam)[1]
    return verdict(
        matches(found, rmse) and (crps is None or matches(other, crps)),
        f"RMSE {found:.3f}, CRPS {other:.3f} at λ = {lam_text(at)}",
    )


def zero(rows: Rows, method: str) -> Verdict:
    """Judge whether a metric chooses no penalty in all draws of the isotropic model."""
    rows.need_repetitions(ISOTROPIC)
    lams = rows.by_repetition(ISOTROPIC, method, "chosen")
    return verdict((lams == 0.0).all(), f"λ* = 0 in {(lams == 0.0).sum()} of {len(lams)} draws")


def always_improves(rows: Rows, score: str) -> Verdict:
    """Judge whether DPE 1SE improves on the MLE in all draws."""
    change = against_mle(rows, ISOTROPIC, "dpe_1se", score)
    return verdict(
        (change < 0.0).all(),
        f"better in {(change < 0).sum()} of {len(change)} draws, by {-change.median():.0%} in "
        "the median",
    )


def improvement_varies(rows: Rows) -> Verdict:
    """Judge whether that improvement depends on the folds."""
    change = against_mle(rows, ISOTROPIC, "dpe_1se", "rmse")
    spread = (change.max() - change.min()) / abs(change.median())
    return verdict(
        spread > 0.25,
        signed(f"change of RMSE from {change.min():.1%} to {change.max():.1%}"),
    )


def best_draw(rows: Rows, score: str) -> Verdict:
    """Judge which lambda gives the greatest improvement."""
    change = against_mle(rows, ISOTROPIC, "dpe_1se", score).to_numpy()
    lams = rows.by_repetition(ISOTROPIC, "dpe_1se", "chosen")
    lam = lams.to_numpy()[change.argmin()]
    along = rows.along_lam(f"{ISOTROPIC}-test", "pmle", score)
    printed = nearest(along, 0.116)
    return verdict(
        lam == printed[0],
        f"λ = {lam_text(float(lam))} with {along[lam]:.3f}, {printed[1]:.3f} at λ = 0.116",
        f"Chosen: {count(lams)}.",
        chance=_best_of_draws(rows, along, printed[0], len(lams)),
    )


def _best_of_draws(rows: Rows, along: pd.Series, lam: float, draws: int) -> float | None:
    """Return the probability that a lambda is the best of so many random draws of folds."""
    try:
        shares = rows.along_lam(f"{ISOTROPIC}-partitions", "dpe_1se", "share")
    except MissingRowsError:
        return None
    better = float(shares[along[shares.index] < along[lam]].sum())
    return float((1.0 - better) ** draws - (1.0 - better - shares[lam]) ** draws)


def _changes(rows: Rows, score: str) -> dict[str, pd.Series]:
    """Return the anisotropic model's relative differences of each method."""
    return {method: against_mle(rows, ANISOTROPIC, method, score) for method in METHODS}


def sometimes_worse(rows: Rows, score: str) -> Verdict:
    """Judge whether the metrics are worse than the MLE in some draws but not in most."""
    shares = {METHODS[m]: float((c > 0).mean()) for m, c in _changes(rows, score).items()}

    def occasionally(share: float) -> bool:
        return 0.0 < share < OCCASIONALLY

    return read(
        {
            "pooled": yes(occasionally(float(np.mean(list(shares.values()))))),
            "each metric": yes(all(map(occasionally, shares.values()))),
        },
        "worse in " + ", ".join(f"{share:.0%} ({m})" for m, share in shares.items()),
    )


def slightly_worse(rows: Rows, score: str) -> Verdict:
    """Judge how much worse the draws are that are worse."""
    worse = {METHODS[m]: c[c > 0.0] for m, c in _changes(rows, score).items()}
    ninths = {m: float(c.quantile(0.9)) for m, c in worse.items() if len(c)}
    if not ninths:
        return verdict(True, "no draw is worse")
    pooled = float(pd.concat(list(worse.values())).quantile(0.9))
    return read(
        {"pooled": yes(pooled < SMALL), "each metric": yes(max(ninths.values()) < SMALL)},
        f"9 in 10 by less than {pooled:.2%} ("
        + ", ".join(f"{m} {high:.2%}" for m, high in ninths.items())
        + ")",
    )


def more_often(rows: Rows, score: str) -> Verdict:
    """Judge whether PE and DPE 1SE improve on the MLE in more draws than DPE."""
    better = {m: c < 0 for m, c in _changes(rows, score).items()}

    def outcome(method: str) -> Outcome:
        one, other = better[method], better["dpe"]
        gain = int((one & ~other).sum()) - int((other & ~one).sum())
        if gain <= 0:
            return "fails"
        return "holds" if gain > 2.0 * np.sqrt(max(int((one != other).sum()), 1)) else "open"

    return read(
        {METHODS[m]: outcome(m) for m in ("pe", "dpe_1se")},
        "better in " + ", ".join(f"{int(c.sum())} ({METHODS[m]})" for m, c in better.items()),
    )


def significant(rows: Rows, score: str) -> Verdict:
    """Judge by how much PE and DPE 1SE improve where they do."""
    found = _changes(rows, score)
    better = {METHODS[m]: found[m][found[m] < 0.0] for m in ("pe", "dpe_1se")}
    medians = {m: float(c.median()) if len(c) else 0.0 for m, c in better.items()}
    pooled = pd.concat(list(better.values()))
    if pooled.empty:
        return verdict(False, "no draw improves")
    return read(
        {
            "pooled": yes(pooled.median() < -LARGE),
            "each metric": yes(max(medians.values()) < -LARGE),
        },
        ", ".join(f"{m} by {-c:.0%} in the median" for m, c in medians.items()),
    )


def median(rows: Rows) -> Verdict:
    """Judge the median RMSE of all choices."""
    along = rows.along_lam(f"{ANISOTROPIC}-test", "pmle", "rmse")
    by_metric = {METHODS[m]: (c + 1.0) * along.iloc[0] for m, c in _changes(rows, "rmse").items()}
    rmse = pd.concat(list(by_metric.values()))
    medians = {m: float(values.median()) for m, values in by_metric.items()} | {
        "all": float(rmse.median()),
        "those that improve": float(rmse[rmse < along.iloc[0]].median()),
    }
    return read(
        {name: yes(matches(value, "0.431")) for name, value in medians.items()},
        "medians " + ", ".join(f"{value:.3f} ({name})" for name, value in medians.items()),
    )


def reordered(rows: Rows) -> Verdict:
    """Judge how the penalty changes the order of the thetas."""
    mle, nfold, best = (_estimates(rows, ANISOTROPIC, lam)[1] for lam in (0.0, 0.00577, 0.0581))
    thetas = [{n: v for n, v in e.items() if n != "σ²"} for e in (mle, nfold, best)]
    return verdict(
        all(abs(t["θ4"] - min(t.values())) < 1e-6 for t in thetas[:2])
        and thetas[2]["θ4"] == max(thetas[2].values())
        and abs(best["θ2"] - mle["θ2"]) < 1e-6
        and best["θ1"] < mle["θ1"] / 2
        and best["θ6"] < mle["θ6"] / 2,
        f"θ4 {mle['θ4']:.3f} → {best['θ4']:.3f}, θ1 {mle['θ1']:.3f} → {best['θ1']:.3f}, "
        f"θ6 {mle['θ6']:.3f} → {best['θ6']:.3f}, θ2 {mle['θ2']:.3f} → {best['θ2']:.3f}",
    )


def unique_values(rows: Rows) -> Verdict:
    """Judge how many different values each input has in the 12 runs."""
    found = rows.along_x("piston-slap/runs", "runs", "unique_values")
    wanted = [6.0, 6.0, 6.0, 3.0, 3.0, 6.0]
    return verdict(
        found.tolist() == wanted,
        ", ".join(f"x{p:.0f} {times:.0f}" for p, times in found.items()),
    )


def scaling_equivalent(rows: Rows) -> Verdict:
    """Judge whether one theta for inputs scaled by range is Li's theta / sd of each input."""
    ratio = rows.along_x("piston-slap/runs", "runs", "sd_over_range")
    return verdict(
        ratio.max() / ratio.min() - 1.0 < SAME,
        "sd / range: " + ", ".join(f"x{p:.0f} {value:.3f}" for p, value in ratio.items()),
        "One theta for all scaled inputs is theta / range² of each input; it would be the same "
        "model only if sd / range were the same for all inputs.",
    )


def folds_matter(rows: Rows, part: str) -> Verdict:
    """Judge whether folds or the metric matter more for the test RMSE."""
    spreads = {}
    for rule, name in (("", "λ*"), ("_1se", "1SE")):
        change = pd.DataFrame({m: against_mle(rows, part, m + rule, "rmse") for m in METRICS})
        draws = float(np.sqrt(change.var(ddof=1).mean()))
        spreads[name] = draws, float(change.mean().std(ddof=1))
    return read(
        {name: larger(draws, metrics) for name, (draws, metrics) in spreads.items()},
        "; ".join(
            f"{name}: standard deviation of the change of RMSE {draws:.1%} between draws, "
            f"{metrics:.1%} between metrics"
            for name, (draws, metrics) in spreads.items()
        ),
    )
