"""The Gaussian process at given theta: correlations, likelihood, conditioning on runs, scaling."""

from typing import TYPE_CHECKING

from pengp._core.lazy import lazily

if TYPE_CHECKING:
    from pengp.model.folded import BatchPrediction, batch_predict
    from pengp.model.full_likelihood import FullLogLik, full_loglik
    from pengp.model.kernels import (
        KERNELS,
        Kernel,
        Matern32,
        Matern52,
        RadialKernel,
        SquaredExponential,
        correlation,
        get_kernel,
    )
    from pengp.model.likelihood import LogLik
    from pengp.model.means import (
        MEANS,
        BasisMean,
        ConstantMean,
        LinearMean,
        Mean,
        ZeroMean,
        get_mean,
    )
    from pengp.model.posterior import Posterior, condition
    from pengp.model.products import (
        Matern32Product,
        Matern52Additive,
        Matern52Product,
        ProductKernel,
    )
    from pengp.model.profile import ProfileLikelihood, profile_loglik
    from pengp.model.scaling import InputScaler, ResponseScaler

__all__ = [
    "KERNELS",
    "MEANS",
    "BasisMean",
    "BatchPrediction",
    "ConstantMean",
    "FullLogLik",
    "InputScaler",
    "Kernel",
    "LinearMean",
    "LogLik",
    "Matern32",
    "Matern32Product",
    "Matern52",
    "Matern52Additive",
    "Matern52Product",
    "Mean",
    "Posterior",
    "ProductKernel",
    "ProfileLikelihood",
    "RadialKernel",
    "ResponseScaler",
    "SquaredExponential",
    "ZeroMean",
    "batch_predict",
    "condition",
    "correlation",
    "full_loglik",
    "get_kernel",
    "get_mean",
    "profile_loglik",
]

__getattr__, __dir__ = lazily(
    globals(),
    {
        "folded": ["BatchPrediction", "batch_predict"],
        "full_likelihood": ["FullLogLik", "full_loglik"],
        "kernels": [
            "KERNELS",
            "Kernel",
            "Matern32",
            "Matern52",
            "RadialKernel",
            "SquaredExponential",
            "correlation",
            "get_kernel",
        ],
        "likelihood": ["LogLik"],
        "means": [
            "MEANS",
            "BasisMean",
            "ConstantMean",
            "LinearMean",
            "Mean",
            "ZeroMean",
            "get_mean",
        ],
        "posterior": ["Posterior", "condition"],
        "products": ["Matern32Product", "Matern52Additive", "Matern52Product", "ProductKernel"],
        "profile": ["ProfileLikelihood", "profile_loglik"],
        "scaling": ["InputScaler", "ResponseScaler"],
    },
)
