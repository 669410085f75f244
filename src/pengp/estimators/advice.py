"""Which inputs and responses would be modelled better on another scale, and by how much."""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import skew

from pengp._core.arrays import FloatArray
from pengp._core.checks import find_duplicates
from pengp.estimators.penalized import PenalizedGPRegressorCV
from pengp.exceptions import PengpWarning
from pengp.model.elementary import Transform
from pengp.model.transforms import IDENTITY, TRANSFORMS

#: Ratio of the largest to the smallest value from which a positive column is looked at.
_WIDE = 100.0
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


def advise(
    X: FloatArray,
    y: FloatArray,
    of_inputs: Sequence[Transform] = (),
    of_response: Transform = IDENTITY,
) -> list[Advice]:
    """Return the scales that would raise the log score of left-out runs, each beside the former.

    A positive input or response over more than two decades, or a skewed response, is fitted with
    and without its transform; ten folds are predicted with theta estimated anew.

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
    """
    used: dict[int | None, Transform] = {**dict(enumerate(of_inputs)), None: of_response}
    candidates = _candidates(X, y, used)
    contradicted = find_duplicates(X, y)
    if not candidates or len(y) < _FEWEST or (contradicted and contradicted[2] is not None):
        return []
    known, found = _log_score(X, y, used), []
    for column, transform, reason in candidates:
        tried = {**used, column: transform}
        score = _log_score(X, y, tried)
        if score - known > max(_GAIN / len(y), _GAIN_A_RUN):
            found.append(Advice(column, transform, reason, len(y) * (score - known)))
            known, used = score, tried
    return found


def _candidates(
    X: FloatArray, y: FloatArray, used: dict[int | None, Transform]
) -> list[tuple[int | None, Transform, str]]:
    """Return columns that look as if they wanted another scale, the widest input first."""
    log, columns = TRANSFORMS["log10"], []
    for p, values in [*enumerate(X.T), (None, y)]:
        if used.get(p, IDENTITY) != IDENTITY:
            continue
        if values.min() > 0.0 and values.max() > _WIDE * values.min():
            decades = float(np.log10(values.max()) - np.log10(values.min()))
            columns.append((decades, p, log, f"spans {decades:.2g} decades"))
        elif p is None and np.ptp(y) > 0.0 and abs(skewness := float(skew(y))) > _SKEWED:
            transform = log if y.min() > 0.0 else TRANSFORMS["yeojohnson"]
            columns.append((0.0, p, transform, f"is skewed (skewness {skewness:.1f})"))
    inputs = [(p, *what) for _, p, *what in sorted(columns, key=_width) if p is not None]
    return inputs[:_MOST] + [(p, *what) for _, p, *what in columns if p is None]


def _log_score(X: FloatArray, y: FloatArray, used: dict[int | None, Transform]) -> float:
    """Return the mean log density of runs X [n, d], y [n] that folds leave out."""
    of_inputs: Any = {p: transform for p, transform in used.items() if p is not None}
    model = PenalizedGPRegressorCV(
        lams=[_LAM],
        cv=min(_FOLDS, len(y)),
        kernel="matern52",
        mean="constant",
        input_transforms=of_inputs,
        response_transform=used[None],
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PengpWarning)
        return float(model.fit(X, y).held_out().log_density.mean())
