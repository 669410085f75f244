"""Whether the runs of a fitted model suggest noise that it does not know."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pengp._core.surface import by_surface
from pengp.bayes.members import Member, default_members
from pengp.bayes.noise import NoiseFound, noise_in
from pengp.bayes.priors import HierarchicalLasso
from pengp.bayes.sample import log_constant
from pengp.estimators.findings import Finding
from pengp.estimators.view import FittedView
from pengp.model.kernels import Kernel, get_kernel

#: Bayes factor from which noise is told, and up to which it is told how large it is.
_FACTOR, _HUGE = 10.0, 10_000.0
#: Runs from which noise can be judged; so many are looked at, a random choice, if there are more.
_FEWEST, _MOST = 8, 100
#: The kernels by which it is judged, the smooth one first, and the most inputs.
_KERNELS, _MOST_INPUTS = ("sqexp", "matern52"), 100


def unknown_noise(view: FittedView) -> Iterator[Finding]:
    """Say so if the runs are much likelier with noise that the model does not know."""
    found = _found(view)
    if found is None or found.log_factor <= np.log(_FACTOR):
        return
    huge = found.log_factor > np.log(_HUGE)
    times = f"more than {_HUGE:,.0f}" if huge else f"{np.exp(found.log_factor):.0f}"
    scaler = view.estimator._surrogate.response
    std = np.atleast_1d(scaler.inverse_std(np.full_like(scaler.sd, found.std)))[view.output]
    nugget = f"nugget={view.estimator._estimated_nugget!r}"
    smooth = by_surface(nugget, "--nugget estimate")
    known = by_surface("fit(X, y, noise_sd=...)", "--noise-sd")
    yield Finding(
        "noise",
        f"The runs suggest noise that the model does not know: a smooth response with noise of "
        f"standard deviation {std:.2g}, in the unit of {view.modelled}, makes them {times} times "
        f"as likely as a smooth or rough one without; if they may scatter, fit with {smooth}, or "
        f"with {known} if the noise is known.",
    )


def _found(view: FittedView) -> NoiseFound | None:
    """Return how much speaks for noise; None where it is known, estimated or cannot be judged."""
    fixed = view.estimator._fixed_nugget() is not None
    if view.is_constant or view.noise_sd is not None or not fixed:
        return None
    of_fit = view.fitted_runs if view.is_penalized else view.average.fitted_runs
    X, y = of_fit.X, of_fit.y
    if len(y) > _MOST:
        few = np.sort(np.random.default_rng(0).permutation(len(y))[:_MOST])
        X, y = X[few], y[few] - y[few].mean()
    (n, d), levels = X.shape, tuple(view.estimator._levels)
    if n < _FEWEST or d > _MOST_INPUTS or np.ptp(y) == 0.0:
        return None
    kernels = [replace(get_kernel(name), levels=levels) for name in _KERNELS]
    if view.is_penalized:
        return noise_in(X, y, _pair(kernels, view.nugget, d), HierarchicalLasso())
    average, prior = view.average.average, view.estimator._settings.prior
    used = [k for kernel in kernels for k, m in enumerate(average.members) if m.kernel == kernel]
    members = [average.members[k] for k in used]
    if n < len(average.y) or {m.kernel for m in members} != set(kernels):
        largest = float(np.max([m.nugget for m in average.members]))
        return noise_in(X, y, _pair(kernels, largest, d), prior)
    return noise_in(X, y, members, prior, average.log_evidences[used] - log_constant(n))


def _pair(kernels: list[Kernel], nugget: float, d: int) -> list[Member]:
    """Return a member of each kernel with this nugget, and the mean that is usual for d inputs."""
    return [Member(kernel, nugget, default_members(d)[0].mean) for kernel in kernels]
