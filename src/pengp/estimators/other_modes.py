"""Another local maximum in the place of the estimate, to see what it would predict."""

from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np

from pengp._core.arrays import FloatArray, IntArray
from pengp.estimators.heldout import Known
from pengp.model.noise import sigma2_at
from pengp.model.posterior import Posterior, condition
from pengp.path.penalized import Modes, PathFit

_Record = TypeVar("_Record", PathFit, Modes)


def path_at_mode(path: PathFit, index: IntArray, k: int) -> PathFit:
    """Return a path whose estimates at one lambda of each output are other maxima found there.

    Parameters
    ----------
    path : PathFit
        All estimates; it is not changed.
    index : [...]
        Place of the lambda of each output.
    k : int
        Which maximum, 0 is the estimate; the two change places.
    """
    modes, other = _copied(path.modes), _copied(path)
    for j, output in enumerate(np.ndindex(index.shape)):
        cell = (*output, int(index[output]))
        for name in ("theta", "nugget", "objective", "loglik"):
            rows = getattr(modes, name)[cell]
            rows[[0, k]] = rows[[k, 0]]
            getattr(other, name)[cell] = rows[0]
        found = _process(path, j, other.theta[cell], float(other.nugget[cell]))
        other.sigma2[cell], other.mean[cell] = found.sigma2, found.level
        other.at_bound[cell] = _at_bound(other.theta[cell], path._model.theta_bounds)
    return replace(other, modes=modes)


def _process(path: PathFit, j: int, theta: FloatArray, nugget: float) -> Posterior:
    """Return the process of output j at theta [d], sigma2 estimated."""
    runs, model, sigma2 = Known.of(path._data, j), path._model, None
    kinds: dict[str, Any] = {"kernel": model.kernel, "nugget": nugget, "mean": model.mean}
    if runs.noise is not None:
        sigma2 = sigma2_at(runs.X, runs.y, runs.noise, theta, **kinds, marginal=model.marginal)
    return condition(runs.X, runs.y, theta, **kinds, sigma2=sigma2, noise=runs.noise)


def _copied(record: _Record) -> _Record:
    """Return the record with arrays of its own."""
    own = {f.name: getattr(record, f.name) for f in fields(record)}
    arrays: dict[str, Any] = {k: a.copy() for k, a in own.items() if isinstance(a, np.ndarray)}
    return replace(record, **arrays)


def _at_bound(theta: FloatArray, bounds: tuple[float, float]) -> IntArray:
    """Return -1 where theta [d] is at its lower bound, 1 at the upper, else 0."""
    low, high = bounds
    return np.asarray(
        (theta >= high * (1.0 - 1e-9)).astype(np.int64) - (theta <= low * (1.0 + 1e-9))
    )
