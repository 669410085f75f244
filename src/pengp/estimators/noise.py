"""Known noise as a user gives it: checked, and runs with the same inputs averaged by it."""

from typing import Any

import numpy as np

from pengp._core.arrays import FloatArray, as_floats, check_real
from pengp._core.datasets import find_duplicates
from pengp._core.rows import first_of_each
from pengp.exceptions import InputError

#: Different runs from which repeated ones are merged.
FEWEST_MERGED = 3


def checked_noise(noise_sd: Any, y: FloatArray, name: str = "noise_sd") -> FloatArray | None:
    """Return the standard deviations [n, q] of responses y [n, q]; None if all of them are 0.

    Parameters
    ----------
    noise_sd : float, [n] or [n, q], optional
        As given to ``fit``.
    y : [n, q]
        Responses.
    name : str
        What messages call it.
    """
    if noise_sd is None:
        return None
    check_real(noise_sd, name)
    given = as_floats(noise_sd, name)
    n, q = y.shape
    fits = {(): (1, 1), (n,): (n, 1), (n, 1): (n, 1), (n, q): (n, q)}
    if given.shape not in fits:
        several = f", or [{n}, {q}] for each output" if q > 1 else ""
        raise InputError(
            f"{name} has the shape {given.shape}; give one standard deviation for all runs, or one "
            f"for each of the {n} runs{several}."
        )
    wrong = ~(np.isfinite(given) & (given >= 0.0))
    if wrong.any():
        where = "" if given.ndim == 0 else f" in row {int(np.argwhere(wrong)[0][0])}"
        raise InputError(
            f"{name} has {given[wrong].flat[0]:g}{where}; a standard deviation is a number from 0 "
            "up, 0 for a run without noise."
        )
    sd = np.broadcast_to(given.reshape(fits[given.shape]), y.shape).copy()
    return sd if sd.any() else None


def merged_replicates(
    X: FloatArray, y: FloatArray, noise_sd: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the runs with those of the same inputs replaced by their mean.

    With variances v_i the mean has the weights 1 / v_i and the variance 1 / sum_i 1 / v_i, which
    leaves the likelihood as it is up to a constant. Fewer than 3 runs are not left.

    Parameters
    ----------
    X : [n, d]
        Inputs.
    y, noise_sd : [n, q]
        Responses and their standard deviations.
    """
    first = first_of_each(X)
    kept = np.unique(first)
    check_exact(X, y, noise_sd)
    if len(kept) == len(X) or len(kept) < FEWEST_MERGED:
        return X, y, noise_sd
    means, sds = y[kept].copy(), noise_sd[kept].copy()
    for j, i in enumerate(kept):
        group = np.flatnonzero(first == i)
        if len(group) > 1:
            means[j], sds[j] = _mean_of(y[group], noise_sd[group])
    return X[kept], means, sds


def _mean_of(y: FloatArray, sd: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return means [q] and standard deviations [q] of replicates y [r, q] with sd [r, q].

    Where some have no noise, these alone count.
    """
    least = sd.min(axis=0)
    exact = least == 0.0
    # In parts of the smallest, so that squares neither overflow nor vanish.
    ratio = np.divide(least, sd, out=(sd == 0.0).astype(np.float64), where=sd > 0.0)
    weight = np.where(exact, sd == 0.0, ratio**2)
    total = weight.sum(axis=0)
    centre = y[0]
    mean = centre + (weight * (y - centre)).sum(axis=0) / total
    return mean, least / np.sqrt(total)


def check_exact(X: FloatArray, y: FloatArray, noise_sd: FloatArray, *, known: int = 0) -> None:
    """Raise an InputError if runs without noise have the same inputs and cannot both be right.

    X [n, d], y [n, q] and noise_sd [n, q]; the first ``known`` runs are those of an earlier fit.
    """
    for output, sd in zip(y.T, noise_sd.T, strict=True):
        exact = np.flatnonzero(sd == 0.0)
        found = find_duplicates(X[exact], output[exact]) if len(exact) else None
        if found is None or found[2] is None:
            continue
        names = [_row(int(exact[k]), known) for k in found[:2]]
        raise InputError(
            f"{names[0]} and {names[1]} have the same inputs but different responses, "
            f"{found[2][0]:.9g} and {found[2][1]:.9g}, and noise_sd is 0 for both; give the noise "
            "of one, or remove one."
        )


def _row(i: int, known: int) -> str:
    """Return words for row i, where the first ``known`` are those of an earlier fit."""
    return f"row {i} of the known runs" if i < known else f"row {i - known} of X"


def noise_words(sd: FloatArray) -> str:
    """Say how large known standard deviations [n] are."""
    low, high = float(sd.min()), float(sd.max())
    if low == high:
        return f"known, standard deviation {low:.4g}"
    return f"known, standard deviations {low:.4g} to {high:.4g}"
