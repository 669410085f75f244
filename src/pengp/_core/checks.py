"""Checks of settings that a caller passes, seeds included; a mistake gets one clear sentence."""

import numbers
import sys
import warnings
from collections.abc import Iterable
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from pengp._core.arrays import NO_NUMBERS, FloatArray, RandomState, as_floats
from pengp.exceptions import InputError, PengpWarning

_LARGEST = 1e100
"""Responses beyond this, or below its inverse, would overflow or vanish when squared."""

_MOST_STARTS = 10_000
"""Starts of a search; its memory and time grow with them."""

LARGEST_PARAMETER = 1e50
"""Lambdas, nuggets and bounds on theta beyond which products of powers would overflow."""

_LEAST_LEVEL = 1e-200
"""Probability below which quantiles of a Student t cannot be computed."""

ILL_CONDITIONED = 1e12
"""Condition number from which on the log likelihood has fewer than about four digits."""


def check_lams(lams: ArrayLike) -> FloatArray:
    """Return lams as [L], checked to be finite and not negative."""
    try:
        values = np.atleast_1d(np.asarray(lams, dtype=np.float64))
    except NO_NUMBERS:
        raise InputError("lams must be numbers, for example pengp.lambda_grid('paper').") from None
    if values.ndim != 1 or len(values) == 0:
        raise InputError(
            f"lams must be a list of at least one number, not of shape {values.shape}."
        )
    usable = (values >= 0.0) & (values <= LARGEST_PARAMETER)
    if not usable.all():
        raise InputError(
            f"every lambda must be from 0 to {LARGEST_PARAMETER:g}, but lams holds "
            f"{values[~usable][0]:g}."
        )
    return values


def check_theta_bounds(theta_bounds: tuple[float, float]) -> tuple[float, float]:
    """Return the bounds on theta as two floats."""
    try:
        lower, upper = (float(b) for b in theta_bounds)
    except NO_NUMBERS:
        raise InputError("theta_bounds must be two numbers, lower and upper.") from None
    if not (1.0 / LARGEST_PARAMETER <= lower <= upper <= LARGEST_PARAMETER):
        raise InputError(
            f"theta_bounds must satisfy {1.0 / LARGEST_PARAMETER:g} <= lower <= upper <= "
            f"{LARGEST_PARAMETER:g}, not ({lower:g}, {upper:g})."
        )
    return lower, upper


def check_nugget(nugget: float | str) -> float | None:
    """Return a fixed nugget, or None if it is to be estimated."""
    if isinstance(nugget, str) and nugget == "estimate":
        return None
    if (
        not isinstance(nugget, numbers.Real)
        or isinstance(nugget, bool)
        or not 0.0 <= nugget <= LARGEST_PARAMETER
    ):
        raise InputError(
            f"nugget must be a number from 0 up to {LARGEST_PARAMETER:g}, or 'estimate', not "
            f"{nugget!r}."
        )
    if nugget == 0.0:
        warn(
            "with nugget=0 the correlation matrix is numerically singular for small theta, where "
            "maxima are missed; use nugget=1e-5 unless this is wanted."
        )
    return float(nugget)


def check_levels(levels: ArrayLike) -> FloatArray:
    """Return probabilities as [k], each between 0 and 1."""
    p = np.atleast_1d(as_floats(levels, "levels"))
    if p.ndim != 1 or not len(p) or not ((p >= _LEAST_LEVEL) & (p < 1.0)).all():
        raise InputError(
            f"levels={levels!r} must be probabilities between 0 and 1, none below {_LEAST_LEVEL:g}."
        )
    return p


def is_real(value: object, least: float = -_LARGEST, most: float = _LARGEST) -> bool:
    """Tell whether a value is a real number from ``least`` to ``most``, and no truth value."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool | np.bool_):
        return False
    return bool(least <= cast(float, value) <= most)


def is_whole(value: object, least: int, most: int | None = None) -> bool:
    """Tell whether a value is a whole number from ``least`` to ``most``, and no truth value."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool):
        return False
    return least <= int(value) and (most is None or int(value) <= most)


def check_number(value: object, name: str, least: float, most: float = _LARGEST) -> float:
    """Return a real number from ``least`` to ``most`` as a float."""
    if not is_real(value, least, most):
        raise InputError(f"{name} must be a number from {least:g} to {most:g}, not {value!r}.")
    return float(cast(numbers.Real, value))


def check_count(value: object, name: str, least: int, most: int | None = None) -> int:
    """Return a whole number of at least ``least`` and, where that is given, at most ``most``."""
    if not is_whole(value, least, most):
        ends = f"from {least} up" if most is None else f"from {least} to {most:,}"
        raise InputError(f"{name} must be a whole number {ends}, not {value!r}.")
    return int(cast(numbers.Integral, value))


def check_output(output: object, q: int) -> int:
    """Return the number of one of q outputs."""
    if not is_whole(output, 0, q - 1):
        raise InputError(f"output={output!r} does not exist; there are {q}, counted from 0.")
    return int(cast(numbers.Integral, output))


def check_flag(value: object, name: str) -> bool:
    """Return a truth value, or raise an InputError if it is none."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} must be True or False, not {value!r}.")
    return bool(value)


def check_choice(value: object, name: str, choices: Iterable[str]) -> str:
    """Return a word that is one of the choices."""
    choices = tuple(choices)
    if not isinstance(value, str) or value not in choices:
        raise InputError(f"{name}={value!r} is none of {', '.join(choices)}.")
    return str(value)


def check_jobs(n_jobs: Any) -> int | None:
    """Return a number of jobs as joblib takes it, other than 0, or None."""
    if n_jobs is None:
        return None
    if not isinstance(n_jobs, bool) and isinstance(n_jobs, numbers.Integral) and n_jobs:
        return int(n_jobs)
    raise InputError(f"n_jobs must be a whole number, -1 for all processors, not {n_jobs!r}.")


def check_starts(n_starts: int | ArrayLike, n_theta: int) -> int | FloatArray:
    """Return a number of starts, or the logarithms [S, n_theta] of given ones."""
    if np.ndim(n_starts) == 0:
        return check_count(n_starts, "n_starts", 0, _MOST_STARTS)
    theta = as_floats(n_starts, "n_starts")
    if theta.ndim != 2 or theta.shape[1] != n_theta or not (theta > 0.0).all() or not theta.size:
        raise InputError(
            f"n_starts must be a number, or positive thetas of shape [S, {n_theta}] to start from."
        )
    return np.log(theta)


def as_seed(random_state: RandomState) -> int:
    """Return the integer seed that stands for random_state; a generator moves on by one draw."""
    if isinstance(random_state, numbers.Integral) and random_state >= 0:
        return int(random_state)
    if random_state is None:
        return int(np.random.default_rng().integers(2**32))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**32))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    raise InputError(
        f"random_state={random_state!r} is not a seed; use an integer from 0 up, a NumPy "
        "Generator or RandomState, or None."
    )


def as_generator(random_state: RandomState) -> np.random.Generator:
    """Return a generator: random_state itself if it is one, else the one that its seed starts."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(as_seed(random_state))


def warn(message: str, category: type[PengpWarning] = PengpWarning) -> None:
    """Warn in a category of the package, pointing at the caller of the public function."""
    warnings.warn(message, category, stacklevel=_caller_depth())


def warn_ill_conditioned(worst: float) -> None:
    """Warn where the condition number of a correlation matrix is beyond double precision."""
    if worst > ILL_CONDITIONED:
        warn(
            f"the condition number of the correlation matrix is about {worst:.0e}, so that "
            "the likelihood and standard deviations near the runs have few digits; use a "
            "larger nugget."
        )


def _caller_depth() -> int:
    """Return the stacklevel of the first frame outside the package."""
    depth, frame = 2, sys._getframe(2)
    while frame.f_back and str(frame.f_globals.get("__name__")).startswith("pengp"):
        frame, depth = frame.f_back, depth + 1
    return depth
