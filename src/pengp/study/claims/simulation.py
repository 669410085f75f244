"""Claims on the numerical studies of Section 4 (Figure 6)."""

from collections.abc import Callable
from functools import partial

from pengp.study.claims.base import Claim
from pengp.study.judges import simulation as judge
from pengp.study.judges.base import METRICS, Verdict, by_score, each
from pengp.study.judges.simulation import FUNCTIONS, MANY_STANDARD_ERRORS, MARGIN

_WHERE = "Section 4, Figure 6"
_WAYS = "in the mean of the paired differences, in the medians, and by the sign test"
_IMPROVED = ("lim", "piston", "borehole")


def _claim(
    name: str, paper: str, test: str, of_score: Callable[..., Verdict], **options: object
) -> Claim:
    """Return a claim that is made for RMSE and for CRPS."""
    return Claim(
        f"simulation-{name}", "simulation", _WHERE, paper, test, by_score(of_score, **options)
    )


CLAIMS = (
    _claim(
        "dpe-near-mle",
        "Across the board DPE and MLE perform closely alike.",
        f"On every function their relative differences are apart by less than {MARGIN}, two "
        "standard errors included, in the mean and in the medians.",
        judge.near_mle,
    ),
    _claim(
        "md-score-worst",
        "MD and Score perform the worst.",
        f"On every function each is worse than every other method {_WAYS}.",
        judge.worst,
    ),
    _claim(
        "pe-lim",
        "PE slightly improves on MLE for Lim.",
        f"It is better {_WAYS}.",
        judge.better,
        function="lim",
        one="pe",
    ),
    _claim(
        "pe-others",
        "PE does similar to MLE or worse for the other functions.",
        f"On none of them it is better than MLE by {MARGIN} or more, two standard errors included, "
        "in the mean and in the medians.",
        judge.not_better,
    ),
    *(
        _claim(
            f"1se-{function}",
            f"DPE 1SE modestly and consistently improves on MLE for {FUNCTIONS[function]}.",
            f"It is better {_WAYS}.",
            judge.better,
            function=function,
            one="dpe_1se",
        )
        for function in _IMPROVED
    ),
    _claim(
        "1se-franke",
        "DPE 1SE slightly elevates both RMSE and CRPS for Franke.",
        f"It is worse than MLE {_WAYS}.",
        judge.worse,
        function="franke",
        one="dpe_1se",
    ),
    *(
        _claim(
            f"{one.replace('_', '-')}-beats",
            f"{label} outperforms PE, MD and Score for all functions.",
            f"On every function it is better than each of them {_WAYS}.",
            judge.beats,
            one=one,
        )
        for one, label in (("dpe", "DPE"), ("dpe_1se", "DPE 1SE"))
    ),
    _claim(
        "nugget-varies",
        "MLE with estimated g is highly variable, sometimes better than pMLE*, other times much "
        "worse than DPE 1SE.",
        "Some repetition has a negative relative difference, and some one larger than that of DPE "
        "1SE by 0.5: on every function, and on all together.",
        judge.nugget_varies,
    ),
    _claim(
        "none-matches",
        "No method consistently matches pMLE*.",
        "Every method's mean relative difference is above 0 by more than two standard errors on "
        "every function.",
        judge.none_matches,
    ),
    _claim(
        "reliable",
        "DPE and DPE 1SE are the most reliable.",
        "On every function the 90 % quantiles of their relative differences are below those of "
        "PE, MD, Score and MLE with estimated g; so are the standard deviations.",
        judge.reliable,
    ),
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
        each({METRICS[m]: partial(judge.large_lams, method=m) for m in ("md", "score")}),
    ),
    Claim(
        "simulation-conservative",
        "simulation",
        "Section 6",
        "DPE is conservative in the amount of recommended penalization.",
        "On every function it chooses λ = 0 in more than half of the repetitions.",
        judge.conservative,
    ),
    Claim(
        "simulation-scad",
        "simulation-scad",
        "Section 4",
        "There is no significant difference between LASSO and SCAD.",
        "On the same designs and folds, for every function and PE, MD, Score, DPE and DPE 1SE: no "
        f"mean difference is beyond {MANY_STANDARD_ERRORS:g} standard errors; and, as a second "
        f"reading, all are within {MARGIN}, two standard errors included.",
        by_score(judge.scad_like_lasso),
    ),
)
