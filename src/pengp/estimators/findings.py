"""What to beware of in a penalized fit: bounds, flat likelihoods, other explanations."""

import shlex
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from pengp._core.surface import by_surface
from pengp.estimators.view import FittedView
from pengp.path.fitting import NUGGET_BOUNDS

#: Another mode is told if its objective is less than this below the best, and theta is supported by
#: the runs where the log likelihood is: half the 95 % quantile of chi-squared with one degree of
#: freedom, as for a likelihood interval.
CLOSE_MODE = 1.92
#: Factor in theta, a tenfold lengthscale, over which the likelihood is called flat.
_FLAT_FACTOR = 100.0
#: The grid of lambda that reaches far enough.
_KKT = "lams='kkt'"


class Finding(NamedTuple):
    """Something to know before the surrogate is trusted.

    See Also
    --------
    pengp.diagnose : Its ``findings`` are such.
    """

    code: str
    """One word: useless, flattering, intervals, draws, flat, bound, converged, modes, unstable,
    noise, scale; of test runs useless, promise, intervals, distance."""
    message: str
    """What was seen and what to do, in plain sentences."""


def flat_likelihood(view: FittedView) -> Iterator[Finding]:
    """Say so if the runs support widely different multiples of theta."""
    free, (lower, upper) = view.active, view.supported(CLOSE_MODE)
    p = int(np.argmax(np.where(free, view.theta, -np.inf)))
    unbounded = upper[p] >= view.bounds[1]
    if not free.any() or not (unbounded or upper[p] >= _FLAT_FACTOR * lower[p]):
        return
    whose = "" if np.ptp(view.theta) == 0.0 else f" of {view.names[p]}"
    end = "its upper bound " if unbounded else ""
    yield Finding(
        "flat",
        f"The likelihood is flat: every theta{whose} from {lower[p]:.3g} to {end}{upper[p]:.4g} "
        f"fits the runs nearly as well (log likelihood at most {CLOSE_MODE} lower). The runs do "
        "not tell how fast the response varies; the penalty decides or, at lambda 0, mere chance.",
    )


def at_bounds(view: FittedView) -> Iterator[Finding]:
    """Say so if a theta or the nugget ran to its upper bound."""
    above = (view.at_bound > 0) & view.active
    if above.any():
        names = ", ".join(view.names[p] for p in np.flatnonzero(above))
        yield Finding(
            "bound",
            f"theta is at its upper bound {view.bounds[1]:g} for {names}: neighbouring runs look "
            "unrelated there, and predictions between them fall back to the mean. More runs are "
            "needed.",
        )
    yield from _nugget_at_bound(view)


def _nugget_at_bound(view: FittedView) -> Iterator[Finding]:
    """Say so if the runs look like nothing but noise."""
    if view.path._model.nugget is None and view.nugget >= NUGGET_BOUNDS[1] * (1.0 - 1e-6):
        yield Finding(
            "bound",
            f"The estimated nugget is at its upper bound {NUGGET_BOUNDS[1]:g}: to this fit the "
            "runs are half noise or more. If they come from a deterministic simulator, fix it: "
            f"{by_surface('nugget=1e-5', 'pengp fit --nugget 1e-5')}.",
        )


def lambda_at_bound(view: FittedView) -> Iterator[Finding]:
    """Say so if the largest lambda that was tried was chosen and leaves inputs active."""
    tried = view.path.lams
    if view.table is None or len(tried) == 1 or view.lam < tried.max() or not view.active.any():
        return
    yield Finding(
        "bound",
        f"lambda is {view.lam:.3g}, the largest value that was tried, and larger ones may do "
        f"better: try {by_surface(_KKT, 'pengp fit --lambda-grid kkt')}.",
    )


def not_converged(view: FittedView) -> Iterator[Finding]:
    """Say so if the estimate is no stationary point."""
    if not view.converged:
        yield Finding(
            "converged",
            "The estimate is not a maximum of the penalized likelihood; try a larger nugget, such "
            f"as {by_surface('nugget=1e-4', 'pengp fit --nugget 1e-4')}.",
        )


def close_modes(view: FittedView) -> Iterator[Finding]:
    """Say so if another mode with other inputs is nearly as good."""
    best = view.modes[0].active if view.modes else np.empty(0, dtype=bool)
    for k, mode in enumerate(view.modes[1:], start=2):
        if mode.deficit < CLOSE_MODE and not np.array_equal(mode.active, best):
            other = by_surface(f"at_mode({k})", f"pengp predict --mode {k}")
            used = ", ".join(view.names[p] for p in np.flatnonzero(mode.active)) or "no input"
            yield Finding(
                "modes",
                f"The runs support another explanation nearly as well (penalized log likelihood "
                f"lower by {mode.deficit:.2f}): one that uses {used}. A few runs that tell the "
                f"two apart would settle it ({telling_apart(view)}); {other} predicts by the "
                "other.",
            )
            return


def telling_apart(view: FittedView) -> str:
    """Return what proposes runs to tell explanations apart."""
    command = f"pengp next TABLE --response {shlex.quote(view.response)} --goal modes"
    return by_surface('pengp.decisions.next_runs(model, goal="modes")', command)
