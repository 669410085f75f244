"""The labels of models that are compared."""

from typing import Any

import numpy as np

from pengp import BayesianGPRegressor, PenalizedGPRegressor
from pengp.cli.compare import _kinds
from pengp.estimators.view import view_of

X = np.column_stack([np.geomspace(0.01, 100.0, 9), np.tile([1.0, 2.0, 4.0], 3)])
Y = np.exp(0.1 * np.log(X[:, 0]) + X[:, 1])


def test_models_are_told_by_all_in_which_they_differ() -> None:
    average = BayesianGPRegressor(
        kernels="matern52", mean="zero", nugget=1e-5, effective_size=100.0, random_state=0
    )
    models: dict[str, Any] = {
        "plain": PenalizedGPRegressor(0.01, random_state=0),
        "log": PenalizedGPRegressor(
            0.01, input_transforms={0: "log10"}, mean="constant", random_state=0
        ),
        "both": PenalizedGPRegressor(
            0.01, integer_inputs=[1], response_transform="log", random_state=0
        ),
        "average": average,
    }
    views = {name: view_of(model.fit(X, Y)) for name, model in models.items()}
    assert _kinds(views) == {
        "plain": "penalized, squared exponential",
        "log": "penalized, squared exponential, mean constant, log10(x1)",
        "both": "penalized, squared exponential, x2 rounded, log(response)",
        "average": "average, Matérn 5/2, mean zero",
    }
    # What all have in common is not said.
    assert _kinds(dict.fromkeys("ab", views["log"]))["a"].endswith("mean constant")
