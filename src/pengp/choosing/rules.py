"""Rules that choose a lambda from cross-validation values: best, one standard error, your own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from pengp._core.arrays import BoolArray, FloatArray, as_floats
from pengp._core.checks import check_count, check_flag, warn
from pengp._core.registry import Registry, name_of
from pengp.exceptions import InputError

#: What a rule does: lams [L] and values [L, K], lower is better -> index into lams.
RuleFunction: TypeAlias = Callable[[FloatArray, FloatArray], int]


@dataclass(frozen=True)
class Rule:
    """A way to choose lambda.

    Attributes
    ----------
    name : str
        Key in `RULES`, choice on the command line, name in model files.
    function : callable
        lams [L] and values [L, K], lower is better -> index into lams.
    label : str
        What to call it in a few words.
    meaning : str
        What it chooses: "lambda is ...".

    Examples
    --------
    A rule of your own, the largest lambda with a mean within 5 % of the best:

    >>> import numpy as np
    >>> from pengp.choosing import Rule, select_index
    >>> def nearly_best(lams, values):
    ...     mean = values.mean(1)
    ...     return max(np.flatnonzero(mean <= 1.05 * mean.min()), key=lambda i: lams[i])
    >>> rule = Rule("nearly", nearly_best)
    >>> int(select_index(rule, [0.0, 0.1, 1.0], [[2.0, 2.0], [1.9, 2.2], [5.0, 6.0]]))
    1
    """

    name: str
    function: RuleFunction
    label: str = "a rule of your own"
    meaning: str = "the choice of a rule of your own"

    def __post_init__(self) -> None:
        """Refuse what cannot be called."""
        if not callable(self.function):
            raise InputError(f"rule {self.name!r} must be a callable (lams, values) -> index.")

    def __call__(self, lams: FloatArray, values: FloatArray) -> int:
        """Index of the chosen lambda for lams [L] and values [L, K], lower is better."""
        return self.function(lams, values)


#: The names of `RULES`, for type checkers; a rule of your own is passed itself.
RuleName: TypeAlias = Literal["1se", "min"]

#: What names or is a rule.
RuleLike: TypeAlias = RuleName | Rule | RuleFunction


def mean_and_se(values: ArrayLike, axis: int = -1) -> tuple[FloatArray, FloatArray]:
    """Mean over folds and its standard error, Section 2: SE = SD (ddof = 1) / sqrt(K).

    Parameters
    ----------
    values : array, shape [..., K]
        Metric values with the folds on `axis`.

    Returns
    -------
    mean, se : FloatArray, shape [...]
        se is nan for a single fold; both are not finite where a fold is not.

    Examples
    --------
    >>> from pengp.choosing import mean_and_se
    >>> mean, se = mean_and_se([[2.0, 4.0], [2.5, 4.5]])
    >>> mean, se
    (array([3. , 3.5]), array([1., 1.]))
    """
    values = as_floats(values, "values")
    if type(axis) is not int or not -values.ndim <= axis < values.ndim:
        raise InputError(f"axis={axis!r} is none of the {values.ndim} axes of the values.")
    K = values.shape[axis]
    if not K:
        raise InputError("the metric values are of no fold; give one or more.")
    # In a power of 2, so that neither sums nor squares are too large for a number.
    exponent = np.frexp(np.abs(values).max(axis=axis, keepdims=True))[1]
    scaled, exponent = np.ldexp(values, -exponent), exponent.squeeze(axis)
    with np.errstate(invalid="ignore", over="ignore"):
        mean = np.ldexp(scaled.mean(axis=axis), exponent)
        if K < 2:
            return np.asarray(mean), np.full_like(mean, np.nan)
        se = scaled.std(axis=axis, ddof=1) / np.sqrt(K)
        return np.asarray(mean), np.asarray(np.ldexp(se, exponent))


def best_index(
    values: ArrayLike, lams: ArrayLike | None = None, *, greater_is_better: bool = False
) -> int:
    """Index of lambda*, the lambda with the best mean over folds.

    Parameters
    ----------
    values : array, shape [L, K]
        Metric value for each lambda and fold. A lambda with a value that is not finite loses
        against every lambda without one; a fold that is finite for no lambda is left out with a
        warning, since it says nothing about lambda.
    lams : array, shape [L], optional
        Values of lambda, in any order. Ties go to the smallest, without `lams` to the first row.
    greater_is_better : bool
        Direction of the metric.

    Examples
    --------
    >>> from pengp.choosing import best_index
    >>> best_index([[3.0, 5.0], [2.0, 4.0], [6.0, 1.0]])  # three lambdas, two folds
    1
    """
    mean, _, lams = _summarise(lams, values, greater_is_better)
    return _best(mean, lams)


def one_se_index(
    lams: ArrayLike, values: ArrayLike, *, greater_is_better: bool = False, repeats: int = 1
) -> int:
    """Index of lambda_1SE = max{lambda | C(lambda) <= C(lambda*) + SE(lambda*)}, Section 2.

    The largest lambda by value, anywhere on the grid: the grid need not be sorted, and worse values
    may lie between lambda* and lambda_1SE. With one fold the standard error counts as 0.

    Parameters
    ----------
    lams : array, shape [L]
        Values of lambda, in any order.
    values : array, shape [L, K]
        Metric value for each lambda and fold; not finite as in `best_index`.
    greater_is_better : bool
        Direction of the metric.
    repeats : int
        How often the folds were dealt; column after column, those of one repeat are together. SE is
        the mean of the repeats' standard errors: folds of different repeats share their runs, and
        the error of a mean over them does not vanish as repeats are added.

    Examples
    --------
    lambda = 0.01 is best; 0.1 lies within one standard error of it, 1 does not:

    >>> from pengp.choosing import one_se_index
    >>> one_se_index([0.0, 0.01, 0.1, 1.0], [[4.0, 5.0], [2.0, 4.0], [2.5, 4.5], [5.0, 9.0]])
    2
    """
    mean, usable, lams = _summarise(lams, values, greater_is_better)
    best, repeats = _best(mean, lams), check_count(repeats, "repeats", 1, len(usable))
    if len(usable) % repeats:
        raise InputError(f"{len(usable)} folds are not {repeats} repeats of as many folds.")
    blocks = (np.split(a, repeats) for a in (np.asarray(values)[best], usable))
    errors = [mean_and_se(v[u])[1] for v, u in zip(*blocks, strict=True) if u.any()]
    within = mean <= mean[best] + mean_and_se(np.nan_to_num(np.array(errors), nan=0.0))[0]
    return int(np.argmax(np.where(within, lams, -np.inf)))


def _best(mean: FloatArray, lams: FloatArray) -> int:
    """Index of the lowest mean [L]; among equals that of the smallest lambda [L]."""
    return int(np.argmin(np.where(mean == mean.min(), lams, np.inf)))


def _summarise(
    lams: ArrayLike | None, values: ArrayLike, greater_is_better: bool
) -> tuple[FloatArray, BoolArray, FloatArray]:
    """Mean [L], lower is better (inf for a lambda that loses), folds [K] that count, lams [L]."""
    lams, values = _check_table(lams, values)
    greater_is_better = check_flag(greater_is_better, "greater_is_better")
    usable = np.isfinite(values)
    informative = np.asarray(usable.any(axis=0))
    if not informative.all():
        warn(
            f"folds {np.flatnonzero(~informative).tolist()} (counted from 0) have no finite metric "
            "value at any lambda and are left out of the choice of lambda."
        )
    complete = usable[:, informative].all(axis=1)
    if not informative.any() or not complete.any():
        raise InputError(
            "no lambda has finite metric values in every fold, so none can be chosen; use another "
            "metric or larger folds."
        )
    mean, _ = mean_and_se((-values if greater_is_better else values)[:, informative])
    return np.where(complete, mean, np.inf), informative, lams


def _check_table(lams: ArrayLike | None, values: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Lams [L] (row numbers where None) and values [L, K] as floats, or an InputError."""
    values = as_floats(values, "values")
    if values.ndim != 2 or values.size == 0:
        raise InputError(
            f"the metric values have shape {values.shape}; give a table with one row for each "
            "lambda and one column for each fold."
        )
    lams = np.arange(len(values)) if lams is None else lams
    lams = as_floats(lams, "lams")
    if lams.shape != (len(values),) or not np.isfinite(lams).all():
        raise InputError(
            f"lams must hold one finite number for each of the {len(values)} rows of values."
        )
    return lams, values


def _min_rule(lams: FloatArray, values: FloatArray) -> int:
    """Index of lambda*; see `best_index`."""
    return best_index(values, lams)


#: Rules by name; ``RULES.register`` adds to it.
RULES = Registry(
    "rule",
    Rule(
        "1se",
        one_se_index,
        "one-standard-error rule",
        "the largest value whose mean over the folds is within one standard error of the best: of "
        "values that predict about equally well, the one that penalizes most",
    ),
    Rule(
        "min",
        _min_rule,
        "best of cross-validation",
        "the value with the best mean over the folds, the one that predicts left-out runs best",
    ),
)


def get_rule(rule: str | Rule | RuleFunction) -> Rule:
    """Look up a rule by name or function, or wrap a function; a Rule is returned as it is.

    Examples
    --------
    >>> from pengp.choosing import get_rule
    >>> get_rule("1se").label
    'one-standard-error rule'
    """
    if isinstance(rule, Rule):
        return rule
    if callable(rule):
        known = (record for record in RULES.values() if record.function is rule)
        return next(known, Rule(name_of(rule), rule))
    return RULES.look_up(rule, "a Rule or a function (lams, values) -> index")


def select_index(
    rule: RuleLike, lams: ArrayLike, values: ArrayLike, *, greater_is_better: bool = False
) -> int:
    """Index into `lams` that `rule` chooses.

    Parameters
    ----------
    rule : str, Rule or callable
        Name of a registered rule, a Rule, or a callable (lams [L], values [L, K]) -> index that is
        handed values of which lower is better.
    lams : array, shape [L]
        Values of lambda, in any order.
    values : array, shape [L, K]
        Metric value for each lambda and fold.
    greater_is_better : bool
        Direction of the metric; the values are negated before the rule sees them.

    Examples
    --------
    >>> from pengp.choosing import select_index
    >>> values = [[4.0, 5.0], [2.0, 4.0], [2.5, 4.5], [5.0, 9.0]]
    >>> [select_index(rule, [0.0, 0.01, 0.1, 1.0], values) for rule in ("min", "1se")]
    [1, 2]
    """
    chosen = get_rule(rule)
    lams, values = _check_table(lams, values)
    greater_is_better = check_flag(greater_is_better, "greater_is_better")
    index = int(chosen(lams, -values if greater_is_better else values))
    if not 0 <= index < len(lams):
        raise InputError(
            f"the rule returned index {index}; it must return an index from 0 to {len(lams) - 1}."
        )
    return index
