"""Gaussian-process surrogates of deterministic simulators from few runs.

For data in any units `BayesianGPRegressor` is the place to start, which averages, or
`PenalizedGPRegressorCV`, which chooses one lambda; `penalized_path` and `cross_validate_path` are
the engine below the latter. Every array's shape stands in its docstring.

What most users need is here; the folders `model`, `datasets`, `path`, `choosing`, `bayes`,
`estimators`, `diagnostics`, `decisions`, `plots`, `persistence`, `report` and `study` hold the
rest, each naming in its ``__all__`` what is public. Names are loaded on first use, so that
``import pengp`` costs nothing.
"""

from typing import TYPE_CHECKING

from pengp._core.lazy import lazily

if TYPE_CHECKING:
    from pengp.choosing import (
        FOLD_METRICS,
        CVTable,
        coverage,
        cross_validate_path,
        crps_normal,
        interval_score,
        leave_one_out,
        make_folds,
        q2,
        random_folds,
        rmse,
        space_filling_folds,
        stratified_folds,
    )
    from pengp.datasets import get_function, latin_hypercube, load_piston_slap, scale_design
    from pengp.diagnostics import Diagnosis, diagnose
    from pengp.estimators import (
        BayesianGPRegressor,
        PenalizedGPRegressor,
        PenalizedGPRegressorCV,
    )
    from pengp.exceptions import DoubtWarning, FileError, InputError, PengpWarning
    from pengp.model import FullLogLik, LogLik, ProfileLikelihood, full_loglik, profile_loglik
    from pengp.path import Modes, PathFit, lambda_grid, lambda_max, penalized_path
    from pengp.persistence import load, save

__version__ = "0.1.0"

__all__ = [
    "FOLD_METRICS",
    "BayesianGPRegressor",
    "CVTable",
    "Diagnosis",
    "DoubtWarning",
    "FileError",
    "FullLogLik",
    "InputError",
    "LogLik",
    "Modes",
    "PathFit",
    "PenalizedGPRegressor",
    "PenalizedGPRegressorCV",
    "PengpWarning",
    "ProfileLikelihood",
    "coverage",
    "cross_validate_path",
    "crps_normal",
    "diagnose",
    "full_loglik",
    "get_function",
    "interval_score",
    "lambda_grid",
    "lambda_max",
    "latin_hypercube",
    "leave_one_out",
    "load",
    "load_piston_slap",
    "make_folds",
    "penalized_path",
    "profile_loglik",
    "q2",
    "random_folds",
    "rmse",
    "save",
    "scale_design",
    "space_filling_folds",
    "stratified_folds",
]

_HOMES = {
    "choosing": (
        "FOLD_METRICS",
        "CVTable",
        "coverage",
        "cross_validate_path",
        "crps_normal",
        "interval_score",
        "leave_one_out",
        "make_folds",
        "q2",
        "random_folds",
        "rmse",
        "space_filling_folds",
        "stratified_folds",
    ),
    "datasets": (
        "get_function",
        "latin_hypercube",
        "load_piston_slap",
        "scale_design",
    ),
    "diagnostics": (
        "Diagnosis",
        "diagnose",
    ),
    "estimators": (
        "BayesianGPRegressor",
        "PenalizedGPRegressor",
        "PenalizedGPRegressorCV",
    ),
    "exceptions": (
        "DoubtWarning",
        "FileError",
        "InputError",
        "PengpWarning",
    ),
    "model": (
        "FullLogLik",
        "LogLik",
        "ProfileLikelihood",
        "full_loglik",
        "profile_loglik",
    ),
    "path": (
        "Modes",
        "PathFit",
        "lambda_grid",
        "lambda_max",
        "penalized_path",
    ),
    "persistence": (
        "load",
        "save",
    ),
}

__getattr__, __dir__ = lazily(globals(), _HOMES)
