"""Whether a surrogate can be trusted: leave-one-out scores, other modes, what to beware of."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom
from sklearn.utils.validation import check_is_fitted

from pengp._core.arrays import BoolArray, FloatArray
from pengp.choosing.rules import RULES
from pengp.choosing.scores import VALIDATION_SCORES
from pengp.exceptions import InputError

__all__ = ["Diagnosis", "Finding", "Mode", "diagnose", "score_predictions"]

#: theta may grow by this factor along its ray, without the likelihood noticing, before it is told.
_FLAT_FACTOR = 2.0
#: Another mode is told if its objective is less than this below the best: half the 95 % quantile of
#: chi-squared with one degree of freedom, as for a likelihood interval.
_CLOSE_MODE = 1.92
#: Probability, under the model, below which leave-one-out residuals contradict the intervals.
_CONTRADICTION = 0.01
#: Choices of lambda over repeated folds count as unstable if they spread over this factor.
_UNSTABLE_FACTOR = 10.0


class Finding(NamedTuple):
    """Something to know before the surrogate is trusted."""

    code: str
    """One word: flat, bound, converged, modes, unstable, intervals, useless."""
    message: str
    """What was seen and what to do, in plain sentences."""


class Mode(NamedTuple):
    """A local maximum of the penalized likelihood."""

    theta: FloatArray  # [d], for inputs in the unit cube
    deficit: float
    """How far its objective lies below the best one's."""
    active: BoolArray  # [d], whether theta is above its lower bound


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """What can be said about the surrogate of one output.

    Attributes
    ----------
    scores : dict of float
        Leave-one-out rmse, crps and interval_score in the response's unit, q2, log_score, coverage.
    level : float
        Probability of the intervals in coverage and interval_score.
    active : [d]
        Whether theta is above its lower bound, so that the input matters.
    modes : tuple of Mode
        Every local maximum found at lam_, best first; the first is the estimate.
    stability : [repeats] or None
        The lambda that each repeat of the folds chooses alone; None without repeats.
    findings : tuple of Finding
        What to beware of, the gravest first; empty if nothing is wrong.
    """

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
    estimator : PenalizedGPRegressor or PenalizedGPRegressorCV
        Fitted.
    output : int
        Which output, for responses [n, q].
    level : float
        Probability of the intervals that are checked.
    """
    check_is_fitted(estimator)
    view = _View.of(estimator, output)
    scores = score_predictions(view.y, view.mean, view.std, level=level)
    stability = _stability(estimator, output)
    findings = (
        *_useless(scores),
        *_contradicted_intervals(view, scores, level),
        *_flat(view),
        *_at_bound(view),
        *_not_converged(view),
        *_close_modes(view),
        *_unstable(stability),
    )
    return Diagnosis(scores, level, view.at_bound >= 0, view.modes, stability, findings)


def score_predictions(
    y: ArrayLike, mean: ArrayLike, std: ArrayLike, *, level: float = 0.95
) -> dict[str, float]:
    """Return every score of `pengp.choosing.VALIDATION_SCORES` by name, for normal predictions.

    Parameters
    ----------
    y : [m]
        Responses that were seen.
    mean, std : [m]
        Their predictions.
    level : float
        Probability of the central intervals that coverage and interval_score judge.
    """
    return {name: score(y, mean, std, level) for name, score in VALIDATION_SCORES.items()}


@dataclass(frozen=True, eq=False)
class _View:
    """One output of a fitted estimator, without the output axis."""

    names: list[str]
    theta: FloatArray  # [d]
    bounds: tuple[float, float]
    at_bound: Any  # [d], -1 at the lower bound of theta, 1 at the upper
    converged: bool
    flat_lower: FloatArray  # [d]
    flat_upper: FloatArray  # [d]
    modes: tuple[Mode, ...]
    y: FloatArray  # [n], the runs
    mean: FloatArray  # [n], leave-one-out
    std: FloatArray  # [n]

    @classmethod
    def of(cls, estimator: Any, output: int) -> "_View":
        """Take the parts of an output out of the estimator."""
        q = 1 if np.ndim(estimator.lam_) == 0 else len(estimator.lam_)
        if not 0 <= output < q:
            raise InputError(f"output={output} is not among the model's outputs, 0 to {q - 1}.")
        one = np.ndim(estimator.lam_) == 0
        row = () if one else (output,)
        column = () if one else (slice(None), output)
        path, modes, flat, loo = (
            getattr(estimator, a) for a in ("path_", "modes_", "flat_", "loo_")
        )
        lam = estimator.lam_ if one else estimator.lam_[output]
        place = (*row, int(np.flatnonzero(path.lams == lam)[0]))
        low, high = (float(b) for b in estimator.theta_bounds)
        count = int(modes.count[row])
        theta, objective = modes.theta[row][:count], modes.objective[row][:count]
        d = estimator.n_features_in_
        names = getattr(estimator, "feature_names_in_", [f"x{p + 1}" for p in range(d)])
        return cls(
            names=[str(name) for name in names],
            theta=estimator.theta_[row],
            bounds=(low, high),
            at_bound=path.at_bound[place],
            converged=bool(path.converged[place]),
            flat_lower=flat.lower[row],
            flat_upper=flat.upper[row],
            modes=tuple(
                Mode(t, _below(objective[0], value), t > low * (1 + 1e-9))
                for t, value in zip(theta, objective, strict=True)
            ),
            y=estimator.y_train_[column],
            mean=loo.mean[column],
            std=loo.std[column],
        )


def _below(best: float, value: float) -> float:
    """Return how far a value is below the best, which is infinite for a constant response."""
    return 0.0 if value == best else float(best - value)


def _stability(estimator: Any, output: int) -> FloatArray | None:
    """Return each repeat's choice of lambda, None without repeated folds or without the rule."""
    tables = getattr(estimator, "cv_table_", None)
    table = tables[output] if isinstance(tables, list) else tables
    if table is None or table.plan.repeats == 1:
        return None
    metric = next(iter(table.values))  # the estimator's own stands first
    if not callable(estimator.rule) and estimator.rule not in RULES:
        return None  # a rule of the user's own, of which a model file keeps the name only
    return np.asarray(table.stability(metric, estimator.rule))


def _useless(scores: dict[str, float]) -> Iterator[Finding]:
    """Say so if the mean of the runs predicts as well."""
    if scores["q2"] <= 0.0:
        yield Finding(
            "useless",
            f"Leave-one-out predictions are no better than the mean of the runs "
            f"(Q2 = {scores['q2']:.2f}). Do not rely on this surrogate between the runs; more "
            "runs, or a transformed response, may help.",
        )


def _contradicted_intervals(
    view: _View, scores: dict[str, float], level: float
) -> Iterator[Finding]:
    """Say so if too many runs lie outside their leave-one-out intervals."""
    n = len(view.y)
    outside = round((1.0 - scores["coverage"]) * n)
    if outside and binom.sf(outside - 1, n, 1.0 - level) < _CONTRADICTION:
        z = np.abs(view.y - view.mean) / np.where(view.std > 0.0, view.std, np.inf)
        yield Finding(
            "intervals",
            f"Leave-one-out residuals contradict the intervals: {outside} of {n} runs lie outside "
            f"their {100 * level:g} % interval, where {n * (1 - level):.1f} are expected (run "
            f"{int(z.argmax()) + 1} is {z.max():.1f} standard deviations off). Take the intervals "
            "as too narrow.",
        )


def _flat(view: _View) -> Iterator[Finding]:
    """Say so if a multiple of theta does as well."""
    free = view.at_bound >= 0
    factor = (view.flat_upper / view.flat_lower)[free].max(initial=1.0)
    if factor < _FLAT_FACTOR:
        return
    p = int(np.argmax(np.where(free, view.theta, -np.inf)))
    whose = "" if np.ptp(view.theta) == 0.0 else f" of {view.names[p]}"
    end = "its upper bound " if view.flat_upper[p] >= view.bounds[1] else ""
    yield Finding(
        "flat",
        f"The likelihood is flat: every theta{whose} from {view.flat_lower[p]:.3g} to "
        f"{end}{view.flat_upper[p]:.4g} fits the runs equally well. The runs do not tell how fast "
        "the response varies; the penalty decides or, at lambda 0, mere chance.",
    )


def _at_bound(view: _View) -> Iterator[Finding]:
    """Say so if a theta ran to its upper bound."""
    if (view.at_bound > 0).any():
        names = ", ".join(view.names[p] for p in np.flatnonzero(view.at_bound > 0))
        yield Finding(
            "bound",
            f"theta is at its upper bound {view.bounds[1]:g} for {names}: neighbouring runs look "
            "unrelated there, and predictions between them fall back to the mean. More runs are "
            "needed.",
        )


def _not_converged(view: _View) -> Iterator[Finding]:
    """Say so if the estimate is no stationary point."""
    if not view.converged:
        yield Finding(
            "converged",
            "The estimate is not a maximum of the penalized likelihood; try a larger nugget or "
            "more starts.",
        )


def _close_modes(view: _View) -> Iterator[Finding]:
    """Say so if another mode with other inputs is nearly as good."""
    best = view.modes[0].active if view.modes else np.empty(0, dtype=bool)
    for mode in view.modes[1:]:
        if mode.deficit < _CLOSE_MODE and not np.array_equal(mode.active, best):
            used = ", ".join(view.names[p] for p in np.flatnonzero(mode.active)) or "no input"
            yield Finding(
                "modes",
                f"The runs support another explanation nearly as well (penalized log likelihood "
                f"lower by {mode.deficit:.2f}): one that uses {used}. A few runs that tell the "
                "two apart would settle it.",
            )
            return


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
