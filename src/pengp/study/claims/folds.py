"""Claims on 4-fold cross-validation of the Forrester example, twenty draws (Figures 4, 5)."""

from functools import partial

from pengp.study.claims.base import Claim
from pengp.study.judges import folds as judge
from pengp.study.judges.base import METRICS, each
from pengp.study.judges.folds import ALIKE, NEARLY_ALL, QUARTILES, RANGE

CLAIMS = (
    Claim(
        "forrester-4fold-inconsistent",
        "forrester",
        "Section 3, Figure 4",
        "PE, MD and Score choose inconsistent λ* across the entire range, sometimes giving "
        "nugget-dominated surrogates.",
        "Each chooses at least three different λ* in the draws, and at least once one above 0.073, "
        "where θ̂ collapses.",
        judge.inconsistent,
    ),
    Claim(
        "forrester-pe-smooth",
        "forrester",
        "Section 3, Figure 4(a)",
        "PE sometimes chose 0 < λ* ≤ 0.007, more often a λ* that smooths too much or is "
        "nugget-dominated.",
        "At least one draw with 0 < λ* ≤ 0.007, and more draws with a larger λ*.",
        judge.pe_often_too_smooth,
    ),
    Claim(
        "forrester-pe-gap",
        "forrester",
        "Section 3, Figure 4(a)",
        "λ* of PE has a noticeable gap between 0.073 and 7.389.",
        "No draw chooses λ* strictly between, at least one chooses 7.389.",
        judge.pe_gap,
    ),
    Claim(
        "forrester-md-like-score",
        "forrester",
        "Section 3, Figure 4(b), 4(c)",
        "The curves of MD and Score are nearly indistinguishable.",
        f"At no λ of any draw they differ by {ALIKE:.0%} of the range that the curves of MD span; "
        f"they choose the same λ* in {NEARLY_ALL:.0%} of the draws.",
        judge.md_like_score,
    ),
    Claim(
        "forrester-md-score-gap",
        "forrester",
        "Section 3, Figure 4(b), 4(c)",
        "λ* of MD and Score has a noticeable gap between 0 and about 0.073.",
        "No draw chooses λ* strictly between 0 and 0.073.",
        each({METRICS[m]: partial(judge.md_gap, method=m) for m in ("md", "score")}),
    ),
    Claim(
        "forrester-dpe-curves",
        "forrester",
        "Section 3, Figure 5(a)",
        "The DPE curves are consistently higher for larger λ and consistently lower for "
        "λ < 0.073, compared to PE, MD and Score.",
        "In every draw DPE at each λ > 0.073 is above DPE at each λ ≤ 0.073; for each other metric "
        "that fails in some draw.",
        judge.dpe_curves,
    ),
    Claim(
        "forrester-dpe-less-variable",
        "forrester",
        "Sections 1 and 3",
        "DPE varies far less between folds than PE, MD and Score, for interpolating surrogates.",
        "Between folds: SE(λ)/|C(λ)|, median over the draws and all λ ≤ 0.073, is for DPE at most "
        "half of each other metric's. Between draws: the same of the standard deviation of C(λ) "
        "over the draws.",
        judge.less_variable,
    ),
    Claim(
        "forrester-theta-drops",
        "forrester",
        "Section 3, Figure 5(b)",
        "When λ > 0.073, the θ̂ averaged over folds drops sharply toward zero.",
        "Its median over the draws falls more than tenfold from λ = 0.073 to 0.146, and by more "
        "than from 0.037 to 0.073.",
        judge.theta_drops,
    ),
    Claim(
        "forrester-dpe-zero",
        "forrester",
        "Section 3",
        "DPE chose λ* = 0 for all of the 4-fold CVs.",
        "λ* of DPE is 0 in every draw.",
        judge.dpe_zero,
    ),
    Claim(
        "forrester-1se-end",
        "forrester",
        "Section 3, Figure 5(c)",
        "The 1SE rule with PE, MD and Score almost always gives λ = 7.389.",
        f"At least {NEARLY_ALL:.0%} of the draws end at the largest λ: of all three metrics "
        "together, and of each.",
        judge.one_se_at_end,
    ),
    Claim(
        "forrester-dpe-1se-small",
        "forrester",
        "Section 3, Figure 5(c)",
        "λ_1SE of DPE avoids overly large λ.",
        "It is above 0 and at most 0.073 in every draw.",
        judge.dpe_one_se_small,
    ),
    Claim(
        "forrester-dpe-1se-consistent",
        "forrester",
        "Section 3, Figure 5(c)",
        "λ_1SE of DPE is remarkably consistent.",
        f"The largest is at most {RANGE:g} times the smallest; the third quartile is at most "
        f"{QUARTILES:g} times the first.",
        judge.dpe_one_se_consistent,
    ),
)
