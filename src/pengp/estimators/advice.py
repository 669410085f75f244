"""Which inputs and responses would be modelled better on another scale, and by how much."""

import shlex
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pengp._core.arrays import FloatArray
from pengp._core.datasets import find_duplicates
from pengp._core.surface import by_surface
from pengp.estimators.penalized_cv import PenalizedGPRegressorCV
from pengp.exceptions import PengpWarning
from pengp.model.elementary import Transform
from pengp.model.levels import Levels
from pengp.model.transforms import IDENTITY, TRANSFORMS

#: Decades from which a positive column is looked at, and the share of its values, those in the
#: middle, that must spread so: one value near 0 of many that are spread evenly makes no decades.
_WIDE, _MIDDLE = 2.0, 0.9
#: Skewness from which a response is looked at.
_SKEWED = 2.0
#: Columns that are looked at, the widest first.
_MOST = 4
#: Runs from which a scale can be judged.
_FEWEST = 8
#: Folds that judge, and the lambda of their fits.
_FOLDS, _LAM = 10, 0.01
#: Gain in the log score from which a scale is advised: of all runs together, and a run.
_GAIN, _GAIN_A_RUN = 2.0, 0.1


class Advice(NamedTuple):
    """Another scale for one column, and what it would gain."""

    column: int | None  # of an input, None for the response
    transform: Transform
    reason: str
    """What was seen, as in 'spans 8 decades'."""
    gain: float
    """Rise of the log score of left-out runs, summed over the runs, Jacobian counted."""

    def sentence(self, name: str, n: int, *, named: bool = True) -> str:
        """Say what the scale would gain the column of that name on n runs, and how to have it.

        Where ``fit`` knows no names (``named`` is False), Python takes the column's number.
        """
        kind, key = self.transform.name, name if named else self.column
        option = f"--log {shlex.quote(name)}"
        setting = f"input_transforms={{{key!r}: {kind!r}}}"
        if self.column is None:
            option = f"--transform {shlex.quote(f'{name}={kind}')}"
            option = "--log-response" if self.transform.is_logarithm else option
            setting = f"response_transform={kind!r}"
        return (
            f"{name} {self.reason}: with {by_surface(setting, option)} the log score of left-out "
            f"runs rises by {self.gain:.3g}, {self.gain / n:.2g} a run."
        )


def advise(
    X: FloatArray,
    y: FloatArray,
    of_inputs: Sequence[Transform] = (),
    of_response: Transform = IDENTITY,
    noise_sd: FloatArray | None = None,
) -> list[Advice]:
    """Return the scales that would raise the log score of left-out runs, each beside the former.

    Positive inputs or a response over more than two decades, or a skewed response, are fitted with
    and without their transforms, the one that gains most first; ten folds are predicted with theta
    estimated anew.

    Parameters
    ----------
    X : [n, d]
        Inputs in the user's units.
    y : [n]
        Responses in the user's units.
    of_inputs : sequence of d Transform
        Those of the model as it is; empty for none.
    of_response : Transform
        The same of the response.
    noise_sd : [n], optional
        Known standard deviations of y.
    """
    given = of_inputs or [IDENTITY] * X.shape[1]
    used: dict[int | None, Transform] = {**dict(enumerate(given)), None: of_response}
    candidates = _candidates(X, y, used)
    contradicted = find_duplicates(X, y)
    if noise_sd is not None:
        contradicted = None
    if not candidates or len(y) < _FEWEST or (contradicted and contradicted[2] is not None):
        return []
    runs = X, y, noise_sd
    known, found = _log_score(*runs, used), list[Advice]()
    while candidates:
        scores = [_log_score(*runs, {**used, c.column: c.transform}) for c in candidates]
        best = int(np.argmax(scores))
        gain, chosen = scores[best] - known, candidates.pop(best)
        if not gain > max(_GAIN / len(y), _GAIN_A_RUN):
            break
        found.append(chosen._replace(gain=len(y) * gain))
        known, used = scores[best], {**used, chosen.column: chosen.transform}
    return found


def _candidates(X: FloatArray, y: FloatArray, used: dict[int | None, Transform]) -> list[Advice]:
    """Return columns that may want another scale, of inputs the widest ones."""
    log, plain = TRANSFORMS["log10"], [p for p, t in used.items() if t == IDENTITY]
    columns: dict[int | None, FloatArray] = {**dict(enumerate(X.T)), None: y}
    decades = {p: _decades(columns[p]) for p in plain if _is_wide(columns[p])}
    widest = sorted((p for p in decades if p is not None), key=lambda p: -decades[p])[:_MOST]
    wide: list[int | None] = [*widest, *(p for p in decades if p is None)]
    found = [Advice(p, log, f"spans {decades[p]:.2g} decades", 0.0) for p in wide]
    if None in plain and None not in decades and np.ptp(y) > 0.0:
        skewness = _skewness(y)
        transform = log if y.min() > 0.0 else TRANSFORMS["yeojohnson"]
        if abs(skewness) > _SKEWED:
            found.append(Advice(None, transform, f"is skewed (skewness {skewness:.1f})", 0.0))
    return found


def _skewness(values: FloatArray) -> float:
    """Return the third moment of values [n] about their mean, in standard deviations."""
    away = (values - values.mean()) / values.std()
    return float(np.mean(away**3))


def _is_wide(values: FloatArray) -> bool:
    """Return whether a column [n] is positive and spread over more than two decades."""
    ends = np.quantile(values, [0.5 - 0.5 * _MIDDLE, 0.5 + 0.5 * _MIDDLE])
    return _decades(values) > _WIDE and _decades(ends) > _MIDDLE * _WIDE


def _decades(values: FloatArray) -> float:
    """Return how many powers of ten lie between the ends of a positive column [n]; else 0."""
    low, high = float(values.min()), float(values.max())
    return float(np.log10(high) - np.log10(low)) if low > 0.0 else 0.0


def _log_score(
    X: FloatArray, y: FloatArray, noise_sd: FloatArray | None, used: dict[int | None, Transform]
) -> float:
    """Return the mean log density of runs X [n, d], y [n] that folds leave out."""
    columns: dict[int, Any] = {p: found for p, found in used.items() if p is not None}
    levels = {p: columns.pop(p) for p in list(columns) if isinstance(columns[p], Levels)}
    model = PenalizedGPRegressorCV(
        lams=[_LAM],
        cv=min(_FOLDS, len(y)),
        kernel="matern52",
        mean="constant",
        input_transforms=columns,
        factors={p: found.values for p, found in levels.items()},
        response_transform=used[None],
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PengpWarning)
        return float(model.fit(X, y, noise_sd).held_out().log_density.mean())
