"""Whether a surrogate can be trusted: held-out scores, other explanations, what to beware of."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from pengp._core.arrays import BoolArray, FloatArray
from pengp._core.surface import by_surface
from pengp.choosing.scores import half_width
from pengp.choosing.validation import VALIDATION_SCORES
from pengp.estimators.findings import (
    Finding,
    at_bounds,
    close_modes,
    flat_likelihood,
    lambda_at_bound,
    not_converged,
    telling_apart,
)
from pengp.estimators.heldout import HeldOut
from pengp.estimators.path_view import Mode
from pengp.estimators.scoring import IntervalCheck, score_law, score_predictions
from pengp.estimators.unknown_noise import unknown_noise
from pengp.estimators.view import FittedView, view_of
from pengp.exceptions import InputError

#: Posterior weight from which on an explanation with other inputs is told.
_TOLD_SHARE = 0.05
#: Ratio of the errors with theta estimated anew and with theta kept from which on it is told.
_FLATTERED = 1.5
#: Choices of lambda over repeated folds count as unstable if they spread over this factor.
_UNSTABLE_FACTOR = 10.0


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

    See Also
    --------
    diagnose : Makes it.
    """

    held_out: HeldOut | None
    scores: dict[str, float]
    level: float
    active: BoolArray
    modes: tuple[Mode, ...]
    stability: FloatArray | None
    findings: tuple[Finding, ...]

    def __repr__(self) -> str:
        codes = ", ".join(finding.code for finding in self.findings) or "none"
        inputs = f"{int(self.active.sum())} of {len(self.active)} inputs active"
        q2 = "" if self.held_out is None else f"held-out Q2 {self.held_out.scores()['q2']:.2f}, "
        return f"Diagnosis({q2}{inputs}, findings: {codes})"

    def __str__(self) -> str:
        return "\n".join([repr(self), *(f"- {finding.message}" for finding in self.findings)])

    def _repr_html_(self) -> str:
        """Return the line and the findings for notebooks."""
        items = "".join(f"<li>{escape(finding.message)}</li>" for finding in self.findings)
        return f"<p>{escape(repr(self))}</p><ul>{items}</ul>"


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

    Examples
    --------
    >>> from pengp import PenalizedGPRegressor, diagnose, load_piston_slap
    >>> runs = load_piston_slap()
    >>> model = PenalizedGPRegressor(lam=0.0578, random_state=0).fit(runs.X, runs.y)
    >>> found = diagnose(model)
    >>> round(found.scores["q2"], 1), found.active.tolist()
    (0.7, [True, False, False, True, True, True])
    >>> found.findings[0].code  # its message says more, in a sentence or two
    'useless'
    """
    return diagnose_view(view_of(estimator, output), level)


def diagnose_view(view: FittedView, level: float = 0.95) -> Diagnosis:
    """Judge a fitted model that is in view; see `diagnose`.

    See Also
    --------
    pengp.diagnose : Takes an estimator.
    """
    if not isinstance(view, FittedView):
        raise InputError("diagnose_view takes the view of a model; use diagnose(estimator).")
    half_width(level)  # says so if it is none
    held_out = view.held_out(level)
    scores = _own_scores(view, held_out, level)
    parts: tuple[Callable[[FittedView], Iterator[Finding]], ...] = (_draws, _explanations)
    if view.is_penalized:
        parts = (flat_likelihood, at_bounds, lambda_at_bound, not_converged, close_modes)
    findings = (
        *_useless(scores if held_out is None else held_out.scores()),
        *_flattering(view, held_out),
        *_contradicted_intervals(view, held_out, scores, level),
        *(finding for part in parts for finding in part(view)),
        *_unstable(view.stability),
        *unknown_noise(view),
        *_other_scales(view),
    )
    return Diagnosis(held_out, scores, level, view.active, view.modes, view.stability, findings)


def grave_findings(view: FittedView, level: float = 0.95) -> Iterator[Finding]:
    """Yield what speaks against a fit, as far as that is cheap beside it."""
    if view.is_constant:
        return
    if view.table is not None or not view.is_penalized:
        if (held_out := view.held_out(level)) is not None:
            yield from _useless(held_out.scores())
        yield from unknown_noise(view)
    if not view.is_penalized:
        return
    scores = _own_scores(view, None, level)
    yield from _contradicted_intervals(view, None, scores, level)
    yield from flat_likelihood(view)
    yield from at_bounds(view)
    if isinstance(getattr(view.estimator, "lams", None), str):  # else the caller ended the grid
        yield from lambda_at_bound(view)


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
            f"runs ({by_surface('pengp.decisions.next_runs', 'pengp next')}) or a transformed "
            f"response ({by_surface('response_transform', '--log-response')}) may help.",
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
            f"would settle it: {telling_apart(view)}",
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
            f"{float(np.median(stability)):.3g}. Compare the predictions at both ends: "
            f"{by_surface('at_lambda(lam)', 'pengp predict --lambda')}.",
        )


def _other_scales(view: FittedView) -> Iterator[Finding]:
    """Say so if runs that were left out are predicted better on another scale."""
    from pengp.estimators.advice import advise  # fits estimators, which are made from this module

    named = hasattr(view.estimator, "feature_names_in_")
    scales = view.input_transforms, view.response_transform
    for advice in advise(view.X, view.y, *scales, view.noise_sd):
        name = view.response if advice.column is None else view.names[advice.column]
        yield Finding("scale", advice.sentence(name, len(view.y), named=named))
