"""Claims on n-fold cross-validation of the Forrester example (Figures 2 and 3)."""

from pengp.study.claims.base import PRINTED, Claim
from pengp.study.judges import nfold as judge
from pengp.study.judges.nfold import CONSTANT

CLAIMS = (
    Claim(
        "forrester-grid",
        "forrester",
        "Section 1, Figure 2",
        "Cross-validation covers λ from 0 to 7.39.",
        f"Ends of the grid: 0, and {PRINTED} for the largest.",
        judge.grid,
    ),
    Claim(
        "forrester-nfold-lambda",
        "forrester",
        "Section 1, Figure 2",
        "n-fold CV on PE selects λ = 0.02.",
        "λ* is the grid's 0.0231, which the paper's θ̂ = 10.565 belongs to.",
        judge.nfold_lam,
    ),
    Claim(
        "forrester-nfold-1se",
        "forrester",
        "Section 1, Figure 2",
        "The 1SE rule on n-fold PE selects λ = 7.39.",
        f"λ_1SE is {PRINTED}.",
        judge.nfold_one_se,
    ),
    Claim(
        "forrester-1se-smallest",
        "forrester",
        "Section 1",
        "The 1SE rule selects the smallest λ whose metric is within one standard error of the "
        "lowest.",
        "For n-fold PE that λ is the 7.39 of Figure 2. (Section 2 takes the largest.)",
        judge.smallest,
    ),
    Claim(
        "forrester-fold-8-largest",
        "forrester",
        "Section 3, Figure 3(a)",
        "Of the n-fold PE curves the one without run 8 has the largest values.",
        "PE of fold 8 is the largest at every λ.",
        judge.fold_8_largest,
    ),
    Claim(
        "forrester-fold-8-constant",
        "forrester",
        "Section 3, Figure 3(a)",
        "That curve is fairly constant.",
        f"Its largest value is less than {CONSTANT} times its smallest.",
        judge.fold_8_constant,
    ),
    Claim(
        "forrester-fold-7-changes-most",
        "forrester",
        "Section 3, Figure 3(a)",
        "The second largest curve, without run 7, changes most across λ.",
        "Fold 7 has the second largest mean PE and the largest difference between its largest and "
        "smallest PE.",
        judge.fold_7_changes_most,
    ),
    Claim(
        "forrester-run-7",
        "forrester",
        "Section 3, Figure 3(b)",
        "x₇ = 0.857 has the largest response, y₇ = 1.034 (standardised).",
        f"Both numbers are {PRINTED}, and y₇ is the largest.",
        judge.run_7,
    ),
    Claim(
        "forrester-run-7-lambda",
        "forrester",
        "Section 3, Figure 3",
        "λ = 0.046 minimises PE of the fold without run 7.",
        "The minimiser is the grid's 0.0461.",
        judge.run_7_lam,
    ),
    Claim(
        "forrester-run-7-missed",
        "forrester",
        "Section 3, Figure 3(b)",
        "Even this surrogate cannot capture y₇.",
        "y₇ is outside the 95 % interval of the surrogate without run 7, at the best λ found and "
        "at the printed one.",
        judge.run_7_missed,
    ),
)
