"""Other packages as their careful users set them: scikit-learn and, where installed, libKriging."""

import warnings
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

from pengp._core.arrays import FloatArray
from pengp.exceptions import InputError

#: Restarts of a search beside its first start.
_RESTARTS = 4
#: Range of a lengthscale, for inputs in the unit cube.
_LENGTHSCALES = (1e-2, 1e2)


def scikit_learn(
    X: FloatArray, y: FloatArray, X_test: FloatArray, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Return mean and std [m] of scikit-learn's process, Matern 5/2 with restarts."""
    kernel = ConstantKernel(1.0, (1e-2, 1e4)) * Matern(np.ones(X.shape[1]), _LENGTHSCALES, nu=2.5)
    model = GaussianProcessRegressor(
        kernel, alpha=1e-8, n_restarts_optimizer=_RESTARTS, random_state=seed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # lengthscales at a bound are normal
        model.fit(X, y)
    mean, std = model.predict(X_test, return_std=True)
    return np.asarray(mean), np.asarray(std)


def require_libkriging() -> None:
    """Say what to install if libKriging is not there."""
    if find_spec("pylibkriging") is None:
        raise InputError(
            "the comparison with other packages is skipped: it needs pylibkriging, which is not "
            "installed; "
            'use pip install "pengp[bench]".'
        )


def libkriging(
    X: FloatArray, y: FloatArray, X_test: FloatArray, objective: str
) -> tuple[FloatArray, FloatArray]:
    """Return mean and std [m] of libKriging, product Matern 5/2, by LL or LMP."""
    import pylibkriging

    model = pylibkriging.Kriging(
        y, X, "matern5_2", "constant", False, f"BFGS{_RESTARTS + 1}", objective
    )
    mean, std, *_ = (np.asarray(a).ravel() for a in _predicted(model, X_test))
    return mean, std


def _predicted(model: Any, X: FloatArray) -> Any:
    """Return what libKriging predicts: mean, std and empty arrays."""
    return model.predict(X, True, False, False)
