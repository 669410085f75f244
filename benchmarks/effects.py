"""Effects of an averaged fit, beside SALib's indices of the same surrogate's mean."""

import time
from functools import partial

import numpy as np

from benchmarks.timing import line, race, verdict
from pengp import BayesianGPRegressor
from pengp.datasets import get_function, latin_hypercube, scale_design
from pengp.decisions import effects

_RUNS, _GOAL = 40, 2.0
#: SALib evaluates the mean at this many points times d + 2.
_POINTS = 1024


def effects_of_an_average() -> None:
    """Time all indices with intervals for n = 40, d = 8, and SALib's without."""
    try:
        from SALib.analyze import sobol as analysis
        from SALib.sample import sobol as sampling
    except ImportError:
        print("Effects: this needs SALib beside pengp: pip install 'pengp[bench-decisions]'")
        return
    function = get_function("borehole")
    X = scale_design(latin_hypercube(_RUNS, 8, random_state=0), function.bounds)
    model = BayesianGPRegressor(input_bounds=function.bounds, random_state=0).fit(X, function(X))
    names = [f"x{p + 1}" for p in range(8)]
    problem = {"num_vars": 8, "names": names, "bounds": function.bounds.tolist()}

    def salib(seed: int) -> object:
        points = sampling.sample(problem, _POINTS, calc_second_order=False, seed=seed)
        y = model.predict(np.asarray(points))
        return analysis.analyze(problem, y, calc_second_order=False, seed=seed)

    seconds = race({"pengp": partial(_effects, model), "SALib": salib}, 3)
    print("Effects of an average, n = 40, d = 8, one run after the other")
    line("pengp: first, total, second, Shapley, curves", seconds["pengp"], "with intervals")
    line("SALib on the surrogate's mean: first, total", seconds["SALib"], f"{_POINTS * 10} points")
    busy = time.process_time()
    effects(model)
    busy = time.process_time() - busy
    line("pengp, of the processor alone", busy)
    verdict(f"the processor's seconds / {_GOAL:g}", busy / _GOAL, "below 1", busy <= _GOAL)
    verdict("pengp / SALib", seconds["pengp"] / seconds["SALib"], "none", True)


def _effects(model: BayesianGPRegressor, seed: int) -> object:
    """Find all effects."""
    return effects(model, random_state=seed)
