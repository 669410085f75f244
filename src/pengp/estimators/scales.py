"""Transforms that a user asks for: which column has which, where they are defined, their powers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from pengp._core.arrays import FloatArray
from pengp._core.datasets import DataSets
from pengp.exceptions import InputError
from pengp.model.elementary import Transform
from pengp.model.levels import Integer, Levels
from pengp.model.scaling import ResponseScaler
from pengp.model.transforms import IDENTITY, TransformLike, get_transform
from pengp.path.fitting import Model
from pengp.path.penalized import fit_path

#: What an estimator takes for its inputs, by names or numbers of columns or for all, and responses.
InputTransforms: TypeAlias = TransformLike | Mapping[Any, TransformLike]
ResponseTransform: TypeAlias = TransformLike | Sequence[TransformLike]

#: Responses beyond which a power or the moments of a transformed response might overflow.
_LARGEST = 1e100

#: Starts of each fit that judges a power.
_STARTS = 5

#: (X [n, d] in the unit cube, responses [C, n], their known variances [C, n] or None) -> maximised
#: log likelihood [C] of each response.
Judge = Callable[[FloatArray, FloatArray, FloatArray | None], FloatArray]


def column_label(p: int, names: Sequence[str] | None) -> str:
    """Return words for input p: its number and, where known, its name."""
    return f"column {p}" if names is None else f"column {p} ({str(names[p])!r})"


class Scales(NamedTuple):
    """What a user asks for beyond plain numbers, as given to an estimator."""

    inputs: InputTransforms
    response: ResponseTransform
    integers: Any  # names or numbers of columns
    levels: Mapping[int, Levels]  # by the numbers of columns


def input_transforms(
    scales: Scales, X_raw: FloatArray, names: Sequence[str] | None
) -> tuple[Transform, ...]:
    """Return the transform of each column of X_raw [n, d], checked; empty if there is none.

    Parameters
    ----------
    scales : Scales
        As given to an estimator.
    X_raw : [n, d]
        Inputs in the user's units.
    names : sequence of d strings, optional
        Names of the inputs.
    """
    found = _asked(scales, X_raw, names)
    found = [transform.fitted(column) for transform, column in zip(found, X_raw.T, strict=True)]
    for p, transform in enumerate(found):
        if len(transform.candidates()) > 1:
            raise InputError(
                f"{transform.name} of {column_label(p, names)} has no power, which is estimated "
                f"for a response only; give one, such as {type(transform).__name__}(0.5)."
            )
        check_domain(X_raw[:, p], transform, f"X has {{}} in row {{}}, {column_label(p, names)}")
    return _none_if_plain(found)


def _asked(scales: Scales, X_raw: FloatArray, names: Sequence[str] | None) -> list[Transform]:
    """Return the transforms of the columns of X_raw [n, d] that are asked for."""
    d, setting = X_raw.shape[1], scales.inputs
    found: list[Transform] = [IDENTITY] * d
    if isinstance(setting, Mapping):
        for column, transform in setting.items():
            found[column_number(column, names, d, "input_transforms")] = get_transform(transform)
    elif setting is not None:
        found = [get_transform(setting)] * d
    for column in column_list(scales.integers, "integer_inputs"):
        p = column_number(column, names, d, "integer_inputs")
        found[p] = found[p] if isinstance(found[p], Integer) else Integer(found[p])
    for p, levels in scales.levels.items():
        if (isinstance(setting, Mapping) and found[p] != IDENTITY) or isinstance(found[p], Integer):
            raise InputError(
                f"{column_label(p, names)} of X is a factor, whose levels have no scale; do not "
                "name it in input_transforms or integer_inputs."
            )
        found[p] = levels
    for p in (p for p, transform in enumerate(found) if isinstance(transform, Integer)):
        _check_whole(X_raw[:, p], column_label(p, names))
    return found


def _check_whole(column: FloatArray, label: str) -> None:
    """Raise an InputError if a run has a fraction in a column [n] of whole numbers."""
    fraction = column != np.rint(column)
    if fraction.any():
        i = int(fraction.argmax())
        raise InputError(
            f"X has {column[i]:g} in row {i}, {label}, which is no whole number; correct that run, "
            "or do not name the input in integer_inputs."
        )


def column_list(columns: Any, parameter: str) -> list[Any]:
    """Return the names or numbers of columns that are given to a parameter, none for None."""
    if columns is None:
        return []
    if isinstance(columns, str) or not np.iterable(columns):
        raise InputError(
            f"{parameter} must be a list of names or numbers of columns, not {columns!r}."
        )
    return list(columns)


def column_number(column: Any, names: Sequence[str] | None, d: int, parameter: str) -> int:
    """Return the number of a column given by name or number to a parameter."""
    if isinstance(column, str) and names is not None and column in list(names):
        return list(names).index(column)
    is_whole = isinstance(column, int | np.integer) and not isinstance(column, bool)
    if is_whole and 0 <= column < d:
        return int(column)
    there = f"{d} columns, counted from 0" if names is None else ", ".join(map(str, names))
    raise InputError(f"{parameter} names {column!r}, which is no input; there are {there}.")


def check_domain(values: FloatArray, transform: Transform, where: str) -> None:
    """Raise an InputError if a value [n] has no transform.

    ``where`` has places for the value and its row.
    """
    outside = ~transform.accepts(values)
    if outside.any():
        i = int(outside.argmax())
        raise InputError(
            f"{where.format(f'{values[i]:g}', i)}, but {transform.name} needs values "
            f"{transform.domain}; correct that run or leave the transform out."
        )


def check_domains(X_raw: FloatArray, transforms: Sequence[Transform], names: Any) -> None:
    """Raise an InputError if an input of X_raw [m, d] has no transform."""
    for p, transform in enumerate(transforms):
        check_domain(X_raw[:, p], transform, f"X has {{}} in row {{}}, {column_label(p, names)}")


def check_responses(y_raw: FloatArray, transforms: Sequence[Transform], name: str = "y") -> None:
    """Raise an InputError if a response of y_raw [n, q] has no transform, or none in numbers."""
    for k, transform in enumerate(transforms):
        output = f", output {k}" if len(transforms) > 1 else ""
        check_domain(y_raw[:, k], transform, f"{name} has {{}} in row {{}}{output}")
        huge = np.abs(y_raw[:, k]) > _LARGEST
        if huge.any() and transform != IDENTITY:
            i = int(huge.argmax())
            raise InputError(
                f"{name} has {y_raw[i, k]:g} in row {i}{output}, but a transformed response must "
                f"be of at most {_LARGEST:g}; give it in a larger unit."
            )


def response_transforms(
    setting: Any,
    X: FloatArray,
    y_raw: FloatArray,
    judge: Judge,
    noise_sd: FloatArray | None = None,
) -> tuple[Transform, ...]:
    """Return the transform of each response, powers estimated; empty if there is none.

    A constant response has none.

    Parameters
    ----------
    setting : transform, or sequence of q transforms
        As given to an estimator.
    X : [n, d]
        Inputs in the unit cube.
    y_raw : [n, q]
        Responses in the user's units.
    judge : callable
        The log likelihood of standardised responses, maximised over theta.
    noise_sd : [n, q], optional
        Known standard deviations of y_raw.
    """
    q = y_raw.shape[1]
    each = list(setting) if isinstance(setting, list | tuple) else [setting] * q
    if len(each) != q:
        raise InputError(f"response_transform has {len(each)} entries, but y has {q} outputs.")
    asked = [get_transform(one).fitted(y) for one, y in zip(each, y_raw.T, strict=True)]
    for transform in asked:
        if transform.has_steps:
            raise InputError(f"the transform {transform.name} is for inputs, not for a response.")
    check_responses(y_raw, [transform.candidates()[0] for transform in asked])
    sds = [None] * q if noise_sd is None else list(noise_sd.T)
    triples = zip(asked, y_raw.T, sds, strict=True)
    return _none_if_plain([_best(t, X, y, judge, sd) for t, y, sd in triples])


def _best(
    transform: Transform, X: FloatArray, y: FloatArray, judge: Judge, sd: FloatArray | None
) -> Transform:
    """Return the candidate under which the runs X [n, d], y [n] are most likely.

    log L of t(y), maximised over theta and sigma2, plus the logarithms of the slopes of t: with z
    the standardised t(y) and s its standard deviation, log L(z) - n log s + sum_i log t'(y_i).
    """
    if np.ptp(y) == 0.0:
        return IDENTITY  # there and back again, rounding would miss the one value
    candidates = transform.candidates()
    if len(candidates) == 1:
        return candidates[0]
    column, noise_sd = y[:, None], None if sd is None else sd[:, None]
    scalers = [ResponseScaler.from_data(column, (t,), noise_sd) for t in candidates]
    noise = None
    if noise_sd is not None:
        noise = np.array([s.noise_variance(column, noise_sd)[:, 0] for s in scalers])
    value = judge(X, np.array([s.transform(column)[:, 0] for s in scalers]), noise)
    jacobian = [np.log(t.slope(y)).sum() for t in candidates]
    scales = [len(y) * np.log(s.sd.item()) for s in scalers]
    return candidates[int(np.argmax(value - np.array(scales) + np.array(jacobian)))]


def judge_of(model: Model, lam: float, seed: int) -> Judge:
    """Return the judge of powers: the maximum over theta of the penalized profile likelihood."""
    profile = replace(model, marginal=False)

    def judge(X: FloatArray, outputs: FloatArray, noise: FloatArray | None) -> FloatArray:
        known = None if noise is None else list(noise)
        sets = DataSets([X] * len(outputs), list(outputs), (len(outputs),), known)
        rng = np.random.default_rng(seed)
        objective: FloatArray = fit_path(sets, np.array([lam]), profile, _STARTS, rng).objective
        return objective[:, 0]

    return judge


def _none_if_plain(transforms: list[Transform]) -> tuple[Transform, ...]:
    """Return the transforms, empty if all of them change nothing."""
    return () if all(t == IDENTITY for t in transforms) else tuple(transforms)
