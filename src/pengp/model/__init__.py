"""The Gaussian process at given theta: correlations, likelihood, conditioning on runs, scaling."""

from pengp.model.full_likelihood import FullLogLik, full_loglik
from pengp.model.kernels import (
    KERNELS,
    Kernel,
    Matern32,
    Matern52,
    SquaredExponential,
    correlation,
    get_kernel,
)
from pengp.model.likelihood import LogLik, profile_loglik
from pengp.model.posterior import (
    BatchPrediction,
    FoldPrediction,
    Posterior,
    batch_predict,
    condition,
)
from pengp.model.scaling import InputScaler, ResponseScaler

__all__ = [
    "KERNELS",
    "BatchPrediction",
    "FoldPrediction",
    "FullLogLik",
    "InputScaler",
    "Kernel",
    "LogLik",
    "Matern32",
    "Matern52",
    "Posterior",
    "ResponseScaler",
    "SquaredExponential",
    "batch_predict",
    "condition",
    "correlation",
    "full_loglik",
    "get_kernel",
    "profile_loglik",
]
