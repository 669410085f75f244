"""Noisy runs: lambda where the nugget is estimated, and what it helps to know the noise."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from pengp import BayesianGPRegressor, PenalizedGPRegressorCV
from pengp._core.arrays import FloatArray
from pengp.datasets import FUNCTIONS, latin_hypercube
from pengp.exceptions import PengpWarning

#: Functions and numbers of runs.
CASES = (("forrester", 30), ("branin", 20), ("friedman", 25), ("ishigami", 25))
#: Choices beside the default: metric and rule.
OTHERS = (("pe", "1se"), ("score", "min"), ("score", "1se"), ("dpe", "min"), ("dpe", "1se"))
#: Averages, of which the first is what `pengp fit` makes unless told that the runs scatter.
_AVERAGES: dict[str, dict[str, Any]] = {
    "average, nugget 1e-5": {},
    "average, sampled": {"nugget": "sample"},
}
#: Standard deviations of the noise, of that of the function.
_NOISE = (0.1, 0.3)


def noisy_runs(sets: int = 25) -> None:
    """Print 100 x mean log(RMSE / RMSE at lambda 0) on new points, with standard errors."""
    warnings.simplefilter("ignore", PengpWarning)  # noise is what this is about
    print(f"noisy runs, nugget estimated: {sets} data sets each, 100 log(RMSE / RMSE of the MLE)")
    found = np.array([[_losses(name, n, seed) for seed in range(sets)] for name, n in CASES])
    print(f"  {'choice of lambda':<20}" + "".join(f"{name:>18}" for name, _ in CASES) + "     all")
    labels = ["default", *(f"{metric} {rule}" for metric, rule in OTHERS), *_AVERAGES]
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
    each = zip(CASES, found[..., 0], strict=True)
    above = [f"{name} by {losses.mean():.1f}" for (name, _), losses in each if losses.mean() > 2.0]
    print(f"     by function, more than 2: {', '.join(above) or 'none'}")


def noisy_data(
    name: str, n: int, seed: int
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return n noisy runs of a function, new inputs, and the function there."""
    f, rng = FUNCTIONS[name], np.random.default_rng([seed, n])
    X = latin_hypercube(n, f.dimension, random_state=seed)
    new = rng.random((400, f.dimension))
    spread = f.unit(rng.random((2000, f.dimension))).std()
    return X, f.unit(X) + _NOISE[seed % 2] * spread * rng.normal(size=n), new, f.unit(new)


def _losses(name: str, n: int, seed: int) -> FloatArray:
    """Return what each choice loses against lambda = 0 on one data set, the default first."""
    X, y, new, true = noisy_data(name, n, seed)
    model = PenalizedGPRegressorCV(nugget="estimate", random_state=seed).fit(X, y)
    lams = [0.0, model.lam_, *(model.cv_table_.select(*other) for other in OTHERS)]
    means = [model.at_lambda(float(lam)).predict(new) for lam in lams]
    averages = [BayesianGPRegressor(random_state=seed, **own) for own in _AVERAGES.values()]
    means += [average.fit(X, y).predict(new) for average in averages]
    errors = np.sqrt(np.mean((np.array(means) - true) ** 2, axis=1))
    return np.asarray(100.0 * np.log(errors[1:] / errors[0]))


def known_noise(sets: int = 25) -> None:
    """Print errors and coverage of the function where the noise is known, estimated or ignored.

    Standard deviations of the runs are from 1/64 of the function's to its half.
    """
    warnings.simplefilter("ignore", PengpWarning)
    print(f"noise known run by run: {sets} data sets each, RMSE / spread and 95 % coverage of f")
    found = np.array([[_known(name, n, seed) for seed in range(sets)] for name, n in CASES])
    print(f"  {'':<22}" + "".join(f"{name:>18}" for name, _ in CASES) + "               all")
    for k, label in enumerate(_WAYS):
        rmse, cover = np.exp(np.log(found[:, :, k, 0]).mean(1)), found[:, :, k, 1].mean(1)
        rmse, cover = np.append(rmse, np.exp(np.log(rmse).mean())), np.append(cover, cover.mean())
        cells = [f"{r:8.3f}  {100 * c:5.1f} %" for r, c in zip(rmse, cover, strict=True)]
        print(f"  {label:<22}" + "".join(f"{cell:>18}" for cell in cells))


#: Ways to deal with noise: estimator and whether the noise is known.
_WAYS: dict[str, tuple[Any, bool]] = {
    "penalized, known": (PenalizedGPRegressorCV(random_state=0), True),
    "penalized, estimated": (PenalizedGPRegressorCV(nugget="estimate", random_state=0), False),
    "penalized, ignored": (PenalizedGPRegressorCV(random_state=0), False),
    "average, known": (BayesianGPRegressor(random_state=0), True),
    "average, sampled": (BayesianGPRegressor(nugget="sample", random_state=0), False),
    "average, ignored": (BayesianGPRegressor(random_state=0), False),
}


def _known(name: str, n: int, seed: int) -> list[tuple[float, float]]:
    """Return RMSE over the function's spread, and coverage, of each way on one data set."""
    f, rng = FUNCTIONS[name], np.random.default_rng([seed, n, 1])
    X = latin_hypercube(n, f.dimension, random_state=seed)
    new = rng.random((400, f.dimension))
    true, spread = f.unit(new), f.unit(rng.random((2000, f.dimension))).std()
    sd = spread * 0.5 ** rng.integers(1, 7, n)
    y = f.unit(X) + sd * rng.normal(size=n)
    found = []
    for model, is_known in _WAYS.values():
        model = clone(model).fit(X, y, sd if is_known else None)
        lower, upper = model.predict_interval(new)
        error = np.sqrt(np.mean((model.predict(new) - true) ** 2)) / spread
        found.append((float(error), float(((lower <= true) & (true <= upper)).mean())))
    return found
