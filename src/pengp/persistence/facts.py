"""What a model file says twice is compared, and its parameters are those that ``fit`` takes."""

import warnings
from typing import Literal, cast

import numpy as np

from pengp._core.checks import as_seed, check_lams, check_starts
from pengp.estimators import BayesianGPRegressor, PenalizedGPRegressor, PenalizedGPRegressorCV
from pengp.exceptions import PengpWarning
from pengp.model.scaling import check_bounds
from pengp.path.grids import lambda_grid
from pengp.path.penalized import PathFit

#: How far rounding takes what is computed again from what was stored.
ROUNDING = 1e-9


def check_parameters(
    model: PenalizedGPRegressor | PenalizedGPRegressorCV | BayesianGPRegressor, d: int
) -> None:
    """Raise an InputError unless ``fit`` would take the parameters, for d inputs.

    Metrics, rules and folds may be the caller's own, of which a file keeps the names alone.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PengpWarning)  # of fit, which was heard then
        as_seed(model.random_state)
        if model.input_bounds is not None:
            check_bounds(model.input_bounds, d)
        if isinstance(model, BayesianGPRegressor):
            model._checked_settings(d)
            return
        check_starts(model.n_starts, 1 if model._model().isotropic else d)
        if isinstance(model, PenalizedGPRegressor):
            check_lams(model.lam)
        elif isinstance(model.lams, str):
            lambda_grid("paper" if model.lams == "kkt" else cast(Literal["paper"], model.lams))
        else:
            check_lams(model.lams)


def check_path(path: PathFit) -> None:
    """Raise a ValueError if the estimates of a path contradict its model or its maxima."""
    model, modes, theta = path._model, path.modes, path.theta
    check_lams(path.lams)
    low, high = np.multiply(model.theta_bounds, (1.0 - ROUNDING, 1.0 + ROUNDING))
    if not ((theta >= low) & (theta <= high)).all():
        raise ValueError("an estimate lies beyond the bounds of theta.")
    if model.isotropic and (theta != theta[..., :1]).any():
        raise ValueError("an isotropic model has several thetas.")
    if model.nugget is not None and (path.nugget != model.nugget).any():
        raise ValueError("the nugget is not the one that was given.")
    M = modes.objective.shape[-1]
    used = np.arange(M) < modes.count[..., None]
    counted = (modes.count >= 1) & (modes.count <= M)
    if not counted.all() or (np.isnan(modes.objective) == used).any():
        raise ValueError("the maxima are not counted.")
    names = ("nugget", "objective", "loglik")
    pairs = [(getattr(modes, name)[..., 0], getattr(path, name)) for name in names]
    if not all(np.array_equal(*pair) for pair in [(modes.theta[..., 0, :], theta), *pairs]):
        raise ValueError("the estimate is not the best of the maxima.")
