"""What a part of the page is about: one output of a model, along the slider if it has a lambda."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from pengp._core.arrays import BoolArray, FloatArray
from pengp.diagnostics import Diagnosis, diagnose_view, score_predictions
from pengp.estimators import (
    BayesianGPRegressor,
    PenalizedGPRegressor,
    PenalizedGPRegressorCV,
)
from pengp.estimators.view import FittedView, count_outputs, names_of_inputs, view_of
from pengp.model.levels import Levels
from pengp.plots import LambdaAxis, LeaveOneOutDisplay, ResidualsDisplay, lambda_positions
from pengp.report.text import number, plain

Penalized: TypeAlias = PenalizedGPRegressor | PenalizedGPRegressorCV
Estimator: TypeAlias = BayesianGPRegressor | Penalized

#: Places of the slider; of a longer grid of lambda some values are left out.
_MOST_PLACES = 61


@dataclass(frozen=True, eq=False)
class Subject:
    """One output of a fitted model, and the same at every place of the slider.

    An average has no lambda: it has one place, nowhere on a slider.

    Attributes
    ----------
    view : FittedView
        The model at its own lambda.
    lams : [L]
        Values of lambda at the places of the slider, ascending; nan [1] for an average.
    along : tuple of L FittedView
        The model at each.
    prefix : str
        What names of everything about this model in the page begin with.
    """

    view: FittedView
    lams: FloatArray
    along: tuple[FittedView, ...]
    prefix: str = "o"

    @property
    def key(self) -> str:
        """Prefix of everything about this output in the page."""
        return f"{self.prefix}{self.view.output}"

    def where(self, k: int) -> str:
        """Return ' at lambda 0.01' for a place of the slider, nothing for an average."""
        return f" at lambda {number(self.lams[k], 3)}" if self.view.is_penalized else ""

    @property
    def lam_key(self) -> str:
        """Name of the slider's place in the state."""
        return f"{self.key}.lam"

    @cached_property
    def place(self) -> int:
        """Place of the model's own lambda on the slider."""
        if not self.view.is_penalized:
            return 0
        return int(np.flatnonzero(self.lams == self.view.lam)[0])

    def value(self, p: int, x: float, digits: int = 4) -> str:
        """Return a value of input p in words: a level by its name."""
        transform = self.view.input_transforms[p]
        return transform.label_of(x) if isinstance(transform, Levels) else number(x, digits)

    def extent(self, p: int) -> str:
        """Return the range of input p in the runs, or its levels."""
        transform, values = self.view.input_transforms[p], self.view.X[:, p]
        if isinstance(transform, Levels):
            return transform.listed
        return f"{number(values.min(), 6)} to {number(values.max(), 6)}"

    @cached_property
    def axis(self) -> LambdaAxis:
        """Where the slider's values of lambda go on an axis."""
        return lambda_positions(self.lams)

    @cached_property
    def diagnosis(self) -> Diagnosis:
        """Scores and findings at the model's own lambda."""
        return diagnose_view(self.view)

    @cached_property
    def theta(self) -> FloatArray:
        """Estimates [L, d] along the slider."""
        return np.array([view.theta for view in self.along])

    @cached_property
    def lengthscale(self) -> FloatArray:
        """Lengthscales [L, d] along the slider, in the inputs' units."""
        return np.array([view.lengthscale for view in self.along])

    @cached_property
    def active(self) -> BoolArray:
        """Whether an input matters [L, d] along the slider."""
        return np.array([view.active for view in self.along])

    @cached_property
    def ranked(self) -> list[int]:
        """Numbers of the inputs, those that matter most first."""
        ignored, own, most = self.view.constant, self.view.importance, self.theta.max(axis=0)
        return sorted(range(len(own)), key=lambda p: (ignored[p], -own[p], -most[p], p))

    @cached_property
    def loo(self) -> list[LeaveOneOutDisplay]:
        """Leave-one-out predictions along the slider."""
        return [LeaveOneOutDisplay.from_estimator(view) for view in self.along]

    @cached_property
    def residuals(self) -> list[ResidualsDisplay]:
        """Standardised residuals along the slider."""
        return [ResidualsDisplay.from_estimator(view) for view in self.along]

    @cached_property
    def scores(self) -> list[dict[str, float]]:
        """Leave-one-out scores along the slider."""
        if not self.view.is_penalized:
            return [self.diagnosis.scores]
        level = self.diagnosis.level
        return [score_predictions(x.observed, x.mean, x.std, level=level) for x in self.loo]


def subjects(
    model: Estimator,
    info: Mapping[str, Any],
    names: Sequence[str] | None = None,
    prefix: str = "o",
) -> list[Subject]:
    """Return the model's outputs, each as a subject of its own; names are those of the inputs."""
    q, lams, models = count_outputs(model), np.array([np.nan]), [model]
    if not isinstance(model, BayesianGPRegressor):
        lams = _places(model)
        models = [model.at_lambda(float(lam)) for lam in lams]
    names = [plain(name) for name in (names_of_inputs(model) if names is None else names)]
    found = []
    for k, response in enumerate(_responses(info.get("response"), q)):
        own = view_of(model, k, names, response)
        along = [own if one is model else view_of(one, k, names, response) for one in models]
        found.append(Subject(own, lams, tuple(along), prefix))
    return found


def _responses(given: Any, q: int) -> list[str]:
    """Return a name for each of q outputs."""
    if isinstance(given, Sequence) and not isinstance(given, str) and len(given) == q:
        return [plain(name) for name in given]
    word = "response" if given is None else plain(given)
    return [word] if q == 1 else [f"{word}, output {k + 1}" for k in range(q)]


def _places(model: Penalized) -> FloatArray:
    """Return the values of lambda [L] for the slider, every choice among them."""
    lams = np.unique(model.path_.lams)
    if len(lams) <= _MOST_PLACES:
        return lams
    some = lams[np.linspace(0, len(lams) - 1, _MOST_PLACES - 3).round().astype(int)]
    choices = [np.ravel(getattr(model, a, [])) for a in ("lam_", "lam_min_", "lam_1se_")]
    return np.unique(np.concatenate([some, *choices]))
