"""From a surrogate to decisions: which inputs matter, what comes out."""

from typing import TYPE_CHECKING

from pengp._core.lazy import lazily

if TYPE_CHECKING:
    from pengp.decisions.indices import Effects, Estimate, effects
    from pengp.decisions.propagation import Propagation, propagate

__all__ = ["Effects", "Estimate", "Propagation", "effects", "propagate"]

__getattr__, __dir__ = lazily(
    globals(),
    {
        "indices": ["Effects", "Estimate", "effects"],
        "propagation": ["Propagation", "propagate"],
    },
)
