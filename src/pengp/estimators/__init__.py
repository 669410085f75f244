"""scikit-learn estimators: validate, scale, delegate, expose what was learned."""

from pengp.estimators.penalized import PenalizedGPRegressor, PenalizedGPRegressorCV
from pengp.estimators.surrogate import LeaveOneOut

__all__ = ["LeaveOneOut", "PenalizedGPRegressor", "PenalizedGPRegressorCV"]
