"""The arrays of a model file, version 2: name, type, shape and which values are allowed.

This is the file's own vocabulary; attributes of the package may be renamed, these names may not.
Each fact stands in a file once: what follows from others is computed when the file is loaded, and
what costs too much to compute is compared (`pengp.persistence.facts`).
Sizes: n runs (n_fit of them were in ``fit``), d inputs, q outputs, L lambdas, M maxima, K folds,
C fold metrics; ``...`` is q for a response [n, q] and nothing for [n]. Files of
BayesianGPRegressor have the arrays of `pengp.persistence.averages` for MODEL and what follows it.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pengp.persistence.container import Arrays


class Field(NamedTuple):
    """One array."""

    shape: str
    values: str = "finite"
    type: str = "f"  # f, i or b: the kind of a NumPy type


#: Once in every file: the runs and the design region.
RUNS = {
    "inputs": Field("n d"),
    "responses": Field("n q"),
    "input_lower": Field("d"),
    "input_upper": Field("d"),
}
#: In files of models that were fitted with known noise.
NOISE = {
    "noise_sd": Field("n q", "not negative"),
}
#: Once in files of the penalized estimators.
MODEL = {
    "lam": Field("...", "not negative"),
    "path.lams": Field("L", "not negative"),
    "path.theta": Field("... L d", "positive"),
    "path.objective": Field("... L", "any"),
    "path.loglik": Field("... L", "any"),
    "path.sigma2": Field("... L", "not negative"),
    "path.nugget": Field("... L", "not negative"),
    "path.mean": Field("... L"),
    "path.converged": Field("... L", type="b"),
    "path.at_bound": Field("... L d", type="i"),
    "modes.theta": Field("... L M d", "any"),
    "modes.nugget": Field("... L M", "any"),
    "modes.objective": Field("... L M", "any"),
    "modes.loglik": Field("... L M", "any"),
    "modes.count": Field("... L", type="i"),
}
#: For each output k that was cross-validated, named ``tables.k.*``.
TABLE = {
    "values": Field("C L K", "any"),
    "theta": Field("L K d", "any"),
    "nugget": Field("L K", "any"),
    "sigma2": Field("L K", "any"),
    "mean": Field("L K", "any"),
    "converged": Field("L K", type="b"),
}


def check(arrays: Arrays, *, one_output: bool, folds: dict[int, int]) -> dict[str, int]:
    """Return the sizes by letter, or raise a ValueError if the arrays do not fit the schema.

    Parameters
    ----------
    arrays : dict
        From the file, by name.
    one_output : bool
        Whether the response was [n].
    folds : dict of int
        Number of folds of each output that was cross-validated.
    """
    wanted = {**of_runs(arrays), **MODEL}
    sizes = fit_fields(arrays, wanted, "", {}, one_output)
    known = set(wanted)
    for k, K in folds.items():
        fit_fields(arrays, TABLE, f"tables.{k}.", {**sizes, "K": K}, one_output)
        known |= {f"tables.{k}.{name}" for name in TABLE}
    if set(arrays) != known or (one_output and sizes["q"] != 1):
        raise ValueError("there are other arrays than there should be.")
    return sizes


def of_runs(arrays: Arrays) -> dict[str, Field]:
    """Return the fields of the runs, those of their noise if they have it."""
    return {**RUNS, **NOISE} if "noise_sd" in arrays else RUNS


def fit_fields(
    arrays: Arrays, fields: dict[str, Field], prefix: str, sizes: dict[str, int], one_output: bool
) -> dict[str, int]:
    """Check the arrays of some fields, named with a prefix; add sizes that are not known yet."""
    for name, field in fields.items():
        a = arrays[prefix + name]
        letters = field.shape.replace("...", "" if one_output else "q").split()
        fits = len(letters) == a.ndim and all(
            sizes.setdefault(letter, size) == size
            for letter, size in zip(letters, a.shape, strict=True)
        )
        if not fits or a.dtype.kind != field.type or not _allowed(a, field):
            raise ValueError(f"the array {prefix}{name} is not what it should be.")
    return sizes


def _allowed(a: NDArray[Any], field: Field) -> bool:
    """Tell whether the values are what the field allows."""
    if field.type != "f" or field.values == "any":
        return True
    low = {"finite": -np.inf, "positive": 0.0, "not negative": 0.0}[field.values]
    above = a > low if field.values == "positive" else a >= low
    return bool((np.isfinite(a) & above).all())
