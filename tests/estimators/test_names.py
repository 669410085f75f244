"""Type checkers know the names that an option may have, and what a fitted model returns.

mypy reads this file with all others: a comment ``type: ignore`` that hides no error is one, and so
is an `assert_type` that does not hold. pyright reads it so, too, where it is installed.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, assert_type, get_args

import pytest

from pengp import (
    BayesianGPRegressor,
    InputError,
    Modes,
    PathFit,
    PenalizedGPRegressor,
    PenalizedGPRegressorCV,
    ProfileLikelihood,
    cross_validate_path,
    full_loglik,
    lambda_grid,
    lambda_max,
    latin_hypercube,
    penalized_path,
    profile_loglik,
)
from pengp._core.arrays import FloatArray
from pengp.bayes.priors import PRIORS, PriorName
from pengp.choosing import fold_metrics, select_index
from pengp.choosing.metrics import FOLD_METRICS, MetricName
from pengp.choosing.rules import RULES, RuleName
from pengp.decisions import next_runs
from pengp.estimators import HeldOut, LeaveOneOut
from pengp.model import correlation
from pengp.model.kernels import KERNELS, KernelName
from pengp.model.means import MEANS, MeanName
from pengp.model.transforms import TRANSFORMS, TransformName
from pengp.path.penalties import PENALTIES, PenaltyName

PYRIGHT = shutil.which("basedpyright", path=str(Path(sys.executable).parent))

X, Y = [[0.0], [0.3], [0.6], [1.0]], [0.0, 1.0, 0.5, 2.0]


@pytest.mark.parametrize(
    ("names", "registry"),
    [
        (KernelName, KERNELS.built_in),
        (PenaltyName, PENALTIES.built_in),
        (MeanName, MEANS.built_in),
        (MetricName, FOLD_METRICS.built_in),
        (RuleName, RULES.built_in),
        (PriorName, PRIORS),
        (TransformName, TRANSFORMS.built_in),
    ],
)
def test_the_names_are_those_of_the_registry(names: Any, registry: Mapping[str, object]) -> None:
    assert get_args(names) == tuple(registry)


def test_a_wrong_name_is_refused_by_type_checkers_and_by_fit() -> None:
    wrong: list[Any] = [
        PenalizedGPRegressor(kernel="rbf"),  # type: ignore[arg-type]
        PenalizedGPRegressor(penalty="l1"),  # type: ignore[arg-type]
        PenalizedGPRegressor(mean="quadratic"),  # type: ignore[arg-type]
        PenalizedGPRegressor(likelihood="full"),  # type: ignore[arg-type]
        PenalizedGPRegressorCV(metric="mse"),  # type: ignore[arg-type]
        PenalizedGPRegressorCV(rule="2se"),  # type: ignore[arg-type]
        PenalizedGPRegressor(nugget="fitted"),  # type: ignore[arg-type]
        BayesianGPRegressor(prior="flat"),  # type: ignore[arg-type]
        BayesianGPRegressor(kernels="rbf"),  # type: ignore[arg-type]
        BayesianGPRegressor(kernels=["sqexp", "rbf"]),  # type: ignore[list-item]
        BayesianGPRegressor(mean="linear"),  # type: ignore[arg-type]
        BayesianGPRegressor(nugget="estimate"),  # type: ignore[arg-type]
        BayesianGPRegressor(input_transforms="ln"),  # type: ignore[arg-type]
        BayesianGPRegressor(input_transforms={0: "ln"}),  # type: ignore[dict-item]
        PenalizedGPRegressor(response_transform="ln"),  # type: ignore[arg-type]
        PenalizedGPRegressorCV(response_transform=["ln"]),  # type: ignore[list-item]
    ]
    for model in wrong:
        with pytest.raises(InputError):
            model.fit(X, Y)


def test_a_wrong_name_is_refused_by_type_checkers_and_by_functions() -> None:
    model = PenalizedGPRegressor(0.1, random_state=0).fit(X, Y)
    wrong: list[Callable[[], object]] = [
        lambda: correlation(X, 1.0, kernel="rbf"),  # type: ignore[arg-type]
        lambda: profile_loglik(X, Y, [1.0], kernel="rbf"),  # type: ignore[arg-type]
        lambda: full_loglik(X, Y, [1.0], 1.0, kernel="rbf"),  # type: ignore[arg-type]
        lambda: ProfileLikelihood(X, Y, mean="quadratic"),  # type: ignore[arg-type]
        lambda: penalized_path(X, Y, [0.0], kernel="rbf"),  # type: ignore[arg-type]
        lambda: penalized_path(X, Y, [0.0], penalty="l1"),  # type: ignore[arg-type]
        lambda: penalized_path(X, Y, [0.0], mean="quadratic"),  # type: ignore[arg-type]
        lambda: penalized_path(X, Y, [0.0], likelihood="full"),  # type: ignore[arg-type]
        lambda: penalized_path(X, Y, [0.0], nugget="fitted"),  # type: ignore[arg-type]
        lambda: lambda_max(X, Y, kernel="rbf"),  # type: ignore[arg-type]
        lambda: lambda_grid("glmnet"),  # type: ignore[arg-type]
        lambda: cross_validate_path(X, Y, [0.0], folds=2, kernel="rbf"),  # type: ignore[arg-type]
        lambda: cross_validate_path(X, Y, [0.0], folds=2, metrics=["mse"]),  # type: ignore[list-item]
        lambda: fold_metrics([1.0], [[1.0]], 1.0, ["mse"]),  # type: ignore[list-item]
        lambda: select_index("2se", [0.0], [[1.0]]),  # type: ignore[arg-type]
        lambda: next_runs(model, goal="best"),  # type: ignore[arg-type]
        lambda: next_runs(model, criterion="entropy"),  # type: ignore[arg-type]
        lambda: model.predict_interval(X, intervals="normal"),  # type: ignore[arg-type]
        lambda: latin_hypercube(4, 1, method="sobol"),  # type: ignore[arg-type]
    ]
    for call in wrong:
        with pytest.raises(InputError):
            call()


def test_what_a_fitted_model_returns_has_a_type() -> None:
    model = PenalizedGPRegressor(0.1, random_state=0).fit(X, Y)
    assert_type(model, PenalizedGPRegressor)
    assert_type(model.predict(X), FloatArray)
    mean, std = assert_type(model.predict(X, return_std=True), tuple[FloatArray, FloatArray])
    assert_type(model.predict(X, return_cov=True), tuple[FloatArray, FloatArray])
    assert_type(model.theta_, FloatArray)
    assert_type(model.trend_, FloatArray)
    assert_type(model.X_train_, FloatArray)
    assert_type(model.path_, PathFit)
    assert_type(model.modes_, Modes)
    assert_type(model.loo_, LeaveOneOut)
    average = BayesianGPRegressor(kernels="sqexp", random_state=0).fit(X, Y)
    assert_type(average.predict_quantiles(X, [0.5]), FloatArray)
    assert_type(average.held_out(), HeldOut)
    assert mean.shape == std.shape == average.predict(X).shape == (4,)


@pytest.mark.skipif(PYRIGHT is None, reason="basedpyright is not installed beside python")
def test_pyright_reads_this_file_as_mypy_does(tmp_path: Path) -> None:
    assert PYRIGHT is not None
    root, unwarned = Path(__file__).parents[2], tmp_path / "unwarned.py"
    unwarned.write_text(
        "from pengp import PenalizedGPRegressor\n"
        "PenalizedGPRegressor(kernel='rbf')\n"
        "PenalizedGPRegressor(kernel='sqexp')  # type: ignore[arg-type]\n"
    )
    settings = {
        "include": [str(Path(__file__)), str(unwarned)],
        "extraPaths": [str(root / "src"), str(root)],
        "typeCheckingMode": "standard",
        "reportUnnecessaryTypeIgnoreComment": "error",
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [PYRIGHT, "--outputjson", "-p", str(tmp_path), "--pythonpath", sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)["generalDiagnostics"]
    told = [(Path(one["file"]).name, one["range"]["start"]["line"]) for one in found]
    assert told == [("unwarned.py", 1), ("unwarned.py", 2)], found
