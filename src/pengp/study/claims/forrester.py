"""Claims on the Forrester example: its likelihoods, estimates and surrogates (Figure 1)."""

from pengp.study.claims.base import PRINTED, Claim
from pengp.study.judges import forrester as judge
from pengp.study.judges.forrester import INTERPOLATES, POOR

_CURVE = "on the 281 inputs of the figure"

CLAIMS = (
    Claim(
        "forrester-nugget-defines-likelihood",
        "forrester",
        "Section 1, Figure 1(a)",
        "With g = 0 the log likelihood disappears as θ → 0; with g = 1e-5 it is well defined for "
        "all θ.",
        "log L without nugget is not finite at some θ, with g = 1e-5 finite at all 241.",
        judge.nugget_defines,
    ),
    Claim(
        "forrester-theta-mle",
        "forrester",
        "Section 1, Figure 1(b)",
        "The MLE with g = 1e-5 is θ̂ = 1000.",
        f"θ̂ is {PRINTED}.",
        judge.mle_theta,
    ),
    Claim(
        "forrester-mle-useless",
        "forrester",
        "Section 1, Figure 1(b)",
        "The MLE's surrogate is practically useless: poor predictions and excessively large "
        "intervals.",
        f"RMSE and mean width of the 95 % interval {_CURVE} are more than twice those at "
        "λ = 0.005.",
        judge.mle_useless,
    ),
    Claim(
        "forrester-theta-nugget",
        "forrester",
        "Section 1, Figure 1(c)",
        "With an estimated nugget θ̂ = 922.203.",
        f"θ̂ is {PRINTED}.",
        judge.nugget_theta,
    ),
    Claim(
        "forrester-nugget-reins-in",
        "forrester",
        "Section 1",
        "Estimating g slightly reins in the MLE of θ.",
        "θ̂ with estimated g is smaller than with g = 1e-5 by more than 0.1 %.",
        judge.nugget_reins_in,
    ),
    Claim(
        "forrester-nugget-at-runs",
        "forrester",
        "Section 1, Figure 1(c)",
        "The surrogate with estimated g even fails at the training data.",
        "It misses a run by more than 0.1 standard deviations, and ten times as far as with "
        "g = 1e-5.",
        judge.nugget_at_runs,
    ),
    Claim(
        "forrester-theta-penalized",
        "forrester",
        "Section 1, Figure 1(d)",
        "At λ = 0.005, θ̂ = 27.444.",
        f"θ̂ is {PRINTED}.",
        judge.penalized_theta,
    ),
    Claim(
        "forrester-penalized-superior",
        "forrester",
        "Section 1, Figure 1(d)",
        "The surrogate at λ = 0.005 is superior to both unpenalized ones in predictions and "
        "uncertainty.",
        f"Smaller RMSE and smaller CRPS than both, {_CURVE}.",
        judge.penalized_superior,
    ),
    Claim(
        "forrester-nfold-theta",
        "forrester",
        "Section 1, Figure 1(e)",
        "At the λ of n-fold CV on PE, θ̂ = 10.565.",
        f"θ̂ at the grid's λ = 0.0231, which the paper prints as 0.02, is {PRINTED}.",
        judge.nfold_theta,
    ),
    Claim(
        "forrester-nfold-improves",
        "forrester",
        "Section 1, Figure 1(e)",
        "The surrogate of n-fold CV on PE predicts better than the unpenalized ones.",
        f"Smaller RMSE than both, {_CURVE}, at the λ* found and at the printed one.",
        judge.nfold_improves,
    ),
    Claim(
        "forrester-nfold-coverage",
        "forrester",
        "Section 1, Figure 1(e)",
        "Its coverage is poor for larger x.",
        "At the λ* found and at the printed one the 95 % interval covers the function at less than "
        f"{POOR:.0%} of the inputs above 0.5; and, as a second reading, at more of the others.",
        judge.nfold_coverage,
    ),
    Claim(
        "forrester-1se-theta",
        "forrester",
        "Section 1, Figure 1(f)",
        "There θ̂ = 0.001.",
        f"θ̂ is {PRINTED}.",
        judge.one_se_theta,
    ),
    Claim(
        "forrester-1se-surrogate",
        "forrester",
        "Section 1, Figure 1(f)",
        "That surrogate is over-smoothed, fails to interpolate and has large uncertainty.",
        "It misses a run by more than 0.1 standard deviations; mean width of the 95 % interval is "
        "more than twice that at λ = 0.005.",
        judge.one_se_surrogate,
    ),
    Claim(
        "forrester-nfold-interpolates",
        "forrester",
        "Appendix B",
        "n-fold CV on PE avoids a λ whose surrogate fails to interpolate the data.",
        f"The surrogate of n-fold λ* misses no run by {INTERPOLATES:g} standard deviations.",
        judge.nfold_interpolates,
    ),
    Claim(
        "forrester-variance-falls",
        "forrester",
        "Section 3",
        "As λ leaves 0 the prediction variances first decrease.",
        "The mean predictive variance on the 281 inputs of Figure 1 is smaller at the first λ > 0 "
        "than at 0, and least at a λ inside the grid.",
        judge.variance_falls,
    ),
)
