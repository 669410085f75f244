"""Gaussian-process surrogates of deterministic simulators from few runs, by penalized likelihood.

Start with `penalized_path`; every array's shape stands in its docstring.
"""

from pengp.exceptions import InputError, PengpWarning
from pengp.grids import lambda_grid, lambda_max
from pengp.path import Modes, PathFit, penalized_path

__version__ = "0.1.0"

__all__ = [
    "InputError",
    "Modes",
    "PathFit",
    "PengpWarning",
    "lambda_grid",
    "lambda_max",
    "penalized_path",
]
