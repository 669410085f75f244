"""Laws of numbers: families that are written as ``normal:50,10``, or frozen laws of scipy.stats."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from pengp.exceptions import InputError


class _Family(NamedTuple):
    """A law by name: what its numbers mean, and how to make it."""

    numbers: str
    size: int
    make: Callable[..., Any]
    sound: Callable[..., bool]


_FAMILIES = {
    "uniform": _Family(
        "lower,upper", 2, lambda a, b: stats.uniform(a, b - a), lambda a, b: bool(a < b)
    ),
    "loguniform": _Family("lower,upper", 2, stats.loguniform, lambda a, b: bool(0.0 < a < b)),
    "normal": _Family("mean,standard deviation", 2, stats.norm, lambda m, s: bool(s > 0.0)),
    "lognormal": _Family(
        "mean and standard deviation of the logarithm",
        2,
        lambda m, s: stats.lognorm(s, scale=np.exp(m)),
        lambda m, s: bool(s > 0.0),
    ),
    "triangular": _Family(
        "lower,mode,upper",
        3,
        lambda a, c, b: stats.triang((c - a) / (b - a), a, b - a),
        lambda a, c, b: bool(a <= c <= b and a < b),
    ),
    "beta": _Family(
        "a,b,lower,upper",
        4,
        lambda a, b, low, high: stats.beta(a, b, low, high - low),
        lambda a, b, low, high: bool(a > 0.0 and b > 0.0 and low < high),
    ),
}


@dataclass(frozen=True, eq=False)
class Law:
    """The law of one input, in the user's units.

    Attributes
    ----------
    text : str
        How it is written.
    dist : frozen law of scipy.stats
        The law.
    """

    text: str
    dist: Any

    def outside(self, lower: float, upper: float) -> float:
        """Return the probability below lower or above upper."""
        return float(self.dist.cdf(lower) + self.dist.sf(upper))

    @property
    def family(self) -> str:
        """Name of the family in scipy.stats."""
        return str(self.dist.dist.name)


def parse_law(text: str) -> Law:
    """Return the law that is written as ``family:numbers``, such as ``normal:50,10``."""
    name, _, rest = text.strip().partition(":")
    usage = "; ".join(f"{key}:{family.numbers}" for key, family in _FAMILIES.items())
    if name not in _FAMILIES:
        raise InputError(f"the law {text!r} is unknown; there are {usage}.")
    family = _FAMILIES[name]
    try:
        numbers = [float(part) for part in rest.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != family.size or not np.isfinite(numbers).all():
        raise InputError(f"the law {text!r} needs {family.size} numbers: {name}:{family.numbers}.")
    if not family.sound(*numbers):
        raise InputError(f"there is no law {text!r}; its numbers are {family.numbers}.")
    return Law(text.strip(), family.make(*numbers))


def as_law(law: Any) -> Law:
    """Return a law that is given as text, as a frozen law of scipy.stats or as a `Law`."""
    if isinstance(law, Law):
        return law
    if isinstance(law, str):
        return parse_law(law)
    if not isinstance(getattr(law, "dist", None), stats.rv_continuous):
        raise InputError(
            f"a law must be text such as 'normal:50,10' or a frozen continuous law of scipy.stats, "
            f"not a {type(law).__name__}."
        )
    numbers = [f"{value:g}" for value in (*law.args, *law.kwds.values())]
    return Law(f"{law.dist.name}:{','.join(numbers)}", law)
