"""Whether a surrogate can be trusted: held-out scores, other explanations, what to beware of."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pengp._core.arrays import BoolArray, FloatArray
from pengp.choosing.scores import VALIDATION_SCORES
from pengp.diagnostics.scoring import IntervalCheck, score_law, score_predictions
from pengp.estimators.advice import advise
from pengp.estimators.heldout import HeldOut
from pengp.estimators.path_view import Mode
from pengp.estimators.view import FittedView, view_of

#: theta may grow by this factor along its ray, without the likelihood noticing, before it is told.
_FLAT_FACTOR = 2.0
#: Another mode is told if its objective is less than this below the best: half the 95 % quantile of
#: chi-squared with one degree of freedom, as for a likelihood interval.
CLOSE_MODE = 1.92
#: Posterior weight from which on an explanation with other inputs is told.
_TOLD_SHARE = 0.05
#: Ratio of the errors with theta estimated anew and with theta kept from which on it is told.
_FLATTERED = 1.5
#: Choices of lambda over repeated folds count as unstable if they spread over this factor.
_UNSTABLE_FACTOR = 10.0


class Finding(NamedTuple):
    """Something to know before the surrogate is trusted."""

    code: str
    """One word: useless, flattering, intervals, draws, flat, bound, converged, modes, unstable,
    scale; of test runs useless, promise, intervals, distance."""
    message: str
    """What was seen and what to do, in plain sentences."""


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """What can be said about the surrogate of one output.

    Attributes
    ----------
    held_out : HeldOut or None
        The runs predicted by fits that did not know them, theta learned anew: how accurate the
        surrogate is on new runs. None for a constant response.
    scores : dict of float
        Leave-one-out rmse, crps and interval_score in the response's unit, q2, log_score, coverage;
        theta is kept, which has seen the run left out, so that they flatter. An average keeps no
        theta: they are those of `held_out`, nan where there is none.
    level : float
        Probability of the intervals in coverage and interval_score.
    active : [d]
        Whether the input matters: it varied in the fit, and theta is above its lower bound; in an
        average, more probably than not.
    modes : tuple of Mode
        Every local maximum found at lam_, best first; the first is the estimate. None in an
        average, which has `explanations_`.
    stability : [repeats] or None
        The lambda that each repeat of the folds chooses alone; None without repeats.
    findings : tuple of Finding
        What to beware of, the gravest first; empty if nothing is wrong.
    """

    held_out: HeldOut | None
    scores: dict[str, float]
    level: float
    active: BoolArray
    modes: tuple[Mode, ...]
    stability: FloatArray | None
    findings: tuple[Finding, ...]


def diagnose(estimator: Any, *, output: int = 0, level: float = 0.95) -> Diagnosis:
    """Judge a fitted estimator by its own runs.

    Parameters
    ----------
    estimator : BayesianGPRegressor, PenalizedGPRegressor or PenalizedGPRegressorCV
        Fitted.
    output : int
        Which output, for responses [n, q].
    level : float
        Probability of the intervals that are checked.
    """
    return diagnose_view(view_of(estimator, output), level)


def diagnose_view(view: FittedView, level: float = 0.95) -> Diagnosis:
    """Judge a fitted model that is in view; see `diagnose`."""
    held_out = view.held_out(level)
    scores = _own_scores(view, held_out, level)
    parts: tuple[Callable[[FittedView], Iterator[Finding]], ...] = (_draws, _explanations)
    if view.is_penalized:
        parts = (_flat, _at_bound, _not_converged, _close_modes)
    findings = (
        *_useless(scores if held_out is None else held_out.scores()),
        *_flattering(view, held_out),
        *_contradicted_intervals(view, held_out, scores, level),
        *(finding for part in parts for finding in part(view)),
        *_unstable(view.stability),
        *_other_scales(view),
    )
    return Diagnosis(held_out, scores, level, view.active, view.modes, view.stability, findings)


def _own_scores(view: FittedView, held_out: HeldOut | None, level: float) -> dict[str, float]:
    """Return the scores of the runs with theta kept, or those of an average; see `Diagnosis`."""
    if view.is_penalized or view.is_constant:
        if view.left_out_law is not None:
            return score_law(view.left_out[0], view.left_out_law, level=level)
        return score_predictions(*view.left_out, level=level)
    undefined = dict.fromkeys(VALIDATION_SCORES, float("nan"))
    return undefined if held_out is None else {**undefined, **held_out.scores()}


def _useless(scores: dict[str, float]) -> Iterator[Finding]:
    """Say so if the mean of the runs predicts as well."""
    if scores["q2"] <= 0.0:
        yield Finding(
            "useless",
            f"Predictions of runs that were held out are no better than the mean of the runs "
            f"(Q2 = {scores['q2']:.2f}). Do not rely on this surrogate between the runs; more "
            "runs, or a transformed response, may help.",
        )


def _flattering(view: FittedView, held_out: HeldOut | None) -> Iterator[Finding]:
    """Say so if the same runs are predicted much better by a theta that has seen them."""
    if held_out is None or not view.is_penalized:
        return
    kept: HeldOut = view.estimator.held_out(view.output, keep_theta=True)
    error, flattered = held_out.scores()["rmse"], kept.scores()["rmse"]
    if error > _FLATTERED * flattered:
        yield Finding(
            "flattering",
            f"With theta estimated anew without them ({held_out.how}), runs are predicted with an "
            f"error of {error:.3g}, with theta kept of {flattered:.3g}: the estimate hangs on "
            "single runs. Believe the larger error.",
        )


def _contradicted_intervals(
    view: FittedView, held_out: HeldOut | None, scores: dict[str, float], level: float
) -> Iterator[Finding]:
    """Say so if too many runs lie outside their leave-one-out intervals, or too few."""
    if view.is_constant or (held_out is None and not view.is_penalized):
        return
    n = len(view.loo.mean)
    check = IntervalCheck(round(scores["coverage"] * n), n, level)
    if check.contradicted:
        z = np.abs(view.loo.standardized_residual)
        yield Finding(
            "intervals",
            f"Leave-one-out residuals contradict the intervals: {n - check.inside} of {n} runs lie "
            f"outside their {100 * level:g} % interval, where {n * (1 - level):.1f} are expected "
            f"(run {int(z.argmax()) + 1} is {z.max():.1f} standard deviations off). Take the "
            f"intervals as too {check.too}.",
        )


def _flat(view: FittedView) -> Iterator[Finding]:
    """Say so if a multiple of theta does as well."""
    free, flat = view.active, view.flat
    factor = (flat.upper / flat.lower)[free].max(initial=1.0)
    if factor < _FLAT_FACTOR:
        return
    p = int(np.argmax(np.where(free, view.theta, -np.inf)))
    whose = "" if np.ptp(view.theta) == 0.0 else f" of {view.names[p]}"
    end = "its upper bound " if flat.upper[p] >= view.bounds[1] else ""
    yield Finding(
        "flat",
        f"The likelihood is flat: every theta{whose} from {flat.lower[p]:.3g} to "
        f"{end}{flat.upper[p]:.4g} fits the runs equally well. The runs do not tell how fast "
        "the response varies; the penalty decides or, at lambda 0, mere chance.",
    )


def _at_bound(view: FittedView) -> Iterator[Finding]:
    """Say so if a theta ran to its upper bound."""
    above = (view.at_bound > 0) & view.active
    if above.any():
        names = ", ".join(view.names[p] for p in np.flatnonzero(above))
        yield Finding(
            "bound",
            f"theta is at its upper bound {view.bounds[1]:g} for {names}: neighbouring runs look "
            "unrelated there, and predictions between them fall back to the mean. More runs are "
            "needed.",
        )


def _not_converged(view: FittedView) -> Iterator[Finding]:
    """Say so if the estimate is no stationary point."""
    if not view.converged:
        yield Finding(
            "converged",
            "The estimate is not a maximum of the penalized likelihood; try a larger nugget or "
            "more starts.",
        )


def _close_modes(view: FittedView) -> Iterator[Finding]:
    """Say so if another mode with other inputs is nearly as good."""
    best = view.modes[0].active if view.modes else np.empty(0, dtype=bool)
    for mode in view.modes[1:]:
        if mode.deficit < CLOSE_MODE and not np.array_equal(mode.active, best):
            used = ", ".join(view.names[p] for p in np.flatnonzero(mode.active)) or "no input"
            yield Finding(
                "modes",
                f"The runs support another explanation nearly as well (penalized log likelihood "
                f"lower by {mode.deficit:.2f}): one that uses {used}. A few runs that tell the "
                "two apart would settle it.",
            )
            return


def _draws(view: FittedView) -> Iterator[Finding]:
    """Say so if the draws of an average are not to be trusted."""
    problems = () if view.is_constant else view.average.average.problems
    for sentence in problems:
        yield Finding("draws", f"The posterior cannot be trusted: {sentence}")


def _explanations(view: FittedView) -> Iterator[Finding]:
    """Say so if explanations with other inputs have a share in an average."""
    shares: dict[tuple[str, ...], float] = {}
    for found in () if view.is_constant else view.average.explanations:
        used = tuple(view.names[p] for p in np.flatnonzero(found.matters))
        shares[used] = shares.get(used, 0.0) + found.weight
    told = sorted(((w, used) for used, w in shares.items() if w >= _TOLD_SHARE), reverse=True)
    if len(told) > 1:
        words = [f"{100 * w:.0f} % uses {', '.join(used) or 'no input'}" for w, used in told]
        yield Finding(
            "modes",
            f"The runs support {len(told)} explanations with different inputs: of the posterior, "
            f"{'; '.join(words)}. The average holds all of them; a few runs that tell them apart "
            "would settle it.",
        )


def _unstable(stability: FloatArray | None) -> Iterator[Finding]:
    """Say so if lambda depends on how the runs were dealt into folds."""
    if stability is None:
        return
    low, high = float(stability.min()), float(stability.max())
    if high > _UNSTABLE_FACTOR * low:
        yield Finding(
            "unstable",
            f"The choice of lambda depends on how the runs fall into folds: {len(stability)} "
            f"repeats alone would choose from {low:.3g} to {high:.3g}, median "
            f"{float(np.median(stability)):.3g}. Compare the predictions at both ends.",
        )


def _other_scales(view: FittedView) -> Iterator[Finding]:
    """Say so if runs that were left out are predicted better on another scale."""
    for advice in advise(view.X, view.y, view.input_transforms, view.response_transform):
        name = view.response if advice.column is None else view.names[advice.column]
        yield Finding("scale", advice.sentence(name, len(view.y)))
