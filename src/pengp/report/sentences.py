"""The findings in plain sentences, for a reader who knows the simulator and not the method."""

from typing import NamedTuple

import numpy as np

from pengp.choosing.rules import RULES, Rule, get_rule
from pengp.diagnostics import CLOSE_MODE
from pengp.report.choice import metric_words
from pengp.report.subject import Subject
from pengp.report.text import counted, lam_is, listed, number, percent, plain

_TITLES = {
    "flat": "The likelihood is flat.",
    "bound": "An estimate is at its bound.",
    "converged": "An estimate did not converge.",
    "modes": "There is another explanation.",
    "draws": "The draws cannot be trusted.",
    "unstable": "The choice of λ is unstable.",
    "intervals": "The intervals do not keep their promise.",
    "flattering": "The check with theta kept flatters.",
    "useless": "The surrogate does not predict.",
    "noise": "The runs look noisy.",
    "scale": "Another scale predicts better.",
}
#: Inputs that a sentence names.
_MOST_NAMED = 8


class Caution(NamedTuple):
    """Something to beware of: a title, and what to do."""

    title: str
    message: str


class Tile(NamedTuple):
    """A number that stands out, with what it is and a remark."""

    label: str
    value: str
    note: str


def tiles(subject: Subject) -> list[Tile]:
    """Return the numbers to see first."""
    active = int(subject.active[subject.place].sum())
    return [
        Tile("Penalty weight λ", number(subject.view.lam, 3), _tile_choice(subject)),
        Tile("Inputs that matter", f"{active} of {len(subject.view.names)}", _tile_runs(subject)),
        *accuracy_tiles(subject),
    ]


def accuracy_tiles(subject: Subject) -> list[Tile]:
    """Return error and coverage on runs that were held out, where there are any."""
    spread, held_out = float(subject.view.y.std(ddof=1)), subject.diagnosis.held_out
    scores = subject.diagnosis.scores if held_out is None else held_out.scores()
    relative = "RMSE; the response is constant"
    if spread > 0:
        share = percent(scores["rmse"] / spread)
        relative = f"RMSE; {share} of the runs' spread ({number(spread, 3)})"
    if not np.isfinite(scores["rmse"]):
        relative = "too few runs to hold any out"
    how = "θ kept" if held_out is None else f"held out ({held_out.how}), θ anew"
    level = percent(subject.diagnosis.level)
    return [
        Tile("Typical prediction error", number(scores["rmse"], 3), relative),
        Tile(
            "Runs inside their interval",
            percent(scores["coverage"]),
            f"{how}; {level} intervals; Q² = {number(scores['q2'], 3)}",
        ),
    ]


def _tile_runs(subject: Subject) -> str:
    """Return how many runs the model knows."""
    return f"as far as {counted(len(subject.view.y), 'run')} can tell"


def _tile_choice(subject: Subject) -> str:
    """Return in a few words where lambda comes from."""
    if not subject.view.is_selected:
        return "given"
    if subject.view.table is None:
        return "the smallest, not cross-validated"
    return _rule(subject).label


def penalty(subject: Subject) -> str:
    """Say in short how lambda was chosen."""
    if subject.view.table is None:
        return choice(subject)
    lam, words = lam_is(subject.view.lam), _rule(subject).meaning
    return f"{lam}, the weight of the penalty, was chosen by cross-validation as {words}."


def choice(subject: Subject) -> str:
    """Say how lambda was chosen."""
    lam = lam_is(subject.view.lam)
    if not subject.view.is_selected:
        plain_likelihood = " That is plain maximum likelihood." if subject.view.lam == 0.0 else ""
        return f"{lam} was given, not chosen from the runs.{plain_likelihood}"
    table = subject.view.table
    if table is None:
        return (
            f"{lam}, the smallest value, was taken: cross-validation was not possible, because "
            "the response is constant or there are too few runs."
        )
    plan, metric = table.plan, subject.view.metric or ""
    judged_by = metric_words(metric, table.greater_is_better[metric])
    folds = f"{counted(plan.n_folds, 'fold')}"
    if plan.repeats > 1:
        folds += f", dealt {plan.repeats} times"
    found = (
        f"{lam} was chosen among {counted(len(subject.view.path.lams), 'value')} by "
        f"cross-validation ({plain(plan.kind)}, {folds}) of the {judged_by}"
    )
    best = lam_is(float(subject.view.own(subject.view.estimator.lam_min_)))
    return f"{found}, as {_rule(subject).meaning}. The best mean over the folds is at {best}."


def _rule(subject: Subject) -> Rule | type[Rule]:
    """Return the rule; of one that is the caller's own a file knows only the name."""
    rule = subject.view.estimator.rule_
    return RULES.get(rule, Rule) if isinstance(rule, str) else get_rule(rule)


def inputs(subject: Subject) -> str:
    """Say which inputs matter, with their lengthscales."""
    used = [p for p in subject.ranked if subject.active[subject.place, p]]
    if not used:
        return (
            "No input matters: to these runs, at this λ, the response looks the same everywhere, "
            "and predictions stay near the mean."
        )
    lengths = subject.lengthscale[subject.place]
    words = [f"{subject.view.names[p]} ({number(lengths[p], 3)})" for p in used[:_MOST_NAMED]]
    if len(used) > _MOST_NAMED:
        words.append(f"{len(used) - _MOST_NAMED} more")
    count = (
        "All inputs share one θ and" if subject.view.estimator.isotropic else _count(subject, used)
    )
    verb = "matters" if len(used) == 1 and not subject.view.estimator.isotropic else "matter"
    text = (
        f"{count} {verb}; in brackets the lengthscale, a distance in the input's own unit "
        f"over which the response changes: {listed(words)}."
    )
    return f"{text} {_rest(subject)}".rstrip()


def _count(subject: Subject, used: list[int]) -> str:
    """Return how many inputs matter."""
    return f"{len(used)} of {counted(len(subject.view.names), 'input')}"


def _rest(subject: Subject) -> str:
    """Say which inputs do not matter."""
    active = subject.active[subject.place]
    unused = [
        subject.view.names[p]
        for p in subject.ranked
        if not active[p] and not subject.view.constant[p]
    ]
    constant = [subject.view.names[p] for p in subject.ranked if subject.view.constant[p]]
    texts = []
    if unused:
        shown = unused[:_MOST_NAMED]
        shown += [f"{len(unused) - len(shown)} more"] if len(unused) > len(shown) else []
        verb = "has" if len(unused) == 1 else "have"
        texts.append(f"In these runs {listed(shown)} {verb} no visible effect.")
    if constant:
        verb = "was" if len(constant) == 1 else "were"
        texts.append(f"{listed(constant)} {verb} constant and could not be judged.")
    return " ".join(texts)


def error(subject: Subject) -> str:
    """Say how well runs are predicted by fits that did not know them."""
    held_out, spread = subject.diagnosis.held_out, float(subject.view.y.std(ddof=1))
    if not spread > 0:
        return "The response is constant; it is predicted as that constant, without spread."
    if held_out is None:
        return "There are too few runs to hold any out, so the accuracy is not known."
    scores, kept = held_out.scores(), subject.diagnosis.scores
    text = (
        f"A run that was held out ({held_out.how}), θ learned anew without it, is missed by "
        f"typically {number(scores['rmse'], 3)} (RMSE), which is "
        f"{percent(scores['rmse'] / spread)} of the standard deviation of the response, "
        f"{number(spread, 3)}. Q² = {number(scores['q2'], 3)}: {_explained(scores['q2'])}"
    )
    if subject.view.noise_words:
        text += f" Errors include the runs' noise ({subject.view.noise_words})."
    if not subject.view.is_penalized:
        return text
    return (
        f"{text} With θ kept, which has seen the run, RMSE would be {number(kept['rmse'], 3)} and "
        f"Q² {number(kept['q2'], 3)}; that flatters."
    )


def _explained(q2: float) -> str:
    """Say what Q2 means."""
    if q2 <= 0.0:
        return "no better than the mean of the runs."
    return f"the predictions account for {percent(q2)} of the response's variance."


def cautions(subject: Subject) -> list[Caution]:
    """Return what to beware of, the gravest first."""
    found = found_cautions(subject)
    if subject.view.learned_later:
        found.append(Caution("Runs were added later.", later(subject)))
    return found


def found_cautions(subject: Subject) -> list[Caution]:
    """Return the findings, each with a title."""
    return [
        Caution(_TITLES.get(finding.code, finding.code), finding.message)
        for finding in subject.diagnosis.findings
    ]


def later(subject: Subject) -> str:
    """Say what belongs to the runs of the fit only, in a model that learned more."""
    if not subject.view.learned_later:
        return ""
    fitted = len(subject.view.y) - subject.view.learned_later
    return (
        f"The model knows {len(subject.view.y)} runs, but λ and θ were estimated from the first "
        f"{fitted} of them: cross-validation, the path of θ, the likelihood and its maxima "
        f"belong to those. Predictions use all runs. Fit anew to estimate from all of them."
    )


def held(subject: Subject) -> str:
    """Say where the other inputs are held in the figures of the response."""
    if len(subject.view.names) == 1:
        return ""
    middle = subject.view.middle
    order = subject.ranked[:_MOST_NAMED]
    words = [f"{subject.view.names[p]} at {subject.value(p, middle[p])}" for p in order]
    rest = len(subject.view.names) - len(order)
    if rest:
        words.append(f"{rest} more")
    return f"Inputs that do not move are held at the mean of the runs: {listed(words)}."


def runs(subject: Subject) -> str:
    """Say what the table of runs holds."""
    n, y = len(subject.view.y), subject.view.y
    text = (
        f"{counted(n, 'run')}, {counted(len(subject.view.names), 'input')}; "
        f"{subject.view.response} from {number(float(y.min()))} to {number(float(y.max()))}, "
        f"mean {number(float(y.mean()))}, standard deviation {number(float(y.std(ddof=1)))}."
    )
    if subject.view.noise_words:
        text += f" Its noise is {subject.view.noise_words}; predictions leave it out."
    if not subject.view.is_penalized and subject.diagnosis.held_out is None:
        return text
    worst = int(np.abs(subject.residuals[subject.place].standardized).argmax())
    return f"{text} Least expected from the others: run {worst + 1}."


def modes(subject: Subject) -> str:
    """Say how many maxima there are."""
    if subject.view.is_constant:
        return "The response is constant, which every θ explains equally well."
    others = subject.view.modes[1:]
    if not others:
        return "One maximum of the penalized likelihood was found, the estimate."
    near = sum(mode.deficit < CLOSE_MODE for mode in others)
    text = (
        f"{len(others) + 1} maxima of the penalized likelihood were found; the highest is the "
        "estimate."
    )
    if not near:
        return f"{text} The others are clearly lower."
    return (
        f"{text} {counted(near, 'other')} {'is' if near == 1 else 'are'} lower by less than "
        f"{CLOSE_MODE}, a difference that the runs do not settle."
    )
