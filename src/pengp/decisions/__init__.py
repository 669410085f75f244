"""From a surrogate to decisions: which inputs matter, what comes out, which runs to do next."""

from typing import TYPE_CHECKING

from pengp._core.lazy import lazily

if TYPE_CHECKING:
    from pengp.decisions.estimates import Axis, Curve, Estimate
    from pengp.decisions.indices import Effects, effects
    from pengp.decisions.optima import Optimum, Place, optimum
    from pengp.decisions.propagation import Propagation, propagate
    from pengp.decisions.proposals import NextRuns, next_runs
    from pengp.decisions.surfaces import Surface
    from pengp.decisions.width import Step

__all__ = [
    "Axis",
    "Curve",
    "Effects",
    "Estimate",
    "NextRuns",
    "Optimum",
    "Place",
    "Propagation",
    "Step",
    "Surface",
    "effects",
    "next_runs",
    "optimum",
    "propagate",
]

__getattr__, __dir__ = lazily(
    globals(),
    {
        "estimates": ["Axis", "Curve", "Estimate"],
        "indices": ["Effects", "effects"],
        "optima": ["Optimum", "Place", "optimum"],
        "propagation": ["Propagation", "propagate"],
        "proposals": ["NextRuns", "next_runs"],
        "surfaces": ["Surface"],
        "width": ["Step"],
    },
)
