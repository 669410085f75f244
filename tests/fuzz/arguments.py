"""Arguments of the public functions by name: sound ones that fit together, and hostile ones."""

import importlib
import inspect
import types
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st
from sklearn.model_selection import KFold

from pengp import BayesianGPRegressor, PenalizedGPRegressor, PenalizedGPRegressorCV
from pengp.bayes import PRIORS
from pengp.choosing import FOLD_METRICS, RULES, NormalLaw
from pengp.datasets import FUNCTIONS
from pengp.decisions.goals import CRITERIA, GOALS
from pengp.estimators.view import view_of
from pengp.model import KERNELS, MEANS, TRANSFORMS
from pengp.path import PENALTIES
from tests.fuzz.inputs import HOSTILE, NO_NUMBERS, OBJECTS

PACKAGES = (
    "pengp",
    *(f"pengp.{name}" for name in ("choosing", "model", "path", "bayes", "datasets")),
    *(f"pengp.{name}" for name in ("diagnostics", "plots", "decisions")),
)
#: Functions of the core, which take arrays of the right shapes and records, not names.
CORE = {"condition", "batch_predict"}
#: Parameters that stay sound: processes are started, and scikit-learn judges groups.
SOUND = {"n_jobs", "groups"}
NAME_A_MEAN = {"cross_validate_path", "penalized_path", "lambda_max", "get_mean", "profile_loglik"}
OF_MODELS = {"validate", "compare"}
#: Files have their own tests (`test_files`, `test_commands`).
ELSEWHERE = {"load", "save", "read_info", "write_report"}


def public_functions() -> dict[str, Callable[..., Any]]:
    """Return what the packages name in their ``__all__``, classes and types left out."""
    found: dict[str, Callable[..., Any]] = {}
    for package in map(importlib.import_module, PACKAGES):
        for name in sorted({*package.__all__} - ELSEWHERE):
            value = getattr(package, name)
            if isinstance(value, types.FunctionType):
                found[name] = value
    return found


@cache
def fitted(kind: int) -> Any:
    """Return a small model of two inputs, a and b; they are fitted once."""
    rng = np.random.default_rng(7)
    X, y = rng.random((8, 2)), rng.random(8)
    few: dict[str, Any] = {"effective_size": 20, "max_points": 400, "n_components": 4}
    return (
        lambda: PenalizedGPRegressor(0.01, n_starts=2, random_state=0).fit(X, y),
        lambda: PenalizedGPRegressorCV(lams=[0.0, 0.1], cv=2, n_starts=2, random_state=0).fit(X, y),
        lambda: BayesianGPRegressor(kernels="sqexp", random_state=0, **few).fit(X, y),
        lambda: PenalizedGPRegressor(0.01, n_starts=1, random_state=0).fit(X, np.c_[y, -y]),
        PenalizedGPRegressor,
    )[kind]()


class Sizes:
    """Sizes that the arguments of one call share, and the arrays of those sizes."""

    def __init__(self, n: int, d: int, seed: int) -> None:
        self.n, self.d, self.rng = n, d, np.random.default_rng(seed)

    def numbers(self, *shape: int) -> Any:
        """Return numbers from 0 to 1."""
        return self.rng.random(shape)

    def matrix(self) -> Any:
        """Return a positive definite matrix."""
        A = self.rng.standard_normal((self.n, self.n))
        return A @ A.T + 0.1 * np.eye(self.n)

    def _mean(self, function: str) -> Callable[[], Any]:
        """Return what makes a prior mean, a number or predictive means."""
        if function in CORE:
            return lambda: list(MEANS.values())[self.rng.integers(3)]
        if function == "full_loglik":
            return lambda: float(self.rng.random())
        if function in NAME_A_MEAN:
            return lambda: [*MEANS][self.rng.integers(3)]
        return lambda: self.numbers(self.n)

    def sound(self, function: str) -> dict[str, Callable[[], Any]]:
        """Return what makes a sound argument, by name."""
        rng, n, d = self.rng, self.n, self.d

        def pick(*options: Any) -> Callable[[], Any]:
            return lambda: options[rng.integers(len(options))]

        batch = (2,) if function == "batch_predict" else ()
        number_like = pick(0.5, 0.0, 2.0, -1.0)
        return {
            "X": lambda: self.numbers(*batch, n, 2 if function in OF_MODELS else d),
            "y": lambda: self.numbers(*batch, n),
            "X_new": lambda: self.numbers(*batch, 3, d),
            "lams": lambda: [0.0, 0.1, 1.0][: rng.integers(1, 4)],
            "folds": pick(2, "loo", [(np.arange(1, n), [0])]),
            "cv": pick(2, "loo", 3, np.arange(n) % 2, [(np.arange(1, n), [0])]),
            "labels": lambda: np.arange(n) % 2,
            "kernel": pick(*(KERNELS.values() if function in CORE else KERNELS)),
            "penalty": pick(*PENALTIES),
            "metric": pick(*FOLD_METRICS),
            "metrics": pick(None, ["dpe"], ["pe", "score"]),
            "rule": pick(*RULES),
            "prior": pick(*PRIORS),
            "transform": pick(*TRANSFORMS),
            "mean": self._mean(function),
            "likelihood": pick("profile", "marginal"),
            "isotropic": pick(True, False),
            "derivatives": pick(True, False),
            "greater_is_better": pick(True, False),
            "maximize": pick(True, False),
            "nugget": pick(1e-5, 1e-12, 1.0, 0.0),
            "theta_bounds": pick((1e-3, 1e3), (0.1, 10.0)),
            "n_starts": pick(1, 2),
            "random_state": pick(0, 1),
            "n_jobs": pick(None, 1),
            "theta": lambda: self.numbers(*batch, d) + 0.1,
            "sigma2": lambda: float(rng.random() + 0.1),
            "kind": pick("paper", "kkt"),
            "n": pick(1, 2, 5),
            "k": pick(2, 3),
            "d": pick(1, 2),
            "lam_max": pick(0.1, 10.0),
            "lower": lambda: self.numbers(n) - 1.0,
            "upper": lambda: self.numbers(n) + 1.0,
            "level": pick(0.5, 0.95),
            "std": lambda: self.numbers(n) + 0.01,
            "scale": lambda: self.numbers(n) + 0.01,
            "df": pick(2.0, 5.0, 30.0),
            "r": lambda: self.numbers(n),
            "R": self.matrix,
            "values": lambda: self.numbers(3, 4),
            "axis": pick(0, -1),
            "repeats": pick(1, 2),
            "groups": pick(None),  # scikit-learn warns of groups that it ignores
            "splitter": lambda: KFold(2),
            "means": lambda: self.numbers(3, n),
            "residuals": lambda: self.numbers(n),
            "U": lambda: self.numbers(n, d),
            "bounds": lambda: [(0.0, 2.0)] * d,
            "method": pick("maximin", "random"),
            "slices": pick(1, 2),
            "name": pick(*FUNCTIONS),
            "law": lambda: NormalLaw(self.numbers(n), self.numbers(n) + 0.1),
            "tolerance": pick(0.1, 1.0),
            "probability": pick(0.9, 0.95),
            "model": lambda: fitted(int(rng.integers(4))),
            "estimator": lambda: fitted(int(rng.integers(4))),
            "view": lambda: view_of(fitted(int(rng.integers(3)))),
            "models": lambda: {"a": fitted(0), "b": fitted(2)},
            "output": pick(0, 0, 1),
            "laws": pick(None, {"x1": "0.2:0.8"}, {"x1": "normal(0.5, 0.1)"}),
            "constraint": pick(None, "y<0.5", "<0.5"),
            "quantiles": pick((0.1, 0.9), (0.5,)),
            "n_draws": pick(8, 16),
            "input_names": pick(None, ["x1", "x2"]),
            "noise": pick(None),
            "noise_sd": pick(None, 0.1),
            "pairs": pick(None, [("x1", "x2")]),
            "response_name": pick(None, "y"),
            "goal": pick(*GOALS),
            "criterion": pick(None, *CRITERIA),
            "target": number_like,
            "threshold": number_like,
            "planned": lambda: self.numbers(1, 2),
            "avoid": lambda: self.numbers(1, 2),
            "radius": pick(0.1, 0.0),
            "candidates": lambda: self.numbers(4, 2),
            "where": pick((), "x1 < 0.5", ("x1 < 0.5", "x2 > 0.1")),
        }


#: Names, shapes and kinds of objects that no function expects.
WRONG = st.one_of(
    st.sampled_from([*OBJECTS, *HOSTILE, *NO_NUMBERS]),
    st.integers(-3, 40),
    st.floats(),
    st.text(max_size=4),
    st.lists(st.one_of(st.integers(-2, 7), st.floats(), st.text(max_size=2)), max_size=5),
    st.builds(
        np.full,
        st.lists(st.integers(0, 4), max_size=3),
        st.sampled_from([*HOSTILE, *NO_NUMBERS]),
    ),
)


def spoilt(draw: Callable[[st.SearchStrategy[Any]], Any], value: Any) -> Any:
    """Return another value, or an array with one number replaced by one that breaks programs."""
    if isinstance(value, np.ndarray) and value.size and draw(st.booleans()):
        changed = np.array(value, dtype=np.float64)
        changed.flat[draw(st.integers(0, value.size - 1))] = draw(
            st.sampled_from([*HOSTILE, *NO_NUMBERS])
        )
        return changed
    return draw(WRONG)


@st.composite
def calls(draw: st.DrawFn, name: str, function: Callable[..., Any]) -> tuple[dict[str, Any], bool]:
    """Return arguments of a function, and whether all of them are sound."""
    sizes = Sizes(draw(st.integers(2, 7)), draw(st.integers(1, 3)), draw(st.integers(0, 2**16)))
    makers, arguments, sound = sizes.sound(name), {}, True
    for parameter in inspect.signature(function).parameters.values():
        if parameter.default is not parameter.empty and draw(st.integers(0, 2)):
            continue
        value = makers[parameter.name]()
        keep = parameter.name in SOUND or name in CORE
        if draw(st.integers(0, 5)) == 0 and not keep:
            value, sound = spoilt(draw, value), False
        arguments[parameter.name] = value
    return arguments, sound
