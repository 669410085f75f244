"""What only a Bayesian average has, for one of its outputs and as its readers want it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pengp._core.arrays import BoolArray, FloatArray
from pengp._core.registry import name_of
from pengp._core.shown import shown
from pengp.bayes.average import Average
from pengp.bayes.insight import MATTERS, Activity, Explanation, change_across
from pengp.bayes.mixture import ProcessMixture
from pengp.estimators.heldout import Known
from pengp.exceptions import InputError
from pengp.model.scaling import InputScaler

#: Modes of one kernel that differ by less than this share in every theta are one explanation. The
#: same mode under another nugget differs by a few percent, other modes by factors.
_ALIKE = 0.1


@shown
class Explained(NamedTuple):
    """An explanation of the runs: a mode of the posterior, whatever its nugget.

    See Also
    --------
    pengp.BayesianGPRegressor : Its ``explanations_`` are such.
    """

    kernel: str
    weight: float
    """Posterior weight of the draws that belong to it."""
    theta: FloatArray  # [d], for inputs in the unit cube
    lengthscale: FloatArray  # [d], in the inputs' units; infinite for a constant input
    matters: BoolArray  # [d], whether the input matters at the mode, as in `Activity`
    nugget: float
    """Of the weightiest mode."""

    def _in_short(self) -> str:
        mattering = f"{int(self.matters.sum())} of {len(self.matters)} inputs matter"
        return f"{self.kernel}, weight {self.weight:.2f}, {mattering}"


@dataclass(frozen=True, eq=False)
class AverageView:
    """The average of one output.

    Attributes
    ----------
    average : Average
        What is kept of the posterior.
    mixture : ProcessMixture
        The processes that predict.
    inputs : InputScaler
        From the user's units to the unit cube.
    """

    average: Average
    mixture: ProcessMixture
    inputs: InputScaler

    @classmethod
    def of(cls, estimator: Any, output: int) -> "AverageView":
        """Take it from a fitted `BayesianGPRegressor`."""
        found, known = estimator._averages[output], estimator._surrogate
        if found is None:
            raise InputError("a constant response has no posterior to show.")
        return cls(found, known.posteriors[output], known.inputs)

    @property
    def fitted_runs(self) -> Known:
        """The runs of ``fit``, scaled: X [n, d] in the unit cube, standardised y [n]."""
        y = self.average.y
        return Known(self.mixture.X[: len(y)], y, self.average.noise)

    @cached_property
    def activity(self) -> Activity:
        """How much each input matters, lengthscales in the inputs' units."""
        return activity_in(self.inputs, self.average.activity)

    @property
    def kernel_weights(self) -> dict[str, float]:
        """Posterior probability of each kernel."""
        return self.average.kernel_weights

    @cached_property
    def prior_kernel_weights(self) -> dict[str, float]:
        """Prior probability of each kernel."""
        found: dict[str, float] = {}
        for member in self.average.members:
            name = name_of(member.kernel)
            found[name] = found.get(name, 0.0) + member.weight
        return found

    @cached_property
    def explanations(self) -> tuple[Explained, ...]:
        """The modes with their weights, the weightiest first; those of two nuggets are one."""
        found: list[Explained] = []
        for one in map(self._explained, self.average.explanations):
            twin = next((k for k, other in enumerate(found) if _alike(one, other)), None)
            if twin is None:
                found.append(one)
            else:
                found[twin] = found[twin]._replace(weight=found[twin].weight + one.weight)
        return tuple(sorted(found, key=lambda e: -e.weight))

    def _explained(self, mode: Explanation) -> Explained:
        """Return what a mode says of the inputs."""
        member, (X, y, noise) = self.average.members[mode.member], self.fitted_runs
        process = member.condition(X, y, mode.theta, mode.nugget, None, noise)
        change = change_across(member, mode.theta[None], np.array([process.sigma2]))[0]
        constant = self.inputs.constant
        return Explained(
            name_of(member.kernel),
            mode.weight,
            mode.theta,
            np.where(constant, np.inf, self.inputs.lengthscale(mode.theta)),
            (change / np.std(y) > MATTERS) & ~constant,
            mode.nugget,
        )

    def lengthscale_draws(self) -> tuple[FloatArray, FloatArray]:
        """Return all draws of the lengthscales [N, d], in the inputs' units, and weights [N]."""
        draws = self.average.draws
        return self.inputs.lengthscale(draws.theta), draws.weight


def activity_in(inputs: InputScaler, found: Activity) -> Activity:
    """Return an activity in the inputs' units; a constant input does not matter."""
    constant, width = inputs.constant, inputs.width[:, None]
    return found._replace(
        probability=np.where(constant, 0.0, found.probability),
        lengthscale=np.where(constant[:, None], np.inf, found.lengthscale * width),
    )


def _alike(one: Explained, other: Explained) -> bool:
    """Tell whether two modes are one explanation."""
    ratio = np.abs(np.log(one.theta / other.theta))
    return one.kernel == other.kernel and bool((ratio < _ALIKE).all())
