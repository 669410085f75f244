"""What a report is about: one output of a fitted model, along the values of lambda."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from pengp._core.arrays import BoolArray, FloatArray
from pengp.choosing.crossval import CVTable
from pengp.diagnostics import Diagnosis, Mode, diagnose, score_predictions
from pengp.estimators import PenalizedGPRegressor, PenalizedGPRegressorCV
from pengp.plots import LambdaAxis, LeaveOneOutDisplay, ResidualsDisplay, lambda_positions
from pengp.report.text import plain

Estimator: TypeAlias = PenalizedGPRegressor | PenalizedGPRegressorCV

#: Places of the slider; of a longer grid of lambda some values are left out.
_MOST_PLACES = 61


@dataclass(frozen=True, eq=False)
class Subject:
    """One output of a fitted model.

    Attributes
    ----------
    model : PenalizedGPRegressor or PenalizedGPRegressorCV
        Fitted.
    output, n_outputs : int
        Which output, of how many.
    response : str
        Its name.
    names : tuple of d strings
        Names of the inputs.
    lams : [L]
        Values of lambda at the places of the slider, ascending.
    models : tuple of L models
        The model at each.
    """

    model: Estimator
    output: int
    n_outputs: int
    response: str
    names: tuple[str, ...]
    lams: FloatArray
    models: tuple[Estimator, ...]

    def own(self, values: Any) -> Any:
        """Return this output's share of values with the outputs, if several, on the first axis."""
        return values if self.model.y_train_.ndim == 1 else values[self.output]

    @property
    def key(self) -> str:
        """Prefix of everything about this output in the page."""
        return f"o{self.output}"

    @property
    def lam_key(self) -> str:
        """Name of the slider's place in the state."""
        return f"{self.key}.lam"

    @cached_property
    def y(self) -> FloatArray:
        """Responses of the runs [n]."""
        y: FloatArray = self.model.y_train_
        return y if y.ndim == 1 else y[:, self.output]

    @cached_property
    def is_constant(self) -> bool:
        """Whether the response was constant when the model was fitted."""
        return not np.any(self.model.path_._data.y[self.output])

    @cached_property
    def lam(self) -> float:
        """The model's own lambda."""
        return float(self.own(self.model.lam_))

    @cached_property
    def place(self) -> int:
        """Place of the model's own lambda on the slider."""
        return int(np.flatnonzero(self.lams == self.lam)[0])

    @cached_property
    def axis(self) -> LambdaAxis:
        """Where the slider's values of lambda go on an axis."""
        return lambda_positions(self.lams)

    @cached_property
    def diagnosis(self) -> Diagnosis:
        """Scores, modes, findings at the model's own lambda."""
        return diagnose(self.model, output=self.output)

    @cached_property
    def table(self) -> CVTable | None:
        """The table of folds, None where nothing was cross-validated."""
        if not isinstance(self.model, PenalizedGPRegressorCV):
            return None
        table: CVTable | None = self.own(self.model.cv_table_)
        return table

    @property
    def metric(self) -> str | None:
        """The metric that chose lambda, which stands first in the table of folds."""
        return None if self.table is None else next(iter(self.table.values))

    @cached_property
    def ignored(self) -> BoolArray:
        """Whether an input [d] had one value only when the model was fitted."""
        return np.asarray(np.isinf(self.own(self.model.lengthscale_)))

    @cached_property
    def theta(self) -> FloatArray:
        """Estimates [L, d] along the slider."""
        return np.array([self.own(model.theta_) for model in self.models])

    @cached_property
    def lengthscale(self) -> FloatArray:
        """Lengthscales [L, d] along the slider, in the inputs' units."""
        return np.array([self.own(model.lengthscale_) for model in self.models])

    @cached_property
    def active(self) -> BoolArray:
        """Whether an input matters [L, d]: it varies, and theta is above its lower bound."""
        path = self.model.path_
        at_bound = self.own(path.at_bound)
        places = [int(np.flatnonzero(path.lams == lam)[0]) for lam in self.lams]
        return np.asarray((at_bound[places] >= 0) & ~self.ignored)

    @cached_property
    def ranked(self) -> list[int]:
        """Numbers of the inputs, those that matter most first."""
        own, most = self.theta[self.place], self.theta.max(axis=0)
        return sorted(range(len(own)), key=lambda p: (self.ignored[p], -own[p], -most[p], p))

    @cached_property
    def learned_later(self) -> int:
        """Number of runs that the model learned after its fit."""
        return len(self.y) - len(self.model.path_._data.y[0])

    @property
    def modes(self) -> tuple[Mode, ...]:
        """Local maxima of the penalized likelihood, best first."""
        return self.diagnosis.modes

    @cached_property
    def loo(self) -> list[LeaveOneOutDisplay]:
        """Leave-one-out predictions along the slider."""
        return [LeaveOneOutDisplay.from_estimator(m, output=self.output) for m in self.models]

    @cached_property
    def residuals(self) -> list[ResidualsDisplay]:
        """Standardised residuals along the slider."""
        return [ResidualsDisplay.from_estimator(m, output=self.output) for m in self.models]

    @cached_property
    def scores(self) -> list[dict[str, float]]:
        """Leave-one-out scores along the slider."""
        level = self.diagnosis.level
        return [score_predictions(x.observed, x.mean, x.std, level=level) for x in self.loo]


def subjects(model: Estimator, info: Mapping[str, Any]) -> list[Subject]:
    """Return the model's outputs, each as a subject of its own."""
    several = model.y_train_.ndim == 2
    q = model.y_train_.shape[1] if several else 1
    d = model.X_train_.shape[1]
    inputs = getattr(model, "feature_names_in_", [f"x{p + 1}" for p in range(d)])
    names = tuple(plain(name) for name in inputs)
    lams = _places(model)
    models = tuple(model.at_lambda(float(lam)) for lam in lams)
    responses = _responses(info.get("response"), q)
    return [Subject(model, k, q, responses[k], names, lams, models) for k in range(q)]


def _responses(given: Any, q: int) -> list[str]:
    """Return a name for each of q outputs."""
    if isinstance(given, Sequence) and not isinstance(given, str) and len(given) == q:
        return [plain(name) for name in given]
    word = "response" if given is None else plain(given)
    return [word] if q == 1 else [f"{word}, output {k + 1}" for k in range(q)]


def _places(model: Estimator) -> FloatArray:
    """Return the values of lambda [L] for the slider, every choice among them."""
    lams = np.unique(model.path_.lams)
    if len(lams) <= _MOST_PLACES:
        return lams
    some = lams[np.linspace(0, len(lams) - 1, _MOST_PLACES - 3).round().astype(int)]
    choices = [np.ravel(getattr(model, a, [])) for a in ("lam_", "lam_min_", "lam_1se_")]
    return np.unique(np.concatenate([some, *choices]))
