"""Claims on the piston slap noise data: Section 5 (isotropic) and Appendix E (anisotropic)."""

from functools import partial

from pengp.study.claims.base import PRINTED, Claim
from pengp.study.judges import piston as judge
from pengp.study.judges.base import SCORES
from pengp.study.judges.piston import ANISOTROPIC, ISOTROPIC

_STUDY = "piston-slap"
_TABLE = "Appendix E, table of estimates"
_ALL = f"σ² and all θ̂ are {PRINTED}."
_INPUTS = tuple(f"θ{p}" for p in range(1, 7))


def _column(sigma2: str, *thetas: str) -> dict[str, str]:
    """Return a column of the table of anisotropic estimates, as printed."""
    return {"σ²": sigma2, **dict(zip(_INPUTS, thetas, strict=True))}


_ISOTROPIC = (
    Claim(
        "piston-slap-isotropic-mle",
        _STUDY,
        "Section 5, table of estimates",
        "The isotropic MLE is θ̂ = 18.992 with σ² = 0.917.",
        "log L at 18.992 is within 0.0001 of its maximum (the estimate is not unique), and σ² "
        f"there is {PRINTED}.",
        judge.plateau,
    ),
    Claim(
        "piston-slap-isotropic-mle-scores",
        _STUDY,
        "Section 5",
        "The MLE has RMSE 0.879 and CRPS 0.505 on the test data.",
        f"Both are {PRINTED} at θ = 18.992.",
        judge.mle_scores,
    ),
    Claim(
        "piston-slap-isotropic-nfold",
        _STUDY,
        "Section 5",
        "n-fold CV with PE chooses λ = 0.",
        "λ* is 0.",
        partial(judge.nfold, part=ISOTROPIC, printed="0"),
    ),
    *(
        Claim(
            f"piston-slap-isotropic-{method}-zero",
            _STUDY,
            "Section 5, Figure 7",
            f"4-fold CV with {label} selects λ = 0 and matches the MLE.",
            "λ* is 0 in all 100 draws of folds.",
            partial(judge.zero, method=method),
        )
        for method, label in (("pe", "PE"), ("dpe", "DPE"))
    ),
    *(
        Claim(
            f"piston-slap-isotropic-1se-{score}",
            _STUDY,
            "Section 5, Figure 7",
            f"DPE 1SE improves {label} over the MLE for all 100 randomly generated folds.",
            "The relative difference to the MLE is negative in every draw.",
            partial(judge.always_improves, score=score),
        )
        for score, label in SCORES.items()
    ),
    Claim(
        "piston-slap-isotropic-1se-varies",
        _STUDY,
        "Section 5, Figure 7",
        "The improvement varies highly with the folds.",
        "Largest minus smallest relative difference of RMSE is more than a quarter of its median.",
        judge.improvement_varies,
    ),
    Claim(
        "piston-slap-isotropic-best",
        _STUDY,
        "Section 5",
        "λ = 0.116 gives the greatest improvement among the 4-fold CV runs with DPE 1SE.",
        f"The λ of the draw with the least RMSE is {PRINTED}.",
        judge.best_draw,
    ),
    Claim(
        "piston-slap-isotropic-estimates",
        _STUDY,
        "Section 5, table of estimates",
        "At λ = 0.116, θ̂ = 1.453 and σ² = 1.177.",
        f"Both are {PRINTED}.",
        partial(
            judge.printed_estimates,
            part=ISOTROPIC,
            lam=0.116,
            printed={"σ²": "1.177", "θ": "1.453"},
        ),
    ),
)

_ANISOTROPIC = (
    Claim(
        "piston-slap-anisotropic-mle",
        _STUDY,
        _TABLE,
        "MLE: σ² = 1.151, θ̂ = 4.067, 0.001, 0.588, 0.001, 0.001, 2.751.",
        _ALL,
        partial(
            judge.printed_estimates,
            part=ANISOTROPIC,
            lam=0.0,
            printed=_column("1.151", "4.067", "0.001", "0.588", "0.001", "0.001", "2.751"),
        ),
    ),
    Claim(
        "piston-slap-anisotropic-mle-scores",
        _STUDY,
        "Appendix E",
        "The MLE has RMSE 0.767 and CRPS 0.500.",
        f"Both are {PRINTED}.",
        partial(judge.scores_at, lam=0.0, rmse="0.767", crps="0.500"),
    ),
    Claim(
        "piston-slap-anisotropic-nfold",
        _STUDY,
        _TABLE,
        "n-fold CV with PE chooses λ = 0.006.",
        f"λ* is {PRINTED}.",
        partial(judge.nfold, part=ANISOTROPIC, printed="0.006"),
    ),
    Claim(
        "piston-slap-anisotropic-nfold-estimates",
        _STUDY,
        _TABLE,
        "There σ² = 1.241, θ̂ = 3.728, 0.001, 0.532, 0.001, 0.001, 2.550.",
        _ALL,
        partial(
            judge.printed_estimates,
            part=ANISOTROPIC,
            lam=0.00577,
            printed=_column("1.241", "3.728", "0.001", "0.532", "0.001", "0.001", "2.550"),
        ),
    ),
    Claim(
        "piston-slap-anisotropic-nfold-scores",
        _STUDY,
        "Appendix E",
        "n-fold CV with PE has RMSE 0.768 and CRPS 0.504.",
        f"Both are {PRINTED} at the λ that the paper prints.",
        partial(judge.scores_at, lam=0.00577, rmse="0.768", crps="0.504"),
    ),
    *(
        Claim(
            f"piston-slap-anisotropic-{name}-{score}",
            _STUDY,
            "Appendix E, Figure 8",
            f"{paper} ({label}).",
            test,
            partial(function, score=score),
        )
        for score, label in SCORES.items()
        for name, paper, test, function in (
            (
                "worse",
                "Each metric occasionally performs worse than the MLE",
                "PE, DPE and DPE 1SE are each worse in at least one of the 100 draws and in fewer "
                "than half.",
                judge.sometimes_worse,
            ),
            (
                "degradation",
                "That degradation is generally small",
                "Of the draws that are worse, nine in ten are by less than 5 %.",
                judge.slightly_worse,
            ),
            (
                "improves",
                "PE and DPE 1SE improve over the MLE more frequently than DPE",
                "Number of draws with a negative relative difference.",
                judge.more_often,
            ),
            (
                "significant",
                "When PE and DPE 1SE improve, they do significantly",
                "The median of their negative relative differences is beyond -10 %.",
                judge.significant,
            ),
        )
    ),
    Claim(
        "piston-slap-anisotropic-best-estimates",
        _STUDY,
        _TABLE,
        "λ = 0.058: σ² = 5.382, θ̂ = 0.387, 0.001, 0.001, 0.906, 0.019, 0.428.",
        _ALL,
        partial(
            judge.printed_estimates,
            part=ANISOTROPIC,
            lam=0.0581,
            printed=_column("5.382", "0.387", "0.001", "0.001", "0.906", "0.019", "0.428"),
        ),
    ),
    Claim(
        "piston-slap-anisotropic-best-rmse",
        _STUDY,
        "Appendix E",
        "λ = 0.058 has RMSE 0.431.",
        f"RMSE is {PRINTED}.",
        partial(judge.scores_at, lam=0.0581, rmse="0.431", crps=None),
    ),
    Claim(
        "piston-slap-anisotropic-median",
        _STUDY,
        "Appendix E",
        "0.431 is the median RMSE value for the 4-fold CV metrics.",
        f"The median over all draws of PE, DPE and DPE 1SE is {PRINTED}.",
        judge.median,
    ),
    Claim(
        "piston-slap-anisotropic-reordered",
        _STUDY,
        "Appendix E",
        "θ̂4 goes from the smallest to the largest, θ̂1 and θ̂6 shrink significantly, θ̂2 is "
        "unaffected.",
        "θ̂4 is at the lower bound for the MLE and n-fold PE and the largest at λ = 0.058; θ̂1 and "
        "θ̂6 are more than halved; θ̂2 is the same.",
        judge.reordered,
    ),
)

CLAIMS = (*_ISOTROPIC, *_ANISOTROPIC)
