"""The Gaussian process at given theta: correlations, likelihood, conditioning on runs, scaling."""

from typing import TYPE_CHECKING

from pengp._core.lazy import lazily

if TYPE_CHECKING:
    from pengp.model.elementary import Log, Log10, Logit, Sqrt, Transform
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
    from pengp.model.transforms import TRANSFORMS, BoxCox, YeoJohnson, get_transform

__all__ = [
    "KERNELS",
    "MEANS",
    "TRANSFORMS",
    "BasisMean",
    "BatchPrediction",
    "BoxCox",
    "ConstantMean",
    "FullLogLik",
    "InputScaler",
    "Kernel",
    "LinearMean",
    "Log",
    "Log10",
    "LogLik",
    "Logit",
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
    "Sqrt",
    "SquaredExponential",
    "Transform",
    "YeoJohnson",
    "ZeroMean",
    "batch_predict",
    "condition",
    "correlation",
    "full_loglik",
    "get_kernel",
    "get_mean",
    "get_transform",
    "profile_loglik",
]

__getattr__, __dir__ = lazily(
    globals(),
    {
        "elementary": ["Log", "Log10", "Logit", "Sqrt", "Transform"],
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
        "transforms": ["TRANSFORMS", "BoxCox", "YeoJohnson", "get_transform"],
    },
)
