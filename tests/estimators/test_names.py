"""Type checkers know the names that an option may have, and those are the registered ones."""

from collections.abc import Mapping
from typing import Any, get_args

import pytest

from pengp import BayesianGPRegressor, InputError, PenalizedGPRegressor, PenalizedGPRegressorCV
from pengp.bayes.priors import PRIORS, PriorName
from pengp.choosing.metrics import FOLD_METRICS, MetricName
from pengp.choosing.rules import RULES, RuleName
from pengp.model.kernels import KERNELS, KernelName
from pengp.model.means import MEANS, MeanName
from pengp.path.penalties import PENALTIES, PenaltyName

X, Y = [[0.0], [0.3], [0.6], [1.0]], [0.0, 1.0, 0.5, 2.0]


@pytest.mark.parametrize(
    ("names", "registry"),
    [
        (KernelName, KERNELS.built_in),
        (PenaltyName, PENALTIES.built_in),
        (MeanName, MEANS.built_in),
        (MetricName, FOLD_METRICS.built_in),
        (RuleName, RULES.built_in),
        (PriorName, PRIORS),
    ],
)
def test_the_names_are_those_of_the_registry(names: Any, registry: Mapping[str, object]) -> None:
    assert get_args(names) == tuple(registry)


def test_a_wrong_name_is_refused_by_type_checkers_and_by_fit() -> None:
    """Each comment is an error of mypy if the name were allowed."""
    wrong: list[Any] = [
        PenalizedGPRegressor(kernel="rbf"),  # type: ignore[arg-type]
        PenalizedGPRegressor(penalty="l1"),  # type: ignore[arg-type]
        PenalizedGPRegressor(mean="quadratic"),  # type: ignore[arg-type]
        PenalizedGPRegressor(likelihood="full"),  # type: ignore[arg-type]
        PenalizedGPRegressorCV(metric="mse"),  # type: ignore[arg-type]
        PenalizedGPRegressorCV(rule="2se"),  # type: ignore[arg-type]
        BayesianGPRegressor(prior="flat"),  # type: ignore[arg-type]
    ]
    for model in wrong:
        with pytest.raises(InputError):
            model.fit(X, Y)
