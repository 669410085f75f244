"""Gaussian-process surrogates of deterministic simulators from few runs, by penalized likelihood.

`PenalizedGPRegressorCV` is the place to start for data in any units; `penalized_path` and
`cross_validate_path` are the engine below it. Every array's shape stands in its docstring.

Names are loaded on first use, so that ``import pengp`` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pengp.crossval import CVTable, cross_validate_path
    from pengp.diagnostics import Diagnosis, diagnose
    from pengp.estimators import PenalizedGPRegressor, PenalizedGPRegressorCV
    from pengp.exceptions import FileError, InputError, PengpWarning
    from pengp.full_likelihood import FullLogLik, full_loglik
    from pengp.grids import lambda_grid, lambda_max
    from pengp.likelihood import LogLik, profile_loglik
    from pengp.path import Modes, PathFit, penalized_path
    from pengp.persistence import load, save

__version__ = "0.1.0"

__all__ = [
    "CVTable",
    "Diagnosis",
    "FileError",
    "FullLogLik",
    "InputError",
    "LogLik",
    "Modes",
    "PathFit",
    "PenalizedGPRegressor",
    "PenalizedGPRegressorCV",
    "PengpWarning",
    "cross_validate_path",
    "diagnose",
    "full_loglik",
    "lambda_grid",
    "lambda_max",
    "load",
    "penalized_path",
    "profile_loglik",
    "save",
]

_HOME = {
    "CVTable": "crossval",
    "Diagnosis": "diagnostics",
    "FileError": "exceptions",
    "FullLogLik": "full_likelihood",
    "InputError": "exceptions",
    "LogLik": "likelihood",
    "Modes": "path",
    "PathFit": "path",
    "PenalizedGPRegressor": "estimators",
    "PenalizedGPRegressorCV": "estimators",
    "PengpWarning": "exceptions",
    "cross_validate_path": "crossval",
    "diagnose": "diagnostics",
    "full_loglik": "full_likelihood",
    "lambda_grid": "grids",
    "lambda_max": "grids",
    "load": "persistence",
    "penalized_path": "path",
    "profile_loglik": "likelihood",
    "save": "persistence",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'pengp' has no attribute {name!r}")
    value = getattr(import_module(f"pengp.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
