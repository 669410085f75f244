"""From a surrogate to decisions: which inputs matter, what comes out, which runs to do next."""

from typing import TYPE_CHECKING

from pengp._core.lazy import lazily

if TYPE_CHECKING:
    from pengp.decisions.indices import Effects, Estimate, effects
    from pengp.decisions.optima import Optimum, Place, optimum
    from pengp.decisions.propagation import Propagation, propagate
    from pengp.decisions.proposals import NextRuns, next_runs
    from pengp.decisions.width import Step

__all__ = [
    "Effects",
    "Estimate",
    "NextRuns",
    "Optimum",
    "Place",
    "Propagation",
    "Step",
    "effects",
    "next_runs",
    "optimum",
    "propagate",
]

__getattr__, __dir__ = lazily(
    globals(),
    {
        "indices": ["Effects", "Estimate", "effects"],
        "optima": ["Optimum", "Place", "optimum"],
        "propagation": ["Propagation", "propagate"],
        "proposals": ["NextRuns", "next_runs"],
        "width": ["Step"],
    },
)
