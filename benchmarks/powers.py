"""Powers of an input: what it gains to estimate one with theta, instead of a logarithm or none."""

import warnings
from typing import NamedTuple

import numpy as np

from pengp import BayesianGPRegressor, penalized_path
from pengp._core.arrays import FloatArray
from pengp.datasets import FUNCTIONS, latin_hypercube
from pengp.exceptions import PengpWarning
from pengp.model import BoxCox
from pengp.model.transforms import POWERS

#: Powers that are tried, and ways to have one.
_POWERS = POWERS[::2]
_WAYS = ("logarithm", "estimated", "logarithm or none")


class _Case(NamedTuple):
    """A test function of which the user knows one input, from low to high, on another scale."""

    function: str
    input: int
    power: float
    """Of what the user knows, which the function's own input is linear in."""
    low: float
    high: float
    even: bool
    """Whether runs are even in what the user knows, else in the function's own input."""

    def unit(self, known: FloatArray, power: float) -> FloatArray:
        """Return what the user knows, transformed by a power, in the unit interval."""
        t = BoxCox(power)
        low, high = t.forward(np.array([self.low, self.high]))
        return np.asarray((t.forward(known) - low) / (high - low))

    def draw(self, U: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return runs as the user knows them, and their responses, at U [n, d]."""
        X, p = U.copy(), self.input
        spread = BoxCox(1.0 if self.even else self.power)
        low, high = spread.forward(np.array([self.low, self.high]))
        X[:, p] = spread.inverse(low + (high - low) * U[:, p])
        own = X.copy()
        own[:, p] = np.clip(self.unit(X[:, p], self.power), 0.0, 1.0)
        return X, FUNCTIONS[self.function].unit(own)


_CASES = {
    "branin, log, 2 decades": _Case("branin", 0, 0.0, 1.0, 100.0, False),
    "friedman, log, 1 decade": _Case("friedman", 2, 0.0, 1.0, 10.0, True),
    "otl, log, 3 decades": _Case("otl_circuit", 0, 0.0, 1.0, 1000.0, False),
    "hartmann, 1/4, 4 decades": _Case("hartmann3", 1, 0.25, 1e-4, 1.0, False),
    "hartmann, 1/4, even": _Case("hartmann3", 1, 0.25, 1e-4, 1.0, True),
    "franke, 2": _Case("franke", 0, 2.0, 0.17, 1.0, True),
    "ishigami, 1/2, 2 decades": _Case("ishigami", 0, 0.5, 0.01, 1.0, True),
    "branin, 1": _Case("branin", 1, 1.0, 0.03, 1.0, True),
}


def powers_of_inputs(designs: int = 20) -> None:
    """Print 100 x mean log(error / error without a transform), RMSE / CRPS on new runs."""
    warnings.simplefilter("ignore", PengpWarning)
    print(f"powers of an input: {designs} designs each, 100 log(RMSE), 100 log(CRPS) against none")
    found = np.array([[_losses(c, seed) for seed in range(designs)] for c in _CASES.values()])
    for name, losses in zip(_CASES, found, strict=True):
        _print(name, losses, losses.std(0, ddof=1) / np.sqrt(designs))
    errors = found.std(1, ddof=1) / np.sqrt(designs)  # [cases, ways, 2]
    transformed = found[:-1].mean(0), np.sqrt((errors[:-1] ** 2).sum(0)) / (len(_CASES) - 1)
    _print("mean but the last", *transformed)
    change = found[:, :, 1] - found[:, :, 2]
    change_errors = np.sqrt((change[:-1].var(1, ddof=1) / designs).sum(0)) / (len(_CASES) - 1)
    mean = change[:-1].mean((0, 1))
    print(
        "  estimated against logarithm or none, mean but the last: "
        f"{mean[0]:+.1f} +- {change_errors[0]:.1f} / {mean[1]:+.1f} +- {change_errors[1]:.1f}"
    )


def _print(label: str, losses: FloatArray, errors: FloatArray) -> None:
    """Print the means of losses [designs, ways, 2] with their standard errors [ways, 2]."""
    cells = [
        f"{way} {m[0]:+.1f} +- {e[0]:.1f} / {m[1]:+.1f} +- {e[1]:.1f}"
        for way, m, e in zip(_WAYS, losses.mean(0), errors, strict=True)
    ]
    print(f"  {label:<26}" + "; ".join(cells), flush=True)


def _losses(case: _Case, seed: int) -> FloatArray:
    """Return what each way loses against no transform on one design, RMSE and CRPS [ways, 2]."""
    d, p = FUNCTIONS[case.function].dimension, case.input
    n = d * ((3 if d > 2 else 5) if seed % 2 else (6 if d > 2 else 8))
    X, y = case.draw(latin_hypercube(n, d, random_state=seed))
    new, true = case.draw(np.random.default_rng([seed, 5]).random((500, d)))
    bounds = np.tile([0.0, 1.0], (d, 1))
    bounds[p] = case.low, case.high
    sets = []
    for power in _POWERS:
        sets.append(X.copy())
        sets[-1][:, p] = case.unit(X[:, p], power)
    z = (y - y.mean()) / y.std()
    responses = [z] * len(sets)
    path = penalized_path(sets, responses, [0.0], mean="constant", n_starts=5, random_state=seed)
    height = path.objective[:, 0]
    none = _POWERS.index(1.0)
    chosen = (0.0, _POWERS[int(height.argmax())], 0.0 if height[0] > height[none] else 1.0)
    errors = {}
    for power in {1.0, *chosen}:
        model = BayesianGPRegressor(
            input_bounds=bounds, input_transforms={p: BoxCox(power)}, random_state=0
        ).fit(X, y)
        rmse = np.sqrt(np.mean((model.predict(new) - true) ** 2))
        errors[power] = np.log([rmse, model.predictive_law(new).crps(true).mean()])
    return 100.0 * np.array([errors[power] - errors[1.0] for power in chosen])
