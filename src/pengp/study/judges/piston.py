"""How the claims on the piston slap noise data are judged (Section 5 and Appendix E)."""

import pandas as pd

from pengp.study.judges.base import (
    METRICS,
    SCORES,
    Verdict,
    count,
    lam_text,
    matches,
    number,
    signed,
    verdict,
)
from pengp.study.report_rows import Rows, nearest

METHODS = {"pe": METRICS["pe"], "dpe": METRICS["dpe"], "dpe_1se": f"{METRICS['dpe']} 1SE"}
ISOTROPIC, ANISOTROPIC = "piston-slap/isotropic", "piston-slap/anisotropic"
#: Log likelihoods that differ by less cannot be told apart by any data analysis.
_PLATEAU = 1e-4


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


def plateau(rows: Rows) -> Verdict:
    """Judge the isotropic MLE, of which every value on a plateau is one."""
    part = f"{ISOTROPIC}-path"
    ours = nearest(rows.along_lam(part, "pmle", "theta"), 0.0)[1]
    best = nearest(rows.along_lam(part, "pmle", "loglik"), 0.0)[1]
    sigma2 = rows.number(part, "plateau", "sigma2")
    short = best - rows.number(part, "plateau", "loglik")
    lower = nearest(rows.along_lam(part, "pmle", "flat_lower"), 0.0)[1]
    return verdict(
        (matches(ours, "18.992") or short < _PLATEAU) and matches(sigma2, "0.917"),
        f"ours {ours:.3f}; log L at 18.992 is {short:.1e} below the maximum, σ² there {sigma2:.3f}",
        f"The estimate is not identified: log L is within {_PLATEAU:g} of its maximum for every "
        f"theta above {number(lower)}; 18.992 is where the paper's optimiser stopped.",
    )


def mle_scores(rows: Rows) -> Verdict:
    """Judge the isotropic MLE's scores at the theta that the paper prints."""
    part = f"{ISOTROPIC}-test"
    at_paper = {score: rows.number(part, "plateau", score) for score in SCORES}
    ours = {score: nearest(rows.along_lam(part, "pmle", score), 0.0)[1] for score in SCORES}
    return verdict(
        matches(at_paper["rmse"], "0.879") and matches(at_paper["crps"], "0.505"),
        f"{at_paper['rmse']:.3f} and {at_paper['crps']:.3f} at the paper's θ = 18.992",
        f"Our own estimate, as likely, gives {ours['rmse']:.3f} and {ours['crps']:.3f}: the MLE is "
        "not identified.",
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


def best_draw(rows: Rows) -> Verdict:
    """Judge which lambda gives the greatest improvement."""
    change = against_mle(rows, ISOTROPIC, "dpe_1se", "rmse")
    lams = rows.by_repetition(ISOTROPIC, "dpe_1se", "chosen")
    lam = float(lams.to_numpy()[change.to_numpy().argmin()])
    rmse = rows.along_lam(f"{ISOTROPIC}-test", "pmle", "rmse")
    return verdict(
        matches(lam, "0.116"),
        f"λ = {lam_text(lam)} with RMSE {change.min() * rmse.iloc[0] + rmse.iloc[0]:.3f}",
        f"At the paper's λ = 0.116 RMSE is {nearest(rmse, 0.116)[1]:.3f}. Chosen: {count(lams)}.",
    )


def _changes(rows: Rows, score: str) -> dict[str, pd.Series]:
    """Return the anisotropic model's relative differences of each method."""
    return {method: against_mle(rows, ANISOTROPIC, method, score) for method in METHODS}


def sometimes_worse(rows: Rows, score: str) -> Verdict:
    """Judge whether each metric is worse than the MLE in some draws but not in most."""
    worse = {METHODS[m]: int((c > 0).sum()) for m, c in _changes(rows, score).items()}
    draws = rows.repetitions(ANISOTROPIC)[0]
    return verdict(
        all(0 < times < draws / 2 for times in worse.values()),
        "worse in " + ", ".join(f"{times} ({m})" for m, times in worse.items()) + f" of {draws}",
    )


def slightly_worse(rows: Rows, score: str) -> Verdict:
    """Judge how much worse the draws are that are worse."""
    worst = pd.concat([c[c > 0.0] for c in _changes(rows, score).values()])
    if worst.empty:
        return verdict(True, "no draw is worse")
    high = float(worst.quantile(0.9))
    return verdict(high < 0.05, f"9 in 10 by less than {high:.2%}, the most {worst.max():.2%}")


def more_often(rows: Rows, score: str) -> Verdict:
    """Judge whether PE and DPE 1SE improve on the MLE in more draws than DPE."""
    better = {m: int((c < 0).sum()) for m, c in _changes(rows, score).items()}
    return verdict(
        better["pe"] > better["dpe"] and better["dpe_1se"] > better["dpe"],
        "better in " + ", ".join(f"{times} ({METHODS[m]})" for m, times in better.items()),
    )


def significant(rows: Rows, score: str) -> Verdict:
    """Judge by how much PE and DPE 1SE improve where they do."""
    found = _changes(rows, score)
    better = pd.concat([found[m][found[m] < 0.0] for m in ("pe", "dpe_1se")])
    if better.empty:
        return verdict(False, "no draw improves")
    return verdict(better.median() < -0.1, f"by {-better.median():.0%} in the median")


def median(rows: Rows) -> Verdict:
    """Judge the median RMSE of all choices."""
    along = rows.along_lam(f"{ANISOTROPIC}-test", "pmle", "rmse")
    rmse = pd.concat([(c + 1.0) * along.iloc[0] for c in _changes(rows, "rmse").values()])
    better = rmse[rmse < along.iloc[0]]
    return verdict(
        matches(float(rmse.median()), "0.431"),
        f"median {rmse.median():.3f} over all draws of PE, DPE and DPE 1SE",
        f"Over the {len(better)} choices that improve on the MLE it is {better.median():.3f}.",
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
