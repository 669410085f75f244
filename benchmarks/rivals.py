"""The same maximum likelihood fit in other packages, with the bounds that pengp has."""

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from pengp._core.arrays import FloatArray

_LENGTHSCALES = (1.0 / np.sqrt(2.0 * 1e3), 1.0 / np.sqrt(2.0 * 1e-3))
"""theta = 1 / (2 lengthscale^2) in [0.001, 1000]."""


def scikit_learn(X: FloatArray, y: FloatArray, n_starts: int, seed: int) -> Any:
    """Fit scikit-learn's GaussianProcessRegressor, constant times anisotropic RBF."""
    kernel = ConstantKernel(1.0) * RBF(np.ones(X.shape[1]), _LENGTHSCALES)
    model = GaussianProcessRegressor(
        kernel, alpha=1e-5, n_restarts_optimizer=n_starts - 1, random_state=seed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # thetas at a bound are normal here
        return model.fit(X, y)


def libkriging(X: FloatArray, y: FloatArray, n_starts: int) -> Any:
    """Fit pylibkriging's Kriging with a Gaussian kernel; None if it is not installed."""
    try:
        import pylibkriging
    except ImportError:
        return None
    return pylibkriging.Kriging(y, X, "gauss", "constant", False, f"BFGS{n_starts}", "LL")
