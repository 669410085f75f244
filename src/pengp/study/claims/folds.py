"""Claims on 4-fold cross-validation of the Forrester example, twenty draws (Figures 4, 5)."""

from functools import partial

from pengp.study.claims.base import Claim
from pengp.study.judges import folds as judge
from pengp.study.judges.base import METRICS

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
        "At no λ of any draw they differ by 5 % of the range that the curves of MD span.",
        judge.md_like_score,
    ),
    *(
        Claim(
            f"forrester-{method}-gap",
            "forrester",
            f"Section 3, Figure {figure}",
            f"λ* of {METRICS[method]} has a noticeable gap between 0 and about 0.073.",
            "No draw chooses λ* strictly between 0 and 0.073.",
            partial(judge.md_gap, method=method),
        )
        for method, figure in (("md", "4(b)"), ("score", "4(c)"))
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
        "SE(λ)/|C(λ)|, median over the draws and all λ ≤ 0.073, is for DPE at most half of each "
        "other metric's.",
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
    *(
        Claim(
            f"forrester-{method}-1se-end",
            "forrester",
            "Section 3, Figure 5(c)",
            f"The 1SE rule with {METRICS[method]} almost always gives λ = 7.389.",
            "At least 9 in 10 draws end at the largest λ.",
            partial(judge.one_se_at_end, method=method),
        )
        for method in ("pe", "md", "score")
    ),
    Claim(
        "forrester-dpe-1se",
        "forrester",
        "Section 3, Figure 5(c)",
        "λ_1SE of DPE is remarkably consistent and avoids overly large λ.",
        "It is above 0 and at most 0.073 in every draw.",
        judge.dpe_one_se,
    ),
)
