"""How often a fit says that its runs are noisy, where they are and where they are not."""

import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.noisy import CASES, noisy_data
from pengp import BayesianGPRegressor, PenalizedGPRegressor
from pengp._core.arrays import FloatArray
from pengp.datasets import FUNCTIONS, latin_hypercube
from pengp.estimators.unknown_noise import unknown_noise
from pengp.estimators.view import view_of
from pengp.exceptions import PengpWarning
from pengp.study.methods.sizes import FUNCTION_RUNS, halves

#: Numbers of runs, besides those of the study without noise, and standard deviations of the noise.
_RUNS, _NOISE = (20, 30, 40), (0.0, 0.05, 0.1, 0.2)
#: Functions of one input without noise that are rougher than a process has it.
_ROUGH: dict[str, Callable[[FloatArray], FloatArray]] = {
    "kink": lambda x: np.abs(x - 0.37),
    "arches": lambda x: np.abs(np.sin(9.0 * x)),
    "steep": lambda x: np.tanh(60.0 * (x - 0.45)),
    "step": lambda x: (x > 0.53) + 0.3 * x,
    "saw": lambda x: (3.0 * x) % 1.0,
    "ripples": lambda x: np.sin(5.0 * x) + 0.2 * np.sin(40.0 * x),
}


class _Told(NamedTuple):
    """What was seen of one data set."""

    average: bool
    penalized: bool
    gain: FloatArray | None
    """If the average told: 100 log of RMSE and CRPS, and coverage, sampled against fixed."""


def noise_told(designs: int = 5) -> None:
    """Print the shares of data sets of which noise is told, and what the cure does to them."""
    warnings.simplefilter("ignore", PengpWarning)
    choice, check = halves(FUNCTION_RUNS)
    for title, names in (("chosen on", choice), ("confirmed on", check)):
        print(f"noise told, {title} {', '.join(names)}: {designs} designs of each size")
        for noise in _NOISE:
            found = [
                _of(name, n, noise, seed)
                for name in names
                for n in (*_RUNS, *([FUNCTION_RUNS[name]] if noise == 0.0 else []))
                for seed in range(designs)
            ]
            _print(f"noise {100 * noise:g} %", found)
    runs, each = (8, 12, 20, 30, 40), designs
    print("noise told of the data sets of `noisy`")
    for name, n in CASES:
        sets = [noisy_data(name, n, seed) for seed in range(5 * designs)]
        _print(name, [_told(X, y, new) for X, y, *new in sets])
    print("noise told of rough functions of one input without noise")
    for name in _ROUGH:
        _print(name, [_of_rough(name, n, seed) for n in runs for seed in range(each)])


def _print(label: str, found: list[_Told]) -> None:
    """Print one line."""
    average, penalized = (np.mean([getattr(f, k) for f in found]) for k in _Told._fields[:2])
    gains = np.array([f.gain for f in found if f.gain is not None])
    line = f"  {label:<12} of {len(found):>3}: average {average:.3f}, penalized {penalized:.3f}"
    if len(gains) > 1:
        mean, error = gains.mean(0), gains.std(0, ddof=1) / np.sqrt(len(gains))
        line += (
            f"; nugget sampled in these: RMSE {mean[0]:+.1f} +- {error[0]:.1f}, "
            f"CRPS {mean[1]:+.1f} +- {error[1]:.1f}, coverage {mean[2]:.2f} to {mean[3]:.2f}"
        )
    print(line, flush=True)


def _of(name: str, n: int, noise: float, seed: int) -> _Told:
    """Return what is told of one noisy data set of a test function."""
    f, rng = FUNCTIONS[name], np.random.default_rng([seed, n, 7])
    X = latin_hypercube(n, f.dimension, random_state=seed)
    new, spread = rng.random((400, f.dimension)), f.unit(rng.random((2000, f.dimension))).std()
    y = f.unit(X) + noise * spread * rng.normal(size=n)
    return _told(X, y, (new, f.unit(new)) if noise else None)


def _of_rough(name: str, n: int, seed: int) -> _Told:
    """Return what is told of a rough function."""
    X = latin_hypercube(n, 1, random_state=seed)
    return _told(X, _ROUGH[name](X[:, 0]), None)


def _told(X: FloatArray, y: FloatArray, new: Sequence[FloatArray] | None) -> _Told:
    """Fit runs X [n, d], y [n]; where noise is told, predict inputs and responses ``new``."""
    average = BayesianGPRegressor(random_state=0).fit(X, y)
    penalized = PenalizedGPRegressor(0.01, random_state=0).fit(X, y)
    told = [any(unknown_noise(view_of(model))) for model in (average, penalized)]
    if not told[0] or new is None:
        return _Told(told[0], told[1], None)
    sampled = BayesianGPRegressor(nugget="sample", random_state=0).fit(X, y)
    before, after = (_scores(model, *new) for model in (average, sampled))
    change = 100.0 * np.log(after[:2] / before[:2])
    return _Told(told[0], told[1], np.array([*change, before[2], after[2]]))


def _scores(model: BayesianGPRegressor, X: FloatArray, y: FloatArray) -> FloatArray:
    """Return RMSE, CRPS and coverage of 95 % intervals at X [m, d], of the function y [m]."""
    lower, upper = model.predict_interval(X)
    crps = model.predictive_law(X).crps(y).mean()
    error = np.sqrt(np.mean((model.predict(X) - y) ** 2))
    return np.array([error, crps, ((lower <= y) & (y <= upper)).mean()])
