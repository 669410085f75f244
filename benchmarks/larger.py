"""More runs and noisy ones: the average against maximum likelihood, on the half of choices."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.datasets import get_function, latin_hypercube
from pengp.study.methods.catalogue import Method, bayes, maximum_likelihood
from pengp.study.methods.forecasts import scores
from pengp.study.methods.problems import Problem
from pengp.study.rows import scaled_runs

#: Functions and numbers of runs without noise, and with it.
MANY = (
    ("friedman", 40),
    ("friedman", 80),
    ("hartmann3", 40),
    ("wing_weight", 40),
    ("wing_weight", 100),
)
NOISY = (("lim", 20), ("franke", 20), ("hartmann3", 25), ("friedman", 25), ("friedman", 40))
#: Standard deviation of the noise, of that of the function.
_NOISE = 0.1
METHODS: dict[str, Method] = {
    "MLE": maximum_likelihood,
    "MLE, nugget estimated": partial(maximum_likelihood, nugget="estimate"),
    "average": bayes,
    "average, nugget sampled": partial(bayes, nugget="sample"),
}


def problem(name: str, n: int, noise: float, seed: int) -> Problem:
    """Return n runs of a function and 500 test runs, all with noise."""
    function, rng = get_function(name), np.random.default_rng([seed, n])
    d = function.dimension
    X, new = latin_hypercube(n, d, random_state=seed), rng.random((500, d))
    spread = noise * function.unit(rng.random((2000, d))).std()
    y, y_new = (function.unit(A) + spread * rng.normal(size=len(A)) for A in (X, new))
    runs = scaled_runs(X, y, np.tile([0.0, 1.0], (d, 1)))
    return Problem(runs, runs.inputs.transform(new), runs.response.transform(y_new), seed)


def compared(cases: tuple[tuple[str, int], ...], noise: float, sets: int) -> None:
    """Print RMSE and CRPS as 100 log ratios to the MLE with standard errors, and coverage."""
    for name, n in cases:
        found = [_scored(problem(name, n, noise, seed), METHODS) for seed in range(sets)]
        for k, method in enumerate(METHODS):
            values = np.array([each[k] for each in found])  # [sets, 3]
            ratios = 100.0 * np.log(values[:, :2] / np.array([each[0][:2] for each in found]))
            error = ratios.std(0, ddof=1) / np.sqrt(sets)
            print(
                f"  {name:<12}{n:4d}  {method:<26}{ratios[:, 0].mean():+7.1f} +- {error[0]:4.1f}"
                f"{ratios[:, 1].mean():+8.1f} +- {error[1]:4.1f}   {values[:, 2].mean():.2f}",
                flush=True,
            )


def _scored(given: Problem, methods: Mapping[str, Method]) -> list[FloatArray]:
    """Return RMSE, CRPS and coverage of each method."""
    each = (scores(method(given), given.y_test) for method in methods.values())
    return [np.array([s["rmse"], s["crps"], s["coverage"]]) for s in each]


def more_and_noisy_runs(sets: int = 4) -> None:
    """Print both comparisons."""
    print(f"RMSE and CRPS, 100 x mean log ratio to the MLE, and coverage; {sets} designs each")
    print(" many runs, no noise")
    compared(MANY, 0.0, sets)
    print(f" noise of {_NOISE} standard deviations, in the test runs as well")
    compared(NOISY, _NOISE, sets)


if __name__ == "__main__":
    more_and_noisy_runs()
