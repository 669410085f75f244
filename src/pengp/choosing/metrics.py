"""Fold metrics of the paper (PE, MD, Score, DPE), which judge held-out folds and choose lambda."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from pengp._core.arrays import FloatArray, as_floats
from pengp._core.registry import Registry
from pengp.exceptions import InputError

#: A metric of the caller's own, for one fold: r [v], R [v, v], sigma2 -> value.
FoldFunction: TypeAlias = Callable[[FloatArray, FloatArray, float], float]


@dataclass(frozen=True)
class FoldParts:
    """What the metrics of a batch of folds share; one Cholesky decomposition each.

    Attributes
    ----------
    r : FloatArray, shape [..., v]
        Residuals y_k - mu_k of the held-out runs.
    R : FloatArray, shape [..., v, v]
        Scaled predictive covariance R_theta(X_k | D_-k), nugget on its diagonal.
    sigma2 : FloatArray, shape [...]
        Scale estimated from the training runs.
    quadratic, logdet : FloatArray, shape [...]
        r' R^-1 r and log|R|; nan where R is not positive definite.

    Examples
    --------
    >>> from pengp.choosing import FoldParts, get_metric
    >>> parts = FoldParts.from_arrays([0.5, -0.2], [[1.0, 0.3], [0.3, 1.0]], 2.0)
    >>> round(float(parts.quadratic), 4), round(float(get_metric("md").compute(parts)), 4)
    (0.3846, 0.1923)
    """

    r: FloatArray
    R: FloatArray
    sigma2: FloatArray
    quadratic: FloatArray
    logdet: FloatArray

    @classmethod
    def from_arrays(cls, r: ArrayLike, R: ArrayLike, sigma2: ArrayLike) -> "FoldParts":
        """Decompose R once; r [..., v], R [..., v, v], sigma2 [...] broadcast together."""
        r, R, sigma2 = as_floats(r, "r"), as_floats(R, "R"), as_floats(sigma2, "sigma2")
        v = r.shape[-1] if r.ndim else 0
        try:
            batch = np.broadcast_shapes(r.shape[:-1], R.shape[:-2], sigma2.shape)
        except ValueError:
            v = 0
        if not v or R.shape[-2:] != (v, v):
            raise InputError(
                f"residuals [..., v], R [..., v, v] and sigma2 [...] do not have the shapes "
                f"{r.shape}, {R.shape} and {sigma2.shape}."
            )
        r = np.broadcast_to(r, (*batch, v))
        R = np.broadcast_to(R, (*batch, v, v))
        L = _cholesky(R)
        diagonal = np.einsum("...ii->...i", L)
        with np.errstate(over="ignore", invalid="ignore"):
            quadratic = (_forward_substitution(L, r) ** 2).sum(axis=-1)
        logdet = 2.0 * np.log(diagonal).sum(axis=-1)
        return cls(r, R, np.broadcast_to(sigma2, batch), quadratic, logdet)


def _cholesky(R: FloatArray) -> FloatArray:
    """Lower Cholesky factors [..., v, v]; nan for an item that is not positive definite."""
    try:
        return np.asarray(np.linalg.cholesky(R), dtype=np.float64)
    except np.linalg.LinAlgError:
        if R.ndim == 2:
            return np.full(R.shape, np.nan)
        return np.array([_cholesky(item) for item in R])


def _forward_substitution(L: FloatArray, r: FloatArray) -> FloatArray:
    """Solve L z = r for every item: L [..., v, v], r [..., v]."""
    z = np.zeros_like(r)
    for i in range(r.shape[-1]):
        known = np.einsum("...j,...j->...", L[..., i, :i], z[..., :i])
        z[..., i] = (r[..., i] - known) / L[..., i, i]
    return z


@dataclass(frozen=True)
class FoldMetric:
    """A cross-validation metric.

    Attributes
    ----------
    name : str
        Key in tables and in `FOLD_METRICS`, choice on the command line, name in model files.
    compute : callable
        FoldParts of a batch -> values [...].
    label : str
        What axes of plots say; the name if omitted.
    meaning : str
        What a report's sentences say; the label if omitted.
    greater_is_better : bool
        Direction of the metric.
    of_covariances : bool
        Whether it judges variances and covariances together, for which the paper wants folds of two
        runs or more (Section 2).

    Examples
    --------
    A metric of your own is a function of residuals, scaled covariance and scale:

    >>> import numpy as np
    >>> from pengp import PenalizedGPRegressorCV, load_piston_slap
    >>> def largest_error(r, R, sigma2):
    ...     return np.abs(r).max()
    >>> runs = load_piston_slap()
    >>> model = PenalizedGPRegressorCV(cv=4, metric=largest_error, random_state=0)
    >>> model.fit(runs.X, runs.y).cv_table_.values["largest_error"].shape  # lambdas, folds
    (41, 4)
    """

    name: str
    compute: Callable[[FoldParts], FloatArray]
    label: str = ""
    meaning: str = ""
    greater_is_better: bool = False
    of_covariances: bool = False

    def __post_init__(self) -> None:
        """Let a metric without other words be called by its name."""
        object.__setattr__(self, "label", self.label or self.name)
        object.__setattr__(self, "meaning", self.meaning or self.label)

    def __call__(self, r: ArrayLike, R: ArrayLike, sigma2: ArrayLike) -> FloatArray:
        """Values [...] for residuals r [..., v], scaled covariance R [..., v, v], sigma2 [...]."""
        return self.compute(FoldParts.from_arrays(r, R, sigma2))

    @classmethod
    def from_function(
        cls, function: FoldFunction, *, name: str | None = None, greater_is_better: bool = False
    ) -> "FoldMetric":
        """Wrap a function (r [v], R [v, v], sigma2) -> float, called fold by fold."""
        known_as = name or str(getattr(function, "__name__", "custom"))
        compute = partial(_fold_by_fold, function)
        return cls(known_as, compute, greater_is_better=greater_is_better)


#: The names of `FOLD_METRICS`, for type checkers; a metric of your own is passed itself.
MetricName: TypeAlias = Literal["pe", "md", "score", "dpe", "root_dpe", "scaled_score"]

#: What names or computes a fold metric.
MetricLike: TypeAlias = MetricName | FoldMetric | FoldFunction


def _fold_by_fold(function: FoldFunction, parts: FoldParts) -> FloatArray:
    """Values [...] of a function that takes one fold at a time."""
    values = np.empty(parts.sigma2.shape)
    for item in np.ndindex(values.shape):
        values[item] = function(parts.r[item], parts.R[item], float(parts.sigma2[item]))
    return values


def _prediction_error(parts: FoldParts) -> FloatArray:
    """PE = r'r, Section 2."""
    with np.errstate(over="ignore"):
        return np.asarray((parts.r**2).sum(axis=-1))


def _mahalanobis(parts: FoldParts) -> FloatArray:
    """MD = r' R^-1 r / sigma2, Section 2; with sigma2 = 0 it is 0 for r = 0, else inf."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(parts.quadratic == 0, 0.0, parts.quadratic / parts.sigma2)


def _score(parts: FoldParts) -> FloatArray:
    """Score = MD + log|sigma2 R|, Section 2; with sigma2 = 0 it is -inf for r = 0, else inf."""
    md = _mahalanobis(parts)
    with np.errstate(divide="ignore", invalid="ignore"):
        score = md + parts.r.shape[-1] * np.log(parts.sigma2) + parts.logdet
    return np.where(np.isposinf(md), np.inf, score)


def _decorrelated_error(parts: FoldParts) -> FloatArray:
    """DPE = r' R^-1 r, Section 3."""
    return parts.quadratic


def _root_dpe(parts: FoldParts) -> FloatArray:
    """sqrt(DPE), what the authors' package calls DPE."""
    return np.asarray(np.sqrt(parts.quadratic))


def _scaled_score(parts: FoldParts) -> FloatArray:
    """-Score / n_v, what the authors' package calls score; higher is better."""
    return np.asarray(-_score(parts) / parts.r.shape[-1])


#: Fold metrics by name; ``FOLD_METRICS.register`` adds to it.
FOLD_METRICS = Registry(
    "metric",
    FoldMetric("pe", _prediction_error, "PE", "squared prediction error (PE)"),
    FoldMetric("md", _mahalanobis, "MD", "Mahalanobis distance (MD)", of_covariances=True),
    FoldMetric(
        "score",
        _score,
        "Score",
        "Score, the Mahalanobis distance plus the log determinant",
        of_covariances=True,
    ),
    FoldMetric("dpe", _decorrelated_error, "DPE", "decorrelated prediction error (DPE)"),
    FoldMetric(
        "root_dpe",
        _root_dpe,
        "root DPE",
        "root of the decorrelated prediction error (root DPE)",
    ),
    FoldMetric(
        "scaled_score",
        _scaled_score,
        "scaled score",
        "scaled score, minus the Score for each held-out run",
        greater_is_better=True,
        of_covariances=True,
    ),
)


def get_metric(metric: str | FoldMetric | FoldFunction) -> FoldMetric:
    """Look up a metric by name or wrap a plain function; a FoldMetric is returned as it is.

    Lower is better for a function, unless it has a true attribute `greater_is_better`.

    Examples
    --------
    >>> from pengp.choosing import get_metric
    >>> get_metric("dpe").label
    'DPE'
    >>> get_metric("scaled_score").greater_is_better
    True
    """
    if isinstance(metric, FoldMetric):
        return metric
    if callable(metric):
        better = bool(getattr(metric, "greater_is_better", False))
        return FoldMetric.from_function(metric, greater_is_better=better)
    return FOLD_METRICS.look_up(metric, "a FoldMetric or a function (r, R, sigma2) -> value")


def fold_metrics(
    r: ArrayLike,
    R: ArrayLike,
    sigma2: ArrayLike,
    metrics: Iterable[MetricLike] | None = None,
) -> dict[str, FloatArray]:
    """Values of several metrics for a batch of folds from one Cholesky decomposition each.

    Parameters
    ----------
    r : array, shape [..., v]
        Residuals y_k - mu_k of the held-out runs.
    R : array, shape [..., v, v]
        Scaled predictive covariance R_theta(X_k | D_-k), nugget on its diagonal.
    sigma2 : array, shape [...]
        Scale estimated from the training runs.
    metrics : iterable, optional
        Names, FoldMetric objects or functions; everything registered if omitted.

    Returns
    -------
    dict of FloatArray, shape [...]
        By name. Where R is not positive definite, metrics that need its inverse are nan.

    Examples
    --------
    >>> from pengp.choosing import fold_metrics
    >>> r, R, sigma2 = [0.5, -0.2], [[1.0, 0.3], [0.3, 1.0]], 2.0
    >>> found = fold_metrics(r, R, sigma2, metrics=["pe", "dpe", "md"])
    >>> {name: round(float(value), 4) for name, value in found.items()}
    {'pe': 0.29, 'dpe': 0.3846, 'md': 0.1923}
    """
    parts = FoldParts.from_arrays(r, R, sigma2)
    return {metric.name: metric.compute(parts) for metric in listed_metrics(metrics)}


def listed_metrics(metrics: Iterable[MetricLike] | None) -> list[FoldMetric]:
    """Return metrics, each under a name of its own; everything registered if None."""
    chosen: Any = FOLD_METRICS if metrics is None else metrics
    if not isinstance(chosen, Iterable) or (isinstance(chosen, np.ndarray) and not chosen.ndim):
        raise InputError(f"metrics must be a list of names or metrics, not {metrics!r}.")
    wanted = [get_metric(m) for m in ([chosen] if isinstance(chosen, str) else chosen)]
    names = [metric.name for metric in wanted]
    if not names or len(set(names)) < len(names):
        raise InputError(f"metrics must be one or more with different names, not {names}.")
    return wanted
