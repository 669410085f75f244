"""Gaussian-process surrogates of deterministic simulators from few runs, by penalized likelihood.

`PenalizedGPRegressorCV` is the place to start for data in any units; `penalized_path` and
`cross_validate_path` are the engine below it. Every array's shape stands in its docstring.
"""

from pengp.crossval import CVTable, cross_validate_path
from pengp.estimators import PenalizedGPRegressor, PenalizedGPRegressorCV
from pengp.exceptions import InputError, PengpWarning
from pengp.full_likelihood import FullLogLik, full_loglik
from pengp.grids import lambda_grid, lambda_max
from pengp.likelihood import LogLik, profile_loglik
from pengp.path import Modes, PathFit, penalized_path

__version__ = "0.1.0"

__all__ = [
    "CVTable",
    "FullLogLik",
    "InputError",
    "LogLik",
    "Modes",
    "PathFit",
    "PenalizedGPRegressor",
    "PenalizedGPRegressorCV",
    "PengpWarning",
    "cross_validate_path",
    "full_loglik",
    "lambda_grid",
    "lambda_max",
    "penalized_path",
    "profile_loglik",
]
