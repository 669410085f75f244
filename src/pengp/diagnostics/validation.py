"""A surrogate judged by test runs: scores beside what the fit promised, and joint errors."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from pengp._core.arrays import FloatArray
from pengp._core.shown import Shown
from pengp.choosing.scores import interval_score_values
from pengp.choosing.validation import VALIDATION_SCORES, Law
from pengp.estimators.findings import Finding
from pengp.estimators.heldout import HeldOut
from pengp.estimators.joint import JointErrors, joint_errors
from pengp.estimators.scoring import CONTRADICTION, IntervalCheck, score_law
from pengp.estimators.view import FittedView, view_of

_SHUFFLES = 9_999
"""Random exchanges of held-out and test runs that tell what chance does."""

_MOST_SHUFFLED = 2_000
"""Runs above which Welch's t test takes their place."""

_MOST_NAMED = 5
"""Runs that a finding names."""


class Difference(NamedTuple):
    """A score of test runs beside that of the runs that were held out in ``fit``.

    See Also
    --------
    validate : Its ``differences`` are such.
    """

    name: str
    promised: float
    seen: float
    p_value: float
    """Probability of a difference as large, were both kinds of runs alike."""

    @property
    def by_chance(self) -> bool:
        """Whether chance explains the difference."""
        return self.p_value >= CONTRADICTION


@dataclass(frozen=True, eq=False, repr=False)
class Validation(Shown):
    """What test runs say of the surrogate of one output.

    Attributes
    ----------
    law : Law
        Predictive distributions of the m test runs.
    scores : dict of float
        Scores of the test runs, exactly those of the predictive laws.
    held_out : HeldOut or None
        The runs of the fit, predicted by fits that did not know them: what was promised.
    differences : tuple of Difference
        The two compared: rmse, crps, coverage, interval_score.
    check : IntervalCheck
        How many responses lie in their intervals.
    joint : JointErrors or None
        The errors judged together; None for a constant response.
    findings : tuple of Finding
        What speaks against the surrogate, the gravest first.

    See Also
    --------
    validate : Makes it.
    """

    law: Law
    scores: dict[str, float]
    held_out: HeldOut | None
    differences: tuple[Difference, ...]
    check: IntervalCheck
    joint: JointErrors | None
    findings: tuple[Finding, ...]

    def _in_short(self) -> str:
        told = ", ".join(f"{name} {self.scores[name]:.4g}" for name in ("rmse", "q2", "coverage"))
        codes = ", ".join(finding.code for finding in self.findings) or "none"
        return f"{self.check.n} test runs, {told}, findings: {codes}"

    def _rows(self) -> list[dict[str, Any]]:
        return [
            {"score": d.name, "promised": d.promised, "seen": d.seen, "p": d.p_value}
            for d in self.differences
        ]


def validate(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    output: int = 0,
    level: float = 0.95,
    noise_sd: ArrayLike | None = None,
) -> Validation:
    """Judge a fitted estimator by runs that it does not know.

    Parameters
    ----------
    estimator : BayesianGPRegressor, PenalizedGPRegressor or PenalizedGPRegressorCV
        Fitted.
    X : array or frame, shape [m, d]
        Inputs of the test runs.
    y : [m]
        Their responses.
    output : int
        Which output of the estimator y is.
    level : float
        Probability of the intervals.
    noise_sd : float or [m], optional
        Known standard deviations of the noise of y.

    Examples
    --------
    Eight runs of one function, judged by fifty that the surrogate does not know:

    >>> import numpy as np
    >>> from pengp import BayesianGPRegressor, get_function
    >>> from pengp.diagnostics import validate
    >>> f = get_function("forrester")
    >>> X, X_test = np.linspace(0, 1, 8)[:, None], np.linspace(0.01, 0.99, 50)[:, None]
    >>> model = BayesianGPRegressor(random_state=0).fit(X, f(X))
    >>> found = validate(model, X_test, f(X_test))
    >>> found.scores["q2"] > 0.9, found.check.inside >= 45
    (True, True)
    """
    return validate_view(view_of(estimator, output), X, y, level, noise_sd)


def validate_view(
    view: FittedView,
    X: Any,
    y: ArrayLike,
    level: float = 0.95,
    noise_sd: ArrayLike | None = None,
) -> Validation:
    """Judge a model that is in view; see `validate`."""
    places, seen = view.checked_runs(X, y)
    law = view.law(places, noise_sd)
    scores, held = score_law(seen, law, level=level), view.held_out(level)
    check = IntervalCheck(round(scores["coverage"] * len(seen)), len(seen), level)
    sd = None if noise_sd is None else np.broadcast_to(np.asarray(noise_sd, float), seen.shape)
    joint = None if view.is_constant else joint_errors(view, places, seen, level, sd)
    differences = () if held is None else tuple(_differences(law, seen, held, scores))
    findings = (
        *_useless(scores, len(seen)),
        *_not_as_promised(differences),
        *_contradicted(check),
        *_far_together(joint, _known(view, places)),
    )
    return Validation(law, scores, held, differences, check, joint, findings)


def _differences(
    law: Law, y: FloatArray, held: HeldOut, scores: dict[str, float]
) -> Iterator[Difference]:
    """Compare the values of test and held-out runs, one score after the other."""
    level, promised = held.level, held.scores()
    lower, upper = law.interval(level).T
    ends = held.lower, held.upper
    with np.errstate(over="ignore"):
        squares = (y - law.mean()) ** 2, (held.y - held.mean) ** 2
    pairs = {
        "rmse": squares,
        "crps": (law.crps(y), held.crps),
        "coverage": ((lower <= y) & (y <= upper), (ends[0] <= held.y) & (held.y <= ends[1])),
        "interval_score": (
            interval_score_values(y, lower, upper, level=level),
            interval_score_values(held.y, *ends, level=level),
        ),
    }
    for name, (new, old) in pairs.items():
        p = chance(new.astype(np.float64), held.by_run(old.astype(np.float64)))
        yield Difference(name, promised[name], scores[name], p)


def chance(a: FloatArray, b: FloatArray) -> float:
    """Return the probability of means of a [m] and b [n] as different, were all values alike.

    From random exchanges of their values; for many values from Welch's t test.
    """
    # A value too large for a number counts as the largest one.
    both, m = np.nan_to_num(np.concatenate([a, b]), nan=np.nan), len(a)
    if np.all(both == both[0]):
        return 1.0
    if len(both) > _MOST_SHUFFLED:
        return float(stats.ttest_ind(a, b, equal_var=False).pvalue)
    both = both / np.abs(both).max()
    rng, extreme = np.random.default_rng(0), 1
    # The mean of a follows from that of b: sums are compared, up to rounding.
    centre = m * both.mean()
    seen = abs(both[:m].sum() - centre) * (1.0 - 1e-9)
    for _ in range(_SHUFFLES):
        extreme += abs(rng.permutation(both)[:m].sum() - centre) >= seen
    return float(extreme / (_SHUFFLES + 1))


def _useless(scores: dict[str, float], m: int) -> Iterator[Finding]:
    """Say so if the mean of the test runs predicts as well."""
    if scores["q2"] <= 0.0 and m > 1:
        yield Finding(
            "useless",
            "The predictions are no better than the mean of these runs; do not rely on this model.",
        )


def _not_as_promised(differences: tuple[Difference, ...]) -> Iterator[Finding]:
    """Say so if test runs are predicted otherwise than held-out runs promised."""
    found = [d for d in differences if not d.by_chance]
    if found:
        parts = ", ".join(
            f"{VALIDATION_SCORES.label(d.name)} {d.seen:.3g} instead of {d.promised:.3g} "
            f"(p = {d.p_value:.1g})"
            for d in found
        )
        worse = any(d.name in ("rmse", "crps") and d.seen > d.promised for d in found)
        why = (
            "the test runs may lie where the runs of the fit do not"
            if worse
            else "fits without the runs that were held out knew less than this one"
        )
        yield Finding(
            "promise",
            "These runs are not predicted as the runs that were held out in the fit promised: "
            f"{parts}. Chance does not explain this; {why}.",
        )


def _contradicted(check: IntervalCheck) -> Iterator[Finding]:
    """Say so if the number of responses in their intervals is not chance."""
    if check.contradicted:
        yield Finding(
            "intervals",
            f"{check.inside} of {check.n} responses lie in their {100 * check.level:g} % interval, "
            f"where {check.n * check.level:.3g} are expected: the intervals are too {check.too}, "
            f"chance does not explain this (p = {check.p_value:.1g}).",
        )


def _known(view: FittedView, X: FloatArray) -> int:
    """Return how many of the runs X [m, d] the model was fitted to."""
    known = {tuple(run) for run in view.X.tolist()}
    return sum(tuple(run) in known for run in X.tolist())


def _far_together(joint: JointErrors | None, known: int = 0) -> Iterator[Finding]:
    """Say what the errors say together about variance, mean and correlation.

    So many of the runs are those of the fit, from which nothing follows.
    """
    if joint is None:
        return
    smaller, larger = joint.balance
    late = -1 if smaller < 0.5 * CONTRADICTION else int(larger < 0.5 * CONTRADICTION)
    if joint.p_value >= CONTRADICTION and not late:
        return
    size = "larger" if joint.distance > joint.expected else "smaller"
    said = f"{size} than the model says"
    if joint.p_value >= CONTRADICTION:
        p = 2.0 * min(joint.balance)
        said = f"as large as the model says, but not where it says (p = {p:.1g})"
    meaning = _meaning(late, size)
    if known:
        meaning = (
            f"{known} of them are at runs that the model was fitted to and hits, so that "
            "this says nothing of its variance and lengthscales."
        )
    yield Finding(
        "distance",
        f"Taken together the errors are {said}: their Mahalanobis distance is "
        f"{joint.distance:.4g}, where {joint.expected:.4g} is expected (p = {joint.p_value:.1g}; "
        f"{joint.law}). {meaning}{_worst(joint)}",
    )


def _meaning(late: int, size: str) -> str:
    """Say what it means, errors at late pivots being too large (1), too small (-1) or neither."""
    if late:
        words, too = {
            1: ("large", "long, or the kernel is too smooth"),
            -1: ("small", "short"),
        }[late]
        return (
            f"Against those of runs far from all others, they are too {words} at runs that others "
            f"should predict well: the lengthscales are too {too}."
        )
    wrong = "small for its lengthscales, or the mean wrong" if size == "larger" else "large"
    return f"That holds for runs far from all others and near them: the variance is too {wrong}."


def _worst(joint: JointErrors) -> str:
    """Name the runs whose pivoted errors are outside what all of them together should be."""
    far = np.flatnonzero((joint.pivoted < joint.lower) | (joint.pivoted > joint.upper))
    most = far[np.argsort(-np.abs(joint.pivoted[far]), kind="stable")][:_MOST_NAMED]
    if not len(most):
        return ""
    named = ", ".join(f"{joint.order[i] + 1} ({joint.pivoted[i]:+.1f})" for i in most)
    return f" Farthest out: test run{'s' * (len(most) > 1)} {named}."
