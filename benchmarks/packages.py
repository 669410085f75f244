"""The 12 piston-slap runs in other packages: equal at equal parameters, and what each finds.

``python -m benchmarks.packages [TEST_RUNS.csv]`` prints a line for each package that is installed
(scikit-learn; pylibkriging; torch, gpytorch and botorch; smt). A file of test runs with the six
inputs and the noise adds scores of the standardised response.
"""

import sys
import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np

from benchmarks.rivals import scikit_learn
from pengp import load_piston_slap
from pengp._core.arrays import FloatArray
from pengp.diagnostics import score_predictions
from pengp.model import Posterior, condition, get_kernel, get_mean

RUNS = load_piston_slap()
LOW, HIGH = RUNS.X.min(0), RUNS.X.max(0)
CENTRE, SD = RUNS.y.mean(), RUNS.y.std(ddof=1)
X, Y = (RUNS.X - LOW) / (HIGH - LOW), (RUNS.y - CENTRE) / SD
NEW = np.random.default_rng(0).random((50, 6))


class Found(NamedTuple):
    """A fit of another package, and the process of pengp with the same parameters."""

    predict: Callable[[FloatArray], tuple[FloatArray, FloatArray]]
    """Mean and standard deviation of the function, its noise included if the package does so."""
    ours: Posterior
    has_nugget: bool = True
    """Whether the standard deviations of the package hold the nugget."""
    level: float = 0.0
    """Constant that the package's process is centred at."""


def of_scikit_learn() -> Found:
    """Maximum likelihood, squared exponential, zero mean; ten starts."""
    model = scikit_learn(X, Y, 10, 0)
    sigma2, scale = model.kernel_.k1.constant_value, model.kernel_.k2.length_scale
    ours = at(1.0 / (2.0 * scale**2), nugget=1e-5 / sigma2, sigma2=sigma2)
    return Found(lambda new: model.predict(new, return_std=True), ours, has_nugget=False)


def of_libkriging() -> Found:
    """Maximum likelihood, product of Matern 5/2, constant mean; ten starts."""
    import pylibkriging

    model = pylibkriging.Kriging(Y, X, "matern5_2", "constant", False, "BFGS10", "LL")
    theta = 1.0 / np.ravel(model.theta()) ** 2
    ours = at(theta, "matern52_product", "constant", nugget=1e-12, sigma2=float(model.sigma2()))

    def predict(new: FloatArray) -> tuple[FloatArray, FloatArray]:
        mean, std = (np.ravel(a) for a in model.predict(new, True, False, False)[:2])
        return mean, std

    return Found(predict, ours)


def of_gpytorch(kernel: str = "sqexp") -> Found:
    """Maximum likelihood, zero mean, noise 1e-5; Adam from its own start."""
    import gpytorch
    import torch

    class Process(gpytorch.models.ExactGP):  # type: ignore[misc]
        def __init__(self, likelihood: Any, base: Any) -> None:
            super().__init__(torch.tensor(X), torch.tensor(Y), likelihood)
            self.mean_module = gpytorch.means.ZeroMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(base)

        def forward(self, x: Any) -> Any:
            return gpytorch.distributions.MultivariateNormal(
                self.mean_module(x), self.covar_module(x)
            )

    torch.set_default_dtype(torch.float64)
    kernels = gpytorch.kernels
    base = kernels.RBFKernel if kernel == "sqexp" else kernels.MaternKernel
    floor = gpytorch.constraints.GreaterThan(1e-12)
    likelihood = gpytorch.likelihoods.GaussianLikelihood(noise_constraint=floor)
    likelihood.noise = 1e-5
    likelihood.raw_noise.requires_grad_(False)
    model = Process(likelihood, base(ard_num_dims=6))
    climb(model, gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model))
    sigma2 = model.covar_module.outputscale.item()
    scale = model.covar_module.base_kernel.lengthscale.detach().numpy().ravel()
    theta = 1.0 / (scale**2 * (2.0 if kernel == "sqexp" else 1.0))

    def predict(new: FloatArray) -> tuple[FloatArray, FloatArray]:
        with torch.no_grad(), gpytorch.settings.fast_computations(False, False, False):
            law = likelihood(model(torch.tensor(new)))
            return law.mean.numpy(), law.stddev.numpy()

    return Found(predict, at(theta, kernel, nugget=1e-5 / sigma2, sigma2=sigma2))


def climb(model: Any, likelihood: Any) -> None:
    """Maximise GPyTorch's likelihood, and make the model ready to predict."""
    import torch

    some = [p for p in model.parameters() if p.requires_grad]
    search = torch.optim.Adam(some, lr=0.1)
    model.train()
    for _ in range(2000):
        search.zero_grad()
        value = -likelihood(model(*model.train_inputs), model.train_targets)
        value.backward()
        search.step()
    model.eval()


def of_botorch() -> Found:
    """SingleTaskGP with its priors of lengthscales and noise, as it comes."""
    import torch
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from gpytorch.mlls import ExactMarginalLogLikelihood

    torch.set_default_dtype(torch.float64)
    model = SingleTaskGP(torch.tensor(X), torch.tensor(Y)[:, None])
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    model.eval()
    scale = model.covar_module.lengthscale.detach().numpy().ravel()
    level, noise = model.mean_module.constant.item(), model.likelihood.noise.item()
    ours = at(1.0 / (2.0 * scale**2), nugget=noise, sigma2=1.0, level=level)

    def predict(new: FloatArray) -> tuple[FloatArray, FloatArray]:
        with torch.no_grad():
            law = model.posterior(torch.tensor(new), observation_noise=True)
            return law.mean.numpy().ravel(), np.sqrt(law.variance.numpy().ravel())

    return Found(predict, ours, level=level)


def of_smt() -> Found:
    """KRG: maximum likelihood, squared exponential, constant mean; ten starts."""
    from smt.surrogate_models import KRG

    model = KRG(
        theta0=[1e-2] * 6,
        corr="squar_exp",
        poly="constant",
        n_start=10,
        nugget=1e-5,
        print_global=False,
    )
    model.set_training_values(X, Y)
    model.train()
    ours = at(model.optimal_theta / model.X_scale**2, mean="constant", nugget=1e-5)

    def predict(new: FloatArray) -> tuple[FloatArray, FloatArray]:
        return model.predict_values(new).ravel(), np.sqrt(model.predict_variances(new).ravel())

    return Found(predict, ours, has_nugget=False)


def at(
    theta: FloatArray,
    kernel: str = "sqexp",
    mean: str = "zero",
    *,
    nugget: float,
    sigma2: float | None = None,
    level: float = 0.0,
) -> Posterior:
    """Return the process of pengp at a theta."""
    law = get_kernel(kernel)
    return condition(
        X, Y - level, theta, kernel=law, nugget=nugget, mean=get_mean(mean), sigma2=sigma2
    )


PACKAGES: dict[str, tuple[str, Callable[[], Found]]] = {
    "scikit-learn, squared exponential": ("scikit-learn", of_scikit_learn),
    "libKriging, product Matern 5/2": ("pylibkriging", of_libkriging),
    "GPyTorch, squared exponential": ("gpytorch", of_gpytorch),
    "GPyTorch, Matern 5/2": ("gpytorch", lambda: of_gpytorch("matern52")),
    "BoTorch, SingleTaskGP": ("botorch", of_botorch),
    "SMT, squared exponential": ("smt", of_smt),
}


def differences(found: Found) -> tuple[float, float]:
    """Return the largest differences of means and standard deviations over 50 points."""
    mean, std = found.predict(NEW)
    ours, scaled = found.ours.predict(NEW)
    variance = found.ours.sigma2 * (scaled - (0.0 if found.has_nugget else found.ours.nugget))
    return (
        float(np.abs(ours + found.level - mean).max()),
        float(np.abs(np.sqrt(np.maximum(variance, 0.0)) - std).max()),
    )


def main(files: list[str]) -> None:
    """Print a line for each package."""
    warnings.simplefilter("ignore")  # thetas at a bound are normal here
    tables = [np.loadtxt(file, delimiter=",", skiprows=1) for file in files]
    for name, (package, fit) in PACKAGES.items():
        try:
            found = fit()
        except ImportError as error:
            print(f"{name}: not installed ({error.name})")
            continue
        mean, std = differences(found)
        print(f"{name} {version(package)}: theta {found.ours.theta.round(3).tolist()}")
        print(f"    at these parameters means differ by {mean:.0e}, standard deviations {std:.0e}")
        for table in tables:
            test, y = (table[:, :6] - LOW) / (HIGH - LOW), (table[:, 6] - CENTRE) / SD
            scores = score_predictions(y, *found.predict(test))
            shown = (f"{s} {scores[s]:.3f}" for s in ("rmse", "crps", "coverage"))
            print(f"    {len(y)} test runs: {', '.join(shown)}")


if __name__ == "__main__":
    main(sys.argv[1:])
