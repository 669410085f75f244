"""What if: sliders for the inputs, and all that the page needs to predict by itself."""

import base64
from typing import Any

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.choosing.scores import half_width
from pengp.decisions.processes import Processes, processes_of
from pengp.report.payload import Payload
from pengp.report.subject import Subject
from pengp.report.text import number

#: Probability of the interval.
_LEVEL = 0.95
#: How far the sliders go beyond the design region, in parts of it.
_BEYOND = 0.1
#: Kernels and means that the page's script knows.
_KERNELS = (
    "sqexp",
    "matern52",
    "matern32",
    "matern52_product",
    "matern32_product",
    "matern52_additive",
)
_MEANS = ("zero", "constant", "linear")


def what_if(subject: Subject, payload: Payload) -> dict[str, Any] | None:
    """Return the sliders of one output; None where the page could not predict what pengp does."""
    view = subject.view
    if view.is_constant or view.estimator._surrogate.inputs.transforms:
        return None
    known = processes_of(view)
    if known.undo is not None:
        return None
    named = {(getattr(p.kernel, "name", ""), getattr(p.mean, "name", "")) for p in known.components}
    if not all(kernel in _KERNELS and mean in _MEANS for kernel, mean in named):
        return None
    id = f"{subject.key}-what-if"
    payload.models[id] = {
        **_numbers(known),
        "runs": [_floats(view.X.min(0)), _floats(view.X.max(0))],
        "inputs": np.flatnonzero(~view.constant).tolist(),
        "names": list(view.names),
    }
    lower, upper = view.ranges
    reach = _BEYOND * (upper - lower)
    sliders = [
        {
            "id": f"{id}-{p}",
            "name": name,
            "low": repr(float(lower[p] - reach[p])),
            "high": repr(float(upper[p] + reach[p])),
            "middle": repr(float(0.5 * (lower[p] + upper[p]))),
            "text": number(0.5 * (lower[p] + upper[p])),
        }
        for p, name in enumerate(view.names)
        if not view.constant[p]
    ]
    return {"id": id, "sliders": sliders, "response": view.response}


def _numbers(known: Processes) -> dict[str, Any]:
    """Return the numbers of the processes, from which the script conditions them on the runs."""
    each = known.components
    variance = [p.mean.variance for p in each]
    width = np.where(known.upper > known.lower, known.upper - known.lower, 1.0)
    return {
        "X": _floats(known.X),
        "y": _floats(known.y),
        "theta": _floats(np.array([p.theta for p in each])),
        "nugget": _floats(np.array([p.nugget for p in each])),
        "sigma2": _floats(np.array([p.sigma2 for p in each])),
        "weight": _floats(known.weight),
        "kernel": [p.kernel.name for p in each],
        "mean": [p.mean.name for p in each],
        "variance": variance,
        "df": None if np.isinf(known.df) else known.df,
        "lower": _floats(known.lower),
        "width": _floats(width),
        "constant": known.constant.tolist(),
        "origin": known.origin,
        "unit": known.unit,
        "level": _LEVEL,
        "z": half_width(_LEVEL),
    }


def _floats(values: FloatArray) -> dict[str, Any]:
    """Return numbers as base64 of little-endian doubles: predictions need all their digits."""
    raw = np.ascontiguousarray(values, dtype="<f8").tobytes()
    return {"shape": list(values.shape), "f8": base64.b64encode(raw).decode("ascii")}
