"""What if: sliders for the inputs, and all that the page needs to predict by itself."""

import base64
import math
from typing import Any

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.bayes.mixture import ProcessMixture
from pengp.choosing.scores import half_width
from pengp.estimators.laws import standard_nodes
from pengp.estimators.view import FittedView
from pengp.model.elementary import Transform
from pengp.model.levels import Integer, Levels
from pengp.model.posterior import Posterior
from pengp.model.transforms import IDENTITY
from pengp.report.contours import contours_of
from pengp.report.payload import Payload
from pengp.report.subject import Subject
from pengp.report.text import number

#: Probability of the interval.
_LEVEL = 0.95
#: How far the sliders go beyond the design region, in parts of it.
_BEYOND = 0.1
#: Kernels, means and transforms that the page's script knows.
_KERNELS = (
    "sqexp",
    "matern52",
    "matern32",
    "matern52_product",
    "matern32_product",
    "matern52_additive",
)
_MEANS = ("zero", "constant", "linear")
_SCALES = ("none", "log", "log10", "sqrt", "logit", "boxcox", "yeojohnson")


#: What they are set by.
_SETTINGS = ("low", "high", "power")


def what_if(subject: Subject, payload: Payload) -> dict[str, Any] | None:
    """Return the sliders of one output; None where the page could not predict what pengp does."""
    view = subject.view
    if view.is_constant or why_not(view):
        return None
    scales = [_scale(transform) for transform in view.input_transforms]
    response = _scale(view.response_transform)
    processes = _processes(view)
    id = f"{subject.key}-what-if"
    payload.models[id] = {
        **_numbers(view, processes),
        "scales": scales,
        "response": response,
        "runs": [_floats(view.X.min(0)), _floats(view.X.max(0))],
        "held": _floats(view.middle),
        "inputs": np.flatnonzero(~view.constant).tolist(),
        "names": list(view.names),
        "contours": _contours(subject),
    }
    sliders = [_slider(view, p, id) for p in np.flatnonzero(~view.constant).tolist()]
    return {"id": id, "sliders": sliders, "response": view.response}


def why_not(view: FittedView) -> str:
    """Return which part of the model the page's script does not know; nothing if it knows all."""
    processes = () if view.is_constant else _processes(view)
    unknown = {
        "kernel": any(getattr(p.kernel, "name", "") not in _KERNELS for p in processes),
        "mean": any(getattr(p.mean, "name", "") not in _MEANS for p in processes),
        "scale of an input": any(_scale(t)["scale"] not in _SCALES for t in view.input_transforms),
        "transform of the response": _scale(view.response_transform)["scale"] not in _SCALES,
    }
    return next((part for part, is_unknown in unknown.items() if is_unknown), "")


def _processes(view: FittedView) -> tuple[Posterior, ...]:
    """Return the processes that predict."""
    posterior = view.estimator._surrogate.posteriors[view.output]
    return tuple(posterior.components) if isinstance(posterior, ProcessMixture) else (posterior,)


def _scale(transform: Transform) -> dict[str, Any]:
    """Return what the script has to know of an input's transform."""
    if isinstance(transform, Levels):
        return {"scale": "none", "values": list(transform.values)}
    whole = isinstance(transform, Integer)
    inner = transform.scale if isinstance(transform, Integer) else transform
    settings = {name: getattr(inner, name) for name in _SETTINGS if hasattr(inner, name)}
    return {"scale": inner.name, "whole": whole, **settings}


def _slider(view: FittedView, p: int, id: str) -> dict[str, Any]:
    """Return the slider of input p, along its scale, or the names of its levels."""
    transform, middle = view.input_transforms[p], view.middle[p]
    found: dict[str, Any] = {"id": f"{id}-{p}", "name": view.names[p], "options": []}
    if isinstance(transform, Levels):
        pairs = zip(transform.values, transform.labels, strict=True)
        options = [(repr(value), label) for value, label in pairs]
        return {**found, "options": options, "start": repr(float(middle))}
    low, high = (float(end[p]) for end in view.ranges)
    if isinstance(transform, Integer) and not transform.is_logarithm:
        ends = {"low": str(math.ceil(low)), "high": str(math.floor(high)), "step": "1"}
        return {**found, **ends, "start": str(round(middle)), "text": number(middle)}
    inner = transform.scale if isinstance(transform, Integer) else transform
    a, b, z = (float(v) for v in inner.forward(np.array([low, high, middle])))
    reach = _BEYOND * (b - a)
    # There and back again: no further than the range of the transform.
    least, most = inner.forward(inner.inverse(np.array([a - reach, b + reach]))).tolist()
    ends = {"low": repr(least), "high": repr(most), "step": "any"}
    return {**found, **ends, "start": repr(z), "text": number(middle)}


def _contours(subject: Subject) -> dict[str, Any] | None:
    """Return which contours follow the sliders, and the estimates along that of lambda."""
    found = contours_of(subject)
    if found is None:
        return None
    several = len(subject.lams) > 1
    each = [_processes(view)[0] for view in subject.along] if several else []
    return found | {
        "lam": subject.lam_key if several else None,
        "chosen": subject.place,
        "along": _estimates(each) if several else None,
    }


def _estimates(each: list[Posterior]) -> dict[str, Any]:
    """Return theta, nugget and squared scale of processes."""
    return {
        "theta": _floats(np.array([p.theta for p in each])),
        "nugget": _floats(np.array([p.nugget for p in each])),
        "sigma2": _floats(np.array([p.sigma2 for p in each])),
    }


def _numbers(view: FittedView, each: tuple[Posterior, ...]) -> dict[str, Any]:
    """Return the numbers of the processes, from which the script conditions them on the runs."""
    known = view.estimator._surrogate
    posterior = known.posteriors[view.output]
    several = isinstance(posterior, ProcessMixture)
    width = np.ptp(known.inputs.ends, axis=0)
    df = float(posterior.df) if several else np.inf
    nodes = standard_nodes(df) if view.response_transform != IDENTITY else None
    return {
        **_estimates(list(each)),
        "X": _floats(each[0].X),
        "y": _floats(each[0].y),
        "noise": None if each[0].noise is None else _floats(each[0].noise),
        "weight": _floats(posterior.weight if several else np.ones(1)),
        "kernel": [p.kernel.name for p in each],
        "mean": [p.mean.name for p in each],
        "variance": [p.mean.variance for p in each],
        "df": df if np.isfinite(df) else None,
        "nodes": None if nodes is None else [_floats(part) for part in nodes],
        "lower": _floats(known.inputs.ends[0]),
        "width": _floats(np.where(width > 0.0, width, 1.0)),
        "constant": known.inputs.constant.tolist(),
        "origin": float(known.response.mean[view.output]),
        "unit": float(known.response.sd[view.output]),
        "level": _LEVEL,
        "z": half_width(_LEVEL),
    }


def _floats(values: FloatArray) -> dict[str, Any]:
    """Return numbers as base64 of little-endian doubles: predictions need all their digits."""
    raw = np.ascontiguousarray(values, dtype="<f8").tobytes()
    return {"shape": list(values.shape), "f8": base64.b64encode(raw).decode("ascii")}
