"""The part of the page about one output of an average: sentences, figures and tables."""

from typing import Any

from pengp.plots.posterior import label_of
from pengp.report import sentences, tables
from pengp.report.average_tables import activity_table, explanations_table
from pengp.report.beside import Difference, difference
from pengp.report.choice import cv_curve
from pengp.report.contours import contour_plots
from pengp.report.effects import effects_part
from pengp.report.heldout import held_out_sentence, held_out_table
from pengp.report.next_runs import next_part
from pengp.report.optima import optima_part
from pengp.report.outcomes import outcomes_part
from pengp.report.payload import Payload
from pengp.report.posterior import explanation_plots, lengthscale_plot
from pengp.report.prediction import prediction_plots
from pengp.report.response import slice_plots
from pengp.report.sentences import Caution, Tile
from pengp.report.subject import Subject
from pengp.report.text import counted, listed, number, percent
from pengp.report.theta import theta_path
from pengp.report.whatif import what_if, why_not

#: Inputs that a sentence names.
_MOST_NAMED = 8


def output_of(subject: Subject, beside: Subject, payload: Payload) -> dict[str, Any]:
    """Return what the template shows of one output; ``beside`` is the paper's fit of it."""
    payload.state |= {subject.lam_key: subject.place, beside.lam_key: beside.place}
    constant = subject.view.is_constant
    differ = None if constant else difference(subject.view, beside.view)
    predicted = subject.diagnosis.held_out is not None
    return {
        "kind": "average",
        "key": subject.key,
        "response": subject.view.response,
        "tiles": _tiles(subject),
        "sentences": _sentences(subject, beside, differ),
        "cautions": _cautions(subject),
        "predictions": prediction_plots(subject, payload) if predicted else [],
        "effects": effects_part(subject, payload),
        "outcomes": outcomes_part(subject, payload),
        "optima": optima_part(subject),
        "what_if": what_if(subject, payload),
        "why_not": why_not(subject.view),
        "next_runs": next_part(subject, payload),
        "lengthscales": None if constant else lengthscale_plot(subject, payload),
        "explanations": [] if constant else explanation_plots(subject, payload),
        "slices": slice_plots(subject, payload, None if constant else beside.view),
        "contours": contour_plots(subject, payload),
        "beside": [] if constant else _beside_plots(beside, payload),
        "tables": _tables(subject),
        "estimates": _numbers(subject),
    }


def _beside_plots(beside: Subject, payload: Payload) -> list[Any]:
    """Return the paper's path and its curve of cross-validation, which do not move."""
    plots = [theta_path(beside, payload), cv_curve(beside, payload)]
    return [plot for plot in plots if plot is not None]


def _tables(subject: Subject) -> dict[str, tables.Table]:
    """Return the tables; those of the posterior only where there is one."""
    found = {"held": held_out_table(subject), "runs": tables.runs_table(subject)}
    if subject.view.is_constant:
        return found
    return {
        **found,
        "inputs": activity_table(subject),
        "explanations": explanations_table(subject),
    }


def _tiles(subject: Subject) -> list[Tile]:
    """Return the numbers to see first: accuracy, then inputs and kernels."""
    view = subject.view
    accuracy = sentences.accuracy_tiles(subject)
    if view.is_constant:
        return accuracy
    active, weights = int(view.active.sum()), view.average.kernel_weights
    first = max(weights, key=lambda name: weights[name])
    return [
        *accuracy,
        Tile(
            "Inputs that matter",
            f"{active} of {len(view.names)}",
            f"more probably than not, as far as {counted(len(view.y), 'run')} can tell",
        ),
        Tile(
            "Explanations averaged",
            str(len(view.average.explanations)),
            f"of {counted(len(weights), 'kernel')}; most of it {label_of(first)}, "
            f"{percent(round(weights[first], 2))}",
        ),
    ]


def _sentences(subject: Subject, beside: Subject, differ: Difference | None) -> dict[str, str]:
    """Return the sentences of the page."""
    found = {
        "error": sentences.error(subject),
        "held_out": held_out_sentence(subject),
        "held": sentences.held(subject),
        "runs": sentences.runs(subject),
        "later": _later(subject),
    }
    if differ is None:
        return found
    return {
        **found,
        "inputs": _inputs(subject),
        "explained": _explained(subject),
        "beside": differ.sentence(),
        "choice": sentences.choice(beside),
        "chosen": sentences.inputs(beside),
    }


def _inputs(subject: Subject) -> str:
    """Say which inputs matter, with which probability."""
    found, view = subject.view.average.activity, subject.view
    words = [
        f"{view.names[p]} ({percent(round(float(found.probability[p]), 2))}, lengthscale "
        f"{number(found.lengthscale[p, 1], 3)})"
        for p in subject.ranked[:_MOST_NAMED]
        if not view.constant[p]
    ]
    rest = len(subject.ranked) - _MOST_NAMED
    words += [f"{rest} more"] if rest > 0 else []
    constant = [view.names[p] for p in subject.ranked if view.constant[p]]
    text = (
        "With the probability in brackets an input moves the response by more than a tenth of its "
        f"spread; beside it the median lengthscale, in the input's own unit: {listed(words)}."
    )
    if constant:
        verb = "was" if len(constant) == 1 else "were"
        text = f"{text} {listed(constant)} {verb} constant and could not be judged."
    return text


def _explained(subject: Subject) -> str:
    """Say what is averaged, with the weights."""
    average = subject.view.average
    kernels = [f"{label_of(k)} {percent(round(w, 2))}" for k, w in average.kernel_weights.items()]
    count, first = len(average.explanations), average.explanations[0]
    text = f"Nothing was chosen: λ, θ and the kernel are averaged over ({listed(kernels)})."
    if count == 1:
        return f"{text} The posterior has one peak."
    return (
        f"{text} The posterior has {count} peaks, of which the largest holds "
        f"{percent(round(first.weight, 2))}; all are listed below with their weights."
    )


def _later(subject: Subject) -> str:
    """Say what belongs to the runs of the fit only, in a model that learned more."""
    if not subject.view.learned_later:
        return ""
    return (
        f"The model knows {len(subject.view.y)} runs, but the posterior was sampled from the first "
        f"{subject.view.n_fitted} of them: held-out runs, activity and explanations belong to "
        "those. Predictions use all runs. Fit anew to sample from all of them."
    )


def _cautions(subject: Subject) -> list[Caution]:
    """Return what to beware of, the gravest first."""
    found = sentences.found_cautions(subject)
    later = _later(subject)
    return [*found, *([Caution("Runs were added later.", later)] if later else [])]


def _numbers(subject: Subject) -> list[tuple[str, str]]:
    """Return what the sampler says of itself, and the medians."""
    view = subject.view
    if view.is_constant:
        return [("response", "constant")]
    average = view.average.average
    held = subject.diagnosis.held_out
    rows = [
        ("log_evidence_", "{!r} ± {!r}".format(*average.log_evidence)),
        ("effective_size_", f"{average.effective_size:.1f} of {len(average.draws.weight)} draws"),
        ("pareto_shape_", f"{average.pareto_shape:.3f} (above 0.7 the draws are not trusted)"),
        ("halves", f"{average.halves.mean_difference:.3f} standard deviations apart"),
        ("thinning_", f"{average.mean_change:.4f} standard deviations, "
         f"{len(view.average.mixture.weight)} processes kept"),
        ("kernel_weights_", ", ".join(f"{k} {w!r}" for k, w in average.kernel_weights.items())),
        ("theta_", f"{', '.join(repr(float(t)) for t in view.theta)} (posterior medians)"),
    ]  # fmt: skip
    if held is not None and held.effective_size is not None:
        rows.insert(
            2, ("held_out()", f"effective size of at least {held.effective_size.min():.1f}")
        )
    return rows
