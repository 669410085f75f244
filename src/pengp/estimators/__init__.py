"""scikit-learn estimators: validate, scale, delegate, expose what was learned."""

from typing import TYPE_CHECKING

from pengp._core.lazy import lazily

if TYPE_CHECKING:
    from pengp.estimators.average_view import Explained
    from pengp.estimators.averaged import Components
    from pengp.estimators.bayesian import BayesianGPRegressor
    from pengp.estimators.heldout import HeldOut
    from pengp.estimators.left_out import LeaveOneOut
    from pengp.estimators.penalized import PenalizedGPRegressor
    from pengp.estimators.penalized_cv import PenalizedGPRegressorCV

__all__ = [
    "BayesianGPRegressor",
    "Components",
    "Explained",
    "HeldOut",
    "LeaveOneOut",
    "PenalizedGPRegressor",
    "PenalizedGPRegressorCV",
]

__getattr__, __dir__ = lazily(
    globals(),
    {
        "average_view": ["Explained"],
        "averaged": ["Components"],
        "bayesian": ["BayesianGPRegressor"],
        "heldout": ["HeldOut"],
        "penalized": ["PenalizedGPRegressor"],
        "penalized_cv": ["PenalizedGPRegressorCV"],
        "left_out": ["LeaveOneOut"],
    },
)
