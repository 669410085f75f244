"""Coverage of 95 % intervals on new runs: those of the predictive laws, and of the jackknife+."""

from typing import Any

import numpy as np

from pengp import BayesianGPRegressor, PenalizedGPRegressor, get_function, latin_hypercube
from pengp.choosing import coverage, interval_score
from pengp.datasets import scale_design

CASES = (("branin", 20), ("ishigami", 25), ("friedman", 25), ("otl_circuit", 25))
METHODS: dict[str, Any] = {
    "maximum likelihood": PenalizedGPRegressor(0.0, random_state=0),
    "average": BayesianGPRegressor(random_state=0),
}
LEVEL = 0.95


def coverage_on_new_runs(repeats: int = 20, m: int = 200) -> None:
    """Print coverage and interval score over the standard deviation of the response.

    Runs are drawn at random, as the jackknife+ wants them, or are a maximin Latin hypercube.
    """
    print(f"\n{LEVEL:.0%} intervals on {m} new runs, mean over {repeats} designs")
    print("function      n  runs     method              intervals   coverage  lowest  score / sd")
    for name, n in CASES:
        function = get_function(name)
        for kind in ("random", "maximin"):
            for label, method in METHODS.items():
                found = [_one(function, n, m, kind, method, seed) for seed in range(repeats)]
                _print(f"{name:12}{n:3d}  {kind:8} {label:19}", np.array(found))


def _one(
    function: Any, n: int, m: int, kind: str, method: Any, seed: int
) -> list[tuple[float, float]]:
    """Return coverage and score of both kinds of intervals for one design."""
    rng, d = np.random.default_rng(seed), len(function.bounds)
    design = rng.random((n, d))
    if kind == "maximin":
        design = latin_hypercube(n, d, method="maximin", random_state=seed)
    X, new = (scale_design(U, function.bounds) for U in (design, rng.random((m, d))))
    y, seen = function(X), function(new)
    model = method.set_params(input_bounds=function.bounds).fit(X, y)
    found = []
    for intervals in ("model", "jackknife+"):
        lower, upper = model.predict_interval(new, LEVEL, intervals)
        score = interval_score(seen, lower, upper, level=LEVEL) / seen.std()
        found.append((coverage(seen, lower, upper), score))
    return found


def _print(case: str, found: np.ndarray) -> None:
    """Print the rows of one case; found [repeats, 2 kinds, 2 figures]."""
    for k, kind in enumerate(("model", "jackknife+")):
        share, score = found[:, k].T
        print(f"{case} {kind:11} {share.mean():8.3f} {share.min():7.2f} {score.mean():10.2f}")


if __name__ == "__main__":
    coverage_on_new_runs()
