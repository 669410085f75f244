"""Warnings of the estimators that help to choose better settings."""

import warnings

import numpy as np
import pytest

from pengp import PenalizedGPRegressorCV
from pengp.choosing.metrics import MetricName
from pengp.exceptions import PengpWarning

X = np.linspace(0.0, 1.0, 6)[:, None]
y = np.sin(5.0 * X[:, 0])


@pytest.mark.parametrize("metric", ["md", "score", "scaled_score"])
def test_metrics_of_covariances_want_folds_of_two_runs(metric: MetricName) -> None:
    model = PenalizedGPRegressorCV(metric=metric, cv="loo", lams=[0.0, 0.1], random_state=0)
    with pytest.warns(PengpWarning, match=f"metric='{metric}'.*at least two runs"):
        model.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(cv=3).fit(X, y)
        model.set_params(metric="dpe", cv="loo").fit(X, y)
