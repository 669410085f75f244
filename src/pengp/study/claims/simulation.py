"""Claims on the numerical studies of Section 4 (Figure 6)."""

from functools import partial

from pengp.study.claims.base import Claim
from pengp.study.judges import simulation as judge
from pengp.study.judges.base import SCORES
from pengp.study.judges.simulation import FUNCTIONS

_WHERE = "Section 4, Figure 6"
_RULE = "by more than two standard errors of the paired difference"
_IMPROVED = ("lim", "piston", "borehole")


def _of_score(score: str) -> tuple[Claim, ...]:
    """Return the claims that are made for RMSE and for CRPS."""
    return (*_of_metrics(score), *_of_one_se(score), *_of_all(score))


def _of_metrics(score: str) -> tuple[Claim, ...]:
    """Return the claims on PE, MD, Score and DPE against maximum likelihood."""
    name = SCORES[score]
    return (
        Claim(
            f"simulation-dpe-near-mle-{score}",
            "simulation",
            _WHERE,
            f"Across the board DPE and MLE perform closely alike ({name}).",
            "On every function the means of their relative differences are apart by no more than "
            "two standard errors of MLE's mean.",
            partial(judge.near_mle, score=score),
        ),
        Claim(
            f"simulation-md-score-worst-{score}",
            "simulation",
            _WHERE,
            f"MD and Score perform the worst ({name}).",
            f"On every function the mean of each is above MLE's {_RULE}, and no other method's is "
            "above theirs by as much.",
            partial(judge.worst, score=score),
        ),
        Claim(
            f"simulation-pe-lim-{score}",
            "simulation",
            _WHERE,
            f"PE slightly improves on MLE for Lim ({name}).",
            f"Its mean is below MLE's {_RULE}.",
            partial(judge.against_mle, function="lim", score=score, one="pe", wanted="below"),
        ),
        Claim(
            f"simulation-pe-others-{score}",
            "simulation",
            _WHERE,
            f"PE does similar to MLE or worse for the other functions ({name}).",
            f"On none of them its mean is below MLE's {_RULE}.",
            partial(judge.not_better, score=score),
        ),
    )


def _of_one_se(score: str) -> tuple[Claim, ...]:
    """Return the claims on DPE with the one-standard-error rule."""
    name = SCORES[score]
    return (
        *(_one_se_average(function, score) for function in FUNCTIONS),
        Claim(
            f"simulation-1se-consistent-{score}",
            "simulation",
            _WHERE,
            f"For all functions but Franke the improvement of DPE 1SE is consistent ({name}).",
            "On each it is better than MLE in more repetitions than worse, beyond two standard "
            "errors of a fair coin.",
            partial(judge.mostly, score=score, functions=_IMPROVED, sign=-1.0),
        ),
        Claim(
            f"simulation-1se-franke-mostly-{score}",
            "simulation",
            _WHERE,
            f"On Franke, MLE does quite well and penalization seems ill-advised ({name}).",
            "DPE 1SE is worse than MLE in more repetitions than better, beyond two standard errors "
            "of a fair coin.",
            partial(judge.mostly, score=score, functions=("franke",), sign=1.0),
        ),
        *(
            Claim(
                f"simulation-{one.replace('_', '-')}-beats-{score}",
                "simulation",
                _WHERE,
                f"{label} outperforms PE, MD and Score for all functions ({name}).",
                f"Its mean is below each of theirs on each function {_RULE}.",
                partial(judge.beats, score=score, one=one),
            )
            for one, label in (("dpe", "DPE"), ("dpe_1se", "DPE 1SE"))
        ),
    )


def _of_all(score: str) -> tuple[Claim, ...]:
    """Return the claims on an estimated nugget, and on all methods together."""
    name = SCORES[score]
    return (
        Claim(
            f"simulation-nugget-varies-{score}",
            "simulation",
            _WHERE,
            "MLE with estimated g is highly variable, sometimes better than pMLE*, other times "
            f"much worse than DPE 1SE ({name}).",
            "On every function some repetition has a negative relative difference, and some one "
            "larger than that of DPE 1SE by 0.5.",
            partial(judge.nugget_varies, score=score),
        ),
        Claim(
            f"simulation-none-matches-{score}",
            "simulation",
            _WHERE,
            f"No method consistently matches pMLE* ({name}).",
            "Every method's mean relative difference is above 0 by more than two standard errors "
            "on every function.",
            partial(judge.none_matches, score=score),
        ),
        Claim(
            f"simulation-reliable-{score}",
            "simulation",
            _WHERE,
            f"DPE and DPE 1SE are the most reliable ({name}).",
            "On every function the 90 % quantiles of their relative differences are below those of "
            "PE, MD, Score and MLE with estimated g.",
            partial(judge.reliable, score=score),
        ),
    )


def _one_se_average(function: str, score: str) -> Claim:
    """Return the claim on the average of DPE 1SE on one function."""
    name, label = FUNCTIONS[function], SCORES[score]
    better = function in _IMPROVED
    return Claim(
        f"simulation-1se-{function}-{score}",
        "simulation",
        _WHERE,
        f"DPE 1SE modestly improves on MLE for {name} ({label})."
        if better
        else f"DPE 1SE slightly elevates {label} for {name}.",
        f"Its mean is {'below' if better else 'above'} MLE's {_RULE}.",
        partial(
            judge.against_mle,
            function=function,
            score=score,
            one="dpe_1se",
            wanted="below" if better else "above",
        ),
    )


CLAIMS = (
    *(claim for score in SCORES for claim in _of_score(score)),
    Claim(
        "simulation-small-lambdas",
        "simulation",
        "Section 4",
        "DPE tends to select smaller values of λ.",
        "On every function the median λ of DPE and of DPE 1SE is below those of PE, MD and Score.",
        judge.small_lams,
    ),
    Claim(
        "simulation-large-lambdas",
        "simulation",
        "Section 4",
        "MD and Score tend to select large λ.",
        "On every function each chooses a larger λ than DPE 1SE in more than half of the "
        "repetitions, beyond two standard errors of a fair coin.",
        judge.large_lams,
    ),
    Claim(
        "simulation-conservative",
        "simulation",
        "Section 6",
        "DPE is conservative in the amount of recommended penalization.",
        "On every function it chooses λ = 0 in more than half of the repetitions.",
        judge.conservative,
    ),
    *(
        Claim(
            f"simulation-scad-{score}",
            "simulation-scad",
            "Section 4",
            f"There is no significant difference between LASSO and SCAD ({name}).",
            "On every function and for PE, MD, Score, DPE and DPE 1SE the means of the two "
            "penalties are apart by at most three standard errors (40 comparisons with CRPS).",
            partial(judge.scad_like_lasso, score=score),
        )
        for score, name in SCORES.items()
    ),
)
