"""scikit-learn estimators: validate, scale, delegate, expose what was learned."""

from pengp.estimators.bayesian import BayesianGPRegressor, Components
from pengp.estimators.heldout import HeldOut
from pengp.estimators.penalized import PenalizedGPRegressor, PenalizedGPRegressorCV
from pengp.estimators.surrogate import LeaveOneOut

__all__ = [
    "BayesianGPRegressor",
    "Components",
    "HeldOut",
    "LeaveOneOut",
    "PenalizedGPRegressor",
    "PenalizedGPRegressorCV",
]
