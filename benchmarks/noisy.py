"""Noisy runs: what an estimated nugget's choice of lambda costs or gains over plain likelihood."""

import warnings

import numpy as np

from pengp import DoubtWarning, PenalizedGPRegressorCV
from pengp._core.arrays import FloatArray
from pengp.datasets import FUNCTIONS, latin_hypercube

#: Functions and numbers of runs.
CASES = (("forrester", 30), ("branin", 20), ("friedman", 25), ("ishigami", 25))
#: Choices beside the default: metric and rule.
OTHERS = (("pe", "1se"), ("score", "min"), ("score", "1se"), ("dpe", "min"), ("dpe", "1se"))
#: Standard deviations of the noise, of that of the function.
_NOISE = (0.1, 0.3)


def noisy_runs(sets: int = 25) -> None:
    """Print 100 x mean log(RMSE / RMSE at lambda 0) on new points, with standard errors."""
    warnings.simplefilter("ignore", DoubtWarning)  # noise is what this is about
    print(f"noisy runs, nugget estimated: {sets} data sets each, 100 log(RMSE / RMSE of the MLE)")
    found = np.array([[_losses(name, n, seed) for seed in range(sets)] for name, n in CASES])
    print(f"  {'choice of lambda':<20}" + "".join(f"{name:>18}" for name, _ in CASES) + "     all")
    labels = ["default", *(f"{metric} {rule}" for metric, rule in OTHERS)]
    for label, losses in zip(labels, np.moveaxis(found, -1, 0), strict=True):
        errors = losses.std(axis=1, ddof=1) / np.sqrt(sets)
        cells = [f"{m:+8.1f} +- {e:4.1f}" for m, e in zip(losses.mean(1), errors, strict=True)]
        print(
            f"  {label:<20}" + "".join(f"{cell:>18}" for cell in cells) + f"{losses.mean():+8.1f}"
        )
    mean = found[..., 0].mean()
    print(
        f"  -> default: {mean:+.1f} on average (goal: at most 2; {'' if mean <= 2 else 'NOT '}met)"
    )


def _losses(name: str, n: int, seed: int) -> FloatArray:
    """Return what each choice loses against lambda = 0 on one data set, the default first."""
    f, rng = FUNCTIONS[name], np.random.default_rng([seed, n])
    X = latin_hypercube(n, f.dimension, random_state=seed)
    new = rng.random((400, f.dimension))
    spread = f.unit(rng.random((2000, f.dimension))).std()
    y = f.unit(X) + _NOISE[seed % 2] * spread * rng.normal(size=n)
    model = PenalizedGPRegressorCV(nugget="estimate", random_state=seed).fit(X, y)
    lams = [0.0, model.lam_, *(model.cv_table_.select(*other) for other in OTHERS)]
    means = np.array([model.at_lambda(float(lam)).predict(new) for lam in lams])
    errors = np.sqrt(np.mean((means - f.unit(new)) ** 2, axis=1))
    return np.asarray(100.0 * np.log(errors[1:] / errors[0]))
