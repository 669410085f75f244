"""What a fitted Bayesian average knows and predicts, output by output."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pengp._core.arrays import FloatArray, IntArray
from pengp._core.checks import check_output, warn
from pengp._core.linalg import condition_number
from pengp._core.registry import name_of
from pengp._core.shown import named, shown
from pengp.bayes.average import Average, Settings, extended, sample_of
from pengp.bayes.heldout import LEAST, leave_out
from pengp.bayes.heldout import HeldOut as LeftOut
from pengp.bayes.jackknife import LeftOutMeans, left_out_means
from pengp.bayes.law import MixtureLaw
from pengp.bayes.mixture import ProcessMixture
from pengp.choosing.folds import FoldsLike, make_folds
from pengp.choosing.plan import FoldPlan
from pengp.choosing.scores import check_level
from pengp.choosing.validation import Law
from pengp.estimators.average_view import AverageView, activity_in
from pengp.estimators.base import SurrogateMixin
from pengp.estimators.heldout import HeldOut, dealt
from pengp.estimators.laws import MappedLaw
from pengp.estimators.left_out import LeaveOneOut
from pengp.estimators.surrogate import Surrogate, leave_one_out_in
from pengp.exceptions import InputError


@shown
class Components(NamedTuple):
    """The processes of the average.

    They and their weights keep the predictive means and variances of all draws, nothing else: for
    statements about the posterior, such as the weight of a kernel, use ``kernel_weights_`` and
    ``activity_``.

    Examples
    --------
    >>> from pengp import BayesianGPRegressor, load_piston_slap
    >>> runs = load_piston_slap()
    >>> components = BayesianGPRegressor(random_state=0).fit(runs.X, runs.y).components_
    >>> components.theta.shape[1], round(float(components.weight.sum()), 6)
    (6, 1.0)
    """

    kernel: tuple[str, ...]  # M names
    theta: FloatArray  # [M, d], for inputs in the unit cube
    nugget: FloatArray  # [M]
    weight: FloatArray  # [M], sums to 1

    def _in_short(self) -> str:
        M, d = self.theta.shape
        return f"{M} processes of {d} inputs, {len({*self.kernel})} kernels"

    def _rows(self) -> list[dict[str, Any]]:
        """Return the kernels with their shares."""
        names, which = np.unique(self.kernel, return_inverse=True)
        number, weight = np.bincount(which), np.bincount(which, self.weight)
        table = zip(names, number, weight, strict=True)
        return [named(("kernel", "processes", "weight"), row) for row in table]


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
            if found is None:
                lines.append("constant response")
                continue
            parts = [f"{kernel} {weight:.2f}" for kernel, weight in found.kernel_weights.items()]
            later = len(self.X_train_) - len(found.y)
            of = f", by the {len(found.y)} runs of fit, not the {later} learned later; so are "
            more = f"{of}activity_ and explanations_" if later else ""
            size = f"effective size {found.effective_size:.0f}"
            lines.append(f"kernels: {', '.join(parts)}; {size}{more}")
        return lines

    _estimated_nugget = "sample"

    def _fixed_nugget(self) -> float | None:
        """Return the smallest nugget, None if it is sampled."""
        nuggets = [member.nugget for member in self._settings.members]
        fixed = [g for g in nuggets if not isinstance(g, tuple)]
        return min(fixed) if len(fixed) == len(nuggets) else None

    def _learn(self, surrogate: Surrogate[Any]) -> None:
        """Take over a surrogate that knows more runs; see `pengp.bayes.average.extended`."""
        X = surrogate.posteriors[0].X
        outputs = np.ascontiguousarray(surrogate.response.transform(surrogate.y_raw).T)
        mixtures = [
            mixture if found is None else extended(found, X, y, self._settings, seed, mixture.noise)
            for found, mixture, y, seed in zip(
                self._averages, surrogate.posteriors, outputs, self._seeds, strict=True
            )
        ]
        super()._learn(replace(surrogate, posteriors=tuple(mixtures)))

    @property
    def components_(self) -> Any:
        """The processes that predict, a `Components` or a list of q.

        Their weights by kernel do not add up to `kernel_weights_`; see `Components`.
        """
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
    def condition_(self) -> Any:
        """Largest estimated condition number of the processes' matrices, a number or [q]."""
        check_is_fitted(self)
        mixtures = self._surrogate.posteriors
        found = [max(condition_number(p.L) for p in mixture.components) for mixture in mixtures]
        return self._per_output(np.array(found))

    @property
    def activity_(self) -> Any:
        """How much each input matters, an `Activity` or a list of q."""
        return self._each(lambda a: activity_in(self._surrogate.inputs, a.activity))

    @property
    def explanations_(self) -> Any:
        """The modes of the posterior, the weightiest first, a tuple of `Explained` or a list of q.

        Those that differ in the nugget alone are one.
        """
        check_is_fitted(self)
        found = enumerate(self._averages)
        return self._of_outputs(
            [None if a is None else AverageView.of(self, k).explanations for k, a in found]
        )

    def held_out(
        self, output: int = 0, level: float = 0.95, *, folds: FoldsLike = "loo"
    ) -> HeldOut:
        """Predict each run of ``fit`` from others, theta learned anew by weighting the draws.

        Parameters
        ----------
        output : int
            Which output, for responses [n, q].
        level : float
            Probability of the intervals.
        folds : int, str, FoldPlan, array, splitter or iterable of pairs
            Which runs are held out together, as ``cv`` of `PenalizedGPRegressorCV`; by default each
            run alone. Every fold must leave 3 runs.
        """
        check_is_fitted(self)
        check_level(level)
        output = check_output(output, len(self._averages))
        found, known = self._averages[output], self._surrogate
        if found is None:
            raise InputError("a constant response has nothing to predict.")
        if isinstance(folds, str) and folds == "loo":
            left, how = found.held_out, "each run left out in turn"
        else:
            plan = self._plan(folds, output)
            X = known.posteriors[output].X[: len(found.y)]
            sample = sample_of(found, X, self._settings, self._seeds[output])
            left, how = leave_out(sample, plan.test), dealt(plan)
        others = {"effective_size": left.effective_size}
        if not known.response.transforms:  # the laws are of fewer draws than there are
            sd = known.response.sd[output]
            others |= {"mean": known.response.mean[output] + sd * left.mean, "std": sd * left.std}
        y, laws = known.y_raw[left.runs, output], self._left_laws(left, output)
        return HeldOut.of(left.runs, y, laws, level, _how(left, how), **others)

    def _plan(self, folds: FoldsLike, output: int) -> FoldPlan:
        """Return which runs of ``fit`` are held out together; the seed of the fit deals them."""
        n = self._runs_in_fit(output)
        y = self._surrogate.y_raw[:n, output]
        plan = make_folds(folds, self.X_train_[:n], y, random_state=self._seeds[output])
        if plan.train is not None:
            raise InputError("folds must train on all runs that they do not hold out.")
        return plan

    def _left_laws(self, left: LeftOut, output: int) -> Iterator[tuple[IntArray, MappedLaw]]:
        """Yield runs that were held out, and their laws; sets of one size have one df."""
        sizes = np.array([len(law.location) for law in left.laws])
        for size in np.unique(sizes):
            laws = [law for law in left.laws if len(law.location) == size]
            location = np.concatenate([law.location for law in laws])
            scale = np.concatenate([law.scale for law in laws])
            weights = np.repeat([law.weights for law in laws], size, axis=0)
            law = MixtureLaw(location, scale, weights, laws[0].df)
            rows = np.flatnonzero(np.repeat(sizes, sizes) == size)
            yield rows, self._surrogate.mapped(output, law)

    def _loo_law(self, output: int) -> MappedLaw:
        """Return the laws [n] of the runs of ``fit``, theta learned anew without each."""
        found = self._averages[output]
        if found is None:
            raise InputError("a constant response has nothing to predict.")
        return next(self._left_laws(found.held_out, output))[1]

    @property
    def loo_(self) -> LeaveOneOut:
        """Means and standard deviations of `held_out`, all outputs beside each other."""
        check_is_fitted(self)
        known = [a for a in self._averages if a is not None]
        flat = np.zeros(len(known[0].y) if known else len(self.X_train_))
        left = [None if a is None else a.held_out for a in self._averages]
        seen, mean, std = (
            np.stack(columns, axis=-1)
            for columns in (
                [flat if a is None else a.y for a in self._averages],
                [flat if found is None else found.mean for found in left],
                [flat if found is None else found.std for found in left],
            )
        )
        parts = seen - mean, mean, std, self._loo_law
        loo = leave_one_out_in(self._surrogate, *parts, theta="learned anew")
        return loo.output(0) if self._one_output else loo

    def _law(self, X_raw: FloatArray, output: int) -> Law:
        """Return the predictive distributions at X_raw [m, d]: mixtures of Student t."""
        known = self._surrogate
        if known.response.constant[output] or known.response.transforms:
            return super()._law(X_raw, output)
        law = known.posteriors[output].law(known.scale(X_raw))
        return law.moved(known.response.mean[output], known.response.sd[output])

    def _runs_in_fit(self, output: int) -> int:
        """Return the number of runs in ``fit``."""
        found = self._averages[output]
        return len(self.X_train_) if found is None else len(found.y)

    def _left_out(self, output: int) -> LeftOutMeans:
        """Return the posteriors without each run."""
        found = self._averages[output]
        assert found is not None  # a constant response leaves nothing out
        X, seed = self._surrogate.posteriors[output].X, self._seeds[output]
        left = left_out_means(found, X, self._settings, seed)
        run = int(left.effective_size.argmin())
        if left.effective_size[run] < LEAST:
            warn(
                f"without run {run} the effective number of draws is "
                f"{left.effective_size[run]:.0f}, below {LEAST:.0f}, so that jackknife+ intervals "
                "are rough; raise effective_size of BayesianGPRegressor."
            )
        return left


def _how(left: LeftOut, how: str) -> str:
    """Say how runs were held out, and by how many draws."""
    firsts = np.cumsum([0, *(len(law.location) for law in left.laws[:-1])])
    more = f", further draws for {left.n_thin} of {len(firsts)}" if left.n_thin else ""
    few = int((left.effective_size[firsts] < LEAST).sum())
    still = f", of which {few} still have fewer than {LEAST:.0f} effective ones" if few else ""
    return f"{how}{more}{still}"


def _components(mixture: ProcessMixture) -> Components:
    """Return what the user sees of a mixture."""
    names = [name_of(member.kernel) for member in mixture.members]
    kernels = tuple(names[k] for k in mixture.member)
    return Components(kernels, mixture.theta, mixture.nugget, mixture.weight)
