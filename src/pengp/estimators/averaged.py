"""What a fitted Bayesian average knows and predicts, output by output."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from pengp._core.arrays import FloatArray
from pengp._core.checks import check_levels
from pengp._core.registry import name_of
from pengp.bayes.average import Average, Settings, average
from pengp.bayes.insight import Activity
from pengp.bayes.mixture import ProcessMixture
from pengp.choosing.scores import half_width
from pengp.estimators.base import SurrogateMixin
from pengp.estimators.heldout import HeldOut
from pengp.estimators.surrogate import LeaveOneOut, Surrogate
from pengp.exceptions import InputError

_FEWEST_COMPONENTS = 20.0
"""Effective number of components below which new runs make the posterior be sampled anew."""


class Components(NamedTuple):
    """The processes of the average."""

    kernel: tuple[str, ...]  # M names
    theta: FloatArray  # [M, d], for inputs in the unit cube
    nugget: FloatArray  # [M]
    weight: FloatArray  # [M], sums to 1


class AverageMixin(SurrogateMixin):
    """Methods and learned attributes of `BayesianGPRegressor`; see there."""

    _averages: tuple[Average | None, ...]  # None for a constant response
    _settings: Settings
    _seeds: list[int]  # of each output
    _surrogate: Surrogate[ProcessMixture]

    def _of_outputs(self, values: Any) -> Any:
        """Return the first of q values for one output y [n], else all."""
        return values[0] if self._one_output else values

    def _each(self, what: Any) -> Any:
        """Return what(average) of each output, None where the response is constant."""
        check_is_fitted(self)
        return self._of_outputs([None if a is None else what(a) for a in self._averages])

    def _numbers(self, what: Any) -> Any:
        """Return a number of each output, nan where the response is constant."""
        check_is_fitted(self)
        found = [np.nan if a is None else float(what(a)) for a in self._averages]
        return self._per_output(np.array(found))

    def _summaries(self) -> list[str]:
        """Return the kernels' weights and the effective size of each output in a line."""
        lines = []
        for found in self._averages:
            weights = {} if found is None else found.kernel_weights
            parts = [f"{kernel} {weight:.2f}" for kernel, weight in weights.items()]
            size = 0.0 if found is None else found.effective_size
            lines.append(f"kernels: {', '.join(parts)}; effective size {size:.0f}")
        return lines

    def _fixed_nugget(self) -> float | None:
        """Return the smallest nugget, None if it is sampled."""
        nuggets = [member.nugget for member in self._settings.members]
        fixed = [g for g in nuggets if not isinstance(g, tuple)]
        return min(fixed) if len(fixed) == len(nuggets) else None

    def _learn(self, surrogate: Surrogate[Any]) -> None:
        """Take over a surrogate that knows more runs; sample anew where too few draws are left."""
        X = surrogate.posteriors[0].X
        outputs = np.ascontiguousarray(surrogate.response.transform(surrogate.y_raw).T)
        mixtures = [
            average(X, y, self._settings, seed)[1]
            if found is not None and mixture.effective_size < _FEWEST_COMPONENTS
            else mixture
            for found, mixture, y, seed in zip(
                self._averages, surrogate.posteriors, outputs, self._seeds, strict=True
            )
        ]
        super()._learn(replace(surrogate, posteriors=tuple(mixtures)))

    @property
    def components_(self) -> Any:
        """The processes that predict, a `Components` or a list of q."""
        check_is_fitted(self)
        return self._of_outputs([_components(m) for m in self._surrogate.posteriors])

    @property
    def kernel_weights_(self) -> Any:
        """Posterior probability of each kernel, a dict or a list of q."""
        return self._each(lambda a: a.kernel_weights)

    @property
    def log_evidence_(self) -> Any:
        """Log evidence of the average, a number or [q]."""
        return self._numbers(lambda a: a.log_evidence[0])

    @property
    def log_evidence_error_(self) -> Any:
        """Monte Carlo standard error of the log evidence, a number or [q]."""
        return self._numbers(lambda a: a.log_evidence[1])

    @property
    def effective_size_(self) -> Any:
        """Effective number of draws, a number or [q]."""
        return self._numbers(lambda a: a.effective_size)

    @property
    def pareto_shape_(self) -> Any:
        """Largest Pareto shape of the weights of a member that counts, a number or [q]."""
        return self._numbers(lambda a: a.pareto_shape)

    @property
    def thinning_(self) -> Any:
        """Change of the predictive mean by thinning, in standard deviations, a number or [q]."""
        return self._numbers(lambda a: a.mean_change)

    @property
    def activity_(self) -> Any:
        """How much each input matters, an `Activity` or a list of q."""
        inputs = self._surrogate.inputs

        def in_units(a: Average) -> Activity:
            found, width = a.activity, inputs.width[:, None]
            length = np.where(inputs.constant[:, None], np.inf, found.lengthscale * width)
            return found._replace(
                probability=np.where(inputs.constant, 0.0, found.probability), lengthscale=length
            )

        return self._each(in_units)

    @property
    def explanations_(self) -> Any:
        """The modes of the posterior with their weights, a tuple or a list of q."""
        return self._each(lambda a: a.explanations)

    def held_out(self, output: int = 0, level: float = 0.95) -> HeldOut:
        """Predict each run of ``fit`` from the others, theta learned anew by weighting the draws.

        Parameters
        ----------
        output : int
            Which output, for responses [n, q].
        level : float
            Probability of the intervals.
        """
        check_is_fitted(self)
        half_width(level)
        found, scaler = self._averages[output], self._surrogate.response
        if found is None:
            raise InputError("a constant response has nothing to predict.")
        left, y = found.held_out, found.y
        mean, sd = scaler.mean[output], scaler.sd[output]
        ends = np.concatenate([law.interval(level) for law in left.laws])
        pairs = zip(left.laws, left.runs, strict=True)
        crps = np.concatenate([law.crps(y[[run]]) for law, run in pairs])
        return HeldOut(
            left.runs,
            mean + sd * y[left.runs],
            mean + sd * left.mean,
            sd * left.std,
            mean + sd * ends[:, 0],
            mean + sd * ends[:, 1],
            sd * crps,
            level,
            "each run left out in turn",
            left.effective_size,
        )

    @property
    def loo_(self) -> LeaveOneOut:
        """Each run of ``fit`` predicted from the others, theta learned anew."""
        check_is_fitted(self)
        n, q = self._averages_runs(), len(self._averages)
        mean, std, residual = (np.zeros((n, q)) for _ in range(3))
        mean[:] = self._surrogate.response.mean
        for k, found in enumerate(self._averages):
            if found is not None:
                held = self.held_out(k)
                mean[:, k], std[:, k], residual[:, k] = held.mean, held.std, held.y - held.mean
        standardized = np.divide(residual, std, out=np.zeros_like(std), where=std > 0.0)
        loo = LeaveOneOut(mean, std, residual, standardized)
        return loo.output(0) if self._one_output else loo

    def _averages_runs(self) -> int:
        """Return the number of runs in ``fit``."""
        return next((len(a.y) for a in self._averages if a is not None), len(self.X_train_))

    def predict_quantiles(self, X: Any, levels: ArrayLike) -> FloatArray:
        """Return quantiles of the predictive distributions, exactly those of the mixtures.

        Parameters
        ----------
        X : array or frame, shape [m, d]
            Inputs in the units of the training data.
        levels : [k]
            Probabilities between 0 and 1.

        Returns
        -------
        [m, k] or [m, q, k]
        """
        X_raw, known = self._new_inputs(X), self._surrogate
        p = check_levels(levels)
        found = np.zeros((len(X_raw), len(self._averages), len(p)))
        X_scaled = known.scale(X_raw)
        for k, mixture in enumerate(known.posteriors):
            if not known.response.constant[k]:
                found[:, k] = mixture.law(X_scaled).quantiles(p)
        scaled = known.response.mean[:, None] + known.response.sd[:, None] * found
        return self._outputs(scaled)

    def predict_interval(self, X: Any, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Return central prediction intervals, exactly those of the mixtures.

        Parameters
        ----------
        X : array or frame, shape [m, d]
            Inputs in the units of the training data.
        level : float
            Probability that an interval is to cover, between 0 and 1.

        Returns
        -------
        lower, upper : [m] or [m, q]
            Quantiles of (1 - level) / 2 and (1 + level) / 2.
        """
        half_width(level)  # says so if the level is none, before any work
        ends = self.predict_quantiles(X, [0.5 - 0.5 * level, 0.5 + 0.5 * level])
        return ends[..., 0], ends[..., 1]


def _components(mixture: ProcessMixture) -> Components:
    """Return what the user sees of a mixture."""
    names = [name_of(member.kernel) for member in mixture.members]
    kernels = tuple(names[k] for k in mixture.member)
    return Components(kernels, mixture.theta, mixture.nugget, mixture.weight)
