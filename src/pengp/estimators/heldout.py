"""Runs predicted by fits that did not know them: how accurate a surrogate is on new runs."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from pengp._core.arrays import FloatArray, IntArray
from pengp._core.datasets import DataSets
from pengp._core.shown import Shown
from pengp.choosing.crossval import CVTable
from pengp.choosing.folds import leave_one_out
from pengp.choosing.laws import NormalLaw
from pengp.choosing.plan import FoldPlan
from pengp.choosing.scores import coverage, interval_score, mean_surprise, q2, rmse
from pengp.estimators.laws import MappedLaw
from pengp.model.posterior import Posterior, condition
from pengp.path.fitting import Model
from pengp.path.penalized import PathFit, fit_path

#: Predictions by number, and their laws.
Laws: TypeAlias = Iterable[tuple[IntArray | slice, MappedLaw]]


@dataclass(frozen=True, eq=False, repr=False)
class HeldOut(Shown):
    """Runs predicted by fits that did not know them, in the user's units.

    With folds dealt several times, a run is predicted as often.

    Attributes
    ----------
    run : [N]
        Which run of ``fit``, from 0.
    y : [N]
        Its response.
    mean, std : [N]
        Predictive mean and standard deviation.
    lower, upper : [N]
        Ends of the central intervals that hold ``level`` of the predictive laws.
    crps : [N]
        Continuous ranked probability scores of the predictive laws.
    below : [N]
        Probability F(y) that the predictive laws give to a response below the one seen.
    log_density : [N]
        Logarithms of the predictive densities at y.
    level : float
        Probability of the intervals.
    how : str
        How the runs were held out.
    effective_size : [N], optional
        Of the draws that predict the run, where draws were weighted anew.

    Examples
    --------
    >>> from pengp import PenalizedGPRegressor, load_piston_slap
    >>> runs = load_piston_slap()
    >>> model = PenalizedGPRegressor(lam=0.0578, random_state=0).fit(runs.X, runs.y)
    >>> held_out = model.held_out()  # each run predicted by an estimate from the others
    >>> held_out.inside, held_out.run.size  # runs inside their 95 % interval, of 12
    (4, 12)
    """

    run: IntArray
    y: FloatArray
    mean: FloatArray
    std: FloatArray
    lower: FloatArray
    upper: FloatArray
    crps: FloatArray
    below: FloatArray
    log_density: FloatArray
    level: float
    how: str
    effective_size: FloatArray | None = None

    @classmethod
    def of(
        cls, run: IntArray, y: FloatArray, laws: "Laws", level: float, how: str, **others: Any
    ) -> "HeldOut":
        """Return what predictive laws say of y [N]; ``others`` are fields that are known better."""
        told = np.empty((7, len(y)))
        for rows, law in laws:
            numbers = law.crps(y[rows]), law.cdf(y[rows]), law.log_density(y[rows])
            told[:, rows] = [*law.moments(), *law.interval(level).T, *numbers]
        names = ("mean", "std", "lower", "upper", "crps", "below", "log_density")
        found = dict(zip(names, told, strict=True))
        return cls(run=run, y=y, level=level, how=how, **(found | others))

    def _in_short(self) -> str:
        found = self.scores()
        told = ", ".join(f"{name} {found[name]:.4g}" for name in ("rmse", "q2", "crps", "coverage"))
        return f"{len(self.run)} predictions of {len(set(self.run))} runs, {self.how}: {told}"

    @property
    def inside(self) -> int:
        """How many of the responses lie in their intervals."""
        return int(((self.lower <= self.y) & (self.y <= self.upper)).sum())

    def scores(self) -> dict[str, float]:
        """Return rmse, crps and interval_score in the response's unit, q2, log_score, coverage."""
        return {
            "rmse": rmse(self.y, self.mean),
            "q2": q2(self.y, self.mean),
            "crps": float(self.crps.mean()),
            "log_score": mean_surprise(-self.log_density),
            "coverage": coverage(self.y, self.lower, self.upper),
            "interval_score": interval_score(self.y, self.lower, self.upper, level=self.level),
        }

    def by_run(self, values: FloatArray) -> FloatArray:
        """Return the mean for each run, in their order, of values [N] of its predictions."""
        seen = np.bincount(self.run)
        means: FloatArray = np.bincount(self.run, values)[seen > 0] / seen[seen > 0]
        return means


class Split(NamedTuple):
    """Runs to learn from and to predict, and the estimates from the former."""

    train: IntArray
    test: IntArray
    theta: FloatArray  # [d]
    nugget: float
    sigma2: float


class Normals(NamedTuple):
    """Normal predictions of held-out runs, on the model's scale."""

    run: IntArray  # [N]
    mean: FloatArray  # [N]
    std: FloatArray  # [N]


def of_table(table: CVTable, lam: float) -> tuple[list[Split], str]:
    """Return the folds of a cross-validation with their own estimates at lam, and how they lie."""
    at = int(np.flatnonzero(table.lams == lam)[0])
    nugget, sigma2 = table.nugget[at].tolist(), table.sigma2[at].tolist()
    splits = [
        Split(train, test, table.theta[at, k], nugget[k], sigma2[k])
        for k, (train, test) in enumerate(table.plan)
    ]
    return splits, dealt(table.plan)


def dealt(plan: FoldPlan) -> str:
    """Say how the folds of a plan lie."""
    times = f", dealt {plan.repeats} times" if plan.repeats > 1 else ""
    return f"{plan.n_folds} {plan.kind} folds{times}"


class Known(NamedTuple):
    """Runs on the model's scale."""

    X: FloatArray  # [n, d]
    y: FloatArray  # [n]
    noise: FloatArray | None = None  # [n], known variances of y

    @classmethod
    def of(cls, data: DataSets, output: int) -> "Known":
        """Take the runs of one output."""
        noise = None if data.noise is None else data.noise[output]
        return cls(data.X[output], data.y[output], noise)

    def take(self, rows: IntArray) -> "Known":
        """Return some of them."""
        noise = None if self.noise is None else self.noise[rows]
        return Known(self.X[rows], self.y[rows], noise)


def of_refits(runs: Known, lam: float, model: Model, n_starts: int | FloatArray) -> list[Split]:
    """Return each run alone with the estimates from the others at lam."""
    plan = leave_one_out(len(runs.y))
    parts = [runs.take(train) for train, _ in plan]
    noise = None if runs.noise is None else [p.noise for p in parts if p.noise is not None]
    sets = DataSets([p.X for p in parts], [p.y for p in parts], (len(plan),), noise)
    fit: PathFit = fit_path(sets, np.array([lam]), model, n_starts, np.random.default_rng(0))
    return [
        Split(train, test, fit.theta[k, 0], float(fit.nugget[k, 0]), float(fit.sigma2[k, 0]))
        for k, (train, test) in enumerate(plan)
    ]


def predict_splits(known: Known, splits: Iterable[Split], model: Model) -> Normals:
    """Predict the responses that were held out, noise included, at the estimates of the splits."""
    runs, means, variances = [], [], []
    for split in splits:
        process = _conditioned(known, split, model)
        mean, variance = process.predict(known.X[split.test])
        runs.append(split.test)
        means.append(mean)
        variances.append(split.sigma2 * variance)
    run, variance = np.concatenate(runs), np.concatenate(variances)
    if known.noise is not None:
        variance = variance + known.noise[run]
    return Normals(run, np.concatenate(means), np.sqrt(variance))


def _conditioned(known: Known, split: Split, model: Model) -> Posterior:
    """Return the process at the estimates of a split, conditioned on its runs."""
    runs = known.take(split.train)
    return condition(
        runs.X,
        runs.y,
        split.theta,
        kernel=model.kernel,
        nugget=split.nugget,
        mean=model.mean,
        sigma2=split.sigma2,
        noise=runs.noise,
    )


@dataclass(frozen=True, eq=False)
class LeftOutProcesses:
    """Fits that left out one of n runs each, with their own estimates, on the model's scale.

    Attributes
    ----------
    processes : list of n Posterior
        Conditioned on the other runs.
    residuals : [n]
        Absolute errors at the run that was left out.
    """

    processes: list[Posterior]
    residuals: FloatArray

    @classmethod
    def of(cls, known: Known, splits: list[Split], model: Model) -> "LeftOutProcesses":
        """Condition on the runs without each."""
        processes = [_conditioned(known, split, model) for split in splits]
        pairs = zip(processes, splits, strict=True)
        predicted = np.concatenate(
            [process.predict_mean(known.X[split.test]) for process, split in pairs]
        )
        return cls(processes, np.abs(known.y - predicted))

    def means(self, X_new: FloatArray) -> FloatArray:
        """Return the predictions [m, n] at X_new [m, d]."""
        return np.stack([process.predict_mean(X_new) for process in self.processes], axis=-1)


def held_out_of(
    y: FloatArray, found: Normals, mapped: Callable[[NormalLaw], MappedLaw], level: float, how: str
) -> HeldOut:
    """Return the record of normal predictions of runs of y [n], mapped to the user's unit."""
    law = mapped(NormalLaw(found.mean, found.std))
    return HeldOut.of(found.run, y[found.run], [(slice(None), law)], level, how)
