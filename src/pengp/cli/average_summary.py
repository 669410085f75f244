"""What is told about a Bayesian average: kernels, draws, inputs, explanations."""

from typing import TYPE_CHECKING, Any

from pengp.cli.levels import extent
from pengp.cli.printing import facts, number, percent, table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pengp.estimators.average_view import AverageView
    from pengp.estimators.view import FittedView

#: Explanations that are shown.
_MOST = 6


def average_parts(view: "FittedView") -> "list[RenderableType]":
    """Return what the average says, to be printed below its accuracy."""
    if view.is_constant:
        return []
    return [
        "",
        facts([("Average", _kernels(view.average)), ("Draws", _draws(view.average))]),
        "",
        _input_table(view),
        "",
        *_explanation_table(view),
    ]


def average_record(view: "FittedView") -> dict[str, Any]:
    """Return the same as numbers and names; nothing for a constant response."""
    if view.is_constant:
        return {"method": "bayes"}
    found, kept, activity = view.average, view.average.average, view.average.activity
    return {
        "method": "bayes",
        "kernels": found.kernel_weights,
        "log_evidence": dict(zip(("value", "error"), kept.log_evidence, strict=True)),
        "effective_size": kept.effective_size,
        "pareto_shape": kept.pareto_shape,
        "activity": [
            {"name": name, "probability": p, "change": change, "lengthscale": length}
            for name, p, change, length in zip(view.names, *activity, strict=True)
        ],
        "explanations": [
            {
                "weight": one.weight,
                "kernel": one.kernel,
                "theta": one.theta,
                "lengthscale": one.lengthscale,
                "active": [name for name, yes in zip(view.names, one.matters, strict=True) if yes],
            }
            for one in found.explanations
        ],
    }


def _kernels(average: "AverageView") -> str:
    """Return the weights of the kernels."""
    weights = average.kernel_weights.items()
    shares = ", ".join(f"{_label(name)} {percent(w)}" for name, w in weights)
    return f"over lambda, theta and kernels: {shares}"


def _draws(average: "AverageView") -> str:
    """Return what the sampler says of itself."""
    kept = average.average
    evidence = "{:.2f} +- {:.2f}".format(*kept.log_evidence)
    return (
        f"effective size {kept.effective_size:.0f}, Pareto shape {kept.pareto_shape:.2f}, "
        f"log evidence {evidence}"
    )


def _label(kernel: str) -> str:
    """Return what readers call a kernel."""
    from pengp.model.kernels import KERNELS

    return KERNELS.label(kernel) if kernel in KERNELS else kernel


def _input_table(view: "FittedView") -> "RenderableType":
    """Return probability and lengthscale of each input."""
    found, rows = view.average.activity, []
    for p, name in enumerate(view.names):
        low, median, high = found.lengthscale[p]
        constant = bool(view.constant[p])
        rows.append(
            [
                name,
                extent(view, p),
                "constant" if constant else percent(found.probability[p]),
                number(median, 3),
                "-" if constant else f"{number(low, 3)} to {number(high, 3)}",
            ]
        )
    heading = ["input", "range of the runs", "matters", "lengthscale", "90 % of it"]
    return table(heading, rows, left=2)


def _explanation_table(view: "FittedView") -> "list[RenderableType]":
    """Return the explanations with their weights and the lengthscales of what matters in each."""
    found = view.average.explanations
    rows = []
    for one in found[:_MOST]:
        used = [
            f"{name} {number(length, 3)}"
            for name, length, yes in zip(view.names, one.lengthscale, one.matters, strict=True)
            if yes
        ]
        rows.append([percent(one.weight), _label(one.kernel), ", ".join(used) or "no input"])
    left_out = len(found) - len(rows)
    more = [f"and {left_out} more, with less weight"] if left_out else []
    title = "Explanations that are averaged:"
    heading = ["weight", "kernel", "lengthscales of the inputs that matter"]
    return [title, table(heading, rows, right=(0,)), *more]
